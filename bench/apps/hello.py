# SPDX-License-Identifier: Apache-2.0
"""The trivial WSGI view of bench/serve."""
BODY = b"Hello, world!\n"
HEADERS = [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))]


def application(environ, start_response):
    start_response("200 OK", HEADERS)
    return [BODY]
