# SPDX-License-Identifier: Apache-2.0
"""faulthandler is on as under `python -X faulthandler`, and what an application asks of it works."""
import signal

import pytest
from harness import client, wait_for
from harness.fixtures import APPS

VIEWS = f'''
import faulthandler, signal, sys
sys.path.insert(0, {str(APPS)!r})
import gate

faulthandler.register(signal.SIGXCPU, all_threads=True)

def view_that_crashes():
    faulthandler._sigsegv()

def view_that_stands():
    gate.wait("standing")

def view_with_a_watchdog():
    faulthandler.dump_traceback_later(0.05)
    gate.wait("standing")
    faulthandler.cancel_dump_traceback_later()

def application(environ, start_response):
    globals()["view_" + environ["PATH_INFO"][1:]]()
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
'''


@pytest.fixture
def app(tmp_path):
    (tmp_path / "views.py").write_text(VIEWS)
    return tmp_path / "views.py"


def test_a_crash_in_a_view_ends_the_process_by_its_signal_and_names_the_view(ringtail, app):
    server = ringtail(app)
    server.expect(r"(?s)Fatal Python error: Segmentation fault.*")
    with server.connect() as conn:
        conn.request(target="/that_crashes")
        with pytest.raises((client.ProtocolError, OSError)):
            conn.read_response()
    assert server.wait() == -signal.SIGSEGV
    log = server.log()
    assert "Fatal Python error: Segmentation fault" in log and "in view_that_crashes" in log, log


def test_a_signal_registered_for_it_shows_the_stacks_and_stops_nothing(ringtail, app, gate):
    server = ringtail(app, env=gate.env)
    with server.connect() as conn:
        conn.request(target="/that_stands")
        arrival = gate.wait("standing")
        server.send_signal(signal.SIGXCPU)
        wait_for(lambda: "in view_that_stands" in server.log(), "the stack", describe=server.log)
        arrival.release()
        assert conn.read_response().text == "ok"
    server.expect(r"(?s)(Current thread|Thread) 0x.*")


def test_its_watchdog_shows_a_view_that_is_late(ringtail, app, gate):
    server = ringtail(app, env=gate.env)
    with server.connect() as conn:
        conn.request(target="/with_a_watchdog")
        arrival = gate.wait("standing")
        wait_for(lambda: "in view_with_a_watchdog" in server.log(), "the stack", describe=server.log)
        arrival.release()
        assert conn.read_response().text == "ok"
    server.expect(r"(?s)Timeout \(.*")
