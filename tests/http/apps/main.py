# SPDX-License-Identifier: Apache-2.0
"""The application behind the HTTP tests: a view for each thing that a server can be asked to do."""
import collections
import hashlib
import io
import json
import os
import tempfile
import threading
import time
from urllib.parse import parse_qs

try:
    import gate
except ImportError:
    gate = None

calls = collections.Counter()
calls_lock = threading.Lock()
VIEWS = {}
streams = {}


def view(path):
    def register(function):
        VIEWS[path] = function
        return function
    return register


def application(environ, start_response):
    path = environ["PATH_INFO"]
    query = {key: values[-1] for key, values in parse_qs(environ["QUERY_STRING"], keep_blank_values=True).items()}
    with calls_lock:
        calls[path] += 1
        if "tag" in query:
            calls[query["tag"]] += 1
    function = VIEWS.get(path)
    if function is None:
        start_response("404 Not Found", [("Content-Type", "text/plain"), ("Content-Length", "10")])
        return [b"not found\n"]
    return function(environ, start_response, query)


def plain(start_response, body, status="200 OK", headers=()):
    start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(body))), *headers])
    return [body]


@view("/")
def hello(environ, start_response, query):
    return plain(start_response, b"hello\n")


@view("/q")
def answer(environ, start_response, query):
    """Its own number, so that order can be told."""
    return plain(start_response, query["n"].encode())


@view("/calls")
def count(environ, start_response, query):
    with calls_lock:
        number = calls[query["of"]]
    return plain(start_response, str(number).encode())


@view("/environ")
def show_environ(environ, start_response, query):
    body = json.dumps({key: value for key, value in environ.items() if isinstance(value, str)}).encode()
    return plain(start_response, body)


@view("/echo")
def echo(environ, start_response, query):
    body = environ["wsgi.input"].read()
    return plain(start_response, body, headers=[("X-Method", environ["REQUEST_METHOD"])])


@view("/digest")
def digest(environ, start_response, query):
    """Length and SHA-256 of the body, read in pieces."""
    sha, size = hashlib.sha256(), 0
    while True:
        piece = environ["wsgi.input"].read(65536)
        if not piece:
            break
        sha.update(piece)
        size += len(piece)
    return plain(start_response, json.dumps({"size": size, "sha256": sha.hexdigest()}).encode())


@view("/ignore-body")
def ignore_body(environ, start_response, query):
    return plain(start_response, b"ignored")


def pattern(size, seed=0):
    """size bytes that no shift of themselves equals."""
    block = hashlib.sha256(str(seed).encode()).digest()
    out = bytearray()
    counter = 0
    while len(out) < size:
        block = hashlib.sha256(block + counter.to_bytes(4, "big")).digest()
        out += block * 64
        counter += 1
    return bytes(out[:size])


@view("/bytes")
def some_bytes(environ, start_response, query):
    return plain(start_response, pattern(int(query["n"])))


@view("/stream")
def stream(environ, start_response, query):
    """n chunks of size bytes, framed by the server."""
    size, number = int(query.get("size", "10")), int(query.get("n", "3"))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return (chr(97 + index % 26).encode() * size for index in range(number))


@view("/stream-length")
def stream_length(environ, start_response, query):
    """As /stream, with a Content-Length."""
    size, number = int(query.get("size", "10")), int(query.get("n", "3"))
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(size * number))])
    return (chr(97 + index % 26).encode() * size for index in range(number))


@view("/empty")
def empty(environ, start_response, query):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return []


@view("/empty-chunks")
def empty_chunks(environ, start_response, query):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return iter([b"", b"one", b"", b"two", b""])


@view("/list")
def ready_list(environ, start_response, query):
    """Several ready bytes objects and no Content-Length."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"one", b"two", b"three"]


@view("/status")
def status(environ, start_response, query):
    start_response(query["s"], [("Content-Type", "text/plain")] if query["s"][0] == "2" else [])
    return [query.get("body", "").encode()]


@view("/headers")
def headers(environ, start_response, query):
    """Response headers given as JSON pairs."""
    start_response("200 OK", [tuple(pair) for pair in json.loads(query["h"])])
    return [query.get("body", "body").encode()]


@view("/write")
def write(environ, start_response, query):
    put = start_response("200 OK", [("Content-Type", "text/plain")])
    put(b"written ")
    put(b"twice ")
    return [b"and returned"]


@view("/too-many")
def too_many(environ, start_response, query):
    start_response("200 OK", [("Content-Length", "5")])
    return iter([b"123", b"456789"])


@view("/too-few")
def too_few(environ, start_response, query):
    start_response("200 OK", [("Content-Length", "100")])
    return [b"only this"]


@view("/error")
def error(environ, start_response, query):
    raise RuntimeError("a view that fails")


@view("/error-late")
def error_late(environ, start_response, query):
    """Fails after its first chunk has been sent."""
    start_response("200 OK", [("Content-Type", "text/plain")])

    def generate():
        yield b"first"
        if "gate" in query:
            gate.wait(query["gate"])
        raise RuntimeError("a generator that fails")
    return generate()


@view("/errors-log")
def errors_log(environ, start_response, query):
    environ["wsgi.errors"].write(query["text"] + "\n")
    environ["wsgi.errors"].flush()
    return plain(start_response, b"logged")


@view("/sleep")
def sleep(environ, start_response, query):
    time.sleep(int(query["ms"]) / 1000)
    return plain(start_response, b"slept")


@view("/burn")
def burn(environ, start_response, query):
    """Computes, with the GIL, for this long."""
    end = time.monotonic() + int(query["ms"]) / 1000
    number = 0
    while time.monotonic() < end:
        number += 1
    return plain(start_response, b"burnt")


@view("/thread")
def thread(environ, start_response, query):
    return plain(start_response, threading.current_thread().name.encode())


@view("/threads")
def threads(environ, start_response, query):
    """Names of the Python threads that live now."""
    return plain(start_response, json.dumps(sorted(t.name for t in threading.enumerate())).encode())


@view("/gate")
def stand(environ, start_response, query):
    """Waits at the gate; answers with what the test says."""
    return plain(start_response, str(gate.wait(query["name"])).encode())


@view("/gate-body")
def stand_body(environ, start_response, query):
    """Notes that it was called, then echoes."""
    gate.note(query["name"])
    return plain(start_response, environ["wsgi.input"].read())


class Noted:
    """A generator object whose close() is told to the test, with the thread that called it."""

    def __init__(self, name, generator):
        self.name = name
        self.generator = generator

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.generator)

    def close(self):
        self.generator.close()
        gate.note(self.name + "-closed", threading.current_thread().name)


@view("/gate-stream")
def gate_stream(environ, start_response, query):
    """Before each chunk it stands at the gate NAME; the test's answer is the chunk, "" ends it. close() is noted."""
    start_response("200 OK", [("Content-Type", "text/plain")])

    def generate():
        while True:
            chunk = gate.wait(query["name"])
            if not chunk:
                return
            yield chunk.encode()
    return Noted(query["name"], generate())


