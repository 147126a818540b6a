# SPDX-License-Identifier: Apache-2.0
"""max-keepalive-requests: the close at the cap loses no request (SPEC 3)."""
import pytest


def get(number, *headers):
    return ("GET /q?n=%d HTTP/1.1\r\nHost: test\r\n%s\r\n" % (number, "".join(h + "\r\n" for h in headers))).encode()


@pytest.mark.parametrize("cap", [1, 2, 100, 1000])
def test_the_answer_at_the_cap_announces_the_close(ringtail, cap):
    server = ringtail(max_keepalive_requests=cap)
    with server.connect() as conn:
        for number in range(cap):
            conn.send(get(number))
            response = conn.read_response()
            assert response.text == str(number)
            assert (response.connection == ["close"]) == (number == cap - 1), f"request {number + 1} of {cap}: {response}"
        conn.read_close()


def test_the_default_cap_is_1000(ringtail):
    server = ringtail()
    with server.connect() as conn:
        for number in range(1000):
            conn.send(get(number))
            response = conn.read_response()
            assert (response.connection == ["close"]) == (number == 999), number
        conn.read_close()


def test_cap_0_never_closes(ringtail):
    server = ringtail(max_keepalive_requests=0)
    with server.connect() as conn:
        for start in range(0, 3000, 100):
            conn.send(b"".join(get(n) for n in range(start, start + 100)))
            for number in range(start, start + 100):
                response = conn.read_response()
                assert response.text == str(number) and "close" not in response.connection


@pytest.mark.parametrize("cap", [100, 1000])
@pytest.mark.parametrize("behind", [1, 50, 99])
def test_requests_pipelined_behind_the_cap_are_all_answered_before_the_close(ringtail, cap, behind):
    server = ringtail(max_keepalive_requests=cap)
    with server.connect() as conn:
        for number in range(cap - 1):
            conn.send(get(number))
            conn.read_response()
        # The request at the cap and those behind it in one piece: all are buffered when the first is answered.
        conn.send(b"".join(get(number) for number in range(behind + 1)))
        answers = []
        while True:
            response = conn.read_response()
            answers.append(response.text)
            if "close" in response.connection:
                break
        assert answers == [str(number) for number in range(behind + 1)]
        conn.read_close()


def test_the_close_is_announced_on_an_answer_behind_which_nothing_is_buffered(ringtail):
    server = ringtail(max_keepalive_requests=10)
    with server.connect() as conn:
        conn.send(b"".join(get(number) for number in range(30)))
        seen = [conn.read_response() for _ in range(30)]
        assert [r.text for r in seen] == [str(number) for number in range(30)]
        assert ["close" in r.connection for r in seen] == [False] * 29 + [True]
        conn.read_close()


def test_a_pipeline_that_never_pauses_is_closed_within_a_hundred_requests_over_the_cap(ringtail):
    server = ringtail(max_keepalive_requests=10)
    with server.connect() as conn:
        data = b"".join(get(number) for number in range(2000))
        conn.try_send(data)
        answers = 0
        while True:
            response = conn.read_response()
            assert response.text == str(answers)
            answers += 1
            if "close" in response.connection:
                break
        assert 10 <= answers <= 110
        # What was sent beyond it is not answered; the client could still read everything up to here.


def test_a_half_sent_request_behind_the_cap_is_answered_or_never_begun(ringtail, gate):
    """It was received in part only: the close may come before it, but not in the middle of an answer."""
    server = ringtail(max_keepalive_requests=2, env=gate.env)
    with server.connect() as conn:
        conn.send(get(1))
        assert conn.read_response().text == "1"
        conn.send(b"GET /gate?name=cap HTTP/1.1\r\nHost: test\r\n\r\n" + get(3)[:20])
        gate.release("cap", "2")
        response = conn.read_response()
        assert response.text == "2"
        if "close" in response.connection:
            conn.read_close()
        else:
            conn.send(get(3)[20:])
            assert conn.read_response().text == "3"


def test_the_cap_counts_for_http_1_0_keep_alive_too(ringtail):
    server = ringtail(max_keepalive_requests=2)
    with server.connect() as conn:
        conn.send(b"GET /q?n=1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        assert conn.read_response().connection == ["keep-alive"]
        conn.send(b"GET /q?n=2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        assert conn.read_response().connection != ["keep-alive"]
        conn.read_close()


def test_a_request_that_arrives_while_the_capping_one_runs_is_answered(ringtail, gate):
    server = ringtail(max_keepalive_requests=1, threads=2, env=gate.env)
    with server.connect() as conn:
        conn.send(b"GET /gate?name=running HTTP/1.1\r\nHost: test\r\n\r\n")
        arrival = gate.wait("running")
        conn.send(get(2))
        # A round trip on another connection: the loop has received the second request before the first is answered.
        server.get("/")
        arrival.release("1")
        first = conn.read_response()
        assert first.text == "1" and "close" not in first.connection
        second = conn.read_response()
        assert second.text == "2" and second.connection == ["close"]
        conn.read_close()
