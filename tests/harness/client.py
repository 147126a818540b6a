# SPDX-License-Identifier: Apache-2.0
"""A raw connection and a strict reader of responses (RFC 9112).

The reader forgives nothing: what it cannot frame is a ProtocolError that shows the bytes. Every connection keeps what it
sent and received; conftest prints both when a test fails.
"""
import re
import socket
import struct
import time

from .wait import DEADLINE

# The server's own version, whatever the client speaks (RFC 9110 2.5).
STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5]\d\d) ([\t\x20-\x7e\x80-\xff]*)")
PEER_STATUS_LINE = re.compile(STATUS_LINE.pattern.replace(rb"1\.1", rb"1\.[01]"))
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*")
CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]+")
NO_BODY = (204, 304)

# Every connection of the running test, for its failure report.
transcript = []


class ProtocolError(AssertionError):
    """The server's bytes are not HTTP/1.1, or not what was waited for."""


class Response:
    """One response: status, reason, headers (list of (name, value) as sent, str), body (bytes), framing."""

    def __init__(self, status, reason, headers, body, framing):
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
        self.framing = framing  # "length", "chunked", "close", "none"
        self.chunks = []
        self.interim = []       # 1xx responses that came before

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def get(self, name, default=None):
        values = self.all(name)
        if len(values) > 1:
            raise ProtocolError(f"{name} came {len(values)} times: {values}")
        return values[0] if values else default

    @property
    def connection(self):
        """Tokens of Connection, lower case."""
        return [token.strip().lower() for value in self.all("Connection") for token in value.split(",")]

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        import json
        return json.loads(self.body)

    def __repr__(self):
        body = self.body if len(self.body) < 200 else self.body[:200] + b"..."
        return f"<{self.status} {self.reason} {self.headers} {self.framing} {body!r}>"


