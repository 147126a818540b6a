# SPDX-License-Identifier: Apache-2.0
"""The servers that are compared: how each is started, and why one cannot be."""
import getpass
import os
import shutil
import subprocess

APPS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "apps")

NGINX = """
daemon off;
pid {dir}/nginx.pid;
error_log stderr error;
worker_processes 1;
{user}
events {{ worker_connections 20000; }}
http {{
    access_log off;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    server {{
        listen 127.0.0.1:{port} backlog=2048;
        location / {{ default_type text/plain; return 200 "Hello, world!\\n"; }}
    }}
}}
"""


class Arm:
    """One server.

    kind: ours, floor, peer or constant (it serves no Python). argv(port, module, dir) is its command. weight is how many
    of the bench's requests it gets: a slow one is measured over fewer. distribution is its name on PyPI, if it comes
    from there.
    """

    def __init__(self, name, kind, argv, weight=1.0, distribution=None, says=""):
        self.name = name
        self.kind = kind
        self.argv = argv
        self.weight = weight
        self.distribution = distribution
        self.says = says

    @property
    def serves_python(self):
        return self.kind in ("ours", "peer") and self.name != "null"


class Arms:
    """All arms, with the binaries that they need: ringtail, the bench's own programs, the peers' environment."""

    def __init__(self, ringtail, programs, peers):
        self.ringtail = ringtail
        self.programs = programs
        self.peers = peers
        python = peers.python
        threads = "8"

        def ours(*options, binary=ringtail):
            return lambda port, module, _dir: [binary, f"--bind=127.0.0.1:{port}", f"--app-dir={APPS}", "--pool-debug", *options,
                                               module]

        self._ours = ours

        def gunicorn(*options):
            return lambda port, module, _dir: [peers.command("gunicorn"), "-b", f"127.0.0.1:{port}", "--pythonpath", APPS, "--workers",
                                               "1", "--log-level", "error", *options, f"{module}:application"]

        def granian(count):
            return lambda port, module, _dir: [peers.command("granian"), "--interface", "wsgi", "--http", "1", "--host", "127.0.0.1",
                                               "--port", str(port), "--workers", "1", "--blocking-threads", count, "--no-ws",
                                               "--log-level", "error", "--working-dir", APPS, f"{module}:application"]

        def inline(server):
            return lambda port, module, _dir: [python, os.path.join(APPS, "run_inline.py"), server, module, str(port)]

        self.all = [
            Arm("floor", "floor", lambda port, _module, _dir: [os.path.join(programs, "hello_uring"), str(port)],
                says="a bare io_uring hello in C: F"),
            Arm("null", "ours", lambda port, _module, _dir: [ringtail, f"--bind=127.0.0.1:{port}", "--pool-debug", "--threads=0",
                                                             "null:"],
                says="ringtail without Python, answers from the loop"),
            Arm("threads0", "ours", ours("--threads=0"), says="views on the loop's thread"),
            Arm("threads1", "ours", ours("--threads=1"), says="one handler thread, no growth"),
            Arm("zero", "ours", ours(), says="zero-config"),
            Arm("threads8", "ours", ours("--threads=8"), says="eight handlers, the elastic rules"),
            Arm("shared", "ours", ours("--threads=8", "--pool-elastic=shared"), says="eight, the rules on one futex word"),
            Arm("off", "ours", ours("--threads=8", "--pool-elastic=off"), weight=0.5, says="eight, without the rules"),
            Arm("nginx", "constant", self._nginx, says="return 200"),
            Arm("granian", "peer", granian(threads), 0.5, "granian", "8 blocking threads"),
            Arm("granian-1", "peer", granian("1"), 0.5, "granian", "1 blocking thread"),
            Arm("m0serve", "peer", lambda port, module, _dir: [peers.command("m0serve"), "--host", "127.0.0.1", "--port", str(port),
                                                               "--app-dir", APPS, f"{module}:application"],
                0.5, "m0serve", "zero-config"),
            Arm("bjoern", "peer", inline("bjoern"), 1.0, "bjoern"),
            Arm("fastpysgi", "peer", inline("fastpysgi"), 1.0, "fastpysgi"),
            Arm("gunicorn-sync", "peer", gunicorn("--worker-class", "sync"), 0.05, "gunicorn", "no keep-alive"),
            Arm("gunicorn-gthread", "peer", gunicorn("--worker-class", "gthread", "--threads", threads, "--keep-alive", "75"), 0.05,
                "gunicorn", "8 threads"),
            Arm("uwsgi", "peer", lambda port, module, _dir: [peers.command("uwsgi"), "--http11-socket", f"127.0.0.1:{port}", "--pythonpath",
                                                             APPS, "--module", f"{module}:application", "--threads", threads,
                                                             "--enable-threads", "--listen", "100", "--die-on-term", "--need-app",
                                                             "--disable-logging"],
                0.5, "uwsgi", "http11, 8 threads"),
            Arm("waitress", "peer", lambda port, module, _dir: [python, "-m", "waitress", f"--listen=127.0.0.1:{port}",
                                                                f"--threads={threads}", f"{module}:application"], 0.05, "waitress",
                "8 threads"),
        ]

    def add_ours(self, text):
        """NAME=[@FILE] OPTION...: one more arm of ours; its name."""
        name, equals, words = text.partition("=")
        words = words.split()
        binary = os.path.abspath(words.pop(0)[1:]) if words and words[0].startswith("@") else self.ringtail
        if not name or not equals or name in self.names():
            raise SystemExit(f"--with '{text}': NAME=[@FILE] OPTION..., with a name that is not yet taken")
        self.all.append(Arm(name, "ours", self._ours(*words, binary=binary), says=text.partition("=")[2].strip()))
        return name

    def names(self):
        return [arm.name for arm in self.all]

    def choose(self, names):
        by_name = {arm.name: arm for arm in self.all}
        for name in names:
            if name not in by_name:
                raise SystemExit(f"no arm '{name}'; there are {', '.join(by_name)}")
        return [arm for arm in self.all if arm.name in names]

    def why_missing(self, arm, module):
        """None when the arm can serve the module here."""
        if arm.kind == "ours" and not os.access(self.ringtail, os.X_OK):
            return f"{self.ringtail} is not built"
        if arm.kind == "floor" and not os.access(os.path.join(self.programs, "hello_uring"), os.X_OK):
            return "hello_uring is not built (make bench-programs)"
        if arm.name == "nginx" and not find_nginx():
            return "nginx is not installed (Debian: nginx-light, Fedora: nginx)"
        if arm.distribution:
            if arm.distribution in self.peers.missing:
                return self.peers.missing[arm.distribution]
            if arm.distribution not in self.peers.versions():
                return f"{arm.distribution} is not installed in {self.peers.dir}"
        if module == "django_site" and arm.serves_python:
            python = self.peers.python if arm.kind == "peer" else self.peers.linked
            if not has_django(python):
                return f"{python} has no Django (Debian, Fedora: python3-django)"
        return None

    def versions(self, arms):
        found = {"python": ask([self.peers.linked, "--version"]).split()[-1]}
        for arm in arms:
            if arm.kind == "ours":
                found["ringtail"] = ask([self.ringtail, "--version"]).split()[1]
            elif arm.name == "nginx" and find_nginx():
                found["nginx"] = ask([find_nginx(), "-v"]).strip().rpartition("/")[2]
            elif arm.distribution in self.peers.versions():
                found[arm.distribution] = self.peers.versions()[arm.distribution]
        django = ask([self.peers.linked, "-c", "import django; print(django.get_version())"])
        if django and "Traceback" not in django:
            found["django"] = django.strip()
        return found

    @staticmethod
    def _nginx(port, _module, directory):
        path = os.path.join(directory, "nginx.conf")
        user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
        with open(path, "w", encoding="utf-8") as file:
            file.write(NGINX.format(dir=directory, port=port, user=user))
        return [find_nginx(), "-c", path]


def find_nginx():
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def ask(argv):
    try:
        return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    except OSError:
        return ""


_django = {}


def has_django(python):
    if python not in _django:
        _django[python] = subprocess.run([python, "-c", "import django"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         check=False).returncode == 0
    return _django[python]
