# SPDX-License-Identifier: Apache-2.0
"""The daemon's signals: TERM, INT, QUIT, USR1; whose handlers they are, and what a child inherits."""
import json
import re
import signal

import pytest

from harness import wait_for
from harness.fixtures import APPS
from harness.server import Server

GATE = f"import sys; sys.path.insert(0, {str(APPS)!r})\nimport gate\n"
HELLO = """
def application(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="signal_app.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)
    return write


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_an_idle_server_stops_with_status_0(ringtail, write, number):
    server = ringtail(write(HELLO))
    server.get("/")
    server.stop(number)
    assert server.log() == server.start_line + "\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_a_stop_during_the_import_ends_at_once_with_status_0(write, gate, tmp_path, number):
    path = tmp_path / "sock"
    server = Server(write(GATE + "gate.wait('import')\n" + HELLO), bind=f"unix:{path}", env=gate.env, ready=False)
    try:
        gate.wait("import")
        assert path.exists()
        server.send_signal(number)
        assert server.wait() == 0
        assert not path.exists()
        assert server.log() == ""
    finally:
        server.close()


VIEW_AT_GATE = GATE + """
import atexit
atexit.register(gate.note, "atexit")
def application(environ, start_response):
    gate.wait("view")
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""


def test_term_answers_the_request_that_runs_and_then_atexit_runs(ringtail, write, gate):
    server = ringtail(write(VIEW_AT_GATE), env=gate.env)
    with server.connect() as conn:
        conn.request("GET", "/")
        arrival = gate.wait("view")
        server.send_signal(signal.SIGTERM)
        arrival.release()
        assert conn.read_response().body == b"ok"
    assert server.wait() == 0
    gate.wait("atexit")


@pytest.mark.parametrize("first,second", [
    (signal.SIGTERM, signal.SIGTERM),
    (signal.SIGTERM, signal.SIGQUIT),
    (signal.SIGINT, signal.SIGINT),
])
def test_a_second_signal_does_not_wait_for_the_view(write, gate, first, second):
    server = Server(write(VIEW_AT_GATE), env=gate.env, graceful_timeout="1h")
    try:
        with server.connect() as conn:
            conn.request("GET", "/")
            gate.wait("view")
            # One signal may swallow its like while it is pending: the second goes out when the first has been delivered.
            server.send_signal(first)
            wait_for(lambda: not pending(server.pid), "the first signal's delivery")
            server.send_signal(second)
            assert server.wait() == 0
    finally:
        server.close()


