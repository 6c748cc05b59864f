# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain over several hosts, which are network namespaces here, and over MPI
where that is installed: the same numbers as on one host."""

import os
import shutil
import subprocess
import uuid

import pytest

from programs import BUILD
from test_smtrain import FLAGS, images, lines_of  # noqa: F401

SMALL = ("--limit", 300, "--batch", 48, "--shares", 4)
IP = shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def ip(*words):
    return subprocess.run([IP, *words], capture_output=True, text=True,
                          check=False)


@pytest.fixture
def hosts():
    """The names of two hosts with a cable between them, and that of the cable;
    the first one's address is 198.18.0.1."""
    mark = uuid.uuid4().hex[:8]
    names = f"smt-{mark}-a", f"smt-{mark}-b"
    cable = f"c{mark}"
    if IP is None or ip("netns", "add", names[0]).returncode != 0:
        pytest.skip("no network namespaces here: needs root and iproute2")
    try:
        steps = [
            ("netns", "add", names[1]),
            ("-n", names[0], "link", "add", cable, "type", "veth", "peer",
             "name", cable, "netns", names[1]),
        ]
        for i, name in enumerate(names):
            steps += [
                ("-n", name, "addr", "add", f"198.18.0.{i + 1}/24", "dev",
                 cable),
                ("-n", name, "link", "set", cable, "up"),
                ("-n", name, "link", "set", "lo", "up"),
            ]
        for step in steps:
            result = ip(*step)
            if result.returncode != 0:
                pytest.skip(f"ip {' '.join(step)}: {result.stderr}")
        yield *names, cable
    finally:
        for name in names:
            ip("netns", "delete", name)


@pytest.fixture
def spread(smtune, hosts, images):  # noqa: F811
    """spread(each, ...): smtrain mlp as so many ranks on each of the two; the
    processes, by rank."""
    def run(each, *words):
        processes = []
        for rank in range(2 * each):
            env = {"RANK": f"{rank}", "WORLD_SIZE": f"{2 * each}",
                   "LOCAL_RANK": f"{rank % each}",
                   "LOCAL_WORLD_SIZE": f"{each}",
                   "MASTER_ADDR": "198.18.0.1", "MASTER_PORT": "29400"}
            processes.append(smtune.start(
                "netns", "exec", hosts[rank // each], BUILD / "smtrain", "mlp",
                *FLAGS, "--data", images, *SMALL, *words, program=IP, env=env))
        return processes
    return run


def finish(processes):
    """What each printed and complained of, and how it ended."""
    ends = []
    for process in processes:
        out, errors = process.communicate(timeout=100)
        ends.append(subprocess.CompletedProcess(
            process.args, process.returncode, out, errors))
    return ends


@pytest.fixture
def on_one_host(smtune, images):  # noqa: F811
    def run(count, *words):
        return lines_of(smtune("launch", "-n", count, "--", BUILD / "smtrain",
                               "mlp", *FLAGS, "--data", images, *SMALL,
                               *words))
    return run


@pytest.mark.sanitized
@pytest.mark.parametrize("each", [1, 2])
def test_two_hosts_come_to_what_one_does(spread, on_one_host, each):
    ends = finish(spread(each, "--epochs", 2))
    for end in ends[1:]:
        assert lines_of(end) == []
    assert lines_of(ends[0]) == on_one_host(2 * each, "--epochs", 2)


def test_a_cable_that_is_cut_ends_all(spread, hosts):
    processes = spread(2, "--epochs", 1000000, "--comm-timeout", 8)
    assert processes[0].stdout.readline().startswith("epoch=1 ")
    assert ip("-n", hosts[0], "link", "set", hosts[2], "down").returncode == 0
    ends = finish(processes)
    for rank, end in enumerate(ends):
        assert end.returncode == 1, end.stderr
        assert f"rank {rank} on host" in end.stderr
        assert "no answer from rank " in end.stderr
        assert " for 8 s" in end.stderr


def test_mpi_comes_to_the_same(smtune, images, on_one_host):  # noqa: F811
    mpirun = shutil.which("mpirun")
    if mpirun is None or not (BUILD / "smtrain-mpi.so").exists():
        pytest.skip("needs mpirun and mpicc: openmpi-bin, libopenmpi-dev")
    # What MPI itself leaves behind is not ours to free.
    leaks = smtune.env["ASAN_OPTIONS"] + ":detect_leaks=0"
    result = smtune("--allow-run-as-root", "--oversubscribe", "-n", 2,
                    BUILD / "smtrain", "mlp", *FLAGS, "--data", images, *SMALL,
                    "--epochs", 2, "--comm", "mpi", program=mpirun,
                    env={"ASAN_OPTIONS": leaks})
    assert lines_of(result) == on_one_host(2, "--epochs", 2)


def test_mpi_where_there_is_none(smtune, images):  # noqa: F811
    result = smtune("launch", "-n", 2, "--", BUILD / "smtrain", "mlp", *FLAGS,
                    "--data", images, "--comm", "mpi")
    assert lines_of(result, status=1) == []
    assert ("built without mpi" in result.stderr
            or "mpi needs ranks started by mpirun: mpirun -n 2"
            in result.stderr)
