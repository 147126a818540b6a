# SPDX-License-Identifier: Apache-2.0
"""TERM is graceful, INT gives views two seconds, a second TERM means now (SPEC 8); the start and its line."""
import signal
import socket
import time

import pytest
from harness import SCALE, wait_for


def get(target):
    return f"GET {target} HTTP/1.1\r\nHost: test\r\n\r\n".encode()


def refuses(server):
    """Nobody listens any more."""
    try:
        socket.create_connection(server.address, timeout=1).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        pass  # caught between the listener's last accept and its close
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_an_idle_server_ends_with_0(ringtail, number):
    server = ringtail()
    assert server.get().status == 200
    start = time.monotonic()
    server.stop(number)
    assert time.monotonic() - start < 10 * SCALE, "graceful-timeout was waited for although nothing ran"


def test_term_before_any_request_ends_with_0(ringtail):
    ringtail().stop()


def test_a_running_view_is_answered_before_a_graceful_end_with_connection_close(ringtail, gate):
    server = ringtail(env=gate.env)
    with server.connect() as conn:
        conn.send(get("/gate?name=running"))
        arrival = gate.wait("running")
        server.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), "the end of accepting")
        arrival.release("answered")
        response = conn.read_response()
        assert response.text == "answered" and response.connection == ["close"]
        conn.read_close()
    assert server.wait() == 0
    server.check_log()


def test_a_queued_request_is_answered_before_a_graceful_end(ringtail, gate):
    server = ringtail(threads=1, threads_max=1, env=gate.env)
    with server.connect() as first, server.connect() as second:
        first.send(get("/gate?name=first"))
        arrival = gate.wait("first")
        second.send(get("/q?n=queued"))
        with server.connect() as probe:
            probe.send(b"BAD\r\n\r\n")
            probe.read_response()
        server.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), "the end of accepting")
        arrival.release("done")
        assert first.read_response().text == "done"
        response = second.read_response()
        assert response.text == "queued" and response.connection == ["close"]
    assert server.wait() == 0


def test_pipelined_requests_received_before_term_are_all_answered(ringtail, gate):
    server = ringtail(threads=1, threads_max=1, env=gate.env)
    with server.connect() as conn:
        conn.send(get("/gate?name=pipe") + b"".join(get(f"/q?n={n}") for n in range(20)))
        arrival = gate.wait("pipe")
        server.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), "the end of accepting")
        arrival.release("first")
        assert conn.read_response().text == "first"
        answers = [conn.read_response() for _ in range(20)]
        assert [r.text for r in answers] == [str(n) for n in range(20)]
        assert "close" in answers[-1].connection
        conn.read_close()
    assert server.wait() == 0


def test_idle_connections_are_closed_at_a_graceful_end(ringtail):
    server = ringtail()
    conns = [server.connect() for _ in range(10)]
    for conn in conns:
        conn.roundtrip()
    server.send_signal(signal.SIGTERM)
    for conn in conns:
        conn.read_close()
    assert server.wait() == 0


def test_connections_in_the_accept_queue_at_term_are_served(ringtail, gate):
    """What waits in the accept queue is answered (SPEC 8); a connect that succeeded is no client to be reset."""
    server = ringtail(threads=1, threads_max=1, env=gate.env)
    with server.connect() as busy:
        busy.send(get("/gate?name=busy"))
        arrival = gate.wait("busy")
        server.send_signal(signal.SIGSTOP)
        queued = [server.connect() for _ in range(5)]
        for number, conn in enumerate(queued):
            conn.send(get(f"/q?n={number}"))
        server.send_signal(signal.SIGTERM)
        server.send_signal(signal.SIGCONT)
        arrival.release("done")
        assert busy.read_response().text == "done"
        for number, conn in enumerate(queued):
            assert conn.read_response().text == str(number)
            conn.close()
    assert server.wait() == 0


