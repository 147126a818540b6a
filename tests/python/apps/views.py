# SPDX-License-Identifier: Apache-2.0
"""The application behind tests/python/test_wsgi_*.py: a view for each clause of PEP 3333. /NAME calls the function NAME."""
import collections
import io
import json
import os
import sys
import tempfile
import threading
from urllib.parse import parse_qs

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "http", "apps"))
import gate  # noqa: E402

# What views leave behind for later requests.
counts = collections.Counter()
kept = {}
seen = {}


def application(environ, start_response):
    query = {key: values[-1] for key, values in parse_qs(environ["QUERY_STRING"], keep_blank_values=True).items()}
    view = globals().get("view_" + environ["PATH_INFO"].strip("/").replace("-", "_"))
    if view is None:
        start_response("404 Not Found", [("Content-Length", "0")])
        return []
    return view(environ, start_response, query)


def plain(start_response, body, status="200 OK", headers=()):
    if not isinstance(body, bytes):
        body = body.encode()
    start_response(status, [("Content-Type", "text/plain"), *headers])
    return [body]


def as_json(start_response, value):
    return plain(start_response, json.dumps(value, sort_keys=True))


def view_hello(environ, start_response, query):
    return plain(start_response, "hello")


def view_counts(environ, start_response, query):
    return as_json(start_response, counts)


# --- environ

def view_environ(environ, start_response, query):
    """Strings, numbers and booleans as they are, all else by its type's name."""
    simple = {key: value if isinstance(value, (str, int, tuple)) else type(value).__name__ for key, value in environ.items()}
    simple["type"] = type(environ).__name__
    return as_json(start_response, simple)


def view_environ_change(environ, start_response, query):
    environ["HTTP_X_ADDED"] = environ["wsgi.errors"] = environ["PATH_INFO"] = "changed"
    del environ["HTTP_HOST"]
    return plain(start_response, "changed")


# --- start_response

def view_status(environ, start_response, query):
    return plain(start_response, "x", status=query["status"])


BAD_STARTS = {
    "bytes-status": lambda: (b"200 OK", []),
    "int-status": lambda: (200, []),
    "short-status": lambda: ("200", []),
    "two-digits": lambda: ("20 OK", []),
    "letters": lambda: ("2xx OK", []),
    "interim": lambda: ("100 Continue", []),
    "status-newline": lambda: ("200 OK\r\nX: y", []),
    "status-wide": lambda: ("200 \u20ac", []),
    "tuple-headers": lambda: ("200 OK", ()),
    "dict-headers": lambda: ("200 OK", {"a": "b"}),
    "iterator-headers": lambda: ("200 OK", iter([("a", "b")])),
    "list-pair": lambda: ("200 OK", [["a", "b"]]),
    "triple": lambda: ("200 OK", [("a", "b", "c")]),
    "bytes-name": lambda: ("200 OK", [(b"a", "b")]),
    "bytes-value": lambda: ("200 OK", [("a", b"b")]),
    "int-value": lambda: ("200 OK", [("Content-Length", 5)]),
    "none-value": lambda: ("200 OK", [("a", None)]),
    "empty-name": lambda: ("200 OK", [("", "b")]),
    "space-name": lambda: ("200 OK", [("a b", "b")]),
    "colon-name": lambda: ("200 OK", [("a:", "b")]),
    "newline-name": lambda: ("200 OK", [("a\r\nb", "b")]),
    "newline-value": lambda: ("200 OK", [("X-Split", "b\r\nSet-Cookie: evil")]),
    "lf-value": lambda: ("200 OK", [("X-Split", "b\nc")]),
    "nul-value": lambda: ("200 OK", [("X-Split", "b\0c")]),
    "wide-value": lambda: ("200 OK", [("X-Wide", "\u20ac")]),
    "wide-name": lambda: ("200 OK", [("\u20ac", "x")]),
    "connection": lambda: ("200 OK", [("Connection", "close")]),
    "transfer-encoding": lambda: ("200 OK", [("Transfer-Encoding", "chunked")]),
    "upgrade": lambda: ("200 OK", [("Upgrade", "websocket")]),
    "length-word": lambda: ("200 OK", [("Content-Length", "many")]),
    "length-sign": lambda: ("200 OK", [("Content-Length", "+5")]),
    "length-twice": lambda: ("200 OK", [("Content-Length", "5"), ("Content-Length", "6")]),
    "no-arguments": lambda: (),
    "one-argument": lambda: ("200 OK",),
    "four-arguments": lambda: ("200 OK", [], None, 1),
    "bad-exc-info": lambda: ("200 OK", [], "oops"),
}


