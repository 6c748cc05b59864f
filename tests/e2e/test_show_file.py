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


@pytest.fixture
def secret(smtune, experiment):
    """A run of a file with secrets; the file's text."""
    path = experiment(trials=1, env={"API_KEY": "s3cr3t-1"},
                      shell="export PASSWORD=s3cr3t-2; echo loss=1")
    smtune.ok("run", path, "--set", "trial.env.TOKEN=s3cr3t-3")
    return path.read_text()


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


NOTE = "secrets are masked, so the file does not run as it is"


def test_secrets_are_masked(smtune, secret):
    for words in [(), ("-o", "json")]:
        result = smtune("show", "exp", "--file", *words)
        assert result.returncode == 0
        assert "s3cr3t" not in result.stdout + result.stderr
        assert "echo loss=1" in result.stdout
        assert NOTE in result.stderr
    assert smtune("show", "exp", "--file", "-q").stderr == ""


def test_a_masked_file_does_not_start(smtune, secret):
    (smtune.directory / "again.yaml").write_text(
        smtune.ok("show", "exp", "--file"))
    result = smtune("run", "again.yaml", "-n", "again")
    assert result.returncode == 2
    assert "the secrets in this file are masked" in result.stderr
    assert [run["name"] for run in smtune.json("ls")] == ["exp"]


def test_their_owner_sees_them(smtune, secret):
    result = smtune("show", "exp", "--file", "--with-secrets")
    assert result.stdout == secret
    assert "trial.env.TOKEN=s3cr3t-3" in result.stderr
    assert NOTE not in result.stderr


def test_a_part_has_no_file(smtune, ran):
    ran()
    result = smtune("show", "exp", "1", "--file")
    assert result.returncode == 2
    assert result.stderr == "smtune: --file and a JOB exclude each other\n"
    result = smtune("show", "exp", "--efficiency", "--file", "-o", "json")
    assert json.loads(result.stderr)["error"] == \
        "--file and --efficiency exclude each other"
