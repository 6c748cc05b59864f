# SPDX-License-Identifier: GPL-3.0-or-later
"""What pilots take from a cluster: no more than the trials that wait need."""

import json
import os
import re
import signal
import time

import pytest

from programs import wait_until


@pytest.fixture
def workflow(write, cluster):
    """workflow({...}, executor={...}): a file of a workflow `w`."""
    def make(steps, executor=None):
        return write("w.yaml", json.dumps({
            "version": 1,
            "name": "w",
            "executor": {"name": "slurm", "poll": "1s", "heartbeat": "1s",
                         **cluster.options, **(executor or {})},
            "steps": steps}))
    return make


def limit_s(job):
    """The time limit of a job of squeue's, in seconds."""
    parts = [int(part) for part in re.split("[-:]", job["limit"])]
    return sum(part * unit for part, unit in
               zip(reversed(parts), (1, 60, 3600, 86400)))


@pytest.mark.parametrize("option", [
    "--gres=gpu:fake:2", "--exclusive", "--mem-per-cpu=2G"])
def test_extra_of_a_trial(smtune, workflow, cluster, transport, option):
    """Trials that are short, each in a job that has what `extra` asks for."""
    smtune.ok("run", workflow({
        "t": {"matrix": {"i": [1, 2, 3]},
              "shell": "echo $SLURM_JOB_ID '<'$CUDA_VISIBLE_DEVICES'>' "
                       "$SLURM_MEM_PER_CPU $(date +%s.%N) $SLURMD_NODENAME;"
                       "sleep 0.5; date +%s.%N",
              "resources": {"cpus": 1, "time": "1m", "extra": [option]}}}))
    said = [smtune.ok("logs", "w", f"t[{i}]").split() for i in range(3)]
    assert len({words[0] for words in said}) == 3
    if "gres" in option:
        assert {len(words[1].split(",")) for words in said} == {2}
    if "mem" in option:
        assert {words[2] for words in said} == {"2048"}
    if "exclusive" in option:
        spans = sorted((words[-2], float(words[-3]), float(words[-1]))
                       for words in said)
        assert all(a[0] != b[0] or a[2] <= b[1]
                   for a, b in zip(spans, spans[1:]))


def test_extra_that_trials_share(smtune, workflow, cluster, transport):
    """One pilot, on a node that has what each trial asks for."""
    smtune.ok("run", workflow({
        "t": {"matrix": {"i": [1, 2, 3]},
              "shell": "echo $SLURM_JOB_ID $SLURMD_NODENAME",
              "resources": {"cpus": 1, "time": "1m",
                            "extra": ["--nodelist=n3"]}}}))
    said = [smtune.ok("logs", "w", f"t[{i}]").split() for i in range(3)]
    assert len({words[0] for words in said}) == 1
    assert {words[1] for words in said} == {"n3"}


def test_extra_of_a_trial_in_a_pilot(smtune, workflow):
    result = smtune("run", workflow({
        "t": {"shell": "true", "resources": {
            "mode": "pilot", "extra": ["--licenses=x"]}}}))
    assert result.returncode == 3
    assert "extra: '--licenses=x' is for one trial, and a pilot runs " \
        "several: use mode job" in result.stderr


@pytest.mark.cluster("accounting")
def test_an_idle_pilot_lets_others_in(smtune, workflow, cluster, transport):
    """A QOS of one running job: the second step's pilot waits for the end of
    the first one, which has nothing left to do, and so does a job."""
    began = time.monotonic()
    smtune.ok("run", workflow({
        "a": {"shell": "true", "resources": {"time": "1m", "cpus": 1}},
        "b": {"needs": "a", "shell": "true", "resources": {
            "time": "1m", "cpus": 1, "constraint": "fast"}},
        "c": {"needs": "b", "shell": "true", "resources": {
            "time": "1m", "cpus": 1, "mode": "job"}}},
        executor={"qos": "few"}))
    assert time.monotonic() - began < 45


def test_the_time_that_is_needed(smtune, workflow, cluster, transport):
    """A pilot of one trial, and one of five where two may run at once: three
    times a minute, and what begins and ends take. DefaultTime is 10."""
    engine = smtune.start("run", workflow({
        "one": {"shell": "true", "resources": {
            "time": "30s", "grace": "1s", "extra": ["--hold"]}},
        "five": {"matrix": {"i": [1, 2, 3, 4, 5]}, "shell": "true", "resources": {
                     "time": "1m", "grace": "1s", "constraint": "fast",
                     "extra": ["--hold"]}}},
        executor={"pilot": {"cpus": 1, "max": 2}}))
    wait_until(lambda: len(cluster.ours()) == 2, 20)
    assert sorted(limit_s(job) for job in cluster.ours()) == [60, 240]
    cluster.ok("scontrol", "release", *[
        job["id"] for job in cluster.ours()])
    assert engine.wait(60) == 0


@pytest.mark.parametrize("mode", ["auto", "job", "array"])
def test_the_limit_of_a_partition(smtune, workflow, cluster, transport, mode):
    """A trial that may take as long as the partition lets a job run: smtune's
    own margin and the grace period come on top, and are cut."""
    smtune.ok("run", workflow({
        "t": {"matrix": {"i": [1, 2]}, "shell": "true", "resources": {
            "time": "2m", "partition": "short", "mode": mode}}}))
    assert smtune.json("status", "w")["state"] == "succeeded"


@pytest.mark.cluster("accounting")
@pytest.mark.parametrize("mode", ["auto", "job", "pilot"])
def test_the_limit_of_a_qos(smtune, workflow, cluster, transport, mode):
    """A QOS of five minutes, beyond which a job would wait for ever: a pilot
    asks for no more, and a trial of all that time gets a job."""
    cluster.ok("sacctmgr", "-iQ", "modify", "qos", "few", "set", "MaxWall=5")
    try:
        engine = smtune.start("run", workflow({
            "t": {"shell": "true", "resources": {
                "time": "3m" if mode == "pilot" else "5m", "mode": mode,
                "extra": ["--hold"]}}},
            executor={"qos": "few", "pilot": {"time": "1h"}}))
        wait_until(lambda: cluster.ours(), 20)
        assert [limit_s(job) for job in cluster.ours()] == [300]
        cluster.ok("scontrol", "release", cluster.ours()[0]["id"])
        assert engine.wait(60) == 0
    finally:
        cluster.ok("sacctmgr", "-iQ", "modify", "qos", "few", "set",
                   "MaxWall=-1")


@pytest.mark.parametrize("with_listing", [False, True])
def test_a_pilot_that_a_killed_engine_left(smtune, workflow, cluster,
                                           with_listing):
    """The stop that follows ends it: nothing of the run will need it."""
    engine = smtune.start("run", workflow({
        "a": {"shell": "true", "resources": {"time": "1m", "cpus": 1}},
        "b": {"needs": "a", "executor": "local", "shell": "sleep 60"}},
        executor={"poll": "1s" if with_listing else "60s",
                  "pilot": {"idle": "5m"}}))
    wait_until(lambda: "succeeded" in smtune("status", "w").stdout, 20)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait(10)
    assert [job["state"] for job in cluster.ours()] == ["RUNNING"]
    smtune("stop", "w")
    cluster.wait_until_done(20)
