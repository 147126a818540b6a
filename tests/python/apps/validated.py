# SPDX-License-Identifier: Apache-2.0
"""wsgiref.validate around the clauses of PEP 3333: the validator asserts what the server must do."""
import sys
import warnings
from wsgiref.validate import validator

warnings.simplefilter("error")


def inner(environ, start_response):
    path = environ["PATH_INFO"]
    stream = environ["wsgi.input"]
    if path == "/read":
        body = stream.read(4) + stream.readline() + b"".join(stream.readlines()) + stream.read(1)
    elif path == "/iterate":
        body = b"".join(iter(stream))
    elif path == "/errors":
        environ["wsgi.errors"].write("validated\n")
        environ["wsgi.errors"].writelines(["validated too\n"])
        environ["wsgi.errors"].flush()
        body = b"errors"
    elif path == "/write":
        write = start_response("200 OK", [("Content-Type", "text/plain")])
        write(b"written ")
        return [b"returned"]
    elif path == "/exc-info":
        try:
            raise ValueError
        except ValueError:
            start_response("500 Oops", [("Content-Type", "text/plain")], sys.exc_info())
        return [b"error page"]
    elif path == "/generator":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return (block for block in (b"a", b"b", b"c"))
    elif path == "/no-content":
        start_response("204 No Content", [])
        return []
    else:
        body = b"plain"
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


application = validator(inner)
