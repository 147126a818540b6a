# SPDX-License-Identifier: Apache-2.0
"""A view of five short queries on SQLite: the GIL is given up and taken again ten times a request."""
import os
import sqlite3
import tempfile
import threading

PATH = os.path.join(tempfile.mkdtemp(prefix="ringtail-queries-"), "db")
local = threading.local()

setup = sqlite3.connect(PATH)
setup.execute("create table t (n integer primary key, filler text)")
setup.executemany("insert into t values (?, ?)", ((n, "x" * 100) for n in range(1000)))
setup.commit()
setup.close()


def application(environ, start_response):
    db = getattr(local, "db", None)
    if db is None:
        db = local.db = sqlite3.connect(PATH)
    total = 0
    for turn in range(5):
        total += db.execute("select sum(length(filler)) from t where n between ? and ?", (turn * 100, turn * 100 + 50)).fetchone()[0]
    body = str(total).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
