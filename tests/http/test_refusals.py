# SPDX-License-Identifier: Apache-2.0
"""Refusals (SPEC 3): one status line, Connection: close, a lingering close, nothing behind it parsed, no call."""
import pytest
from harness.fixtures import module_server

server = module_server()

HOST = b"Host: test\r\n"


def get(line=b"GET /q?n=1&tag=refused HTTP/1.1", host=HOST, rest=b""):
    return line + b"\r\n" + host + rest + b"\r\n"


def post(rest, body=b""):
    return b"POST /echo?tag=refused HTTP/1.1\r\nHost: test\r\n" + rest + b"\r\n" + body


CASES = {
    # Framing: RFC 9112 6.1, 6.3
    "content-length with transfer-encoding": (400, post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n")),
    "transfer-encoding with content-length": (400, post(b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", b"0\r\n\r\n")),
    "two content-lengths that differ": (400, post(b"Content-Length: 5\r\nContent-Length: 6\r\n", b"hello")),
    "a content-length list that differs": (400, post(b"Content-Length: 5, 6\r\n", b"hello")),
    "content-length with a plus": (400, post(b"Content-Length: +5\r\n", b"hello")),
    "content-length with a minus": (400, post(b"Content-Length: -5\r\n", b"hello")),
    "content-length in hex": (400, post(b"Content-Length: 0x5\r\n", b"hello")),
    "content-length with a letter": (400, post(b"Content-Length: 5a\r\n", b"hello")),
    "content-length with a space inside": (400, post(b"Content-Length: 1 1\r\n", b"hello")),
    "content-length empty": (400, post(b"Content-Length: \r\n", b"hello")),
    "content-length beyond 64 bits": (400, post(b"Content-Length: 18446744073709551617\r\n", b"h")),
    "content-length with a decimal point": (400, post(b"Content-Length: 5.0\r\n", b"hello")),
    "content-length with an underscore": (400, post(b"Content-Length: 1_0\r\n", b"hello")),
    "transfer-encoding chunked twice": (400, post(b"Transfer-Encoding: chunked, chunked\r\n", b"0\r\n\r\n")),
    "transfer-encoding chunked in two fields": (400, post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n")),
    "transfer-encoding not ending in chunked": (400, post(b"Transfer-Encoding: chunked, gzip\r\n", b"0\r\n\r\n")),
    "transfer-encoding identity": ((400, 501), post(b"Transfer-Encoding: identity\r\n", b"")),
    "transfer-encoding empty": (400, post(b"Transfer-Encoding: \r\n", b"0\r\n\r\n")),
    "transfer-encoding quoted": ((400, 501), post(b"Transfer-Encoding: \"chunked\"\r\n", b"0\r\n\r\n")),
    "transfer-encoding with a vertical tab": (400, post(b"Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n")),
    "transfer-encoding xchunked": ((400, 501), post(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n")),
    "transfer-encoding with 1.0": (400, b"POST /echo?tag=refused HTTP/1.0\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    "unknown coding before chunked": (501, post(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n")),
    "unknown coding in a field before chunked": (501, post(b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n")),
    # Header syntax: RFC 9112 5
    "space before the colon": (400, get(rest=b"X-Name : value\r\n")),
    "tab before the colon": (400, get(rest=b"X-Name\t: value\r\n")),
    "space before the colon of content-length": (400, post(b"Content-Length : 5\r\n", b"hello")),
    "obs-fold with a space": (400, get(rest=b"X-Name: a\r\n b\r\n")),
    "obs-fold with a tab": (400, get(rest=b"X-Name: a\r\n\tb\r\n")),
    "a space before the first header": (400, get(host=b" Host: test\r\n")),
    "a header without a colon": (400, get(rest=b"X-Name\r\n")),
    "an empty header name": (400, get(rest=b": value\r\n")),
    "a header name with a slash": (400, get(rest=b"X/Name: value\r\n")),
    "a header name with brackets": (400, get(rest=b"X[Name]: value\r\n")),
    "a header name with a space inside": (400, get(rest=b"X Name: value\r\n")),
    "a header name with a high byte": (400, get(rest=b"X-N\xe4me: value\r\n")),
    "a header name with a control byte": (400, get(rest=b"X-N\x01me: value\r\n")),
    "a bare cr in a header value": (400, get(rest=b"X-Name: a\rb\r\n")),
    "a bare lf as line end": (400, b"GET /?tag=refused HTTP/1.1\nHost: test\n\n"),
    "a bare lf behind one header": (400, get(rest=b"X-Name: a\nX-Other: b\r\n")),
    "a bare lf at the header's end": (400, b"GET /?tag=refused HTTP/1.1\r\nHost: test\r\n\n"),
    "a nul in a header value": (400, get(rest=b"X-Name: a\0b\r\n")),
    "a control byte in a header value": (400, get(rest=b"X-Name: a\x01b\r\n")),
    "del in a header value": (400, get(rest=b"X-Name: a\x7fb\r\n")),
    "a nul in a header name": (400, get(rest=b"X-\0Name: a\r\n")),
    # Host: RFC 9112 3.2
    "no host": (400, get(host=b"")),
    "two hosts": (400, get(host=HOST + b"Host: other\r\n")),
    "two equal hosts": (400, get(host=HOST + HOST)),
    "a host with a space": (400, get(host=b"Host: a b\r\n")),
    "a host with a slash": (400, get(host=b"Host: test/path\r\n")),
    "a host with user information": (400, get(host=b"Host: user@test\r\n")),
    "a host list": (400, get(host=b"Host: test, other\r\n")),
    # The request line: RFC 9112 3
    "two spaces behind the method": (400, get(b"GET  / HTTP/1.1")),
    "two spaces before the version": (400, get(b"GET /  HTTP/1.1")),
    "a space behind the version": (400, get(b"GET / HTTP/1.1 ")),
    "a space before the method": (400, get(b" GET / HTTP/1.1")),
    "a tab in the request line": (400, get(b"GET\t/ HTTP/1.1")),
    "a space in the target": (400, get(b"GET /a b HTTP/1.1")),
    "a control byte in the target": (400, get(b"GET /a\x01b HTTP/1.1")),
    "a nul in the target": (400, get(b"GET /a\0b HTTP/1.1")),
    "del in the target": (400, get(b"GET /a\x7fb HTTP/1.1")),
    "a relative target": (400, get(b"GET a HTTP/1.1")),
    "no target": (400, get(b"GET HTTP/1.1")),
    "a fragment in the target": (400, get(b"GET /a#b HTTP/1.1")),
    "no version": (400, b"GET /?tag=refused\r\nHost: test\r\n\r\n"),
    "http 0.9 by number": ((400, 505), get(b"GET / HTTP/0.9")),
    "http 2.0": (505, get(b"GET / HTTP/2.0")),
    "http 3.0": (505, get(b"GET / HTTP/3.0")),
    "a version with two digits": ((400, 505), get(b"GET / HTTP/1.10")),
    "a version without a minor": ((400, 505), get(b"GET / HTTP/1")),
    "http in lower case": (400, get(b"GET / http/1.1")),
    "rtsp": (400, get(b"OPTIONS /?tag=refused RTSP/1.0")),
    "ice": (400, get(b"SOURCE /?tag=refused ICE/1.0")),
    "an unknown method": (501, get(b"FOO / HTTP/1.1")),
    "a method in lower case": ((400, 501), get(b"get / HTTP/1.1")),
    "a method longer than 32": (501, get(b"A" * 40 + b" / HTTP/1.1")),
    "a method that is no token": (400, get(b"G(T / HTTP/1.1")),
    "a tls client hello": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x55" * 64 + b"\r\n\r\n"),
    "binary": (400, b"\x00\x01\x02\x03\r\n\r\n"),
    "a percent escape of nul": ((400, 404), get(b"GET /%00?tag=free HTTP/1.1", rest=b"Connection: close\r\n")),
    "a bad chunk size": (400, post(b"Transfer-Encoding: chunked\r\n", b"xyz\r\nhello\r\n0\r\n\r\n")),
    "a chunk size with 0x": (400, post(b"Transfer-Encoding: chunked\r\n", b"0x5\r\nhello\r\n0\r\n\r\n")),
    "a negative chunk size": (400, post(b"Transfer-Encoding: chunked\r\n", b"-5\r\nhello\r\n0\r\n\r\n")),
    "a plus in a chunk size": (400, post(b"Transfer-Encoding: chunked\r\n", b"+5\r\nhello\r\n0\r\n\r\n")),
    "a space before a chunk size": (400, post(b"Transfer-Encoding: chunked\r\n", b" 5\r\nhello\r\n0\r\n\r\n")),
    "a chunk size beyond 64 bits": (400, post(b"Transfer-Encoding: chunked\r\n", b"10000000000000005\r\nhello\r\n0\r\n\r\n")),
    "an empty chunk size": (400, post(b"Transfer-Encoding: chunked\r\n", b"\r\nhello\r\n0\r\n\r\n")),
    "a chunk longer than its size": (400, post(b"Transfer-Encoding: chunked\r\n", b"5\r\nhelloX\r\n0\r\n\r\n")),
    "a bare lf behind a chunk size": (400, post(b"Transfer-Encoding: chunked\r\n", b"5\nhello\r\n0\r\n\r\n")),
    "a bare lf behind a chunk": (400, post(b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\n0\r\n\r\n")),
    "a bare cr in a chunk extension": (400, post(b"Transfer-Encoding: chunked\r\n", b"5;a\rb\r\nhello\r\n0\r\n\r\n")),
    "a bare lf in a chunk extension": (400, post(b"Transfer-Encoding: chunked\r\n", b"5;a\nb\r\nhello\r\n0\r\n\r\n")),
    "a bad trailer": (400, post(b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\nX Y: a\r\n\r\n")),
    "an obs-fold in a trailer": (400, post(b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\nX: a\r\n b\r\n\r\n")),
    "an unknown expectation": (417, post(b"Expect: more\r\nContent-Length: 5\r\n", b"hello")),
}

# Two equal Content-Lengths: RFC 9112 6.3 lets a recipient refuse or take the one value; llhttp refuses, and so do we.
CASES["two equal content-lengths"] = (400, post(b"Content-Length: 5\r\nContent-Length: 5\r\n", b"hello"))

BEHIND = b"GET /q?n=2&tag=behind-refused HTTP/1.1\r\nHost: test\r\n\r\n"


def check(conn, expected):
    response = conn.read_response()
    assert response.status in (expected if isinstance(expected, tuple) else (expected,)), f"{response}\n{conn.describe()}"
    if response.status >= 400:
        assert response.connection == ["close"], conn.describe()
    assert conn.received.count(b"HTTP/1.1 ") == 1, conn.describe()
    conn.read_close()
    assert conn.received.count(b"HTTP/1.1 ") == 1, conn.describe()


@pytest.fixture(autouse=True)
def _never_called(server):
    yield
    assert server.get("/calls?of=refused").text == "0", "the application was called for a refused request"
    assert server.get("/calls?of=behind-refused").text == "0", "a request behind a refused one was run"


@pytest.mark.parametrize("name", CASES)
def test_is_refused(server, name):
    expected, wire = CASES[name]
    with server.connect() as conn:
        conn.send(wire)
        check(conn, expected)


@pytest.mark.parametrize("name", [name for name in CASES if name != "a percent escape of nul"])
def test_nothing_behind_a_refused_request_is_parsed(server, name):
    expected, wire = CASES[name]
    with server.connect() as conn:
        conn.send(wire + BEHIND)
        check(conn, expected)


@pytest.mark.parametrize("name", ["content-length with transfer-encoding", "obs-fold with a space", "a bad chunk size", "http 2.0",
                                  "an unknown method", "a bare lf behind a chunk", "two hosts"])
def test_is_refused_byte_by_byte_with_the_same_answer(server, name):
    expected, wire = CASES[name]
    with server.connect() as conn:
        for index in range(len(wire)):
            if not conn.try_send(wire[index:index + 1]):
                break
        check(conn, expected)


def test_requests_before_a_refused_one_are_answered_first(server):
    with server.connect() as conn:
        conn.send(b"GET /q?n=1 HTTP/1.1\r\nHost: test\r\n\r\nGET /q?n=2 HTTP/1.1\r\nHost: test\r\n\r\nGARBAGE\r\n\r\n")
        assert conn.read_response().text == "1"
        assert conn.read_response().text == "2"
        assert conn.read_response().status in (400, 501)
        conn.read_close()


def test_a_refusal_waits_for_the_answer_of_a_running_view_before_it(server):
    with server.connect() as conn:
        conn.send(b"GET /gate?name=before-bad HTTP/1.1\r\nHost: test\r\n\r\n" + CASES["two hosts"][1])
        arrival = server.gate.wait("before-bad")
        server.get("/")
        conn.expect_quiet()
        arrival.release("first")
        assert conn.read_response().text == "first"
        assert conn.read_response().status == 400
        conn.read_close()


@pytest.mark.parametrize("size", [1 << 16, 1 << 20, 4 << 20])
def test_a_client_that_is_still_sending_can_read_the_refusal(server, size):
    """A lingering close: a plain close() with unread bytes would send RST and take the answer from the client."""
    with server.connect() as conn:
        wire = post(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + b"x" * size
        for offset in range(0, len(wire), 65536):
            if not conn.try_send(wire[offset:offset + 65536]):
                break
        response = conn.read_response()
        assert response.status == 400 and response.connection == ["close"]


def test_a_refusal_says_what_it_is_in_its_body(server):
    with server.connect() as conn:
        conn.send(get(host=b""))
        response = conn.read_response()
        assert response.framing == "length" and response.get("Date") and response.get("Server") == "ringtail"
        assert response.body, "a person with curl sees why"
        assert response.get("Content-Type", "").startswith("text/")


# --- what looks odd and is legal

def test_a_higher_minor_version_is_served_as_1_1_or_refused_with_505(server):
    """RFC 9110 2.5: the highest minor version of the same major that the recipient knows."""
    with server.connect() as conn:
        conn.request(target="/q?n=1", version="1.2")
        assert conn.read_response().status in (200, 505)


@pytest.mark.parametrize("rest", [
    b"X-Empty:\r\n", b"X-Spaces:    padded   \r\n", b"X-Tab:\tvalue\t\r\n", b"!#$%&'*+-.^`|~09az: token\r\n", b"X-High: \x80\xff\r\n",
    b"X-Tab-Inside: a\tb\r\n", b"X-Colon: a:b:c\r\n",
])
def test_a_legal_header_is_not_refused(server, rest):
    with server.connect() as conn:
        conn.send(b"GET /q?n=1 HTTP/1.1\r\nHost: test\r\n" + rest + b"\r\n")
        assert conn.read_response().status == 200


@pytest.mark.parametrize("target", ["/a%20b", "/~user", "/a;b=c,d", "//double", "/..", "/%", "/%zz", "/a|b", "/caf\xe9", '/"quoted"'])
def test_an_odd_target_gets_one_orderly_answer(server, target):
    with server.connect() as conn:
        conn.request(target=target)
        response = conn.read_response()
        assert response.status in (404, 400)


@pytest.mark.parametrize("host", ["test:8000", "127.0.0.1", "[::1]", "[::1]:80", "xn--bcher-kva.example", "a_b.example", "test:"])
def test_a_legal_host_is_not_refused(server, host):
    with server.connect() as conn:
        assert conn.roundtrip(target="/q?n=1", host=host).status == 200
