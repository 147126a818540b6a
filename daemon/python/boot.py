# SPDX-License-Identifier: Apache-2.0
"""Finds and imports the application, gives each handler its Thread object, ends the process's Python.

Compiled into the daemon. Main thread, but for thread_start and thread_end.
"""
import os
import signal
import sys
import threading
import traceback

HERE = "<ringtail>"


class Refused(Exception):
    """The application cannot be served: exit status and one sentence; __cause__ is what Python said, if it is to be shown."""

    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


# --- names

def is_dotted(name):
    return bool(name) and all(part.isidentifier() for part in name.split("."))


def parse(spec):
    """(target, is_file, attribute, arguments, keywords); attribute None when not given, arguments None when no factory."""
    end = spec.find(".py:")
    if spec.endswith(".py") and end < 0:
        target, attr, is_file = spec, None, True
    elif end >= 0:
        target, attr, is_file = spec[:end + 3], spec[end + 4:], True
    else:
        target, colon, attr = spec.partition(":")
        attr = attr if colon else None
        is_file = os.sep in target
    if is_file and not target.endswith(".py"):
        hint = "name the file in it" if os.path.isdir(target) else "a file's name ends in .py"
        raise Refused(f"cannot serve '{spec}': not a Python file ({hint}, or give MODULE:ATTRIBUTE)", 64)
    if not is_file and not is_dotted(target):
        raise Refused(f"cannot serve '{spec}': '{target}' is not a module's name "
                      "(give MODULE, MODULE:ATTRIBUTE, 'MODULE:FACTORY()' or FILE.py)", 64)
    args = keywords = None
    if attr is not None:
        name = attr
        if attr.endswith(")") and "(" in attr:
            name, args, keywords = parse_factory(spec, attr)
        if not is_dotted(name):
            raise Refused(f"cannot serve '{spec}': '{attr}' is not an attribute's name "
                          "(give MODULE:ATTRIBUTE or 'MODULE:FACTORY()')", 64)
        attr = name
    return target, is_file, attr, args, keywords


def parse_factory(spec, attr):
    if attr.endswith("()"):
        return attr[:-2], [], {}
    import ast
    try:
        call = ast.parse(attr, mode="eval").body
        args = [ast.literal_eval(arg) for arg in call.args]
        keywords = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        if None in keywords:
            raise ValueError
        return ast.unparse(call.func), args, keywords
    except (SyntaxError, ValueError, AttributeError, TypeError):
        raise Refused(f"cannot serve '{spec}': the arguments of a factory must be literals, "
                      "as in 'MODULE:create_app(\"production\", debug=False)'", 64) from None


# --- import

def own_frames_cut(error):
    """The traceback as python would print it: without our frames and the import machinery's above the application."""
    tb = error.__traceback__
    while tb and (tb.tb_frame.f_code.co_filename == HERE or
                  tb.tb_frame.f_code.co_filename.startswith("<frozen importlib")):
        tb = tb.tb_next
    return error.with_traceback(tb)


def show(error):
    """The text for standard error."""
    error = own_frames_cut(error)
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def python_told():
    if sys.prefix != sys.base_prefix:
        return f"virtual environment {sys.prefix}"
    return f"{sys.executable or 'python'}, no virtual environment: --venv DIR names one"


def files_near(folder):
    try:
        return [name for name in ("app.py", "wsgi.py", "main.py", "application.py", "manage.py")
                if os.path.isfile(os.path.join(folder, name))]
    except OSError:
        return []


def project_near(folder):
    """mysite.wsgi where manage.py lies beside mysite/wsgi.py, as Django lays it out."""
    try:
        for name in sorted(os.listdir(folder)):
            if name.isidentifier() and os.path.isfile(os.path.join(folder, name, "wsgi.py")):
                return name + ".wsgi"
    except OSError:
        pass
    return None


def missing_module(spec, error, folder):
    hints = []
    project = project_near(folder)
    near = [name for name in files_near(folder) if name != "manage.py"]
    if project and not spec.startswith(project):
        hints.append(f"{project} is there")
    elif near:
        hints.append(f"{near[0]} is there: ringtail {near[0]}")
    hints.append("--app-dir DIR names the folder that contains the module")
    return Refused(f"cannot import '{spec}': no module named '{error.name}' in {folder} or on sys.path ({'; '.join(hints)})")


