# SPDX-License-Identifier: Apache-2.0
"""Response bodies: framing by what is known, blocks at once, close() exactly once, write() (PEP 3333; SPEC 3, 4)."""
import re
from pathlib import Path

import pytest
from harness import wait_for
from harness.fixtures import module_server

APP = Path(__file__).parent / "apps" / "views.py"
server = module_server(APP, threads=1)


@pytest.fixture
def fresh(ringtail, gate):
    server = ringtail(APP, threads=1, send_buffer="64k", env=gate.env)
    server.gate = gate
    return server


def counts(server):
    return server.get("/counts").json()


def closed(server, name, number=1):
    """Waits until close() was called; it may not come again."""
    wait_for(lambda: counts(server).get(f"{name} closed", 0) >= number, f"close() of {name}")
    assert counts(server)[f"{name} closed"] == number


def error_of(server, request, text):
    pattern = rf"[^\n]* error: {re.escape(request)}[^\n]*\n(?:(?!\d{{4}}-)[^\n]*\n)*"
    match = server.wait_log(pattern)
    assert re.search(text, match.group()), match.group()
    assert len(re.findall(pattern, server.log())) == 1, server.log()
    server.expect(pattern)


# --- framing

@pytest.mark.parametrize("kind, framing", [
    ("list", "length"), ("tuple", "length"), ("generator", "chunked"), ("iterator", "chunked"), ("deque", "chunked")])
def test_framing_by_what_was_returned(server, kind, framing):
    response = server.get(f"/body?kind={kind}&blocks=a,bc,,def")
    assert response.body == b"abcdef"
    assert response.framing == framing


@pytest.mark.parametrize("kind", ["list", "tuple", "generator"])
def test_an_empty_body_has_length_0(server, kind):
    response = server.get(f"/body?kind={kind}&blocks=,,")
    assert response.body == b"" and response.get("Content-Length") == "0"


@pytest.mark.parametrize("kind", ["set", "deque"])
def test_one_block_of_an_iterable_of_length_one_is_its_length(server, kind):
    """PEP 3333, Handling the Content-Length Header."""
    response = server.get(f"/body?kind={kind}&blocks=only")
    assert response.framing == "length" and response.body == b"only"


def test_a_class_of_length_one(server):
    response = server.get("/one-block")
    assert response.framing == "length" and response.body == b"single"


def test_a_generator_to_http_1_0_is_framed_by_close(server):
    with server.connect() as conn:
        conn.request(target="/body?kind=generator", version="1.0")
        response = conn.read_response()
        assert response.framing == "close" and response.body == b"abc"


@pytest.mark.parametrize("kind", ["list", "generator", "object"])
def test_head_has_the_headers_and_no_body(server, kind):
    with server.connect() as conn:
        conn.request("HEAD", f"/body?kind={kind}&name=head&length=3")
        assert conn.read_response("HEAD").get("Content-Length") == "3"
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_statuses_without_content_send_none(server, status):
    with server.connect() as conn:
        conn.request(target=f"/body?kind=generator&status={status.replace(' ', '%20')}")
        assert conn.read_response().status == int(status[:3])
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"


@pytest.mark.parametrize("kind", ["list", "generator", "object"])
def test_too_many_bytes_are_cut_and_told(fresh, kind):
    with fresh.connect() as conn:
        conn.request(target=f"/body?kind={kind}&name=many&length=4&blocks=abc,def,ghi")
        assert conn.read_response().body == b"abcd"
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"
    error_of(fresh, "GET /body", "more bytes than its Content-Length")


@pytest.mark.parametrize("kind", ["list", "generator", "object"])
def test_too_few_bytes_close_the_connection(fresh, kind):
    with fresh.connect() as conn:
        conn.request(target=f"/body?kind={kind}&name=few&length=10&blocks=abc,def")
        assert conn.read_response(body=False).get("Content-Length") == "10"
        assert conn.read_end()[0] == b"abcdef"
    error_of(fresh, "GET /body", "4 bytes less than its Content-Length")


# --- blocks at once

def test_each_block_arrives_before_the_next_is_asked_for(fresh):
    with fresh.connect() as conn:
        conn.request(target="/step")
        assert conn.read_response(body=False).framing == "chunked"
        for name in ("one", "two", "three"):
            assert conn.read_chunk() == name.encode()
            fresh.gate.wait(name).release()
        assert conn.read_chunk() == b""


def test_the_end_of_content_length_ends_the_response_and_the_generator_is_run_to_its_end(fresh):
    with fresh.connect() as conn:
        conn.request(target="/length-then-waits")
        assert conn.read_response().body == b"four"
        fresh.gate.wait("behind").release()
    wait_for(lambda: counts(fresh).get("behind") == 1, "the generator's end")


def test_an_exception_behind_the_last_byte_is_logged_and_hurts_nobody(fresh):
    with fresh.connect() as conn:
        conn.request(target="/length-then-raises")
        assert conn.read_response().body == b"four"
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"
    error_of(fresh, "GET /length-then-raises", "ValueError: behind the last byte")


# --- close()

