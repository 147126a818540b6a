# SPDX-License-Identifier: Apache-2.0
"""What test files import: the folder of applications and fixtures made to measure."""
from pathlib import Path

import pytest

from .server import Server

APPS = Path(__file__).resolve().parent.parent / "http" / "apps"
MAIN = APPS / "main.py"


def module_server(app=MAIN, **options):
    """A fixture: one server for all tests of a module, stopped and judged at its end. server.gate is its gate."""
    @pytest.fixture(scope="module")
    def fixture(shared_gate):
        server = Server(app, env={**options.get("env", {}), **shared_gate.env},
                        **{name: value for name, value in options.items() if name != "env"})
        server.gate = shared_gate
        try:
            yield server
            server.stop()
        finally:
            server.close()
    return fixture
