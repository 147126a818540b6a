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


include = first([sysconfig.get_path("include"), var("INCLUDEPY"), f"{base}/include/python{ldversion}"], "Python.h")
platform_include = first([sysconfig.get_path("platinclude"), include], "pyconfig.h")
is_shared = bool(var("Py_ENABLE_SHARED"))
multiarch = var("MULTIARCH") or ""
places = [var("LIBDIR"), f"{base}/lib", f"{base}/lib/{multiarch}", f"{base}/lib64"]
shared = f"libpython{ldversion}.so"
static = f"libpython{ldversion}.a"

cflags = [word for directory in dict.fromkeys([include, platform_include]) if directory
          for word in ("-isystem", directory)]
libdir = first(places, shared)
if libdir:
    libs = [f"-L{libdir}", f"-lpython{ldversion}"]
    if os.path.normpath(libdir) not in ("/usr/lib", "/usr/lib64", f"/usr/lib/{multiarch}"):
        libs.append(f"-Wl,-rpath,{libdir}")
else:
    libdir = first([var("LIBPL"), *places], static)
    # Extension modules resolve the interpreter's symbols in the program: it has to export them.
    libs = [os.path.join(libdir, static)] if libdir else [f"-lpython{ldversion}"]
    libs += (var("LIBS") or "").split() + (var("SYSLIBS") or "").split() + (var("LINKFORSHARED") or "").split()

answer = {
    "version": ".".join(map(str, sys.version_info[:3])),
    "version_ok": "yes" if sys.version_info >= (3, 11) else "no",
    "short": "%d.%d" % sys.version_info[:2],
    "ldversion": ldversion,
    "prefix": base,
    "libdir": libdir or "nowhere",
    "cflags": " ".join(cflags),
    "libs": " ".join(libs),
    "gil_disabled": str(var("Py_GIL_DISABLED") or 0),
}
for name, value in answer.items():
    print(f"py_{name}={shlex.quote(value)}")