def pending(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        status = file.read()
    return any(int(mask, 16) for mask in re.findall(r"^S(?:ig|hd)Pnd:\s*(\w+)$", status, re.M))


def test_handlers_of_the_application_for_our_signals_are_put_aside_and_said_once(ringtail, write):
    server = ringtail(write("""
import signal
for name in ("SIGTERM", "SIGINT", "SIGUSR1"):
    signal.signal(getattr(signal, name), lambda *_: print("taken by the application", flush=True))
""" + HELLO))
    server.wait_log(r"warning: the application set a handler for SIGTERM, SIGINT, SIGUSR1, which stays ringtail's")
    server.send_signal(signal.SIGUSR1)
    server.get("/")
    server.stop()
    assert server.log().count("which stays ringtail's") == 1
    assert "taken by the application" not in server.out()


def test_other_signals_belong_to_the_application(ringtail, write, gate):
    server = ringtail(write(GATE + """
import signal, threading
signal.signal(signal.SIGUSR2, lambda *_: gate.note("usr2", threading.current_thread().name))
signal.signal(signal.SIGHUP, lambda *_: gate.note("hup"))
""" + HELLO), env=gate.env)
    server.send_signal(signal.SIGUSR2)
    assert gate.wait("usr2").data == "MainThread"
    server.send_signal(signal.SIGHUP)
    gate.wait("hup")
    assert server.get("/").body == b"ok"


def test_usr1_opens_the_logs_again(ringtail, write, tmp_path):
    access, error = tmp_path / "access", tmp_path / "error"
    server = ringtail(write(HELLO), access_log=str(access), error_log=str(error))
    server.get("/one")
    wait_for(lambda: "/one" in access.read_text(), "the first line")
    access.rename(tmp_path / "access.1")
    error.rename(tmp_path / "error.1")
    server.send_signal(signal.SIGUSR1)
    wait_for(lambda: access.exists() and error.exists(), "new files")
    server.get("/two")
    wait_for(lambda: "/two" in access.read_text(), "the second line")
    assert "/two" not in (tmp_path / "access.1").read_text()


def test_a_subprocess_inherits_what_a_fresh_shell_would_give_it(ringtail, write):
    server = ringtail(write("""
import json, subprocess
def application(environ, start_response):
    out = subprocess.run(["cat", "/proc/self/status"], capture_output=True, check=True).stdout
    start_response("200 OK", [("Content-Length", str(len(out)))])
    return [out]
"""))
    status = server.get("/").body.decode()
    assert int(re.search(r"^SigBlk:\s*(\w+)$", status, re.M)[1], 16) == 0
    # Signals 32 and 33 are the C library's own; make ignores them in what it runs.
    assert int(re.search(r"^SigIgn:\s*(\w+)$", status, re.M)[1], 16) & ~(3 << 31) == 0
    assert int(re.search(r"^SigCgt:\s*(\w+)$", status, re.M)[1], 16) == 0


def test_term_to_a_forked_child_ends_the_child_and_not_the_server(ringtail, write, gate):
    server = ringtail(write(GATE + """
import json, multiprocessing
def child():
    gate.wait("child")
def application(environ, start_response):
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    gate.wait("forked", process.pid)
    process.terminate()
    process.join()
    body = json.dumps(process.exitcode).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""), env=gate.env)
    with server.connect() as conn:
        conn.request("GET", "/")
        gate.wait("child")
        gate.release("forked")
        assert json.loads(conn.read_response().body) == -signal.SIGTERM
    assert server.process.poll() is None


def test_an_ignored_pipe_signal_does_not_end_the_null_application(ringtail):
    server = ringtail("null:")
    for _ in range(20):
        with server.connect() as conn:
            conn.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
    assert server.get("/").status == 200


HUP_LINE = "HUP: this version cannot reload without a restart; it goes on serving; restart the service to load new code"


def test_hup_says_that_only_a_restart_reloads_and_cuts_no_request(ringtail, write, gate):
    server = ringtail(write(VIEW_AT_GATE.replace('atexit.register(gate.note, "atexit")\n', "")), env=gate.env)
    server.expect(rf"[^\n]*warning: {HUP_LINE}\n")
    with server.connect() as conn:
        conn.request("GET", "/")
        arrival = gate.wait("view")
        server.send_signal(signal.SIGHUP)
        server.wait_log(HUP_LINE)
        arrival.release()
        assert conn.read_response().body == b"ok"
    server.send_signal(signal.SIGHUP)
    wait_for(lambda: server.log().count(HUP_LINE) == 2, "the second line", describe=server.log)


def test_hup_during_the_import_ends_nothing(write, gate):
    server = Server(write(GATE + "gate.wait('import')\n" + HELLO), env=gate.env, ready=False)
    try:
        arrival = gate.wait("import")
        server.send_signal(signal.SIGHUP)
        server.wait_log(HUP_LINE)
        arrival.release()
        server.wait_ready()
        assert server.get("/").body == b"ok"
    finally:
        server.close()


def test_hup_that_is_ignored_from_the_start_stays_so(write):
    server = Server(write(HELLO), wrapper=["nohup"])
    with server:
        server.send_signal(signal.SIGHUP)
        assert server.get("/").body == b"ok"
        assert HUP_LINE not in server.log()
        with open(f"/proc/{server.pid}/status", encoding="ascii") as file:
            assert int(re.search(r"^SigIgn:\s*(\w+)$", file.read(), re.M)[1], 16) & 1


def test_hup_to_a_forked_child_ends_the_child(ringtail, write, gate):
    server = ringtail(write(GATE + """
import json, os, signal
def application(environ, start_response):
    pid = os.fork()
    if not pid:
        gate.wait("child")
        os._exit(0)
    gate.wait("forked")
    os.kill(pid, signal.SIGHUP)
    body = json.dumps(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""), env=gate.env)
    with server.connect() as conn:
        conn.request("GET", "/")
        gate.wait("child")
        gate.release("forked")
        assert json.loads(conn.read_response().body) == -signal.SIGHUP
    assert HUP_LINE not in server.log()
