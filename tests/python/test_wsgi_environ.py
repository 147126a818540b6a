# SPDX-License-Identifier: Apache-2.0
"""environ (PEP 3333, environ Variables; SPEC 4)."""
from pathlib import Path

import pytest
from harness.fixtures import module_server

APP = Path(__file__).parent / "apps" / "views.py"
server = module_server(APP, threads=1, threads_max=4)


def environ_of(server, raw):
    """The environ that a raw request makes, as JSON."""
    with server.connect() as conn:
        conn.send(raw)
        return conn.read_response().json()


def test_environ_is_complete_and_of_the_types_of_the_pep(server):
    with server.connect() as conn:
        client_port = conn.socket.getsockname()[1]
        conn.send(b"GET /environ?a=1&b=%20 HTTP/1.1\r\nHost: example.org:81\r\nUser-Agent: t/1\r\nX-One-Two: three\r\n\r\n")
        environ = conn.read_response().json()
    assert environ == {
        "type": "dict",
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": "/environ",
        "QUERY_STRING": "a=1&b=%20",
        "RAW_URI": "/environ?a=1&b=%20",
        "REQUEST_URI": "/environ?a=1&b=%20",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": str(server.port),
        "REMOTE_ADDR": "127.0.0.1",
        "REMOTE_PORT": str(client_port),
        "SERVER_SOFTWARE": environ["SERVER_SOFTWARE"],
        "HTTP_HOST": "example.org:81",
        "HTTP_USER_AGENT": "t/1",
        "HTTP_X_ONE_TWO": "three",
        "wsgi.version": [1, 0],
        "wsgi.url_scheme": "http",
        "wsgi.input": "Input",
        "wsgi.errors": "Errors",
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": "type",
        "wsgi.input_terminated": True,
        "wsgi.early_hints": "early_hints",
        "ringtail.client_disconnected": "client_disconnected",
        "waitress.client_disconnected": "client_disconnected",
    }
    assert environ["SERVER_SOFTWARE"].startswith("ringtail/")


def test_path_info_is_decoded_once_and_as_latin1(server):
    with server.connect() as conn:
        conn.request(target="/environ/")
        assert conn.read_response().status == 200
    environ = environ_of(server, b"GET /environ%2F HTTP/1.1\r\nHost: t\r\n\r\n")
    assert environ["PATH_INFO"] == "/environ/"
    assert environ["RAW_URI"] == "/environ%2F"
    # A view cannot be found under these names: the 404 of the application is enough to know that it was asked.
    for target, path in (("/%25environ", "/%environ"), ("/caf%C3%A9", "/caf\xc3\xa9")):
        assert server.get(target).status == 404, path


def test_content_type_and_content_length_have_no_prefix(server):
    environ = environ_of(server, b"POST /environ HTTP/1.1\r\nHost: t\r\nContent-Type: a/b\r\nContent-Length: 3\r\n\r\nabc")
    assert environ["CONTENT_TYPE"] == "a/b" and environ["CONTENT_LENGTH"] == "3"
    assert "HTTP_CONTENT_TYPE" not in environ and "HTTP_CONTENT_LENGTH" not in environ


def test_without_a_body_there_is_no_content_length(server):
    assert "CONTENT_LENGTH" not in environ_of(server, b"GET /environ HTTP/1.1\r\nHost: t\r\n\r\n")


