# SPDX-License-Identifier: GPL-3.0-or-later
"""Every metric is a column of trials, best and export: --columns, --sort,
--filter, --curves."""

import csv
import io

import pytest

SHELL = """
    case $SMTUNE_JOB in
      1) echo epoch=1 loss=3 val/acc=0.5 x=7; echo epoch=2 loss=2 val/acc=0.7;;
      2) echo epoch=1 loss=1 val/acc=0.9; echo seconds=12;;
      3) echo loss=5 val/acc=nan;;
      4) echo val/acc=0.8; exit 1;;
    esac
    """


@pytest.fixture
def run(smtune, experiment):
    smtune.ok("run", experiment(SHELL, trials=4, parallel=1))


def rows(smtune, *words):
    return list(csv.DictReader(io.StringIO(smtune.ok(*words, "-o", "csv"))))


def test_metrics_are_columns(smtune, run):
    shown = rows(smtune, "trials", "exp")
    assert list(shown[0])[:4] == ["id", "state", "value", "x"]
    assert {"val/acc", "seconds", "metrics.x"} < set(shown[0])
    assert "loss" not in shown[0]  # it is the value
    assert [row["val/acc"] for row in shown] == ["0.7", "0.9", "nan", "0.8"]
    assert [row["seconds"] for row in shown] == ["", "12", "", ""]
    assert shown[0]["metrics.x"] == "7" and float(shown[0]["x"]) < 1
    first = smtune.json("trials", "exp")[0]
    assert first["metrics"]["val/acc"] == 0.7
    assert first["metrics"]["x"] == 7 and first["params"]["x"] < 1
    assert smtune.json("best", "exp")["metrics"]["seconds"] == 12
    assert smtune.json("best", "exp", "-n", 1)[0]["metrics"]["seconds"] == 12
    exported = smtune.ok("export", "exp")
    assert exported == smtune.ok("trials", "exp", "-o", "csv")
    # for people where they are named
    assert "val/acc" not in smtune.ok("trials", "exp")


def test_columns_are_chosen(smtune, run):
    shown = smtune.ok("trials", "exp", "--columns", "id,val/acc,loss", "-n", 2)
    assert [line.split() for line in shown.splitlines()] == [
        ["id", "val/acc", "loss"], ["1", "0.7", "2"], ["2", "0.9", "1"]]
    assert smtune.ok("export", "exp", "--columns", "params.x,metrics.x,state"
                     ).splitlines()[0] == "x,metrics.x,state"
    assert "val/acc:  0.9" in smtune.ok("best", "exp", "--columns", "val/acc")
    result = smtune("trials", "exp", "--columns", "val/ac")
    assert result.returncode == 2
    assert "unknown column 'val/ac' (did you mean 'val/acc'?)" in result.stderr


@pytest.mark.parametrize("sort, expected", [
    ("val/acc", [1, 4, 2, 3]),       # nan is last in both directions
    ("val/acc:desc", [2, 4, 1, 3]),
    ("seconds", [2, 1, 3, 4]),
    ("loss", [2, 1, 3, 4]),
    ("state:desc", [1, 2, 3, 4]),
    ("number", [1, 2, 3, 4]),
    ("best", [2, 1, 3, 4]),
])
def test_trials_are_sorted(smtune, run, sort, expected):
    shown = smtune.json("trials", "exp", "--sort", sort)
    assert [row["id"] for row in shown] == expected
    shown = smtune.json("trials", "exp", "--sort", sort, "-n", 2)
    assert [row["id"] for row in shown] == expected[:2]


@pytest.mark.parametrize("expression, expected", [
    ('"val/acc" > 0.6', [1, 2, 4]),
    ("loss < 3 and state = 'succeeded'", [1, 2]),
    ("value > 4", [3]),
    ("seconds is not null", [2]),
    ("x > 1", []),
    ('"metrics.x" > 1', [1]),
])
def test_trials_are_filtered(smtune, run, expression, expected):
    shown = smtune.json("trials", "exp", "--filter", expression)
    assert [row["id"] for row in shown] == expected
    shown = smtune.ok("export", "exp", "--filter", expression)
    assert len(shown.splitlines()) == 1 + len(expected)
    shown = smtune.json("trials", "exp", "--filter", expression, "-n", 1)
    assert [row["id"] for row in shown] == expected[:1]


def test_a_wrong_filter_is_refused(smtune, run):
    result = smtune("trials", "exp", "--filter", "secnds > 1")
    assert result.returncode == 2
    assert "--filter: " in result.stderr and "seconds" in result.stderr


def test_curves_have_every_value(smtune, run):
    shown = list(csv.DictReader(io.StringIO(
        smtune.ok("export", "exp", "--curves"))))
    assert list(shown[0]) == ["id", "metric", "step", "value", "time"]
    assert [(row["step"], row["value"]) for row in shown
            if row["id"] == "1" and row["metric"] == "loss"] == [
        ("1", "3"), ("2", "2")]
    assert [row["value"] for row in shown if row["metric"] == "val/acc"
            and row["id"] == "3"] == ["nan"]
    assert smtune("export", "exp", "--curves", "--columns", "id"
                  ).returncode == 2
    assert smtune("export", "exp", "--curves", "--format", "html", "-o", "x"
                  ).returncode == 2