def view_bad_start(environ, start_response, query):
    start_response(*BAD_STARTS[query["case"]]())
    return [b"must not be sent"]


def view_bad_start_swallowed(environ, start_response, query):
    """The error of start_response is swallowed: there is no head, so nothing may be sent."""
    try:
        start_response("200 OK", [("X-Split", "a\nb")])
    except ValueError:
        pass
    yield b"must not be sent"


def view_start_twice(environ, start_response, query):
    start_response("200 OK", [])
    start_response("200 OK", [])
    return [b"must not be sent"]


def view_start_again(environ, start_response, query):
    """exc_info before anything was sent: the second head wins."""
    start_response("200 OK", [("X-First", "1"), ("Content-Length", "400")])
    try:
        raise KeyError("replaced")
    except KeyError:
        start_response("503 Service Unavailable", [("X-Second", "2")], sys.exc_info())
    return [b"second"]


def view_start_keywords(environ, start_response, query):
    try:
        raise KeyError
    except KeyError:
        start_response(status="200 OK", headers=[("X-K", "1")], exc_info=sys.exc_info())
    return [b"keywords"]


def view_start_after_sent(environ, start_response, query):
    """exc_info after the head is out: the exception comes back out of start_response (PEP 3333)."""
    start_response("200 OK", [])
    yield b"first"
    try:
        raise LookupError("raised again")
    except LookupError as error:
        try:
            start_response("500 Oops", [], sys.exc_info())
        except LookupError as again:
            seen["again"] = again is error
            seen["names"] = [frame.name for frame in __import__("traceback").extract_tb(again.__traceback__)]
            raise


def view_seen(environ, start_response, query):
    return as_json(start_response, seen)


def view_no_start(environ, start_response, query):
    return [b"must not be sent"]


def view_no_start_generator(environ, start_response, query):
    yield b""
    yield b"must not be sent"


def view_late_start(environ, start_response, query):
    """A generator calls start_response only when it is first asked for a block."""
    yield b""
    start_response("201 Created", [("X-Late", "yes")])
    yield b"late"


def view_latin1(environ, start_response, query):
    return plain(start_response, "x", "200 Tr\xe8s bien", [("X-Latin", "caf\xe9")])


def view_keep_faces(environ, start_response, query):
    write = start_response("200 OK", [])
    kept.update(start_response=start_response, write=write, environ=environ, input=environ["wsgi.input"],
                gone=environ["ringtail.client_disconnected"], hints=environ["wsgi.early_hints"])
    return [b"kept"]


def view_use_kept(environ, start_response, query):
    """What a request left behind must not reach into this one."""
    results = {}
    for name, use in (("start_response", lambda: kept["start_response"]("200 OK", [("X-Stolen", "1")])),
                      ("write", lambda: kept["write"](b"stolen")), ("hints", lambda: kept["hints"]([("Link", "x")])),
                      ("input", lambda: kept["input"].read().decode()), ("gone", lambda: kept["gone"]())):
        try:
            results[name] = use()
        except Exception as error:
            results[name] = type(error).__name__
    results["environ"] = kept["environ"]["PATH_INFO"]
    return as_json(start_response, results)


def view_other_thread(environ, start_response, query):
    answers = []

    def run():
        for use in (lambda: start_response("200 OK", []), lambda: environ["wsgi.early_hints"]([])):
            try:
                use()
                answers.append("ran")
            except RuntimeError as error:
                answers.append(str(error))
        answers.append(environ["ringtail.client_disconnected"]())
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return as_json(start_response, answers)


# --- bodies

class Body:
    """An iterable that counts what happens to it."""

    def __init__(self, name, blocks, fail_at=None, close_raises=False):
        self.name = name
        self.blocks = iter(blocks)
        self.fail_at = fail_at
        self.close_raises = close_raises
        self.given = 0

    def __iter__(self):
        counts[self.name + " iter"] += 1
        return self

    def __next__(self):
        if self.given == self.fail_at:
            raise ValueError("in the middle")
        self.given += 1
        return next(self.blocks)

    def close(self):
        counts[self.name + " closed"] += 1
        if self.close_raises:
            raise OSError("close() failed")


