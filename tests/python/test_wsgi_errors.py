# SPDX-License-Identifier: Apache-2.0
"""wsgi.errors: complete lines of the application in the error log."""
import re
from pathlib import Path

import pytest

APP = Path(__file__).parent / "apps" / "views.py"
ENTRY = r"\d{4}-\d\d-\d\d [0-9:.]+ ringtail\[\d+\] error: "


@pytest.fixture
def server(ringtail):
    server = ringtail(APP, threads=1)
    server.expect(r"(?s:.*)")
    return server


def test_lines_are_entries_of_the_log(server):
    assert "needs str, not bytes" in server.get("/errors").text
    server.wait_log("left open")
    entries = re.findall(rf"^{ENTRY}(.*)$", server.log(), re.MULTILINE)
    assert entries == ["one line", "first and second half", "from a list", "unfinishedprinted 5", r"caf\xe9 ".replace(r"\xe9", "\xe9") +
                       "\u20ac " + r"\udc80", "left open"]


def test_a_traceback_logged_through_it_stays_whole(server):
    assert server.get("/errors-logging").text == "logged"
    match = server.wait_log(rf"{ENTRY}trouble\nTraceback \(most recent call last\):\n(?s:.*?)KeyError: 'logged by the application'\n")
    assert len(re.findall(ENTRY, match.group())) == 1
