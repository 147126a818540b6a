# SPDX-License-Identifier: Apache-2.0
"""wsgiref.validate finds nothing."""
from pathlib import Path

import pytest
from harness.fixtures import module_server

server = module_server(Path(__file__).parent / "apps" / "validated.py", threads=1, script_name="")
mounted = module_server(Path(__file__).parent / "apps" / "validated.py", threads=1, script_name="/mounted")


@pytest.mark.parametrize("method, target, body, expected", [
    ("GET", "/", b"", b"plain"),
    ("GET", "/plain?a=b", b"", b"plain"),
    ("POST", "/read", b"first\nsecond\nthird", b"first\nsecond\nthird"),
    ("POST", "/iterate", b"a\nb\n", b"a\nb\n"),
    ("PUT", "/iterate", b"", b""),
    ("GET", "/write", b"", b"written returned"),
    ("GET", "/exc-info", b"", b"error page"),
    ("GET", "/generator", b"", b"abc"),
    ("GET", "/no-content", b"", b""),
    ("HEAD", "/", b"", b""),
    ("OPTIONS", "/", b"", b"plain"),
])
def test_the_validator_finds_nothing(server, method, target, body, expected):
    with server.connect() as conn:
        for version in ("1.1", "1.1", "1.0"):
            if version == "1.0":
                conn = server.connect()
            conn.request(method, target, body=body, version=version)
            response = conn.read_response(method)
            assert response.status in (200, 204) or target == "/exc-info", server.log()
            assert response.body == expected


def test_the_validator_finds_nothing_below_a_script_name(mounted):
    assert mounted.get("/mounted/read", "POST", body=b"abcdef").body == b"abcdef"
    assert mounted.get("/mounted").body == b"plain"


def test_wsgi_errors_under_the_validator(ringtail):
    server = ringtail(Path(__file__).parent / "apps" / "validated.py", threads=1)
    server.expect(r"[^\n]*error: validated( too)?\n")
    assert server.get("/errors").body == b"errors"
    server.wait_log("validated too")
