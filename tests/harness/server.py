# SPDX-License-Identifier: Apache-2.0
"""One ringtail process: started, watched, stopped, its log judged."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from .client import Connection
from .wait import DEADLINE, SCALE, wait_for

# The start-up line names the address in one of these forms.
ADDRESS = re.compile(r"(?P<host>\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:.]+\]):(?P<port>\d+)|(?P<unix>unix:/[^\s,;]+)")
# What a clean log never holds. An expected error is taken out first (Server.expect).
BAD = re.compile(
    r"\berror:|Traceback \(most recent|Sanitizer|runtime error:|Fatal Python error|Assertion|CHECK|Segmentation|core dumped"
)

# Of the environment of the tests, what would change the server.
CLEARED = ("PORT", "WEB_CONCURRENCY", "VIRTUAL_ENV", "PYTHONPATH", "DJANGO_SETTINGS_MODULE")


def binary():
    """The daemon under test: $RINGTAIL, else ringtail of the current build directory."""
    path = os.environ.get("RINGTAIL") or os.path.abspath("ringtail")
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"no daemon to test at {path}: set RINGTAIL to the built binary")
    return path


def free_port(host="127.0.0.1"):
    """A port nobody listens on now. Only for servers that cannot be told to take port 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


class Server:
    """A server with the given application and options, ready when the constructor returns.

    Options are keyword arguments ("max_body='1m'" becomes "--max-body 1m"; a list repeats the option); args are passed
    as they are. bind=None passes none; wrapper is put before the binary; inherit are descriptors that the process keeps;
    ready=False does not wait for the start-up line.
    """

    def __init__(self, app, *args, bind="127.0.0.1:0", cwd=None, env=None, wrapper=(), ready=True, expect=(),
                 inherit=(), **options):
        self.dir = tempfile.mkdtemp(prefix="ringtail-test-")
        self.log_path = os.path.join(self.dir, "log")
        self.out_path = os.path.join(self.dir, "out")
        self.expected = list(expect)
        self.address = None
        self.start_line = None
        self.status = None
        argv = [*wrapper, binary()]
        if bind is not None:
            for one in [bind] if isinstance(bind, str) else bind:
                argv += ["--bind", one]
        for name, value in options.items():
            flag = "--" + name.replace("_", "-")
            for one in value if isinstance(value, (list, tuple)) else [value]:
                argv.append(f"{flag}={one}")
        argv += [*args, str(app)]
        self.argv = argv
        environ = {k: v for k, v in os.environ.items() if not k.startswith("RINGTAIL_") and k not in CLEARED}
        environ["PYTHONDONTWRITEBYTECODE"] = "1"
        environ.update(env or {})
        with open(self.log_path, "wb") as log, open(self.out_path, "wb") as out:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=log, cwd=cwd, env=environ,
                                            pass_fds=inherit)
        self.pid = self.process.pid
        if ready:
            try:
                self.wait_ready()
            except BaseException:
                self.kill()
                raise

    # --- start

    def wait_ready(self):
        """Waits for the start-up line and takes the address from it."""
        def look():
            if self.process.poll() is not None:
                raise AssertionError(f"{' '.join(self.argv)}\nended with {self.process.returncode} before it served:\n{self.log()}{self.out()}")
            for line in (self.log() + self.out()).splitlines(True):
                match = ADDRESS.search(line)
                if match and line.endswith("\n") and not BAD.search(line):
                    self.start_line = line.rstrip("\n")
                    return match
            return None
        match = wait_for(look, "the start-up line", 20 * SCALE, lambda: self.log() + self.out())
        if match["unix"]:
            self.address = match["unix"][len("unix:"):]
        else:
            self.address = (match["host"].strip("[]"), int(match["port"]))
        return self

    @property
    def port(self):
        return self.address[1]

    @property
    def url(self):
        host = self.address[0]
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    # --- use

    def connect(self, **kwargs):
        return Connection(self.address, **kwargs)

    def get(self, target="/", method="GET", headers=(), body=b""):
        """One request on a connection of its own; the answer."""
        with self.connect() as conn:
            conn.request(method, target, headers=[*headers, ("Connection", "close")], body=body)
            response = conn.read_response(method)
            conn.read_close()
            return response

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="backslashreplace") as file:
            return file.read()

    def out(self):
        with open(self.out_path, encoding="utf-8", errors="backslashreplace") as file:
            return file.read()

    def wait_log(self, pattern, deadline=None):
        """Waits until the log has a match of the pattern; returns it."""
        return wait_for(lambda: re.search(pattern, self.log()), f"{pattern!r} in the log", deadline, self.log)

    def expect(self, *patterns):
        """Log text that is no fault in this test (regular expressions over the whole log, DOTALL as written)."""
        self.expected += patterns

    def threads(self):
        """Names of the process's threads."""
        names = []
        for tid in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{tid}/comm", encoding="utf-8") as file:
                    names.append(file.read().strip())
            except OSError:
                pass
        return names

    def handlers(self):
        """How many handler threads live now."""
        return sum(1 for name in self.threads() if re.fullmatch(r"ringtail-\d+", name))

    def rss(self):
        """Resident bytes."""
        with open(f"/proc/{self.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def is_sanitized(self):
        """Built with a sanitizer, whose shadow and quarantine make resident bytes mean nothing."""
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as file:
            return "san.so" in file.read()

    def fds(self):
        """Open descriptors, but the one that the pool keeps for each thread it has or has just had."""
        count = 0
        for fd in os.listdir(f"/proc/{self.pid}/fd"):
            try:
                count += "/task/" not in os.readlink(f"/proc/{self.pid}/fd/{fd}")
            except OSError:
                pass
        return count

    def connections(self):
        """TCP connections that the server holds now, in any state but listening."""
        own = set()
        for fd in os.listdir(f"/proc/{self.pid}/fd"):
            try:
                link = os.readlink(f"/proc/{self.pid}/fd/{fd}")
            except OSError:
                continue
            if link.startswith("socket:["):
                own.add(link[8:-1])
        # A socket that was reset is in no table any more, but its descriptor is there: what is neither a listener nor a
        # unix socket (a view's gate) is counted.
        others = set()
        for name, column in (("tcp", 9), ("tcp6", 9), ("unix", 6)):
            try:
                with open(f"/proc/{self.pid}/net/{name}", encoding="utf-8", errors="replace") as file:
                    rows = [line.split() for line in file.readlines()[1:]]
            except OSError:
                continue
            others |= {row[column] for row in rows if name == "unix" or row[3] == "0A"}
        return len(own - others)

    # --- end

    def send_signal(self, number):
        os.kill(self.pid, number)

    def wait(self, deadline=None):
        """Waits for the end; returns the exit status (negative: by this signal)."""
        deadline = DEADLINE if deadline is None else deadline
        try:
            self.status = self.process.wait(deadline)
        except subprocess.TimeoutExpired:
            stacks = self.stacks()
            self.kill()
            raise AssertionError(f"the server did not end within {deadline:g} s; its log:\n{self.log()}{stacks}") from None
        return self.status

    def stacks(self):
        """What each thread waits in, for a message about a process that hangs."""
        lines = ["\nthreads:"]
        try:
            for tid in sorted(os.listdir(f"/proc/{self.pid}/task")):
                with open(f"/proc/{self.pid}/task/{tid}/comm", encoding="utf-8") as file:
                    name = file.read().strip()
                with open(f"/proc/{self.pid}/task/{tid}/syscall", encoding="utf-8") as file:
                    lines.append(f"{tid} {name}: {file.read().split()[0]}")
        except (OSError, IndexError):
            pass
        return "\n".join(lines) + "\n"

    def stop(self, number=signal.SIGTERM, status=0, deadline=None):
        """Stops the server (by default gracefully) and judges its exit status and its log."""
        if self.process.poll() is None:
            self.send_signal(number)
        got = self.wait(35 * SCALE if deadline is None else deadline)
        assert got == status, f"exit status {got}, expected {status}; the log:\n{self.log()}"
        self.check_log()
        return self.log()

    def check_log(self):
        text = self.log()
        for pattern in self.expected:
            text = re.sub(pattern, "", text)
        match = BAD.search(text)
        assert not match, f"{match.group()!r} in the log:\n{self.log()}"

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.status = self.process.wait()

    def close(self):
        """Last resort of the fixture: nothing is left running, files go."""
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None and self.status is None:
                self.stop()
        finally:
            self.close()


def run(*args, env=None, cwd=None, deadline=None, stdin=None):
    """The daemon as a command that ends by itself: (status, stdout, stderr)."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("RINGTAIL_") and k not in CLEARED}
    environ.update(env or {})
    done = subprocess.run([binary(), *args], env=environ, cwd=cwd, stdin=stdin or subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=DEADLINE if deadline is None else deadline, check=False)
    return done.returncode, done.stdout, done.stderr


def python():
    """The interpreter that the daemon links, or that of a virtual environment made from it."""
    return os.environ.get("PYTHON") or ("/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable)


def venv():
    """The virtual environment that python() belongs to, or None."""
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(python())))
    return prefix if os.path.exists(os.path.join(prefix, "pyvenv.cfg")) else None


def monotonic():
    return time.monotonic()
