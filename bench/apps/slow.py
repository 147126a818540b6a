# SPDX-License-Identifier: Apache-2.0
"""The WSGI application of bench/slow: the trivial view, one that sleeps, and two that burn CPU with the GIL in hand."""
import time

import hello


def burn(seconds):
    """CPU time of this thread, so that a view costs the same however many others want the GIL."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


VIEWS = {
    "/sleep": lambda: time.sleep(0.2),
    "/burn50ms": lambda: burn(0.05),
    "/burn2s": lambda: burn(2.0),
}


def application(environ, start_response):
    view = VIEWS.get(environ["PATH_INFO"])
    if view:
        view()
    return hello.application(environ, start_response)
