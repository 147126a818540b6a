# SPDX-License-Identifier: Apache-2.0
"""Applications of Flask, Bottle and Falcon."""
import json
import subprocess
from pathlib import Path

import pytest
from harness import Server
from harness.server import python

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

BOTTLE = '''
import bottle

app = bottle.Bottle()

@app.get("/")
def index():
    return "hello from Bottle"

@app.post("/sum")
def add():
    return {"sum": sum(bottle.request.json)}

@app.get("/count/<number:int>")
def count(number):
    for n in range(number):
        yield f"{n}\\n"

@app.get("/cookie")
def cookie():
    bottle.response.set_cookie("name", "value", path="/")
    bottle.response.add_header("X-Many", "1")
    bottle.response.add_header("X-Many", "2")
    return bottle.request.get_cookie("name") or "none"

@app.post("/upload")
def upload():
    file = bottle.request.files.get("file")
    return {"name": file.filename, "size": len(file.file.read())}
'''

FALCON = '''
import falcon

class Index:
    def on_get(self, req, resp):
        resp.text = "hello from Falcon"

class Sum:
    def on_post(self, req, resp):
        resp.media = {"sum": sum(req.media)}

class Count:
    def on_get(self, req, resp, number):
        resp.stream = (f"{n}\\n".encode() for n in range(number))

app = falcon.App()
app.add_route("/", Index())
app.add_route("/sum", Sum())
app.add_route("/count/{number:int}", Count())
'''

FLASK = '''
import os
from flask import Flask, Response, abort, redirect, request, send_file, session, stream_with_context

app = Flask(__name__)
app.secret_key = "test"

@app.get("/file")
def file():
    return send_file(__file__, as_attachment=True)

@app.get("/visits")
def visits():
    session["visits"] = session.get("visits", 0) + 1
    return str(session["visits"])

@app.get("/stream")
def stream():
    return Response(stream_with_context(f"{request.args['name']}-{n}\\n" for n in range(100)))

@app.get("/missing")
def missing():
    abort(404)

@app.get("/error")
def error():
    raise RuntimeError("a Flask view that fails")

@app.post("/upload")
def upload():
    return {"size": len(request.files["file"].read()), "name": request.form["name"]}

@app.get("/redirect")
def away():
    return redirect("/visits")
'''


def need(module, package):
    if subprocess.run([python(), "-c", f"import {module}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{module} is missing (Debian, Fedora: {package})")


@pytest.fixture(params=["flask factory", "bottle", "falcon"])
def server(request, tmp_path):
    framework = request.param.split()[0]
    need(framework, f"python3-{framework}")
    if framework == "flask":
        server = Server("app:create_app()", app_dir=EXAMPLES / "flask")
    else:
        (tmp_path / "site_app.py").write_text(BOTTLE if framework == "bottle" else FALCON)
        server = Server(tmp_path / "site_app.py")
    server.name = framework.capitalize()
    with server:
        yield server


@pytest.fixture
def flask(tmp_path):
    need("flask", "python3-flask")
    (tmp_path / "site_app.py").write_text(FLASK)
    with Server(tmp_path / "site_app.py") as server:
        yield server


def test_a_page_is_served(server):
    assert server.get("/").text.strip() == f"hello from {server.name}"


def test_json_goes_both_ways(server):
    response = server.get("/sum", "POST", [("Content-Type", "application/json")], json.dumps([1, 2, 39]).encode())
    assert response.json() == {"sum": 42}


def test_a_generator_is_streamed(server):
    assert server.get("/count/500").text == "".join(f"{n}\n" for n in range(500))


def test_an_unknown_path_and_a_wrong_method_are_the_frameworks_answers(server):
    assert server.get("/nowhere").status == 404
    assert server.get("/", "DELETE").status == 405


def test_head_is_answered(server):
    assert server.get("/", "HEAD").status in (200, 405)


def test_flask_sends_a_file_by_the_file_wrapper(flask):
    response = flask.get("/file")
    assert response.text == FLASK and response.get("Content-Length") == str(len(FLASK))
    etag = response.get("ETag")
    assert flask.get("/file", headers=[("If-None-Match", etag)]).status == 304


def test_flask_keeps_a_session(flask):
    response = flask.get("/visits")
    cookie = response.get("Set-Cookie").split(";")[0]
    assert response.text == "1"
    assert flask.get("/visits", headers=[("Cookie", cookie)]).text == "2"


def test_flask_streams_with_its_request_context(flask):
    assert flask.get("/stream?name=ctx").text == "".join(f"ctx-{n}\n" for n in range(100))


def test_flask_errors_are_its_own(flask):
    assert flask.get("/missing").status == 404
    response = flask.get("/error")
    assert response.status == 500 and "Internal Server Error" in response.text
    flask.wait_log("a Flask view that fails")
    flask.expect(r"(?s).*RuntimeError: a Flask view that fails\n")


def test_flask_takes_an_upload(flask):
    body = (b'--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n'
            b"Content-Type: application/octet-stream\r\n\r\n" + b"\r\n" * 150_000 + b"\r\n--b--\r\n")
    response = flask.get("/upload", "POST", [("Content-Type", "multipart/form-data; boundary=b")], body)
    assert response.json() == {"name": "x", "size": 300_000}


def test_flask_redirects(flask):
    response = flask.get("/redirect")
    assert response.status == 302 and response.get("Location") in ("/visits", "http://test/visits")


def test_the_hello_example_is_served():
    with Server(EXAMPLES / "hello" / "app.py") as server:
        assert server.get("/").text.startswith("hello from ")
