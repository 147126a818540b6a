# SPDX-License-Identifier: Apache-2.0
"""A Django test suite whose live server is ringtail: LiveServerTestCase with its server thread replaced."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.server import binary, python, venv

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1] / "examples" / "django"

pytest.importorskip("requests", reason="requests is missing (Debian, Fedora: python3-requests)")


def test_a_django_test_suite_passes_against_ringtail_as_its_live_server(tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "__init__.py").write_text("")
    shutil.copy(HERE / "live_suite.py", tmp_path / "suite" / "tests.py")
    # The tests' database is a file, so that another process can serve it.
    (tmp_path / "suite_settings.py").write_text(
        "from mysite.settings import *\n"
        f"DATABASES['default']['NAME'] = '{tmp_path}/test.sqlite3'\n"
        f"DATABASES['default']['TEST'] = {{'NAME': '{tmp_path}/test.sqlite3'}}\n")
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}:{PROJECT}", "DJANGO_SETTINGS_MODULE": "suite_settings", "RINGTAIL": binary(),
           "MYSITE_DATA": str(tmp_path / "data"), "PYTHONDONTWRITEBYTECODE": "1"}
    if venv():
        env["VIRTUAL_ENV"] = venv()
    done = subprocess.run([python(), "-m", "django", "test", "suite", "-v", "2"], env=env, cwd=tmp_path, capture_output=True, text=True,
                          timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Ran 5 tests" in done.stderr, done.stderr
