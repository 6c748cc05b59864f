# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster that the other tests stand upon."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import uuid

import pytest

from conftest import LAB, NODES, Cluster
from programs import ROOT, processes_with, wait_until


def test_runs_on_every_node(cluster):
    said = cluster.ok("srun", "-N4", "sh", "-c", "echo $SLURMD_NODENAME")
    assert sorted(said.split()) == sorted(NODES)


def test_gives_gpus(cluster):
    said = cluster.ok("srun", "--gres=gpu:2", "sh", "-c",
                      "echo $CUDA_VISIBLE_DEVICES")
    assert said == "0,1\n"


def test_down_ends_its_own_alone(cluster):
    """Also a job's process whose node's daemon has gone before."""
    other = Cluster(["age=5", "cpus=2", "gpus=0"])
    other.ok("sbatch", "-o", "/dev/null", "--wrap", "exec sleep 1000")

    def processes():
        return processes_with(b"SLURM_CLUSTER_NAME=lab%d" % other.port)

    wait_until(processes)
    other.lab("kill", other.jobs()[0]["nodes"])
    other.lab("down")
    assert other.dead() == ["munged", "slurmctld", *NODES] and not processes()
    assert cluster.dead() == []
    shutil.rmtree(other.directory)


def test_a_killed_run_takes_its_cluster_along(cluster):
    """With the database, slurmrestd and a job that ignores its end."""
    marker = f"RUN={uuid.uuid4().hex}"
    name, _, value = marker.partition("=")
    env = {**os.environ, name: value, "JOB": "trap '' TERM; sleep 1000"}
    env.pop("SMTUNE_TEST_FOLDER", None)
    run = subprocess.Popen(
        [ROOT / "tests/contain", "bash", "-c",
         f"dir=$SMTUNE_TEST_FOLDER/lab; {LAB} up $dir accounting rest &&"
         f"SLURM_CONF=$dir/slurm.conf sbatch -n 1 -o /dev/null --wrap \"$JOB\" &&"
         f"echo up $dir && sleep 1000"], env=env, stdout=subprocess.PIPE,
        text=True)
    while (line := run.stdout.readline()) and not line.startswith("up "):
        pass
    folder = line.split()[1].encode()

    def survivors():
        return processes_with(marker.encode(), folder)

    commands = " ".join(survivors().values())
    for daemon in ("munged", "slurmctld", "slurmd", "slurmdbd", "mariadbd",
                   "slurmrestd"):
        assert f"{daemon} " in commands, commands
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    wait_until(lambda: not survivors(), what="the end of the cluster")


def test_what_did_not_come_up_leaves_nothing(tmp_path):
    program = tmp_path / "slurmrestd"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    directory = tempfile.mkdtemp(prefix="lab-",
                                 dir=os.environ.get("SMTUNE_TEST_FOLDER"))
    os.chmod(directory, 0o755)
    with open(tmp_path / "said", "w+") as said:     # daemons keep it
        result = subprocess.run(
            [LAB, "up", directory, "rest"], stdin=subprocess.DEVNULL,
            stdout=said, stderr=said, timeout=100,
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
        said.seek(0)
        assert "rest-local died" in said.read()
    assert result.returncode == 1
    assert processes_with(directory.encode()) == {}
    shutil.rmtree(directory)


def test_daemons_are_killed_and_started(cluster):
    cluster.lab("kill", "slurmctld", "n1")
    assert cluster.dead() == ["slurmctld", "n1"]
    cluster.lab("start", "slurmctld", "n1")
    try:
        wait_until(lambda: cluster.node("n1") == "IDLE")
    except AssertionError:
        pytest.fail(cluster.nodes_and_logs())
    cluster.lab("freeze", "slurmctld")
    cluster.lab("thaw", "slurmctld")
    assert cluster.jobs() == []


def test_what_died_is_started_though_another_process_has_its_pid(cluster):
    cluster.lab("kill", "n1")
    (cluster.directory / "run/n1").write_text(f"{os.getpid()} 1\n")
    assert cluster.dead() == ["n1"]
    assert cluster.mend() == [] and cluster.dead() == []


@pytest.mark.cluster("accounting", "rest")
def test_accounts_have_limits(cluster):
    words = ["sbatch", "--parsable", "-H", "-A", "tight", "--wrap", "true"]
    held = [cluster.ok(*words).strip() for _ in range(2)]
    assert "AssocMaxSubmitJobLimit" in cluster.run(*words).stderr
    cluster.ok("scancel", *held)
    wait_until(lambda: cluster.ok(
        "sacct", "-nXo", "state%20", "-j", ",".join(held)).split() ==
        ["CANCELLED", "by", "0"] * 2)


@pytest.mark.cluster("accounting", "rest")
def test_slurmrestd_answers(cluster):
    socket = cluster.directory / "rest/socket"
    for words in (["--unix-socket", socket, "http://localhost"],
                  ["-H", "X-SLURM-USER-NAME: root",
                   "-H", f"X-SLURM-USER-TOKEN: {cluster.token()}",
                   f"http://127.0.0.1:{cluster.port + 2}"]):
        def get(path):
            return json.loads(cluster.ok("curl", "-sS", *words[:-1],
                                         words[-1] + path))

        path = max(path for path in get("/openapi/v3")["paths"]
                   if re.fullmatch(r"/slurm/v[\d.]+/jobs/?", path))
        assert get(path)["errors"] == []
