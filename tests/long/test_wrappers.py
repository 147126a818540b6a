# SPDX-License-Identifier: Apache-2.0
"""What only PyPI has: ddtrace-run, opentelemetry-instrument, newrelic-admin wrap the server; py-spy names a sleeping view.

Each is installed into a virtual environment of its own of the linked interpreter, kept in RINGTAIL_TEST_VENVS when set.
"""
import os
import subprocess

import pytest
from harness import Server
from harness.fixtures import MAIN
from harness.venvs import environment

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

FLASK = '''
import sys
from flask import Flask

app = Flask(__name__)

@app.get("/")
def index():
    out = []
    if "ddtrace" in sys.modules:
        import ddtrace
        span = ddtrace.tracer.current_span()
        out.append("ddtrace " + (span.name if span else "none"))
    if "opentelemetry" in sys.modules:
        from opentelemetry import trace
        span = trace.get_current_span()
        out.append("opentelemetry " + (str(span.name) if span.is_recording() else "none"))
    if "newrelic" in sys.modules:
        import newrelic.agent
        transaction = newrelic.agent.current_transaction()
        out.append("newrelic " + (transaction.name if transaction else "none"))
    return "\\n".join(out)
'''


def served(tmp_path, venv, wrapper, env=None):
    (tmp_path / "site_app.py").write_text(FLASK)
    return Server(tmp_path / "site_app.py", wrapper=[str(venv / "bin" / wrapper[0]), *wrapper[1:]], venv=venv,
                  env={"PATH": f"{venv}/bin:{os.environ['PATH']}", **(env or {})})


def test_ddtrace_run_wraps_the_server_and_traces_the_view(tmp_path, tmp_path_factory):
    venv = environment(tmp_path_factory, "ddtrace", "ddtrace", "flask")
    with served(tmp_path, venv, ["ddtrace-run"], {"DD_TRACE_AGENT_URL": "http://127.0.0.1:1", "DD_INSTRUMENTATION_TELEMETRY_ENABLED": "false",
                                                  "DD_REMOTE_CONFIGURATION_ENABLED": "false"}) as server:
        server.expect(r".*(?i:ddtrace|trace|agent|127\.0\.0\.1:1)[^\n]*\n")
        text = server.get("/").text
        assert "ddtrace " in text and "none" not in text, text


def test_opentelemetry_instrument_wraps_the_server_and_traces_the_view(tmp_path, tmp_path_factory):
    venv = environment(tmp_path_factory, "opentelemetry", "opentelemetry-distro", "opentelemetry-instrumentation-flask", "flask")
    with served(tmp_path, venv, ["opentelemetry-instrument", "--traces_exporter", "none", "--metrics_exporter", "none", "--logs_exporter", "none"],
                {"OTEL_SERVICE_NAME": "test"}) as server:
        text = server.get("/").text
        assert "opentelemetry " in text and "none" not in text, text


def test_newrelic_admin_wraps_the_server_and_traces_the_view(tmp_path, tmp_path_factory):
    venv = environment(tmp_path_factory, "newrelic", "newrelic", "flask")
    (tmp_path / "newrelic.ini").write_text("[newrelic]\nlicense_key = 0123456789012345678901234567890123456789\napp_name = test\n"
                                           "monitor_mode = true\ndeveloper_mode = true\nstartup_timeout = 10.0\nlog_level = error\n")
    with served(tmp_path, venv, ["newrelic-admin", "run-program"], {"NEW_RELIC_CONFIG_FILE": str(tmp_path / "newrelic.ini")}) as server:
        text = server.get("/").text
        assert "newrelic " in text and "none" not in text, text


def test_py_spy_names_a_view_that_sleeps(tmp_path, tmp_path_factory, gate):
    venv = environment(tmp_path_factory, "py-spy", "py-spy")
    with Server(MAIN, env=gate.env) as server, server.connect() as conn:
        conn.request(target="/gate?name=asleep")
        arrival = gate.wait("asleep")
        done = subprocess.run([str(venv / "bin" / "py-spy"), "dump", "--pid", str(server.pid)], capture_output=True, text=True, timeout=60, check=False)
        arrival.release()
        if "Permission denied" in done.stderr or "Operation not permitted" in done.stderr:
            pytest.skip("py-spy needs ptrace rights here")
        assert done.returncode == 0, done.stderr
        assert "stand (main.py" in done.stdout or "stand (" in done.stdout, done.stdout
        assert "ringtail-0" in done.stdout or "ringtail-" in done.stdout, done.stdout
        assert conn.read_response().status == 200
