# SPDX-License-Identifier: Apache-2.0
"""start_response and exceptions of the application (PEP 3333, The start_response() Callable, Error Handling)."""
import re
from pathlib import Path

import pytest
from harness.fixtures import module_server

APP = Path(__file__).parent / "apps" / "views.py"
server = module_server(APP, threads=1)

# exception and what its message must say
BAD_STARTS = {
    "bytes-status": ("TypeError", "status must be str, not bytes"),
    "int-status": ("TypeError", "status must be str, not int"),
    "short-status": ("ValueError", "three digits"),
    "two-digits": ("ValueError", "three digits"),
    "letters": ("ValueError", "three digits"),
    "interim": ("ValueError", "from 200 on"),
    "status-newline": ("ValueError", "three digits"),
    "status-wide": ("ValueError", "latin-1"),
    "tuple-headers": ("TypeError", "headers must be a list"),
    "dict-headers": ("TypeError", "headers must be a list"),
    "iterator-headers": ("TypeError", "headers must be a list"),
    "list-pair": ("TypeError", "tuples"),
    "triple": ("TypeError", "tuples"),
    "bytes-name": ("TypeError", "name must be str"),
    "bytes-value": ("TypeError", "value must be str"),
    "int-value": ("TypeError", "value must be str"),
    "none-value": ("TypeError", "value must be str"),
    "empty-name": ("ValueError", "token"),
    "space-name": ("ValueError", "token"),
    "colon-name": ("ValueError", "token"),
    "newline-name": ("ValueError", "token"),
    "newline-value": ("ValueError", "X-Split has a line end"),
    "lf-value": ("ValueError", "X-Split has a line end"),
    "nul-value": ("ValueError", "X-Split has a line end"),
    "wide-value": ("ValueError", "latin-1"),
    "wide-name": ("ValueError", "latin-1"),
    "connection": ("AssertionError", "Connection is hop-by-hop"),
    "transfer-encoding": ("AssertionError", "Transfer-Encoding is hop-by-hop"),
    "upgrade": ("AssertionError", "Upgrade is hop-by-hop"),
    "length-word": ("ValueError", "Content-Length"),
    "length-sign": ("ValueError", "Content-Length"),
    "length-twice": ("ValueError", "Content-Length"),
    "no-arguments": ("TypeError", "needs status and headers"),
    "one-argument": ("TypeError", "needs status and headers"),
    "four-arguments": ("TypeError", "2 or 3 arguments"),
    "bad-exc-info": ("TypeError", "exc_info"),
}


def traceback_of(server, request, exception, text=""):
    """The one entry of the log for a failed request; it may not be there twice. Taken out of what is judged at the end."""
    pattern = rf"[^\n]* error: {re.escape(request)} \(request [0-9a-f]{{32}}\): [^\n]*\n(?:(?!\d{{4}}-)[^\n]*\n)*"
    match = server.wait_log(pattern)
    assert re.search(rf"^{exception}\b[^\n]*{re.escape(text)}", match.group(), re.MULTILINE), match.group()
    assert len(re.findall(pattern, server.log())) == 1, server.log()
    server.expect(pattern)
    return match.group()


def assert_500(response):
    assert response.status == 500
    assert b"must not be sent" not in response.body
    assert not response.all("X-Split")


@pytest.fixture
def fresh(ringtail):
    return ringtail(APP, threads=1)


@pytest.mark.parametrize("case", BAD_STARTS)
def test_an_illegal_start_response_is_the_applications_error(fresh, case):
    exception, text = BAD_STARTS[case]
    with fresh.connect() as conn:
        conn.request(target=f"/bad-start?case={case}")
        assert_500(conn.read_response())
        # the connection is whole: nothing of the refused head was sent
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"
    log = traceback_of(fresh, "GET /bad-start", exception, text)
    assert "Traceback (most recent call last)" in log and "views.py" in log
    assert "case=" not in log


def test_a_swallowed_error_of_start_response_leaves_no_head(fresh):
    assert_500(fresh.get("/bad-start-swallowed"))
    traceback_of(fresh, "GET /bad-start-swallowed", "AssertionError", "without calling start_response")


def test_a_second_start_response_without_exc_info(fresh):
    assert_500(fresh.get("/start-twice"))
    traceback_of(fresh, "GET /start-twice", "AssertionError", "second time without exc_info")


def test_exc_info_before_anything_was_sent_replaces_the_head(server):
    response = server.get("/start-again")
    assert response.status == 503 and response.text == "second"
    assert response.get("X-Second") == "2" and not response.all("X-First")
    assert response.get("Content-Length") == "6"


def test_arguments_by_name(server):
    response = server.get("/start-keywords")
    assert response.text == "keywords" and response.get("X-K") == "1"