@pytest.mark.parametrize("query", ["", "&length=3", "&length=2", "&length=9", "&blocks=", "&fail=0", "&fail=1"])
def test_close_is_called_exactly_once(fresh, query):
    fresh.expect(r"[^\n]* error: (?s:.*)")
    with fresh.connect() as conn:
        conn.request(target=f"/body?kind=object&name=once{query}")
        conn.read_response(body=False)
        closed(fresh, "once")
    assert counts(fresh)["once iter"] == 1


def test_close_is_called_when_start_response_was_not(fresh):
    fresh.expect(r"[^\n]* error: (?s:.*)")
    assert fresh.get("/body?kind=no-start&name=nostart").status == 500
    closed(fresh, "nostart")


def test_close_is_called_when_iter_raises(fresh):
    assert fresh.get("/bad-body?case=iter-raises").status == 500
    closed(fresh, "iter-raises")
    error_of(fresh, "GET /bad-body", "ValueError: no iterator")


def test_close_is_called_for_head(server):
    before = counts(server).get("forhead closed", 0)
    with server.connect() as conn:
        conn.request("HEAD", "/body?kind=object&name=forhead")
        conn.read_response("HEAD")
    closed(server, "forhead", before + 1)


def test_an_exception_in_close_is_logged_and_the_client_has_its_answer(fresh):
    with fresh.connect() as conn:
        conn.request(target="/body?kind=object&name=raising&close_raises=1")
        assert conn.read_response().body == b"abc"
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"
    error_of(fresh, "GET /body", r"close\(\) of the response raised\n(?s:.*)OSError: close\(\) failed")


def test_the_client_does_not_wait_for_close(fresh):
    with fresh.connect() as conn:
        conn.request(target="/close-waits")
        arrival = fresh.gate.wait("close")
        assert conn.read_response().body == b"all"
        arrival.release()
    wait_for(lambda: counts(fresh).get("closed at gate") == 1, "the end of close()")


def test_a_client_that_leaves_closes_the_generator_on_its_own_thread(fresh):
    conn = fresh.connect()
    conn.request(target="/until-gone")
    conn.read_response(body=False)
    conn.reset()
    arrival = fresh.gate.wait("exit")
    assert arrival.data == {"gone": True, "thread": arrival.thread}
    assert re.fullmatch(r"ringtail-\d+", arrival.thread)


def test_a_paused_generator_whose_client_leaves_is_closed(fresh):
    conn = fresh.connect(rcvbuf=4096)
    conn.request(target="/until-gone")
    conn.read_response(body=False)
    # one thread: that it serves another request says that the generator is put away
    assert fresh.get("/hello").text == "hello"
    conn.reset()
    assert fresh.gate.wait("exit").data["gone"] is True


# --- wrong bodies

@pytest.mark.parametrize("case, text", [
    ("str", "TypeError: .*str"), ("bytes", r"TypeError: .*bytes"), ("list-of-str", "TypeError: .*not str"),
    ("list-mixed", "TypeError: .*not str"), ("tuple-of-int", "TypeError: .*not int"), ("none", "TypeError: .*NoneType"),
    ("int", "TypeError: .*int"), ("function", "TypeError: .*function"), ("generator-of-str", "TypeError: .*not str"),
    ("bytearray", "TypeError: .*not bytearray")])
def test_what_is_no_iterable_of_bytes_is_the_applications_error(fresh, case, text):
    with fresh.connect() as conn:
        conn.request(target=f"/bad-body?case={case}")
        response = conn.read_response()
        assert response.status == 500
        conn.request(target="/hello")
        assert conn.read_response().text == "hello"
    error_of(fresh, "GET /bad-body", text)


# --- write()

def test_write_sends_at_once(fresh):
    with fresh.connect() as conn:
        conn.request(target="/write-steps")
        conn.read_response(body=False)
        for name in ("one", "two"):
            assert conn.read_chunk() == name.encode()
            fresh.gate.wait(name).release()
        assert conn.read_chunk() == b""


def test_what_was_written_goes_before_what_is_returned(server):
    response = server.get("/write?blocks=a,b&rest=c,d")
    assert response.body == b"abcd"
    response = server.get("/write?blocks=a,b&rest=c,d&length=4")
    assert response.framing == "length" and response.body == b"abcd"


def test_write_of_nothing_begins_the_response(fresh):
    with fresh.connect() as conn:
        conn.request(target="/write-empty-then-start")
        assert conn.read_response(body=False).status == 200
        conn.read_end()
    error_of(fresh, "GET /write-empty-then-start", "LookupError: after write")


def test_write_of_str(fresh):
    assert fresh.get("/write-str").status == 500
    error_of(fresh, "GET /write-str", "TypeError: write.* needs bytes")


def test_write_waits_for_a_slow_reader_and_raises_when_it_leaves(ringtail, gate):
    fresh = ringtail(APP, threads=2, send_buffer="64k", env=gate.env)
    conn = fresh.connect(rcvbuf=4096)
    conn.request(target="/write-endless")
    conn.read_response(body=False)
    seen = []

    def stalled():
        seen.append(counts(fresh).get("written", 0))
        return len(seen) > 1 and seen[-1] == seen[-2] > 0
    wait_for(stalled, "write() to block")
    conn.reset()
    assert gate.wait("write").data == "BrokenPipeError"