class Connection:
    def __init__(self, address, timeout=None, rcvbuf=None, source=None, is_peer=False):
        """is_peer: the server is another one, which may answer by HTTP/1.0."""
        self.is_peer = is_peer
        self.timeout = DEADLINE if timeout is None else timeout
        if isinstance(address, str):
            family = socket.AF_UNIX
        else:
            family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(self.timeout)
        if rcvbuf:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect(address)
        if family != socket.AF_UNIX:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.sent = bytearray()
        self.received = bytearray()
        self.is_eof = False
        transcript.append(self)

    # --- sending

    def send(self, *pieces):
        """Each piece is a send of its own."""
        for piece in pieces:
            self.sent += piece
            self.socket.sendall(piece)
        return self

    def send_bytewise(self, data):
        for index in range(len(data)):
            self.send(data[index:index + 1])
        return self

    def try_send(self, data):
        """As send; False when the server has closed or reset the connection meanwhile."""
        try:
            self.send(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def request(self, method="GET", target="/", headers=(), body=b"", version="1.1", host="test"):
        """A well-formed request; Content-Length added for a body."""
        lines = [f"{method} {target} HTTP/{version}"]
        if host is not None:
            lines.append(f"Host: {host}")
        lines += [f"{name}: {value}" for name, value in headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        return self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def reset(self):
        """Closes with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self):
        self.socket.close()

    # --- receiving

    def fail(self, what):
        raise ProtocolError(f"{what}\n{self.describe()}")

    def describe(self):
        def show(data):
            data = bytes(data)
            return repr(data) if len(data) <= 1500 else f"{data[:600]!r} ... ({len(data)} bytes) ... {data[-400:]!r}"
        return f"sent: {show(self.sent)}\nreceived: {show(self.received)}{' EOF' if self.is_eof else ''}"

    def fill(self, what):
        """One more receive into the buffer; False at end of file."""
        if self.is_eof:
            return False
        try:
            data = self.socket.recv(262144)
        except socket.timeout:
            self.fail(f"nothing within {self.timeout:g} s while waiting for {what}")
        except ConnectionResetError:
            self.fail(f"connection reset while waiting for {what}")
        if not data:
            self.is_eof = True
            return False
        self.received += data
        self.buffer += data
        return True

    def available(self):
        """What has arrived by now, without waiting (kept for the next read)."""
        self.socket.setblocking(False)
        try:
            while True:
                data = self.socket.recv(262144)
                if not data:
                    self.is_eof = True
                    break
                self.received += data
                self.buffer += data
        except BlockingIOError:
            pass
        finally:
            self.socket.settimeout(self.timeout)
        return self.buffer

    def read_exactly(self, size, what="bytes"):
        parts = [self.buffer]
        have = len(self.buffer)
        while have < size:
            self.buffer = b""
            if not self.fill(what):
                self.fail(f"end of file after {have} of {size} bytes of {what}")
            parts.append(self.buffer)
            have += len(self.buffer)
        data = b"".join(parts)
        self.buffer = data[size:]
        return data[:size]

    def read_line(self, what):
        while True:
            end = self.buffer.find(b"\n")
            if end >= 0:
                line, self.buffer = self.buffer[:end + 1], self.buffer[end + 1:]
                if not line.endswith(b"\r\n") or b"\r" in line[:-2]:
                    self.fail(f"{what}: line not ended by exactly CRLF: {line!r}")
                return line[:-2]
            if len(self.buffer) > 65536:
                self.fail(f"{what}: no line end in 64 KiB")
            if not self.fill(what):
                self.fail(f"end of file in {what}: {self.buffer!r}")

    def read_head(self):
        line = self.read_line("the status line")
        match = (PEER_STATUS_LINE if self.is_peer else STATUS_LINE).fullmatch(line)
        if not match:
            self.fail(f"not a status line: {line!r}")
        headers = []
        while True:
            line = self.read_line("a header line")
            if not line:
                break
            field = FIELD.fullmatch(line)
            if not field:
                self.fail(f"not a header line: {line!r}")
            headers.append((field[1].decode("ascii"), field[2].decode("latin-1")))
        return int(match[1]), match[2].decode("latin-1"), headers

    def read_response(self, method="GET", interim=True, body=True):
        """The next response. interim: skip over 1xx (kept in .interim). body=False: only the head (framing is told)."""
        skipped = []
        while True:
            status, reason, headers = self.read_head()
            response = Response(status, reason, headers, b"", "none")
            if status >= 200 or not interim:
                break
            self.check_no_framing(response)
            skipped.append(response)
        response.interim = skipped
        lengths = response.all("Content-Length")
        codings = response.all("Transfer-Encoding")
        if len(lengths) > 1:
            self.fail(f"Content-Length {len(lengths)} times")
        if lengths and not re.fullmatch(r"\d+", lengths[0]):
            self.fail(f"Content-Length {lengths[0]!r}")
        if codings and lengths:
            self.fail("both Transfer-Encoding and Content-Length")
        if codings and codings != ["chunked"]:
            self.fail(f"Transfer-Encoding {codings!r}")
        if status < 200 or status == 204:
            self.check_no_framing(response)
            return response
        if method == "HEAD" or status in NO_BODY:
            return response
        if codings:
            response.framing = "chunked"
        elif lengths:
            response.framing = "length"
        else:
            response.framing = "close"
        if not body:
            return response
        if codings:
            self.read_chunked(response)
        elif lengths:
            response.body = self.read_exactly(int(lengths[0]), "the body")
        else:
            if "close" not in response.connection:
                self.fail("a body framed by close without Connection: close")
            response.body = self.read_rest()
        return response

    def check_no_framing(self, response):
        if response.all("Content-Length") or response.all("Transfer-Encoding"):
            self.fail(f"{response.status} must not be framed (RFC 9110 8.6, RFC 9112 6.1)")

    def read_chunk(self):
        """The data of the next chunk; b"" is the last one, its trailer section read."""
        line = self.read_line("a chunk size")
        if not CHUNK_SIZE.fullmatch(line):
            self.fail(f"not a chunk size: {line!r}")
        size = int(line, 16)
        if not size:
            if self.read_line("the end of the trailer section"):
                self.fail("trailers, or bytes behind the last chunk")
            return b""
        data = self.read_exactly(size, "a chunk")
        if self.read_exactly(2, "the end of a chunk") != b"\r\n":
            self.fail("a chunk not ended by CRLF")
        return data

    def read_chunked(self, response):
        while True:
            data = self.read_chunk()
            if not data:
                break
            response.chunks.append(data)
        response.body = b"".join(response.chunks)

    def read_rest(self):
        """Everything until end of file."""
        parts = [self.buffer]
        self.buffer = b""
        while self.fill("end of file"):
            parts.append(self.buffer)
            self.buffer = b""
        return b"".join(parts)

    def read_close(self):
        """The server closes in order, and nothing comes before it."""
        rest = self.read_rest()
        if rest:
            self.fail(f"{rest[:200]!r} where the close was expected")

    def read_end(self):
        """The server ends the connection, by FIN or RST; what came before is returned, and whether it was a reset."""
        try:
            data = self.read_rest()
        except ProtocolError as error:
            if "reset" in str(error).splitlines()[0]:
                return bytes(self.buffer), True
            raise
        return data, False

    def expect_quiet(self):
        """Nothing has come and the connection is open, now."""
        data = self.available()
        if data or self.is_eof:
            self.fail("expected silence on an open connection")

    def roundtrip(self, method="GET", target="/", **kwargs):
        self.request(method, target, **kwargs)
        return self.read_response(method)

    def elapsed(self, function):
        start = time.monotonic()
        value = function()
        return time.monotonic() - start, value

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def connect(address, **kwargs):
    return Connection(address, **kwargs)


class _Bytes(Connection):
    """A reader over bytes that are here already."""

    def __init__(self, data):
        self.is_peer = False
        self.buffer = data
        self.received = bytearray(data)
        self.sent = bytearray()
        self.is_eof = True
        self.timeout = 0


def parse_responses(data, methods=("GET",)):
    """All responses in data, one a method; anything left over is an error."""
    reader = _Bytes(data)
    responses = [reader.read_response(method) for method in methods]
    if reader.buffer:
        reader.fail(f"bytes behind the last response: {reader.buffer[:200]!r}")
    return responses
