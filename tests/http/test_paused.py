# SPDX-License-Identifier: Apache-2.0
"""Slow readers: the generator is paused at send-buffer, its thread serves others, memory stays bounded (SPEC 3)."""
import hashlib

import pytest
from harness import wait_for


@pytest.fixture
def server(ringtail, gate):
    """One handler: whatever is served beside a slow reader is served by the thread that owns its generator."""
    server = ringtail(threads=1, threads_max=1, send_buffer="256k", env=gate.env)
    server.gate = gate
    return server


def state(server, name):
    return server.get(f"/endless-state?name={name}").json()


def paused(server, name):
    """Waits until the generator of this name has stopped making chunks (the same count at two looks); how many it made."""
    seen = [-1]

    def look():
        chunks = state(server, name)["chunks"]
        if chunks and chunks == seen[0]:
            return chunks
        seen[0] = chunks
        return None
    return wait_for(look, "the pause of the generator")


def test_a_generator_is_paused_when_its_client_does_not_read(server):
    with server.connect(rcvbuf=4096) as conn:
        conn.request(target="/endless?name=slow&size=10000")
        conn.read_response(body=False)
        chunks = paused(server, "slow")
        # send-buffer plus what the kernel's socket buffers take (tcp_wmem's largest is 4 MB by default).
        assert chunks * 10000 < (256 << 10) + (12 << 20)
    server.gate.wait("slow-closed")


def test_other_requests_are_served_by_the_thread_whose_generator_is_paused(server):
    with server.connect(rcvbuf=4096) as conn:
        conn.request(target="/endless?name=beside")
        conn.read_response(body=False)
        paused(server, "beside")
        for number in range(50):
            assert server.get(f"/q?n={number}").text == str(number)
    server.gate.wait("beside-closed")


def test_a_paused_generator_goes_on_when_the_client_reads_again_and_every_byte_comes(server):
    with server.connect(rcvbuf=4096) as conn:
        conn.request(target="/endless?name=again&size=50000&n=600")
        response = conn.read_response(body=False)
        paused(server, "again")
        conn.read_chunked(response)
        assert response.body == b"x" * (50000 * 600)
        assert conn.roundtrip(target="/q?n=next").text == "next"
    server.gate.wait("again-closed")


def test_a_generator_is_resumed_and_closed_on_the_thread_that_began_it(ringtail, gate):
    server = ringtail(threads=4, threads_max=4, send_buffer="64k", env=gate.env)
    server.gate = gate
    conns = []
    for number in range(8):
        conn = server.connect(rcvbuf=4096)
        conn.request(target=f"/endless?name=same-{number}&size=30000&n=400")
        conns.append((conn, conn.read_response(body=False)))
    for number in range(8):
        paused(server, f"same-{number}")
    for conn, response in conns:
        conn.read_chunked(response)
        assert len(response.body) == 30000 * 400
        conn.close()
    for number in range(8):
        closed = gate.wait(f"same-{number}-closed")
        threads = state(server, f"same-{number}")["threads"]
        assert threads == [closed.data], f"ran on {threads}, closed on {closed.data}"
        assert closed.data.startswith("ringtail-")


def test_a_paused_generator_is_closed_on_its_thread_when_the_client_leaves(server):
    conn = server.connect(rcvbuf=4096)
    conn.request(target="/endless?name=leaves")
    conn.read_response(body=False)
    paused(server, "leaves")
    conn.reset()
    closed = server.gate.wait("leaves-closed")
    assert state(server, "leaves")["threads"] == [closed.data]


def test_a_paused_generator_is_closed_when_its_client_closes_without_reading(server):
    conn = server.connect(rcvbuf=4096)
    conn.request(target="/endless?name=closes")
    conn.read_response(body=False)
    paused(server, "closes")
    conn.close()
    server.gate.wait("closes-closed")


def test_memory_stays_bounded_behind_clients_that_do_not_read(ringtail, gate):
    server = ringtail(threads=2, threads_max=2, send_buffer="256k", env=gate.env)
    server.gate = gate
    if server.is_sanitized():
        pytest.skip("resident bytes mean nothing under a sanitizer")
    server.get("/")
    before = server.rss()
    conns = []
    for number in range(40):
        conn = server.connect(rcvbuf=4096)
        conn.request(target=f"/endless?name=mem-{number}&size=65536")
        conns.append(conn)
    for conn in conns:
        conn.read_response(body=False)
    for number in range(40):
        paused(server, f"mem-{number}")
    grown = server.rss() - before
    assert grown < 40 * (256 << 10) * 3 + (32 << 20), f"{grown >> 20} MiB more for 40 paused responses of 256 KiB"
    for conn in conns:
        conn.reset()
    for number in range(40):
        gate.wait(f"mem-{number}-closed")


