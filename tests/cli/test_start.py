# SPDX-License-Identifier: Apache-2.0
"""From the command to the first answer: the start-up line, addresses, surroundings, and what stops a start (status 1 or 78)."""
import json
import os
import re
import socket
import stat
import subprocess
import sys

import pytest

from harness import wait_for
from harness.server import Server, binary, run

ECHO = """
import os, sys, json
def application(environ, start_response):
    what = {
        "env": {key: value for key, value in os.environ.items() if key.startswith(("X_", "LISTEN"))},
        "cwd": os.getcwd(),
        "umask": os.umask(0),
        "stdin": os.readlink("/proc/self/fd/0"),
        "nofile": __import__("resource").getrlimit(7),
        "path0": sys.path[0],
    }
    os.umask(what["umask"])
    body = json.dumps(what).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
"""


@pytest.fixture
def app(tmp_path):
    path = tmp_path / "echo_app.py"
    path.write_text(ECHO, encoding="utf-8")
    return str(path)


def ask(server, **options):
    return json.loads(server.get("/", **options).body)


# --- the start-up line


def test_the_start_line_says_what_where_and_with_what(ringtail, app):
    server = ringtail(app, threads=3)
    version = f"{sys.version_info.major}."
    assert re.fullmatch(rf"ringtail \d+\.\d+\.\d+: serving \S*echo_app.py:application on http://127\.0\.0\.1:{server.port} "
                        rf"\(Python {version}\d+\.\d+[^,]*, 1 worker, threads 3(, pool-parallel)?\)", server.start_line), server.start_line


def test_nothing_else_is_printed(ringtail, app):
    server = ringtail(app)
    assert server.get("/").status == 200
    server.stop()
    assert server.out() == "" and server.log() == server.start_line + "\n"


def test_the_null_application_answers_without_python(ringtail):
    server = ringtail("null:", threads=2, threads_max=5)
    assert "Python" not in server.start_line and "threads 2..5)" in server.start_line
    assert server.get("/any").status == 200


def test_views_on_the_loop_thread(ringtail, app):
    server = ringtail(app, threads=0)
    assert "views run on the loop thread" in server.start_line
    assert server.get("/").status == 200
    assert server.handlers() == 0


# --- addresses


def test_several_addresses_are_all_named_and_served(ringtail, app, tmp_path):
    path = tmp_path / "sock"
    server = ringtail(app, bind=["127.0.0.1:0", f"unix:{path},mode=0600"])
    assert f", unix:{path} " in server.start_line
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    server.get("/")
    server.address = str(path)
    server.get("/")
    server.stop()
    assert not path.exists()


def test_a_unix_socket_of_a_killed_server_is_taken_over(ringtail, app, tmp_path):
    path = tmp_path / "sock"
    first = ringtail(app, bind=f"unix:{path}")
    first.kill()
    assert path.exists()
    ringtail(app, bind=f"unix:{path}").get("/")


def test_a_port_of_a_killed_server_is_taken_over_at_once(ringtail, app):
    """Its ring keeps the socket open for a moment after the process has gone."""
    first = ringtail(app)
    for _ in range(5):
        first.kill()
        first = ringtail(app, bind=f"127.0.0.1:{first.port}")
        first.get("/")


def test_a_unix_socket_that_is_served_is_left_alone(ringtail, app, tmp_path):
    path = tmp_path / "sock"
    server = ringtail(app, bind=f"unix:{path}")
    status, out, err = run("--bind", f"unix:{path}", app)
    assert (status, out) == (1, "")
    assert err == (f"ringtail: cannot listen on unix:{path}: another process serves this socket (ss -lxp 'src {path}' shows which; "
                   "or give another path)\n")
    server.get("/")


