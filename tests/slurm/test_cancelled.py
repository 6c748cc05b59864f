# SPDX-License-Identifier: GPL-3.0-or-later
"""What others cancel in Slurm is over, and nothing is submitted for ever."""

import json
import os
import signal

import pytest

from conftest import MODES, both
from programs import wait_until

# Notes that it runs, and ends when it may.
SLOW = {"shell": "echo $SMTUNE_JOB >>ran\n"
                 "while [ ! -e go ]; do sleep 0.1; done\n"
                 "echo loss=${{ x }}\n"}


def ran(smtune):
    path = smtune.directory / "ran"
    return path.read_text().split() if path.exists() else []


def go(smtune):
    (smtune.directory / "go").touch()


def mine(cluster, *states):
    """Tasks of an array by their index."""
    return [f"{job['array']}_{job['task']}" if job["task"].isdigit()
            else job["id"] for job in cluster.jobs(*states)
            if job["name"].rpartition(".")[2].startswith("smt-")]


def ends(smtune, trial=1):
    return [a["cause"] for a in smtune.json("show", "run", trial)["attempts"]]


@both("job", "pilot")
def test_what_runs_is_over(smtune, experiment, cluster, transport, mode):
    """Of two trials that run; in a pilot both, it being one job."""
    engine = smtune.start("run", experiment(
        trials=3, executor={"mode": mode, "pilot": {"cpus": 2}}, trial=SLOW,
        budget={"trials": 3, "parallel": 2}))
    wait_until(lambda: len(ran(smtune)) == 2, 30)
    cluster.ok("scancel", mine(cluster, "RUNNING")[-1])
    wait_until(lambda: len(ran(smtune)) == 3, 60, what="the third trial")
    go(smtune)
    assert engine.wait(60) == 0
    states = smtune.states("run")
    over = 2 if mode == "pilot" else 1
    assert sorted(states) == ["cancelled"] * over + ["succeeded"] * (3 - over)
    trial = states.index("cancelled") + 1
    assert ends(smtune, trial) == ["cancelled"]
    shown, = smtune.json("show", "run", trial)["attempts"]
    assert "CANCELLED" in shown["text"]
    assert sorted(ran(smtune)) == list("123")
    smtune.ok("fsck")
    smtune.ok("replay", "run")


@pytest.mark.parametrize("mode", MODES)
def test_what_waits_is_over(smtune, experiment, cluster, mode):
    """It is not submitted again: the queue stays empty."""
    engine = smtune.start("run", experiment(
        trials=1, executor={"mode": mode},
        trial=SLOW | {"resources": {"extra": ["--hold"]}}))
    job, = wait_until(lambda: mine(cluster, "PENDING"), 30)
    cluster.ok("scancel", job)
    assert engine.wait(60) == 6
    assert smtune.states("run") == ["cancelled"]
    assert ends(smtune) == ["cancelled"]
    assert not mine(cluster)
    smtune.ok("fsck")
    smtune.ok("replay", "run")


@both("job")
def test_a_rule_starts_it_again_so_often(smtune, experiment, cluster,
                                         transport, mode):
    engine = smtune.start("run", experiment(
        trials=1, executor={"mode": mode},
        trial=SLOW | {"retry": [{"match": "cancelled", "max": 1}]}))
    for count in (1, 2):
        wait_until(lambda: len(ran(smtune)) == count, 60, f"start {count}")
        jobs = mine(cluster, "RUNNING")
        assert len(jobs) == 1, cluster.jobs("all")
        cluster.ok("scancel", *jobs)
        wait_until(lambda: ends(smtune)[count - 1] is not None, 60,
                   f"the end of attempt {count}")
        assert ends(smtune)[:count] == ["cancelled"] * count
    assert engine.wait(60) == 6
    assert ends(smtune) == ["cancelled"] * 2
    assert smtune.states("run") == ["cancelled"]
    smtune.ok("replay", "run")


@pytest.mark.cluster("accounting")
@pytest.mark.parametrize("mode", ["job", "pilot"])
def test_while_no_engine_runs(smtune, experiment, cluster, mode):
    engine = smtune.start("run", experiment(
        trials=1, executor={"mode": mode}, trial=SLOW))
    wait_until(lambda: ran(smtune), 30)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    cluster.ok("scancel", *mine(cluster, "RUNNING"))
    cluster.wait_until_done(30)
    assert smtune("resume", "run", timeout=120).returncode == 6
    assert smtune.states("run") == ["cancelled"]
    smtune.ok("fsck")
    smtune.ok("replay", "run")


@pytest.mark.parametrize("mode", ["job", "pilot"])
def test_what_an_engine_ended_is_not(smtune, experiment, cluster, mode):
    """Its order is known to the engine that comes after it."""
    engine = smtune.start("run", experiment(
        trials=1, executor={"mode": mode, "pilot": {"idle": "1s"}},
        trial={"shell": "echo $SMTUNE_JOB >>ran\ntrap '' TERM\n"
                        "while [ ! -e go ]; do sleep 0.1; done\n"
                        "echo loss=${{ x }}\n",
               "resources": {"grace": "2s"}}))
    wait_until(lambda: ran(smtune), 30)
    engine.send_signal(signal.SIGTERM)
    wait_until(lambda: list(smtune.store.glob("runs/run/attempts/*/asked")),
               30, "the engine's order")
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    go(smtune)
    smtune.ok("resume", "run", timeout=120)
    assert smtune.states("run") == ["succeeded"]
    smtune.ok("fsck")
    smtune.ok("replay", "run")


def test_a_workflow_has_a_failed_step(smtune, write, cluster):
    """And says why, in `why`, in what it prints, and in its state."""
    engine = smtune.start("run", write("run.yaml", json.dumps({
        "version": 1, "name": "run",
        "executor": {"name": "slurm", "mode": "job", "poll": "1s"},
        "steps": {"a": {"shell": "touch ran; sleep 60",
                        "resources": {"time": "2m", "grace": "1s"},
                        "retry": []},
                  "b": {"needs": "a", "command": "true"}}})))
    wait_until(lambda: (smtune.directory / "ran").exists(), 30)
    cluster.ok("scancel", *mine(cluster, "RUNNING"))
    assert engine.wait(60) == 1
    printed = engine.stderr.read()
    assert "a cancelled (cancelled)" in printed
    assert "was cancelled in slurm" in printed
    steps = {s["name"]: s["state"] for s in smtune.json("status", "run")["steps"]}
    assert steps == {"a": "failed", "b": "skipped"}
    then, = [a["then"] for a in smtune.json("why", "run", "a")["attempts"]]
    assert "cancelled outside smtune" in then
    smtune.ok("fsck")
    smtune.ok("replay", "run")
