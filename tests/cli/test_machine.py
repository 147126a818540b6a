# SPDX-License-Identifier: Apache-2.0
"""What the machine allows: --doctor, and a start where io_uring is refused."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import DEADLINE
from harness.server import binary, run

REFUSE = str(Path(__file__).with_name("refuse.py"))


def refused(error, *args):
    env = {name: value for name, value in os.environ.items() if not name.startswith("RINGTAIL_")}
    done = subprocess.run([sys.executable, REFUSE, error, binary(), *args], capture_output=True, text=True, check=False,
                          timeout=DEADLINE, stdin=subprocess.DEVNULL, env=env)
    if done.returncode == 77:
        pytest.skip("seccomp filters cannot be made here")
    return done


def test_doctor_gives_each_thing_a_verdict_and_a_remedy_where_it_is_missing():
    status, out, err = run("--doctor")
    assert err == ""
    *lines, blank, verdict = out.splitlines()
    assert blank == ""
    assert verdict.startswith("ringtail can serve" if status == 0 else "ringtail cannot serve") and status in (0, 1)
    for line, after in zip(lines, lines[1:] + [""]):
        assert line[:9] in ("ok       ", "missing  ") or line.startswith("         -> "), line
        assert line.startswith("missing") == after.startswith("         -> "), line
    names = [line[9:].split(":")[0] for line in lines if not line.startswith("         ")]
    for name in ("kernel", "kernel.io_uring_disabled", "seccomp", "io_uring", "locked memory", "open files", "net.core.somaxconn",
                 "CPUs", "Python", "rights for BPF"):
        assert name in names


def test_doctor_looks_at_the_options_values():
    _, out, _ = run("--doctor", "--backlog", "1000000")
    assert "cuts backlog 1000000\n         -> sysctl -w net.core.somaxconn=1000000\n" in out


@pytest.mark.parametrize("error,why,remedy", [
    ("EPERM", "Operation not permitted", "seccomp profile"),
    ("ENOSYS", "Function not implemented", "seccomp profile"),
    ("ENOMEM", "Cannot allocate memory", "ulimit -l unlimited"),
])
def test_doctor_names_cause_and_remedy_of_a_refused_ring(error, why, remedy):
    done = refused(error, "--doctor")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    at = lines.index(f"missing  io_uring: io_uring_setup: {why}")
    assert remedy in lines[at + 1] and lines[at + 1].startswith("         -> ")
    assert lines[-1].startswith("ringtail cannot serve on this machine")


@pytest.mark.parametrize("error", ["EPERM", "ENOSYS"])
def test_a_refused_ring_is_one_message_and_status_1(error):
    done = refused(error, "null:", "--bind", "127.0.0.1:0")
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line]
    assert len(lines) == 1, done.stderr
    assert "io_uring" in lines[0]
    assert "serving" not in done.stdout + done.stderr