def test_exc_info_after_the_head_raises_the_exception_again(fresh):
    with fresh.connect() as conn:
        conn.request(target="/start-after-sent")
        response = conn.read_response(body=False)
        assert response.status == 200
        assert conn.read_chunk() == b"first"
        assert b"0\r\n\r\n" not in conn.read_end()[0]
    traceback_of(fresh, "GET /start-after-sent", "LookupError", "raised again")
    seen = fresh.get("/seen").json()
    assert seen["again"] is True
    assert seen["names"].count("view_start_after_sent") >= 1


@pytest.mark.parametrize("view", ["no-start", "no-start-generator"])
def test_a_body_without_start_response(fresh, view):
    assert_500(fresh.get(f"/{view}"))
    traceback_of(fresh, f"GET /{view}", "AssertionError", "without calling start_response")


def test_start_response_may_come_with_the_first_block(server):
    response = server.get("/late-start")
    assert response.status == 201 and response.get("X-Late") == "yes" and response.text == "late"


def test_latin1_goes_out_as_it_is(server):
    response = server.get("/latin1")
    assert response.reason == "Tr\xe8s bien" and response.get("X-Latin") == "caf\xe9"


@pytest.mark.parametrize("status", ["200 ", "299 Own", "404 Not Found", "599 Last", "200 OK"])
def test_statuses(server, status):
    response = server.get(f"/status?status={status.replace(' ', '%20')}")
    assert f"{response.status} {response.reason}" == status


def test_what_a_request_left_behind_reaches_into_no_other(server):
    for _ in range(3):
        assert server.get("/keep-faces").text == "kept"
        with server.connect() as conn:
            conn.request("POST", "/use-kept", body=b"body of another")
            response = conn.read_response()
        assert not response.all("X-Stolen")
        assert response.json() == {"start_response": "RuntimeError", "write": "RuntimeError", "hints": "RuntimeError",
                                   "input": "", "gone": False, "environ": "/keep-faces"}


def test_start_response_and_early_hints_belong_to_the_views_thread(server):
    answers = server.get("/other-thread").json()
    assert "thread that runs the view" in answers[0] and "thread that runs the view" in answers[1] and answers[2] is False


# --- exceptions

@pytest.mark.parametrize("case, exception", [
    ("value", "ValueError: from the view"), ("system-exit", "SystemExit: 3"), ("interrupt", "KeyboardInterrupt"),
    ("generator-exit", "GeneratorExit"), ("memory", "MemoryError"), ("surrogate", r"ValueError: bad \udc80 text"),
    ("stop", "StopIteration: stray")])
@pytest.mark.parametrize("when", ["first", "started"])
def test_an_exception_of_the_view_is_logged_once_and_answered_by_500(fresh, case, exception, when):
    with fresh.connect() as conn:
        conn.request(target=f"/raise?case={case}&when={when}&secret=token")
        response = conn.read_response()
        assert response.status == 500 and not response.all("X-Lost")
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"
    log = traceback_of(fresh, "GET /raise", re.escape(exception.partition(":")[0]))
    assert exception in log and "token" not in log


def test_an_exception_whose_text_raises(fresh):
    assert fresh.get("/raise-bad-str").status == 500
    traceback_of(fresh, "GET /raise-bad-str", "views(?:_[0-9a-z]+)?.BadStr|ringtail_app_views.BadStr|[a-z_.]*BadStr")


def test_a_view_that_recurses_without_end(fresh):
    assert fresh.get("/recurse").status == 500
    traceback_of(fresh, "GET /recurse", "RecursionError")
    assert fresh.get("/hello").text == "hello"


def test_an_exception_behind_the_first_block_cuts_the_connection(fresh):
    with fresh.connect() as conn:
        conn.request(target="/raise-later")
        assert conn.read_response(body=False).status == 200
        assert conn.read_chunk() == b"sent"
        assert b"0\r\n\r\n" not in conn.read_end()[0]
    traceback_of(fresh, "GET /raise-later", "ValueError", "too late")


# --- early hints

def test_early_hints_come_before_the_response(server):
    with server.connect() as conn:
        conn.request(target="/hints")
        response = conn.read_response()
        assert response.text == "hinted"
        assert [interim.status for interim in response.interim] == [103]
        assert response.interim[0].get("Link") == "</style.css>; rel=preload"


def test_early_hints_are_not_sent_to_http_1_0(server):
    with server.connect() as conn:
        conn.request(target="/hints", version="1.0")
        response = conn.read_response()
        assert response.text == "hinted" and not response.interim


def test_illegal_early_hints_raise(server):
    assert server.get("/hints-bad").json() == ["ValueError", "ValueError", "TypeError", "ValueError", "TypeError", "TypeError"]