def view_body(environ, start_response, query):
    blocks = [block.encode() for block in query.get("blocks", "a,b,c").split(",")]
    headers = [("Content-Length", query["length"])] if "length" in query else []
    if query.get("kind") != "no-start":
        start_response(query.get("status", "200 OK"), headers)
    kind = query.get("kind", "list")
    if kind == "list":
        return blocks
    if kind == "tuple":
        return tuple(blocks)
    if kind == "generator":
        return (block for block in blocks)
    if kind == "iterator":
        return iter(blocks)
    if kind == "set":
        return {blocks[0]}
    if kind == "deque":
        return collections.deque(blocks)
    return Body(query["name"], blocks, int(query["fail"]) if "fail" in query else None, "close_raises" in query)


BAD_BODIES = {
    "str": lambda: "hello",
    "bytes": lambda: b"hello",
    "list-of-str": lambda: ["hello"],
    "list-mixed": lambda: [b"a", "b"],
    "tuple-of-int": lambda: (1,),
    "none": lambda: None,
    "int": lambda: 5,
    "function": lambda: lambda: None,
    "generator-of-str": lambda: (part for part in ["hello"]),
    "bytearray": lambda: [bytearray(b"hello")],
    "iter-raises": lambda: IterRaises(),
}


class IterRaises:
    def __iter__(self):
        raise ValueError("no iterator")

    def close(self):
        counts["iter-raises closed"] += 1


def view_bad_body(environ, start_response, query):
    start_response("200 OK", [])
    return BAD_BODIES[query["case"]]()


def view_step(environ, start_response, query):
    """Each block is given only after the test has let it: none may be held back."""
    start_response("200 OK", [])
    for name in ("one", "two", "three"):
        yield name.encode()
        gate.wait(name)


def view_length_then_waits(environ, start_response, query):
    """All bytes of Content-Length are given; the generator goes on afterwards."""
    start_response("200 OK", [("Content-Length", "4")])
    yield b"four"
    gate.wait("behind")
    counts["behind"] += 1


def view_length_then_raises(environ, start_response, query):
    start_response("200 OK", [("Content-Length", "4")])
    yield b"four"
    raise ValueError("behind the last byte")


class ClosesAtGate:
    def __iter__(self):
        return iter([b"all"])

    def close(self):
        gate.wait("close")
        counts["closed at gate"] += 1


def view_close_waits(environ, start_response, query):
    start_response("200 OK", [])
    return ClosesAtGate()


class OneBlock:
    def __len__(self):
        return 1

    def __iter__(self):
        return iter([b"single"])


def view_one_block(environ, start_response, query):
    start_response("200 OK", [])
    return OneBlock()


def view_until_gone(environ, start_response, query):
    """Yields until the client has left; the generator's end tells what it saw."""
    start_response("200 OK", [])
    gone = environ["ringtail.client_disconnected"]
    try:
        while True:
            yield b"x" * 4096
    except GeneratorExit:
        gate.note("exit", {"gone": gone(), "thread": threading.current_thread().name})
        raise


class Throwing:
    def __init__(self, error):
        self.error = error

    def __call__(self):
        raise self.error


RAISED = {"value": lambda: ValueError("from the view"), "system-exit": lambda: SystemExit(3),
          "interrupt": lambda: KeyboardInterrupt(), "generator-exit": lambda: GeneratorExit(),
          "memory": lambda: MemoryError(), "surrogate": lambda: ValueError("bad \udc80 text"),
          "stop": lambda: StopIteration("stray")}


def view_raise(environ, start_response, query):
    error = RAISED[query["case"]]()
    if query.get("when") == "started":
        start_response("200 OK", [("X-Lost", "1")])
    raise error


class BadStr(Exception):
    def __str__(self):
        raise ValueError("no text")


def view_raise_bad_str(environ, start_response, query):
    raise BadStr


def view_recurse(environ, start_response, query):
    def deep():
        return deep() + 1
    return plain(start_response, str(deep()))


def view_raise_later(environ, start_response, query):
    start_response("200 OK", [])
    yield b"sent"
    raise ValueError("too late")


# --- write()

def view_write(environ, start_response, query):
    write = start_response("200 OK", [("Content-Length", query["length"])] if "length" in query else [])
    for block in query.get("blocks", "a,b").split(","):
        write(block.encode())
    return [block.encode() for block in query.get("rest", "").split(",") if block]


def view_write_steps(environ, start_response, query):
    write = start_response("200 OK", [])
    for name in ("one", "two"):
        write(name.encode())
        gate.wait(name)
    return []


def view_write_empty_then_start(environ, start_response, query):
    write = start_response("200 OK", [])
    write(b"")
    try:
        raise LookupError("after write")
    except LookupError:
        start_response("500 Oops", [], sys.exc_info())
    return []


