# SPDX-License-Identifier: Apache-2.0
"""What the wrappers of PyPI see of a Django project: the spans that leave the process, until its very end."""
import http.server
import json
import os
import threading

import pytest
from harness import Server, wait_for
from harness.venvs import environment

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

SETTINGS = '''
SECRET_KEY = "test"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "site_urls"
MIDDLEWARE = []
'''
URLS = '''
from django.http import HttpResponse
from django.urls import path

def bird(request, number):
    import sys
    out = f"bird {number}"
    if "newrelic" in sys.modules:
        import newrelic.agent
        transaction = newrelic.agent.current_transaction()
        out += f" {transaction and transaction.name}"
    return HttpResponse(out)

urlpatterns = [path("birds/<int:number>/", bird, name="bird")]
'''
WSGI = '''
import os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_settings")
from django.core.wsgi import get_wsgi_application
application = get_wsgi_application()
'''


class Agent:
    """Stands in for the tracing agent: remembers what is sent to it."""

    def __init__(self):
        agent = self
        self.received = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                agent.received.append((self.path, body))
                data = b'{"rate_by_service":{"service:,env:":1}}' if "traces" in self.path else b'{"endpoints":["/v0.4/traces"],"version":"7"}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            do_GET = do_POST = do_PUT = answer

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def traces(self):
        return b"".join(body for path, body in list(self.received) if "traces" in path)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def agent():
    agent = Agent()
    yield agent
    agent.close()


def served(folder, venv, wrapper, env):
    (folder / "site_settings.py").write_text(SETTINGS)
    (folder / "site_urls.py").write_text(URLS)
    (folder / "site_wsgi.py").write_text(WSGI)
    return Server("site_wsgi", app_dir=folder, venv=venv, wrapper=[str(venv / "bin" / wrapper[0]), *wrapper[1:]], cwd=folder,
                  env={"PATH": f"{venv}/bin:{os.environ['PATH']}", **env})


def test_ddtrace_run_sends_the_spans_of_django_to_its_agent(tmp_path, tmp_path_factory, agent):
    venv = environment(tmp_path_factory, "ddtrace-django", "ddtrace", "Django~=5.2.0")
    env = {"DD_TRACE_AGENT_URL": agent.url, "DD_INSTRUMENTATION_TELEMETRY_ENABLED": "false", "DD_REMOTE_CONFIGURATION_ENABLED": "false"}
    with served(tmp_path, venv, ["ddtrace-run"], env) as server:
        assert server.get("/birds/7/").text == "bird 7"
        # Spans leave once a second, and the rest at the end.
        wait_for(lambda: b"django.request" in agent.traces(), "a span of Django", 30, lambda: repr(agent.received))
        assert server.get("/birds/8/").text == "bird 8"
        server.stop()
    assert b"/birds/8/" in agent.traces(), "the spans of the last second were lost at the end"


def test_opentelemetry_instrument_prints_the_spans_of_django(tmp_path, tmp_path_factory):
    venv = environment(tmp_path_factory, "opentelemetry-django", "opentelemetry-distro", "opentelemetry-instrumentation-django",
                       "opentelemetry-instrumentation-wsgi", "Django~=5.2.0")
    wrapper = ["opentelemetry-instrument", "--traces_exporter", "console", "--metrics_exporter", "none", "--logs_exporter", "none"]
    with served(tmp_path, venv, wrapper, {"DJANGO_SETTINGS_MODULE": "site_settings", "PYTHONPATH": str(tmp_path)}) as server:
        assert server.get("/birds/7/").text == "bird 7"
        server.stop()
        text = server.out()
    decoder, spans = json.JSONDecoder(), []
    while (start := text.find("{\n")) >= 0:
        span, end = decoder.raw_decode(text[start:])
        spans.append(span)
        text = text[start + end:]
    assert [span["name"] for span in spans] == ["GET birds/<int:number>/"], spans
    assert spans[0]["attributes"].get("http.status_code", spans[0]["attributes"].get("http.response.status_code")) == 200


def test_newrelic_admin_names_the_transaction_after_the_view(tmp_path, tmp_path_factory):
    venv = environment(tmp_path_factory, "newrelic-django", "newrelic", "Django~=5.2.0")
    (tmp_path / "newrelic.ini").write_text("[newrelic]\nlicense_key = 0123456789012345678901234567890123456789\napp_name = test\n"
                                           "monitor_mode = true\ndeveloper_mode = true\nstartup_timeout = 10.0\nlog_level = error\n")
    with served(tmp_path, venv, ["newrelic-admin", "run-program"], {"NEW_RELIC_CONFIG_FILE": str(tmp_path / "newrelic.ini")}) as server:
        assert server.get("/birds/7/").text == "bird 7 site_urls:bird"