def test_a_port_in_use_is_told_before_the_application_is_imported(ringtail, app, tmp_path):
    server = ringtail(app)
    (tmp_path / "slow_app.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    status, out, err = run("--bind", f"127.0.0.1:{server.port}", str(tmp_path / "slow_app.py"))
    assert (status, out) == (1, "")
    assert err == (f"ringtail: cannot listen on 127.0.0.1:{server.port}: address already in use (ss -ltnp 'sport = :{server.port}' "
                   "shows by whom; or give another --bind)\n")


@pytest.mark.parametrize("bind,message", [
    ("192.0.2.1:0", "cannot listen on 192.0.2.1:0: the address is none of this machine's"),
    ("no-such-host.invalid:80", "cannot listen on no-such-host.invalid:80: the name no-such-host.invalid is not resolved: "),
    ("unix:/nonexistent/s", "cannot listen on unix:/nonexistent/s: there is no folder /nonexistent (make it; "),
    ("fd:99", "cannot listen on fd:99: there is no such descriptor ("),
])
def test_an_address_that_cannot_be_had_is_one_message_and_status_1(app, bind, message):
    status, out, err = run("--bind", bind, app)
    assert (status, out) == (1, "")
    assert err.startswith("ringtail: " + message) and err.count("\n") == 1, err


def started(argv, fds=(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE):
    """A ringtail that is started by hand."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("RINGTAIL_")}
    return subprocess.Popen(argv, pass_fds=fds, stdin=stdin, stdout=subprocess.DEVNULL, stderr=stderr, text=True, env=env)


def http(address):
    with socket.create_connection(address, 10) as conn:
        conn.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        data = b""
        while piece := conn.recv(65536):
            data += piece
    return data


def test_an_inherited_socket_is_served_by_fd(app):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = started([binary(), "--bind", f"fd:{listener.fileno()}", app], fds=[listener.fileno()])
        try:
            assert f"http://127.0.0.1:{listener.getsockname()[1]} " in process.stderr.readline()
            assert http(listener.getsockname()).startswith(b"HTTP/1.1 200 OK\r\n")
        finally:
            process.terminate()
            assert process.wait(30) == 0
            process.stderr.close()


# As systemd does it: the socket is descriptor 3, LISTEN_PID the daemon's own.
PASS = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="web")
os.execv(sys.argv[2], sys.argv[2:])
"""


def test_sockets_of_systemd_are_taken_and_the_variables_unset(app):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = started([sys.executable, "-c", PASS, str(listener.fileno()), binary(), app], fds=[listener.fileno()])
        try:
            line = process.stderr.readline()
            assert f" on http://127.0.0.1:{listener.getsockname()[1]} (" in line, line
            answer = http(listener.getsockname())
            assert b'"env": {}' in answer, answer
        finally:
            process.terminate()
            assert process.wait(30) == 0
            process.stderr.close()


# --- surroundings


def test_variables_come_from_env_over_env_file_over_what_was_there(app, tmp_path):
    (tmp_path / "env").write_text("# c\nX_A=file\nX_B='file two'\nexport X_C=file\n", encoding="utf-8")
    with Server(app, "--env", "X_C=flag", "--env-file", "env", cwd=tmp_path, env={"X_A": "there", "X_D": "there"}) as server:
        assert ask(server)["env"] == {"X_A": "file", "X_B": "file two", "X_C": "flag", "X_D": "there"}


@pytest.mark.parametrize("text,message", [
    ("X\n", "1: this is neither NAME=VALUE nor a comment"),
    ("A=1\n1=1\n", "2: the name of a variable begins with a letter or _"),
    ("A='x\n", "1: the value begins with a quote that is not closed at its end"),
])
def test_a_wrong_env_file(app, tmp_path, text, message):
    path = tmp_path / "env"
    path.write_text(text, encoding="utf-8")
    assert run("--env-file", str(path), app) == (78, "", f"ringtail: {path}:{message}\n")


def test_an_env_file_that_is_not_there(app):
    assert run("--env-file", "/nonexistent", app) == \
        (64, "", "ringtail: --env-file: cannot read /nonexistent: No such file or directory\n")
    assert run(app, env={"RINGTAIL_ENV_FILE": "/"}) == \
        (78, "", "ringtail: environment variable RINGTAIL_ENV_FILE: cannot read /: Is a directory\n")


def test_chdir_and_umask(ringtail, app, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    server = ringtail(app, chdir=str(folder), umask="027")
    seen = ask(server)
    assert seen["cwd"] == str(folder) and seen["umask"] == 0o027
    server.stop()


def test_a_folder_that_is_not_there_is_told_with_its_place(app, tmp_path):
    message = "cannot change to the folder /nonexistent: No such file or directory\n"
    assert run("--chdir", "/nonexistent", app) == (64, "", f"ringtail: --chdir: {message}")
    (tmp_path / "x.ini").write_text("[ringtail]\nchdir = /nonexistent\n", encoding="utf-8")
    assert run("--config", str(tmp_path / "x.ini"), app) == (78, "", f"ringtail: {tmp_path}/x.ini:2: chdir: {message}")


def test_standard_input_is_the_applications_in_debug_only(app):
    for flags, is_kept in ((["--debug"], True), ([], False)):
        process = started([binary(), *flags, "--bind", "127.0.0.1:0", app], stdin=subprocess.PIPE)
        try:
            line = process.stderr.readline()
            port = int(re.search(r":(\d+) ", line)[1])
            assert bool(re.search(r"threads 1[,)]", line)) >= is_kept
            assert (b'"stdin": "pipe:' in http(("127.0.0.1", port))) == is_kept
        finally:
            process.terminate()
            assert process.wait(30) == 0
            process.stdin.close()
            process.stderr.close()


def test_the_limit_of_open_files_cuts_max_connections_and_says_so(app):
    server = Server(app, wrapper=["prlimit", "--nofile=100:1000"])
    with server:
        assert re.search(r"warning: max-connections is \d+: the limit of open files is 1000 \(ulimit -Hn; in a systemd unit: LimitNOFILE=\)",
                         server.log())
        assert ask(server)["nofile"] == [1000, 1000]


def test_closed_standard_descriptors_are_not_given_to_sockets(app, tmp_path):
    path = tmp_path / "sock"
    process = started(["/bin/sh", "-c", f'exec "{binary()}" --bind unix:{path} "{app}" <&- >&- 2>&-'], stderr=subprocess.DEVNULL)
    try:
        wait_for(path.exists, "the unix socket")
        def is_null(fd):
            return os.readlink(f"/proc/{process.pid}/fd/{fd}") == "/dev/null"
        assert all(is_null(fd) for fd in range(3))
    finally:
        process.terminate()
        assert process.wait(30) == 0


@pytest.mark.parametrize("option", ["--access-log", "--error-log"])
@pytest.mark.parametrize("where,why", [
    ("/nonexistent/log", "No such file or directory (its folder does not exist: create it)"),
    ("/", "Is a directory (it is a folder: name a file in it)"),
    ("FIFO", "No such device or address (nobody reads the FIFO: start its reader first)"),
    ("FOLDER/", "Is a directory (it is a folder: name a file in it)"),
])
def test_a_log_that_cannot_be_opened_stops_start_and_check_in_the_same_words(app, tmp_path, option, where, why):
    os.mkfifo(tmp_path / "fifo")
    where = where.replace("FIFO", str(tmp_path / "fifo")).replace("FOLDER", str(tmp_path / "none"))
    for more in ([], ["--check"]):
        status, out, err = run(option, where, "--bind", "127.0.0.1:0", *more, app)
        assert (status, out) == (1, "")
        assert f"error: cannot open the {option[2:]} {where}: {why}\n" in err and err.count("\n") == 1, err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_check_finds_a_log_folder_that_the_user_may_not_write_to(app, tmp_path):
    (tmp_path / "log").mkdir(mode=0o755)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", binary(), "--access-log", f"{tmp_path}/log/access", "--check", app]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"cannot open the access-log {tmp_path}/log/access: Permission denied (the user" in done.stderr, done.stderr


def test_check_leaves_no_log_behind_and_one_that_is_there_alone(app, tmp_path):
    (tmp_path / "error").write_text("before\n", encoding="utf-8")
    status, _, err = run("--access-log", f"{tmp_path}/access", "--error-log", f"{tmp_path}/error", "--check", app)
    assert (status, err) == (0, "")
    assert not (tmp_path / "access").exists()
    assert (tmp_path / "error").read_text() == "before\n"


def test_a_wrong_access_log_format_is_told_with_its_place(app, tmp_path):
    message = "unknown variable $statuss; the nearest is $status\n"
    assert run("--access-log-format", "$statuss", "--check", app) == (64, "", f"ringtail: --access-log-format: {message}")
    assert run("--check", app, env={"RINGTAIL_ACCESS_LOG_FORMAT": "$statuss"}) == \
        (78, "", f"ringtail: environment variable RINGTAIL_ACCESS_LOG_FORMAT: {message}")
    (tmp_path / "x.ini").write_text("[ringtail]\naccess-log-format = $statuss\n", encoding="utf-8")
    assert run("--check", "--config", str(tmp_path / "x.ini"), app) == \
        (78, "", f"ringtail: {tmp_path}/x.ini:2: access-log-format: {message}")


# --- check


def test_check_imports_the_application_and_listens_on_nothing(ringtail, app):
    server = ringtail(app)
    status, out, err = run("--check", "--bind", f"127.0.0.1:{server.port}", app)
    assert (status, err) == (0, "")
    assert re.fullmatch(r"ringtail: the configuration is good, and \S*echo_app.py:application can be served by Python 3\.\S+( without the GIL)?\n", out), out


def test_check_fails_with_the_traceback_of_the_import(tmp_path):
    (tmp_path / "broken_app.py").write_text("import no_such_module_at_all\n", encoding="utf-8")
    status, out, err = run("--check", str(tmp_path / "broken_app.py"))
    assert (status, out) == (1, "")
    assert "ModuleNotFoundError: No module named 'no_such_module_at_all'" in err
    status, out, err = run("--bind", "127.0.0.1:0", str(tmp_path / "broken_app.py"))
    assert (status, out) == (1, "") and "no_such_module_at_all" in err


def test_check_prints_the_configuration_too(app):
    status, out, _ = run("--check", "--print-config", app)
    assert status == 0
    assert out.startswith("app ") and out.splitlines()[-1].startswith("ringtail: the configuration is good")


def test_an_application_that_is_not_there(tmp_path):
    status, out, err = run("--check", "no_such_module_at_all", cwd=tmp_path)
    assert (status, out) == (1, "")
    assert "no_such_module_at_all" in err
