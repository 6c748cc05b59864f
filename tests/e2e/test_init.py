# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune init: what it writes is right, and runs as it stands."""

import json

import pytest

TEMPLATES = ["minimal", "python", "sagemaker", "grid", "quickstart"]


@pytest.mark.sanitized
def test_the_help_lists_every_template(smtune):
    text = smtune.ok("help", "init")
    for name in TEMPLATES:
        assert f"\n  {name} " in text
    result = smtune("init", "--template", "pyhton")
    assert result.returncode == 2
    assert ", ".join(TEMPLATES) in result.stderr
    assert "did you mean 'python'?" in result.stderr


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_validates(smtune, template):
    smtune.ok("init", "first", "--template", template)
    smtune.ok("validate", "first/experiment.yaml")
    text = (smtune.directory / "first/experiment.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=")
    schema = text.split("$schema=")[1].splitlines()[0]
    written = (smtune.directory / "first" / schema).read_text()
    assert json.loads(written) == json.loads(smtune.ok("schema"))
    assert "\nname: first\n" in text


@pytest.mark.parametrize("template", ["minimal", "python", "sagemaker", "grid"])
def test_a_template_runs(smtune, template):
    smtune.ok("init", "-t", template)
    smtune.ok("run", "experiment.yaml", "--set", "budget.trials=6")
    trials = smtune.json("trials", "last")
    assert [trial["state"] for trial in trials] == ["succeeded"] * 6
    assert all(trial["value"] is not None for trial in trials)


def test_the_quickstart_is_the_example(smtune, root):
    """Both have the same lines, but for comments, and for blank ones."""
    def lines(text):
        return [line for line in text.splitlines()
                if line and not line.lstrip().startswith("#")]

    smtune.ok("init", "quickstart", "--template", "quickstart")
    written = (smtune.directory / "quickstart/experiment.yaml").read_text()
    example = (root / "examples/quickstart.yaml").read_text()
    assert lines(written) == lines(example)


def test_nothing_is_overwritten(smtune, write):
    write("experiment.yaml", "mine\n")
    result = smtune("init")
    assert result.returncode == 5
    assert "file exists: ./experiment.yaml" in result.stderr
    write("half/train.py", "mine\n")
    assert smtune("init", "half", "-t", "python").returncode == 5
    assert (smtune.directory / "experiment.yaml").read_text() == "mine\n"
    assert not (smtune.directory / "half/experiment.yaml").exists()


def test_it_says_what_to_do_next(smtune):
    result = smtune("init", "a new place")
    assert result.returncode == 0
    assert "cd 'a new place'\n" in result.stderr
    text = (smtune.directory / "a new place/experiment.yaml").read_text()
    assert "\nname: experiment\n" in text
    rows = smtune.json("init", "data", "-q")
    assert [row["file"] for row in rows] == [
        "data/experiment.yaml", "data/.smtune/experiment.schema.json"]
