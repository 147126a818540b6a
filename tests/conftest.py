# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all black-box tests."""
import os
import signal
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
# Behind everything else: tests/http and tests/django must never hide the packages of the same name.
if str(TESTS) not in sys.path:
    sys.path.append(str(TESTS))

from harness import Gate, Server, client  # noqa: E402
from harness.fixtures import MAIN  # noqa: E402


def pytest_configure(config):
    # Under nohup, and in background jobs of a script, HUP and INT are ignored, and the servers would inherit that.
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "long: belongs to make check-long; skipped unless RINGTAIL_LONG is set")


def pytest_collection_modifyitems(items):
    if not os.environ.get("RINGTAIL_LONG"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="long: runs in make check-long (RINGTAIL_LONG=1)"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failing test prints the bytes of its connections and the logs of its servers."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for conn in client.transcript[-5:]:
            report.sections.append(("bytes", conn.describe()))
        for server in getattr(item, "ringtail_servers", ()):
            report.sections.append(("server", " ".join(server.argv)))
            try:
                report.sections.append(("log", server.log()))
            except OSError:
                pass
    if report.when == "teardown":
        client.transcript.clear()


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.close()


@pytest.fixture(scope="module")
def shared_gate():
    gate = Gate()
    yield gate
    gate.close()


@pytest.fixture
def ringtail(request):
    """Starts servers for one test: ringtail(app, option=value, ...). Each is stopped and judged at its end."""
    servers = []
    request.node.ringtail_servers = servers

    def start(app=MAIN, **options):
        server = Server(app, **options)
        servers.append(server)
        return server

    yield start
    problems = []
    for server in servers:
        try:
            if server.status is None:
                server.stop()
        except AssertionError as problem:
            problems.append(str(problem))
        finally:
            server.close()
    assert not problems, "\n".join(problems)


@pytest.fixture(autouse=True)
def _watch_module_server(request):
    """The log of a module's server belongs into the report of its failing tests too."""
    if "server" in request.fixturenames and not hasattr(request.node, "ringtail_servers"):
        server = request.getfixturevalue("server")
        if isinstance(server, Server):
            request.node.ringtail_servers = [server]
    yield
