# SPDX-License-Identifier: Apache-2.0
"""wsgi.file_wrapper (PEP 3333, Optional Platform-Specific File Handling)."""
import re
from pathlib import Path

import pytest
from harness import wait_for
from harness.fixtures import module_server

APP = Path(__file__).parent / "apps" / "views.py"
server = module_server(APP, threads=1)


def content(size):
    return bytes(i * 7 % 251 for i in range(size))


@pytest.mark.parametrize("kind", ["buffered", "raw"])
@pytest.mark.parametrize("size", [0, 1, 100000, 3000000])
def test_a_regular_file_is_sent_whole_and_with_its_length(server, kind, size):
    response = server.get(f"/file?kind={kind}&size={size}")
    assert response.framing == "length"
    assert response.body == content(size)


def test_a_file_is_sent_from_where_it_was_read_to(server):
    assert server.get("/file?seek=1000").body == content(100000)[1000:]


def test_content_length_cuts_the_file(server):
    with server.connect() as conn:
        conn.request(target="/file?seek=10&length=20&status=206%20Partial%20Content")
        assert conn.read_response().body == content(100)[10:30]
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"


def test_a_content_length_beyond_the_file_closes_the_connection(ringtail):
    server = ringtail(APP, threads=1)
    with server.connect() as conn:
        conn.request(target="/file?size=100&length=200")
        assert conn.read_response(body=False).get("Content-Length") == "200"
        assert conn.read_end()[0] == content(100)
    server.wait_log("100 bytes less than its Content-Length")
    server.expect(r"[^\n]*100 bytes less than its Content-Length[^\n]*")


def test_head_of_a_file(server):
    with server.connect() as conn:
        conn.request("HEAD", "/file?size=5000")
        assert conn.read_response("HEAD").get("Content-Length") == "5000"
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"


def test_a_file_to_http_1_0(server):
    with server.connect() as conn:
        conn.request(target="/file", version="1.0")
        assert conn.read_response().body == content(100000)


@pytest.mark.parametrize("kind, body", [
    ("bytesio", b"abc" * 10000), ("reader", b"reader" * 1000), ("gzip", b"plain text " * 100), ("spooled", b"spooled"),
    ("pipe", b"through a pipe"), ("iterated", content(100000))])
def test_what_is_no_regular_file_is_read_block_by_block(server, kind, body):
    response = server.get(f"/file?kind={kind}")
    assert response.body == body
    assert response.framing == "chunked"


@pytest.mark.parametrize("kind, body", [("temporary", b"temporary" * 999), ("unflushed", b"written just now")])
def test_what_passes_read_on_to_a_regular_file_is_sent_as_one(server, kind, body):
    response = server.get(f"/file?kind={kind}")
    assert response.body == body
    assert response.framing == "length"


def test_the_file_is_closed(server):
    assert server.get("/file").status == 200
    wait_for(lambda: server.get("/file-state").json()["closed"], "the file's close")


def test_close_of_what_was_iterated(server):
    before = server.get("/counts").json().get("watched closed", 0)
    assert server.get("/file?kind=bytesio").status == 200
    wait_for(lambda: server.get("/counts").json().get("watched closed", 0) == before + 1, "one close()")


def test_the_way_of_django(server):
    """The response's close() takes the place of the file's, and read and fileno are properties."""
    before = server.get("/counts").json().get("django closed", 0)
    response = server.get("/file-django")
    assert response.framing == "length" and response.body == content(5000)
    wait_for(lambda: server.get("/counts").json().get("django closed", 0) == before + 1, "one close()")


@pytest.mark.parametrize("target, text", [("/file?kind=text", "TypeError: .*not str"), ("/file-no-start", "without calling start_response")])
def test_wrong_use_is_the_applications_error(ringtail, target, text):
    server = ringtail(APP, threads=1)
    assert server.get(target).status == 500
    pattern = r"[^\n]* error: GET /file(?s:.*)"
    assert re.search(text, server.wait_log(pattern).group())
    server.expect(pattern)


def test_no_descriptor_stays_open(server):
    server.get("/file")
    before = server.fds()
    for kind in ("buffered", "raw", "temporary"):
        for _ in range(20):
            server.get(f"/file?kind={kind}")
    wait_for(lambda: server.fds() <= before + 2, "the descriptors of the files to be closed", describe=server.fds)
