# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests wait for conditions, and never for times."""

import time


def wait_until(condition, timeout=30, what="condition", longest_pause=0.1):
    """Calls condition() until it is true, and returns what it returned."""
    end = time.monotonic() + timeout
    pause = 0.002
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout} s in vain for {what}")
        time.sleep(pause)  # the condition is looked at again then
        pause = min(pause * 1.5, longest_pause)
