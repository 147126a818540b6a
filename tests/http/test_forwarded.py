# SPDX-License-Identifier: Apache-2.0
"""Trusted proxies, forwarded headers, script-name, header names with '_' (SPEC 2, 3)."""
import pytest
from harness import wait_for
from harness.fixtures import module_server

server = module_server(trusted_proxies="127.0.0.1/32,10.0.0.0/8")


def environ(server, headers, target="/environ"):
    with server.connect() as conn:
        response = conn.roundtrip(target=target, headers=headers)
        assert response.status == 200, response
        return response.json()


def test_x_forwarded_for_of_a_trusted_peer_is_the_client(server):
    assert environ(server, [("X-Forwarded-For", "203.0.113.7")])["REMOTE_ADDR"] == "203.0.113.7"


def test_the_client_is_the_rightmost_address_that_is_not_trusted(server):
    seen = environ(server, [("X-Forwarded-For", "198.51.100.1, 203.0.113.7, 10.1.2.3")])
    assert seen["REMOTE_ADDR"] == "203.0.113.7"


def test_repeated_x_forwarded_for_fields_are_one_list(server):
    seen = environ(server, [("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-For", "203.0.113.7"), ("X-Forwarded-For", "10.1.2.3")])
    assert seen["REMOTE_ADDR"] == "203.0.113.7"


def test_an_ipv6_client_is_understood(server):
    assert environ(server, [("X-Forwarded-For", "2001:db8::7")])["REMOTE_ADDR"] == "2001:db8::7"


def test_garbage_in_x_forwarded_for_is_no_address(server):
    assert environ(server, [("X-Forwarded-For", "unknown, <script>")])["REMOTE_ADDR"] == "127.0.0.1"


def test_x_forwarded_proto_gives_the_scheme(server):
    assert environ(server, [("X-Forwarded-Proto", "https")])["wsgi.url_scheme"] == "https"
    assert environ(server, [("X-Forwarded-Proto", "http")])["wsgi.url_scheme"] == "http"


def test_an_odd_x_forwarded_proto_is_not_believed(server):
    assert environ(server, [("X-Forwarded-Proto", "javascript")])["wsgi.url_scheme"] == "http"


def test_x_forwarded_host_replaces_the_host(server):
    assert environ(server, [("X-Forwarded-Host", "www.example.org")])["HTTP_HOST"] == "www.example.org"


def test_x_forwarded_prefix_gives_script_name(server):
    seen = environ(server, [("X-Forwarded-Prefix", "/blog")])
    assert seen["SCRIPT_NAME"] == "/blog" and seen["PATH_INFO"] == "/environ"


def test_without_forwarded_headers_the_peer_is_the_client(server):
    seen = environ(server, [])
    assert seen["REMOTE_ADDR"] == "127.0.0.1" and seen["REMOTE_PORT"].isdigit() and seen["wsgi.url_scheme"] == "http"


def test_forwarded_is_without_meaning_when_x_forwarded_is_chosen(server):
    seen = environ(server, [("Forwarded", "for=203.0.113.9;proto=https;host=evil.example")])
    assert seen["REMOTE_ADDR"] == "127.0.0.1" and seen["wsgi.url_scheme"] == "http" and seen["HTTP_HOST"] == "test"
    assert seen["HTTP_FORWARDED"] == "for=203.0.113.9;proto=https;host=evil.example"


def test_headers_of_an_untrusted_peer_pass_through_without_meaning(ringtail):
    server = ringtail(trusted_proxies="192.0.2.0/24")
    seen = environ(server, [("X-Forwarded-For", "203.0.113.7"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "evil.example"),
                            ("X-Forwarded-Prefix", "/evil")])
    assert seen["REMOTE_ADDR"] == "127.0.0.1" and seen["wsgi.url_scheme"] == "http" and seen["HTTP_HOST"] == "test"
    assert seen["SCRIPT_NAME"] == ""
    assert seen["HTTP_X_FORWARDED_FOR"] == "203.0.113.7"


def test_nobody_is_trusted_by_default(ringtail):
    server = ringtail()
    assert environ(server, [("X-Forwarded-For", "203.0.113.7"), ("X-Forwarded-Proto", "https")])["REMOTE_ADDR"] == "127.0.0.1"


def test_a_client_that_is_itself_trusted_all_the_way_is_the_leftmost(server):
    assert environ(server, [("X-Forwarded-For", "10.0.0.1, 10.0.0.2")])["REMOTE_ADDR"] == "10.0.0.1"


rfc7239 = module_server(trusted_proxies="127.0.0.0/8,10.0.0.0/8", forwarded_headers="forwarded")


@pytest.mark.parametrize("value, addr, scheme, host", [
    ("for=203.0.113.7", "203.0.113.7", "http", "test"),
    ("for=203.0.113.7;proto=https;host=www.example.org", "203.0.113.7", "https", "www.example.org"),
    ("For=\"203.0.113.7:4711\";Proto=https", "203.0.113.7", "https", "test"),
    ("for=\"[2001:db8::7]\"", "2001:db8::7", "http", "test"),
    ("for=\"[2001:db8::7]:4711\";by=10.0.0.1", "2001:db8::7", "http", "test"),
    ("for=198.51.100.1, for=203.0.113.7, for=10.1.1.1", "203.0.113.7", "http", "test"),
])
def test_forwarded_is_understood(rfc7239, value, addr, scheme, host):
    seen = environ(rfc7239, [("Forwarded", value)])
    assert (seen["REMOTE_ADDR"], seen["wsgi.url_scheme"], seen["HTTP_HOST"]) == (addr, scheme, host)


