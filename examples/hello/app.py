# SPDX-License-Identifier: Apache-2.0
"""The smallest application: `ringtail examples/hello/app.py`."""


def application(environ, start_response):
    body = b"hello from " + environ["SERVER_SOFTWARE"].encode("latin-1") + b"\n"
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
