# SPDX-License-Identifier: Apache-2.0
"""Chromium, headless, against the example project: a page with its style sheet, the admin's login, a form.

The browser is driven by its own protocol over a pipe (--remote-debugging-pipe): no driver is needed.
"""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import Server
from harness.server import python

pytestmark = [pytest.mark.long, pytest.mark.timeout(240)]

PROJECT = Path(__file__).resolve().parents[2] / "examples" / "django"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell", "chromium-headless-shell")


class Browser:
    def __init__(self, profile):
        program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
        if not program:
            pytest.skip("no Chromium (Debian, Fedora: chromium)")
        to_browser, self.out = os.pipe()
        self.input, from_browser = os.pipe()

        def descriptors():
            # The protocol's pipe is descriptors 3 and 4. Ours may be numbered 3 or 4 themselves.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=descriptors, close_fds=False)
        os.close(to_browser)
        os.close(from_browser)
        self.number = 0
        self.buffer = b""
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.buffer:
            data = os.read(self.input, 1 << 20)
            if not data:
                raise AssertionError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if getattr(self, "session", None) and not method.startswith("Target."):
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_event(self, method):
        while True:
            for index, event in enumerate(self.events):
                if event.get("method") == method:
                    del self.events[:index + 1]
                    return event["params"]
            self.events.append(self.message())

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_event("Page.loadEventFired")

    def submit(self, script):
        """Runs a script that submits a form, and waits for the page behind it."""
        self.events.clear()
        self.evaluate(script)
        self.wait_event("Page.loadEventFired")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.input)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if subprocess.run([python(), "-c", "import django; django.VERSION"], capture_output=True, check=False).returncode:
        pytest.skip("Django is missing (Debian, Fedora: python3-django)")
    env = {"MYSITE_DATA": str(tmp_path_factory.mktemp("site"))}
    subprocess.run([str(PROJECT / "prepare"), python()], env={**os.environ, **env}, check=True, stdout=subprocess.DEVNULL)
    with Server("mysite.wsgi", app_dir=PROJECT, env=env) as server:
        yield server


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


def test_the_front_page_loads_with_its_style_sheet_and_picture(server, browser):
    browser.open(server.url + "/")
    assert browser.evaluate("document.querySelectorAll('.cards li').length") == 12
    assert browser.evaluate("getComputedStyle(document.querySelector('.cards')).display") == "grid", "the style sheet was not applied"
    assert browser.evaluate("document.querySelector('.brand img').naturalWidth > 0"), "the picture was not loaded"


def test_a_bird_is_noted_by_the_form_and_its_message_is_shown(server, browser):
    browser.open(server.url + "/sightings/new/")
    browser.submit("document.querySelector('[name=bird]').value = 'Browser bird';"
                   "document.querySelector('[name=place]').selectedIndex = 1; document.querySelector('form').submit()")
    assert "Browser bird has been noted." in browser.evaluate("document.body.innerText")


def test_the_admin_lets_the_demo_user_in(server, browser):
    browser.open(server.url + "/admin/")
    browser.submit("document.querySelector('[name=username]').value = 'demo'; document.querySelector('[name=password]').value = 'ringtail';"
                   "document.querySelector('form').submit()")
    assert "Site administration" in browser.evaluate("document.body.innerText")
    browser.open(server.url + "/admin/journal/sighting/")
    assert browser.evaluate("document.querySelectorAll('#result_list tbody tr').length") >= 12


def test_fetch_reads_a_stream_piece_by_piece(server, browser):
    browser.open(server.url + "/")
    pieces = browser.evaluate("""(async () => {
        const reader = (await fetch('/ticks?n=5&ms=100')).body.getReader(); let pieces = 0;
        for (;;) { const {done} = await reader.read(); if (done) return pieces; pieces++; } })()""")
    assert pieces >= 3


def test_fetch_uploads_a_blob_and_gets_its_digest(server, browser):
    size = browser.evaluate("fetch('/api/digest', {method: 'POST', body: new Blob([new Uint8Array(5000000)])}).then(r => r.json()).then(j => j.size)")
    assert size == 5_000_000
