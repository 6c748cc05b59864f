# SPDX-License-Identifier: GPL-3.0-or-later
"""Studies of Optuna as runs."""

import contextlib
import json
import sqlite3
import subprocess
import sys

import pytest

import smtune as package
from test_docs import python_packages

REAL = 'FloatDistribution", "attributes": {"step": null, "low": 0.001, ' \
       '"high": 1.0, "log": true}}'
LAYERS = 'IntDistribution", "attributes": {"log": false, "step": 2, ' \
         '"low": 2, "high": 8}}'
KINDS = 'CategoricalDistribution", "attributes": {"choices": ["sgd", "adam"]}}'
MOMENTUM = 'FloatDistribution", "attributes": {"step": null, "low": 0.0, ' \
           '"high": 0.99, "log": false}}'
# number: state, value, [(name, what Optuna stores, distribution)]
TRIALS = [
    ("COMPLETE", 0.5, [("lr", 0.125, REAL), ("kind", 0.0, KINDS),
                       ("momentum", 0.5, MOMENTUM), ("layers", 4.0, LAYERS)]),
    ("FAIL", None, [("lr", 0.25, REAL), ("kind", 1.0, KINDS),
                    ("layers", 2.0, LAYERS)]),
    ("PRUNED", 0.75, [("lr", 0.5, REAL), ("kind", 1.0, KINDS),
                      ("layers", 8.0, LAYERS)]),
    ("PRUNED", None, [("lr", 1.0, REAL), ("kind", 1.0, KINDS),
                      ("layers", 8.0, LAYERS)]),
    ("RUNNING", None, [("lr", 0.75, REAL)]),
    ("FAIL", None, [("lr", 0.75, REAL)]),  # before it had the others
]
PARAMETERS = {
    "lr": {"type": "float", "min": 0.001, "max": 1.0, "scale": "log"},
    "kind": {"type": "categorical", "values": ["sgd", "adam"]},
    "momentum": {"type": "float", "min": 0.0, "max": 0.99,
                 "when": "kind = 'sgd'"},
    "layers": {"type": "int", "min": 2, "max": 8, "step": 2},
}
TABLES = """
    CREATE TABLE studies (study_id INTEGER, study_name TEXT);
    CREATE TABLE study_directions (direction TEXT, study_id INTEGER,
                                   objective INTEGER);
    CREATE TABLE trials (trial_id INTEGER, number INTEGER, study_id INTEGER,
                         state TEXT);
    CREATE TABLE trial_params (param_id INTEGER, trial_id INTEGER,
        param_name TEXT, param_value FLOAT, distribution_json TEXT);
    CREATE TABLE trial_values (trial_id INTEGER, objective INTEGER,
                               value FLOAT, value_type TEXT);
    INSERT INTO studies VALUES (1, 'mnist'), (2, 'other');
    INSERT INTO study_directions VALUES ('MAXIMIZE', 1, 0), ('MINIMIZE', 2, 0);
"""


def distribution(text):
    return '{"name": "' + text


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "study.db"
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.executescript(TABLES)
        for number, (state, value, params) in enumerate(TRIALS):
            db.execute("INSERT INTO trials VALUES (?, ?, 1, ?)",
                       (number + 10, number, state))
            if value is not None:
                db.execute("INSERT INTO trial_values VALUES (?, 0, ?, "
                           "'FINITE')", (number + 10, value))
            for name, stored, text in params:
                db.execute("INSERT INTO trial_params VALUES (NULL, ?, ?, ?, ?)",
                           (number + 10, name, stored, distribution(text)))
    return path


@pytest.fixture
def journal(tmp_path):
    entries = [{"op_code": 0, "study_name": "mnist", "directions": [2]},
               {"op_code": 0, "study_name": "other", "directions": [1]}]
    for number, (state, value, params) in enumerate(TRIALS):
        entries.append({"op_code": 4, "study_id": 0})
        entries += [{"op_code": 5, "trial_id": number, "param_name": name,
                     "param_value_internal": stored,
                     "distribution": distribution(text)}
                    for name, stored, text in params]
        if state != "RUNNING":
            entries.append({
                "op_code": 6, "trial_id": number, "state":
                ["RUNNING", "COMPLETE", "PRUNED", "FAIL"].index(state),
                "values": None if value is None else [value]})
    path = tmp_path / "journal.log"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries)
                    + '{"op_code": 4, "st')  # it is being written
    return path


@pytest.fixture(params=["database", "journal"])
def path(request):
    return request.getfixturevalue(request.param)


@pytest.mark.quick
def test_a_study_becomes_a_run(here, path):
    study = package.read_optuna(path, "mnist")
    assert study.file == {
        "objective": [{"metric": "value", "goal": "maximize"}],
        "parameters": PARAMETERS}
    run = package.import_optuna(path, "old", study="mnist")
    assert [(trial.state, trial.value) for trial in run.trials] == [
        ("succeeded", 0.5), ("failed", None), ("stopped", 0.75),
        ("stopped", None)]
    assert run.trials[0].params["momentum"] == 0.5
    assert run.trials[0].params["layers"] == 4
    here.ok("fsck")
    here.ok("replay", "old")


def test_it_names_what_it_cannot_read(here, path, tmp_path):
    with pytest.raises(package.Error, match="'mnist', 'other'"):
        package.read_optuna(path)
    with pytest.raises(package.Error, match="no study 'q'"):
        package.read_optuna(path, "q")
    (tmp_path / "text").write_text("not a journal\n")
    with pytest.raises(package.Error, match="line 1: not a line of a journal"):
        package.read_optuna("text")


def test_real_studies(here, tmp_path):
    """What Optuna itself writes, equal trial by trial."""
    script = tmp_path / "make.py"
    script.write_text("""
import sys
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

def objective(trial):
    x = trial.suggest_float("x", 1e-3, 1, log=True)
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    y = trial.suggest_int("y", 1, 9) if kind == "b" else 0
    z = trial.suggest_float("z", 0, 1, step=0.25)
    trial.report(x, 1)
    if trial.number == 3:
        raise optuna.TrialPruned
    if trial.number == 5:
        raise ValueError
    return x + y + z

for storage in ("sqlite:///real.db",
                JournalStorage(JournalFileBackend("real.log"))):
    study = optuna.create_study(
        storage=storage, sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(objective, 20, catch=ValueError)
    for trial in study.trials:
        print([trial.state.name, trial.value, trial.params])
    print("end")
""")
    made = subprocess.run(
        [sys.executable, script], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, check=True, env={
            **here.environment(),
            "PYTHONPATH": str(python_packages(["optuna==4.5.0"]))})
    texts = made.stdout.split("end\n")
    for file, text in zip(("real.db", "real.log"), texts):
        expected = [eval(line) for line in text.splitlines()]
        run = package.import_optuna(file, file.replace(".", "-"))
        assert len(run.trials) == len(expected) == 20
        for trial, (state, value, params) in zip(run.trials, expected):
            if params["kind"] is None:
                params["kind"] = "None"
            assert {k: v for k, v in trial.params.items() if v is not None} \
                == params
            if state == "COMPLETE":
                assert trial.value == value
        here.ok("replay", run.name)
