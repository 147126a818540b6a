# SPDX-License-Identifier: Apache-2.0
"""The objects of one request in the hands of many threads at once: nothing is lost and nothing crashes, with or without a GIL."""
import pytest

from harness import Server, wait_for

APP = '''
import sys
import threading

ROUNDS = 2000

def together(work, count=4):
    """Runs work(number) on threads that begin at the same time; what they return, and what they raise."""
    barrier, results = threading.Barrier(count), [None] * count
    def run(number):
        barrier.wait()
        try:
            results[number] = work(number)
        except Exception as error:
            results[number] = error
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results

def read(environ, start_response):
    body = environ["wsgi.input"]
    def work(number):
        pieces = []
        while piece := (body.read(3) if number % 2 else body.readline()):
            pieces.append(piece)
        return b"".join(pieces)
    parts = together(work)
    total = b"".join(parts)
    return str([len(total), sorted(total) == sorted(b"0123456789abcde\\n" * 20000)])

def errors(environ, start_response):
    def work(number):
        for turn in range(200):
            environ["wsgi.errors"].write(f"thread-{number} line {turn}\\n")
            environ["wsgi.errors"].flush()
    return str(together(work))

def environ_shared(environ, start_response):
    def work(number):
        for turn in range(ROUNDS):
            copy = dict(environ)
            environ[f"x-{number}"] = turn
            assert copy["REQUEST_METHOD"] == "GET" and not copy["ringtail.client_disconnected"]()
            copy["wsgi.file_wrapper"], copy["wsgi.early_hints"]
        return environ[f"x-{number}"]
    return str(together(work))

def headers(environ, start_response):
    """start_response walks a list that others change."""
    fields, stop = [("X-A", "1")] * 50, threading.Event()
    def change():
        while not stop.is_set():
            del fields[25:]
            fields.extend([("X-A", "1")] * 25)
    threads = [threading.Thread(target=change) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(200):
            try:
                raise ValueError
            except ValueError:
                start_response("200 OK", fields, sys.exc_info())
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return None

VIEWS = {"/read": read, "/errors": errors, "/environ": environ_shared, "/headers": headers}

def application(environ, start_response):
    path = environ["PATH_INFO"]
    text = VIEWS[path](environ, start_response)
    if path != "/headers":
        start_response("200 OK", [("Content-Type", "text/plain")])
    return [(text or "ok").encode()]
'''


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = tmp_path_factory.mktemp("shared") / "shared_app.py"
    path.write_text(APP)
    with Server(path, threads=4, body_memory="100k") as server:
        yield server


@pytest.mark.parametrize("size", ["in memory", "in a file"])
def test_threads_that_read_the_same_body_get_each_byte_once(server, size, tmp_path):
    body = b"0123456789abcde\n" * 20000
    if size == "in memory":
        (tmp_path / "app.py").write_text(APP)
        with Server(tmp_path / "app.py") as other:
            assert other.get("/read", "POST", body=body).text == "[320000, True]"
    else:
        assert server.get("/read", "POST", body=body).text == "[320000, True]"


def test_threads_that_write_to_the_same_wsgi_errors_lose_no_line(server):
    assert server.get("/errors").text == "[None, None, None, None]"
    text = wait_for(lambda: server.log().count(" line ") >= 800 and server.log(), "800 lines")
    for number in range(4):
        for turn in range(200):
            assert f"thread-{number} line {turn}\n" in text
    server.expect(r"[^\n]*thread-\d line \d+\n")


def test_threads_share_an_environ(server):
    assert server.get("/environ").text == "[1999, 1999, 1999, 1999]"


def test_a_list_of_headers_that_others_change_is_walked_safely(server):
    response = server.get("/headers")
    assert response.status == 200 and set(response.all("X-A")) == {"1"} and 25 <= len(response.all("X-A")) <= 50
