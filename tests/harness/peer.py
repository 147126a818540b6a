# SPDX-License-Identifier: Apache-2.0
"""gunicorn (gthread) with the same application, to compare with."""
import os
import subprocess
import tempfile

from .client import Connection
from .server import CLEARED, free_port, python
from .wait import SCALE, wait_for


def has_gunicorn():
    return subprocess.run([python(), "-c", "import gunicorn"], capture_output=True, check=False).returncode == 0


class Gunicorn:
    def __init__(self, app, app_dir, env=None, threads=4):
        self.port = free_port()
        self.address = ("127.0.0.1", self.port)
        self.url = f"http://127.0.0.1:{self.port}"
        environ = {k: v for k, v in os.environ.items() if not k.startswith("RINGTAIL_") and k not in CLEARED}
        environ.update(env or {}, PYTHONDONTWRITEBYTECODE="1")
        self.output = tempfile.TemporaryFile()
        argv = [python(), "-m", "gunicorn", "--chdir", str(app_dir), "--bind", f"127.0.0.1:{self.port}", "--worker-class", "gthread",
                "--threads", str(threads), "--log-level", "warning", app]
        self.process = subprocess.Popen(argv, env=environ, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output)

        def ready():
            if self.process.poll() is not None:
                raise AssertionError(f"gunicorn ended with {self.process.returncode}: {self.log()}")
            try:
                Connection(self.address).close()
                return True
            except ConnectionRefusedError:
                return False
        try:
            wait_for(ready, "gunicorn's listener", 20 * SCALE, self.log)
        except BaseException:
            self.close()
            raise

    def log(self):
        self.output.seek(0)
        return self.output.read().decode(errors="replace")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(15 * SCALE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