@view("/endless")
def endless(environ, start_response, query):
    """Chunks of size bytes without end (or n of them); notes the thread of each step and of close()."""
    size, number = int(query.get("size", "65536")), int(query.get("n", "1000000000"))
    start_response("200 OK", [("Content-Type", "application/octet-stream")])
    state = {"threads": set(), "chunks": 0}
    streams[query["name"]] = state

    def generate():
        chunk = b"x" * size
        for _ in range(number):
            state["threads"].add(threading.current_thread().name)
            state["chunks"] += 1
            yield chunk
    return Noted(query["name"], generate())


@view("/endless-state")
def endless_state(environ, start_response, query):
    """How far the /endless of this name has come, and on which threads it ran."""
    state = streams.get(query["name"], {"threads": (), "chunks": 0})
    return plain(start_response, json.dumps({"threads": sorted(state["threads"]), "chunks": state["chunks"]}).encode())


@view("/endless-write")
def endless_write(environ, start_response, query):
    """Writes by the write callable without end (or n times); a write after the client has gone raises or returns."""
    size, number = int(query.get("size", "65536")), int(query.get("n", "100000"))
    put = start_response("200 OK", [("Content-Type", "application/octet-stream")])
    try:
        for _ in range(number):
            if environ["ringtail.client_disconnected"]():
                break
            put(b"x" * size)
    finally:
        gate.note(query["name"] + "-ended", threading.current_thread().name)
    return []


@view("/until-gone")
def until_gone(environ, start_response, query):
    """Says that it runs, polls client_disconnected, says that it saw the client go."""
    gate.note(query["name"] + "-runs")
    end = time.monotonic() + float(query.get("seconds", "30"))
    seen = False
    while not seen and time.monotonic() < end:
        time.sleep(0.005)
        seen = environ["ringtail.client_disconnected"]()
    gate.note(query["name"] + "-saw", {"gone": bool(seen), "waitress": bool(environ["waitress.client_disconnected"]())})
    return plain(start_response, b"still here")


@view("/connected")
def connected(environ, start_response, query):
    """What client_disconnected says while the client is there, asked between two gates."""
    gate.wait(query["name"])
    return plain(start_response, json.dumps(bool(environ["ringtail.client_disconnected"]())).encode())


@view("/early-hints")
def early_hints(environ, start_response, query):
    hints = environ.get("wsgi.early_hints")
    if hints:
        hints([("Link", "</style.css>; rel=preload; as=style")])
    if "gate" in query:
        gate.wait(query["gate"])
    return plain(start_response, b"hinted" if hints else b"none")


class Told:
    """A real file whose close() is told to the test; read is the file's own."""

    def __init__(self, file, name):
        self.file = file
        self.read = file.read
        self.fileno = file.fileno
        self.name = name

    def close(self):
        gate.note(self.name + "-closed")
        self.file.close()


@view("/file")
def send_file(environ, start_response, query):
    """An unlinked real file by wsgi.file_wrapper: n bytes from offset; length gives Content-Length, name notes its close()."""
    handle, path = tempfile.mkstemp(prefix="ringtail-test-")
    os.unlink(path)
    file = open(handle, "r+b")
    data = memoryview(pattern(int(query["n"])))
    while data:
        data = data[file.write(data):]
    file.seek(int(query.get("offset", "0")))
    fields = [("Content-Type", "application/octet-stream")]
    if "length" in query:
        fields.append(("Content-Length", query["length"]))
    start_response("200 OK", fields)
    return environ["wsgi.file_wrapper"](Told(file, query["name"]) if "name" in query else file, 8192)


@view("/file-memory")
def send_memory(environ, start_response, query):
    """A file-like object without a descriptor."""
    start_response("200 OK", [("Content-Type", "application/octet-stream")])
    return environ["wsgi.file_wrapper"](io.BytesIO(pattern(int(query["n"]))))


app = application