@pytest.mark.parametrize("value", ["for=unknown", "for=_hidden", "for=", ";;;", "for=\"unclosed", "for=203.0.113.7 garbage"])
def test_an_odd_forwarded_field_does_not_break_the_request(rfc7239, value):
    seen = environ(rfc7239, [("Forwarded", value)])
    assert seen["REMOTE_ADDR"] in ("127.0.0.1", "203.0.113.7")


def test_x_forwarded_is_without_meaning_when_forwarded_is_chosen(rfc7239):
    seen = environ(rfc7239, [("X-Forwarded-For", "203.0.113.7"), ("X-Forwarded-Proto", "https")])
    assert seen["REMOTE_ADDR"] == "127.0.0.1" and seen["wsgi.url_scheme"] == "http"


def test_a_unix_socket_peer_is_trusted_by_the_word_unix(ringtail, tmp_path):
    server = ringtail(bind=f"unix:{tmp_path}/s", trusted_proxies="unix")
    assert environ(server, [("X-Forwarded-For", "203.0.113.7")])["REMOTE_ADDR"] == "203.0.113.7"


def test_a_unix_socket_peer_is_not_trusted_otherwise(ringtail, tmp_path):
    server = ringtail(bind=f"unix:{tmp_path}/s", trusted_proxies="127.0.0.1")
    assert environ(server, [("X-Forwarded-For", "203.0.113.7")])["REMOTE_ADDR"] != "203.0.113.7"


# --- X-Request-ID

def test_the_request_id_of_a_trusted_peer_is_kept_for_the_log(ringtail):
    server = ringtail(trusted_proxies="127.0.0.1", access_log="-", access_log_format="id=$request_id")
    with server.connect() as conn:
        conn.roundtrip(headers=[("X-Request-ID", "from-the-proxy-42")])
    wait_for(lambda: "id=from-the-proxy-42" in server.out() + server.log(), "the id in the access log")


# --- script-name

def test_script_name_is_stripped_from_path_info(ringtail):
    server = ringtail(script_name="/blog")
    seen = environ(server, [], "/blog/environ?a=b")
    assert seen["SCRIPT_NAME"] == "/blog" and seen["PATH_INFO"] == "/environ" and seen["REQUEST_URI"] == "/blog/environ?a=b"


def test_the_script_name_itself_is_the_empty_path(ringtail, tmp_path):
    app = tmp_path / "paths.py"
    app.write_text("def application(environ, start_response):\n    start_response('200 OK', [])\n"
                   "    return [repr((environ['SCRIPT_NAME'], environ['PATH_INFO'])).encode()]\n")
    server = ringtail(app, script_name="/blog")
    assert server.get("/blog").text == "('/blog', '')"
    assert server.get("/blog/").text == "('/blog', '/')"


def test_a_target_outside_script_name_is_404_without_a_call(ringtail):
    server = ringtail(script_name="/blog")
    with server.connect() as conn:
        assert conn.roundtrip(target="/environ?tag=outside").status == 404
    assert server.get("/blogger/environ?tag=outside").status == 404
    assert server.get("/blog/calls?of=outside").text == "0"


# --- names with '_'

def test_header_names_with_an_underscore_are_dropped(server):
    with server.connect() as conn:
        conn.send(b"GET /environ HTTP/1.1\r\nHost: test\r\nX_Forwarded_For: 6.6.6.6\r\nX-Forwarded_Proto: https\r\nX_Name: a\r\nX-Name: b\r\n\r\n")
        seen = conn.read_response().json()
    assert seen["HTTP_X_NAME"] == "b"
    assert seen["REMOTE_ADDR"] == "127.0.0.1" and seen["wsgi.url_scheme"] == "http"
    assert "HTTP_X_FORWARDED_FOR" not in seen


def test_content_length_with_an_underscore_frames_nothing(server):
    with server.connect() as conn:
        conn.send(b"GET /environ HTTP/1.1\r\nHost: test\r\nContent_Length: 100\r\n\r\nGET /q?n=2 HTTP/1.1\r\nHost: test\r\n\r\n")
        assert conn.read_response().json().get("CONTENT_LENGTH", "") == ""
        assert conn.read_response().text == "2"


def test_repeated_headers_are_joined_by_a_comma(server):
    seen = environ(server, [("X-Many", "a"), ("X-Between", "x"), ("X-Many", "b")])
    assert seen["HTTP_X_MANY"] in ("a,b", "a, b")


def test_repeated_cookies_are_joined_by_a_semicolon(server):
    """RFC 6265 5.4 and RFC 9113 8.2.3: cookie fields are joined by '; '."""
    seen = environ(server, [("Cookie", "a=1"), ("Cookie", "b=2")])
    assert seen["HTTP_COOKIE"] == "a=1; b=2"
