# SPDX-License-Identifier: Apache-2.0
"""The end: non-daemon threads, atexit, what was printed (SPEC 4)."""
import signal
import subprocess
from pathlib import Path

import pytest
from harness import wait_for
from harness.server import python

APP = Path(__file__).parent / "apps" / "life.py"


def test_atexit_runs_in_the_main_thread_and_what_it_prints_is_not_lost(ringtail):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "atexit"})
    server.get("/hello")
    server.stop()
    assert server.out() == "atexit ran in MainThread\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_atexit_runs_for_both_ways_to_stop(ringtail, number):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "atexit"})
    server.stop(number)
    assert "atexit ran" in server.out()


def test_atexit_runs_when_term_comes_right_behind_the_start_up_line(ringtail):
    for _ in range(10):
        server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "atexit"})
        server.stop()
        assert "atexit ran" in server.out()


def test_an_exception_in_atexit_changes_nothing(ringtail):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "atexit atexit-raises"})
    server.expect(r"(?s).*ZeroDivisionError[^\n]*")
    server.stop()
    assert "atexit ran" in server.out()


def test_print_arrives_at_once_and_an_unfinished_line_at_the_end(ringtail):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "print-partial"})
    server.get("/print")
    wait_for(lambda: "printed by a view\n" in server.out(), "the printed line", describe=server.out)
    server.wait_log("told by a view")
    server.stop()
    assert server.out().startswith("a line without end")


def test_a_non_daemon_thread_is_waited_for(ringtail, gate):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "non-daemon atexit", **gate.env})
    arrival = gate.wait("non-daemon")
    server.send_signal(signal.SIGTERM)
    wait_for(lambda: "ringtail-0" not in server.threads(), "the end of the handlers", describe=server.threads)
    assert server.process.poll() is None
    arrival.release()
    assert server.wait() == 0
    assert server.out() == "non-daemon thread ended\natexit ran in MainThread\n"


def test_a_non_daemon_thread_that_does_not_end_is_given_up_and_named(ringtail, gate):
    server = ringtail(APP, threads=1, graceful_timeout="500ms", env={"TEST_AT_IMPORT": "non-daemon atexit", **gate.env})
    gate.wait("non-daemon")
    log = server.stop()
    assert "worker-of-the-app" in log
    assert server.out() == "atexit ran in MainThread\n"


def test_an_idle_executor_holds_up_nothing(ringtail):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "executor"})
    log = server.stop(deadline=10)
    assert "non-daemon" not in log
    assert "executor ran" in server.out()


def test_a_second_term_does_not_wait_for_threads(ringtail, gate):
    server = ringtail(APP, threads=1, env={"TEST_AT_IMPORT": "non-daemon", **gate.env})
    gate.wait("non-daemon")
    server.send_signal(signal.SIGTERM)
    wait_for(lambda: "ringtail-0" not in server.threads(), "the end of the handlers", describe=server.threads)
    server.expect(r"[^\n]*worker-of-the-app[^\n]*")
    server.stop(deadline=10)


def test_debug_keeps_standard_input_for_pdb(ringtail, tmp_path):
    commands = tmp_path / "commands"
    commands.write_text("p value + 2\nvalue = 7\nc\n")
    server = ringtail(APP, debug="on", wrapper=["sh", "-c", f'exec "$@" < {commands}', "sh"])
    assert server.get("/pdb").json() == 7
    assert "(Pdb) 42" in server.out()


def test_standard_input_is_not_the_terminals(ringtail):
    assert ringtail(APP, threads=1).get("/input").json() == ""


@pytest.mark.parametrize("is_signalled", [False, True])
def test_a_view_that_never_gives_the_gil_up_does_not_keep_the_server(ringtail, gate, is_signalled):
    """is_signalled: the main thread has gone for the GIL already, to run a handler of the application."""
    code = "import sys; sys.exit(getattr(sys, '_is_gil_enabled', bool)() is False and sys.version_info >= (3, 13))"
    if subprocess.run([python(), "-c", code], check=False).returncode:
        pytest.skip("this Python has no GIL that a view could keep")
    server = ringtail(APP, threads=1, graceful_timeout="200ms", env={"TEST_AT_IMPORT": "usr2", **gate.env})
    conn = server.connect()
    conn.request(target="/stuck")
    gate.wait("stuck")
    if is_signalled:
        server.send_signal(signal.SIGUSR2)
        wait_for(lambda: "ringtail-guard" in server.threads(), "the main thread to attach", describe=server.threads)
    server.expect(r"[^\n]*error: the end of Python was given up[^\n]*")
    assert "given up" in server.stop()