def imported(name, folder):
    try:
        __import__(name)
        return sys.modules[name]
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise missing_module(name, error, folder) from None
        raise Refused(f"cannot import '{name}': {error} (used by the application, not found by {python_told()})") from error
    except SystemExit as error:
        raise Refused(f"cannot import '{name}': it called sys.exit({error.code!r}) "
                      "(guard what is for the command line with: if __name__ == '__main__')") from error
    except BaseException as error:
        raise Refused(f"cannot import '{name}': {type(error).__name__} (traceback above)") from error


def imported_file(path):
    import importlib.util
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        folder = os.path.dirname(path)
        near = files_near(folder)
        hint = f"{', '.join(near)} is there" if near else "give the path of the file that holds the application"
        raise Refused(f"cannot import {path}: {'not a file' if os.path.exists(path) else 'no such file'} ({hint})")
    name = os.path.basename(path)[:-3]
    if not name.isidentifier() or name in sys.modules or name in sys.builtin_module_names:
        name = "ringtail_app_" + "".join(char if char.isalnum() else "_" for char in name)
    module_spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    try:
        module_spec.loader.exec_module(module)
    except SystemExit as error:
        raise Refused(f"cannot import {path}: it called sys.exit({error.code!r}) "
                      "(guard what is for the command line with: if __name__ == '__main__')") from error
    except OSError as error:
        if error.filename == path:
            raise Refused(f"cannot read {path}: {error.strerror} (the user that runs ringtail needs read permission)") from None
        raise Refused(f"cannot import {path}: {type(error).__name__} (traceback above)") from error
    except ModuleNotFoundError as error:
        raise Refused(f"cannot import {path}: {error} (used by the application, not found by {python_told()})") from error
    except BaseException as error:
        hint = ""
        if isinstance(error, ImportError) and "relative import" in str(error):
            hint = "; a file inside a package is served by its module's name and --app-dir"
        raise Refused(f"cannot import {path}: {type(error).__name__} (traceback above{hint})") from error
    # exec_module puts the entry back that the module may have replaced (werkzeug's and Django's lazy modules do).
    return sys.modules.get(name, module)


# --- the application in the module

def looks_like_app(value):
    if isinstance(value, type):
        return False
    module = type(value).__module__.partition(".")[0]
    return callable(value) and module in ("flask", "bottle", "falcon", "django", "pyramid", "werkzeug", "cherrypy", "web", "dash")


def candidates(module):
    found = []
    for name, value in list(vars(module).items()):
        if name.startswith("_"):
            continue
        if callable(value) and (name in ("application", "app", "wsgi", "wsgi_app") or looks_like_app(value)):
            found.append(name)
        elif name in ("create_app", "make_app", "get_wsgi_app", "create_application", "make_application") and callable(value):
            found.append(f"{name}()")
    return found


def missing_attribute(target, attr, module):
    found = candidates(module)
    if attr and not found:
        import difflib
        found = difflib.get_close_matches(attr, [name for name in vars(module) if not name.startswith("_")], 3)
    if found:
        hint = "it has " + ", ".join(f"'{target}:{name}'" for name in found[:4])
    else:
        hint = "name the WSGI callable: MODULE:ATTRIBUTE or 'MODULE:FACTORY()'"
    what = f"'{attr}'" if attr else "neither 'application' nor 'app'"
    return Refused(f"cannot serve {target}: the module has {'no attribute ' if attr else ''}{what} ({hint})")


MISSING = object()


def attribute(module, dotted):
    value = module
    for part in dotted.split("."):
        value = getattr(value, part, MISSING)
        if value is MISSING:
            return MISSING
    return value


def is_async(function):
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return bool(code and code.co_flags & 0x80)


def argument_count(function):
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or code.co_flags & 0x04:
        return None
    count = code.co_argcount - len(getattr(function, "__defaults__", None) or ())
    return count - 1 if hasattr(function, "__self__") else count


def argument_most(function):
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or code.co_flags & 0x04:
        return None
    return code.co_argcount - (1 if hasattr(function, "__self__") else 0)


