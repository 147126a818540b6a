# SPDX-License-Identifier: Apache-2.0
"""The linked libpython, static or shared: extension modules find Python's symbols in the process, and nothing of the server's."""
import json
import subprocess

from harness.server import python, run

APP = """
import ctypes, faulthandler, json, sys
import _ctypes, _decimal, _elementtree, _json, _socket, _sqlite3, _ssl, zlib
import decimal, sqlite3, ssl
from xml.etree import ElementTree
process = ctypes.CDLL(None)
has = lambda name: hasattr(process, name)
with open("/proc/self/maps") as maps:
    libraries = sorted({line.split()[5] for line in maps if "/libpython" in line})
print(json.dumps({
    "python": [has(name) for name in ("Py_Initialize", "_PyRuntime", "PyExc_ValueError", "PyFrame_GetLasti", "PyMarshal_ReadObjectFromString")],
    "ours": [name for name in ("config_load", "listeners_open", "log_start", "log_error", "rtail_elastic_new", "worker_start") if has(name)],
    "libraries": libraries,
    "sum": str(decimal.Decimal("0.1") + decimal.Decimal("0.2")),
    "sqlite": sqlite3.connect(":memory:").execute("select 40 + 2").fetchone(),
    "tls": ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED,
    "xml": ElementTree.fromstring("<a><b/></a>")[0].tag,
    "faulthandler": faulthandler.is_enabled(),
    "hexversion": sys.hexversion,
}))
def app(environ, start_response):
    start_response("200 OK", [])
    return []
"""


def ask(folder):
    (folder / "app.py").write_text(APP)
    status, out, err = run("--check", "app", cwd=folder, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert status == 0, err
    assert not err
    return json.loads(out.splitlines()[0])


def test_extension_modules_use_the_linked_python(tmp_path):
    said = ask(tmp_path)
    assert said["sum"] == "0.3"
    assert said["sqlite"] == [42]
    assert said["tls"]
    assert said["xml"] == "b"
    assert said["faulthandler"]
    version = subprocess.run([python(), "-c", "import sys; print(sys.hexversion)"], capture_output=True, text=True, check=True)
    assert said["hexversion"] == int(version.stdout)


def test_the_process_offers_pythons_symbols_and_none_of_the_servers(tmp_path):
    said = ask(tmp_path)
    assert all(said["python"]), said["python"]
    assert said["ours"] == []


def test_no_second_libpython_is_loaded(tmp_path):
    assert len(ask(tmp_path)["libraries"]) <= 1
