# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools: limits that a workflow shares with its child runs, as the jobs
themselves see them."""

import os
import signal

import pytest

from programs import wait_until

# Takes so much, notes how much all of them hold, and gives it back.
HOLD = r"""
    import fcntl, pathlib, sys, time
    amount, seconds = int(sys.argv[1]), float(sys.argv[2])

    def change(by):
        with open("held", "a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            lines = file.read().split()
            file.write(f"{int(lines[-1] if lines else 0) + by}\n")

    change(amount)
    time.sleep(seconds)
    change(-amount)
    print("loss=1")
"""

TUNE = """
    version: 1
    name: tune
    parameters: {x: {type: float, min: 0, max: 1}}
    search: {method: random}
    objective: {metric: loss, goal: minimize}
    budget: {trials: 6, parallel: 4}
    executor: {name: local, cpus: 8}
    trial:
      command: python3 hold.py 1 0.1
      pool: gpu
"""


@pytest.fixture
def hold(write):
    write("tune.yaml", TUNE)
    return write("hold.py", HOLD)


def held(smtune):
    """What all of them held, after each change."""
    path = smtune.directory / "held"
    return [int(line) for line in path.read_text().split()] \
        if path.exists() else []


@pytest.mark.sanitized
def test_a_workflow_and_the_runs_below_it_keep_to_one_limit(smtune, write,
                                                            hold):
    smtune.ok("run", write("w.yaml", """
        version: 1
        name: w
        pools: {gpu: 2}
        parallel: 8
        executor: {name: local, cpus: 8}
        steps:
          one: {experiment: tune.yaml}
          two: {experiment: tune.yaml}
          own:
            matrix: {i: [1, 2, 3, 4, 5, 6]}
            command: python3 hold.py 1 0.1
            pool: gpu
          both:
            command: python3 hold.py 2 0.1
            pools: {gpu: 2}
        """), timeout=120)
    seen = held(smtune)
    assert len(seen) == 2 * (6 + 6 + 6 + 1)
    assert min(seen) == 0 and max(seen) == 2 and seen[-1] == 0


def test_who_waits_for_a_pool_holds_back_nobody_else(smtune, write, hold):
    """`blocked` may start as far as its own run's limit goes, but somebody else
    has the pool; what comes behind it goes on."""
    smtune.store.mkdir()
    pool = smtune.directory / "pool"
    other = write("other.yaml", """
        version: 1
        name: other
        steps:
          hold: {command: python3 hold.py 1 100, pool: gpu}
        pools: {gpu: 1}
        """)
    env = {"SMTUNE_POOLS": '{"gpu": {"directory": "%s", "size": 1}}' % pool}
    holder = smtune.start("run", other, env=env)
    wait_until(lambda: held(smtune) == [1], what="the pool to be taken")
    run = smtune.start("run", write("w.yaml", """
        version: 1
        name: w
        pools: {gpu: 1}
        parallel: 2
        executor: {name: local, cpus: 1}
        steps:
          blocked: {command: python3 hold.py 1 0, pool: gpu, priority: 9,
                    resources: {cpus: 1}}
          free: {matrix: {i: [1, 2, 3]}, command: "true",
                 resources: {cpus: 1}}
        """), env=env)
    states = lambda: {s["name"]: s["state"]
                      for s in smtune.json("status", "w")["steps"]}
    wait_until(lambda: smtune("status", "w").returncode == 0
               and states()["free"] == "succeeded", what="those that are free")
    assert states()["blocked"] == "active"
    holder.terminate()
    assert run.wait(30) == 0
    holder.wait(30)


def test_an_engine_that_dies_keeps_its_slots(smtune, write, hold):
    """Its attempts hold them on; another run waits for them."""
    pool = smtune.directory / "pool"
    env = {"SMTUNE_POOLS": '{"gpu": {"directory": "%s", "size": 1}}' % pool}
    text = """
        version: 1
        name: {name}
        pools: {{gpu: 1}}
        steps:
          hold: {{command: python3 hold.py 1 {seconds}, pool: gpu}}
        """
    first = smtune.start("run", write("a.yaml", text.format(name="a",
                                                            seconds=1.5)),
                         env=env)
    wait_until(lambda: held(smtune) == [1], what="the pool to be taken")
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    smtune.ok("run", write("b.yaml", text.format(name="b", seconds=0)),
              env=env)
    assert held(smtune) == [1, 0, 1, 0]
    smtune.ok("resume", "a", env=env)
    assert held(smtune) == [1, 0, 1, 0]
