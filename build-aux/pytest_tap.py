# SPDX-License-Identifier: Apache-2.0
"""pytest that writes TAP to standard output, one line a test, and its own report to standard error.

Run as `python3 -P pytest_tap.py [pytest's arguments]`. Standard output carries TAP only: what tests, servers and pytest
print there goes to standard error, so that no output of theirs can be read as a result.
"""
import os
import sys

import pytest


class TapReporter:
    def __init__(self, stream):
        self.stream = stream
        self.number = 0
        self.outcomes = {}

    def line(self, is_ok, name, directive=""):
        self.number += 1
        name = name.replace("#", "\\#").replace("\n", " ")
        directive = f" # {directive}" if directive else ""
        print(f"{'ok' if is_ok else 'not ok'} {self.number} - {name}{directive}", file=self.stream, flush=True)

    def pytest_collectreport(self, report):
        if report.failed:
            self.line(False, f"collection of {report.nodeid or 'tests'}")
        elif report.skipped:
            self.line(True, report.nodeid, f"SKIP {skip_reason(report)}")

    def pytest_runtest_logreport(self, report):
        """One line when a test is over: the worst of set-up, call and teardown."""
        worst = self.outcomes.get(report.nodeid)
        if report.failed or worst is None or (worst.passed and not report.passed):
            if worst is None or not worst.failed:
                self.outcomes[report.nodeid] = worst = report
        if report.when != "teardown":
            return
        del self.outcomes[report.nodeid]
        if hasattr(worst, "wasxfail"):
            self.line(worst.passed, report.nodeid, f"TODO {worst.wasxfail}")
        elif worst.skipped:
            self.line(True, report.nodeid, f"SKIP {skip_reason(worst)}")
        else:
            self.line(worst.passed, report.nodeid)

    def finish(self):
        for nodeid in self.outcomes:
            self.line(False, f"{nodeid} (did not end)")
        print(f"1..{self.number}" if self.number else "1..0 # SKIP no tests in this file", file=self.stream, flush=True)


def skip_reason(report):
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return " ".join(reason.removeprefix("Skipped: ").split())


def main():
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    reporter = TapReporter(stream)
    status = pytest.main(sys.argv[1:], plugins=[reporter])
    if status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        reporter.finish()
    elif status == pytest.ExitCode.INTERRUPTED and reporter.number:
        reporter.finish()  # a file that could not be collected
    else:
        print(f"Bail out! pytest ended with {status!r}", file=stream, flush=True)


if __name__ == "__main__":
    main()
