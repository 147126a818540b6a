# SPDX-License-Identifier: Apache-2.0
"""The virtual environment (SPEC 1): found as python finds it, and everything as under its python."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.server import python, run

APP = """
import json, sys, sysconfig
from marker import where
print(json.dumps({"where": where, "prefix": sys.prefix, "base": sys.base_prefix, "exec": sys.exec_prefix, "executable": sys.executable,
    "version": sys.version_info[:2], "path": sys.path, "stdlib": json.__file__, "base_executable": getattr(sys, "_base_executable", None)}))
def app(environ, start_response):
    start_response("200 OK", [])
    return []
"""


def site_packages(venv):
    return next(venv.glob("lib/python3*/site-packages"))


def make_venv(folder, interpreter=None):
    subprocess.run([interpreter or python(), "-m", "venv", "--without-pip", str(folder)], check=True)
    (site_packages(folder) / "marker.py").write_text(f"where = {str(folder)!r}\n")
    return folder


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    return make_venv(tmp_path_factory.mktemp("venvs") / "one")


@pytest.fixture
def project(tmp_path):
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


def ask(project, *options, env=None, app="app"):
    status, out, err = run("--check", *options, app, cwd=project, env={"PYTHONDONTWRITEBYTECODE": "1", **(env or {})})
    assert status == 0, err
    assert not err
    return json.loads(out.splitlines()[0])


def refused(project, *options, env=None):
    status, out, err = run("--check", *options, "app", cwd=project, env=env)
    assert status == 1, (status, out, err)
    assert err.startswith("ringtail: ") and err.count("\n") == 1, err
    return err


def under_python(venv):
    code = ("import json, sys; print(json.dumps({'prefix': sys.prefix, 'base': sys.base_prefix, 'exec': sys.exec_prefix, "
            "'executable': sys.executable, 'path': sys.path, 'base_executable': sys._base_executable}))")
    # -P: no script folder in front
    return json.loads(subprocess.run([venv / "bin" / "python", "-P", "-c", code], check=True, stdout=subprocess.PIPE).stdout)


def test_everything_is_as_under_the_python_of_the_environment(project, venv):
    seen = ask(project, "--venv", str(venv))
    expected = under_python(venv)
    assert seen["path"] == [str(project), *expected["path"]]
    for name in ("prefix", "base", "exec", "executable", "base_executable"):
        assert seen[name] == expected[name], name
    assert seen["where"] == str(venv)


def test_the_start_line_and_check_name_the_environment(ringtail, project, venv):
    server = ringtail(project / "app.py", venv=str(venv))
    assert f", venv {venv}, 1 worker, " in server.start_line
    status, out, _ = run("--check", "--venv", str(venv), str(project / "app.py"))
    assert status == 0 and out.endswith(f", venv {venv}\n"), out


def test_virtual_env_is_taken(project, venv):
    assert ask(project, env={"VIRTUAL_ENV": str(venv)})["prefix"] == str(venv)


def test_a_venv_beside_the_application_is_taken(project):
    make_venv(project / ".venv")
    assert ask(project)["prefix"] == str(project / ".venv")
    assert ask("/", app=f"{project}/app.py")["prefix"] == str(project / ".venv")
    assert ask("/", "--app-dir", str(project))["prefix"] == str(project / ".venv")


def test_the_option_goes_before_the_variable_and_that_before_the_folder(project, venv, tmp_path_factory):
    make_venv(project / ".venv")
    other = make_venv(tmp_path_factory.mktemp("venvs") / "two")
    assert ask(project, "--venv", str(venv), env={"VIRTUAL_ENV": str(other)})["prefix"] == str(venv)
    assert ask(project, env={"VIRTUAL_ENV": str(other)})["prefix"] == str(other)


def test_a_relative_path(project):
    make_venv(project / "env")
    assert ask(project, "--venv", "env")["prefix"] == str(project / "env")
    assert ask(project, "--venv", "./env/")["prefix"] == str(project / "env")


def test_a_folder_named_venv_that_is_none_is_left_alone(project):
    (project / ".venv").mkdir()
    (project / "marker.py").write_text("where = 'here'\n")
    seen = ask(project)
    assert seen["where"] == "here" and seen["prefix"] == seen["base"]


def test_without_one_everything_is_as_under_the_linked_python(project):
    (project / "marker.py").write_text("where = 'here'\n")
    seen = ask(project)
    code = "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix, sys.path]))"
    prefix, base, path = json.loads(subprocess.run([python(), "-P", "-c", code], check=True, stdout=subprocess.PIPE).stdout)
    assert (seen["prefix"], seen["base"], seen["path"][1:]) == (prefix, base, path)
    assert os.path.samefile(seen["executable"], python())


def test_a_folder_that_is_not_there(project):
    assert "No such file" in refused(project, "--venv", "/nowhere")
    assert "VIRTUAL_ENV" in refused(project, env={"VIRTUAL_ENV": "/nowhere"})


def test_a_folder_that_is_no_environment(project, tmp_path):
    message = refused(project, "--venv", str(tmp_path))
    assert "pyvenv.cfg is missing" in message and "-m venv" in message


@pytest.mark.parametrize("how", ["--venv", "VIRTUAL_ENV", ".venv"])
@pytest.mark.parametrize("line", ["version = 3.4.1", "version_info = 3.4.1.final.0"])
def test_another_minor_version_is_a_clear_error(project, how, line):
    folder = project / (".venv" if how == ".venv" else "old")
    (folder / "lib" / "python3.4" / "site-packages").mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to("/usr/bin/false")
    (folder / "pyvenv.cfg").write_text(f"home = /usr/bin\ninclude-system-site-packages = false\n{line}\n")
    if how == "--venv":
        message = refused(project, "--venv", str(folder))
    else:
        message = refused(project, env={"VIRTUAL_ENV": str(folder)} if how == "VIRTUAL_ENV" else None)
    assert "3.4.1" in message and "linked to Python 3." in message and str(folder) in message


def test_an_environment_without_python(project, venv):
    shutil.copytree(venv, project / "gone", symlinks=True)
    for file in (project / "gone" / "bin").glob("python*"):
        file.unlink()
    assert "no bin/python" in refused(project, "--venv", "gone")


def other_builds():
    """Interpreters of the linked minor version that are another build."""
    minor = subprocess.run([python(), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.strip()
    linked = os.path.realpath(python())
    found = [Path(folder) / f"python{minor}" for folder in os.environ.get("PATH", "").split(":")]
    found += Path.home().glob(f".pyenv/versions/{minor}.*/bin/python{minor}")
    found += Path.home().glob(f".local/share/uv/python/cpython-{minor}.*/bin/python{minor}")
    for path in found:
        if not path.exists() or os.path.realpath(path) == linked:
            continue
        done = subprocess.run([path, "-c", "import sys; print(sys.base_prefix, '%d.%d' % sys.version_info[:2])"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        if done.returncode == 0 and done.stdout.split()[1] == minor and done.stdout.split()[0] != "/usr":
            return str(path)
    return None


def test_the_standard_library_stays_the_linked_pythons(project, tmp_path):
    """An environment made by another build of the same version: its packages, not its library (import ssl would fail)."""
    other = other_builds()
    if not other:
        pytest.skip("no other build of this Python version is installed")
    folder = make_venv(tmp_path / "foreign", other)
    (project / "app.py").write_text("import ssl, sqlite3\n" + APP)
    seen = ask(project, "--venv", str(folder))
    assert seen["where"] == str(folder) and seen["prefix"] == str(folder)
    assert seen["executable"] == str(folder / "bin" / "python")
    code = "import json, sys; print(json.__file__, sys.base_prefix)"
    stdlib, base = subprocess.run([python(), "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    assert (seen["stdlib"], seen["base"]) == (stdlib, base)
    assert not [entry for entry in seen["path"] if "dist-packages" in entry], seen["path"]
