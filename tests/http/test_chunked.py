# SPDX-License-Identifier: Apache-2.0
"""Chunked requests and responses (RFC 9112 7.1), framing of responses (SPEC 3: framed once)."""
import email.utils
import re
import time
from urllib.parse import quote

import pytest
from harness.fixtures import module_server

server = module_server(threads=4)

HEAD = b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("wire, body", [
    (b"0\r\n\r\n", b""),
    (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
    (b"1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n", b"abc"),
    (b"00000a\r\n0123456789\r\n000\r\n\r\n", b"0123456789"),
    (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
    (b"5;name\r\nhello\r\n0;last\r\n\r\n", b"hello"),
    (b"5;name=value\r\nhello\r\n0\r\n\r\n", b"hello"),
    (b"5;name=\"quoted ; \\\" \"\r\nhello\r\n0\r\n\r\n", b"hello"),
    (b"5\r\nhello\r\n0\r\nX-Trailer: a\r\nX-More: b\r\n\r\n", b"hello"),
    (b"4\r\n\r\n\r\n\r\n0\r\n\r\n", b"\r\n\r\n"),
    (b"7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n", b"0\r\n\r\n\r\n"),
])
def test_a_chunked_body_is_decoded(server, wire, body):
    with server.connect() as conn:
        conn.send(HEAD + wire)
        response = conn.read_response()
        assert (response.status, response.body) == (200, body)
        assert conn.roundtrip(target="/q?n=next").text == "next"


def test_the_coding_name_is_compared_without_case(server):
    with server.connect() as conn:
        conn.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        assert conn.read_response().body == b"hello"


def test_trailers_do_not_become_headers(server):
    with server.connect() as conn:
        conn.send(b"POST /environ HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Evil: 1\r\nHost: other\r\n\r\n")
        environ = conn.read_response().json()
        assert "HTTP_X_EVIL" not in environ and environ["HTTP_HOST"] == "test"
        assert conn.roundtrip(target="/q?n=next").text == "next"


@pytest.mark.parametrize("trailer", [b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Content-Length: x"])
def test_a_trailer_that_speaks_of_framing_is_dropped_or_refused(server, trailer):
    """RFC 9110 6.5.1 forbids it to the sender; it must never frame anything here."""
    with server.connect() as conn:
        conn.send(HEAD + b"5\r\nhello\r\n0\r\n" + trailer + b"\r\n\r\nGET /q?n=next HTTP/1.1\r\nHost: test\r\n\r\n")
        response = conn.read_response()
        if response.status == 400:
            conn.read_close()
        else:
            assert response.body == b"hello"
            assert conn.read_response().text == "next"


def test_the_application_sees_no_transfer_coding_that_is_already_removed(server):
    with server.connect() as conn:
        conn.send(b"POST /environ HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        environ = conn.read_response().json()
        assert environ.get("CONTENT_LENGTH") in (None, "", "5")


def test_ten_thousand_one_byte_chunks_are_one_body(server):
    with server.connect() as conn:
        conn.send(HEAD + b"1\r\nx\r\n" * 10000 + b"0\r\n\r\n")
        assert conn.read_response().body == b"x" * 10000


# --- responses

def test_a_generator_is_sent_chunked_to_a_1_1_client(server):
    with server.connect() as conn:
        response = conn.roundtrip(target="/stream?n=3&size=5")
        assert response.framing == "chunked" and response.body == b"aaaaabbbbbccccc"


def test_each_chunk_of_a_generator_reaches_the_client_before_the_next_is_made(server):
    """PEP 3333: the server must transmit each string completely before it asks for the next."""
    with server.connect() as conn:
        conn.request(target="/gate-stream?name=each")
        for text in ("one", "two", "three"):
            server.gate.release("each", text)
            if text == "one":
                assert conn.read_response(body=False).framing == "chunked"
            assert conn.read_chunk() == text.encode()
        server.gate.release("each", "")
        assert conn.read_chunk() == b""
        server.gate.wait("each-closed")


def test_empty_strings_of_a_generator_make_no_chunk(server):
    """An empty chunk would end the body."""
    with server.connect() as conn:
        response = conn.roundtrip(target="/empty-chunks")
        assert response.body == b"onetwo"
        assert conn.roundtrip(target="/q?n=next").text == "next"


def test_several_ready_bytes_objects_get_a_content_length(server):
    with server.connect() as conn:
        response = conn.roundtrip(target="/list")
        assert response.framing == "length" and response.body == b"onetwothree"


def test_an_empty_list_gets_content_length_zero(server):
    with server.connect() as conn:
        response = conn.roundtrip(target="/empty")
        assert response.get("Content-Length") == "0"


def test_a_content_length_of_the_application_is_kept_for_a_generator(server):
    with server.connect() as conn:
        response = conn.roundtrip(target="/stream-length?n=4&size=3")
        assert response.framing == "length" and response.body == b"aaabbbcccddd"


def test_the_write_callable_and_the_iterable_come_in_order(server):
    with server.connect() as conn:
        assert conn.roundtrip(target="/write").body == b"written twice and returned"


def test_too_many_bytes_for_content_length_are_cut_and_logged(ringtail):
    server = ringtail()
    with server.connect() as conn:
        response = conn.roundtrip(target="/too-many")
        assert response.body == b"12345"
        assert conn.roundtrip(target="/q?n=next").text == "next"
    server.wait_log(r"(?i)content-length")
    server.expect(r".*(?i:content-length).*\n")


def test_too_few_bytes_for_content_length_close_the_connection(ringtail):
    server = ringtail()
    with server.connect() as conn:
        conn.request(target="/too-few")
        response = conn.read_response(body=False)
        assert response.get("Content-Length") == "100"
        data, _ = conn.read_end()
        assert data == b"only this"
    server.wait_log(r"(?i)content-length")
    server.expect(r".*(?i:content-length).*\n")


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_statuses_without_a_body_send_none_even_if_the_application_gives_one(server, status):
    with server.connect() as conn:
        response = conn.roundtrip(target=f"/status?s={status.replace(' ', '%20')}&body=unwanted")
        assert response.status == int(status[:3])
        assert conn.roundtrip(target="/q?n=next").text == "next"


def test_a_status_of_the_application_is_sent_with_its_reason(server):
    with server.connect() as conn:
        response = conn.roundtrip(target="/status?s=299%20Quite%20Fine%20Indeed&body=x")
        assert (response.status, response.reason) == (299, "Quite Fine Indeed")


def test_early_hints_come_as_103_before_the_final_response(server):
    with server.connect() as conn:
        conn.request(target="/early-hints?gate=hints")
        hints = conn.read_response(interim=False)
        assert hints.status == 103 and hints.headers == [("Link", "</style.css>; rel=preload; as=style")]
        server.gate.release("hints")
        assert conn.read_response(interim=False).text == "hinted"


def test_a_file_is_sent_whole_from_its_position(server):
    with server.connect() as conn:
        whole = conn.roundtrip(target="/file?n=300000").body
        part = conn.roundtrip(target="/file?n=300000&offset=100001")
        assert len(whole) == 300000 and part.body == whole[100001:]


def test_a_file_with_a_content_length_below_its_size_is_cut_there(server):
    with server.connect() as conn:
        whole = conn.roundtrip(target="/bytes?n=100000").body
        response = conn.roundtrip(target="/file?n=100000&length=5000")
        assert response.get("Content-Length") == "5000" and response.body == whole[:5000]
        assert conn.roundtrip(target="/q?n=next").text == "next"


def test_an_empty_file_is_an_empty_body(server):
    with server.connect() as conn:
        assert conn.roundtrip(target="/file?n=0").body == b""
        assert conn.roundtrip(target="/q?n=next").text == "next"


def test_a_file_like_object_without_a_descriptor_is_sent(server):
    with server.connect() as conn:
        assert len(conn.roundtrip(target="/file-memory?n=100000").body) == 100000


def test_the_close_method_of_a_sent_file_is_called(server):
    with server.connect() as conn:
        assert len(conn.roundtrip(target="/file?n=200000&name=closing").body) == 200000
        server.gate.wait("closing-closed")


# --- headers of every response

def test_date_is_sent_once_in_imf_fixdate(server):
    with server.connect() as conn:
        date = conn.roundtrip().get("Date")
        assert re.fullmatch(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT", date)


def test_date_is_now(server):
    with server.connect() as conn:
        stamp = email.utils.parsedate_to_datetime(conn.roundtrip().get("Date")).timestamp()
        assert abs(stamp - time.time()) < 20


def test_server_names_ringtail(server):
    with server.connect() as conn:
        assert conn.roundtrip().get("Server") == "ringtail"


def test_server_header_off_sends_none(ringtail):
    server = ringtail(server_header="off")
    assert server.get().all("Server") == []
    with server.connect() as conn:
        conn.send(b"bad\r\n\r\n")
        assert conn.read_response().all("Server") == []


def test_date_and_server_of_the_application_replace_ours(server):
    with server.connect() as conn:
        conn.request(target="/headers?h=" + quote('[["Date","Mon, 01 Jan 2024 00:00:00 GMT"],["Server","mine"]]'))
        response = conn.read_response()
        assert response.get("Date") == "Mon, 01 Jan 2024 00:00:00 GMT" and response.get("Server") == "mine"


def test_repeated_headers_keep_their_order(server):
    with server.connect() as conn:
        conn.request(target="/headers?h=" + quote('[["Set-Cookie","a=1"],["X-Between","x"],["Set-Cookie","b=2"],["set-cookie","c=3"]]'))
        assert conn.read_response().all("Set-Cookie") == ["a=1", "b=2", "c=3"]


def test_latin_1_in_header_values_goes_through_both_ways(server):
    with server.connect() as conn:
        conn.send(b"GET /environ HTTP/1.1\r\nHost: test\r\nX-Name: caf\xe9\r\n\r\n")
        assert conn.read_response().json()["HTTP_X_NAME"] == "café"
        conn.request(target="/headers?h=" + quote('[["X-Name","café"]]'))
        assert conn.read_response().get("X-Name") == "café"
