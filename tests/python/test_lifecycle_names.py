# SPDX-License-Identifier: Apache-2.0
"""APP on the command line: what is found, and what is said when nothing is (SPEC 1)."""
import os
import re

import pytest
from harness.server import run

WSGI = """
def {name}(environ, start_response):
    start_response("200 OK", [])
    return [b"{text}"]
"""


def write(folder, **files):
    """Files by name: a__b stands for a/b and a____init__ for a/__init__; .py is added."""
    for name, text in files.items():
        folders, is_package, _ = name.partition("____init__")
        path = folder.joinpath(*folders.split("__"), "__init__.py") if is_package else folder.joinpath(*(name + ".py").split("__"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def check(folder, app, *options, env=None):
    """ringtail --check: (status, standard output, standard error)."""
    return run("--check", *options, app, cwd=folder, env={"PYTHONDONTWRITEBYTECODE": "1", **(env or {})})


def taken(folder, app, *options):
    status, out, err = check(folder, app, *options)
    assert status == 0, err
    assert not err
    return re.search(r"and (\S+) can be served", out)[1]


def refused(folder, app, *options, status=1, env=None):
    """What standard error says: (what was shown before, the message). It is the last line, and one."""
    got, out, err = check(folder, app, *options, env=env)
    assert got == status, (got, out, err)
    assert not out
    lines = err.splitlines()
    assert lines and lines[-1].startswith("ringtail: "), err
    assert sum(line.startswith("ringtail: ") for line in lines) == 1
    return "\n".join(lines[:-1]), lines[-1]


# --- found

def test_a_bare_module_tries_wsgi_application_then_application_then_app(tmp_path):
    write(tmp_path, both=WSGI.format(name="app", text="1") + WSGI.format(name="application", text="2"),
          only=WSGI.format(name="app", text="1"), pack____init__=WSGI.format(name="app", text="3"))
    assert taken(tmp_path, "both") == "both:application"
    assert taken(tmp_path, "only") == "only:app"
    assert taken(tmp_path, "pack") == "pack:app"


def test_a_package_with_a_wsgi_module(tmp_path):
    write(tmp_path, mysite____init__="", mysite__wsgi=WSGI.format(name="application", text="x"))
    assert taken(tmp_path, "mysite") == "mysite.wsgi:application"
    assert taken(tmp_path, "mysite.wsgi") == "mysite.wsgi:application"
    assert taken(tmp_path, "mysite.wsgi:application") == "mysite.wsgi:application"


def test_a_package_whose_wsgi_module_has_no_application(tmp_path):
    write(tmp_path, mysite____init__=WSGI.format(name="application", text="x"), mysite__wsgi="")
    assert taken(tmp_path, "mysite") == "mysite:application"


def test_files(tmp_path):
    write(tmp_path, app=WSGI.format(name="app", text="x"), sub__other=WSGI.format(name="application", text="y"))
    assert taken(tmp_path, "app.py") == "app.py:app"
    assert taken(tmp_path, "./app.py:app") == "./app.py:app"
    assert taken(tmp_path, "sub/other.py") == "sub/other.py:application"
    assert taken(tmp_path / "sub", "../app.py") == "../app.py:app"
    assert taken("/", f"{tmp_path}/app.py") == f"{tmp_path}/app.py:app"


def test_the_folder_of_a_file_is_on_the_path(tmp_path):
    write(tmp_path, sub__helper="text = 'x'", sub__main="import helper\n" + WSGI.format(name="app", text="y"))
    assert taken(tmp_path, "sub/main.py") == "sub/main.py:app"


def test_a_file_named_as_a_module_of_the_library(tmp_path):
    write(tmp_path, code=WSGI.format(name="app", text="x"), sys=WSGI.format(name="app", text="y"))
    (tmp_path / "my-app.py").write_text(WSGI.format(name="app", text="z"))
    assert taken(tmp_path, "code.py") == "code.py:app"
    assert taken(tmp_path, "sys.py") == "sys.py:app"
    assert taken(tmp_path, "my-app.py") == "my-app.py:app"


def test_app_dir(tmp_path):
    write(tmp_path, deep__er__module=WSGI.format(name="app", text="x"))
    assert taken(tmp_path, "module", "--app-dir", "deep/er") == "module:app"
    assert taken("/", "module", "--app-dir", f"{tmp_path}/deep/er") == "module:app"


def test_attributes_of_attributes(tmp_path):
    write(tmp_path, module="class Holder: pass\nholder = Holder()\n" + WSGI.format(name="app", text="x") + "holder.wsgi = app\n")
    assert taken(tmp_path, "module:holder.wsgi") == "module:holder.wsgi"


def test_factories(tmp_path):
    write(tmp_path, module=WSGI.format(name="app", text="x") + "def make(name='none', *, debug=None):\n    global seen\n"
          "    print('made', name, debug)\n    return app\n")
    for call, made in (("make()", "made none None"), ('make("prod")', "made prod None"), ("make('a:b', debug=False)", "made a:b False")):
        status, out, err = check(tmp_path, f"module:{call}")
        assert status == 0, err
        assert out.splitlines()[0] == made
        assert "module:make()" in out


def test_classes_and_callable_objects(tmp_path):
    write(tmp_path, module="""
class Flaskish:
    def __call__(self, environ, start_response):
        start_response("200 OK", [])
        return []
app = Flaskish()

class PerRequest:
    def __init__(self, environ, start_response):
        pass
    def __iter__(self):
        return iter([])
""")
    assert taken(tmp_path, "module") == "module:app"
    assert taken(tmp_path, "module:PerRequest") == "module:PerRequest"


# --- refused

def test_a_module_that_is_not_there_names_module_and_folder(tmp_path):
    shown, message = refused(tmp_path, "nosuch")
    assert not shown
    assert "nosuch" in message and str(tmp_path) in message and "--app-dir" in message


def test_a_module_that_is_not_there_beside_a_project(tmp_path):
    write(tmp_path, manage="", mysite____init__="", mysite__wsgi="")
    assert "mysite.wsgi is there" in refused(tmp_path, "nosuch")[1]
    assert "mysite.wsgi is there" in refused(tmp_path, "nosuch.wsgi:application")[1]


def test_a_module_that_is_not_there_beside_a_file(tmp_path):
    write(tmp_path, app="")
    assert "app.py is there: ringtail app.py" in refused(tmp_path, "wsgi")[1]


def test_a_submodule_that_is_not_there(tmp_path):
    write(tmp_path, mysite____init__="")
    assert "no module named 'mysite.wsgi'" in refused(tmp_path, "mysite.wsgi")[1]


def test_a_file_that_is_not_there(tmp_path):
    write(tmp_path, wsgi="")
    message = refused(tmp_path, "app.py")[1]
    assert f"{tmp_path}/app.py: no such file" in message and "wsgi.py is there" in message
    assert "no such file" in refused(tmp_path, "no/folder/app.py")[1]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read(tmp_path):
    write(tmp_path, app="")
    (tmp_path / "app.py").chmod(0)
    assert "cannot read" in refused(tmp_path, "app.py")[1]


def test_an_app_dir_that_is_not_there(tmp_path):
    message = refused(tmp_path, "module", "--app-dir", "nowhere")[1]
    assert "nowhere" in message and "No such file" in message


def test_a_missing_dependency_is_told_with_its_traceback(tmp_path):
    write(tmp_path, module="import not_installed_here")
    shown, message = refused(tmp_path, "module")
    assert shown.splitlines()[0] == "Traceback (most recent call last):"
    assert 'module.py", line 1' in shown and "ringtail" not in shown and "importlib" not in shown
    assert "not_installed_here" in message and "--venv" in message


@pytest.mark.parametrize("app", ["module", "module.py"])
def test_the_traceback_of_an_import_is_pythons_own(tmp_path, app):
    write(tmp_path, module="def f():\n    raise ValueError('in f')\n\nf()\n")
    shown, message = refused(tmp_path, app)
    assert shown.splitlines()[0] == "Traceback (most recent call last):"
    assert shown.splitlines()[-1] == "ValueError: in f"
    assert shown.count("File ") == 2
    assert "ValueError" in message and "module" in message


@pytest.mark.parametrize("app", ["module", "module.py"])
def test_a_syntax_error(tmp_path, app):
    write(tmp_path, module="def broken(:\n")
    shown, message = refused(tmp_path, app)
    assert "def broken(:" in shown and "SyntaxError" in message


@pytest.mark.parametrize("app", ["module", "module.py"])
def test_sys_exit_in_the_module(tmp_path, app):
    write(tmp_path, module="import sys\nsys.exit(0)\n")
    assert "sys.exit(0)" in refused(tmp_path, app)[1]


def test_a_relative_import_in_a_file_names_the_way_out(tmp_path):
    write(tmp_path, module="from . import other\n")
    assert "module's name" in refused(tmp_path, "module.py")[1]


def test_a_missing_attribute_names_candidates(tmp_path):
    write(tmp_path, module=WSGI.format(name="my_application", text="x") + "def create_app():\n    return my_application\n")
    assert "'module:create_app()'" in refused(tmp_path, "module:nope")[1]
    message = refused(tmp_path, "module")[1]
    assert "neither 'application' nor 'app'" in message and "'module:create_app()'" in message


def test_a_misspelt_attribute(tmp_path):
    write(tmp_path, module=WSGI.format(name="my_application", text="x"))
    assert "'module:my_application'" in refused(tmp_path, "module:my_aplication")[1]


def test_what_is_not_callable(tmp_path):
    write(tmp_path, module="app = 5\n")
    assert "of type int, not callable" in refused(tmp_path, "module")[1]


def test_a_factory_without_parentheses(tmp_path):
    write(tmp_path, module="def create_app():\n    pass\n")
    assert "'module:create_app()'" in refused(tmp_path, "module:create_app")[1]


def test_a_factory_that_raises(tmp_path):
    write(tmp_path, module="def make():\n    raise KeyError('SECRET_KEY')\n")
    shown, message = refused(tmp_path, "module:make()")
    assert shown.splitlines()[-1] == "KeyError: 'SECRET_KEY'" and shown.count("File ") == 1
    assert "factory raised KeyError" in message


def test_a_factory_that_returns_nothing(tmp_path):
    write(tmp_path, module="def make():\n    pass\n")
    assert "returned None" in refused(tmp_path, "module:make()")[1]


@pytest.mark.parametrize("text", [
    "async def app(scope, receive, send): pass",
    "class A:\n    async def __call__(self, scope, receive, send): pass\napp = A()",
])
def test_an_asgi_application(tmp_path, text):
    write(tmp_path, module=text + "\n")
    message = refused(tmp_path, "module:app")[1]
    assert "ASGI" in message and "WSGI" in message and "a2wsgi" in message


@pytest.mark.parametrize("app", ["my-site", "module:", ":app", "module:1", "module:f(", "module:f(x)", "module:f(*a)", "some/folder", "a b",
                                 "module.", ".module", "module:a.", "module:f()()", "https://x"])
def test_what_is_no_name_is_wrong_usage(tmp_path, app):
    message = refused(tmp_path, app, status=64)[1]
    assert app in message


def test_the_message_is_in_the_error_log_too(tmp_path):
    write(tmp_path, module="1/0\n")
    got, _, err = run("--bind", "127.0.0.1:0", f"--error-log={tmp_path}/log", "module", cwd=tmp_path)
    assert got == 1
    log = (tmp_path / "log").read_text()
    assert "ZeroDivisionError" in err and "cannot import 'module'" in err
    assert "ZeroDivisionError: division by zero" in log and "cannot import 'module'" in log


# --- Python itself

def test_a_broken_pythonhome_is_one_message(tmp_path):
    write(tmp_path, app=WSGI.format(name="app", text="x"))
    got, _, err = check(tmp_path, "app", env={"PYTHONHOME": "/nonexistent"})
    assert got == 1
    assert "ringtail: cannot start Python" in err and "PYTHONHOME" in err


def test_python_variables_are_honoured(tmp_path):
    write(tmp_path, lib__extra="text = 'x'", app="import extra, sys\nprint(sys.flags.dev_mode, sys.flags.utf8_mode)\n" +
          WSGI.format(name="app", text="x"))
    status, out, err = check(tmp_path, "app", env={"PYTHONPATH": str(tmp_path / "lib"), "PYTHONDEVMODE": "1", "PYTHONUTF8": "1"})
    assert status == 0, err
    assert out.startswith("True 1\n")


def test_sitecustomize_of_a_wrapper_runs(tmp_path):
    """ddtrace-run, opentelemetry-instrument and newrelic-admin put one on PYTHONPATH and start the server."""
    write(tmp_path, boot__sitecustomize="import sys\nsys.instrumented = sys.argv\n",
          app="import sys\nprint(sys.instrumented is not None, sys.argv[-1])\n" + WSGI.format(name="app", text="x"))
    status, out, err = check(tmp_path, "app", env={"PYTHONPATH": str(tmp_path / "boot")})
    assert status == 0, err
    assert out.startswith("True app\n")
