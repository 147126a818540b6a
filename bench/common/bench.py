# SPDX-License-Identifier: Apache-2.0
"""The frame of a bench: its command line, what it runs on, its output."""
import argparse
import fnmatch
import json
import os
import platform
import re
import signal
import subprocess
import sys

from . import cpu
from .arms import Arms
from .peers import Peers
from .results import Results

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def parser(name, doc):
    parse = argparse.ArgumentParser(prog=f"bench/{name}", description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--quick", action="store_true", help="a subset, two rounds, within a minute")
    parse.add_argument("--arms", metavar="A,B", help="only these servers")
    parse.add_argument("--cases", metavar="PATTERN,...", help="only cases that match one of the patterns")
    parse.add_argument("--rounds", type=int, metavar="N", help="how often each arm is measured, in turn")
    parse.add_argument("--json", metavar="FILE", help="write the figures there")
    parse.add_argument("--list", action="store_true", help="print arms and cases, and end")
    parse.add_argument("--with", dest="added", action="append", default=[], metavar="NAME=[@FILE] OPTION...",
                       help="one more arm: ringtail (or that build of it) with these options, held against zero; repeatable")
    parse.add_argument("--nice", type=int, default=0, metavar="N",
                       help="priority of server and client (-20 to 19), for a machine that is not idle; below 0 needs root")
    parse.add_argument("--build", metavar="DIR", default=os.environ.get("BUILD_DIR") or "build",
                       help="the build directory (default: build; made by ./bootstrap if it is not there)")
    parse.add_argument("--ringtail", metavar="FILE", help="this binary in place of the build's")
    parse.add_argument("--programs", metavar="DIR", help="floor and client from there in place of the build's")
    parse.add_argument("--python", metavar="FILE", help="the interpreter of the peers (default: the one that ringtail is linked with)")
    return parse


def make_variable(makefile, name):
    try:
        with open(makefile, encoding="utf-8") as file:
            found = re.search(rf"^{name} = (.*)$", file.read(), re.MULTILINE)
    except FileNotFoundError:
        return None
    return found.group(1).strip() if found else None


class Bench:
    """One run: parsed options, the arms that can run, the rounds."""

    def __init__(self, name, options, cases, default_cases, quick_cases, quick_arms, default_arms=None, rounds=5):
        self.name = name
        self.options = options
        self.rounds = options.rounds or (2 if options.quick else rounds)
        self._find_programs()
        self.arms_all = Arms(self.ringtail, self.programs, self.peers)
        self.added = [self.arms_all.add_ours(text) for text in options.added]
        if options.list:
            print("arms: ", " ".join(self.arms_all.names()))
            print("cases:", " ".join(cases))
            raise SystemExit(0)
        if options.cases:
            patterns = ["*" if pattern == "all" else pattern for pattern in options.cases.split(",")]
            self.cases = [case for case in cases if any(fnmatch.fnmatchcase(case, pattern) for pattern in patterns)]
            if not self.cases:
                raise SystemExit(f"no case matches '{options.cases}'; there are {', '.join(cases)}")
        else:
            self.cases = quick_cases if options.quick else default_cases
        if options.arms:
            names = options.arms.split(",")
        else:
            names = quick_arms if options.quick else default_arms or self.arms_all.names()
        self.arms = self.arms_all.choose([*names, *self.added])
        self.missing = {}  # (arm, case pattern) -> why
        self.results = Results()
        self.server_cpu, self.client_cpu = cpu.choose()
        self.foreign = cpu.Foreign({self.server_cpu, self.client_cpu})
        self.peers.make({arm.distribution for arm in self.arms if arm.distribution})
        os.sched_setaffinity(0, {self.client_cpu})
        # Servers are sessions of their own: they are stopped on the way out, also when the bench is asked to end.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        signal.signal(signal.SIGINT, lambda *_: sys.exit(130))

    def _find_programs(self):
        options = self.options
        build = os.path.join(TOP, options.build)
        makefile = os.path.join(build, "Makefile")
        if not (options.ringtail and options.programs):
            if not os.path.exists(makefile):
                self.say("no build yet: ./bootstrap")
                subprocess.run([os.path.join(TOP, "bootstrap")], check=True, stdout=sys.stderr)
            subprocess.run(["make", "-s", "-C", build, "all", "bench-programs"], check=True, stdout=sys.stderr)
        self.ringtail = os.path.abspath(options.ringtail or os.path.join(build, "ringtail"))
        self.programs = os.path.abspath(options.programs or os.path.join(build, "bench"))
        python = options.python or make_variable(makefile, "PYTHON") or "/usr/bin/python3"
        self.peers = Peers(python)

    @staticmethod
    def say(text):
        print(text, file=sys.stderr, flush=True)

    @staticmethod
    def progress(text):
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    def note_missing(self, arm, case, why):
        self.missing.setdefault((arm.name, why), []).append(case)

    def each(self, module_of):
        """(round, case, arm) in the order of measuring: in each round each case, in it the arms in turn, begun elsewhere."""
        able = {}
        for case in self.cases:
            for arm in self.arms:
                why = self.arms_all.why_missing(arm, module_of(case))
                if why:
                    self.note_missing(arm, case, why)
                elif not (module_of(case) == "django_site" and not arm.serves_python and arm.kind == "ours"):
                    able.setdefault(case, []).append(arm)
        total = self.rounds * sum(len(arms) for arms in able.values())
        number = 0
        for round_number in range(self.rounds):
            for case in self.cases:
                arms = able.get(case, [])
                turn = round_number * (len(arms) // max(1, self.rounds) or 1) % max(1, len(arms))
                for arm in arms[turn:] + arms[:turn]:
                    number += 1
                    self.progress(f"{self.name} {number}/{total}: round {round_number + 1}, {case}, {arm.name}")
                    if (arm.name, case) not in self._broken():
                        yield round_number, case, arm
        self.progress("")

    def _broken(self):
        return {(name, case) for (name, _why), cases in self.missing.items() for case in cases}

    def machine(self):
        model = re.search(r"^model name\s*: (.*)$", cpu.read("/proc/cpuinfo").decode(errors="replace"), re.MULTILINE)
        try:
            virtual = subprocess.run(["systemd-detect-virt", "--vm"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
        except FileNotFoundError:
            virtual = "yes" if b"hypervisor" in cpu.read("/proc/cpuinfo") else "no"
        return {"cpu": model.group(1) if model else platform.machine(), "cpus": os.cpu_count(), "kernel": platform.release(),
                "virtual": virtual, "server_cpu": self.server_cpu, "client_cpu": self.client_cpu}

    def commit(self):
        def git(*words):
            return subprocess.run(["git", "-C", TOP, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  check=False).stdout.strip()

        commit = git("rev-parse", "--short=12", "HEAD")
        return commit + ("+changes" if git("status", "--porcelain", "--untracked-files=no") else "") if commit else "unknown"

    def finish(self, compare, tables, extra=None):
        document = {
            "bench": self.name,
            "machine": self.machine(),
            "versions": self.arms_all.versions(self.arms),
            "commit": self.commit(),
            "nice": self.options.nice,
            "quick": bool(self.options.quick),
            "rounds": self.rounds,
            "foreign_cpu": round(self.foreign.share(), 4),
            "stolen_cpu": round(self.foreign.stolen_share(), 4),
            "missing": [{"arm": name, "why": why, "cases": cases} for (name, why), cases in self.missing.items()],
            **(extra or {}),
            "rows": self.results.rows(compare),
        }
        machine = document["machine"]
        print(f"{machine['cpu']}, {machine['cpus']} CPUs (virtual: {machine['virtual']}), Linux {machine['kernel']}; commit {document['commit']}")
        print(", ".join(f"{name} {version}" for name, version in document["versions"].items()))
        print(f"{self.rounds} rounds; {100 * self.foreign.share():.1f} % of the two CPUs went to others" +
              (f", {100 * self.foreign.stolen_share():.1f} % to the hypervisor" if self.foreign.stolen_share() >= 0.001 else "") + "\n")
        for text in tables(self.results):
            print(text + "\n")
        for missing in document["missing"]:
            cases = "" if len(missing["cases"]) == len(self.cases) else f" ({', '.join(missing['cases'])})"
            print(f"missing: {missing['arm']}{cases}: {missing['why']}")
        if self.options.json:
            with open(self.options.json, "w", encoding="utf-8") as file:
                json.dump(document, file, indent=1)
                file.write("\n")
        return document
