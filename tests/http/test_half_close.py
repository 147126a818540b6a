# SPDX-License-Identifier: Apache-2.0
"""FIN is a half-close: the client still gets its answers (SPEC 3)."""
from harness.fixtures import module_server

server = module_server(threads=4)

GET = b"GET /q?n=%d HTTP/1.1\r\nHost: test\r\n\r\n"


def test_a_client_that_has_shut_down_its_side_gets_its_answer(server):
    with server.connect() as conn:
        conn.send(GET % 5).half_close()
        assert conn.read_response().text == "5"
        conn.read_close()


def test_a_half_close_before_the_answer_of_a_running_view_does_not_lose_it(server):
    with server.connect() as conn:
        conn.send(b"GET /gate?name=half-running HTTP/1.1\r\nHost: test\r\n\r\n")
        arrival = server.gate.wait("half-running")
        conn.half_close()
        server.get("/")
        arrival.release("answer")
        assert conn.read_response().text == "answer"
        conn.read_close()


def test_all_pipelined_requests_before_a_fin_are_answered(server):
    with server.connect() as conn:
        conn.send(b"".join(GET % n for n in range(50))).half_close()
        assert [conn.read_response().text for _ in range(50)] == [str(n) for n in range(50)]
        conn.read_close()


def test_a_fin_after_a_streaming_response_began_does_not_cut_it(server):
    with server.connect() as conn:
        conn.send(b"GET /gate-stream?name=half-stream HTTP/1.1\r\nHost: test\r\n\r\n")
        server.gate.release("half-stream", "one")
        response = conn.read_response(body=False)
        assert conn.read_chunk() == b"one"
        conn.half_close()
        server.get("/")
        server.gate.release("half-stream", "two")
        assert conn.read_chunk() == b"two"
        server.gate.release("half-stream", "")
        assert conn.read_chunk() == b""
        assert response.status == 200
        conn.read_close()
    server.gate.wait("half-stream-closed")


def test_a_fin_inside_a_header_closes_without_calling_the_application(server):
    with server.connect() as conn:
        conn.send(b"GET /q?n=1&tag=cut-head HTTP/1.1\r\nHos").half_close()
        data = conn.read_rest()
        assert data == b"" or data.startswith(b"HTTP/1.1 400 "), data
    assert server.get("/calls?of=cut-head").text == "0"


def test_a_fin_inside_a_body_does_not_reach_the_application(server):
    with server.connect() as conn:
        conn.send(b"POST /echo?tag=cut-body HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\nonly").half_close()
        data = conn.read_rest()
        assert data == b"" or data.startswith(b"HTTP/1.1 400 "), data
    with server.connect() as conn:
        conn.send(b"POST /echo?tag=cut-body HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n").half_close()
        data = conn.read_rest()
        assert data == b"" or data.startswith(b"HTTP/1.1 400 "), data
    assert server.get("/calls?of=cut-body").text == "0"


def test_a_fin_on_an_idle_connection_closes_it(server):
    with server.connect() as conn:
        conn.send(GET % 1)
        assert conn.read_response().text == "1"
        conn.half_close()
        conn.read_close()


def test_a_fin_without_any_request_closes_silently(server):
    with server.connect() as conn:
        conn.half_close()
        conn.read_close()


def test_a_large_response_reaches_a_half_closed_client_whole(server):
    with server.connect() as conn:
        conn.send(b"GET /bytes?n=5000000 HTTP/1.1\r\nHost: test\r\n\r\n").half_close()
        assert len(conn.read_response().body) == 5000000
        conn.read_close()
    with server.connect() as conn:
        conn.send(b"GET /file?n=5000000 HTTP/1.1\r\nHost: test\r\n\r\n").half_close()
        assert len(conn.read_response().body) == 5000000
        conn.read_close()
