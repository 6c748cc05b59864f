# SPDX-License-Identifier: GPL-3.0-or-later
"""What people see in Slurm of the jobs of smtune, and in smtune of Slurm."""

import json
import re
import signal

import pytest

from programs import wait_until


@pytest.fixture
def workflow(write, cluster):
    """workflow({...}, executor={...}): a file of a workflow `nightly`."""
    def make(steps, executor=None, **keys):
        return write("w.yaml", json.dumps({
            "version": 1,
            "name": "nightly",
            "executor": {"name": "slurm", "mode": "job", "poll": "1s",
                         "heartbeat": "1s", **cluster.options,
                         **(executor or {})},
            "steps": steps,
            **keys}))
    return make


def names(cluster):
    """{name without the part of smtune: comment} of what is in the queue."""
    return {re.sub(r"\.?smt-[0-9a-f]{8}-[jap][0-9]+$", "", job["name"]):
            job["comment"] for job in cluster.jobs()}


def test_jobs_have_names(smtune, workflow, cluster, transport):
    for node in ("n1", "n2", "n3", "n4"):
        cluster.set_node(node, "drain")
    engine = smtune.start("run", workflow({
        "train-big": {"matrix": {"i": [1, 2]}, "shell": "true"},
        "eval": {"shell": "true"}}))
    wait_until(lambda: names(cluster) == {
        "nightly.train-big[0]":
            "smtune run=nightly step=train-big job=train-big[0]",
        "nightly.train-big[1]":
            "smtune run=nightly step=train-big job=train-big[1]",
        "nightly.eval": "smtune run=nightly step=eval job=eval"}, 20)
    for node in ("n1", "n2", "n3", "n4"):
        cluster.set_node(node, "resume")
    assert engine.wait(60) == 0


@pytest.mark.parametrize("mode, job, step", [
    ("job", "1", "trial"), ("array", "trial", "trial"),
    ("pilot", "pilot", "pilot")])
def test_patterns_of_names(smtune, experiment, cluster, mode, job, step):
    """Jobs are found by their own name all the same, also by an engine that
    knows no id of them."""
    engine = smtune.start("run", experiment(
        trials=2, budget={"trials": 2, "parallel": 1 if mode == "job" else 2},
        executor={"mode": mode, "extra": ["--hold"],
                  "job_name": "X ${{ run }}-${{ job }}",
                  "comment": "${{ upper(step) }}"}))
    wait_until(lambda: names(cluster) == {f"X run-{job}": step.upper()}, 20)
    assert len(cluster.ours()) == len(cluster.jobs())
    engine.send_signal(signal.SIGINT)
    engine.wait(30)
    cluster.wait_until_done()


def test_no_comment(smtune, experiment, cluster):
    engine = smtune.start("run", experiment(
        trials=1, executor={"mode": "job", "extra": ["--hold"],
                            "job_name": "", "comment": ""}))
    wait_until(lambda: names(cluster) == {"": "(null)"}, 20)
    engine.send_signal(signal.SIGINT)
    engine.wait(30)


@pytest.mark.parametrize("mode", ["job", "array", "pilot"])
def test_why_has_the_reason_of_each_job(smtune, workflow, cluster, mode):
    """The note is of one job that is held back, and goes when it is not."""
    cluster.ok("scontrol", "update", "partition=high", "state=down")
    engine = smtune.start("run", workflow({
        "a": {"shell": "true",
              "resources": {"time": "1m", "partition": "high"}},
        "b": {"shell": "true", "resources": {"time": "1m", "extra": ["--hold"]}},
    }, executor={"mode": mode}))
    for step, reason in (("a", "PartitionDown (the partition is down)"),
                         ("b", "JobHeldUser (held by you; `scontrol release` "
                               "lets it start)")):
        wait_until(lambda: f": {reason}\n" in
                   smtune("why", "nightly", step).stdout, 30)
    rows = smtune.json("status", "nightly")["running_jobs"]
    assert [row["pending"] for row in rows] == ["PartitionDown", "JobHeldUser"]
    wait_until(lambda: " back: " in
               (smtune.json("status", "nightly")["note"] or ""), 30)
    cluster.ok("scontrol", "update", "partition=high", "state=up")
    wait_until(lambda: "JobHeldUser" in
               (smtune.json("status", "nightly")["note"] or ""), 40)
    for job in cluster.jobs("PENDING"):
        cluster.run("scontrol", "release", str(job["id"]))
    assert engine.wait(60) == 0
    assert smtune.json("status", "nightly").get("note") is None
    smtune.ok("fsck", "nightly")


