# SPDX-License-Identifier: Apache-2.0
"""The servers from PyPI, in a virtual environment that is made once, with the interpreter that ringtail is linked with."""
import os
import subprocess
import sys

# distribution: what its build needs beside a compiler and Python's headers, told when it could not be installed
DISTRIBUTIONS = {
    "granian": "",
    "m0serve": "",
    "bjoern": "libev (Debian: libev-dev, Fedora: libev-devel)",
    "fastpysgi": "",
    "gunicorn": "",
    "uwsgi": "",
    "waitress": "",
}


def cache_dir():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "ringtail-bench")


class Peers:
    def __init__(self, python):
        version = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout.strip()
        self.linked = python
        self.dir = os.path.join(cache_dir(), "venv-" + version)
        self.python = os.path.join(self.dir, "bin", "python")
        self.missing = {}
        self._versions = None

    def command(self, name):
        return os.path.join(self.dir, "bin", name)

    def versions(self):
        """{distribution: version} of what is installed."""
        if self._versions is None:
            self._versions = {}
            if os.path.exists(self.python):
                # Only what is in this environment: the distribution's packages are behind it.
                code = ("import importlib.metadata as m, site\n"
                        "for d in m.distributions(path=site.getsitepackages()[:1]): print(d.metadata['Name'].lower(), d.version)")
                output = subprocess.run([self.python, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout
                for line in output.splitlines():
                    name, version = line.split()
                    self._versions.setdefault(name, version)
        return self._versions

    def make(self, wanted):
        """Installs the distributions that are not there; why one could not be is kept in missing."""
        absent = [name for name in DISTRIBUTIONS if name in wanted and name not in self.versions()]
        if not absent:
            return
        if not os.path.exists(self.python):
            print(f"making {self.dir}", file=sys.stderr)
            made = subprocess.run([self.linked, "-m", "venv", self.dir], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True)
            if made.returncode:
                why = f"{self.linked} -m venv failed (Debian: apt-get install python3-venv)"
                self.missing.update({name: why for name in absent})
                return
            self._show_distribution_packages()
        for name in absent:
            print(f"installing {name} from PyPI", file=sys.stderr)
            done = subprocess.run([self.python, "-m", "pip", "install", "--quiet", "--ignore-installed", name],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                needs = DISTRIBUTIONS[name]
                self.missing[name] = f"pip could not install it: {last}" + (f"; its build needs {needs}" if needs else "")
        self._versions = None

    def _show_distribution_packages(self):
        """The distribution's Django, seen behind what is in the environment itself."""
        code = "import django, os; print(os.path.dirname(os.path.dirname(django.__file__)))"
        found = subprocess.run([self.linked, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        site = subprocess.run([self.python, "-c", "import site; print(site.getsitepackages()[0])"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout.strip()
        if found.returncode == 0:
            with open(os.path.join(site, "zz-distribution.pth"), "w", encoding="utf-8") as file:
                file.write(found.stdout)
