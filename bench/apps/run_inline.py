# SPDX-License-Identifier: Apache-2.0
"""Servers that have no command of their own: run_inline.py SERVER MODULE PORT."""
import importlib
import sys

server, module, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
application = importlib.import_module(module).application
if server == "bjoern":
    import bjoern

    bjoern.run(application, "127.0.0.1", port)
elif server == "fastpysgi":
    import fastpysgi

    fastpysgi.run(application, "127.0.0.1", port, loglevel=0)
