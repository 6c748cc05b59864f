# SPDX-License-Identifier: GPL-3.0-or-later
"""CUDA graphs of smtrain's passes, on devices that tests/cuda emulates: as one
rank records and replays them, the same bits come of it as without."""

import pytest

from checkpoints import newest, state_of
from test_smtrain import lines_of
from test_smtrain_nccl import few, programs  # noqa: F401

# Of 40 images: two batches of 16, one of 8.
SMALL = ("--width", 12, "--depth", 2, "--batch", 16, "--epochs", 3,
         "--optimizer", "adam", "--dropout", "0.2", "--schedule", "cosine",
         "--clip-norm", "0.5", "--backend", "cuda")


@pytest.fixture
def train(smtune, few, programs, tmp_path):  # noqa: F811
    """train(NAME, ...): what it prints and its state, and the graphs launched.
    """
    def run(name, *words, ranks=1, graphs=None):
        log = tmp_path / f"{name}.log"
        log.write_text("")
        result = smtune("launch", "-n", ranks, "--", programs / "smtrain",
                        "mlp", *SMALL, *words, "--data", few,
                        "--checkpoint-dir", tmp_path / name,
                        env={"LD_LIBRARY_PATH": str(programs),
                             "EMULATED_GRAPHS": graphs or str(log)})
        return ((lines_of(result), state_of(newest(tmp_path / name))),
                log.read_text().splitlines())
    return run


@pytest.mark.parametrize("words,launches", [
    # Each kind of batch is plain once: 6 of 16 images and 3 of 8.
    ((), 5 + 2),
    # 4 shares, of 4 images and of 2.
    (("--shares", 4), 4 * (5 + 2)),
    # The last batch, of 4 images, has shares with none; and those of both are
    # more than are kept, so each epoch plays 16 from its second batch alone.
    (("--shares", 16, "--limit", 36, "--epochs", 2), 2 * 16),
    (("--precision", "bf16", "--epochs", 2), 3 + 1),
    # Steps of 16, 16 and 8 images; 32 and 8; 40.
    (("--grow-every", 1), 2),
])
def test_graphs_change_nothing(train, words, launches):
    seen, log = train("recorded", *words)
    plain, none = train("plain", *words, "--no-cuda-graphs")
    assert len(log) == launches
    assert none == []
    assert seen == plain


def test_a_device_that_cannot_record(train):
    assert train("cannot", graphs="none")[0] == train("can")[0]


@pytest.mark.parametrize("words,ranks", [
    (("--zero", 1), 1), (("--zero", 3), 1), ((), 2)])
def test_what_is_not_recorded(train, words, ranks):
    assert train("run", *words, ranks=ranks)[1] == []


def test_a_run_that_goes_on_is_the_same(train, tmp_path):
    whole, _ = train("whole")
    train("parts", "--epochs", 1, "--horizon", 3)
    parts, _ = train("parts", "--epochs", 3, "--horizon", 3)
    assert parts[1] == whole[1]
