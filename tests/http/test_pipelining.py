# SPDX-License-Identifier: Apache-2.0
"""Pipelining: answers come in the order of the requests (RFC 9112 9.3.2)."""
import random

from harness.fixtures import module_server

server = module_server(threads=4)


def get(target, *headers):
    return ("GET %s HTTP/1.1\r\nHost: test\r\n%s\r\n" % (target, "".join(h + "\r\n" for h in headers))).encode()


def test_a_hundred_requests_in_one_send_are_answered_in_order(server):
    with server.connect() as conn:
        conn.send(b"".join(get(f"/q?n={n}") for n in range(100)))
        assert [conn.read_response().text for _ in range(100)] == [str(n) for n in range(100)]


def test_a_thousand_requests_while_nobody_reads_are_answered_in_order(server):
    with server.connect() as conn:
        conn.send(b"".join(get(f"/q?n={n}") for n in range(500)), b"".join(get(f"/q?n={n}") for n in range(500, 990)))
        assert [conn.read_response().text for _ in range(990)] == [str(n) for n in range(990)]


def test_a_slow_first_request_holds_the_answers_behind_it_in_order(server):
    with server.connect() as conn:
        conn.send(get("/gate?name=slow-first") + get("/q?n=2") + get("/q?n=3"))
        arrival = server.gate.wait("slow-first")
        # Another connection is served meanwhile; this one stays silent (the bytes of T, SPEC 3, come after a FIN only).
        assert server.get("/q?n=9").text == "9"
        conn.expect_quiet()
        arrival.release("1")
        assert [conn.read_response().text for _ in range(3)] == ["1", "2", "3"]


def test_different_kinds_of_responses_in_one_pipeline_keep_their_framing(server):
    with server.connect() as conn:
        conn.send(get("/stream?n=3&size=5") + b"HEAD /bytes?n=50 HTTP/1.1\r\nHost: test\r\n\r\n" + get("/empty")
                  + get("/status?s=204%20No%20Content") + get("/file?n=100000") + get("/list") + get("/status?s=304%20Not%20Modified")
                  + get("/bytes?n=200000") + get("/nothing") + get("/q?n=end"))
        assert conn.read_response().body == b"aaaaabbbbbccccc"
        head = conn.read_response("HEAD")
        assert head.get("Content-Length") == "50"
        assert conn.read_response().body == b""
        assert conn.read_response().status == 204
        assert len(conn.read_response().body) == 100000
        assert conn.read_response().body == b"onetwothree"
        assert conn.read_response().status == 304
        assert len(conn.read_response().body) == 200000
        assert conn.read_response().status == 404
        assert conn.read_response().body == b"end"
        conn.expect_quiet()


def test_bodies_in_a_pipeline_do_not_run_into_each_other(server):
    with server.connect() as conn:
        pieces, bodies = [], []
        source = random.Random(3)
        for number in range(60):
            body = bytes(source.randrange(256) for _ in range(source.randrange(400)))
            bodies.append(body)
            if number % 2:
                pieces.append(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            else:
                chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 97]), body[i:i + 97]) for i in range(0, len(body), 97))
                pieces.append(b"POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
        conn.send(b"".join(pieces))
        assert [conn.read_response().body for _ in bodies] == bodies


def test_a_body_that_the_view_does_not_read_is_not_taken_for_a_request(server):
    with server.connect() as conn:
        inner = get("/q?n=smuggled")
        conn.send(b"POST /ignore-body HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n%s" % (len(inner), inner) + get("/q?n=next"))
        assert conn.read_response().body == b"ignored"
        assert conn.read_response().body == b"next"
        conn.expect_quiet()


def test_connection_close_in_a_pipeline_ends_it_behind_that_answer(server):
    """RFC 9112 9.6: a server that receives close MUST NOT process further requests of the connection."""
    with server.connect() as conn:
        conn.send(get("/q?n=1") + get("/q?n=2", "Connection: close") + get("/q?n=3&tag=behind-close"))
        assert conn.read_response().text == "1"
        last = conn.read_response()
        assert last.text == "2" and last.connection == ["close"]
        conn.read_close()
    assert server.get("/calls?of=behind-close").text == "0"


def test_pipelined_requests_of_many_connections_do_not_mix(server):
    conns = [server.connect() for _ in range(30)]
    try:
        for index, conn in enumerate(conns):
            conn.send(b"".join(get(f"/q?n={index}-{n}") for n in range(20)))
        for index, conn in enumerate(conns):
            assert [conn.read_response().text for _ in range(20)] == [f"{index}-{n}" for n in range(20)]
    finally:
        for conn in conns:
            conn.close()
