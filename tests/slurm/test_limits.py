# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster allows, and what it never will."""

import pytest

from conftest import MODES, both
from programs import wait_until

def causes(smtune):
    return [row["cause"] for row in smtune.json("trials", "run")]


def states(smtune):
    return {row["state"] for row in smtune.json("trials", "run")}


@pytest.mark.parametrize("mode", MODES)
def test_time_limits_are_kept_to_the_moment(smtune, experiment, mode):
    """Though Slurm's own are minutes: signalled before, ended, killed."""
    smtune.ok("run", experiment(trials=3, executor={"mode": mode}, trial={
        "shell": "echo loss=${{ x }}\n[ $SMTUNE_JOB = 3 ] && exit\n"
                 "[ $SMTUNE_JOB = 1 ] || trap '' TERM\n"
                 "while :; do sleep 0.1; done",
        "resources": {"time": "1500ms", "grace": "500ms"}}))
    assert causes(smtune) == ["timeout", "timeout", "ok"]
    rows = smtune.json("trials", "run")
    assert [row["state"] for row in rows] == ["failed", "failed", "succeeded"]


def test_a_job_may_run_for_longer_than_its_trial(smtune, experiment, cluster):
    """So that Slurm does not end what ends by itself a little later."""
    engine = smtune.start("run", experiment(trials=1, executor={"mode": "job"}, trial={
        "shell": "while [ ! -e go ]; do sleep 0.1; done; echo loss=1",
        "resources": {"time": "150s", "grace": "10s"}}))
    job, = wait_until(cluster.jobs)
    minutes, seconds = map(int, job["limit"].split(":"))
    assert 3 <= minutes + seconds / 60 <= 6
    (smtune.directory / "go").touch()
    assert engine.wait(60) == 0
    assert causes(smtune) == ["ok"]


@both("job")
def test_memory_limits(smtune, experiment, transport, mode):
    smtune.ok("run", experiment(trials=2, executor={"mode": mode}, trial={
        "shell": "[ $SMTUNE_JOB = 1 ] && exec python3 -c "
                 "'import time; b = b\"x\" * 300000000; time.sleep(20)'\n"
                 "echo loss=1",
        "resources": {"memory": "100MB", "time": "60s"}}), timeout=100)
    assert causes(smtune) == ["oom", "ok"]


@pytest.mark.cluster("array=4")
def test_arrays_keep_below_the_clusters_size(smtune, experiment, cluster):
    """Indices below 4, so that it takes several; all of them run."""
    smtune.ok("run", experiment(trials=11, executor={"mode": "array"}))
    assert causes(smtune) == ["ok"] * 11


@pytest.mark.cluster("accounting", "rest")
@pytest.mark.parametrize("ask", [{"qos": "few"}, {"account": "tight"}],
                         ids=["qos", "account"])
@both("job", "pilot")
def test_limits_of_submission_are_waited_out(smtune, experiment, transport,
                                             mode, ask):
    """Three, or two, at a time in the queue: the others come after them."""
    smtune.ok("run", experiment(trials=6, executor={"mode": mode, **ask}),
              timeout=120)
    assert causes(smtune) == ["ok"] * 6


@pytest.mark.cluster("jobs=4", "age=2")
@both(*MODES)
def test_a_full_controller_is_waited_out(smtune, experiment, transport, mode):
    """sbatch itself would try again for minutes, each of them by itself.
    slurmrestd of Slurm 26.05 has an error of its own for it."""
    smtune.ok("run", experiment(trials=10, executor={
        "mode": mode, "pilot": {"cpus": 1}}), timeout=120)
    assert causes(smtune) == ["ok"] * 10


@pytest.mark.parametrize("ask, said", [
    ({"partition": "nowhere"}, "partition"),
    ({"constraint": "impossible"}, "feature"),
    ({"reservation": "none-such"}, "reservation"),
], ids=["partition", "constraint", "reservation"])
@both("job")
def test_what_there_is_not_ends_the_run(smtune, experiment, transport, mode,
                                        ask, said):
    result = smtune("run", experiment(executor={"mode": mode, **ask}))
    assert result.returncode not in (0, 139)
    assert said in result.stderr.lower()
    assert "ok" not in causes(smtune)


@pytest.mark.parametrize("resources", [
    {"gpus": 9}, {"memory": "999GB"}, {"nodes": 40},
    {"partition": "short", "time": "10m"},
], ids=lambda resources: "-".join(resources))
def test_a_job_that_can_never_start(smtune, experiment, cluster, transport,
                                    resources):
    """Refused at once, or accepted and never looked at by the scheduler."""
    result = smtune("run", experiment(
        trials=2, executor={"mode": "job"}, trial={"resources": resources}))
    assert result.returncode not in (0, 139)
    assert set(causes(smtune)) <= {"launch_error", None}
    assert result.stderr.count("\n") < 40


@both("job", "pilot")
def test_waiting_is_no_failure(smtune, experiment, cluster, transport, mode):
    """Drained nodes, all of them; a while later they are back."""
    for node in ("n1", "n2", "n3", "n4"):
        cluster.set_node(node, "drain")
    engine = smtune.start("run", experiment(executor={"mode": mode}))
    wait_until(cluster.jobs)
    for node in ("n1", "n2", "n3", "n4"):
        cluster.set_node(node, "resume")
    assert engine.wait(60) == 0
    assert causes(smtune) == ["ok"] * 4


@pytest.mark.parametrize("mode", MODES)
def test_a_person_is_told_what_slurm_holds_back(smtune, experiment, cluster,
                                                mode):
    engine = smtune.start("run", experiment(
        trials=2, executor={"mode": mode, "extra": ["--hold"]}))
    wait_until(lambda: "back: JobHeldUser" in
               smtune("status", "run", "-o", "json").stdout, 40)

    def is_over():
        for job in cluster.jobs("PENDING"):
            cluster.run("scontrol", "release", str(job["id"]))
        return engine.poll() is not None
    wait_until(is_over, 60)
    assert engine.returncode == 0
    assert causes(smtune) == ["ok"] * 2
