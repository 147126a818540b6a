# SPDX-License-Identifier: Apache-2.0
"""Signals of the application, subprocesses and forks (SPEC 4)."""
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from harness import wait_for
from harness.fixtures import module_server

APP = Path(__file__).parent / "apps" / "life.py"
server = module_server(APP, threads=2, threads_max=2)


@pytest.mark.parametrize("setting", ["usr2", "wakeup"])
def test_a_handler_set_at_import_runs_in_the_main_thread(ringtail, setting):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": setting})
    for number in range(1, 4):
        server.send_signal(signal.SIGUSR2)
        wait_for(lambda: len(server.get("/handled").json()) == number, "the handler", describe=lambda: server.get("/handled").text)
    assert server.get("/handled").json() == [["SIGUSR2", "MainThread"]] * 3


def test_a_handler_runs_while_every_view_stands(ringtail, gate):
    server = ringtail(APP, threads=1, threads_max=1, env={"TEST_AT_IMPORT": "usr2", **gate.env})
    with server.connect() as conn:
        conn.request(target="/gate?name=standing")
        arrival = gate.wait("standing")
        server.send_signal(signal.SIGUSR2)
        arrival.release("x")
        assert conn.read_response().json() == "x"
    wait_for(lambda: server.get("/handled").json() == [["SIGUSR2", "MainThread"]], "the handler")


def test_a_handler_that_raises_is_logged_and_stops_nothing(ringtail):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "raise-in-handler"})
    pattern = r"[^\n]*error: a signal handler of the application raised\n(?s:.*?)ValueError: from the handler"
    server.expect(pattern)
    for number in range(1, 3):
        server.send_signal(signal.SIGUSR2)
        wait_for(lambda: len(re.findall(pattern, server.log())) == number, "the traceback", describe=server.log)
    assert server.get("/hello").json() == "hello"


def test_term_stays_the_daemons_and_that_is_said_once(ringtail):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "take-term"})
    log = server.stop()
    assert len(re.findall("SIGTERM", log)) == 1, log
    assert server.status == 0


# --- subprocesses

def shell_masks():
    text = subprocess.run(["cat", "/proc/self/status"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split(":")[0]: line.split()[1] for line in text.splitlines() if line.startswith(("SigBlk", "SigIgn", "SigCgt"))}


def test_a_subprocess_inherits_what_a_fresh_one_does(server):
    expected = shell_masks()
    seen = server.get("/subprocess").json()
    assert seen["SigBlk"] == expected["SigBlk"]
    assert seen["SigCgt"] == expected["SigCgt"]
    # what this test's own parents ignore is theirs
    assert int(seen["SigIgn"], 16) & ~int(expected["SigIgn"], 16) == 0


def test_sys_executable_runs_the_same_python(server):
    seen = server.get("/executable").json()
    assert seen["child"] == seen["own"]


# --- forks

def test_a_forked_child_has_none_of_the_servers_descriptors_and_default_dispositions(server):
    with server.connect() as other:
        other.request(target="/hello")
        other.read_response()
        child = server.get("/fork").json()
    assert child["exit"] == 0
    sockets = [link for link in child["links"] if link.startswith("socket:")]
    rings = [link for link in child["links"] if "io_uring" in link]
    assert not sockets and not rings, child["links"]
    assert child["main"] and child["wakeup"] == -1
    caught = int(child["status"]["SigCgt"], 16)
    for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1):
        assert not caught & 1 << number - 1, signal.Signals(number).name
    assert int(child["status"]["SigBlk"], 16) == 0


@pytest.mark.parametrize("how", ["return", "raise", "exit"])
def test_a_child_that_comes_back_into_the_server_ends_with_70(ringtail, how):
    server = ringtail(APP, threads=1)
    server.expect(r"[^\n]*error: a child that the application forked came back[^\n]*\n",
                  r"[^\n]*error: it had raised\n(?s:.*?)(ValueError|SystemExit): [^\n]*")
    with server.connect() as conn:
        conn.request(target=f"/fork-returns?how={how}")
        assert conn.read_response().json() == 70
        assert conn.available() == b""
    server.wait_log("came back into the server")
    if how == "raise":
        server.wait_log("ValueError: in the child")
    assert "printed by the child" in server.out()
    assert server.get("/hello").json() == "hello"


def test_term_to_a_child_does_not_stop_the_server(server):
    assert server.get("/fork-and-term").json() == -signal.SIGTERM
    assert server.get("/process-terminate").json() == -signal.SIGTERM
    assert server.get("/hello").json() == "hello"


def test_multiprocessing_by_fork(server):
    assert server.get("/multiprocessing").json() == [1, 4, 9]


def test_a_child_that_lives_on_keeps_no_connection_and_no_port(ringtail):
    server = ringtail(APP, threads=1)
    with server.connect() as conn:
        conn.request(target="/fork-stays", headers=[("Connection", "close")])
        pid = conn.read_response().json()
        conn.read_close()
    try:
        server.stop()
        with pytest.raises(ConnectionRefusedError):
            server.connect()
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_child_forked_at_import_keeps_no_port(ringtail):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "fork-at-import"})
    with open(f"/proc/{server.pid}/task/{server.pid}/children", encoding="ascii") as file:
        children = [int(pid) for pid in file.read().split()]
    assert len(children) == 1
    try:
        server.stop()
        with pytest.raises(ConnectionRefusedError):
            server.connect()
    finally:
        os.kill(children[0], signal.SIGKILL)