@pytest.mark.parametrize("chunks, length", [(b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", "6"), (b"0\r\n\r\n", "0")])
def test_a_chunked_body_is_told_as_its_length(server, chunks, length):
    """RFC 9112 7.1.3: decoding sets Content-Length and removes the coding; Django reads nothing without it."""
    for _ in range(3):
        environ = environ_of(server, b"POST /environ HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        assert environ["CONTENT_LENGTH"] == length
        assert "HTTP_TRANSFER_ENCODING" not in environ


def test_repeated_headers_are_joined_in_order(server):
    environ = environ_of(server, b"GET /environ HTTP/1.1\r\nHost: t\r\nX-A: 1\r\nCookie: a=1\r\nx-a: 2\r\ncookie: b=2\r\nX-A: 1\r\n\r\n")
    assert environ["HTTP_X_A"] == "1,2,1"
    assert environ["HTTP_COOKIE"] == "a=1; b=2"


def test_an_empty_header_and_bytes_beyond_ascii_arrive_as_latin1(server):
    environ = environ_of(server, b"GET /environ HTTP/1.1\r\nHost: t\r\nX-Empty:\r\nX-Latin: caf\xe9\r\n\r\n")
    assert environ["HTTP_X_EMPTY"] == ""
    assert environ["HTTP_X_LATIN"] == "caf\xe9"


def test_a_very_long_header_name_is_kept_whole(server):
    name = "X-" + "a" * 300
    environ = environ_of(server, f"GET /environ HTTP/1.1\r\nHost: t\r\n{name}: long\r\n{name}: twice\r\n\r\n".encode())
    assert environ["HTTP_" + name.upper().replace("-", "_")] == "long,twice"


def test_names_with_underscores_cannot_pose_as_others(server):
    environ = environ_of(server, b"GET /environ HTTP/1.1\r\nHost: t\r\nX_One: evil\r\nX-One: good\r\n\r\n")
    assert environ["HTTP_X_ONE"] == "good"


def test_http_1_0_without_host(server):
    environ = environ_of(server, b"GET /environ HTTP/1.0\r\n\r\n")
    assert environ["SERVER_PROTOCOL"] == "HTTP/1.0"
    assert "HTTP_HOST" not in environ
    assert environ["SERVER_NAME"] == "127.0.0.1"


def test_a_header_block_that_repeats_gives_each_request_its_own_values(server):
    """The template of a repeated block must not leak one request's values into the next."""
    block = b"Host: t\r\nUser-Agent: again/1\r\nX-Same: same\r\n\r\n"
    expected = [("GET", "/environ", "n=1", "HTTP/1.1"), ("GET", "/environ", "", "HTTP/1.1"), ("POST", "/environ", "n=3", "HTTP/1.0"),
                ("GET", "//environ", "n=3", "HTTP/1.1"), ("DELETE", "/environ", "n=5", "HTTP/1.1")] * 3
    for method, path, query, protocol in expected:
        with server.connect() as conn:
            port = conn.socket.getsockname()[1]
            conn.send(f"{method} {path}{'?' + query if query else ''} {protocol}\r\n".encode() + block)
            environ = conn.read_response().json()
        assert (environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"], environ["SERVER_PROTOCOL"]) == \
            (method, path, query, protocol)
        assert environ["REMOTE_PORT"] == str(port)
        assert environ["HTTP_X_SAME"] == "same"
        assert "HTTP_X_ADDED" not in environ


def test_an_environ_changed_by_the_application_changes_no_later_one(server):
    block = b"Host: t\r\nUser-Agent: changer/1\r\n\r\n"
    for _ in range(4):
        with server.connect() as conn:
            conn.send(b"GET /environ-change HTTP/1.1\r\n" + block)
            assert conn.read_response().text == "changed"
            conn.send(b"GET /environ HTTP/1.1\r\n" + block)
            environ = conn.read_response().json()
            assert environ["HTTP_HOST"] == "t" and environ["wsgi.errors"] == "Errors" and "HTTP_X_ADDED" not in environ


def test_more_header_blocks_than_templates(server):
    for _ in range(3):
        for number in range(40):
            environ = environ_of(server, f"GET /environ HTTP/1.1\r\nHost: t\r\nX-Number: {number}\r\nX-{number}: y\r\n\r\n".encode())
            assert environ["HTTP_X_NUMBER"] == str(number) and environ[f"HTTP_X_{number}"] == "y"
            assert len([name for name in environ if name.startswith("HTTP_X_")]) == 2


def test_the_same_block_with_and_without_bodies(server):
    block = b"Host: t\r\nContent-Length: 4\r\n\r\n"
    for body in (b"1234", b"abcd", b"\r\n\r\n", b"last"):
        with server.connect() as conn:
            conn.send(b"POST /echo HTTP/1.1\r\n" + block + body)
            assert conn.read_response().body == body


def test_a_unix_socket_tells_what_the_client_asked_for(ringtail, tmp_path):
    server = ringtail(APP, bind=f"unix:{tmp_path}/s")
    for host, name, port in ((b"example.org", "example.org", "80"), (b"example.org:8080", "example.org", "8080"),
                             (b"[::1]:81", "[::1]", "81"), (b"[::1]", "[::1]", "80")):
        for _ in range(3):
            environ = environ_of(server, b"GET /environ HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
            assert (environ["SERVER_NAME"], environ["SERVER_PORT"]) == (name, port)
            assert environ["REMOTE_ADDR"] == "" and environ["REMOTE_PORT"] == ""
    environ = environ_of(server, b"GET /environ HTTP/1.0\r\n\r\n")
    assert (environ["SERVER_NAME"], environ["SERVER_PORT"]) == ("localhost", "80")


def test_a_trusted_proxy_sets_scheme_host_and_client(ringtail):
    server = ringtail(APP, trusted_proxies="127.0.0.1")
    block = (b"Host: inner\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: outer.example\r\n"
             b"X-Request-ID: abc-123\r\n\r\n")
    for _ in range(3):
        environ = environ_of(server, b"GET /environ HTTP/1.1\r\n" + block)
        assert environ["wsgi.url_scheme"] == "https" and environ["HTTPS"] == "on"
        assert environ["HTTP_HOST"] == "outer.example"
        assert environ["REMOTE_ADDR"] == "203.0.113.9"
        assert environ["ringtail.request_id"] == "abc-123"
    environ = environ_of(server, b"GET /environ HTTP/1.1\r\nHost: inner\r\n\r\n")
    assert environ["wsgi.url_scheme"] == "http" and "HTTPS" not in environ and environ["HTTP_HOST"] == "inner"


def test_multithread_is_false_with_one_thread_for_good(ringtail):
    environ = environ_of(ringtail(APP, threads=1, threads_max=1), b"GET /environ HTTP/1.1\r\nHost: t\r\n\r\n")
    assert environ["wsgi.multithread"] is False


def test_script_name_is_cut_from_the_path(ringtail):
    environ = environ_of(ringtail(APP, script_name="/app"), b"GET /app/environ HTTP/1.1\r\nHost: t\r\n\r\n")
    assert (environ["SCRIPT_NAME"], environ["PATH_INFO"], environ["RAW_URI"]) == ("/app", "/environ", "/app/environ")


def test_views_on_the_loop_thread_see_the_same(ringtail):
    server = ringtail(APP, threads=0)
    for _ in range(3):
        assert environ_of(server, b"GET /environ HTTP/1.1\r\nHost: t\r\n\r\n")["PATH_INFO"] == "/environ"


def test_ringtail_module(server):
    answer = server.get("/module").json()
    assert answer["software"] == f"ringtail/{answer['version']}"
    assert answer["same"] and answer["id"]
    assert answer["timeout"] == ["RequestTimeout", "BaseException", "object"]
