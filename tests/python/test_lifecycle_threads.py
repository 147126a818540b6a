# SPDX-License-Identifier: Apache-2.0
"""Handler threads as Python sees them (SPEC 4)."""
import re
from pathlib import Path

import pytest
from harness import wait_for
from harness.fixtures import module_server

APP = Path(__file__).parent / "apps" / "life.py"
server = module_server(APP, threads=2, threads_max=4)


def test_a_handler_is_a_real_thread_of_threading(server):
    seen = server.get("/thread").json()
    assert re.fullmatch(r"ringtail-\d+", seen["name"])
    assert "Thread" in seen["class"] and "_DummyThread" not in seen["class"]
    assert seen["alive"] and seen["listed"] and seen["ident"] and seen["native"] and not seen["daemon"] and not seen["is main"]


def test_the_main_thread_imported_the_application_and_lives(server):
    seen = server.get("/thread").json()
    assert seen["main"] == "MainThread" and seen["main alive"] and seen["import"]


def test_threading_local_survives_between_requests(ringtail):
    server = ringtail(APP, threads=1, threads_max=1)
    assert [server.get("/thread").json()["count"] for _ in range(5)] == [1, 2, 3, 4, 5]


def test_all_handlers_are_listed(ringtail):
    server = ringtail(APP, threads=3, threads_max=3)
    assert server.get("/names").json() == ["MainThread", "ringtail-0", "ringtail-1", "ringtail-2"]


def test_a_retired_handler_leaves_the_list(ringtail, gate):
    server = ringtail(APP, threads=1, threads_max=3, thread_idle="10ms", env=gate.env)
    conns = []
    for number in range(3):
        conn = server.connect()
        conn.request(target=f"/gate?name={number}")
        conns.append((conn, gate.wait(str(number))))
    assert {arrival.thread for _, arrival in conns} == {"ringtail-0", "ringtail-1", "ringtail-2"}
    for conn, arrival in conns:
        arrival.release("done")
        assert conn.read_response().json() == "done"
    wait_for(lambda: len(server.get("/names").json()) == 2, "the retirement of two handlers", describe=lambda: server.get("/names").text)


@pytest.mark.parametrize("which, key", [("settrace", "traced"), ("setprofile", "profiled")])
def test_threading_hooks_are_honoured(ringtail, which, key):
    server = ringtail(APP, threads=1, threads_max=1, env={"TEST_AT_IMPORT": which})
    server.get("/hello")
    assert server.get("/traced").json()[key] == ["ringtail-0"]


def test_background_threads_keep_running(ringtail):
    server = ringtail(APP, threads=1, threads_max=1)
    assert server.get("/background").json() == "started"
    before = len(server.get("/handled").json())
    wait_for(lambda: len(server.get("/handled").json()) > before + 10, "ticks of the background thread")


def test_context_variables_are_the_threads_as_under_gunicorn(ringtail):
    server = ringtail(APP, threads=1, threads_max=1)
    assert [server.get("/context").json() for _ in range(2)] == ["none", "set"]


def test_signal_signal_in_a_view_says_what_python_says(server):
    assert "main thread" in server.get("/signal-in-view").json()


def test_views_on_the_loop_thread_have_a_thread_object_too(ringtail):
    server = ringtail(APP, threads=0)
    seen = server.get("/thread").json()
    assert seen["name"] == "ringtail-0" and seen["listed"] and not seen["is main"]


@pytest.mark.parametrize("option, frozen", [("on", True), ("off", False)])
def test_what_was_imported_is_frozen(ringtail, option, frozen):
    server = ringtail(APP, threads=1, gc_freeze=option)
    assert (server.get("/trace-gc").json()["frozen"] > 1000) is frozen
