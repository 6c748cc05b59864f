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


@pytest.fixture
def hold(experiment, write):
    experiment(command="python3 hold.py 1 0.1", name="tune", parallel=4,
               pool="gpu", executor="{name: local, cpus: 8}")
    return write("hold.py", HOLD)


def held(smtune):
    """What all of them held, after each change."""
    path = smtune.directory / "held"
    return [int(line) for line in path.read_text().split()] \
        if path.exists() else []


@pytest.mark.sanitized
def test_a_workflow_and_the_runs_below_it_keep_to_one_limit(smtune, workflow,
                                                            hold):
    smtune.ok("run", workflow("""
        one: {experiment: tune.yaml}
        two: {experiment: tune.yaml}
        own:
          matrix: {i: [1, 2, 3, 4, 5, 6]}
          command: python3 hold.py 1 0.1
          pool: gpu
        both:
          command: python3 hold.py 2 0.1
          pools: {gpu: 2}
        """, name="w", pools={"gpu": 2}, parallel=8,
        executor="{name: local, cpus: 8}"), timeout=120)
    seen = held(smtune)
    assert len(seen) == 2 * (6 + 6 + 6 + 1)
    assert min(seen) == 0 and max(seen) == 2 and seen[-1] == 0


def test_who_waits_for_a_pool_holds_back_nobody_else(smtune, workflow, hold):
    """`blocked` may start as far as its own run's limit goes, but somebody else
    has the pool; what comes behind it goes on."""
    smtune.store.mkdir()
    pool = smtune.directory / "pool"
    other = workflow("hold: {command: python3 hold.py 1 100, pool: gpu}",
                     name="other", pools={"gpu": 1})
    env = {"SMTUNE_POOLS": '{"gpu": {"directory": "%s", "size": 1}}' % pool}
    holder = smtune.start("run", other, env=env)
    wait_until(lambda: held(smtune) == [1], what="the pool to be taken")
    run = smtune.start("run", workflow("""
        blocked: {command: python3 hold.py 1 0, pool: gpu, priority: 9,
                  resources: {cpus: 1}}
        free: {matrix: {i: [1, 2, 3]}, command: "true", resources: {cpus: 1}}
        """, name="w", pools={"gpu": 1}, parallel=2,
        executor="{name: local, cpus: 1}"), env=env)
    states = lambda: {s["name"]: s["state"]
                      for s in smtune.json("status", "w")["steps"]}
    wait_until(lambda: smtune("status", "w").returncode == 0
               and states()["free"] == "succeeded", what="those that are free")
    assert states()["blocked"] == "active"
    holder.terminate()
    assert run.wait(30) == 0
    holder.wait(30)


def test_an_engine_that_dies_keeps_its_slots(smtune, workflow, hold):
    """Its attempts hold them on; another run waits for them."""
    pool = smtune.directory / "pool"
    env = {"SMTUNE_POOLS": '{"gpu": {"directory": "%s", "size": 1}}' % pool}
    def run_file(name, seconds):
        return workflow(
            f"hold: {{command: python3 hold.py 1 {seconds}, pool: gpu}}",
            name=name, pools={"gpu": 1})

    first = smtune.start("run", run_file("a", 1.5), env=env)
    wait_until(lambda: held(smtune) == [1], what="the pool to be taken")
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    smtune.ok("run", run_file("b", 0), env=env)
    assert held(smtune) == [1, 0, 1, 0]
    smtune.ok("resume", "a", env=env)
    assert held(smtune) == [1, 0, 1, 0]
