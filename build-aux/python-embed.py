# SPDX-License-Identifier: Apache-2.0
"""Says, as shell assignments for configure, how to link the library of the interpreter that runs this file."""
import os
import shlex
import sys
import sysconfig

var = sysconfig.get_config_var
base = sys.base_prefix
ldversion = var("LDVERSION") or var("py_version_short")


def first(candidates, wanted):
    """The first directory that holds the file: a relocated Python tells the paths of the machine that built it."""
    for directory in candidates:
        if directory and os.path.exists(os.path.join(directory, wanted)):
            return directory
    return ""


def has(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


include = first([sysconfig.get_path("include"), var("INCLUDEPY"), f"{base}/include/python{ldversion}"], "Python.h")
platform_include = first([sysconfig.get_path("platinclude"), include], "pyconfig.h")
multiarch = var("MULTIARCH") or ""
places = [var("LIBDIR"), f"{base}/lib", f"{base}/lib/{multiarch}", f"{base}/lib64"]
shared = f"libpython{ldversion}.so"
static = f"libpython{ldversion}.a"

cflags = [word for directory in dict.fromkeys([include, platform_include]) if directory
          for word in ("-isystem", directory)]
shared_dir = first(places, shared)
shared_libs = [f"-L{shared_dir}", f"-lpython{ldversion}"] if shared_dir else []
if shared_dir and os.path.normpath(shared_dir) not in ("/usr/lib", "/usr/lib64", f"/usr/lib/{multiarch}"):
    shared_libs.append(f"-Wl,-rpath,{shared_dir}")

static_dir = first([var("LIBPL"), *places], static)
static_libs = []
for word in " ".join(var(name) or "" for name in ("MODLIBS", "LIBS", "SYSLIBS")).split():
    if word.endswith(".a") and not os.path.isabs(word):
        # A path in the tree in which Python was built. Some installations keep the archive, some have its content in libpython.
        word = os.path.join(static_dir, os.path.basename(word))
        if not os.path.exists(word):
            continue
    if word not in static_libs:
        static_libs.append(word)

answer = {
    "version": ".".join(map(str, sys.version_info[:3])),
    "version_ok": "yes" if sys.version_info >= (3, 11) else "no",
    "short": "%d.%d" % sys.version_info[:2],
    "ldversion": ldversion,
    "prefix": base,
    "cflags": " ".join(cflags),
    "shared_dir": shared_dir,
    "shared_libs": " ".join(shared_libs),
    "static_name": static,
    "static": os.path.join(static_dir, static) if static_dir else "",
    "static_libs": " ".join(static_libs),
    "modules": ", ".join(name for name in ("sys", "ctypes", "decimal", "sqlite3", "ssl") if has(name)),
    "hexversion": str(sys.hexversion),
    "gil_disabled": str(var("Py_GIL_DISABLED") or 0),
}
for name, value in answer.items():
    print(f"py_{name}={shlex.quote(value)}")
