# SPDX-License-Identifier: Apache-2.0
"""Expect: 100-continue (RFC 9110 10.1.1)."""
import pytest
from harness.fixtures import module_server

server = module_server(max_body="1k")


def head(length, *extra, version="1.1", target="/echo", expect="100-continue"):
    lines = [f"POST {target} HTTP/{version}", "Host: test", f"Expect: {expect}", *extra]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_100_continue_comes_before_the_body_is_sent(server):
    with server.connect() as conn:
        conn.send(head(5))
        interim = conn.read_response(interim=False)
        assert interim.status == 100 and interim.headers == []
        conn.send(b"hello")
        assert conn.read_response(interim=False).body == b"hello"


def test_the_expectation_is_compared_without_case(server):
    with server.connect() as conn:
        conn.send(head(5, expect="100-Continue"))
        assert conn.read_response(interim=False).status == 100
        conn.send(b"hello")
        assert conn.read_response(interim=False).body == b"hello"


def test_100_continue_comes_for_a_chunked_body(server):
    with server.connect() as conn:
        conn.send(head(None, "Transfer-Encoding: chunked"))
        assert conn.read_response(interim=False).status == 100
        conn.send(b"5\r\nhello\r\n0\r\n\r\n")
        assert conn.read_response(interim=False).body == b"hello"


def test_no_100_continue_when_the_whole_body_is_there_already(server):
    """RFC 9110 10.1.1: a server MAY omit it when it has already received some or all of the content."""
    with server.connect() as conn:
        conn.send(head(5) + b"hello")
        response = conn.read_response()
        assert response.body == b"hello" and response.interim == []


def test_no_100_continue_without_a_body(server):
    with server.connect() as conn:
        conn.send(head(0))
        response = conn.read_response()
        assert response.status == 200 and response.interim == []
        conn.send(head(None))
        response = conn.read_response()
        assert response.status == 200 and response.interim == []


def test_no_100_continue_for_http_1_0(server):
    with server.connect() as conn:
        conn.send(head(5, version="1.0"))
        server.get("/")
        conn.expect_quiet()
        conn.send(b"hello")
        response = conn.read_response()
        assert response.body == b"hello" and response.interim == []
        conn.read_close()


def test_413_comes_in_place_of_100_continue(server):
    with server.connect() as conn:
        conn.send(head(2000, target="/echo?tag=expect-413"))
        response = conn.read_response()
        assert response.status == 413 and response.interim == [] and response.connection == ["close"]
        conn.read_close()
    assert server.get("/calls?of=expect-413").text == "0"


def test_an_unknown_expectation_is_417(server):
    with server.connect() as conn:
        conn.send(head(5, expect="something-else", target="/echo?tag=expect-417"))
        response = conn.read_response()
        assert response.status == 417 and response.interim == [] and response.connection == ["close"]
        conn.read_close()
    assert server.get("/calls?of=expect-417").text == "0"


def test_100_continue_of_a_pipelined_request_waits_for_the_answer_before_it(server):
    """An interim response in front of an earlier request's final one would be taken for that one's."""
    with server.connect() as conn:
        conn.send(b"GET /gate?name=before-continue HTTP/1.1\r\nHost: test\r\n\r\n" + head(5))
        arrival = server.gate.wait("before-continue")
        server.get("/")
        conn.expect_quiet()
        arrival.release("first")
        first = conn.read_response(interim=False)
        assert first.body == b"first"
        assert conn.read_response(interim=False).status == 100
        conn.send(b"hello")
        assert conn.read_response(interim=False).body == b"hello"


def test_100_continue_is_sent_again_for_each_request_of_a_connection(server):
    with server.connect() as conn:
        for number in range(3):
            body = b"body%d" % number
            conn.send(head(len(body)))
            assert conn.read_response(interim=False).status == 100
            conn.send(body)
            assert conn.read_response(interim=False).body == body


@pytest.mark.parametrize("sent", [1, 3])
def test_a_body_that_began_without_waiting_is_read_whole(server, sent):
    with server.connect() as conn:
        conn.send(head(5) + b"hello"[:sent])
        conn.send(b"hello"[sent:])
        response = conn.read_response()
        assert response.body == b"hello" and len(response.interim) <= 1
