# SPDX-License-Identifier: Apache-2.0
"""Clients that leave: FIN and RST while queued, running and streaming; the status line's first bytes (SPEC 3)."""
import pytest
from harness import wait_for

PREFIX = b"HTTP/1.1 "


@pytest.fixture
def server(ringtail, gate):
    """Two handlers and no more, so that a request can be made to wait."""
    server = ringtail(threads=2, threads_max=2, env=gate.env)
    server.gate = gate
    return server


def occupy(server):
    """Both handlers stand at a gate; the arrivals and the connections."""
    conns, arrivals = [], []
    for number in range(2):
        conn = server.connect()
        conn.request(target=f"/gate?name=occupied-{number}")
        arrivals.append(server.gate.wait(f"occupied-{number}"))
        conns.append(conn)
    return conns, arrivals


def free(conns, arrivals):
    for conn, arrival in zip(conns, arrivals):
        arrival.release("done")
        assert conn.read_response().text == "done"
        conn.close()


# --- queued

def test_a_queued_request_whose_client_reset_is_not_run(server):
    conns, arrivals = occupy(server)
    conn = server.connect()
    conn.request(target="/q?n=1&tag=reset-queued")
    wait_for(lambda: server.connections() == 3, "the accept")
    after = server.connect()
    after.request(target="/q?n=2")
    wait_for(lambda: server.connections() == 4, "the accept")
    conn.reset()
    wait_for(lambda: server.connections() == 3, "the reset connection's end")
    free(conns, arrivals)
    assert after.read_response().text == "2"
    assert server.get("/calls?of=reset-queued").text == "0"


def test_a_queued_request_whose_client_closed_is_not_run(server):
    """close() looks like a half-close until the first bytes of the status line have been answered by a reset."""
    conns, arrivals = occupy(server)
    conn = server.connect()
    conn.request(target="/q?n=1&tag=closed-queued")
    wait_for(lambda: server.connections() == 3, "the accept")
    conn.close()
    wait_for(lambda: server.connections() == 2, "the closed connection's end")
    free(conns, arrivals)
    assert server.get("/calls?of=closed-queued").text == "0"


def test_a_queued_request_whose_client_half_closed_is_run(server):
    conns, arrivals = occupy(server)
    with server.connect() as conn:
        conn.request(target="/q?n=5").half_close()
        assert conn.read_exactly(9) == PREFIX
        free(conns, arrivals)
        assert conn.read_exactly(8) == b"200 OK\r\n"


# --- the first bytes of the status line

def test_after_t_a_half_closed_client_gets_the_first_nine_bytes_and_then_the_rest(server):
    with server.connect() as conn:
        conn.request(target="/gate?name=prefix")
        arrival = server.gate.wait("prefix")
        conn.half_close()
        assert conn.read_exactly(9) == PREFIX
        server.get("/")
        assert conn.available() == b"", conn.describe()
        arrival.release("answer")
        conn.buffer = PREFIX + conn.buffer
        response = conn.read_response()
        assert response.text == "answer"
        conn.read_close()
    assert conn.received.count(PREFIX) == 1


def test_the_first_bytes_come_to_a_1_0_client_too(server):
    with server.connect() as conn:
        conn.send(b"GET /gate?name=prefix10 HTTP/1.0\r\n\r\n").half_close()
        arrival = server.gate.wait("prefix10")
        assert conn.read_exactly(9) == PREFIX
        arrival.release("answer")
        conn.buffer = PREFIX + conn.buffer
        assert conn.read_response().text == "answer"
        conn.read_close()


@pytest.mark.parametrize("target, status", [("/error-gated", 404), ("/gate-stream", 200), ("/file-gated", 200)])
def test_the_first_bytes_are_stripped_from_whatever_follows(server, target, status):
    """Here: a view behind a waiting one, so that the prefix is out before the answer's kind is known."""
    conns, arrivals = occupy(server)
    real = {"/error-gated": "/nothing", "/gate-stream": "/stream?n=2&size=3", "/file-gated": "/file?n=100000"}[target]
    with server.connect() as conn:
        conn.request(target=real).half_close()
        assert conn.read_exactly(9) == PREFIX
        free(conns, arrivals)
        conn.buffer = PREFIX + conn.buffer
        response = conn.read_response()
        assert response.status == status
        if status == 200:
            assert len(response.body) in (6, 100000)
        conn.read_close()
    assert conn.received.count(PREFIX) == 1


def test_the_first_bytes_are_stripped_from_an_interim_response(server):
    conns, arrivals = occupy(server)
    with server.connect() as conn:
        conn.request(target="/early-hints").half_close()
        assert conn.read_exactly(9) == PREFIX
        free(conns, arrivals)
        conn.buffer = PREFIX + conn.buffer
        response = conn.read_response()
        assert response.text == "hinted" and [r.status for r in response.interim] == [103]


def test_the_first_bytes_are_stripped_from_a_500(server):
    conns, arrivals = occupy(server)
    with server.connect() as conn:
        conn.request(target="/error").half_close()
        assert conn.read_exactly(9) == PREFIX
        free(conns, arrivals)
        conn.buffer = PREFIX + conn.buffer
        assert conn.read_response().status == 500
        conn.read_close()
    server.wait_log("a view that fails")
    server.expect(r".*error: [^\n]*\n(?:[^\n]*\n)*?RuntimeError: a view that fails\n")


