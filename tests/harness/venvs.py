# SPDX-License-Identifier: Apache-2.0
"""Virtual environments of the linked interpreter with packages from PyPI."""
import os
import subprocess
from pathlib import Path

import pytest

from .server import python


def environment(tmp_path_factory, name, *packages):
    """The folder of an environment with the packages, or a skip that says why there is none.

    Kept in $RINGTAIL_TEST_VENVS when that is set, so that a second run downloads nothing.
    """
    root = Path(os.environ.get("RINGTAIL_TEST_VENVS") or tmp_path_factory.getbasetemp()) / name
    if not (root / "complete").exists():
        done = subprocess.run([python(), "-m", "venv", "--clear", str(root)], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no virtual environment: {last_line(done)} (Debian: python3-venv)")
        done = subprocess.run([str(root / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *packages],
                              capture_output=True, text=True, timeout=400, check=False)
        if done.returncode:
            pytest.skip(f"{packages[0]} cannot be installed: {last_line(done)}")
        (root / "complete").touch()
    return root


def last_line(done):
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"
