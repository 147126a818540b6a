# SPDX-License-Identifier: Apache-2.0
"""Real clients: curl, requests, urllib3, h11, http.client, wrk, ab."""
import hashlib
import http.client
import io
import json
import re
import shutil
import subprocess
import threading

import pytest
from harness.fixtures import module_server

server = module_server(threads=4)


def command(*argv, stdin=None, timeout=60):
    if not shutil.which(argv[0]):
        packages = {"ab": "apache2-utils, Fedora: httpd-tools"}
        pytest.skip(f"{argv[0]} is missing (Debian: {packages.get(argv[0], argv[0])})")
    return subprocess.run(argv, input=stdin, capture_output=True, timeout=timeout, check=False)


def curl(*argv, stdin=None):
    done = command("curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", "30", *argv, stdin=stdin)
    assert done.returncode == 0, (argv, done.stderr, done.stdout[:500])
    return done.stdout


# --- curl

def test_curl_gets(server):
    assert curl(server.url + "/") == b"hello\n"


def test_curl_posts_a_body_with_expect_100_continue(server):
    body = b"b" * 2_000_000
    assert curl("--data-binary", "@-", "-H", "Expect: 100-continue", server.url + "/echo", stdin=body) == body


def test_curl_posts_a_chunked_body(server):
    body = b"c" * 300_000
    assert curl("--data-binary", "@-", "-H", "Transfer-Encoding: chunked", server.url + "/echo", stdin=body) == body


def test_curl_reads_a_stream_by_1_0_and_by_1_1(server):
    for version in ("--http1.0", "--http1.1"):
        assert len(curl(version, server.url + "/stream?n=100&size=999")) == 99_900


def test_curl_uses_one_connection_for_many_urls(server):
    out = curl("-w", "%{num_connects}\n", "-o", "/dev/null", server.url + "/q?n=[1-50]")
    assert sum(int(line) for line in out.split()) == 1


def test_curl_head_and_options(server):
    assert b"200 OK" in curl("-I", server.url + "/bytes?n=10")
    assert b"HTTP/1.1" in curl("-i", "-X", "OPTIONS", "--request-target", "*", server.url)


def test_curl_uploads_a_form(server, tmp_path):
    (tmp_path / "file").write_bytes(b"f" * 100_000)
    out = json.loads(curl("-F", f"file=@{tmp_path}/file", "-F", "name=value", server.url + "/digest"))
    assert out["size"] > 100_000


def test_curl_sees_the_413_of_a_body_that_is_too_large(server):
    out = curl("-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@-", server.url + "/echo", stdin=b"x" * (17 << 20))
    assert out == b"413"


def test_curl_asks_for_an_upgrade_to_h2c_and_is_served_by_1_1(server):
    assert curl("--http2", server.url + "/") == b"hello\n"


# --- requests and urllib3

def test_requests_keeps_its_session_alive(server):
    requests = pytest.importorskip("requests", reason="requests is missing (Debian, Fedora: python3-requests)")
    with requests.Session() as session:
        session.trust_env = False
        for number in range(100):
            assert session.get(f"{server.url}/q?n={number}").text == str(number)
        # By its keys: newer versions of requests keep their pools under keys of their own.
        pools = session.get_adapter(server.url).poolmanager.pools
        assert [pools[key].num_connections for key in pools.keys()] == [1]


def test_requests_posts_forms_files_json_and_generators(server):
    requests = pytest.importorskip("requests", reason="requests is missing (Debian, Fedora: python3-requests)")
    with requests.Session() as session:
        session.trust_env = False
        assert session.post(server.url + "/echo", data={"a": "b c", "d": "é"}).text == "a=b+c&d=%C3%A9"
        assert session.post(server.url + "/echo", json=[1, {"a": None}]).json() == [1, {"a": None}]
        assert session.post(server.url + "/digest", files={"f": io.BytesIO(b"x" * 500_000)}).json()["size"] > 500_000
        body = session.post(server.url + "/digest", data=(b"%d," % n for n in range(5000))).json()
        expected = b"".join(b"%d," % n for n in range(5000))
        assert body == {"size": len(expected), "sha256": hashlib.sha256(expected).hexdigest()}


def test_requests_streams_a_response(server):
    requests = pytest.importorskip("requests", reason="requests is missing (Debian, Fedora: python3-requests)")
    with requests.get(server.url + "/stream?n=200&size=1234", stream=True) as response:
        assert sum(len(chunk) for chunk in response.iter_content(1000)) == 200 * 1234


