# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file in examples/ does what it says, with less work."""

import pathlib

import pytest

from conftest import ROOT

FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
FILES = sorted((ROOT / "examples").glob("*.yaml"))

pytestmark = pytest.mark.skipif(not FASHION.is_dir(),
                                reason="dataset-fashion-mnist is missing")


@pytest.fixture
def run(smtune, write):
    """Runs an example: a few trials, of little work each."""
    write("smtrain", "#!/bin/sh\nexec %s/smtrain \"$@\" --limit 500\n"
          % smtune.env["PATH"].split(":")[0], mode=0o755)

    def run_example(name, trials):
        text = (ROOT / "examples" / name).read_text()
        path = write(name, text.replace("smtrain mlp",
                                        f"{smtune.directory}/smtrain mlp"))
        result = smtune("run", path, "--name", "it",
                        "--set", f"budget.trials={trials}",
                        "--set", "parameters.epochs={value: 1}")
        return result, smtune.json("trials", "it")
    return run_example


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_example_runs(path, run):
    result, trials = run(path.name, 3)
    assert result.returncode == 0, result.stderr
    assert [trial["state"] for trial in trials] == ["succeeded"] * 3


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
