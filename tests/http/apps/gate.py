# SPDX-License-Identifier: Apache-2.0
"""The application's side of harness/gate.py."""
import json
import os
import socket
import threading


def _talk(name, data, is_wait):
    conn = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with conn:
        conn.connect(os.environ["TEST_GATE"])
        message = {"name": name, "data": data, "wait": is_wait, "thread": threading.current_thread().name}
        conn.sendall(json.dumps(message).encode() + b"\n")
        with conn.makefile("rb") as file:
            line = file.readline()
    return json.loads(line) if line else None


def wait(name, data=None):
    """Stands at the gate until the test releases it; its answer."""
    return _talk(name, data, True)


def note(name, data=None):
    """Tells the test, and goes on."""
    _talk(name, data, False)