def test_a_streaming_response_goes_on_to_its_end_at_term(ringtail, gate):
    server = ringtail(env=gate.env)
    with server.connect() as conn:
        conn.send(get("/gate-stream?name=stream"))
        gate.release("stream", "one")
        conn.read_response(body=False)
        assert conn.read_chunk() == b"one"
        server.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), "the end of accepting")
        gate.release("stream", "two")
        assert conn.read_chunk() == b"two"
        gate.release("stream", "")
        assert conn.read_chunk() == b""
        conn.read_close()
    assert server.wait() == 0


def test_a_large_response_on_its_way_to_a_slow_reader_is_finished_at_term(ringtail):
    server = ringtail()
    with server.connect(rcvbuf=4096) as conn:
        conn.send(get("/file?n=20000000"))
        conn.read_response(body=False)
        server.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), "the end of accepting")
        conn.read_exactly(20000000)
        conn.read_close()
    assert server.wait() == 0


def test_a_request_whose_body_is_on_its_way_at_term_is_answered(ringtail):
    server = ringtail()
    with server.connect() as conn:
        conn.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhello")
        server.get()
        server.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), "the end of accepting")
        conn.send(b"world")
        response = conn.read_response()
        assert response.body == b"helloworld" and response.connection == ["close"]
        conn.read_close()
    assert server.wait() == 0


def test_graceful_timeout_ends_a_server_whose_view_does_not(ringtail, gate):
    server = ringtail(graceful_timeout=f"{int(500 * SCALE)}ms", env=gate.env)
    with server.connect() as conn:
        conn.send(get("/gate?name=never"))
        gate.wait("never")
        start = time.monotonic()
        server.send_signal(signal.SIGTERM)
        server.wait(20 * SCALE)
        assert time.monotonic() - start < 15 * SCALE


def test_int_gives_a_view_two_seconds(ringtail, gate):
    server = ringtail(env=gate.env)
    with server.connect() as conn:
        conn.send(get("/gate?name=quick"))
        arrival = gate.wait("quick")
        server.send_signal(signal.SIGINT)
        wait_for(lambda: refuses(server), "the end of accepting")
        arrival.release("in time")
        assert conn.read_response().text == "in time"
    assert server.wait() == 0


def test_int_does_not_wait_for_a_view_longer_than_two_seconds(ringtail, gate):
    server = ringtail(env=gate.env)
    with server.connect() as conn:
        conn.send(get("/gate?name=long"))
        gate.wait("long")
        start = time.monotonic()
        server.send_signal(signal.SIGINT)
        server.wait(25 * SCALE)
        took = time.monotonic() - start
        assert took < 20 * SCALE, "graceful-timeout (30 s) was waited for"
        assert took > 1.0


def test_a_second_term_means_now(ringtail, gate):
    server = ringtail(env=gate.env)
    with server.connect() as conn:
        conn.send(get("/gate?name=stuck"))
        gate.wait("stuck")
        server.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), "the end of accepting")
        start = time.monotonic()
        server.send_signal(signal.SIGTERM)
        server.wait(20 * SCALE)
        assert time.monotonic() - start < 15 * SCALE


def test_atexit_runs_and_output_is_flushed_at_a_graceful_end(ringtail, tmp_path):
    app = tmp_path / "exits.py"
    app.write_text("import atexit\nprint('imported', end='')\natexit.register(lambda: print('at exit', end=''))\n"
                   "def application(environ, start_response):\n    start_response('200 OK', [])\n    print('called', end='')\n    return [b'x']\n")
    server = ringtail(app)
    server.get()
    server.stop()
    assert "imported" in server.out() and "called" in server.out() and "at exit" in server.out()


def test_the_start_up_line_names_application_address_python_and_threads(ringtail):
    server = ringtail(threads=3)
    line = server.start_line
    assert "main.py" in line or "main:application" in line, line
    assert str(server.port) in line and "Python 3." in line and "threads 3" in line, line


def test_a_port_in_use_is_one_message_and_exit_status_1(ringtail):
    from harness.fixtures import MAIN
    from harness.server import run
    server = ringtail()
    status, out, err = run(f"--bind=127.0.0.1:{server.port}", str(MAIN))
    assert status == 1, (status, out, err)
    assert str(server.port) in err and "in use" in err and "Traceback" not in err
    assert server.get().status == 200
