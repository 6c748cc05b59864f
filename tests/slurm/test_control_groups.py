# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs in control groups, of version 1 or 2: the kernel ends what takes too
much memory, and nothing leaves its job."""

import os
import pathlib

import pytest

from conftest import both
from programs import processes_with, wait_until

UNIFIED = pathlib.Path("/sys/fs/cgroup/cgroup.controllers")


def has_memory_groups():
    if UNIFIED.exists():
        return "memory" in UNIFIED.read_text().split()
    return os.access("/sys/fs/cgroup/memory/cgroup.procs", os.W_OK)


pytestmark = [
    pytest.mark.cluster("cgroup"),
    pytest.mark.skipif(not has_memory_groups(),
                       reason="no control groups for memory can be made here")]


def test_jobs_are_in_a_group_of_their_own(cluster):
    said = cluster.ok("srun", "-N1", "--mem=150", "cat", "/proc/self/cgroup")
    lines = [line for line in said.splitlines()
             if "memory" in line or line.startswith("0::")]
    assert any("/step_0" in line for line in lines), said


@both("job", "array", "pilot")
def test_memory_limits(smtune, experiment, transport, mode):
    smtune.ok("run", experiment(trials=2, executor={"mode": mode}, trial={
        "shell": "[ $SMTUNE_JOB = 1 ] && exec python3 -c "
                 "'import time; b = b\"x\" * 300000000; time.sleep(20)'\n"
                 "echo loss=1",
        "resources": {"memory": "100MB", "time": "60s"}}), timeout=100)
    assert [row["cause"] for row in smtune.json("trials", "run")] == [
        "oom", "ok"]


@pytest.mark.parametrize("ending", ["exec python3", "python3"])
def test_a_limit_that_is_the_jobs_alone(smtune, experiment, ending):
    """smtune-shim can make no group of its own there, as for any user who is
    not root; the second trial's shell reports that the kernel killed its
    child."""
    smtune("run", experiment(trials=1, executor={
        "mode": "job", "extra": ["--mem-per-cpu=100"]}, trial={
        "shell": f"{ending} -c 'b = b\"x\" * 300000000'\nexit $?\n"}))
    row, = smtune.json("trials", "run")
    assert row["cause"] == "oom"
    attempt, = smtune.json("show", "run", 1)["attempts"]
    assert "the kernel killed 1 process of its Slurm job" in attempt["text"]


@pytest.mark.parametrize("mode", ["job", "pilot"])
def test_what_leaves_its_session_ends_with_its_job(smtune, experiment, mode):
    marker = f"AWAY={os.urandom(8).hex()}"
    smtune.ok("run", experiment(trials=1, executor={"mode": mode}, trial={
        "shell": f"{marker} setsid sleep 1000 </dev/null >/dev/null 2>&1 &\n"
                 "echo loss=1"}))
    wait_until(lambda: not processes_with(marker.encode()))
