# SPDX-License-Identifier: GPL-3.0-or-later
"""Thousands of trials, in the record and at once. Bounds are on counts, or on
processor time where that is far from what it takes; tests/bench/run.py measures
how fast it is."""

import resource
import sqlite3

import pytest

import files
from programs import wait_until


def text(**keys):
    return files.experiment(**{
        "trials": 1000, "executor": "fake", "resources": {"cpus": 0},
        "parameters": "{x: {type: float, min: 0, max: 1},"
                      " y: {type: float, min: 0, max: 1}}"} | keys)


def record(smtune):
    return sqlite3.connect(smtune.store / "smtune.db")


def user_seconds(function):
    """The processor time of the processes that it ran."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    function()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


@pytest.mark.sanitized
def test_the_first_trials_start_while_others_are_prepared(smtune, write):
    smtune.ok("run", write("exp.yaml", text(trials=600, parallel=600)))
    with record(smtune) as database:
        first, = database.execute(
            "SELECT min(seq) FROM event WHERE event = 'attempt_running'"
        ).fetchone()
        before, = database.execute(
            "SELECT count(*) FROM event WHERE event = 'attempt_starting'"
            " AND seq < ?", (first,)).fetchone()
    assert 0 < before < 300


def test_more_trials_run_than_there_are_descriptors(smtune, write):
    path = write("exp.yaml", text(
        trials=120, parallel=120, executor="local",
        shell='echo loss=1; echo {"a": 2} >> $SMTUNE_METRICS; while '
              "test ! -e $SMTUNE_DIR/../../../../../go; do sleep 1; done"))
    process = smtune.start(
        "run", path, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (64, 64)))
    wait_until(lambda: smtune("status", "exp").returncode == 0)
    with record(smtune) as database:
        def all_were_read():
            count, = database.execute(
                "SELECT count(*) FROM metric JOIN metric_name AS n"
                " ON n.id = name_id WHERE n.name = 'a'").fetchone()
            return count == 120
        wait_until(all_were_read, 60)
    write("go", "")
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert {t["state"] for t in smtune.json("trials", "exp")} == {"succeeded"}


def reopen(smtune, method, trials):
    """Makes it a run of that method with so many trials."""
    with record(smtune) as database:
        database.execute("UPDATE run SET state = 'stopped', spec = ?",
                         (text(method=method, trials=trials),))


def test_a_long_record_is_soon_taken_up(smtune, write):
    """By every method: nothing is built anew for each trial that is read."""
    trials = 3000
    smtune.ok("run", write("exp.yaml", text(trials=trials)), timeout=120)
    for method in ("random", "sobol", "tpe", "cmaes", "nsga2", "bayesian",
                   "auto"):
        trials += 1
        reopen(smtune, method, trials)
        seconds = user_seconds(
            lambda: smtune.ok("resume", "exp", timeout=120))
        assert seconds < 10, method
        with record(smtune) as database:
            state, = database.execute("SELECT state FROM job WHERE number = ?",
                                      (trials,)).fetchone()
        assert state == "succeeded", method
