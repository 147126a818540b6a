# SPDX-License-Identifier: Apache-2.0
"""Fast requests beside views that sleep or compute (SPEC 5, rules 2, 3 and 5)."""
import os
import shutil
import time

import pytest
from harness import SCALE, wait_for
from harness.pool import Load, timed_get

# The bounds of the pool's own promises: hundreds of times what is expected.
BEHIND_SLEEPERS = 0.25 * SCALE
BESIDE_BURNER = 1.0 * SCALE


def sleepers(server, number, ms):
    """So many requests on sleeping views, each running."""
    conns = [server.connect(timeout=30 * SCALE) for _ in range(number)]
    for conn in conns:
        conn.request(target=f"/sleep?ms={ms}&tag=sleepers")
    return conns


def running(server, number):
    with server.connect() as conn:
        wait_for(lambda: int(conn.roundtrip(target="/calls?of=sleepers").text) >= number, f"{number} sleeping views")


@pytest.mark.parametrize("options", [{}, {"threads": 2, "threads_max": 8}, {"threads": 8}, {"pool_wake": "futex"}, {"pool_wake": "ring"}, {"pool_spin": "0us"}],
                         ids=lambda o: " ".join(f"{k}={v}" for k, v in o.items()) or "zero-config")
def test_a_fast_request_behind_two_sleeping_views_does_not_wait_for_them(ringtail, options):
    server = ringtail(**options)
    slow = sleepers(server, 2, int(1500 * SCALE))
    with server.connect() as conn:
        for number in range(20):
            took, response = timed_get(conn, f"/q?n={number}")
            assert response.text == str(number)
            assert took < BEHIND_SLEEPERS, f"request {number} took {took * 1000:.0f} ms"
    for conn in slow:
        assert conn.read_response().text == "slept"
        conn.close()


def test_a_fast_request_pushed_in_the_same_moment_as_two_sleeping_views_does_not_wait_for_them(ringtail):
    server = ringtail(threads=4)
    for _ in range(5):
        slow = sleepers(server, 2, int(700 * SCALE))
        with server.connect() as conn:
            took, _ = timed_get(conn, "/q?n=1")
            assert took < BEHIND_SLEEPERS, f"{took * 1000:.0f} ms"
        for conn in slow:
            assert conn.read_response().text == "slept"
            conn.close()


def test_a_fast_request_beside_a_view_that_computes_for_two_seconds_is_served_within_a_second(ringtail):
    server = ringtail(max_keepalive_requests=0)  # without a GIL more than 1000 are served meanwhile
    with server.connect() as burner, server.connect() as conn:
        burner.request(target="/burn?ms=2000&tag=burner")
        begin = time.monotonic()
        served = 0
        while time.monotonic() - begin < 1.5:
            took, response = timed_get(conn, "/q?n=1")
            assert took < BESIDE_BURNER, f"{took * 1000:.0f} ms"
            served += 1
        assert served > 1
        assert burner.read_response().text == "burnt"


def test_fast_requests_flow_while_six_of_eight_threads_sleep(ringtail):
    server = ringtail(threads=8, threads_max=8)
    slow = sleepers(server, 6, int(2000 * SCALE))
    running(server, 6)
    with server.connect() as conn:
        for number in range(200):
            took, _ = timed_get(conn, f"/q?n={number}")
            assert took < BEHIND_SLEEPERS, f"request {number} took {took * 1000:.0f} ms"
    for conn in slow:
        assert conn.read_response().text == "slept"
        conn.close()


def test_fast_requests_flow_while_six_threads_sleep_and_one_view_computes(ringtail):
    server = ringtail(threads=8, threads_max=8)
    slow = sleepers(server, 6, int(2500 * SCALE))
    running(server, 6)
    with server.connect() as burner, server.connect() as conn:
        burner.request(target="/burn?ms=1500")
        for _ in range(10):
            took, _ = timed_get(conn, "/q?n=1")
            assert took < BESIDE_BURNER, f"{took * 1000:.0f} ms"
        assert burner.read_response().text == "burnt"
    for conn in slow:
        assert conn.read_response().text == "slept"
        conn.close()


@pytest.mark.skipif(not shutil.which("taskset"), reason="taskset is missing (util-linux)")
def test_zero_config_on_one_cpu_keeps_fast_requests_fast_beside_sleepers(ringtail):
    """One allowed CPU starts a single handler: growth alone keeps fast requests fast."""
    cpu = min(os.sched_getaffinity(0))
    server = ringtail(wrapper=["taskset", "-c", str(cpu)])
    assert server.handlers() == 1
    with Load(server.address, "/sleep?ms=200", 6):
        wait_for(lambda: server.handlers() >= 6, "growth to one thread for each sleeper", describe=lambda: str(server.threads()))
        with server.connect() as conn:
            times = sorted(timed_get(conn, f"/q?n={number}")[0] for number in range(300))
    assert times[len(times) // 2] < 0.02 * SCALE, f"median {times[len(times) // 2] * 1000:.1f} ms"
    assert times[-1] < BEHIND_SLEEPERS * 2, f"longest {times[-1] * 1000:.0f} ms"


def test_a_lock_that_views_wait_for_does_not_stop_the_others(ringtail, tmp_path):
    app = tmp_path / "locked.py"
    app.write_text("import threading, time\nlock = threading.Lock()\n"
                   "def application(environ, start_response):\n"
                   "    if environ['PATH_INFO'] == '/locked':\n        with lock:\n            time.sleep(0.3)\n"
                   "    start_response('200 OK', [])\n    return [b'done']\n")
    server = ringtail(app, threads=2, threads_max=8)
    waiting = [server.connect(timeout=30) for _ in range(5)]
    for conn in waiting:
        conn.request(target="/locked")
    with server.connect() as conn:
        for _ in range(20):
            took, _ = timed_get(conn, "/")
            assert took < BEHIND_SLEEPERS, f"{took * 1000:.0f} ms"
    for conn in waiting:
        assert conn.read_response().body == b"done"
        conn.close()
