# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples on a cluster: those that are for one, and the others as they
are but for the executor line."""

import json
import pathlib
import shutil

import pytest

from programs import ROOT

EXAMPLES = ROOT / "examples"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
TO_SLURM = ("--set", "executor.name=slurm", "--set", "executor.poll=1s")

needs_images = pytest.mark.skipif(
    not FASHION.is_dir(), reason="dataset-fashion-mnist is missing")


@pytest.fixture
def run(smtune):
    """run(file, *assignments): what it ended with, as JSON."""
    def it(path, *assignments):
        words = [word for text in assignments for word in ("--set", text)]
        result = smtune("run", path, *TO_SLURM, *words, "-o", "json",
                        timeout=200)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)
    return it


@needs_images
def test_tuning_chooses_its_mode(smtune, run):
    path = EXAMPLES / "slurm-tune.yaml"
    plan = smtune.ok("plan", path)
    assert "slurm executor, mode auto, 1 CPU" in plan
    assert "32 trials, 8 at a time" in plan
    run(path, "budget.trials=6", "parameters.epochs.value=1")
    rows = smtune.json("trials", "last")
    assert [row["state"] for row in rows] == ["succeeded"] * 6


@needs_images
def test_a_grid_by_array_pilots_and_a_job(smtune, cluster, run):
    outputs = run(EXAMPLES / "slurm-grid.yaml", "params.epochs=1")["outputs"]
    assert 0 < outputs["tuned"] < 0.5 and 0 < outputs["best"] < 0.5
    token = (smtune.store / "runs/slurm-grid/slurm/token").read_text().strip()
    names = [job["name"] for job in cluster.jobs("all")]
    assert {name.rpartition(".")[2].split("-")[2][0]
            for name in names if token in name} == {"a", "j", "p"}


def test_a_training_on_two_nodes_goes_on_past_its_limit(smtune, run):
    for path in (EXAMPLES / "slurm-training").iterdir():
        shutil.copy(path, smtune.directory)
    run("slurm-training.yaml", "params.steps=700",
        "steps.train.resources.time=10s",
        "steps.train.continue.signal=USR2@4")
    links = smtune.json("show", "last", "train")["attempts"]
    assert len(links) >= 2
    assert [link["exit_code"] for link in links] == (
        [75] * (len(links) - 1) + [0])
    weights = json.loads(smtune.ok("logs", "last", "report"))
    assert weights["step"] == 700
    assert weights["a"] == pytest.approx(3, abs=0.1)
    assert weights["b"] == pytest.approx(-1, abs=0.1)


@needs_images
def test_the_first_example(smtune, run):
    run(EXAMPLES / "quickstart.yaml", "budget.trials=4",
        "parameters.epochs.value=1")
    rows = smtune.json("trials", "quickstart")
    assert [row["state"] for row in rows] == ["succeeded"] * 4


@needs_images
def test_the_grid(smtune, run):
    outputs = run(EXAMPLES / "grid.yaml")["outputs"]
    assert 0 < outputs["best"] < 0.5
    states = {row["job"]: row["state"]
              for row in smtune.json("trials", "grid")}
    assert sum(state == "failed" for state in states.values()) == 3


@needs_images
def test_rounds(run):
    outputs = run(EXAMPLES / "growing-batch.yaml", "params.target=0.5")
    assert outputs["outputs"]["val_error"] < 0.5


@needs_images
def test_the_pipeline(smtune, run):
    """Its experiment has an executor line of its own."""
    for path in (EXAMPLES / "pipeline").iterdir():
        shutil.copy(path, smtune.directory)
    outputs = run("pipeline.yaml", "params.images=4000", "params.epochs=3",
                  "params.good_enough=0.9", "steps.tune.with.executor=slurm")["outputs"]
    assert 0 < outputs["test_error"] < 0.9
    assert pathlib.Path(outputs["model"]).is_file()
    assert len(smtune.json("trials", "pipeline.tune")) == 6
