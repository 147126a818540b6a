# SPDX-License-Identifier: Apache-2.0
"""Methods, targets, versions: HEAD, OPTIONS *, absolute-form, HTTP/1.0."""
import pytest
from harness.fixtures import module_server

server = module_server()


# --- HEAD (RFC 9110 9.3.2)

def test_head_has_the_headers_of_get_and_no_body(server):
    with server.connect() as conn:
        get = conn.roundtrip("GET", "/bytes?n=1000")
        head = conn.roundtrip("HEAD", "/bytes?n=1000")
        def fields(r): return sorted((k, v) for k, v in r.headers if k.lower() != "date")
        assert fields(head) == fields(get)
        assert conn.roundtrip("GET", "/q?n=1").text == "1"


@pytest.mark.parametrize("target", ["/stream", "/list", "/empty", "/file?n=100000", "/write", "/file-memory?n=1000"])
def test_head_of_any_kind_of_response_sends_no_body_byte(server, target):
    with server.connect() as conn:
        head = conn.roundtrip("HEAD", target)
        assert head.status == 200
        assert conn.roundtrip("GET", "/q?n=next").text == "next"
        conn.expect_quiet()


def test_head_of_a_refusal_sends_no_body(server):
    with server.connect() as conn:
        conn.request("HEAD", "/", host=None)
        response = conn.read_response("HEAD")
        assert response.status == 400
        conn.read_close()


# --- OPTIONS *, absolute-form, odd targets

def test_options_asterisk_is_answered(server):
    with server.connect() as conn:
        response = conn.roundtrip("OPTIONS", "*")
        assert response.status < 500 and response.status != 400
        assert conn.roundtrip("GET", "/q?n=1").text == "1"


def test_an_asterisk_is_refused_for_other_methods(server):
    with server.connect() as conn:
        conn.request("GET", "*")
        assert conn.read_response().status == 400
        conn.read_close()


def test_absolute_form_targets_are_served_and_their_host_wins(server):
    """RFC 9112 3.2.2: the Host field is replaced by the host of an absolute-form target."""
    with server.connect() as conn:
        environ = conn.roundtrip(target="http://example.org:81/environ?a=b").json()
        assert environ["PATH_INFO"] == "/environ" and environ["QUERY_STRING"] == "a=b"
        assert environ["HTTP_HOST"] == "example.org:81"


def test_absolute_form_without_a_path_means_the_root(server):
    with server.connect() as conn:
        assert conn.roundtrip(target="http://example.org").body == b"hello\n"


def test_absolute_form_still_needs_a_host_field(server):
    with server.connect() as conn:
        conn.request("GET", "http://example.org/", host=None)
        assert conn.read_response().status == 400
        conn.read_close()


def test_connect_is_not_served_as_a_tunnel(server):
    with server.connect() as conn:
        conn.request("CONNECT", "example.org:443", host="example.org:443")
        data = conn.read_response("GET")
        assert data.status in (400, 404, 405, 501)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "MKCOL", "REPORT", "PURGE"])
def test_a_known_method_reaches_the_application_by_its_name(server, method):
    with server.connect() as conn:
        assert conn.roundtrip(method, "/echo").get("X-Method") == method


def test_the_path_is_decoded_once_and_the_query_not_at_all(server):
    with server.connect() as conn:
        conn.request(target="/%65nviron?x=%2541&y=%20")
        environ = conn.read_response().json()
        assert environ["PATH_INFO"] == "/environ"
        assert environ["QUERY_STRING"] == "x=%2541&y=%20"
        assert environ["RAW_URI"] == environ["REQUEST_URI"] == "/%65nviron?x=%2541&y=%20"


def test_a_question_mark_in_the_query_stays(server):
    with server.connect() as conn:
        assert conn.roundtrip(target="/environ?a?b=?").json()["QUERY_STRING"] == "a?b=?"


# --- Host

def test_an_empty_host_field_is_legal(server):
    """RFC 9112 3.2: a client sends an empty Host when the target has no authority."""
    with server.connect() as conn:
        conn.send(b"GET /q?n=1 HTTP/1.1\r\nHost:\r\n\r\n")
        assert conn.read_response().status == 200


