# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain --backend: what is said where cuda is not built, cannot be loaded or
has no device; and that it computes with the processor then, if it may."""

import shutil

import pytest

from conftest import BUILD
from test_smtrain import FLAGS, images, lines_of  # noqa: F401

PLUGIN = BUILD / "smtrain-cuda.so"
SMALL = ("--limit", 300, "--batch", 48, "--epochs", 1)


@pytest.fixture
def alone(tmp_path):
    """A copy of smtrain in a folder of its own."""
    program = tmp_path / "bin" / "smtrain"
    program.parent.mkdir()
    shutil.copy2(BUILD / "smtrain", program)
    return program


@pytest.fixture
def train(smtune, images):  # noqa: F811
    def run(program, *words):
        return smtune("mlp", *FLAGS, "--data", images, *SMALL, *words,
                      program=program)
    return run


@pytest.mark.sanitized
def test_cuda_where_it_was_not_built(train, alone):
    result = train(alone, "--backend", "cuda")
    assert lines_of(result, status=1) == []
    assert ("--backend cuda: smtrain was built without cuda: no such file "
            f"'{alone.parent}/smtrain-cuda.so' (build it with nvcc"
            ) in result.stderr


def test_cuda_that_cannot_be_loaded(train, alone):
    (alone.parent / "smtrain-cuda.so").write_text("no library\n")
    result = train(alone, "--backend", "cuda")
    assert lines_of(result, status=1) == []
    assert "--backend cuda: cannot load cuda:" in result.stderr


def test_auto_takes_the_processor_and_says_why(train, alone):
    expected = lines_of(train(alone))
    result = train(alone, "--backend", "auto")
    assert lines_of(result) == expected
    assert ("--backend auto: computing with cpu; --backend cuda: smtrain was "
            "built without cuda") in result.stderr


def test_a_backend_that_nobody_knows(train):
    result = train(BUILD / "smtrain", "--backend", "gpu")
    assert result.returncode == 2
    assert ("--backend: unknown value 'gpu'; did you mean 'cpu'?"
            in result.stderr)


def test_cuda_is_loaded_and_looks_for_a_device(train):
    if not PLUGIN.exists():
        pytest.skip("needs nvcc")
    result = train(BUILD / "smtrain", "--backend", "cuda")
    if result.returncode == 0:
        assert len(lines_of(result)) == 1
    else:
        assert lines_of(result, status=1) == []
        assert ("no NVIDIA driver on this machine" in result.stderr
                or "no usable GPU" in result.stderr)
        assert "--backend cpu" in result.stderr


def test_a_plan_is_of_the_processor(smtune, images):  # noqa: F811
    result = smtune("plan", "mlp", "--data", images, "--backend", "cuda",
                    program=BUILD / "smtrain")
    assert lines_of(result, status=2) == []
    assert "plan supports only --backend cpu, not cuda" in result.stderr
