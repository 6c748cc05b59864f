# SPDX-License-Identifier: GPL-3.0-or-later
"""Each version of slurmrestd's interface that smtune supports, where the
slurmrestd of this machine has it. rest_later.py imitates 41 beside one that has
38."""

import json
import re

import pytest

import rest_liar
from conftest import MODES
from programs import wait_until
from rest_later import Later

VERSIONS = (37, 38, 41, 42, 43, 44, 45)
RUNS = {"shell": "echo $SMTUNE_JOB >>ran; exec sleep 1000"}


@pytest.fixture
def transport():
    return "rest"


class Only(rest_liar.Liar):
    """Hides all versions but one."""

    def __init__(self, url, version):
        self.version = f"v0.0.{version}"
        super().__init__(url, {})

    def ask(self, method, path, headers, body):
        answer = super().ask(method, path, headers, body)
        if path != "/openapi/v3":
            assert f"/{self.version}/" in path
            return answer
        spec = json.loads(answer.body)
        spec["paths"] = {path: value for path, value in spec["paths"].items()
                         if f"/{self.version}/" in path}
        return rest_liar.json_answer(answer.status, spec)


@pytest.fixture(params=VERSIONS, ids=lambda version: f"v{version}")
def version(request, transport, cluster):
    """The liar that speaks it."""
    spec = cluster.ok("curl", "-sS", "--unix-socket",
                      cluster.directory / "rest/socket",
                      "http://localhost/openapi/v3")
    served = {int(found[1]) for path in json.loads(spec)["paths"] if
              (found := re.match(r"/slurm/v0\.0\.(\d+)/jobs", path))}
    if request.param in served:
        it = Only(cluster.options["url"], request.param)
    elif request.param == 41 and 38 in served:
        it = Later(cluster.options["url"], 41)
    else:
        pytest.skip(f"slurmrestd has {sorted(served)}")
    cluster.options["url"] = it.url
    yield it
    it.close()


def causes(smtune):
    return [row["cause"] for row in smtune.json("trials", "run")]


@pytest.mark.parametrize("mode", MODES)
def test_trials_end_as_they_do(smtune, experiment, version, mode):
    path = experiment(trials=5, executor={"mode": mode}, trial={
        "resources": {"cpus": 2, "memory": "200MB", "time": "20s"},
        "shell": "case $SMTUNE_JOB in 1) exit 3 ;; 2) kill -9 $$ ;;\n"
                 "*) echo loss=$SMTUNE_CPUS ;; esac\n"})
    smtune.ok("run", path)
    assert causes(smtune) == ["exit", "signal", "ok", "ok", "ok"]
    assert {row["value"] for row in smtune.json("trials", "run")[2:]} == {2}
    assert version.count("submit") >= 1


@pytest.mark.parametrize("mode", MODES)
def test_what_is_stopped_leaves_nothing(smtune, experiment, cluster, version,
                                        mode):
    smtune.ok("run", "--detach", experiment(
        trials=3, executor={"mode": mode}, trial=RUNS))
    ran = smtune.directory / "ran"
    wait_until(lambda: ran.exists() and len(ran.read_text().split()) == 3, 60)
    smtune.ok("stop", "run")
    assert causes(smtune) == ["cancelled"] * 3
    cluster.wait_until_done(30)


def test_gpus_and_nodes_to_keep_away_from(smtune, experiment, version):
    smtune.ok("nodes", "--avoid", "n1")
    smtune.ok("run", experiment(trials=2, executor={"mode": "job"}, trial={
        "resources": {"gpus": 2},
        "shell": "echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES; echo loss=1"}))
    said = {tuple(smtune.ok("logs", "run", n).split()[:2]) for n in (1, 2)}
    assert said <= {("n2", "0,1"), ("n2", "2,3")}


@pytest.mark.cluster("accounting", "rest")
def test_the_accounting_tells_of_what_vanished(smtune, experiment, cluster,
                                               version):
    """The queue has nothing of it any more, and its process left no word."""
    second = smtune.store / "runs/run/attempts/1-2"
    engine = smtune.start("run", experiment(
        trials=1, executor={"mode": "job"}, trial={
            "shell": "echo loss=1; [ $SMTUNE_ATTEMPT_NUMBER = 1 ] || exit 0\n"
                     "echo >ran; sleep 1000",
            "retry": [{"match": ["lost", "cancelled"], "max": 1}]}))
    wait_until((smtune.directory / "ran").exists, 60)
    job, = cluster.jobs("RUNNING")
    version.lies["jobs"] = lambda ask, n: (
        ask() if second.exists() else rest_liar.EMPTY(ask))
    cluster.ok("scancel", "-s", "KILL", "-f", job["id"])
    assert engine.wait(100) == 0
    first, _ = smtune.json("show", "run", 1)["attempts"]
    assert version.count("account") >= 1, first


def test_a_refusal_says_why(smtune, experiment, version):
    result = smtune("run", experiment(executor={"partition": "nowhere"}))
    assert result.returncode == 1
    assert "artition" in result.stderr


def test_doctor_tells_of_the_cluster(smtune, cluster, version):
    rows = smtune.json("doctor", "--url", version.url)
    slurm, = (row for row in rows if row["check"] == "Slurm")
    assert slurm["state"] == "ok"
    assert cluster.ok("sinfo", "--version").split()[1] in slurm["found"]
    partitions = {row["found"].split()[0].strip(":") for row in rows
                  if row["check"] == "partition"}
    assert partitions == {"batch", "high", "scav", "short"}
