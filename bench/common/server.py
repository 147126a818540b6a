# SPDX-License-Identifier: Apache-2.0
"""A server of an arm, on its CPUs, and the client that loads it."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from . import cpu
from .arms import APPS

START_SECONDS = 20
STOP_SECONDS = 10


class CannotServe(Exception):
    """The arm does not start, or does not answer; its message ends with the server's last words."""


def free_port():
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def clean_environment():
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("RINGTAIL_", "GUNICORN_", "GRANIAN_", "M0_", "UWSGI_"))}
    for name in ("PORT", "WEB_CONCURRENCY", "VIRTUAL_ENV", "PYTHONPATH", "DJANGO_SETTINGS_MODULE"):
        environ.pop(name, None)
    environ["PYTHONDONTWRITEBYTECODE"] = "1"
    return environ


def place(cpus, priority):
    """For the child before it executes: its CPUs, and (where sessions are scheduled as groups) its session's priority."""
    def run():
        os.sched_setaffinity(0, cpus)
        if priority:
            os.setpriority(os.PRIO_PROCESS, 0, priority)
            try:
                with open("/proc/self/autogroup", "w", encoding="ascii") as file:
                    file.write(str(priority))
            except FileNotFoundError:
                pass
    return run


class Server:
    """Answers when the constructor returns. A context: it is stopped at its end."""

    def __init__(self, arm, module, cpus, bench):
        self.arm = arm
        self.output = None
        self.port = free_port()
        self.dir = tempfile.mkdtemp(prefix="ringtail-bench-")
        self.log_path = os.path.join(self.dir, "log")
        environ = clean_environment()
        if arm.kind == "peer":
            # m0serve asks the python of the path.
            environ["PATH"] = os.path.join(bench.peers.dir, "bin") + ":" + environ.get("PATH", "")
        argv = arm.argv(self.port, module, self.dir)
        begun = time.monotonic()
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(argv, cwd=APPS, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, preexec_fn=place(cpus, bench.options.nice))
        try:
            self._wait_ready()
            self.ready_seconds = time.monotonic() - begun  # seen within 2 ms
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _wait_ready(self):
        deadline = time.monotonic() + START_SECONDS
        answer = b""
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise CannotServe(f"ended with status {self.process.returncode}: {self.last_words()}")
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=2) as probe:
                    probe.sendall(b"GET / HTTP/1.1\r\nHost: bench.localhost\r\nConnection: close\r\n\r\n")
                    answer = b""
                    while piece := probe.recv(65536):
                        answer += piece
                        if b"Hello, world!" in answer:
                            return
            except OSError:
                pass
            time.sleep(0.002)
        raise CannotServe(f"no answer within {START_SECONDS} s (last: {answer[:200]!r}): {self.last_words()}")

    def last_words(self):
        lines = self.log().strip().splitlines()
        return lines[-1][:300] if lines else "it printed nothing"

    def log(self):
        if self.output is not None:
            return self.output
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def cpu(self):
        return cpu.thread_times(self.process.pid)

    def stop(self):
        """Ends the session, once; returns what the server printed."""
        if self.output is not None:
            return self.output
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                pass
        for pid in cpu.processes_of(self.process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.output = self.log()
        shutil.rmtree(self.dir, ignore_errors=True)
        return self.output


class Load:
    """bench/load: connected to one server. One command, one answer (a dict)."""

    def __init__(self, bench, server, cpus, connections, headers="browser", path="/", slow_path="/slow", sleeps=False):
        argv = [os.path.join(bench.programs, "load"), "--port", str(server.port), "--connections", str(connections), "--headers", headers,
                "--path", path, "--slow-path", slow_path]
        if sleeps:
            argv.append("--wait")
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
                                        preexec_fn=place(cpus, bench.options.nice))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ask(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            raise CannotServe(f"the client ended at '{command}' with status {self.process.wait()}")
        return json.loads(line)

    def closed(self, requests, seconds):
        return self.ask(f"closed {requests} {seconds}")

    def open(self, rate, seconds):
        return self.ask(f"open {rate} {seconds}")

    def idle(self, count):
        """How many of count more connections the server keeps open."""
        return self.ask(f"idle {count}")["idle"]

    def slow(self, count):
        return self.ask(f"slow {count}")

    def cpu_seconds(self):
        return sum(ns for _, ns in cpu.thread_times(self.process.pid).values()) / 1e9


WRK_UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def wrk(bench, server, cpus, connections, seconds):
    """The same figures from wrk, which sleeps when nothing comes and sends its own few headers."""
    argv = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", f"http://127.0.0.1:{server.port}/"]
    text = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, start_new_session=True,
                          preexec_fn=place(cpus, bench.options.nice)).stdout
    latency = {name: float(value) * WRK_UNITS[unit] for name, value, unit in re.findall(r"(50|99)%\s+([\d.]+)(us|ms|s)", text)}
    requests = int(re.search(r"(\d+) requests in", text).group(1))
    errors = sum(int(number) for number in re.findall(r"(?:connect|read|write|timeout) (\d+)", text))
    return {"requests": requests, "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)), "p50_us": latency["50"],
            "p99_us": latency["99"], "errors": errors, "seconds": seconds}
