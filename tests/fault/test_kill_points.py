# SPDX-License-Identifier: GPL-3.0-or-later
"""Killed at the first change to the world, at the second, the third, until a
run passes clean; each time the run is resumed and judged.

A kill between two changes is the same as one before the second of them, so
this covers every moment at which an engine or an agent can die. To repeat one:
SMTUNE_FAULT=smtune:kill:change@17 build/fault/smtune run ..."""

import itertools
import random

import pytest

PARTS = 8
SIZE = {"trials": 3, "parallel": 2}


def kill_at_each(drill, program, part, judge):
    """Every PARTSth point from part on; how many struck."""
    for n in itertools.count(part + 1, PARTS):
        fault = f"{program}:kill:change@{n}"
        it = drill(**SIZE)
        it.disturb(fault)
        struck = it.struck()
        print(fault, struck)
        judge(it)
        if not struck:
            return n


@pytest.mark.parametrize("part", range(PARTS))
def test_engine_killed_at_each_change(drill, expected, part):
    clean = kill_at_each(drill, "smtune", part,
                         lambda it: it.finish(expected(**SIZE)))
    assert clean > 50


@pytest.mark.parametrize("part", range(PARTS))
def test_agent_killed_at_each_change(drill, expected, part):
    """The trials of a dead agent go on, and are lost when nobody sees how
    they end: then they run again, as a new attempt."""
    clean = kill_at_each(
        drill, "smtune-shim", part,
        lambda it: it.finish(expected(**SIZE), is_strict=False))
    assert clean > 5


@pytest.mark.parametrize("seed", range(6))
def test_killed_while_it_recovers(drill, expected, seed):
    """Killed at a point, and again at points of the recoveries."""
    chance = random.Random(seed)
    for _ in range(6):
        points = [chance.randrange(60, 250), chance.randrange(1, 60),
                  chance.randrange(1, 60), chance.randrange(1, 200)]
        print("killed at", points)
        it = drill(**SIZE)
        for n in points:
            it.disturb(f"smtune:kill:change@{n}")
        it.finish(expected(**SIZE))


@pytest.mark.parametrize("seed", range(4))
def test_engine_and_agent_killed(drill, expected, seed):
    chance = random.Random(seed)
    for _ in range(6):
        faults = [f"smtune:kill:change@{chance.randrange(60, 250)},"
                  f"smtune-shim:kill:change@{chance.randrange(2, 25)}",
                  f"smtune:kill:change@{chance.randrange(1, 200)},"
                  f"smtune-shim:kill:change@{chance.randrange(2, 25)}"]
        print(faults)
        it = drill(**SIZE)
        for fault in faults:
            it.disturb(fault)
        it.finish(expected(**SIZE), is_strict=False)
