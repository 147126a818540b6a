# SPDX-License-Identifier: Apache-2.0
"""Waiting for a state, with a deadline."""
import os
import time

SCALE = float(os.environ.get("RINGTAIL_TEST_SCALE", "1"))
DEADLINE = 10.0 * SCALE


def wait_for(condition, what, deadline=None, describe=None):
    """Calls condition() until it returns something true, which is returned; fails naming what after the deadline."""
    deadline = DEADLINE if deadline is None else deadline
    end = time.monotonic() + deadline
    pause = 0.001
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            seen = f"\n{describe()}" if describe else ""
            raise AssertionError(f"{what}: not within {deadline:g} s{seen}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)
