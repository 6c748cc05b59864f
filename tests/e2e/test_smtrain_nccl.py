# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain --comm nccl where there is neither a GPU nor NCCL: the same sources,
on devices that tests/cuda emulates, and a libnccl.so.2 between these. It is
loaded, asked and given up as the real one is; what that one does is not seen."""

import re
import shutil
import socket

import pytest

from checkpoints import newest, state_of
from conftest import BUILD
from programs import wait_until
from test_smtrain import FASHION, idx, lines_of

SMALL = ("--width", 12, "--depth", 2, "--batch", 16, "--epochs", 1,
         "--optimizer", "adam", "--backend", "cuda")


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A folder of 48 images to train (and hold out 8)."""
    folder = tmp_path_factory.mktemp("few")
    for kind, dimensions in (("images-idx3", 3), ("labels-idx1", 1)):
        name = f"train-{kind}-ubyte"
        idx(FASHION / f"{name}.gz", dimensions, 48, folder / name)
    return folder


@pytest.fixture
def programs(tmp_path):
    """smtrain beside the emulated backend and library."""
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy2(BUILD / "smtrain", folder)
    for name in ("smtrain-cuda.so", "libnccl.so.2"):
        shutil.copy2(BUILD / "emulation" / name, folder)
    return folder


@pytest.fixture
def train(smtune, few, programs, tmp_path):
    """train(ranks, ...): a CompletedProcess, and the library's log."""
    def run(count, *words, env=None):
        log = tmp_path / "nccl.log"
        log.write_text("")
        result = smtune("launch", "-n", count, "--", programs / "smtrain",
                        "mlp", *SMALL, "--data", few, *words,
                        env={"LD_LIBRARY_PATH": str(programs),
                             "EMULATED_NCCL_LOG": str(log), **(env or {})})
        return result, log.read_text().splitlines()
    return run


def calls_of(log, rank):
    return [line.split(maxsplit=1)[1] for line in log
            if line.startswith(f"{rank} ")]


@pytest.mark.parametrize("ranks,words", [
    (2, ("--bucket-mb", "0.02", "--clip-norm", "0.5")),
    (3, ("--accumulate", 2)),
    (2, ("--zero", 1, "--clip-norm", "0.5")),
    (2, ("--zero", 2, "--accumulate", 2, "--bucket-mb", "0.02")),
    (2, ("--zero", 3, "--bucket-mb", "0.02")),
])
def test_it_comes_to_what_shared_memory_does(train, tmp_path, ranks, words):
    """Bit for bit, and with nothing else than whole gradients."""
    seen = {}
    for kind in ("shm", "nccl"):
        folder = tmp_path / kind
        result, log = train(ranks, "--comm", kind, *words, "--checkpoint-dir",
                            folder)
        assert bool(log) == (kind == "nccl")
        seen[kind] = lines_of(result), state_of(newest(folder))
    assert seen["nccl"] == seen["shm"]
    calls = calls_of(log, 0)
    assert calls[0] == f"init {ranks}"
    assert calls[-1] == "abort 0"
    for rank in range(1, ranks):
        assert calls_of(log, rank) == calls


@pytest.mark.parametrize("kind", ["shm", "nccl"])
def test_each_rank_is_on_its_device_alone(train, tmp_path, kind):
    """With all its threads: a context on another one takes memory there."""
    contexts = tmp_path / "contexts"
    result, _ = train(2, "--comm", kind, "--bucket-mb", "0.02",
                      env={"EMULATED_CONTEXTS": str(contexts)})
    assert len(lines_of(result)) == 1
    lines = [line.split() for line in contexts.read_text().splitlines()]
    assert sorted(device for _, device in lines) == ["0", "1"]
    assert len({process for process, _ in lines}) == 2


def test_all_gradients_go_that_way(train):
    """Those of each step, once, in buckets, from the last layer on."""
    result, log = train(2, "--bucket-mb", "0.02")
    assert len(lines_of(result)) == 1
    assert "without nccl" not in result.stderr
    counts = [int(call.split()[1]) for call in calls_of(log, 0)
              if call.startswith("all-reduce")]
    # Units of whole pages: 784 x 12 + 12, 12 x 12 + 12, 10 x 12 + 10.
    assert sum(counts) == 3 * (10240 + 1024 + 1024)
    assert len(counts) > 3


@pytest.mark.parametrize("fault,said", [
    ("init", "rank . on host .*: backend 1: nccl: unhandled system error: "
             "as it was told to"),
    ("call 2", "all-reduce .*: nccl: invalid argument: as it was told to"),
])
def test_what_it_says_is_told(train, fault, said):
    result, _ = train(2, "--comm", "nccl", "--bucket-mb", 0,
                      env={"EMULATED_NCCL_FAULT": fault})
    assert lines_of(result, status=1) == []
    assert re.search(said, result.stderr), result.stderr


def test_devices_that_are_never_done(train):
    result, _ = train(2, "--comm", "nccl", "--comm-timeout", 10,
                      env={"EMULATED_NCCL_FAULT": "stall 2"})
    assert lines_of(result, status=1) == []
    assert re.search("all-reduce .*: nccl: the devices did not finish "
                     "within 10 s",
                     result.stderr), result.stderr


def test_a_rank_that_dies_meanwhile(smtune, few, programs, tmp_path):
    """NCCL itself may wait for ever; so does what stands for it."""
    log = tmp_path / "nccl.log"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    started = [smtune.start(
        "mlp", *SMALL, "--data", few, "--comm", "nccl", "--bucket-mb", 0,
        program=programs / "smtrain", env={
            "LD_LIBRARY_PATH": str(programs), "EMULATED_NCCL_LOG": str(log),
            "EMULATED_NCCL_FAULT": "stall 2", "RANK": str(rank),
            "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port}) for rank in range(2)]
    wait_until(lambda: log.exists()
               and log.read_text().count("all-reduce") == 4)
    started[1].kill()
    _, err = started[0].communicate(timeout=60)
    assert started[0].returncode == 1
    assert re.search("rank 0 on host .*: all-reduce .*: rank 1 on host .* "
                     "crashed or exited", err), err


def test_without_the_library(train, programs):
    (programs / "libnccl.so.2").write_text("no library\n")
    result, _ = train(2, "--comm", "nccl")
    assert lines_of(result, status=1) == []
    assert re.search("backend 1: rank 0 on host .*: cannot load NCCL: .*; "
                     "install it, or add its folder to LD_LIBRARY_PATH",
                     result.stderr), result.stderr
    result, log = train(2)
    assert len(lines_of(result)) == 1 and log == []
    assert re.search("--comm auto: gradients go through host memory, without "
                     "nccl: rank 0 on host .*: cannot load NCCL",
                     result.stderr), result.stderr


def test_two_ranks_on_one_device(train):
    result, log = train(2, env={"EMULATED_DEVICES": "1"})
    assert len(lines_of(result)) == 1 and log == []
    assert re.search("without nccl: ranks 0 and 1 on host .* share GPU "
                     "0000:00:00.0: NCCL needs one GPU per rank",
                     result.stderr), result.stderr


def test_without_a_device(train):
    result, _ = train(2, "--backend", "cpu", "--comm", "nccl")
    assert lines_of(result, status=1) == []
    assert re.search("backend 1: rank 0 on host .*: its backend is cpu",
                     result.stderr), result.stderr