@pytest.mark.parametrize("transport", ["rest"])
def test_slurmrestd_has_the_reason_as_well(smtune, workflow, cluster,
                                           transport):
    cluster.ok("scontrol", "update", "partition=high", "state=down")
    engine = smtune.start("run", workflow({
        "a": {"shell": "true",
              "resources": {"time": "1m", "partition": "high"}}}))
    wait_until(lambda: ": PartitionDown (" in
               smtune("why", "nightly", "a").stdout, 30)
    cluster.ok("scontrol", "update", "partition=high", "state=up")
    assert engine.wait(60) == 0


def test_a_cluster_that_never_answers(smtune, workflow, cluster, tmp_path):
    """An error within a minute. Resumed where there is one, the run goes on,
    and then a silent controller is waited for."""
    text = (cluster.directory / "slurm.conf").read_text()
    nowhere = tmp_path / "slurm.conf"
    nowhere.write_text(re.sub("SlurmctldPort=.*", "SlurmctldPort=9", text))
    path = workflow({"a": {"shell": "true"}})
    engines = [
        smtune.start("run", path, "--name", "a",
                     env={"SLURM_CONF": str(nowhere)}),
        smtune.start("run", path, "--name", "b",
                     *("--set", "executor.transport=rest"),
                     *("--set", "executor.url=http://127.0.0.1:9"))]
    for engine in engines:
        errors = engine.communicate(timeout=60)[1]
        assert ": cannot reach slurm for 40 s: " in errors
        assert engine.returncode == 1
    smtune.ok("resume", "a")
    assert smtune.json("show", "a")["state"] == "succeeded"
    smtune.ok("fsck")


def test_names_of_nodes_are_those_of_the_cluster(smtune, cluster, transport):
    url, env = [], {}
    if transport == "rest":  # and no command of Slurm is there
        url, env = ["--url", cluster.options["url"]], {"PATH": "/nonexistent"}
    for text, says in (("n[1,3],nn2", "(did you mean 'n2'?)"),
                       ("n[1-9]", "unknown node 'n5': the cluster has 4 "
                                  "nodes, 'n1' to 'n4'")):
        result = smtune("nodes", "--avoid", text, *url, env=env)
        assert result.returncode == 2 and says in result.stderr
    assert smtune.json("nodes") == []
    smtune.ok("nodes", "--avoid", "n[1-2,4]", *url, env=env)
    smtune.ok("nodes", "--clear", "n[2-3]", *url, env=env)
    smtune.ok("nodes", "--avoid", "n77", "--force", *url, env=env)
    assert {row["name"] for row in smtune.json("nodes") if row["avoided"]} == \
        {"n1", "n4", "n77"}
    smtune.ok("nodes", "--clear", "n77,n[1-4]", *url, env=env)
    assert not any(row["avoided"] for row in smtune.json("nodes"))


@pytest.mark.parametrize("mode", ["job", "array", "pilot"])
def test_what_is_submitted_is_kept(smtune, experiment, cluster, mode):
    """It is what plan --script shows, but for the names of the job."""
    path = experiment(trials=2, executor={
        "mode": mode, "extra": ["--mail-type=NONE"]})
    plan = smtune.ok("plan", path, "--script")
    assert "--mail-type=NONE" in plan and "--nodes=1 --ntasks=1" in plan
    smtune.ok("run", path)
    for row in smtune.json("trials", "run"):
        [attempt] = smtune.json("show", "run", row["id"])["attempts"]
        file = smtune.store / attempt["directory"] / "sbatch"
        assert file.stat().st_mode & 0o777 == 0o600
        lines = file.read_text().splitlines()
        assert lines[0] == "#!/bin/sh"
        assert re.match(r"# sbatch .* --job-name=run\.[a-z0-9]+\.smt-"
                        r"[0-9a-f]{8}-[jap][0-9]+ .* --mail-type=NONE",
                        lines[1])
        assert "smtune-shim' " in lines[2]
        if mode == "job" and row["id"] == 1:
            assert re.sub("smt-[0-9a-f]{8}", "smt-TOKEN", "\n".join(lines)) \
                in plan


def test_plan_cuts_times_as_a_submission(smtune, experiment, cluster,
                                         transport):
    """To MaxTime of a partition, which no margin of smtune's exceeds."""
    path = experiment(
        trials=1, executor={"mode": "job", "partition": "short"},
        trial={"resources": {"time": "110s"}})
    plan = smtune.ok("plan", path, "--script")
    assert " --time=2 " in plan and "was not asked" not in plan
    smtune.ok("run", path)
    [attempt] = smtune.json("show", "run", 1)["attempts"]
    assert " --time=2 " in (
        smtune.store / attempt["directory"] / "sbatch").read_text()
    if transport == "commands":
        nowhere = smtune.ok("plan", path, "--script",
                            env={"PATH": "/nonexistent"})
        assert " --time=4 " in nowhere
        assert "# The cluster was not asked: its limits of time" in nowhere
