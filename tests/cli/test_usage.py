# SPDX-License-Identifier: Apache-2.0
"""Flags: what each form means, and the one message and status 64 of each that is wrong."""
import os
import re
from pathlib import Path

import pytest

from harness.server import run


def fails(*args, status=64, **options):
    """The one line that a wrong start says, without its beginning."""
    code, out, err = run(*args, **options)
    assert code == status, err
    assert out == ""
    assert err.startswith("ringtail: ") and err.endswith("\n") and err.count("\n") == 1, err
    return err[len("ringtail: "):-1]


def test_help_is_readable_at_80_columns_and_goes_before_every_error():
    status, out, err = run("--nonsense", "--help")
    assert (status, err) == (0, "")
    assert out.startswith("Usage: ringtail [OPTION]... APP\n")
    assert max(map(len, out.splitlines())) <= 80
    assert run("-h") == (0, out, "")


def test_help_says_what_exists_for_measuring():
    _, out, _ = run("--help")
    text = " ".join(out.split())
    assert "null: a fixed answer without Python, to measure the server alone" in text
    assert "0 = views on the loop thread: only for measuring" in text


def test_version():
    status, out, err = run("--version")
    assert (status, err) == (0, "")
    assert out.startswith("ringtail 0.") and "(Python 3." in out and out.count("\n") == 1


def test_the_manual_tells_every_variable_of_the_access_log_and_leaves_no_mark():
    manual = Path(os.environ.get("builddir", "."), "docs/ringtail.1")
    if not manual.exists():
        pytest.skip("the manual is not built here")
    text = manual.read_text(encoding="utf-8")
    table = (Path(__file__).parents[2] / "daemon/access_variables.def").read_text(encoding="utf-8")
    names = re.findall(r"^(?:VARIABLE|STAGE)\((\w+),", table, re.M)
    assert len(names) > 30
    for name in names:
        assert text.count(f"\n.B ${name}\n") == 1, name
    assert not re.search(r"@[A-Z]+@", text)
    assert '"gil_wait_us":$gil_wait_us' in text


WRONG = [
    ([], "no application given: name one, as in 'ringtail mysite.wsgi:application' or 'ringtail app.py' (see ringtail --help)"),
    (["a", "b"], "unexpected argument 'b': the application is 'a' already, and one daemon serves one"),
    (["--thread", "2", "a"], "--thread: unknown option (did you mean --threads?)"),
    (["--max_body=1", "a"], "--max_body: unknown option (did you mean --max-body?)"),
    (["-bind", ":80", "a"], "-bind: unknown option (did you mean --bind?)"),
    (["a", "--threads"], "--threads: a value is missing (--threads N)"),
    (["a", "-t", "x"], "-t: 'x' is not a whole number (0 to 1024)"),
    (["a", "--threads=2000"], "--threads: 2000 is out of range (0 to 1024)"),
    (["a", "-t", "4", "--threads-max", "2"], "--threads-max: threads-max 2 is less than threads (4, --threads)"),
    (["a", "--max-body", "1x"], "--max-body: '1x': unknown unit 'x' (sizes take k, m, g)"),
    (["a", "--idle-timeout", "10sec"],
     "--idle-timeout: '10sec': unknown unit 'sec' (times take us, ms, s, m, h; did you mean '10s'?)"),
    (["a", "--pool-wake-age", "200"], "--pool-wake-age: 200s (without a unit: seconds) is out of range (1us to 1s)"),
    (["a", "--pool-elastic", "sharde"], "--pool-elastic: 'sharde' is none of on, off, shared (did you mean 'shared'?)"),
    (["a", "--server-header=maybe"], "--server-header: 'maybe' is neither on nor off (also true, false, yes, no, 1, 0)"),
    (["a", "--server-header", "off"], "--server-header: the value of a switch is joined to it: write --server-header=off"),
    (["a", "--bind", "8000"], "--bind: '8000': write :8000 for all addresses, or 127.0.0.1:8000"),
    (["a", "--bind", "[::1]"], "--bind: '[::1]' is not of the form [ADDRESS]:PORT"),
    (["a", "--umask", "9"], "--umask: '9' is not an octal number (0 to 777)"),
    (["a", "--script-name", "blog"], "--script-name: 'blog' does not begin with '/' (as in /blog)"),
    (["a", "--trusted-proxies", "10.0.0.0/33"], "--trusted-proxies: '10.0.0.0/33' is no network (10.0.0.0/8, ::1) and not unix"),
    (["a", "--env", "X"], "--env: 'X' is not of the form NAME=VALUE"),
    (["a", "--debug", "--threads", "2"],
     "--threads: 2 does not go together with debug, which means one thread: leave one of them out"),
    (["a", "--doctor", "--check"], "--check: does not go together with --doctor: give one of them"),
    (["-"], "'-': an application cannot be read from standard input; give a file"),
]


@pytest.mark.parametrize("args,message", WRONG, ids=[" ".join(args) or "nothing" for args, _ in WRONG])
def test_wrong_usage_is_one_message_and_status_64(args, message):
    assert fails(*args) == message


@pytest.mark.parametrize("flag,remedy", [
    ("--certfile", "ringtail does not speak TLS: let nginx, HAProxy or Caddy do it in front"),
    ("--ssl-keyfile=x", "ringtail does not speak TLS"),
    ("--asgi", "for an ASGI application use uvicorn or granian"),
    ("--worker-class=gevent", "threads that grow in number"),
    ("-k", "threads that grow in number"),
    ("--workers=4", "for more processes start more instances"),
    ("-w4", "for more processes start more instances"),
    ("--timeout=30", "there is no limit on a view's time"),
    ("--reload", "restart ringtail after a change"),
    ("--forwarded-allow-ips=*", "--trusted-proxies"),
    ("--access-logfile=-", "--access-log"),
])
def test_options_of_other_servers_name_the_remedy(flag, remedy):
    message = fails("a", flag)
    assert "unknown option: " in message and remedy in message


def test_an_option_that_is_not_built_is_unknown():
    for name in ("queue-timeout", "request-timeout", "drain-delay", "static", "admin", "engine", "hooks", "realtime"):
        assert f"--{name}: unknown option" in fails("a", f"--{name}=1")
