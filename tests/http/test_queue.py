# SPDX-License-Identifier: Apache-2.0
"""queue-size: 503 at once, without Python; max-connections: nobody is refused (SPEC 2)."""
def occupied(ringtail, gate, **options):
    server = ringtail(threads=1, threads_max=1, env=gate.env, **options)
    conn = server.connect()
    conn.request(target="/gate?name=busy")
    return server, conn, gate.wait("busy")


def test_beyond_queue_size_503_comes_at_once_with_retry_after(ringtail, gate):
    server, busy, arrival = occupied(ringtail, gate, queue_size=4)
    waiting = []
    for number in range(4):
        conn = server.connect()
        conn.request(target=f"/q?n={number}")
        waiting.append(conn)
    server_has_queued(server)
    for number in range(20):
        with server.connect() as conn:
            conn.request(target=f"/q?n=extra-{number}&tag=refused")
            response = conn.read_response()
            assert response.status == 503
            assert response.get("Retry-After").isdigit()
    arrival.release("done")
    assert busy.read_response().text == "done"
    for number, conn in enumerate(waiting):
        assert conn.read_response().text == str(number)
    assert server.get("/calls?of=refused").text == "0"


def test_a_connection_survives_its_503(ringtail, gate):
    """The request was read whole: nothing forbids the next one on the same connection, or the close says so."""
    server, busy, arrival = occupied(ringtail, gate, queue_size=1)
    with server.connect() as first, server.connect() as second:
        first.request(target="/q?n=1")
        server_has_queued(server)
        second.request(target="/q?n=2")
        response = second.read_response()
        assert response.status == 503
        arrival.release("done")
        assert busy.read_response().text == "done"
        assert first.read_response().text == "1"
        if "close" in response.connection:
            second.read_close()
        else:
            assert second.roundtrip(target="/q?n=3").text == "3"


def server_has_queued(server):
    """The loop has read what was sent before: a refusal, which needs no Python, has made the round."""
    with server.connect() as conn:
        conn.send(b"BAD\r\n\r\n")
        conn.read_response()


def test_at_max_connections_the_longest_idle_connection_is_closed_for_a_new_one(ringtail):
    server = ringtail(max_connections=4)
    conns = []
    for number in range(4):
        conn = server.connect()
        assert conn.roundtrip(target=f"/q?n={number}").text == str(number)
        conns.append(conn)
    # The first one is used again: the second has now been idle for longest.
    assert conns[0].roundtrip(target="/q?n=again").text == "again"
    with server.connect() as fifth:
        assert fifth.roundtrip(target="/q?n=5").text == "5"
        conns[1].read_close()
        for index in (0, 2, 3):
            conns[index].expect_quiet()
            assert conns[index].roundtrip(target="/q?n=ok").text == "ok"
    for conn in conns:
        conn.close()


def test_at_max_connections_with_none_idle_the_next_waits_and_is_served_later(ringtail, gate):
    server = ringtail(max_connections=2, threads=4, env=gate.env)
    conns = []
    for number in range(2):
        conn = server.connect()
        conn.request(target=f"/gate?name=full-{number}")
        conns.append((conn, gate.wait(f"full-{number}")))
    waiting = server.connect()
    waiting.request(target="/q?n=waited")
    assert waiting.available() == b""
    conns[0][1].release("done")
    assert conns[0][0].read_response().text == "done"
    # The first has become idle, and gives its place.
    assert waiting.read_response().text == "waited"
    conns[0][0].read_close()
    conns[1][1].release("done")
    assert conns[1][0].read_response().text == "done"
    waiting.close()


def test_fifty_clients_are_all_served_through_four_connections(ringtail):
    server = ringtail(max_connections=4)
    conns = [server.connect() for _ in range(50)]
    for number, conn in enumerate(conns):
        conn.request(target=f"/q?n={number}", headers=[("Connection", "close")])
    for number, conn in enumerate(conns):
        assert conn.read_response().text == str(number)
        conn.close()


def test_a_burst_of_connections_beyond_the_limit_is_served_when_kept_alive_ones_go_idle(ringtail):
    server = ringtail(max_connections=8)
    conns = [server.connect() for _ in range(40)]
    for number, conn in enumerate(conns):
        conn.request(target=f"/q?n={number}")
    for number, conn in enumerate(conns):
        assert conn.read_response().text == str(number)
    for conn in conns:
        conn.close()
