# SPDX-License-Identifier: Apache-2.0
"""The example project answers the same under ringtail as under gunicorn.

Compared: status, decoded body, multiset of headers; but Date, Server, Connection, framing, and tokens that are random.
"""
import collections
import re

import pytest
from harness import Connection
from harness.peer import Gunicorn

# What is a server's own, or random.
OWN = {"date", "server", "connection", "transfer-encoding", "content-length", "keep-alive"}
TOKENS = [
    (re.compile(rb'name="csrfmiddlewaretoken" value="[0-9A-Za-z]+"'), b'name="csrfmiddlewaretoken" value="TOKEN"'),
    (re.compile(rb'<span id="visits">\d+</span>'), b'<span id="visits">N</span>'),
]
COOKIE = re.compile(r"^(csrftoken|sessionid|messages)=[^;]*; expires=[^;]*;|^(csrftoken|sessionid|messages)=[^;]*;")


def seen(response):
    body = response.body
    for pattern, text in TOKENS:
        body = pattern.sub(text, body)
    fields = collections.Counter()
    for name, value in response.headers:
        if name.lower() in OWN:
            continue
        if name.lower() == "set-cookie":
            value = COOKIE.sub(r"\1\2=TOKEN;", value)
        if name.lower() in ("expires", "last-modified"):
            value = re.sub(r"\d\d:\d\d:\d\d", "TIME", value)
        fields[name, value] += 1
    return response.status, response.reason, body, fields


def get(target, *headers, method="GET", version="1.1", body=b"", host="test.example:8000"):
    lines = [f"{method} {target} HTTP/{version}", *([f"Host: {host}"] if host else []), *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


FORM = "Content-Type: application/x-www-form-urlencoded"
REQUESTS = {
    "the front page": get("/"),
    "a search": get("/?q=pond"),
    "a search in UTF-8": get("/?q=%C3%A9t%C3%A9"),
    "a search that finds nothing": get("/?q=penguin"),
    "a detail page": get("/sightings/1/"),
    "a page that does not exist": get("/sightings/999/"),
    "a path that does not exist": get("/nowhere"),
    "a path without its slash is redirected": get("/files"),
    "a redirect keeps the query": get("/sightings/new?a=b"),
    "a form": get("/sightings/new/"),
    "the files page": get("/files/"),
    "csv, streamed": get("/sightings.csv"),
    "ticks, streamed": get("/ticks?n=5&ms=1"),
    "hello": get("/hello"),
    "five queries": get("/five"),
    "json": get("/api/sightings"),
    "a view that sleeps": get("/slow?ms=50"),
    "a view that fails": get("/oops"),
    "head of a page": get("/", method="HEAD"),
    "head of a stream": get("/sightings.csv", method="HEAD"),
    "head of json": get("/api/sightings", method="HEAD"),
    "options": get("/hello", method="OPTIONS"),
    "a method that the admin does not know": get("/admin/login/", method="DELETE"),
    "post without a csrf token is refused": get("/sightings/1/", FORM, method="POST", body=b"author=a&text=b"),
    "post to a csrf-exempt view": get("/api/digest", method="POST", body=b"\x00\x01binary" * 1000),
    "an empty post": get("/api/digest", "Content-Length: 0", method="POST"),
    "put": get("/api/digest", method="PUT", body=b"put me"),
    "the admin redirects to its login": get("/admin/"),
    "the admin's login page": get("/admin/login/?next=/admin/"),
    "a style sheet": get("/static/journal/style.css"),
    "an image": get("/static/journal/bird.svg"),
    "the admin's style sheet": get("/static/admin/css/base.css"),
    "a static file that does not exist": get("/static/none.css"),
    "head of a static file": get("/static/journal/style.css", method="HEAD"),
    "a file's modification time is honoured": get("/static/journal/style.css", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"),
    "http/1.0": get("/hello", version="1.0"),
    "http/1.0 without a host": get("/hello", version="1.0", host=None),
    "http/1.0 and a stream": get("/sightings.csv", version="1.0"),
    "a host with a port": get("/admin/", host="other.example:1234"),
    "an absolute target": get("http://test.example:8000/hello"),
    "a path with escapes": get("/sightings/%31/"),
    "a path in UTF-8": get("/caf%C3%A9"),
    "a path in latin-1": get("/caf%E9"),
    "a double slash": get("//hello"),
    "a dotted path": get("/./hello"),
    "an escaped slash": get("/files%2F1/"),
    "a question mark alone": get("/hello?"),
    "a cookie": get("/", "Cookie: sessionid=doesnotexist; other=1"),
    "a language": get("/", "Accept-Language: de, en;q=0.5"),
    "https by header is not believed": get("/hello", "X-Forwarded-Proto: https"),
}

CHUNKED = get("/api/digest", "Transfer-Encoding: chunked", method="POST") + b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"


def answer(server, request):
    with Connection(server.address, is_peer=isinstance(server, Gunicorn)) as conn:
        conn.send(request)
        return conn.read_response(request.split(b" ", 1)[0].decode())


@pytest.mark.parametrize("name", REQUESTS)
def test_same(ring, gunicorn, name):
    ours, theirs = answer(ring, REQUESTS[name]), answer(gunicorn, REQUESTS[name])
    mine, other = seen(ours), seen(theirs)
    assert mine[:2] == other[:2], f"ringtail {ours}\ngunicorn {theirs}"
    assert mine[2] == other[2], f"ringtail {ours}\ngunicorn {theirs}"
    assert mine[3] == other[3], f"only ringtail: {mine[3] - other[3]}\nonly gunicorn: {other[3] - mine[3]}"


@pytest.mark.parametrize("name", ["the front page", "json", "a style sheet", "a view that fails"])
def test_same_content_length(ring, gunicorn, name):
    ours, theirs = answer(ring, REQUESTS[name]), answer(gunicorn, REQUESTS[name])
    assert ours.get("Content-Length") == theirs.get("Content-Length") == str(len(ours.body))


def test_a_chunked_post_reaches_django_whole(ring):
    """Under gunicorn Django finds no CONTENT_LENGTH and reads nothing; here the body is complete before the call."""
    assert answer(ring, CHUNKED).json()["size"] == 11


@pytest.mark.parametrize("name", ["a form", "csv, streamed", "a chunked post", "a style sheet"])
def test_split_at_every_offset_the_project_answers_the_same(ring, name):
    request = REQUESTS.get(name, CHUNKED)
    reference = seen(answer(ring, request))
    with Connection(ring.address) as conn:
        for offset in range(1, len(request)):
            conn.send(request[:offset], request[offset:])
            assert seen(conn.read_response()) == reference, f"split at {offset}"


def test_the_whole_table_in_one_pipeline_is_answered_in_order(ring):
    names = [name for name in REQUESTS if "1.0" not in name]
    with Connection(ring.address) as conn:
        conn.send(b"".join(REQUESTS[name] for name in names))
        for name in names:
            method = REQUESTS[name].split(b" ", 1)[0].decode()
            assert seen(conn.read_response(method)) == seen(answer(ring, REQUESTS[name])), name
