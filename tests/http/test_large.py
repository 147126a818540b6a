# SPDX-License-Identifier: Apache-2.0
"""Large bodies both ways, and bodies beyond body-memory in an unlinked file (SPEC 2, 3)."""
import hashlib
import os
import socket
import threading

import pytest
from harness import wait_for
from harness.fixtures import module_server

server = module_server(max_body="100m", threads=2)

SIZE = 50 << 20


@pytest.fixture(scope="module")
def payload():
    block = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(32768))
    return block * (SIZE // len(block))


@pytest.mark.parametrize("kind", ["/bytes", "/file"])
def test_fifty_mebibytes_down_are_the_same_bytes(server, kind):
    with server.connect() as conn:
        body = conn.roundtrip(target=f"{kind}?n={SIZE}").body
        assert len(body) == SIZE
        reference = conn.roundtrip(target="/bytes?n=1000000").body
        assert body[:1000000] == reference
        conn.send(b"POST /digest HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n" % SIZE)
        conn.socket.sendall(body)
        assert conn.read_response().json() == {"size": SIZE, "sha256": hashlib.sha256(body).hexdigest()}


def test_fifty_mebibytes_up_by_content_length_are_the_same_bytes(server, payload):
    with server.connect() as conn:
        conn.send(b"POST /digest HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n" % len(payload))
        conn.socket.sendall(payload)
        assert conn.read_response().json() == {"size": SIZE, "sha256": hashlib.sha256(payload).hexdigest()}


def test_fifty_mebibytes_up_in_chunks_of_odd_sizes_are_the_same_bytes(server, payload):
    with server.connect() as conn:
        conn.send(b"POST /digest HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n")
        offset, step = 0, 1
        while offset < len(payload):
            piece = payload[offset:offset + step]
            conn.socket.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            offset += len(piece)
            step = step * 3 % 100003 + 1
        conn.send(b"0\r\n\r\n")
        assert conn.read_response().json() == {"size": SIZE, "sha256": hashlib.sha256(payload).hexdigest()}


def test_an_echo_of_fifty_mebibytes_streams_both_ways(server, payload):
    with server.connect() as conn:
        def upload():
            conn.socket.sendall(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n" % len(payload))
            conn.socket.sendall(payload)
        sender = threading.Thread(target=upload)
        sender.start()
        body = conn.read_response().body
        sender.join()
        assert hashlib.sha256(body).digest() == hashlib.sha256(payload).digest()


@pytest.mark.parametrize("size", [65535, 65536, 65537, 131071, 262143, 262144, 262145, 300000, 1 << 20])
def test_bodies_around_body_memory_are_echoed(server, payload, size):
    with server.connect() as conn:
        conn.request("POST", "/echo", body=payload[:size])
        assert conn.read_response().body == payload[:size]
        assert conn.roundtrip(target="/q?n=1").text == "1"


def test_a_body_beyond_body_memory_goes_to_an_unlinked_file_in_tmpdir(ringtail, tmp_path, gate, payload):
    server = ringtail(body_memory="64k", env={**gate.env, "TMPDIR": str(tmp_path)})
    with server.connect() as conn:
        conn.send(b"POST /gate-body?name=spilt HTTP/1.1\r\nHost: test\r\nContent-Length: 1000000\r\n\r\n")
        conn.socket.sendall(payload[:900000])
        def files():
            found = []
            for fd in os.listdir(f"/proc/{server.pid}/fd"):
                try:
                    found.append(os.readlink(f"/proc/{server.pid}/fd/{fd}"))
                except OSError:
                    pass
            return [name for name in found if name.startswith(str(tmp_path)) and name.endswith("(deleted)")]
        wait_for(files, "an unlinked file in TMPDIR")
        assert os.listdir(tmp_path) == []
        conn.socket.sendall(payload[900000:1000000])
        assert conn.read_response().body == payload[:1000000]
        gate.wait("spilt")
        wait_for(lambda: not files(), "the end of the file")


def test_a_body_within_body_memory_makes_no_file(ringtail, tmp_path, payload):
    server = ringtail(body_memory="64k", env={"TMPDIR": str(tmp_path / "missing")})
    with server.connect() as conn:
        conn.request("POST", "/echo", body=payload[:65536])
        assert conn.read_response().body == payload[:65536]


def test_a_body_whose_file_cannot_be_made_costs_one_request_not_the_server(ringtail, tmp_path, payload):
    server = ringtail(body_memory="64k", env={"TMPDIR": str(tmp_path / "missing")})
    with server.connect() as conn:
        conn.try_send(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 200000\r\n\r\n")
        conn.try_send(payload[:200000])
        assert conn.read_response().status in (500, 503, 507)
    assert server.get("/q?n=1").text == "1"
    server.expect(r".*(error|warning):.*\n")


def test_many_uploads_at_once_do_not_mix(server, payload):
    size = 700_000
    conns = [server.connect() for _ in range(16)]
    for index, conn in enumerate(conns):
        conn.send(b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n" % size)
    for start in range(0, size, 50_000):
        for index, conn in enumerate(conns):
            conn.socket.sendall(payload[index * 1000 + start:index * 1000 + start + 50_000])
    for index, conn in enumerate(conns):
        assert conn.read_response().body == payload[index * 1000:index * 1000 + size]
        conn.close()


def test_memory_stays_bounded_while_bodies_come_in(ringtail, payload):
    server = ringtail(max_body="100m", threads=1)
    if server.is_sanitized():
        pytest.skip("resident bytes mean nothing under a sanitizer")
    server.get()
    before = server.rss()
    conns = []
    for _ in range(4):
        conn = server.connect()
        conn.send(b"POST /ignore-body HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n" % SIZE)
        conn.socket.sendall(payload[:SIZE - 1])
        conns.append(conn)
    for conn in conns:
        conn.send(b"x")
        assert conn.read_response().body == b"ignored"
        conn.close()
    assert server.rss() - before < 40 << 20, "200 MB of bodies were held in memory"


def test_a_response_goes_on_while_the_client_sends_the_next_request(server):
    with server.connect() as conn:
        conn.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        conn.request(target="/bytes?n=3000000")
        conn.request("POST", "/digest", body=b"z" * 100000)
        assert len(conn.read_response().body) == 3000000
        assert conn.read_response().json()["size"] == 100000
