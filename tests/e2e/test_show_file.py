# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune show RUN --file`: the file that a run follows."""

import json

import pytest


@pytest.fixture
def ran(smtune, experiment):
    """A run of a file; the file's path."""
    def run(**keys):
        path = experiment(trials=1, **keys)
        smtune.ok("run", path, "--set", "budget.parallel=1")
        return path
    return run


@pytest.mark.sanitized
def test_the_file_of_a_run(smtune, ran):
    path = ran()
    text = path.read_text()
    path.unlink()
    result = smtune("show", "exp", "--file")
    assert result.returncode == 0
    assert result.stdout == text
    assert result.stderr == "smtune: changed by --set budget.parallel=1\n"
    assert smtune("show", "exp", "--file", "-q").stderr == ""
    assert smtune.json("show", "last", "--file") == {
        "run": "exp", "path": str(path), "set": ["budget.parallel=1"],
        "file": text}


def test_an_edit_counts(smtune, ran):
    path = ran()
    path.write_text(path.read_text().replace("echo loss", "echo  loss"))
    smtune.ok("edit", "exp", "--set", "budget.trials=3")
    shown = smtune.json("show", "exp", "--file")
    assert "echo  loss" in shown["file"]
    assert shown["set"] == ["budget.parallel=1", "budget.trials=3"]


def test_secrets_are_masked(smtune, ran):
    ran(env={"API_KEY": "s3cr3t-1"}, shell="export PASSWORD=s3cr3t-2; "
        "echo loss=1 s3cr3t-3 >out; echo loss=1")
    for words in [(), ("-o", "json")]:
        text = smtune.ok("show", "exp", "--file", *words,
                         env={"MY_TOKEN": "s3cr3t-3"})
        assert "s3cr3t" not in text
        assert "echo loss=1" in text


def test_a_part_has_no_file(smtune, ran):
    ran()
    result = smtune("show", "exp", "1", "--file")
    assert result.returncode == 2
    assert result.stderr == "smtune: --file and a JOB exclude each other\n"
    result = smtune("show", "exp", "--efficiency", "--file", "-o", "json")
    assert json.loads(result.stderr)["error"] == \
        "--file and --efficiency exclude each other"