def checked(app, name, module):
    if not callable(app):
        found = [other for other in candidates(module) if other != name.partition(":")[2]]
        hint = "it has " + ", ".join(f"'{name.partition(':')[0]}:{other}'" for other in found[:4]) if found else \
            "a WSGI application is a callable that takes environ and start_response"
        raise Refused(f"cannot serve {name}: it is of type {type(app).__name__}, not callable ({hint})")
    call = app if hasattr(app, "__code__") or isinstance(app, type) else getattr(type(app), "__call__", None)
    bound = getattr(app, "__call__", None)
    if is_async(app) or (not isinstance(app, type) and (is_async(call) or is_async(bound))):
        raise Refused(f"cannot serve {name}: it is an ASGI application, and ringtail serves WSGI "
                      "(give the project's WSGI callable, as mysite.wsgi; or wrap it: a2wsgi.ASGIMiddleware)")
    if getattr(app, "__code__", None) is not None and argument_count(app) == 0:
        raise Refused(f"cannot serve {name}: it takes no arguments, so it is a factory (write it with parentheses: '{name}()')")
    most = argument_most(app)
    if most is not None and most < 2:
        raise Refused(f"cannot serve {name}: it takes {most} argument, a WSGI application takes two, environ and start_response "
                      f"(a factory is written with parentheses and its arguments: '{name}(...)')")
    return app


def find(spec, folder):
    """(application, name)."""
    target, is_file, attr, args, keywords = parse(spec)
    if is_file:
        module = imported_file(target)
        target = os.path.basename(target) if os.sep not in target else target
    else:
        module = None
        if attr is None:
            module, target = bare_module(target, folder)
        if module is None:
            module = imported(target, folder)
    if attr is None:
        for attr in ("application", "app"):
            app = attribute(module, attr)
            if app is not MISSING:
                break
        else:
            raise missing_attribute(target, None, module)
    else:
        app = attribute(module, attr)
        if app is MISSING:
            # MODULE:a.b, where MODULE.a is a module that nobody imported yet, is not looked for: gunicorn does not either.
            raise missing_attribute(target, attr, module)
    name = f"{target}:{attr}"
    if args is not None:
        if not callable(app):
            raise Refused(f"cannot serve {name}(): it is of type {type(app).__name__}, not callable (leave the parentheses out)")
        name += "()"
        try:
            app = app(*args, **keywords)
        except BaseException as error:
            raise Refused(f"cannot serve {name}: the factory raised {type(error).__name__} (traceback above)") from error
        if app is None:
            raise Refused(f"cannot serve {name}: the factory returned None (it must return the application)")
    return checked(app, name, module), name


def bare_module(name, folder):
    """MODULE.wsgi when there is one that has an 'application': Django's layout."""
    module = imported(name, folder)
    if not hasattr(module, "__path__"):
        return module, name
    import importlib.util
    inner = name + ".wsgi"
    try:
        is_there = inner in sys.modules or importlib.util.find_spec(inner) is not None
    except (ImportError, ValueError):
        is_there = False
    if is_there:
        wsgi = imported(inner, folder)
        if hasattr(wsgi, "application"):
            return wsgi, inner
    return module, name


def refuse_green(name):
    """Under patched modules each handler would run a hub of its own, and locks would belong to greenlets."""
    monkey = sys.modules.get("gevent.monkey")
    if monkey and any(monkey.is_module_patched(module) for module in ("socket", "thread", "threading")):
        who, patch = "gevent", "gevent.monkey.patch_all()"
    else:
        patcher = sys.modules.get("eventlet.patcher")
        if not (patcher and any(patcher.is_monkey_patched(module) for module in ("socket", "thread"))):
            return
        who, patch = "eventlet", "eventlet.monkey_patch()"
    raise Refused(f"cannot serve {name}: {who} has replaced Python's sockets or threads, and ringtail runs views on real threads "
                  f"(take {patch} out of it: --threads-max says how many views may wait at once)")


def load(spec, folder):
    """(application, name), or (status, message, traceback or None)."""
    try:
        app, name = find(spec, folder)
        refuse_green(name)
        return app, name
    except Refused as refused:
        cause = refused.__cause__
        return refused.status, str(refused), show(cause) if cause is not None else None


