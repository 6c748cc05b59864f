# SPDX-License-Identifier: GPL-3.0-or-later
"""`gpus: 0.5`: trials that share a GPU, on a machine that has one by the files
of its driver, in a namespace of mounts."""

import os

import pytest

from gpu_machine import run_on_gpus

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")

# Prints how many run, once two did.
TOGETHER = """
mkdir run-$SMTUNE_JOB
until [ $(ls -d run-* | wc -l) -ge 2 ] || [ -e two ]; do sleep 0.1; done
: >two
echo loss=$(ls -d run-* | wc -l) gpu=$CUDA_VISIBLE_DEVICES
rmdir run-$SMTUNE_JOB
"""


@pytest.fixture
def on_one_gpu(smtune):
    """Runs smtune there; its output."""
    def run(*words):
        return run_on_gpus(smtune, 1, *words)
    return run


@pytest.mark.sanitized
def test_parts_of_a_gpu_run_side_by_side(smtune, experiment, on_one_gpu):
    path = experiment(TOGETHER, trials=6, parallel=6,
                      resources="{gpus: 0.5}")
    result = on_one_gpu("run", path)
    assert result.returncode == 0, result.stderr
    values = [trial["value"] for trial in smtune.json("trials", "exp")]
    assert max(values) == 2
    assert "gpu=0" in smtune.ok("logs", "exp", 1)
    assert smtune.ok("replay", "exp")


def test_more_than_one_gpu_has_is_refused(smtune, experiment, on_one_gpu):
    path = experiment("echo loss=1", trials=1, resources="{gpus: 1.5}")
    result = on_one_gpu("run", path)
    assert result.returncode == 3
    assert "must be a part of one GPU or a whole number, not 1.5" in \
        result.stderr


def test_slurm_has_whole_ones(smtune, experiment):
    path = experiment("echo loss=1", trials=1, resources="{gpus: 0.5}",
                      executor="slurm")
    result = smtune("validate", path)
    assert result.returncode == 3
    assert "takes a part of a GPU, and Slurm has whole ones" in result.stderr
