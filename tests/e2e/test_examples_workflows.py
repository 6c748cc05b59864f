# SPDX-License-Identifier: GPL-3.0-or-later
"""The workflows in examples/ do what they say, with less work."""

import json
import pathlib
import shutil
import tarfile

import pytest

from programs import ROOT

FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
EXAMPLES = ROOT / "examples"

pytestmark = [
    pytest.mark.skipif(not FASHION.is_dir(),
                       reason="dataset-fashion-mnist is missing"),
    # each of them fills the machine
    pytest.mark.xdist_group("workflows"),
]


def jobs(smtune, run):
    return {job["job"]: job for job in smtune.json("trials", run)}


@pytest.mark.sanitized
def test_a_pipeline_from_images_to_an_exported_model(smtune):
    for path in (EXAMPLES / "pipeline").iterdir():
        shutil.copy(path, smtune.directory)
    # long enough for two links, or more where the machine is slow
    result = smtune("run", "pipeline.yaml", "--set", "params.images=4000",
                    "--set", "params.epochs=40", "--set",
                    "params.good_enough=0.5", "--set",
                    "steps.train.timeout=4s", "--set",
                    "steps.train.continue.signal=USR2@3", "-o", "json",
                    timeout=300)
    assert result.returncode == 0, result.stderr
    outputs = json.loads(result.stdout)["outputs"]
    assert 0 < outputs["test_error"] < 0.5
    with tarfile.open(outputs["model"]) as archive:
        assert any("checkpoint-" in name for name in archive.getnames())
    best = smtune.json("best", "pipeline.tune")
    links = smtune.json("show", "pipeline", "train")["attempts"]
    assert [link["exit_code"] for link in links] == (
        [75] * (len(links) - 1) + [0])
    assert len(links) >= 2
    epochs = [int(line.split("epoch=")[1].split()[0])
              for line in smtune.ok("logs", "pipeline", "train").splitlines()
              if line.startswith("epoch=")]
    assert epochs == list(range(1, 41))
    tuned = smtune.json("show", "pipeline", "tune")["outputs"]
    assert tuned["best_lr"] == best["params"]["lr"]


def test_a_pipeline_exports_nothing_that_is_not_good_enough(smtune):
    for path in (EXAMPLES / "pipeline").iterdir():
        shutil.copy(path, smtune.directory)
    result = smtune("run", "pipeline.yaml", "--set", "params.images=400",
                    "--set", "params.epochs=1", "--set",
                    "params.good_enough=0.001", timeout=300)
    assert result.returncode == 0, result.stderr
    steps = {step["name"]: step["state"]
             for step in smtune.json("status", "pipeline")["steps"]}
    assert steps.pop("export") == "skipped"
    assert set(steps.values()) == {"succeeded"}


def test_a_grid_of_which_some_may_fail(smtune):
    result = smtune("run", EXAMPLES / "grid.yaml", "--set",
                    "defaults.env.OPENBLAS_NUM_THREADS=1", timeout=300)
    assert result.returncode == 0, result.stderr
    made = jobs(smtune, "grid")
    assert sorted(made) == ["report"] + [f"train[{i}]" for i in range(9)]
    assert {name for name, job in made.items() if job["state"] == "failed"
            } == {"train[6]", "train[7]", "train[8]"}
    lines = smtune.ok("logs", "grid", "report").splitlines()
    assert lines[0] == "6 of 9 trainings ended well"
    errors = json.loads(lines[2].removeprefix("all: "))
    assert errors[6:] == [None] * 3
    assert float(lines[1].removeprefix("best=")) == min(errors[:6])


def test_a_batch_grows_and_the_rate_with_its_root(smtune):
    result = smtune("run", EXAMPLES / "growing-batch.yaml", "--set",
                    "params.target=0", "--set", "steps.train.repeat.max=3",
                    timeout=300)
    assert result.returncode == 0, result.stderr
    rounds = [smtune.json("show", "growing-batch", f"train#{n}")
              for n in (1, 2, 3)]
    assert [job["rounds"]["batch"] for job in rounds] == [32, 64, 128]
    assert [job["rounds"]["lr"] for job in rounds] == pytest.approx(
        [0.02, 0.02 * 2 ** 0.5, 0.04])
    for n, job in enumerate(rounds):
        log = smtune.ok("logs", "growing-batch", f"train#{n + 1}")
        assert [int(line.split("=")[1].split()[0])
                for line in log.splitlines() if line.startswith("epoch=")
                ] == [3 * n + 1, 3 * n + 2, 3 * n + 3]


def test_a_batch_grows_until_the_target_is_met(smtune):
    result = smtune("run", EXAMPLES / "growing-batch.yaml", "--set",
                    "params.target=0.9", timeout=300)
    assert result.returncode == 0, result.stderr
    assert sorted(jobs(smtune, "growing-batch")) == ["evaluate", "train#1"]
