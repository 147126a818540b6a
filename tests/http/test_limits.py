# SPDX-License-Identifier: Apache-2.0
"""Limits of a request: max-uri 414, max-header-bytes and max-headers 431, max-body 413 (SPEC 2)."""
import pytest
from harness.fixtures import module_server

server = module_server(max_uri="500", max_header_bytes="2k", max_headers="20", max_body="10k")


def refused(conn, status):
    response = conn.read_response()
    assert response.status == status and response.connection == ["close"], conn.describe()
    assert conn.received.count(b"HTTP/1.1 ") == 1
    conn.read_close()


@pytest.mark.parametrize("length, status", [(500, 404), (501, 414), (5000, 414)])
def test_a_target_up_to_max_uri_is_served_and_a_longer_one_is_414(server, length, status):
    with server.connect() as conn:
        conn.send(b"GET /" + b"a" * (length - 1) + b" HTTP/1.1\r\nHost: test\r\n\r\n")
        if status == 414:
            refused(conn, 414)
        else:
            assert conn.read_response().status == status


def test_414_comes_before_the_request_line_has_ended(server):
    with server.connect() as conn:
        conn.send(b"GET /" + b"a" * 600)
        refused(conn, 414)


def test_414_comes_when_the_target_comes_byte_by_byte(server):
    with server.connect() as conn:
        for byte in b"GET /" + b"a" * 600:
            if not conn.try_send(bytes([byte])):
                break
        refused(conn, 414)


@pytest.mark.parametrize("number, status", [(20, 200), (21, 431), (200, 431)])
def test_headers_up_to_max_headers_are_served_and_more_are_431(server, number, status):
    with server.connect() as conn:
        conn.send(b"GET /q?n=1 HTTP/1.1\r\nHost: test\r\n" + b"".join(b"X-%d: v\r\n" % n for n in range(number - 1)) + b"\r\n")
        if status == 431:
            refused(conn, 431)
        else:
            assert conn.read_response().status == status


def test_headers_within_max_header_bytes_are_served(server):
    with server.connect() as conn:
        assert conn.roundtrip(target="/q?n=1", headers=[("X-Long", "v" * 1800)]).status == 200


def test_headers_beyond_max_header_bytes_are_431(server):
    with server.connect() as conn:
        conn.request(headers=[("X-Long", "v" * 2100)])
        refused(conn, 431)


def test_431_comes_while_the_header_is_still_being_sent(server):
    with server.connect() as conn:
        conn.send(b"GET / HTTP/1.1\r\nHost: test\r\nX-Long: " + b"v" * 2100)
        refused(conn, 431)


def test_431_comes_for_an_endless_header_name(server):
    with server.connect() as conn:
        conn.send(b"GET / HTTP/1.1\r\nHost: test\r\n" + b"x" * 3000)
        refused(conn, 431)


def test_a_client_that_floods_headers_can_read_the_431(server):
    with server.connect() as conn:
        conn.send(b"GET / HTTP/1.1\r\nHost: test\r\n")
        for number in range(20000):
            if not conn.try_send(b"X-%d: value\r\n" % number * 20):
                break
        assert conn.read_response().status == 431


def test_a_body_of_exactly_max_body_is_served(server):
    with server.connect() as conn:
        conn.request("POST", "/digest", body=b"x" * 10240)
        assert conn.read_response().json()["size"] == 10240


def test_413_comes_by_content_length_before_any_body_byte(server):
    with server.connect() as conn:
        conn.send(b"POST /echo?tag=413 HTTP/1.1\r\nHost: test\r\nContent-Length: 10241\r\n\r\n")
        refused(conn, 413)
    assert server.get("/calls?of=413").text == "0"


def test_413_comes_while_a_chunked_body_passes_the_limit(server):
    with server.connect() as conn:
        conn.send(b"POST /echo?tag=413 HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1000\r\n" + b"x" * 4096 + b"\r\n")
        server.get("/")
        conn.expect_quiet()
        conn.send(b"1000\r\n" + b"x" * 4096 + b"\r\n" + b"1000\r\n" + b"x" * 4096 + b"\r\n")
        refused(conn, 413)
    assert server.get("/calls?of=413").text == "0"


def test_413_comes_by_a_chunk_size_alone_or_by_its_bytes(server):
    with server.connect() as conn:
        conn.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n")
        conn.try_send(b"x" * 20000)
        refused(conn, 413)


def test_chunk_extensions_do_not_count_as_body_but_are_bounded(server):
    with server.connect() as conn:
        conn.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5;")
        for _ in range(2000):
            if not conn.try_send(b"a" * 1024):
                break
        assert conn.read_response().status in (400, 413, 431)


def test_trailers_are_bounded(server):
    with server.connect() as conn:
        conn.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
        for number in range(20000):
            if not conn.try_send(b"X-%d: value\r\n" % number * 10):
                break
        assert conn.read_response().status in (400, 413, 431)


def test_a_client_that_goes_on_sending_a_refused_body_can_read_the_413(server):
    with server.connect() as conn:
        conn.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 4000000\r\n\r\n")
        for _ in range(60):
            if not conn.try_send(b"x" * 65536):
                break
        assert conn.read_response().status == 413


def test_empty_lines_before_a_request_are_bounded(server):
    with server.connect() as conn:
        sent = 0
        while sent < 20_000_000 and conn.try_send(b"\r\n" * 5000):
            sent += 10000
            if conn.available() or conn.is_eof:
                break
        data, _ = conn.read_end() if sent < 20_000_000 else (b"", False)
        assert sent < 20_000_000, "twenty million bytes of empty lines were taken"
        assert data == b"" or data.startswith(b"HTTP/1.1 4"), data


def test_max_body_0_is_no_limit(ringtail):
    server = ringtail(max_body="0")
    with server.connect() as conn:
        conn.request("POST", "/digest", body=b"x" * (20 << 20))
        assert conn.read_response().json()["size"] == 20 << 20


def test_the_default_max_body_is_16_mebibytes(ringtail):
    server = ringtail()
    with server.connect() as conn:
        conn.request("POST", "/digest", body=b"x" * (16 << 20))
        assert conn.read_response().json()["size"] == 16 << 20
        conn.send(b"POST /digest HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n" % ((16 << 20) + 1))
        assert conn.read_response().status == 413
