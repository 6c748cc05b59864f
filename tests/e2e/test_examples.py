# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file in examples/ does what it says, with less work."""

import pathlib
import re

import pytest

from programs import ROOT

FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
FILES = sorted(path for path in (ROOT / "examples").glob("*.yaml")
               if "\nsteps:" not in path.read_text())
SCHEDULED = {"asha.yaml", "bohb.yaml", "cnn.yaml", "early-stopping.yaml",
             "gpt.yaml", "hyperband.yaml", "pbt.yaml"}

pytestmark = pytest.mark.skipif(not FASHION.is_dir(),
                                reason="dataset-fashion-mnist is missing")


@pytest.fixture
def run(smtune, write):
    """Runs an example: a few trials, of little work each."""
    write("smtrain", "#!/bin/sh\nexec %s/smtrain \"$@\" --limit 500\n"
          % smtune.env["PATH"].split(":")[0], mode=0o755)

    def run_example(name, trials, epochs="parameters.epochs={value: 1}",
                    *more):
        text = (ROOT / "examples" / name).read_text()
        path = write(name, re.sub(r"\bsmtrain (mlp|cnn|gpt)",
                                  rf"{smtune.directory}/smtrain \1", text))
        result = smtune("run", path, "--name", "it",
                        "--set", f"budget.trials={trials}",
                        "--set", epochs, *more)
        return result, smtune.json("trials", "it")
    return run_example


@pytest.mark.sanitized
@pytest.mark.parametrize("path", [path for path in FILES
                                  if path.name not in SCHEDULED],
                         ids=lambda path: path.name)
def test_example_runs(path, run):
    """Those for a cluster (tests/slurm has more of them) on this machine."""
    here = ["--set", "executor.name=local"] if "slurm" in path.name else []
    result, trials = run(path.name, 3, "parameters.epochs={value: 1}", *here)
    assert result.returncode == 0, result.stderr
    assert [trial["state"] for trial in trials] == ["succeeded"] * 3


def epochs_of(smtune, trial):
    """The epochs of all attempts of a trial, in order."""
    lines = smtune.ok("logs", "it", str(trial["id"]))
    return [int(n) for n in re.findall(r"^epoch=(\d+) ", lines, re.M)]


@pytest.mark.parametrize("name, trials, most, more", [
    ("asha.yaml", 9, 3, ()), ("hyperband.yaml", 8, 3, ()),
    ("bohb.yaml", 12, 3, ()),
    ("cnn.yaml", 4, 3, ("--set", "parameters.channels={value: 2}"))])
def test_best_trials_go_on_from_their_checkpoints(smtune, run, name, trials,
                                                  most, more):
    result, made = run(name, trials, f"schedule.max={most}", *more)
    assert result.returncode == 0, result.stderr
    assert len(made) == trials
    assert {trial["state"] for trial in made} == {"succeeded", "stopped"}
    for trial in made:
        seen = epochs_of(smtune, trial)
        assert seen == list(range(1, len(seen) + 1))  # no epoch twice
        assert len(seen) == (most if trial["state"] == "succeeded" else 1)
        why = smtune.json("why", "it", str(trial["id"]))
        assert why["known"] + why["unfinished"] == trial["id"] - 1
        assert 0 <= why["known"] and 0 <= why["unfinished"]


def test_without_its_schedule_all_get_the_max(smtune, run):
    result, made = run("asha.yaml", 3, "schedule.max=2", "--set",
                       "schedule.method=none")
    assert result.returncode == 0, result.stderr
    assert [epochs_of(smtune, trial) for trial in made] == [[1, 2]] * 3


def test_a_population_takes_over_checkpoints(smtune, run):
    result, made = run("pbt.yaml", 8, "schedule.max=3", "--set",
                       "schedule.min=1", "--set", "schedule.population=4")
    assert result.returncode == 0, result.stderr
    assert {trial["state"] for trial in made} == {"succeeded", "stopped"}
    first = [epochs_of(smtune, trial)[0] for trial in made]
    assert first[:4] == [1] * 4  # clones begin where others were
    assert first[4:] and all(epoch > 1 for epoch in first[4:])


def test_bad_trials_are_stopped_early(smtune, run):
    """One may have come to its last epoch by the time that it is told."""
    result, made = run("early-stopping.yaml", 10,
                       "parameters.epochs={value: 6}")
    assert result.returncode == 0, result.stderr
    stopped = [trial for trial in made if trial["state"] == "stopped"]
    assert 0 < len(stopped) < len(made)
    assert any(len(epochs_of(smtune, trial)) < 6 for trial in stopped)


def test_error_and_size_gives_a_front(smtune, run):
    run("error-and-size.yaml", 6)
    front = smtune.json("best", "it")
    values = [trial["values"] for trial in front]
    assert 1 <= len(front) <= 6
    assert sorted(values) == sorted(values, key=lambda v: -v[1])
    for trial in front:
        width, depth = trial["params"]["width"], trial["params"]["depth"]
        assert trial["values"][1] == 785 * width + \
            (depth - 1) * (width + 1) * width + (width + 1) * 10


def test_small_enough_is_small_enough(smtune, run):
    result, trials = run("small-enough.yaml", 6)
    assert result.returncode == 0, result.stderr
    for trial in trials:
        assert trial["feasible"] == (trial["outcomes"]["weights"] <= 50000)
    assert not all(trial["feasible"] for trial in trials)
    assert smtune.json("best", "it")["outcomes"]["weights"] <= 50000


def test_gpt_learns_text(smtune, run, write):
    """The project's own documents, whatever the name says."""
    pages = sorted((ROOT / "docs").glob("*.md"))
    text = "".join(page.read_text() for page in pages)
    write("bible.txt", text[:100000])
    result, made = run("gpt.yaml", 3, "schedule.max=3",
                       "--set", "parameters.layers={value: 1}",
                       "--set", "parameters.width={value: 16}",
                       "--set", "parameters.context={value: 16}")
    assert result.returncode == 0, result.stderr
    assert len(made) == 3
    assert 1 < smtune.json("best", "it")["value"] < 6
