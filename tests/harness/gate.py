# SPDX-License-Identifier: Apache-2.0
"""Gates: a view tells the test where it is, and waits there until the test lets it go on.

The test holds a listening unix socket; the application (apps/gate.py) connects, sends one JSON line and, for a wait,
blocks until it is answered. Notes are the same without an answer.
"""
import collections
import json
import os
import socket
import tempfile
import threading

from .wait import DEADLINE, wait_for


class Arrival:
    """A view that stands at a gate."""

    def __init__(self, message, conn):
        self.name = message["name"]
        self.data = message.get("data")
        self.thread = message["thread"]
        self._conn = conn

    def release(self, answer="go"):
        if self._conn:
            try:
                self._conn.sendall(json.dumps(answer).encode() + b"\n")
            except OSError:
                pass
            self._conn.close()
            self._conn = None


class Gate:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="ringtail-gate-")
        self.path = os.path.join(self.dir, "gate")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(1024)
        self.lock = threading.Lock()
        self.arrivals = collections.defaultdict(collections.deque)
        self.names = []
        self.open = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def env(self):
        return {"TEST_GATE": self.path}

    def _accept(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._take, args=(conn,), daemon=True).start()

    def _take(self, conn):
        with conn.makefile("rb") as file:
            line = file.readline()
        if not line:
            conn.close()
            return
        message = json.loads(line)
        arrival = Arrival(message, conn if message["wait"] else None)
        with self.lock:
            self.arrivals[arrival.name].append(arrival)
            self.names.append(arrival.name)
            if message["wait"]:
                self.open.append(arrival)
        if not message["wait"]:
            # The view goes on when its note has been taken: what the test reads afterwards is complete.
            conn.sendall(b'"noted"\n')
            conn.close()

    def count(self, name):
        """How often the name has come so far."""
        with self.lock:
            return self.names.count(name)

    def wait(self, name, deadline=None):
        """The next arrival (or note) of this name."""
        def take():
            with self.lock:
                queue = self.arrivals[name]
                return queue.popleft() if queue else None
        return wait_for(take, f"gate {name!r}", DEADLINE if deadline is None else deadline, lambda: f"seen: {self.names}")

    def release(self, name, answer="go", deadline=None):
        arrival = self.wait(name, deadline)
        arrival.release(answer)
        return arrival

    def close(self):
        """Lets everybody go."""
        self.listener.close()
        with self.lock:
            for arrival in self.open:
                arrival.release()
        os.unlink(self.path)
        os.rmdir(self.dir)