def enter(folder, venv, argv):
    """sys as `python` of the environment would set it."""
    if venv and os.path.realpath(sys.prefix) != os.path.realpath(venv):
        # The environment was made by another build, so that the start found its own library instead.
        import site
        sys.prefix = sys.exec_prefix = venv
        lib = f"python{sys.version_info[0]}.{sys.version_info[1]}{getattr(sys, 'abiflags', '').replace('d', '')}"
        before = list(sys.path)
        site.addsitedir(os.path.join(venv, "lib", lib, "site-packages"))
        # Its packages go before those of the system.
        sys.path[:] = [path for path in before if "site-packages" not in path and "dist-packages" not in path] + \
            [path for path in sys.path if path not in before]
    sys.argv[:] = argv
    sys.path.insert(0, folder)
    # Under python a pipe is block-buffered; a service's journal must not see a print() hours later.
    for stream in (sys.stdout,):
        try:
            if not stream.line_buffering:
                stream.reconfigure(line_buffering=True)
        except (AttributeError, ValueError, OSError):
            pass


def freeze():
    import gc
    gc.collect()
    gc.freeze()


def is_gil_on():
    return getattr(sys, "_is_gil_enabled", lambda: True)()


# --- signals of the application

def wakeup_start(fd):
    # Not full, never warned of: a full pipe has woken the main thread already.
    signal.set_wakeup_fd(fd, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=lambda: wakeup_drop(fd))


def wakeup_is_ours(fd):
    """Whether Python writes to fd; when the application has taken its own away again, it does from now on."""
    old = signal.set_wakeup_fd(fd, warn_on_full_buffer=False)
    if old in (fd, -1):
        return True
    signal.set_wakeup_fd(old)
    return False


def wakeup_drop(fd):
    old = signal.set_wakeup_fd(-1)
    if old not in (fd, -1):
        signal.set_wakeup_fd(old)


# --- threads

class Handler(threading.Thread):
    """The Thread object of a thread that the daemon's pool started: alive and known to threading like any other."""

    HANDLE = "_os_thread_handle" if sys.version_info >= (3, 14) else "_handle"

    def __init__(self, name):
        super().__init__(name=name, daemon=True)
        self._set_ident()
        if hasattr(self, "_set_native_id"):
            self._set_native_id()
        if hasattr(self, "_set_tstate_lock"):
            self._set_tstate_lock()
        else:
            setattr(self, self.HANDLE, threading._make_thread_handle(self._ident))
        # A thread that a view starts is no daemon thread unless it says so, as under python: it takes the flag from us. Set
        # only now, so that threading does not wait for this one at its end.
        self._daemonic = False
        self._started.set()
        with threading._active_limbo_lock:
            threading._active[self._ident] = self

    def end(self):
        with threading._active_limbo_lock:
            threading._active.pop(self._ident, None)
        if not hasattr(self, "_set_tstate_lock"):
            getattr(self, self.HANDLE)._set_done()


def thread_start(name):
    try:
        thread = Handler(name)
    except AttributeError:
        # What threading keeps private has changed: its own stand-in does, under our name.
        thread = threading.current_thread()
        thread.name = name
    trace, profile = threading.gettrace(), threading.getprofile()
    if trace:
        sys.settrace(trace)
    if profile:
        sys.setprofile(profile)
    return thread


def thread_end(thread):
    sys.settrace(None)
    sys.setprofile(None)
    if isinstance(thread, Handler):
        thread.end()


# --- the end

def others():
    """The non-daemon threads that python would wait for at its end."""
    return [thread for thread in threading.enumerate()
            if not thread.daemon and thread is not threading.main_thread() and not isinstance(thread, Handler)
            and thread.is_alive()]


def end_threads():
    """What threading._shutdown does for all but the main thread; concurrent.futures ends its pools from the first list."""
    calls = getattr(threading, "_threading_atexits", [])
    while calls:
        calls.pop()()
    while True:
        threads = others()
        if not threads:
            return
        for thread in threads:
            thread.join()


def stop(seconds):
    """As python ends, its first part: non-daemon threads. Returns the names of those that outlast the time."""
    if not others() and not getattr(threading, "_threading_atexits", []):
        threading._shutdown()
        return []
    try:
        # On a thread of its own, so that the wait can be given up.
        waiter = threading.Thread(target=end_threads, name="ringtail-stop", daemon=True)
        waiter.start()
        waiter.join(seconds)
    except RuntimeError:
        # no thread can be had
        return [thread.name for thread in others()]
    if waiter.is_alive():
        return [thread.name for thread in others()] or ["a pool of concurrent.futures"]
    threading._shutdown()
    return []


def run_atexit():
    import atexit
    atexit._run_exitfuncs()


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception:
            pass
