# SPDX-License-Identifier: Apache-2.0
"""A thousand connections at once."""
import resource

import pytest
from harness import wait_for

COUNT = 1000


@pytest.fixture(autouse=True)
def _descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = COUNT + 200
    if soft < need:
        if hard != resource.RLIM_INFINITY and hard < need:
            pytest.skip(f"{need} descriptors needed, the hard limit is {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (need, hard))
    yield


def test_a_thousand_connections_are_all_served_and_kept(ringtail):
    server = ringtail()
    conns = [server.connect() for _ in range(COUNT)]
    try:
        for turn in range(3):
            for number, conn in enumerate(conns):
                conn.request(target=f"/q?n={turn}-{number}")
            for number, conn in enumerate(conns):
                assert conn.read_response().text == f"{turn}-{number}"
        for conn in conns:
            conn.expect_quiet()
    finally:
        for conn in conns:
            conn.close()


def test_a_thousand_pipelines_at_once_are_answered_in_order(ringtail):
    server = ringtail()
    conns = [server.connect() for _ in range(COUNT)]
    try:
        for number, conn in enumerate(conns):
            conn.send(b"".join(b"GET /q?n=%d-%d HTTP/1.1\r\nHost: test\r\n\r\n" % (number, n) for n in range(5)))
        for number, conn in enumerate(conns):
            assert [conn.read_response().text for _ in range(5)] == [f"{number}-{n}" for n in range(5)]
    finally:
        for conn in conns:
            conn.close()


def test_idle_connections_beyond_a_thousand_cost_the_others_nothing(ringtail):
    server = ringtail()
    conns = [server.connect() for _ in range(COUNT)]
    try:
        for number in range(200):
            assert server.get(f"/q?n={number}").text == str(number)
    finally:
        for conn in conns:
            conn.close()


def test_a_thousand_clients_that_vanish_together_leave_nothing_behind(ringtail):
    server = ringtail()
    conns = [server.connect() for _ in range(COUNT)]
    for number, conn in enumerate(conns):
        conn.request(target=f"/q?n={number}")
        if number % 2:
            conn.reset()
        else:
            conn.close()
    assert server.get("/q?n=1").text == "1"
    wait_for(lambda: server.connections() == 0, "the end of their connections", describe=lambda: f"{server.connections()} left")
