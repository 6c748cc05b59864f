# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading runs: load(), trials, curves, importance, tables of pandas."""

import datetime
import math
import sys

import pytest

import smtune as package

MIXED = """
    version: 1
    name: mixed
    objective: loss
    parameters:
      lr: {type: float, min: 0.1, max: 1}
      kind: {type: categorical, values: ["1", none, nan, 16, 2.5]}
      digits: {type: categorical, values: ["1", "02", "=1+1", "'-x"]}
      depth: {type: int, min: 1, max: 9}
      wide: {type: bool}
      momentum: {type: float, min: 0, max: 1, when: "wide"}
    search: {method: random, seed: 3}
    budget: {trials: 12, parallel: 4}
    trial:
      shell: |
        echo step=1 loss=1 acc=0.5
        echo step=2 loss=${{ lr }} acc=nan
        [ ${{ trial }} != 3 ]
    """


# Names of other columns, and of metrics that the trials print.
CLASHES = """
    version: 1
    name: clashes
    objective: loss
    parameters:
      id: {type: categorical, values: ["1", "02"]}
      state: {type: categorical, values: [failed, 2]}
      value: {type: int, min: 1, max: 9}
      started: {type: categorical, values: [now, later]}
      cause: {type: bool}
      params.state: {type: float, min: 0, max: 1}
    search: {method: random, seed: 3}
    budget: {trials: 8, parallel: 4}
    trial: {shell: "echo loss=${{ value }} ended=1 state=2"}
    """


@pytest.fixture
def mixed(here, write):
    here.ok("run", write("mixed.yaml", MIXED))
    return package.load("mixed")


@pytest.mark.quick
def test_a_run_and_its_trials(mixed, here):
    assert (mixed.name, mixed.state) == ("mixed", "succeeded")
    assert mixed.objectives == {"loss": "minimize"}
    assert "12 of 12" in mixed.reason
    rows = here.json("trials", "mixed")
    assert [trial.id for trial in mixed.trials] == list(range(1, 13))
    for trial, row in zip(mixed.trials, rows):
        assert trial.row == row
        assert trial.value == trial.values[0] == trial.params["lr"]
        assert math.isnan(trial.metrics["acc"])
        assert ("momentum" in trial.params) == trial.params["wide"]
        assert trial.state == ("failed" if trial.id == 3 else "succeeded")
        assert trial.started.tzinfo == datetime.timezone.utc
        assert 0 <= (trial.ended - trial.started).total_seconds() < 60
        assert trial.seconds == row["duration_ms"] / 1000
    assert {type(trial.params["digits"]) for trial in mixed.trials} == {str}
    assert mixed.best.value == min(trial.value for trial in mixed.trials
                                   if trial.state == "succeeded")
    assert mixed.front[0].id == mixed.best.id
    assert repr(mixed.best).startswith(f"<trial {mixed.best.id} succeeded 0.")


def test_curves_have_every_value(mixed):
    assert set(mixed.curves) == {"loss", "acc"}
    for trial in mixed.trials:
        assert mixed.curves["loss"][trial.id] == [(1, 1), (2, trial.value)]
        assert math.isnan(mixed.curves["acc"][trial.id][1][1])


def test_several_objectives_have_a_front(here, experiment):
    here.ok("run", experiment(
        "echo a=${{ x }} b=${{ x }}", trials=30, seed=1, parallel=4,
        objective="[{metric: a, goal: minimize}, {metric: b, goal: maximize}]"))
    run = package.load("exp")
    assert sorted(trial.id for trial in run.front) == list(range(1, 31))
    assert len(run.front[0].values) == 2
    with pytest.raises(package.Error, match="has 2 objectives: use front"):
        assert run.best
    assert set(run.importance) == set(run.importance_of("b")) == \
        set(run.trials[0].params)
    assert sum(run.importance.values()) <= 1 + 1e-9
    with pytest.raises(KeyError, match="no objective 'c'"):
        run.importance_of("c")


def test_a_run_that_goes_on_is_read_again(here, experiment):
    here.ok("run", experiment("echo loss=${{ x }}", trials=2))
    run = package.load("exp", here.store)
    assert len(run.trials) == 2
    here.ok("resume", "exp", "--trials", "4")
    assert len(run.trials) == 2
    assert len(run.refresh().trials) == 4


def test_no_trial_has_succeeded(here, experiment):
    here("run", experiment("exit 1", trials=2))
    run = package.load("exp")
    assert (run.best, run.front, run.importance) == (None, [], {})
    assert run.state == "failed"


@pytest.mark.parametrize("objective", [
    "a", "[{metric: a, goal: minimize}, {metric: b, goal: maximize}]"])
