# SPDX-License-Identifier: Apache-2.0
"""A Flask application made by a factory: `ringtail --app-dir examples/flask 'app:create_app()'`."""
from flask import Flask, jsonify, request


def create_app():
    app = Flask(__name__)

    @app.get("/")
    def index():
        return "hello from Flask\n"

    @app.post("/sum")
    def add():
        return jsonify(sum=sum(request.get_json()))

    @app.get("/count/<int:number>")
    def count(number):
        return (f"{n}\n" for n in range(number)), {"Content-Type": "text/plain"}

    return app