def test_the_first_bytes_wait_for_the_answers_of_earlier_requests(server):
    """A pipeline, half-closed: only the oldest request's answer may begin."""
    with server.connect() as conn:
        conn.send(b"GET /gate?name=pipe-1 HTTP/1.1\r\nHost: test\r\n\r\nGET /gate?name=pipe-2 HTTP/1.1\r\nHost: test\r\n\r\n").half_close()
        arrival = server.gate.wait("pipe-1")
        assert conn.read_exactly(9) == PREFIX
        arrival.release("first")
        conn.buffer = PREFIX + conn.buffer
        assert conn.read_response().text == "first"
        arrival = server.gate.wait("pipe-2")
        assert conn.read_exactly(9) == PREFIX
        server.get("/")
        assert conn.available() == b""
        arrival.release("second")
        conn.buffer = PREFIX + conn.buffer
        assert conn.read_response().text == "second"
        conn.read_close()


def test_no_early_bytes_without_a_fin(server):
    with server.connect() as conn:
        conn.request(target="/gate?name=nofin")
        arrival = server.gate.wait("nofin")
        for _ in range(20):
            server.get("/")
        conn.expect_quiet()
        arrival.release("x")
        assert conn.read_response().text == "x"


# --- running

@pytest.mark.parametrize("leave", ["reset", "close"])
def test_a_running_view_is_told_that_its_client_has_gone(server, leave):
    conn = server.connect()
    conn.request(target=f"/until-gone?name={leave}")
    server.gate.wait(f"{leave}-runs")
    getattr(conn, leave)()
    saw = server.gate.wait(f"{leave}-saw")
    assert saw.data == {"gone": True, "waitress": True}
    assert server.get("/q?n=1").text == "1"


def test_a_half_closed_client_is_not_gone_for_its_view(server):
    with server.connect() as conn:
        conn.request(target="/connected?name=half").half_close()
        arrival = server.gate.wait("half")
        assert conn.read_exactly(9) == PREFIX
        server.get("/")
        arrival.release()
        conn.buffer = PREFIX + conn.buffer
        assert conn.read_response().text == "false"


def test_client_disconnected_is_false_while_the_client_waits(server):
    with server.connect() as conn:
        conn.request(target="/connected?name=here")
        server.gate.release("here")
        assert conn.read_response().text == "false"


def test_pipelined_requests_of_a_client_that_reset_are_not_run(server):
    conn = server.connect()
    conn.send(b"GET /until-gone?name=pipe HTTP/1.1\r\nHost: test\r\n\r\n" + b"GET /q?n=1&tag=pipe-reset HTTP/1.1\r\nHost: test\r\n\r\n" * 5)
    server.gate.wait("pipe-runs")
    conn.reset()
    server.gate.wait("pipe-saw")
    assert server.get("/calls?of=pipe-reset").text == "0"


# --- streaming

@pytest.mark.parametrize("leave", ["reset", "close"])
def test_a_running_generator_is_closed_at_its_next_chunk_when_the_client_has_gone(server, leave):
    conn = server.connect()
    conn.request(target=f"/gate-stream?name={leave}-stream")
    server.gate.release(f"{leave}-stream", "one")
    conn.read_response(body=False)
    assert conn.read_chunk() == b"one"
    getattr(conn, leave)()
    # A generator that goes on giving chunks; the first ones may still be taken by the kernel.
    def closed():
        if server.gate.count(f"{leave}-stream-closed"):
            return True
        with server.gate.lock:
            queue = server.gate.arrivals[f"{leave}-stream"]
            arrival = queue.popleft() if queue else None
        if arrival:
            arrival.release("more")
        return False
    wait_for(closed, "close() of the generator")
    assert server.get("/q?n=1").text == "1"


def test_an_endless_generator_ends_when_its_client_resets(server):
    conn = server.connect()
    conn.request(target="/endless?name=endless")
    conn.read_response(body=False)
    conn.read_exactly(500000)
    conn.reset()
    server.gate.wait("endless-closed")


def test_close_of_a_generator_is_called_exactly_once_when_the_client_leaves(server):
    for number in range(10):
        conn = server.connect()
        conn.request(target=f"/endless?name=once-{number}&size=1000")
        conn.read_response(body=False)
        conn.reset()
        server.gate.wait(f"once-{number}-closed")
    server.get("/")
    for number in range(10):
        assert server.gate.count(f"once-{number}-closed") == 1


def test_a_file_that_is_being_sent_is_closed_when_the_client_resets(server):
    conn = server.connect(rcvbuf=4096)
    conn.request(target="/file?n=20000000&name=file")
    conn.read_response(body=False)
    conn.read_exactly(10000)
    conn.reset()
    server.gate.wait("file-closed")


def test_a_reset_while_a_body_is_on_its_way_costs_nothing(server):
    for _ in range(20):
        conn = server.connect()
        conn.send(b"POST /echo?tag=reset-body HTTP/1.1\r\nHost: test\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 400000)
        conn.reset()
    assert server.get("/calls?of=reset-body").text == "0"
    wait_for(lambda: server.connections() == 0, "the end of the reset connections", describe=lambda: f"{server.connections()} left")


def test_connections_that_come_and_go_leave_no_descriptor(server):
    for number in range(200):
        conn = server.connect()
        if number % 4 == 0:
            conn.reset()
        elif number % 4 == 1:
            conn.request(target="/").reset()
        elif number % 4 == 2:
            conn.send(b"GET / HT").close()
        else:
            conn.request(target="/").close()
    assert server.get("/q?n=1").text == "1"
    wait_for(lambda: server.connections() == 0, "the end of the gone connections", describe=lambda: f"{server.connections()} left")
