# SPDX-License-Identifier: Apache-2.0
"""wsgi.input (PEP 3333, Input and Error Streams): the same from memory and from a file."""
import hashlib
from pathlib import Path

import pytest
from harness import wait_for
from harness.fixtures import module_server

APP = Path(__file__).parent / "apps" / "views.py"
in_memory = module_server(APP, threads=1)
in_file = module_server(APP, threads=1, body_memory="0")


@pytest.fixture(params=["in_memory", "in_file"])
def server(request):
    return request.getfixturevalue(request.param)


BODY = b"first\nsecond line\n\nlast"


def ask(server, case, body=BODY):
    return server.get(f"/input?case={case}", "POST", body=body).json()


@pytest.mark.parametrize("case, parts", [
    ("read", [BODY, b"", b""]),
    ("read-none", [BODY]),
    ("read-negative", [BODY]),
    ("read-sizes", [b"", b"f", b"irs", BODY[4:], b""]),
    ("read1", [b"fir", BODY[3:]]),
    ("readline", [b"first\n", b"se", b"", b"cond line\n", b"\n", b"last", b""]),
    ("readlines", [b"first\n", b"second line\n", b"\n", b"last"]),
    ("readlines-hint", [b"first\n"]),
    ("iterate", [b"first\n", b"second line\n", b"\n", b"last"]),
    ("next-then-read", [b"first\n", BODY[6:]]),
    ("buffered", [BODY]),
    ("text", [b"first\n", b"second line\n", b"\n", b"last"]),
    ("close", [b"", BODY]),
])
def test_reading(server, case, parts):
    assert ask(server, case) == [part.decode() for part in parts]


@pytest.mark.parametrize("case", ["read", "readline", "readlines", "iterate"])
def test_without_a_body_there_is_an_end_at_once(server, case):
    assert set(server.get(f"/input?case={case}").json()) <= {""}


def test_readinto(server):
    assert ask(server, "readinto")[1] == BODY[4:].decode()


def test_wrong_arguments_raise(server):
    assert server.get("/input-wrong", "POST", body=b"x").json() == ["TypeError", "TypeError", "TypeError", "TypeError", "AttributeError"]


def test_a_chunked_body_ends(server):
    with server.connect() as conn:
        conn.send(b"POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        response = conn.read_response()
    assert response.body == b"abcde" and response.get("X-Length") == "5"


@pytest.mark.parametrize("size", [65535, 65536, 65537, 1000003])
def test_large_bodies_in_pieces_of_every_size(server, size):
    body = bytes(i * 31 % 256 for i in range(1000)) * (size // 1000 + 1)
    body = body[:size]
    assert server.get("/input-digest", "POST", body=body).text == hashlib.sha256(body).hexdigest()


def test_lines_longer_than_any_buffer(server):
    body = b"short\n" + b"x" * 200000 + b"\n" + b"\n" * 1000 + b"y" * 70000
    assert server.get("/input-lines", "POST", body=body).text == f"1003 {hashlib.sha256(body).hexdigest()}"


def test_an_unread_body_does_not_spill_into_the_next_request(server):
    with server.connect() as conn:
        conn.request("POST", "/hello", body=b"GET /evil HTTP/1.1\r\nHost: t\r\n\r\n")
        assert conn.read_response().text == "hello"
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"


def test_a_thread_that_still_reads_when_the_request_ends_meets_a_closed_file(in_file):
    for _ in range(20):
        assert in_file.get("/input-late", "POST", body=b"z" * 100000).text == "ended"
    for _ in range(20):
        in_file.gate.wait("late")
    counts = in_file.get("/counts").json()
    assert counts.get("late closed", 0) + counts.get("late empty", 0) == 20
    wait_for(lambda: in_file.get("/hello").text == "hello", "an answer")
