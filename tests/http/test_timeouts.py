# SPDX-License-Identifier: Apache-2.0
"""Timeouts of a connection: 408 when a request had begun, a silent close otherwise (SPEC 2)."""
import time

from harness import SCALE, wait_for

SHORT = f"{int(400 * SCALE)}ms"
# A bound that says "by this timeout and not by another": far above the short one, far below every default.
SOON = 8 * SCALE


def answered_408(conn):
    start = time.monotonic()
    response = conn.read_response()
    assert response.status == 408 and response.connection == ["close"], conn.describe()
    conn.read_close()
    assert time.monotonic() - start < SOON


def closed_silently(conn):
    start = time.monotonic()
    conn.read_close()
    assert time.monotonic() - start < SOON


def test_an_idle_connection_is_closed_silently_after_idle_timeout(ringtail):
    server = ringtail(idle_timeout=SHORT)
    with server.connect() as conn:
        assert conn.roundtrip(target="/q?n=1").text == "1"
        closed_silently(conn)


def test_a_connection_without_any_request_is_closed_silently(ringtail):
    server = ringtail(idle_timeout=SHORT, header_timeout=SHORT)
    with server.connect() as conn:
        closed_silently(conn)


def test_idle_timeout_starts_again_with_each_answer(ringtail):
    server = ringtail(idle_timeout=f"{int(2000 * SCALE)}ms")
    with server.connect() as conn:
        begin = time.monotonic()
        number = 0
        while time.monotonic() - begin < 3 * SCALE:
            assert conn.roundtrip(target=f"/sleep?ms=300").status == 200
            number += 1
        assert number > 3


def test_a_header_that_does_not_end_is_answered_408_after_header_timeout(ringtail):
    server = ringtail(header_timeout=SHORT)
    with server.connect() as conn:
        conn.send(b"GET / HTTP/1.1\r\nHost: te")
        answered_408(conn)


def test_header_timeout_is_not_prolonged_by_trickling_bytes(ringtail):
    server = ringtail(header_timeout=SHORT)
    with server.connect() as conn:
        conn.send(b"GET / HTTP/1.1\r\nX-Slow: ")
        def trickle():
            conn.try_send(b"a")
            conn.available()
            return conn.is_eof or b"\r\n\r\n" in conn.buffer
        wait_for(trickle, "the 408 while bytes trickle in", SOON)
        assert conn.read_response().status == 408


def test_one_byte_of_a_request_line_counts_as_begun(ringtail):
    server = ringtail(header_timeout=SHORT)
    with server.connect() as conn:
        conn.send(b"G")
        answered_408(conn)


def test_header_timeout_counts_for_the_second_request_of_a_connection(ringtail):
    server = ringtail(header_timeout=SHORT)
    with server.connect() as conn:
        assert conn.roundtrip(target="/q?n=1").text == "1"
        conn.send(b"GET / HTT")
        answered_408(conn)


def test_a_body_that_stands_still_is_answered_408_after_body_timeout(ringtail):
    server = ringtail(body_timeout=SHORT)
    with server.connect() as conn:
        conn.send(b"POST /echo?tag=body-408 HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\nsome")
        answered_408(conn)
    assert server.get("/calls?of=body-408").text == "0"


def test_a_chunked_body_that_stands_still_is_answered_408(ringtail):
    server = ringtail(body_timeout=SHORT)
    with server.connect() as conn:
        conn.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        answered_408(conn)


def test_body_timeout_counts_from_the_last_progress(ringtail):
    server = ringtail(body_timeout=f"{int(1500 * SCALE)}ms")
    with server.connect() as conn, server.connect() as pace:
        size = 8
        conn.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size):
            pace.roundtrip(target=f"/sleep?ms={int(400 * SCALE)}")
            conn.send(b"x")
        response = conn.read_response()
        assert response.status == 200 and response.body == b"x" * size


def test_a_client_that_never_sends_the_continued_body_is_answered_408(ringtail):
    server = ringtail(body_timeout=SHORT)
    with server.connect() as conn:
        conn.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        assert conn.read_response(interim=False).status == 100
        answered_408(conn)


def test_a_client_that_does_not_read_is_cut_after_write_timeout(ringtail):
    server = ringtail(write_timeout=SHORT)
    with server.connect(rcvbuf=4096) as conn:
        conn.request(target="/bytes?n=30000000")
        conn.read_response(body=False)
        wait_for(lambda: server.connections() == 0, "the end of the connection", SOON)
        data, _ = conn.read_end()
        assert len(data) < 30000000


def test_a_client_that_reads_slowly_but_reads_is_not_cut(ringtail):
    """30s without progress, not 30s for the whole answer."""
    server = ringtail(write_timeout=f"{int(2000 * SCALE)}ms")
    with server.connect(rcvbuf=8192) as conn, server.connect() as pace:
        conn.request(target="/bytes?n=6000000")
        response = conn.read_response(body=False)
        left = int(response.get("Content-Length"))
        begin = time.monotonic()
        while time.monotonic() - begin < 5 * SCALE:
            left -= len(conn.read_exactly(min(left, 60000)))
            pace.roundtrip(target=f"/sleep?ms={int(150 * SCALE)}")
        conn.read_exactly(left)
        assert conn.roundtrip(target="/q?n=1").text == "1"


def test_write_timeout_stands_still_while_the_generator_runs(ringtail, gate):
    server = ringtail(write_timeout=SHORT, env=gate.env)
    with server.connect() as conn, server.connect() as pace:
        conn.request(target="/gate-stream?name=slow")
        gate.release("slow", "one")
        conn.read_response(body=False)
        assert conn.read_chunk() == b"one"
        arrival = gate.wait("slow")
        pace.roundtrip(target=f"/sleep?ms={int(1500 * SCALE)}")
        arrival.release("two")
        assert conn.read_chunk() == b"two"
        gate.release("slow", "")
        assert conn.read_chunk() == b""


def test_no_timeout_counts_while_a_view_runs(ringtail):
    server = ringtail(header_timeout=SHORT, body_timeout=SHORT, idle_timeout=SHORT, write_timeout=SHORT)
    with server.connect() as conn:
        assert conn.roundtrip(target=f"/sleep?ms={int(2000 * SCALE)}").text == "slept"


def test_a_client_that_never_closes_does_not_hold_a_lingering_connection(ringtail):
    """The linger has an end of its own."""
    server = ringtail()
    with server.connect() as conn:
        conn.send(b"BAD\r\n\r\n")
        assert conn.read_response().status in (400, 501)
        wait_for(lambda: server.connections() == 0, "the end of the lingering connection", 40 * SCALE)
