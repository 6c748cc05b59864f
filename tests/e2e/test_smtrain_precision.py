# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain --precision bf16, on the devices that tests/cuda emulates: it learns,
goes on bit for bit, and says when a checkpoint was made with another one."""

import re

import pytest

from checkpoints import newest, state_of
from conftest import BUILD
from test_smtrain import lines_of
from test_smtrain_nccl import SMALL, few, programs  # noqa: F401


@pytest.fixture
def train(smtune, few, programs):  # noqa: F811
    def run(*words, precision="bf16", env=None):
        return smtune("mlp", *SMALL, "--data", few, "--precision", precision,
                      *words, program=programs / "smtrain", env=env)
    return run


def loss_of(result):
    (line,) = lines_of(result)
    return float(re.search("train_loss=(\\S+)", line)[1])


def test_it_learns_as_fp32_does(train):
    losses = {each: loss_of(train(precision=each)) for each in ("bf16", "fp32")}
    assert losses["bf16"] != losses["fp32"]
    assert losses["bf16"] == pytest.approx(losses["fp32"], rel=1 / 64)


def test_it_goes_on_bit_for_bit(train, tmp_path):
    words = ("--checkpoint-dir", tmp_path / "parts")
    assert len(lines_of(train(*words))) == 1
    result = train(*words, "--epochs", 2)
    assert len(lines_of(result)) == 1 and "resuming at epoch 2" in result.stderr
    assert "--precision" not in result.stderr
    lines_of(train("--checkpoint-dir", tmp_path / "whole", "--epochs", 2))
    assert (state_of(newest(tmp_path / "parts"))
            == state_of(newest(tmp_path / "whole")))


def test_it_goes_on_with_another_and_says_so(train, tmp_path):
    words = ("--checkpoint-dir", tmp_path)
    lines_of(train(*words, precision="fp32"))
    assert "precision=fp32" in state_of(newest(tmp_path))[0]
    result = train(*words, "--epochs", 2)
    assert len(lines_of(result)) == 1
    assert ("resuming with --precision bf16; the checkpoint was saved with fp32"
            in result.stderr)
    assert "precision=bf16" in state_of(newest(tmp_path))[0]


def test_a_device_without_it(train):
    result = train(env={"EMULATED_CAPABILITY": "7"})
    assert lines_of(result, status=1) == []
    assert ("--backend cuda: GPU 0 does not support bf16: its compute "
            "capability is 7, not 8 or later; use --precision fp32"
            in result.stderr)


@pytest.mark.parametrize("words,said", [
    (("bf16", "--backend", "cpu"),
     "--precision bf16 requires --backend cuda: CPUs compute in fp32"),
    (("bf61",), "--precision: unknown value 'bf61'; did you mean 'bf16'?"),
])
def test_what_cannot_be(train, words, said):
    precision, *others = words
    result = train(*others, precision=precision)
    assert lines_of(result, status=2) == []
    assert said in result.stderr


def test_auto_without_a_device(train, programs):  # noqa: F811
    (programs / "smtrain-cuda.so").unlink()
    result = train("--backend", "auto")
    assert lines_of(result, status=2) == []
    assert "smtrain was built without cuda" in result.stderr
    assert "--precision bf16 requires --backend cuda" in result.stderr


def test_a_plan_is_of_fp32(smtune, few):  # noqa: F811
    result = smtune("plan", "mlp", "--data", few, "--precision", "bf16",
                    program=BUILD / "smtrain")
    assert lines_of(result, status=2) == []
    assert "plan supports only --precision fp32, not bf16" in result.stderr
