# SPDX-License-Identifier: Apache-2.0
"""The example project on each Django that it supports, from PyPI: all of tests/django, beside gunicorn of the same environment."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness import binary
from harness.server import python
from harness.venvs import environment

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

TESTS = Path(__file__).resolve().parents[1]
# Version: the first and the last Python that it runs on.
DJANGOS = {"3.2": ((3, 6), (3, 11)), "4.2": ((3, 8), (3, 12)), "5.2": ((3, 10), (3, 14))}


def python_version():
    out = subprocess.run([python(), "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, out.split()))


@pytest.fixture(params=DJANGOS)
def django(request, tmp_path_factory):
    first, last = DJANGOS[request.param]
    ours = python_version()
    if not first <= ours <= last:
        pytest.skip(f"Django {request.param} does not run on Python {ours[0]}.{ours[1]}")
    venv = environment(tmp_path_factory, f"django-{request.param}", f"Django~={request.param}.0", "gunicorn", "requests")
    found = subprocess.run([venv / "bin" / "python", "-c", "import django; print(django.get_version())"], capture_output=True, text=True,
                           check=True).stdout
    assert found.startswith(request.param + "."), found
    return venv


@pytest.mark.parametrize("file", ["test_django_same.py", "test_django_session.py", "test_django_live.py"])
def test_all_tests_of_the_example_project_pass(django, file):
    env = {**os.environ, "PYTHON": str(django / "bin" / "python"), "RINGTAIL": binary()}
    done = subprocess.run([sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={TESTS}", "-q", "-rs", "--tb=short",
                           str(TESTS / "django" / file)], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1000,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = done.stdout.strip().splitlines()[-1]
    assert re.search(r"\d+ passed", summary), done.stdout
    if "skipped" in summary:
        pytest.skip(f"parts of {file} skip: {re.findall(r'SKIPPED.*', done.stdout)}")