def view_write_str(environ, start_response, query):
    start_response("200 OK", [])("text")
    return []


def view_write_endless(environ, start_response, query):
    """write() blocks on a full buffer, and raises when the client has left."""
    write = start_response("200 OK", [])
    try:
        while True:
            write(b"x" * 65536)
            counts["written"] += 1
    except OSError as error:
        gate.note("write", type(error).__name__)
        raise


# --- input

def view_echo(environ, start_response, query):
    return plain(start_response, environ["wsgi.input"].read(), headers=[("X-Length", environ.get("CONTENT_LENGTH", "none"))])


INPUTS = {
    "read": lambda i: [i.read(), i.read(), i.read(5)],
    "read-none": lambda i: [i.read(None)],
    "read-sizes": lambda i: [i.read(0), i.read(1), i.read(3), i.read(10 ** 9), i.read(1)],
    "read-negative": lambda i: [i.read(-1)],
    "readline": lambda i: [i.readline(), i.readline(2), i.readline(0), i.readline(-1), i.readline(), i.readline(), i.readline()],
    "readlines": lambda i: i.readlines(),
    "readlines-hint": lambda i: i.readlines(4),
    "iterate": lambda i: list(i),
    "next-then-read": lambda i: [next(iter(i)), i.read()],
    "readinto": lambda i: [bytes(memoryview(bytearray(4))[:i.readinto(bytearray(4))]), i.read()],
    "buffered": lambda i: [io.BufferedReader(i).read()],
    "text": lambda i: [line.encode() for line in io.TextIOWrapper(io.BufferedReader(i), "latin-1", newline="")],
    "close": lambda i: [i.close() or b"", i.read()],
    "read1": lambda i: [i.read1(3), i.read()],
}


def view_input(environ, start_response, query):
    parts = INPUTS[query["case"]](environ["wsgi.input"])
    return as_json(start_response, [part.decode("latin-1") for part in parts])


def view_input_wrong(environ, start_response, query):
    errors = []
    for use in (lambda i: i.read("x"), lambda i: i.read(1, 2), lambda i: i.readline(1.5), lambda i: i.readinto(b"x"),
                lambda i: i.write(b"x")):
        try:
            use(environ["wsgi.input"])
            errors.append(None)
        except Exception as error:
            errors.append(type(error).__name__)
    return as_json(start_response, errors)


def view_input_digest(environ, start_response, query):
    """Reads a large body in pieces of every size."""
    import hashlib
    digest, size = hashlib.sha256(), 1
    while True:
        block = environ["wsgi.input"].read(size)
        if not block:
            break
        digest.update(block)
        size = size * 3 % 200003
    return plain(start_response, digest.hexdigest())


def view_input_lines(environ, start_response, query):
    import hashlib
    digest, count = hashlib.sha256(), 0
    for line in environ["wsgi.input"]:
        digest.update(line)
        count += 1
    return plain(start_response, f"{count} {digest.hexdigest()}")


def view_input_late(environ, start_response, query):
    """A thread reads the body on and on while the request ends under it."""
    stream = environ["wsgi.input"]
    started = threading.Event()

    def run():
        try:
            while True:
                if not stream.read(100):
                    counts["late empty"] += 1
                    break
                started.set()
        except ValueError:
            counts["late closed"] += 1
        finally:
            started.set()
            gate.note("late")
    threading.Thread(target=run, daemon=True).start()
    started.wait()
    return plain(start_response, "ended")


# --- errors

def view_errors(environ, start_response, query):
    errors = environ["wsgi.errors"]
    errors.write("one line\n")
    errors.write("first ")
    errors.flush()
    errors.write("and second half\n")
    errors.writelines(["from ", "a list\n"])
    errors.write("unfinished")
    print("printed", 5, file=errors)
    print("caf\xe9 \u20ac \udc80", file=errors)
    try:
        errors.write(b"bytes")
        error = None
    except TypeError as caught:
        error = str(caught)
    errors.write("left open")
    return plain(start_response, str(error))


def view_errors_logging(environ, start_response, query):
    import logging
    handler = logging.StreamHandler(environ["wsgi.errors"])
    logger = logging.getLogger("views")
    logger.addHandler(handler)
    try:
        raise KeyError("logged by the application")
    except KeyError:
        logger.exception("trouble")
    logger.removeHandler(handler)
    return plain(start_response, "logged")


# --- files

