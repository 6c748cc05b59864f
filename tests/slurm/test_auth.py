# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose authentication is Slurm's own, without munge: from 23.11."""

import pathlib

import pytest

from conftest import both, missing, version
from programs import wait_until

pytestmark = [
    pytest.mark.cluster("auth"),
    pytest.mark.skipif(not missing() and version() < (23, 11),
                       reason="this Slurm has munge alone")]

# Notes that it runs, and ends when it may.
SLOW = {"shell": "echo $SMTUNE_JOB >>ran\n"
                 "while [ ! -e go ]; do sleep 0.1; done\n"
                 "echo loss=${{ x }}\n"}


def ran(smtune):
    path = smtune.directory / "ran"
    return path.read_text().split() if path.exists() else []


def test_the_cluster_has_no_munge(cluster):
    said = cluster.ok("scontrol", "show", "config")
    assert "AuthType                = auth/slurm" in said
    assert "munged" not in [path.name for path in
                            (cluster.directory / "run").iterdir()]


@both("job", "array", "pilot")
def test_trials_run(smtune, experiment, transport, mode):
    smtune.ok("run", experiment(trials=4, executor={"mode": mode}, trial={
        "shell": "smtune report loss=0.5"}))
    assert smtune.states("run") == ["succeeded"] * 4


def test_what_is_stopped_leaves_nothing(smtune, experiment, cluster,
                                        transport):
    engine = smtune.start("run", experiment(
        trials=3, executor={"mode": "job"}, trial=SLOW))
    wait_until(lambda: len(ran(smtune)) == 3, 30)
    smtune.ok("stop", "run")
    engine.wait(60)
    cluster.wait_until_done()


def sockets():
    return sorted(pathlib.Path("/run").glob("slurm*/sack.socket"))


def test_its_sockets_are_away_for_a_while(smtune, experiment, cluster):
    """Nothing can be asked then: nothing is known, and no job refused. The
    daemons of steps cannot report their end either, and try again."""
    log = smtune.directory / "log"
    engine = smtune.start("run", experiment(
        trials=4, executor={"mode": "job"}, trial=SLOW,
        budget={"trials": 4, "parallel": 2}),
        env={"SMTUNE_LOG": "slurm=debug:log"})
    wait_until(lambda: len(ran(smtune)) == 2, 30)
    there = sockets()
    for path in there:
        path.rename(f"{path}.away")
    try:
        before = log.stat().st_size
        (smtune.directory / "go").touch()
        wait_until(lambda: "sack" in log.read_text()[before:], 30)
        wait_until(lambda: "sbatch" in log.read_text()[before:], 30)
    finally:
        for path in there:
            pathlib.Path(f"{path}.away").rename(path)
    assert engine.wait(60) == 0
    assert smtune.states("run") == ["succeeded"] * 4
    assert sorted(ran(smtune)) == list("1234")
    cluster.wait_until_done(60)
