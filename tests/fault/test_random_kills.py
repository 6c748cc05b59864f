# SPDX-License-Identifier: GPL-3.0-or-later
"""SIGKILL at any moment, again and again, in runs of many small trials.

The moments are drawn from the seed that the test's name has; what happens at
them is up to the machine, so a failure may need some repeats."""

import random
import signal
import time

import pytest

import soak

AT_ONCE = 25    # kills a test
SIZE = {"trials": 150, "parallel": 4, "pause": 0.01}
SEARCHES = ["random", "sobol"]


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def kill_one_agent(it, chance):
    """One that is no agent's child: that is a command which is only about to
    be executed, and to kill it is to kill the trial."""
    found = it.processes("smtune-shim")
    agents = [pid for pid in found if parent(pid) not in [0, *found]]
    if agents:
        it.kill(chance.choice(agents))


def kill_again_and_again(drill, expected, seed, with_agents):
    chance = random.Random(seed)
    options = {**SIZE, "search": SEARCHES[seed % 2]}
    kills = runs = 0
    it = drill(**options)
    while kills < AT_ONCE:
        engine = it.go_on()
        time.sleep(chance.uniform(0, 0.4))  # any moment will do
        if with_agents and chance.random() < 0.5:
            kill_one_agent(it, chance)
        engine.kill()
        killed = engine.wait() == -signal.SIGKILL
        it.check_record()
        kills += killed
        if not killed or chance.random() < 0.05:
            it.finish(expected(**options), is_strict=not with_agents)
            runs += 1
            it = drill(**options)
    it.finish(expected(**options), is_strict=not with_agents)
    soak.note("SIGKILLs", kills=kills, runs=runs + 1)


@pytest.mark.parametrize("seed", range(soak.KILLS * 3 // 4 // AT_ONCE))
def test_engine_killed_at_random(drill, expected, seed):
    kill_again_and_again(drill, expected, seed, with_agents=False)


@pytest.mark.parametrize("seed", range(soak.KILLS // 4 // AT_ONCE))
def test_engine_and_agents_killed_at_random(drill, expected, seed):
    kill_again_and_again(drill, expected, seed, with_agents=True)
