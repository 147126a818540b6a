# SPDX-License-Identifier: Apache-2.0
"""The example project under ringtail and under gunicorn, each with a fresh database of the same content."""
import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2] / "examples" / "django"


def prepare(data):
    """A database of its own in data; the environment that names it."""
    from harness.server import python
    env = {"MYSITE_DATA": str(data)}
    subprocess.run([str(PROJECT / "prepare"), python()], env={**os.environ, **env}, check=True, stdout=subprocess.DEVNULL)
    return env


@pytest.fixture(scope="session", autouse=True)
def _django():
    from harness.server import python
    done = subprocess.run([python(), "-c", "import django; django.VERSION"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("Django is missing (Debian, Fedora: python3-django)")


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    from harness import Server
    from harness.server import venv
    env = prepare(tmp_path_factory.mktemp("ring"))
    server = Server("mysite.wsgi", app_dir=PROJECT, env=env, threads=4, **({"venv": venv()} if venv() else {}))
    server.data = Path(env["MYSITE_DATA"])
    # The view that fails on purpose.
    server.expect(r"(?s)\S+ \S+ ringtail\[\d+\] \w+: Internal Server Error: /oops\n.*?RuntimeError: a view that fails, on purpose\n",
                  r"(?s)Internal Server Error: /oops\n.*?RuntimeError: a view that fails, on purpose\n")
    try:
        yield server
        server.stop()
    finally:
        server.close()


@pytest.fixture(scope="module")
def gunicorn(tmp_path_factory):
    from harness.peer import Gunicorn, has_gunicorn
    if not has_gunicorn():
        pytest.skip("gunicorn is missing (Debian: gunicorn, Fedora: python3-gunicorn)")
    peer = Gunicorn("mysite.wsgi", PROJECT, prepare(tmp_path_factory.mktemp("gunicorn")))
    try:
        yield peer
    finally:
        peer.close()
