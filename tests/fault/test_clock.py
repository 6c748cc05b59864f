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


@pytest.mark.parametrize("jump", ["+year", "-year"])
def test_clock_jumps_while_the_run_is_paused(drill, expected, jump):
    """What an engine writes down when it stops is from behind the jump."""
    for n in itertools.count(24, 2):
        it = drill(**SIZE, pause=0.05)
        engine = it.go_on(f"smtune:{jump}:clock@{n}+")
        it.wait_for_trials(1)
        it.start("pause", "drill").wait(30)
        it.start("stop", "drill").wait(30)
        assert engine.wait(30) in (0, 143)
        struck = " struck " in (it.directory / "log-1").read_text()
        it.finish(expected(**SIZE, pause=0.05), is_strict=False)
        if not struck:
            return
