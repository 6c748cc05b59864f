# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune report`: a metric from any script of a trial."""

import json

import pytest


@pytest.fixture
def report(smtune, tmp_path):
    path = tmp_path / "metrics.jsonl"

    def call(*words, file=path):
        env = {"SMTUNE_METRICS": str(file)}
        return smtune("report", *words, env=env)

    call.path = path
    return call


@pytest.mark.sanitized
def test_a_report_is_one_line(report):
    assert report("loss=0.25", "step=3").returncode == 0
    assert report("val/acc=nan").returncode == 0
    lines = report.path.read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"loss": 0.25, "step": 3}, {"val/acc": "nan"}]


def test_outside_a_trial_it_says_so(smtune):
    result = smtune("report", "loss=1", env={"SMTUNE_METRICS": ""})
    assert result.returncode == 2
    assert "inside a trial" in result.stderr


@pytest.mark.parametrize("words, message", [
    ((), "report"),
    (("loss",), "'loss': expected NAME=NUMBER"),
    (("loss=high",), "'high' is not a number"),
    (("step=1",), "missing metric"),
])
def test_a_bad_word_is_a_usage_error(report, words, message):
    result = report(*words)
    assert result.returncode == 2
    assert message in result.stderr
    assert not report.path.exists()


def test_a_file_that_cannot_be_written_is_an_error(report):
    result = report("loss=1", file="/dev/full")
    assert result.returncode == 1
    assert "/dev/full" in result.stderr
    assert report("loss=1", file="/nonexistent/m").returncode == 1


def test_reports_of_many_processes_do_not_mix(report, smtune):
    env = {"SMTUNE_METRICS": str(report.path)}
    running = [smtune.start("report", f"a{i}=1", f"b={i}", env=env)
               for i in range(16)]
    assert [process.wait() for process in running] == [0] * 16
    rows = [json.loads(line) for line in report.path.read_text().splitlines()]
    assert sorted(row["b"] for row in rows) == list(range(16))
