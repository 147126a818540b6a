# SPDX-License-Identifier: Apache-2.0
"""Growth and retirement of handlers (SPEC 5, rule 5), and what must not grow."""
import time

import pytest
from harness import SCALE, wait_for
from harness.pool import Load, report

from pathlib import Path

QUERIES = Path(__file__).resolve().parent / "apps" / "queries.py"


def test_a_pool_starts_with_the_threads_it_was_told(ringtail):
    server = ringtail(threads=3)
    assert server.handlers() == 3


def test_sleeping_views_make_the_pool_grow_to_threads_max_and_no_further(ringtail):
    server = ringtail(threads=2, threads_max=6, pool_debug="on")
    with Load(server.address, "/sleep?ms=300", 12):
        wait_for(lambda: server.handlers() == 6, "growth to threads-max", describe=lambda: str(server.threads()))
        with server.connect(timeout=30) as conn:
            for number in range(10):
                assert conn.roundtrip(target=f"/q?n={number}").text == str(number)
                assert server.handlers() <= 6
    server.stop()
    figures = report(server)
    assert figures["peak"] == 6 and figures["grown"] >= 4, figures


def test_threads_above_threads_retire_after_thread_idle(ringtail):
    server = ringtail(threads=2, threads_max=8, thread_idle=f"{int(300 * SCALE)}ms", pool_debug="on")
    with Load(server.address, "/sleep?ms=200", 8):
        wait_for(lambda: server.handlers() >= 6, "growth", describe=lambda: str(server.threads()))
    wait_for(lambda: server.handlers() == 2, "retirement to threads", describe=lambda: str(server.threads()))
    assert server.get("/q?n=1").text == "1"
    # And again: a retired slot is used anew.
    with Load(server.address, "/sleep?ms=200", 8):
        wait_for(lambda: server.handlers() >= 6, "growth again", describe=lambda: str(server.threads()))
    server.stop()
    assert report(server)["retired"] >= 4


def test_a_fixed_number_of_threads_never_grows(ringtail):
    """threads-max = threads when only threads is given."""
    server = ringtail(threads=2, pool_debug="on")
    with Load(server.address, "/sleep?ms=100", 10) as load:
        wait_for(lambda: load.done >= 30, "thirty slow answers", 20 * SCALE)
        assert server.handlers() == 2
    server.stop()
    assert report(server)["peak"] == 2


@pytest.mark.parametrize("threads", [2, 4, 8])
def test_32_connections_on_a_view_of_five_short_queries_start_no_thread(ringtail, threads):
    server = ringtail(QUERIES, threads=threads, threads_max=64, pool_debug="on")
    begin = time.monotonic()
    with Load(server.address, "/", 32) as load:
        wait_for(lambda: load.done > 500 and time.monotonic() - begin > 3, "a few seconds of load", 60 * SCALE)
    server.stop()
    figures = report(server)
    assert figures["peak"] == threads and figures["grown"] == 0, figures


def test_a_parked_pool_uses_no_cpu(ringtail):
    """Nothing spins for long: no park has a timeout and the loop sleeps."""
    server = ringtail(threads=8)
    for _ in range(20):
        server.get("/q?n=1")

    def ticks():
        with open(f"/proc/{server.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def is_quiet():
        before, start = ticks(), time.monotonic()
        wait_for(lambda: time.monotonic() - start > 0.5, "half a second", 5)
        return ticks() - before <= 1
    wait_for(is_quiet, "half a second with at most 10 ms of CPU")


def test_requests_with_gaps_stay_on_one_thread(ringtail):
    server = ringtail(threads=8, pool_debug="on")
    names = set()
    with server.connect() as conn:
        conn.roundtrip(target="/thread")
        for _ in range(60):
            names.add(conn.roundtrip(target="/thread").text)
    assert len(names) <= 2, names
    server.stop()
    assert report(server)["wakes"]["grow"] == 0


def test_every_job_is_counted_once(ringtail):
    server = ringtail(threads=4, pool_debug="on")
    with Load(server.address, "/q?n=1", 16) as load:
        wait_for(lambda: load.done >= 2000, "two thousand answers", 60 * SCALE)
    server.stop()
    figures = report(server)
    assert figures["run"] == load.done and figures["dropped"] == 0 and figures["refused"] == 0, (figures, load.done)
