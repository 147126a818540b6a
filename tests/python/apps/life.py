# SPDX-License-Identifier: Apache-2.0
"""The application behind tests/python/test_lifecycle_*.py. What it does at import is told by TEST_AT_IMPORT (words)."""
import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from urllib.parse import parse_qs

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "http", "apps"))
import gate  # noqa: E402

AT_IMPORT = os.environ.get("TEST_AT_IMPORT", "").split()
local = threading.local()
handled = []
traced = set()
profiled = set()
import_thread = threading.current_thread()


def on_signal(number, frame):
    handled.append([signal.Signals(number).name, threading.current_thread().name])
    if "raise-in-handler" in AT_IMPORT:
        raise ValueError("from the handler")


def background():
    while True:
        handled.append(["tick", threading.current_thread().name])
        time.sleep(0.001)


if "usr2" in AT_IMPORT or "raise-in-handler" in AT_IMPORT:
    signal.signal(signal.SIGUSR2, on_signal)
if "take-term" in AT_IMPORT:
    signal.signal(signal.SIGTERM, on_signal)
if "wakeup" in AT_IMPORT:
    import socket
    wakeup = socket.socketpair()
    for end in wakeup:
        end.setblocking(False)
    signal.set_wakeup_fd(wakeup[1].fileno())
    signal.signal(signal.SIGUSR2, on_signal)
if "settrace" in AT_IMPORT:
    def trace(frame, event, arg):
        traced.add(threading.current_thread().name)
    threading.settrace(trace)
if "setprofile" in AT_IMPORT:
    def profile(frame, event, arg):
        profiled.add(threading.current_thread().name)
    threading.setprofile(profile)
if "atexit" in AT_IMPORT:
    def at_exit():
        print("atexit ran in", threading.current_thread().name)
    atexit.register(at_exit)
if "atexit-raises" in AT_IMPORT:
    atexit.register(lambda: 1 / 0)
if "non-daemon" in AT_IMPORT:
    def work():
        gate.wait("non-daemon")
        print("non-daemon thread ended")
    threading.Thread(target=work, name="worker-of-the-app").start()
if "executor" in AT_IMPORT:
    from concurrent.futures import ThreadPoolExecutor
    executor = ThreadPoolExecutor(2)
    executor.submit(lambda: print("executor ran"))
if "fork-at-import" in AT_IMPORT:
    if os.fork() == 0:
        time.sleep(3600)
if "print-partial" in AT_IMPORT:
    sys.stdout.write("a line without end")


def application(environ, start_response):
    query = {key: values[-1] for key, values in parse_qs(environ["QUERY_STRING"]).items()}
    answer = globals()["view_" + environ["PATH_INFO"].strip("/").replace("-", "_")](environ, query)
    body = json.dumps(answer, sort_keys=True).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def view_hello(environ, query):
    return "hello"


def view_gate(environ, query):
    return gate.wait(query["name"])


# --- threads

def view_thread(environ, query):
    thread = threading.current_thread()
    local.count = getattr(local, "count", 0) + 1
    same = [other for other in threading.enumerate() if other.ident == thread.ident]
    return {"name": thread.name, "class": [base.__name__ for base in type(thread).__mro__], "daemon": thread.daemon,
            "alive": thread.is_alive(), "listed": len(same) == 1 and same[0] is thread, "ident": thread.ident == threading.get_ident(),
            "native": thread.native_id == threading.get_native_id(), "count": local.count,
            "main": threading.main_thread().name, "main alive": threading.main_thread().is_alive(),
            "import": import_thread is threading.main_thread(), "is main": thread is threading.main_thread()}


def view_names(environ, query):
    return sorted(thread.name for thread in threading.enumerate())


def view_traced(environ, query):
    return {"traced": sorted(traced), "profiled": sorted(profiled)}


def view_background(environ, query):
    threading.Thread(target=background, name="background", daemon=True).start()
    return "started"


def view_handled(environ, query):
    return handled


def view_context(environ, query):
    import contextvars
    variable = view_context.__dict__.setdefault("variable", contextvars.ContextVar("variable", default="none"))
    before = variable.get()
    variable.set("set")
    return before


def view_signal_in_view(environ, query):
    try:
        signal.signal(signal.SIGUSR2, on_signal)
    except ValueError as error:
        return str(error)


# --- processes

SIGNALS = ("SigBlk", "SigIgn", "SigCgt")


def masks(text):
    return {line.split(":")[0]: line.split()[1] for line in text.splitlines() if line.startswith(SIGNALS)}


def view_subprocess(environ, query):
    return masks(subprocess.run(["cat", "/proc/self/status"], stdout=subprocess.PIPE, text=True, check=True).stdout)


def view_executable(environ, query):
    code = "import sys; print(sys.prefix, sys.version_info[:2])"
    child = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return {"child": child, "own": f"{sys.prefix} {tuple(sys.version_info[:2])}", "executable": sys.executable,
            "prefix": sys.prefix, "base": sys.base_prefix, "path": sys.path, "argv": sys.argv}


def in_child():
    """What a forked child has: descriptors by kind, dispositions, threads."""
    links = []
    for name in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            pass
    with open("/proc/self/status", encoding="ascii") as file:
        status = masks(file.read())
    return {"links": links, "status": status, "thread": threading.current_thread().name,
            "main": threading.current_thread() is threading.main_thread(),
            "term": signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, None), "wakeup": signal.set_wakeup_fd(-1)}


def view_fork(environ, query):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.write(writer, json.dumps(in_child()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        answer = json.loads(file.read())
    answer["exit"] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return answer


def view_fork_returns(environ, query):
    """The child comes back into the server."""
    pid = os.fork()
    if pid == 0:
        print("printed by the child")
        if query.get("how") == "raise":
            raise ValueError("in the child")
        if query.get("how") == "exit":
            sys.exit(0)
        return "from the child"
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def view_fork_and_term(environ, query):
    """A signal to the child is the child's alone."""
    pid = os.fork()
    if pid == 0:
        while True:
            signal.pause()
    os.kill(pid, signal.SIGTERM)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def square(number):
    return number * number


def view_multiprocessing(environ, query):
    import multiprocessing
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map(square, [1, 2, 3])


def view_process_terminate(environ, query):
    import multiprocessing
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(3600,))
    process.start()
    process.terminate()
    process.join()
    return process.exitcode


def view_fork_stays(environ, query):
    """The child lives on; its pid."""
    pid = os.fork()
    if pid == 0:
        os.close(1)
        os.close(2)
        while True:
            signal.pause()
    return pid


# --- output

def view_print(environ, query):
    print("printed by a view")
    sys.stderr.write("told by a view\n")
    return "printed"


def view_input(environ, query):
    return sys.stdin.read() if sys.stdin else None


def view_stuck(environ, query):
    """Never gives the GIL up again."""
    import itertools
    gate.note("stuck")
    sum(itertools.repeat(0))


def view_pdb(environ, query):
    value = 40
    breakpoint()
    return value


def view_trace_gc(environ, query):
    import gc
    return {"frozen": gc.get_freeze_count()}
