# SPDX-License-Identifier: Apache-2.0
"""What the benches make of what they measured: rows, ratios, refusals, and what they read from the server and the kernel."""
import os
import sys
import time

import pytest
from harness.server import Server

BENCH = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "bench")
APPS = os.path.join(BENCH, "apps")
sys.path.insert(0, BENCH)

from common import cpu, picture, pool, recording  # noqa: E402
from common.results import Results, table  # noqa: E402

MACHINE = {"cpu": "x", "cpus": 2, "kernel": "6", "virtual": "none"}


def results_of(**arms):
    results = Results()
    for arm, values in arms.items():
        for number, value in enumerate(values):
            results.add(number, "wsgi/browser/c16", arm, "cpu", "us", value)
    return results


def document(rows, **more):
    return {"bench": "serve", "machine": MACHINE, "versions": {"python": "3"}, "commit": "0123456789ab", "quick": False, "rounds": 3,
            "foreign_cpu": 0.01, "rows": rows, **more}


def test_a_ratio_is_the_median_of_the_rounds_own_ratios():
    # The machine was half as fast in the second round: the ratio of the medians would be 3.
    results = results_of(floor=[1.0, 2.0, 1.0], zero=[2.0, 4.0, 3.0])
    assert results.ratio("wsgi/browser/c16", "zero", "cpu", "floor") == 2.0


def test_a_round_that_one_of_both_missed_has_no_ratio():
    results = results_of(floor=[1.0, 2.0], zero=[3.0])
    assert results.ratio("wsgi/browser/c16", "zero", "cpu", "floor") == 3.0
    assert results.ratio("wsgi/browser/c16", "zero", "cpu", "nginx") is None


def test_a_row_has_the_members_of_the_contract_and_one_stands_for_each_comparison():
    rows = results_of(floor=[1.0], nginx=[4.0], zero=[2.0]).rows(lambda case, arm, metric: ["floor", "nginx"])
    of_zero = [row for row in rows if row["arm"] == "zero"]
    assert [(row["to"], row["ratio"]) for row in of_zero] == [("floor", 2.0), ("nginx", 0.5)]
    assert all({"case", "arm", "metric", "unit", "median", "min", "max", "ratio", "to"} <= set(row) for row in rows)
    assert [(row["to"], row["ratio"]) for row in rows if row["arm"] == "floor"] == [("nginx", 0.25)]


def test_a_row_without_comparison_has_no_ratio():
    rows = results_of(floor=[1.0, 3.0]).rows(lambda case, arm, metric: [])
    assert [(row["median"], row["min"], row["max"], row["ratio"], row["to"]) for row in rows] == [(2.0, 1.0, 3.0, None, None)]


@pytest.mark.parametrize("change, word", [({"foreign_cpu": 0.06}, "went to others"), ({"quick": True}, "quick"),
                                          ({"commit": "0123456789ab+changes"}, "no commit")])
def test_a_recording_is_refused(change, word):
    assert recording.objections(document([]), None) == []
    (objection,) = recording.objections(document([], **change), None)
    assert word in objection


def test_a_recording_is_refused_when_a_comparator_moved_and_not_when_ours_did():
    def rows(**arms):
        return results_of(floor=[1.0], **arms).rows(lambda case, arm, metric: ["floor"])
    before = document(rows(nginx=[1.5], zero=[1.5]))
    assert recording.objections(document(rows(nginx=[1.6], zero=[3.0])), before) == []
    (objection,) = recording.objections(document(rows(nginx=[1.7], zero=[1.5])), before)
    assert "nginx" in objection


def test_the_picture_names_every_arm():
    rows = results_of(floor=[1.0], zero=[2.0], **{"gunicorn-sync": [99.0]}).rows(lambda case, arm, metric: ["floor"])
    svg = picture.of(document(rows))
    for word in ("floor", "zero", "gunicorn-sync", "99.00 F"):
        assert word in svg


def test_a_table_is_aligned():
    assert table(["a", "b"], [["long", 1], ["x", 100]]).splitlines() == ["a       b", "long    1", "x     100"]


def test_pool_debug_of_the_server_is_understood():
    with Server("hello:application", "--pool-debug", threads=2, app_dir=APPS) as server:
        for _ in range(5):
            assert server.get("/").text == "Hello, world!\n"
        server.stop()
        figures = pool.parse(server.log())
    assert sum(figures["jobs"]) == 5
    assert all(figures["jobs"])  # a handler that had none and has ended is not listed
    assert figures["wakes"]["submit"] + figures["wakes"]["parallel"] >= 1
    assert figures["grown"] == 0


def test_cpu_time_is_that_of_all_threads_of_the_session():
    before = cpu.thread_times(os.getsid(0))
    end = time.thread_time() + 0.05
    while time.thread_time() < end:
        pass
    # The scheduler counts a running thread at its ticks.
    assert sum(cpu.spent(before, cpu.thread_times(os.getsid(0))).values()) >= 0.03e9