def test_one_chunk_larger_than_the_buffer_is_sent_whole(server):
    with server.connect(rcvbuf=4096) as conn:
        conn.request(target="/stream?n=2&size=8000000")
        response = conn.read_response(body=False)
        server.get("/")
        conn.read_chunked(response)
        assert len(response.body) == 16000000 and response.body[-1:] == b"b"


def test_a_view_that_writes_to_a_slow_reader_blocks_and_goes_on(ringtail, gate):
    server = ringtail(threads=2, send_buffer="64k", env=gate.env)
    with server.connect(rcvbuf=4096) as conn:
        conn.request(target="/endless-write?name=writer&size=50000&n=400")
        response = conn.read_response(body=False)
        for number in range(20):
            assert server.get(f"/q?n={number}").text == str(number)
        assert gate.count("writer-ended") == 0
        conn.read_chunked(response)
        assert len(response.body) == 50000 * 400
    gate.wait("writer-ended")


def test_a_view_blocked_in_write_is_freed_when_the_client_resets(ringtail, gate):
    server = ringtail(threads=2, send_buffer="64k", env=gate.env)
    conn = server.connect(rcvbuf=4096)
    conn.request(target="/endless-write?name=writer")
    conn.read_response(body=False)
    server.get("/")
    conn.reset()
    gate.wait("writer-ended")
    server.expect(r".*error: (?:[^\n]*\n)*?.*Error[^\n]*\n")


@pytest.mark.parametrize("kind", ["/file", "/file-memory", "/bytes"])
def test_a_slow_reader_gets_every_byte_of(server, kind):
    size = 12_000_000
    with server.connect(rcvbuf=4096) as conn:
        conn.request(target=f"{kind}?n={size}")
        response = conn.read_response(body=False)
        for number in range(10):
            assert server.get(f"/q?n={number}").text == str(number)
        if response.framing == "chunked":
            conn.read_chunked(response)
        else:
            response.body = conn.read_exactly(size)
        assert conn.roundtrip(target="/q?n=next").text == "next"
    digest = hashlib.sha256(response.body).hexdigest()
    with server.connect() as conn:
        conn.request("POST", "/digest", body=conn_body(server, size))
        assert conn.read_response().json() == {"size": size, "sha256": digest}


def conn_body(server, size):
    with server.connect() as conn:
        return conn.roundtrip(target=f"/bytes?n={size}").body


def test_a_file_holds_no_thread_while_it_is_sent(server):
    """The thread is free at once: with one handler, others are served while the file is on its way."""
    with server.connect(rcvbuf=4096) as conn:
        conn.request(target="/file?n=30000000")
        conn.read_response(body=False)
        conn.read_exactly(1000)
        for number in range(20):
            assert server.get(f"/q?n={number}").text == str(number)


def test_a_paused_sqlite_generator_reads_on_with_its_own_handle(ringtail, tmp_path):
    """sqlite3 raises ProgrammingError when a handle is used on another thread than the one that made it."""
    app = tmp_path / "rows.py"
    app.write_text('''
import sqlite3

def application(environ, start_response):
    if environ["PATH_INFO"] == "/quick":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"quick"]
    start_response("200 OK", [("Content-Type", "text/plain")])

    def rows():
        db = sqlite3.connect(":memory:")
        db.execute("create table t (n integer, filler text)")
        db.executemany("insert into t values (?, ?)", ((n, "y" * 1000) for n in range(20000)))
        try:
            for n, filler in db.execute("select n, filler from t order by n"):
                yield b"%d %s\\n" % (n, filler.encode())
        finally:
            db.close()
    return rows()
''')
    server = ringtail(app, threads=4, send_buffer="64k")
    conns = []
    for _ in range(4):
        conn = server.connect(rcvbuf=4096)
        conn.request()
        conns.append((conn, conn.read_response(body=False)))
    for _ in range(20):
        assert server.get("/quick").body == b"quick"
    for conn, response in conns:
        conn.read_chunked(response)
        assert response.body.count(b"\n") == 20000
        conn.close()
