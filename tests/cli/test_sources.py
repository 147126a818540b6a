# SPDX-License-Identifier: Apache-2.0
"""Where values come from: flag, environment, file, $PORT, default; and what is said of a wrong one (status 78)."""
import os
import subprocess

import pytest

from harness.server import binary, run


def shown(*args, **options):
    """--print-config as {name: [(value, origin), ...]}."""
    status, out, err = run("--print-config", *args, **options)
    assert (status, err) == (0, ""), err
    found = {}
    for line in out.splitlines():
        found.setdefault(line[:22].rstrip(), []).append((line[24:48].rstrip(), line[50:]))
    return found


@pytest.fixture
def ini(tmp_path):
    """Writes [ringtail] with these lines; the file's path."""
    def write(text, section="[ringtail]\n"):
        path = tmp_path / "x.ini"
        path.write_text(section + text, encoding="utf-8")
        return str(path)
    return write


def fails(*args, **options):
    status, out, err = run(*args, **options)
    assert (status, out) == (78, ""), err
    assert err.startswith("ringtail: ") and err.count("\n") == 1, err
    return err[len("ringtail: "):-1]


def test_every_option_is_printed_with_value_unit_and_origin():
    found = shown()
    assert found["bind"] == [("127.0.0.1:8000", "default")]
    assert found["backlog"] == [("2048 connections", "default")]
    assert found["max-body"] == [("16m", "default")]
    assert found["pool-wake-age"] == [("200us", "default")]
    assert found["idle-timeout"] == [("75s", "default")]
    assert found["threads-max"] == [("64 threads", "default")]
    assert found["server-header"] == [("on", "default")]
    assert found["venv"] == [("(not given)", "default")]
    _, text, _ = run("--help")
    for name in found:
        assert name in text


def test_flag_goes_before_environment_before_file_before_default(ini):
    path = ini("backlog = 1\nmax-headers = 1\nqueue-size = 1\n")
    found = shown("--config", path, "--backlog", "3", env={"RINGTAIL_BACKLOG": "2", "RINGTAIL_MAX_HEADERS": "2"})
    assert found["backlog"] == [("3 connections", "--backlog")]
    assert found["max-headers"] == [("2 headers", "environment variable RINGTAIL_MAX_HEADERS")]
    assert found["queue-size"] == [("1 request", f"{path}:4")]


def test_a_stronger_list_replaces_a_weaker_one(ini):
    path = ini("bind = :1\nbind = :2\n")
    assert [value for value, _ in shown("--config", path)["bind"]] == [":1", ":2"]
    assert [value for value, _ in shown("--config", path, "-b", ":3", "-b:4")["bind"]] == [":3", ":4"]


def test_port_of_the_platform(ini):
    assert shown(env={"PORT": "5000"})["bind"] == [("0.0.0.0:5000", "environment variable PORT")]
    assert shown("--config", ini("bind = :1\n"), env={"PORT": "5000"})["bind"][0][0] == ":1"
    assert fails("a", env={"PORT": "x"}) == \
        "environment variable PORT: 'x' is not a whole number (1 to 65535) (unset it, or give --bind)"


def test_threads_max_is_threads_when_only_threads_is_given():
    assert shown("--threads", "3")["threads-max"] == [("3 threads", "from threads")]


def test_threads_follow_the_allowed_cpus():
    cpu = str(min(os.sched_getaffinity(0)))
    one = subprocess.run(["taskset", "-c", cpu, binary(), "--print-config"], capture_output=True, text=True, check=True,
                         env={"PATH": os.environ["PATH"]}).stdout
    assert next(line.split()[1] for line in one.splitlines() if line.startswith("threads ")) == "1"


def test_debug_is_one_thread_without_timeouts():
    found = shown("--debug")
    assert found["threads"] == found["threads-max"] == [("1 thread", "from debug")]
    for name in ("header-timeout", "body-timeout", "idle-timeout", "write-timeout"):
        assert found[name] == [("0", "from debug")]


def test_the_application_and_the_file_may_come_from_the_environment(ini):
    path = ini("app = from:file\n")
    assert shown(env={"RINGTAIL_CONFIG": path})["app"] == [("from:file", f"{path}:2")]
    assert shown(env={"RINGTAIL_CONFIG": path, "RINGTAIL_APP": "x"})["app"] == [("x", "environment variable RINGTAIL_APP")]
    assert shown("y", env={"RINGTAIL_APP": "x"})["app"] == [("y", "argument")]


