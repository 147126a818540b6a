# SPDX-License-Identifier: Apache-2.0
"""The harness of the black-box tests: a server process, raw connections, gates.

Nothing here sleeps to synchronise: every wait names a state and has a deadline.
RINGTAIL is the daemon's binary; RINGTAIL_TEST_SCALE stretches all deadlines (sanitizer builds, Valgrind).
"""
from .client import Connection, ProtocolError, Response, connect, parse_responses
from .gate import Gate
from .server import Server, binary, free_port
from .wait import DEADLINE, SCALE, wait_for

__all__ = [
    "Connection", "DEADLINE", "Gate", "ProtocolError", "Response", "SCALE", "Server", "binary", "connect", "free_port",
    "parse_responses", "wait_for",
]
