# SPDX-License-Identifier: Apache-2.0
"""What the pool tests need: the report that pool-debug prints at exit, and closed-loop clients in threads."""
import re
import threading
import time

from .client import Connection


def report(server):
    """Figures of the report of a stopped server that ran with pool_debug=on: peak, run, grown, retired, wakes by site."""
    text = server.log() + server.out()
    match = re.search(r"pool: (\d+) threads at most, (\d+) jobs run, (\d+) dropped, (\d+) refused", text)
    assert match, f"no pool report:\n{text}"
    figures = dict(zip(("peak", "run", "dropped", "refused"), map(int, match.groups())))
    figures["wakes"] = {site: int(number) for site, number in re.findall(r"(\w+) (\d+)", re.search(r"wakes:([^\n]*)", text)[1])}
    match = re.search(r"grown (\d+), failed (\d+), retired (\d+)", text)
    figures.update(zip(("grown", "failed", "retired"), map(int, match.groups())))
    return figures


class Load:
    """Clients in a closed loop, each on a connection of its own, until stopped. Failures are kept and raised by stop()."""

    def __init__(self, address, target, clients, headers=()):
        self.address = address
        self.target = target
        self.headers = headers
        self.done = 0
        self.times = []
        self.problems = []
        self.is_stopping = False
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self._run, daemon=True) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def _run(self):
        try:
            while not self.is_stopping:
                with Connection(self.address, timeout=30) as conn:
                    while not self.is_stopping:
                        start = time.monotonic()
                        conn.request(target=self.target, headers=self.headers)
                        response = conn.read_response()
                        took = time.monotonic() - start
                        conn.sent.clear()
                        conn.received.clear()
                        if response.status != 200:
                            raise AssertionError(repr(response))
                        with self.lock:
                            self.done += 1
                            self.times.append(took)
                        if "close" in response.connection:
                            break
        except Exception as problem:  # noqa: BLE001: shown by stop()
            self.problems.append(problem)

    def stop(self):
        self.is_stopping = True
        for thread in self.threads:
            thread.join(60)
        assert not self.problems, self.problems[0]
        return self

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.is_stopping = True
        if kind is None:
            self.stop()


def timed_get(conn, target):
    """(seconds, response) of one request on an open connection."""
    start = time.monotonic()
    response = conn.roundtrip(target=target)
    return time.monotonic() - start, response
