# SPDX-License-Identifier: Apache-2.0
"""Ends that nobody asked for: broken responses, descriptors used up, a peer's FIN beside its bytes, views that never end."""
import os
import re
import signal
import time

import pytest
from harness import SCALE

LONG = "30s"

FULL = """
import os
import time

held = []


def application(environ, start_response):
    path, query = environ["PATH_INFO"], environ["QUERY_STRING"]
    if path == "/hold":
        try:
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            os.close(held.pop())
    elif path == "/sleep":
        time.sleep(float(query))
    start_response("200 OK", [])
    return [b"done"]
"""

ENDLESS = """
import time


def application(environ, start_response):
    start_response("200 OK", [])

    def generate():
        environ["wsgi.errors"].write("the view has begun\\n")
        environ["wsgi.errors"].flush()
        while True:
            yield b"more"
            time.sleep(0.001)
    return generate() if environ["PATH_INFO"] == "/stream" else [b"done"]
"""


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_broken_response_framed_by_close_ends_in_a_reset(ringtail):
    """Its end is its length: an orderly FIN would make what has come look complete (RFC 9112 8)."""
    server = ringtail()
    for _ in range(5):
        with server.connect() as conn:
            conn.send(b"GET /error-late HTTP/1.0\r\n\r\n")
            _, is_reset = conn.read_end()
            assert is_reset, conn.describe()
    server.expect(r"[^\n]*error: [^\n]*\nTraceback [^\n]*\n(?: [^\n]*\n)*RuntimeError: a generator that fails\n")


def test_a_stop_while_descriptors_are_used_up_does_not_spin(ringtail, tmp_path):
    app = tmp_path / "full.py"
    app.write_text(FULL)
    server = ringtail(app, wrapper=["sh", "-c", 'ulimit -n 60; exec "$@"', "sh"], threads=1, threads_max=1)
    server.expect(r"[^\n]*error: cannot accept a connection: Too many open files[^\n]*\n")
    with server.connect() as holder, server.connect() as waiting:
        waiting.roundtrip()
        holder.roundtrip(target="/hold")
        waiting.request(target=f"/sleep?{2 * SCALE}")
        with server.connect():
            server.wait_log("cannot accept a connection")
            server.send_signal(signal.SIGTERM)
            before = cpu_seconds(server.pid)
            began = time.monotonic()
            assert waiting.read_response().text == "done"
            used, took = cpu_seconds(server.pid) - before, time.monotonic() - began
    # Nobody computes here: the look of each 20 ms is a hundredth of this.
    assert used < 0.25 * took, f"{used:.2f} s of CPU in {took:.2f} s"


@pytest.mark.parametrize("path", ["unix", "tcp"])
def test_a_fin_that_comes_with_bytes_is_seen(ringtail, tmp_path, path):
    """Part of a head and the FIN in one go: nothing more can come, so the connection ends; header-timeout is not waited for."""
    bind = f"unix:{tmp_path}/socket" if path == "unix" else "127.0.0.1:0"
    server = ringtail(bind=bind, header_timeout=LONG, idle_timeout=LONG)
    for _ in range(200):
        with server.connect() as conn:
            conn.send(b"GET / HT").half_close()
            conn.read_close()


@pytest.mark.parametrize("path", ["unix", "tcp"])
def test_a_fin_behind_a_request_ends_the_connection_behind_the_answer(ringtail, tmp_path, path):
    bind = f"unix:{tmp_path}/socket" if path == "unix" else "127.0.0.1:0"
    server = ringtail(bind=bind, header_timeout=LONG, idle_timeout=LONG)
    for number in range(200):
        with server.connect() as conn:
            conn.request(target=f"/q?n={number}").half_close()
            assert conn.read_response().text == str(number)
            conn.read_close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_an_endless_view_on_the_loop_thread_does_not_keep_the_process(ringtail, tmp_path, number):
    app = tmp_path / "endless.py"
    app.write_text(ENDLESS)
    server = ringtail(app, threads=0, graceful_timeout="1s")
    with server.connect() as conn:
        conn.request(target="/stream")
        server.wait_log("the view has begun")
        server.send_signal(number)
        assert server.wait() == 0
    assert re.search("warning: a view is still running on the loop thread", server.log())


def test_with_threads_0_a_view_that_ends_in_time_is_answered_at_the_stop(ringtail, gate):
    server = ringtail(threads=0, env=gate.env)
    with server.connect() as conn:
        conn.request(target="/gate?name=loop")
        arrival = gate.wait("loop")
        server.send_signal(signal.SIGTERM)
        arrival.release("answered")
        assert conn.read_response().text == "answered"
        conn.read_close()
    assert server.wait() == 0


@pytest.mark.parametrize("pieces", [1, 9, 18])
def test_more_than_eight_empty_lines_are_refused_however_they_come(ringtail, pieces):
    server = ringtail()
    data = b"\r\n" * 9
    size = len(data) // pieces
    with server.connect() as conn:
        for at in range(0, len(data), size):
            if not conn.try_send(data[at:at + size]):
                break
            server.get("/")  # what was sent has been read by now
        response = conn.read_response()
        assert response.status == 400 and "close" in response.connection


def test_a_client_that_leaves_behind_the_head_ends_an_endless_view(ringtail, gate):
    """HEAD of an event stream: no body is sent, so nothing would ever find out; each such request would hold a thread."""
    server = ringtail(env=gate.env)
    for number, leave in enumerate(["close", "half_close"]):
        with server.connect() as conn:
            conn.request("HEAD", f"/endless?name=head-{number}&size=1")
            assert conn.read_response("HEAD").status == 200
            getattr(conn, leave)()
            gate.wait(f"head-{number}-closed")
            if leave == "half_close":
                conn.read_close()


def test_a_half_closed_client_gets_the_head_of_an_endless_view(ringtail, gate):
    server = ringtail(env=gate.env)
    with server.connect() as conn:
        conn.request("HEAD", "/endless?name=head&size=1").half_close()
        assert conn.read_response("HEAD").status == 200
        conn.read_close()
        gate.wait("head-closed")


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGTERM])
def test_a_request_that_the_stop_cuts_is_in_the_access_log(ringtail, gate, tmp_path, number):
    log = tmp_path / "access.log"
    server = ringtail(env=gate.env, access_log=str(log), graceful_timeout="100ms")
    with server.connect(rcvbuf=4096) as conn:
        conn.request(target="/endless?name=cut")
        conn.read_exactly(1000)
        server.send_signal(number)
        assert server.wait() == 0
    assert "GET /endless?name=cut" in log.read_text()