def test_urllib3_with_eight_threads_on_four_connections_mixes_nothing(server):
    urllib3 = pytest.importorskip("urllib3", reason="urllib3 is missing (Debian, Fedora: python3-urllib3)")
    pool = urllib3.HTTPConnectionPool(server.address[0], server.port, maxsize=4, block=True, retries=False)
    problems = []

    def work(thread):
        for number in range(100):
            text = pool.request("GET", f"/q?n={thread}-{number}").data.decode()
            if text != f"{thread}-{number}":
                problems.append((thread, number, text))
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems and pool.num_connections == 4


def test_http_client_reads_chunks_and_keeps_the_connection(server):
    conn = http.client.HTTPConnection(*server.address, timeout=20)
    for _ in range(20):
        conn.request("GET", "/stream?n=10&size=100")
        assert len(conn.getresponse().read()) == 1000
        conn.request("POST", "/echo", body=iter([b"a", b"bc"]), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
        assert conn.getresponse().read() == b"abc"
        conn.request("HEAD", "/bytes?n=100")
        assert conn.getresponse().read() == b""
    conn.close()


# --- h11: a strict state machine of the other side

def h11_exchange(server, connection, events):
    h11 = pytest.importorskip("h11", reason="h11 is missing (Debian, Fedora: python3-h11)")
    state = h11.Connection(h11.CLIENT)
    for event in events:
        connection.send(state.send(event))
    seen, body = [], b""
    while True:
        event = state.next_event()
        if event is h11.NEED_DATA:
            state.receive_data(connection.socket.recv(65536))
            continue
        if isinstance(event, h11.Data):
            body += bytes(event.data)
        seen.append(event)
        if isinstance(event, h11.EndOfMessage):
            return seen, body, state


@pytest.mark.parametrize("target, size", [("/", 6), ("/bytes?n=100000", 100000), ("/stream?n=50&size=1000", 50000), ("/empty", 0),
                                          ("/list", 11), ("/file?n=70000", 70000), ("/status?s=204%20No%20Content", 0), ("/nothing", 10)])
def test_h11_accepts_every_kind_of_response(server, target, size):
    h11 = pytest.importorskip("h11", reason="h11 is missing (Debian, Fedora: python3-h11)")
    with server.connect() as conn:
        request = h11.Request(method="GET", target=target, headers=[("Host", "test")])
        _, body, state = h11_exchange(server, conn, [request, h11.EndOfMessage()])
        assert len(body) == size
        assert state.their_state is h11.DONE, "the connection stays usable"


def test_h11_sees_100_continue_and_then_the_answer(server):
    h11 = pytest.importorskip("h11", reason="h11 is missing (Debian, Fedora: python3-h11)")
    with server.connect() as conn:
        state = h11.Connection(h11.CLIENT)
        conn.send(state.send(h11.Request(method="POST", target="/echo", headers=[("Host", "t"), ("Content-Length", "4"), ("Expect", "100-continue")])))
        while (event := state.next_event()) is h11.NEED_DATA:
            state.receive_data(conn.socket.recv(65536))
        assert isinstance(event, h11.InformationalResponse) and event.status_code == 100
        conn.send(state.send(h11.Data(data=b"body")), state.send(h11.EndOfMessage()))
        body = b""
        while not isinstance(event, h11.EndOfMessage):
            event = state.next_event()
            if event is h11.NEED_DATA:
                state.receive_data(conn.socket.recv(65536))
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
        assert body == b"body"


# --- load generators

def test_wrk_counts_no_error(server):
    done = command("wrk", "-t", "2", "-c", "32", "-d", "3s", server.url + "/q?n=1")
    out = done.stdout.decode()
    assert done.returncode == 0, out
    assert "Socket errors" not in out and "Non-2xx" not in out, out
    assert int(re.search(r"(\d+) requests in", out)[1]) > 100, out


def test_ab_with_keep_alive_fails_no_request(server):
    done = command("ab", "-q", "-k", "-n", "3000", "-c", "16", server.url + "/q?n=1")
    out = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert re.search(r"Failed requests:\s+0\b", out) and re.search(r"Complete requests:\s+3000\b", out), out
    assert int(re.search(r"Keep-Alive requests:\s+(\d+)", out)[1]) >= 2900, out


def test_ab_without_keep_alive_fails_no_request(server):
    done = command("ab", "-q", "-n", "2000", "-c", "16", server.url + "/q?n=1")
    out = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert re.search(r"Failed requests:\s+0\b", out) and re.search(r"Complete requests:\s+2000\b", out), out
