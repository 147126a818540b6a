# SPDX-License-Identifier: Apache-2.0
"""The same basics in every mode of the pool, with views on the loop, and with the null application."""
import subprocess

import pytest
from harness import SCALE, Server, wait_for
from harness.fixtures import MAIN
from harness.pool import Load, timed_get
from harness.server import python

MODES = {
    "elastic": {},
    "off": {"pool_elastic": "off"},
    "shared": {"pool_elastic": "shared"},
    "parallel": {"pool_parallel": "on"},
    "parallel shared": {"pool_parallel": "on", "pool_elastic": "shared"},
    "futex": {"pool_wake": "futex"},
    "ring": {"pool_wake": "ring"},
    "no spin": {"pool_spin": "0us"},
    "wait cap": {"pool_wait_cap": "1ms"},
    "one thread": {"threads": 1, "threads_max": 1},
    "loop": {"threads": 0},
    "debug": {},
}


@pytest.fixture(scope="module", params=MODES)
def server(request, shared_gate):
    """A server in each mode."""
    args = ["--debug"] if request.param == "debug" else []
    options = MODES[request.param]
    if request.param not in ("one thread", "loop", "debug"):
        options = {"threads": 4, **options}
    server = Server(MAIN, *args, env=shared_gate.env, **options)
    server.mode = request.param
    server.gate = shared_gate
    try:
        yield server
        server.stop()
    finally:
        server.close()


def test_one_request_after_the_other_is_answered(server):
    with server.connect() as conn:
        for number in range(300):
            assert conn.roundtrip(target=f"/q?n={number}").text == str(number)


def test_a_pipeline_is_answered_in_order(server):
    with server.connect() as conn:
        conn.send(b"".join(b"GET /q?n=%d HTTP/1.1\r\nHost: test\r\n\r\n" % n for n in range(100)))
        assert [conn.read_response().text for _ in range(100)] == [str(n) for n in range(100)]


def test_many_connections_at_once_are_all_answered(server):
    conns = [server.connect() for _ in range(64)]
    for turn in range(10):
        for number, conn in enumerate(conns):
            conn.request(target=f"/q?n={turn}-{number}")
        for number, conn in enumerate(conns):
            assert conn.read_response().text == f"{turn}-{number}"
    for conn in conns:
        conn.close()


def test_a_closed_loop_load_loses_no_request(server):
    with Load(server.address, "/q?n=1", 16) as load:
        wait_for(lambda: load.done >= 2000, "two thousand answers", 60 * SCALE)


def test_a_body_is_echoed(server):
    with server.connect() as conn:
        for size in (1, 1000, 100_000, 1_000_000):
            conn.request("POST", "/echo", body=b"z" * size)
            assert conn.read_response().body == b"z" * size


def test_a_generator_is_streamed(server):
    with server.connect() as conn:
        assert len(conn.roundtrip(target="/stream?n=100&size=1000").body) == 100_000


def test_a_file_is_sent(server):
    with server.connect() as conn:
        assert len(conn.roundtrip(target="/file?n=3000000").body) == 3_000_000


def test_a_slow_reader_gets_every_byte(server):
    with server.connect(rcvbuf=4096) as conn:
        conn.request(target=f"/endless?name={server.mode.replace(' ', '-')}&size=50000&n=200")
        response = conn.read_response(body=False)
        conn.read_chunked(response)
        assert len(response.body) == 50000 * 200
    server.gate.wait(f"{server.mode.replace(' ', '-')}-closed")


def test_a_reset_during_a_stream_ends_it(server):
    if server.mode == "loop":
        pytest.skip("the loop cannot see a reset while it runs the generator")
    name = f"reset-{server.mode.replace(' ', '-')}"
    conn = server.connect()
    conn.request(target=f"/endless?name={name}")
    conn.read_response(body=False)
    conn.reset()
    server.gate.wait(f"{name}-closed")
    assert server.get("/q?n=1").text == "1"


def test_a_fast_request_beside_sleeping_views_is_answered_soon(server):
    if server.mode in ("one thread", "loop", "debug"):
        pytest.skip("one thread runs one view at a time")
    slow = [server.connect(timeout=30) for _ in range(2)]
    for conn in slow:
        conn.request(target=f"/sleep?ms={int(1500 * SCALE)}")
    with server.connect() as conn:
        took, _ = timed_get(conn, "/q?n=1")
        assert took < 0.25 * SCALE, f"{took * 1000:.0f} ms"
    for conn in slow:
        assert conn.read_response().text == "slept"
        conn.close()


# --- pool-parallel

@pytest.mark.parametrize("value", ["auto", "on", "off"])
def test_the_start_line_tells_pool_parallel_which_is_on_by_itself_only_without_a_gil(value):
    asked = subprocess.run([python(), "-c", "import sys; print(getattr(sys, '_is_gil_enabled', lambda: True)())"], capture_output=True, text=True,
                           check=True)
    has_gil = asked.stdout.strip() == "True"
    with Server(MAIN, pool_parallel=value) as server:
        assert (", pool-parallel)" in server.start_line) == (value == "on" or (value == "auto" and not has_gil)), server.start_line
        assert ("without the GIL" in server.start_line) == (not has_gil), server.start_line


# --- null:

def test_null_answers_a_fixed_200_through_the_whole_http_core():
    with Server("null:") as server:
        with server.connect() as conn:
            for _ in range(200):
                response = conn.roundtrip(target="/anything")
                assert response.status == 200 and response.get("Date") and response.get("Server") == "ringtail"
            conn.send(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n" * 100)
            for _ in range(100):
                assert conn.read_response().status == 200
            conn.request("POST", "/", body=b"x" * 500_000)
            assert conn.read_response().status == 200
            head = conn.roundtrip("HEAD", "/")
            assert head.status == 200
            conn.send(b"BAD\r\n\r\n")
            assert conn.read_response().status in (400, 501)
            conn.read_close()


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_null_serves_a_load_with_any_number_of_threads(threads):
    with Server("null:", threads=threads) as server:
        with Load(server.address, "/", 16) as load:
            wait_for(lambda: load.done >= 3000, "three thousand answers", 60 * SCALE)


def test_null_starts_no_interpreter():
    with Server("null:") as server:
        with open(f"/proc/{server.pid}/task/{server.pid}/comm", encoding="ascii") as file:
            assert file.read().startswith("ringtail")
        assert "Python 3" not in server.start_line