# --- HTTP/1.0

def test_http_1_0_closes_behind_its_answer(server):
    with server.connect() as conn:
        conn.send(b"GET /q?n=1 HTTP/1.0\r\n\r\n")
        response = conn.read_response()
        assert response.text == "1"
        conn.read_close()


def test_http_1_0_needs_no_host(server):
    with server.connect() as conn:
        conn.send(b"GET /environ HTTP/1.0\r\n\r\n")
        environ = conn.read_response().json()
        assert environ["SERVER_PROTOCOL"] == "HTTP/1.0" and "HTTP_HOST" not in environ


def test_http_1_0_with_keep_alive_stays_open_and_says_so(server):
    with server.connect() as conn:
        for number in range(3):
            conn.send(b"GET /q?n=%d HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" % number)
            response = conn.read_response()
            assert response.text == str(number) and response.connection == ["keep-alive"]


def test_http_1_0_never_gets_a_chunked_response(server):
    with server.connect() as conn:
        conn.send(b"GET /stream?n=3&size=4 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        response = conn.read_response()
        assert response.framing == "close" and response.body == b"aaaabbbbcccc"
        conn.read_close()


def test_http_1_0_keeps_alive_when_the_length_is_known(server):
    with server.connect() as conn:
        conn.send(b"GET /list HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        response = conn.read_response()
        assert response.framing == "length" and response.body == b"onetwothree" and "keep-alive" in response.connection


def test_http_1_0_sees_no_early_hints(server):
    with server.connect() as conn:
        conn.send(b"GET /early-hints HTTP/1.0\r\n\r\n")
        response = conn.read_response()
        assert response.interim == [] and response.status == 200


# --- keep-alive

def test_http_1_1_stays_open_without_saying_anything(server):
    with server.connect() as conn:
        for number in range(3):
            response = conn.roundtrip(target=f"/q?n={number}")
            assert response.text == str(number) and "close" not in response.connection


@pytest.mark.parametrize("value", ["close", "Close", "CLOSE", "foo, close", "close, foo", "foo,close , bar"])
def test_the_close_option_is_found_in_any_place_and_case(server, value):
    with server.connect() as conn:
        response = conn.roundtrip(headers=[("Connection", value)])
        assert response.connection == ["close"]
        conn.read_close()


def test_the_close_option_in_a_second_connection_field_counts(server):
    with server.connect() as conn:
        response = conn.roundtrip(headers=[("Connection", "foo"), ("Connection", "close")])
        assert response.connection == ["close"]
        conn.read_close()


def test_a_connection_option_that_only_contains_close_does_not_close(server):
    with server.connect() as conn:
        assert "close" not in conn.roundtrip(headers=[("Connection", "closed, not-close")]).connection
        assert conn.roundtrip(target="/q?n=2").text == "2"


def test_close_wins_over_keep_alive(server):
    with server.connect() as conn:
        assert conn.roundtrip(headers=[("Connection", "keep-alive, close")]).connection == ["close"]
        conn.read_close()


def test_upgrade_is_ignored_and_the_request_is_answered(server):
    """RFC 9110 7.8: a server MAY ignore a received Upgrade."""
    with server.connect() as conn:
        response = conn.roundtrip(target="/q?n=1", headers=[
            ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "dGVzdA==")])
        assert response.status == 200 and response.text == "1"
        assert conn.roundtrip(target="/q?n=2").text == "2"


def test_upgrade_with_a_body_is_answered_and_the_next_request_too(server):
    with server.connect() as conn:
        conn.request("POST", "/echo", headers=[("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABk")], body=b"body")
        assert conn.read_response().body == b"body"
        assert conn.roundtrip(target="/q?n=2").text == "2"


def test_the_http_2_preface_is_refused_with_one_answer(server):
    with server.connect() as conn:
        conn.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        response = conn.read_response()
        assert response.status in (400, 501, 505) and response.connection == ["close"]
        conn.read_close()