def make_file(size):
    path = os.path.join(tempfile.gettempdir(), f"ringtail-views-{os.getpid()}-{size}")
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(bytes(i * 7 % 251 for i in range(size)))
    return path


class Watched(io.BytesIO):
    def close(self):
        counts["watched closed"] += 1
        super().close()


class Reader:
    """read() and nothing else."""

    def __init__(self, data):
        self.data = data

    def read(self, size=-1):
        block, self.data = self.data[:size], self.data[size:]
        return block


def view_file(environ, start_response, query):
    size = int(query.get("size", "100000"))
    path = make_file(size)
    kind = query.get("kind", "buffered")
    headers = [("Content-Length", query["length"])] if "length" in query else []
    start_response(query.get("status", "200 OK"), headers)
    if kind == "buffered":
        file = open(path, "rb")
        close = file.close

        def counted():
            counts["file closed"] += 1
            close()
        if "seek" in query:
            file.read(int(query["seek"]))
        kept["file"] = file
        wrapper = environ["wsgi.file_wrapper"](file, 8192)
        kept["wrapper"] = wrapper
    elif kind == "raw":
        wrapper = environ["wsgi.file_wrapper"](open(path, "rb", buffering=0))
    elif kind == "bytesio":
        wrapper = environ["wsgi.file_wrapper"](Watched(b"abc" * 10000), 1000)
    elif kind == "reader":
        wrapper = environ["wsgi.file_wrapper"](Reader(b"reader" * 1000))
    elif kind == "text":
        wrapper = environ["wsgi.file_wrapper"](open(__file__, encoding="utf-8"))
    elif kind == "gzip":
        import gzip
        with gzip.open(path + ".gz", "wb") as out:
            out.write(b"plain text " * 100)
        wrapper = environ["wsgi.file_wrapper"](gzip.open(path + ".gz", "rb"))
    elif kind == "temporary":
        file = tempfile.NamedTemporaryFile()
        file.write(b"temporary" * 1000)
        file.seek(9)
        wrapper = environ["wsgi.file_wrapper"](file)
    elif kind == "spooled":
        file = tempfile.SpooledTemporaryFile()
        file.write(b"spooled")
        file.seek(0)
        wrapper = environ["wsgi.file_wrapper"](file)
    elif kind == "unflushed":
        file = open(path + ".rw", "w+b")
        file.write(b"written just now")
        file.seek(0)
        wrapper = environ["wsgi.file_wrapper"](file)
    elif kind == "pipe":
        reader, writer = os.pipe()
        os.write(writer, b"through a pipe")
        os.close(writer)
        wrapper = environ["wsgi.file_wrapper"](os.fdopen(reader, "rb"))
    elif kind == "iterated":
        return (block for block in environ["wsgi.file_wrapper"](open(path, "rb"), 1000))
    return wrapper


def view_file_state(environ, start_response, query):
    return as_json(start_response, {"closed": kept["file"].closed, "counts": counts})


def view_file_no_start(environ, start_response, query):
    return environ["wsgi.file_wrapper"](open(make_file(100), "rb"))


def view_file_django(environ, start_response, query):
    """As Django's FileResponse does: the response's close takes the place of the file's."""
    file = open(make_file(5000), "rb")
    close = file.close

    class Proxy:
        read = property(lambda self: file.read)
        fileno = property(lambda self: file.fileno)

    proxy = Proxy()

    def response_close():
        counts["django closed"] += 1
        close()
    proxy.close = response_close
    start_response("200 OK", [("Content-Length", "5000")])
    return environ["wsgi.file_wrapper"](proxy, 4096)


# --- the module

def view_module(environ, start_response, query):
    import ringtail
    return as_json(start_response, {
        "version": ringtail.__version__, "id": ringtail.request_id(), "same": ringtail.request_id() == ringtail.request_id(),
        "timeout": [base.__name__ for base in ringtail.RequestTimeout.__mro__],
        "software": environ["SERVER_SOFTWARE"]})


def view_hints(environ, start_response, query):
    environ["wsgi.early_hints"]([("Link", "</style.css>; rel=preload"), ("X-Hint", "1")])
    return plain(start_response, "hinted")


def view_hints_bad(environ, start_response, query):
    errors = []
    for hints in ([("a\nb", "c")], [("a", "b\r\nc")], [("a",)], [("Connection", "x")], 5, [(b"a", "b")]):
        try:
            environ["wsgi.early_hints"](hints)
            errors.append(None)
        except Exception as error:
            errors.append(type(error).__name__)
    return as_json(start_response, errors)
