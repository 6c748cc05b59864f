# SPDX-License-Identifier: GPL-3.0-or-later
"""The wall clock jumps by a year, to and fro: no limit of time, no delay of a
retry and no budget changes."""

import itertools

import pytest

SIZE = {"trials": 4, "parallel": 2, "is_flaky": True}
STEP = 5    # every fifth reading of the clock


@pytest.mark.parametrize("jump", ["+year", "-year"])
@pytest.mark.parametrize("program", ["smtune", "smtune-shim"])
def test_clock_jumps(drill, expected, program, jump):
    for n in itertools.count(1, STEP):
        it = drill(**SIZE)
        assert it.disturb(f"{program}:{jump}:clock@{n}+") == 0
        struck = it.struck()
        it.finish(expected(**SIZE), is_strict=False)
        if not struck:
            return


@pytest.mark.parametrize("jump", ["+year", "-year"])
def test_clock_jumps_while_no_engine_runs(drill, expected, jump):
    """In between, the machine was off for a year, or its clock was wrong."""
    for n in range(60, 250, 12):
        it = drill(**SIZE)
        it.disturb(f"smtune:kill:change@{n}")
        assert it.disturb(f"smtune:{jump}:clock@1+") == 0
        it.finish(expected(**SIZE), is_strict=False)
