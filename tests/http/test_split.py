# SPDX-License-Identifier: Apache-2.0
"""Requests cut into pieces at every offset mean the same (RFC 9112 2.2: a message is a sequence of octets)."""
import pytest
from harness import parse_responses
from harness.fixtures import module_server

server = module_server(max_keepalive_requests=0)

GET = b"GET /q?n=7 HTTP/1.1\r\nHost: test\r\nAccept: text/plain\r\nCookie: a=1; b=2\r\n\r\n"
POST = b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 12\r\n\r\nhello\r\n\r\nyou"
CHUNKED = (b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
           b"5\r\nhello\r\nA;ext=\"v\"\r\n, chunked \r\n6\r\nworld!\r\n0\r\nTrailer: dropped\r\n\r\n")
REQUESTS = {"get": (GET, b"7"), "post": (POST, b"hello\r\n\r\nyou"), "chunked": (CHUNKED, b"hello, chunked world!")}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_split_once_at_any_offset_is_the_same_request(server, name):
    request, expected = REQUESTS[name]
    with server.connect() as conn:
        for offset in range(1, len(request)):
            conn.send(request[:offset])
            conn.send(request[offset:])
            response = conn.read_response()
            assert (response.status, response.body) == (200, expected), f"split at {offset}"


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_that_comes_byte_by_byte_is_the_same_request(server, name):
    request, expected = REQUESTS[name]
    with server.connect() as conn:
        conn.send_bytewise(request)
        response = conn.read_response()
        assert (response.status, response.body) == (200, expected)


def test_a_pipeline_split_at_any_offset_is_the_same_pipeline(server):
    data = GET + CHUNKED + POST + GET
    expected = [b"7", b"hello, chunked world!", b"hello\r\n\r\nyou", b"7"]
    with server.connect() as conn:
        for offset in range(1, len(data)):
            conn.send(data[:offset], data[offset:])
            assert [conn.read_response().body for _ in expected] == expected, f"split at {offset}"


def test_a_split_between_the_last_cr_and_lf_starts_the_request_only_with_the_lf(server):
    with server.connect() as conn, server.connect() as other:
        conn.send(GET[:-1])
        # A whole round trip elsewhere: the loop has had the chance to answer too early.
        other.roundtrip(target="/q?n=1")
        conn.expect_quiet()
        conn.send(GET[-1:])
        assert conn.read_response().body == b"7"


def test_three_way_splits_around_the_header_end_are_the_same_request(server):
    end = GET.index(b"\r\n\r\n")
    with server.connect() as conn:
        for first in range(end - 2, end + 3):
            for second in range(first + 1, len(GET)):
                conn.send(GET[:first], GET[first:second], GET[second:])
                assert conn.read_response().body == b"7", (first, second)


def test_empty_lines_before_a_request_line_are_skipped(server):
    """RFC 9112 2.2: a server SHOULD ignore at least one empty line received before the request line."""
    with server.connect() as conn:
        conn.send(b"\r\n" + GET)
        assert conn.read_response().body == b"7"
        conn.send(POST + b"\r\n" + GET)
        assert [conn.read_response().body for _ in range(2)] == [b"hello\r\n\r\nyou", b"7"]


def test_bytes_after_a_complete_request_wait_for_their_rest(server):
    with server.connect() as conn:
        conn.send(GET + GET[:30])
        assert conn.read_response().body == b"7"
        conn.send(GET[30:])
        assert conn.read_response().body == b"7"
        conn.half_close()
        assert parse_responses(conn.read_rest(), ()) == []