def test_values_are_kept_whole(ini):
    text = '$remote_addr ; "$request" # $status ' + "$http_x_" * 60
    found = shown("--config", ini(f"\n\naccess-log-format = {text}\nbacklog = 5\n"))
    assert found["backlog"] == [("5 connections", found["backlog"][0][1])] and found["backlog"][0][1].endswith(":5")
    status, out, _ = run("--print-config", "--config", ini(f"access-log-format = {text}\n"))
    assert status == 0 and text.strip() in out


@pytest.mark.parametrize("text,message", [
    ("thred = 1\n", "2: unknown option 'thred' (did you mean 'threads'?)"),
    ("\nthreads = x\n", "3: threads: 'x' is not a whole number (0 to 1024)"),
    ("# c\nmax-body = 1q\n", "3: max-body: '1q': unknown unit 'q' (sizes take k, m, g)"),
    ("backlog=1\nbacklog=2\n", "3: 'backlog' was given in line 2 already, and takes one value"),
    ("nonsense\n", "2: this is neither [ringtail], a comment, nor 'key = value'"),
    ("env = A=" + "x" * 9000 + "\n", "2: the line is longer than 8192 bytes (lists may be given by repeating the key)"),
    ("certfile = x\n", "2: unknown option 'certfile': ringtail does not speak TLS: let nginx, HAProxy or Caddy do it in front, and "
                       "name it in --trusted-proxies"),
])
def test_a_wrong_file_is_named_with_its_line(ini, text, message):
    path = ini(text)
    assert fails("a", "--config", path) == f"{path}:{message}"


def test_wrong_sections(ini):
    path = ini("bind=:1\n", section="")
    assert fails("--config", path) == f"{path}:1: an option outside of a section: put a line [ringtail] above it"
    path = ini("bind=:1\n", section="[uwsgi]\n")
    assert fails("--config", path) == f"{path}:2: unknown section [uwsgi] (options stand in [ringtail])"


def test_a_file_may_be_a_pipe():
    command = f"printf '[ringtail]\\nbacklog = 7\\n' | '{binary()}' --config /dev/stdin --print-config"
    out = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]}).stdout
    assert "7 connections             /dev/stdin:2\n" in out


def test_a_file_that_cannot_be_read(tmp_path):
    assert fails("--config", "/nonexistent.ini") == \
        "cannot read the configuration /nonexistent.ini: there is no such file (--config and RINGTAIL_CONFIG name it)"
    assert fails("--config", str(tmp_path)) == f"cannot read the configuration {tmp_path}: Is a directory"


@pytest.mark.parametrize("name,value,message", [
    ("RINGTAIL_THREDS", "1", "unknown option (did you mean RINGTAIL_THREADS?)"),
    ("RINGTAIL_ZZZZZZZ", "1", "unknown option (variables that begin with RINGTAIL_ are ringtail's: rename or unset it)"),
    ("RINGTAIL_THREADS", "x", "'x' is not a whole number (0 to 1024)"),
    ("RINGTAIL_MAX_BODY", "1x", "'1x': unknown unit 'x' (sizes take k, m, g)"),
    ("RINGTAIL_SERVER_HEADER", "x", "'x' is neither on nor off (also true, false, yes, no, 1, 0)"),
    ("RINGTAIL_BIND", "x", "'x' names no port (x:8000?)"),
])
def test_a_wrong_variable_is_named(name, value, message):
    assert fails("a", env={name: value}) == f"environment variable {name}: {message}"


def test_an_empty_variable_counts_as_not_set():
    assert shown(env={"RINGTAIL_THREADS": "", "RINGTAIL_BIND": ""})["bind"][0][1] == "default"


def test_the_message_names_both_places_of_a_contradiction(ini):
    path = ini("threads-max = 2\n")
    assert run("a", "--config", path, "-t", "4")[::2] == \
        (64, f"ringtail: --threads: threads 4 is more than threads-max (2, {path}:2)\n")
    assert fails("a", "--config", path, env={"RINGTAIL_THREADS": "4"}) == \
        f"environment variable RINGTAIL_THREADS: threads 4 is more than threads-max (2, {path}:2)"