def test_no_trial_satisfies_the_constraints(here, experiment, objective):
    here("run", experiment("echo a=${{ x }} b=1 c=2", trials=2,
                           objective=objective,
                           outcomes="[{metric: c, max: 1}]"))
    run = package.load("exp")
    assert [trial.state for trial in run.trials] == ["succeeded"] * 2
    assert run.front == []
    if objective == "a":
        assert run.best is None


def test_what_is_not_there_is_an_error(here, experiment, tmp_path):
    with pytest.raises(package.Error, match="there is no store") as caught:
        package.load("exp", tmp_path / "nowhere")
    assert caught.value.status == 4
    here.ok("run", experiment("echo loss=1", trials=1))
    with pytest.raises(package.Error, match="no run 'exq'"):
        package.load("exq")


def test_a_workflow_has_no_trials(here, workflow):
    here.ok("run", workflow('a: {command: "true"}'))
    run = package.load("flow")
    assert [step["name"] for step in run.document["steps"]] == ["a"]
    for part in ("trials", "best", "curves", "importance", "objectives"):
        with pytest.raises(package.Error, match="is a workflow"):
            getattr(run, part)


def test_a_program_that_is_missing_is_an_error(here, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    with pytest.raises(package.ProgramNotFound, match="no program 'smtune' in"):
        package.load("exp")
    (tmp_path / "smtune").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "smtune").chmod(0o755)
    with pytest.raises(package.Error, match="exit status 3"):
        package.load("exp")


# ---- pandas ----

def test_without_pandas_the_error_names_the_command(mixed, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="python3 -m pip install pandas"):
        mixed.to_pandas()


def test_a_table_has_the_types_of_the_trials(mixed, here):
    pandas = pytest.importorskip("pandas")
    table = mixed.to_pandas()
    header = here.ok("export", "mixed").splitlines()[0]
    assert list(table.columns) == header.split(",")
    for row, trial in zip(table.to_dict("records"), mixed.trials):
        for name in ("lr", "kind", "digits", "depth", "wide", "momentum"):
            if name in trial.params:
                assert row[name] == trial.params[name]
                assert isinstance(row[name], str) == \
                    isinstance(trial.params[name], str)
            else:
                assert pandas.isna(row[name])
        assert (row["id"], row["state"], row["value"]) == \
            (trial.id, trial.state, trial.value)
        assert pandas.isna(row["acc"])
        assert row["started"].to_pydatetime() == trial.started
    assert table["lr"].dtype == table["acc"].dtype == float
    assert table["depth"].dtype == int and table["wide"].dtype == bool


def test_a_table_with_parameters_named_like_its_columns(here, write):
    pandas = pytest.importorskip("pandas")
    here.ok("run", write("clashes.yaml", CLASHES))
    run = package.load("clashes")
    table = run.to_pandas()
    header = here.ok("export", "clashes").splitlines()[0].split(",")
    assert len(table.columns) == len(header) == len(set(table.columns))
    columns = {"id": "params.id", "state": "params.state",
               "value": "params.value", "started": "params.started",
               "cause": "params.cause", "params.state": "params.state.1"}
    for row, trial in zip(table.to_dict("records"), run.trials):
        for name, column in columns.items():
            assert row[column] == trial.params[name]
            assert isinstance(row[column], str) == \
                isinstance(trial.params[name], str)
        assert (row["id"], row["state"], row["value"], row["cause"]) == (
            trial.id, "succeeded", trial.value, trial.row["cause"])
        assert (row["metrics.ended"], row["metrics.state"]) == (1, 2)
        assert row["started"].to_pydatetime() == trial.started
    assert table["id"].dtype == int
    assert isinstance(table["started"][0], pandas.Timestamp)


def test_a_table_of_curves_and_of_jobs(mixed, here, workflow):
    pandas = pytest.importorskip("pandas")
    table = mixed.to_pandas(curves=True)
    assert len(table) == 12 * 2 * 2
    assert list(table.columns) == ["id", "metric", "step", "value", "time"]
    assert table["value"].dtype == float
    here.ok("run", workflow('a: {command: "true"}'))
    jobs = package.load("flow").to_pandas()
    assert list(jobs["job"]) == ["a"]
    assert isinstance(jobs["started"][0], pandas.Timestamp)
    with pytest.raises(package.Error, match="is a workflow"):
        package.load("flow").to_pandas(curves=True)


def test_a_table_that_cannot_be_read_is_an_error(mixed, here):
    pytest.importorskip("pandas")
    here.ok("rm", "mixed")
    with pytest.raises(package.Error, match="no run 'mixed'"):
        mixed.to_pandas()
