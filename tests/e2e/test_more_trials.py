# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune resume RUN --trials N`: a run that has begun gets another budget."""

import os
import signal

import pytest

import files
from programs import wait_until

WAITS = """\
#!/bin/sh
while [ ! -e go ]; do sleep 0.1; done
echo loss=$1
"""


@pytest.fixture
def run(smtune, experiment):
    """run("--option", ..., key=value ...): a run that has ended."""
    def start(*words, **keys):
        path = experiment(**{"trials": 4, "parallel": 1,
                             "parameters": files.X_AND_K} | keys)
        return smtune("run", path, *words)
    return start


@pytest.fixture
def waits(smtune, write, run):
    """waits(key=value ...): a run whose trials wait for a file goes on."""
    def start(**keys):
        write("trial", WAITS).chmod(0o755)
        run("--detach", command="./trial ${{ x }}", **keys)
        wait_until(lambda: running(smtune) > 0)
    return start


def running(smtune):
    return smtune.json("status", "exp")["trials"]["running"]


def settings(smtune):
    return [row["params"] for row in smtune.json("trials", "exp")]


def end(smtune):
    (smtune.directory / "go").touch()
    smtune("wait", "exp")
    return proved(smtune)


def proved(smtune):
    """The record is; how many trials it has."""
    assert "verified" in smtune.ok("replay", "exp")
    smtune.ok("fsck")
    return len(smtune.json("trials", "exp"))


def refused(smtune, trials, status, says):
    before = smtune.json("show", "exp")
    result = smtune("resume", "exp", "--trials", trials)
    assert result.returncode == status and says in result.stderr
    assert smtune.json("show", "exp") == before


# ---- a run that has ended ----

@pytest.mark.sanitized
@pytest.mark.parametrize("method", ["random", "sobol", "tpe", "cmaes"])
def test_it_goes_on_as_if_it_had_had_them_all_along(smtune, run, method):
    """Of a method that does not plan by the budget."""
    assert run(method=method, trials=9).returncode == 0
    at_once = settings(smtune)
    smtune.ok("rm", "exp")
    assert run(method=method).returncode == 0
    result = smtune("resume", "exp", "--trials", 9)
    assert result.returncode == 0
    assert "its budget is now 9 trials" in result.stderr
    assert settings(smtune) == at_once
    assert proved(smtune) == 9


@pytest.mark.parametrize("method", ["auto", "bayesian", "nsga2"])
def test_the_search_stays_planned_as_it_was(smtune, run, method):
    run(method=method, trials=6)
    first = settings(smtune)
    smtune.ok("resume", "exp", "--trials", 10)
    smtune.ok("resume", "exp", "--trials", 13)
    assert settings(smtune)[:6] == first
    assert proved(smtune) == 13


def test_what_is_shown(smtune, run):
    run()
    assert "budget" not in smtune.json("show", "exp")["trials"]
    smtune.ok("resume", "exp", "--trials", 6)
    for command in "show", "status":
        assert smtune.json(command, "exp")["trials"]["budget"] == 6
    shown = smtune.json("show", "exp")
    assert shown["state"] == "succeeded" and shown["ended"] is not None
    assert shown["reason"] == "trial budget used up (6 of 6)"


def test_a_grid_goes_on_to_its_end(smtune, run):
    run(method="grid", trials=2, parameters="""
        x: {type: int, min: 1, max: 3}
        k: {type: categorical, values: [a, b]}
        """)
    smtune.ok("resume", "exp", "--trials", 5)
    assert len(settings(smtune)) == 5
    smtune.ok("resume", "exp", "--trials", 7)
    assert proved(smtune) == 6
    refused(smtune, 9, 5, "every setting of the search space was tried")


def test_none_succeeded_so_far(smtune, run):
    result = run(trials=2, shell="test $SMTUNE_JOB -gt 2 && echo loss=1")
    assert result.returncode == 6
    smtune.ok("resume", "exp", "--trials", 4)
    assert smtune.states() == ["failed"] * 2 + ["succeeded"] * 2
    assert proved(smtune) == 4


@pytest.mark.parametrize("schedule", [
    "{method: asha, min: 1, max: 9, eta: 3, resource: epochs}",
    "{method: hyperband, min: 1, max: 9, eta: 3, resource: epochs}",
    "{method: pbt, min: 3, max: 9, population: 4, resource: epochs}",
])
def test_a_schedule_goes_on_with_new_trials(smtune, run, schedule):
    """Those that it stopped when the budget was used up stay so. pbt, of whose
    population none lives then, has no new ones."""
    run(trials=5, schedule=schedule, checkpoints=True,
        command="echo loss=${{ x }} of ${{ epochs }}")
    over = smtune.states()
    smtune.ok("resume", "exp", "--trials", 30)
    assert smtune.states()[:5] == over
    assert proved(smtune) == (5 if "pbt" in schedule else 30)


# ---- a run that has not ----

def test_a_live_run_gets_more_and_fewer(smtune, waits):
    waits()
    smtune.ok("resume", "exp", "--trials", 9)
    assert smtune.json("status", "exp")["trials"]["budget"] == 9
    smtune.ok("resume", "exp", "--trials", 6)
    refused_live = smtune("resume", "exp")
    assert refused_live.returncode == 5 and "is already running" in refused_live.stderr
    assert end(smtune) == 6


def test_the_last_trials_still_run(smtune, waits):
    waits(trials=1)
    smtune.ok("resume", "exp", "--trials", 3)
    assert end(smtune) == 3


def test_a_schedule_is_closed_and_open_again(smtune, run):
    """Meanwhile a trial went on that would have waited for others."""
    run("--detach", trials=3, checkpoints=True, shell="""
        while [ ${{ epochs }} -gt 1 ] && [ ! -e go ]; do sleep 0.1; done
        touch $SMTUNE_CHECKPOINT_DIR/${{ epochs }}
        echo loss=${{ x }}
        """, schedule="{method: hyperband, resource: epochs, max: 9, eta: 3}")
    wait_until(lambda: [(row["state"], row["attempts"])
                        for row in smtune.json("trials", "exp")].count(
                            ("running", 2)) == 1)
    smtune.ok("resume", "exp", "--trials", 20)
    assert end(smtune) == 20


def test_a_paused_run_gets_more_and_goes_on(smtune, waits):
    waits()
    smtune.ok("pause", "exp")
    smtune.ok("resume", "exp", "--trials", 6)
    assert smtune.json("status", "exp")["state"] == "running"
    assert end(smtune) == 6


def test_after_a_kill(smtune, waits):
    waits()
    smtune.ok("resume", "exp", "--trials", 5)
    os.kill(smtune.json("status", "exp")["engine_pid"], signal.SIGKILL)
    wait_until(lambda: smtune.json("status", "exp")["state"] == "interrupted")
    smtune.ok("resume", "exp", "--trials", 7, "--detach")
    assert end(smtune) == 7


def test_a_stopped_run_gets_fewer(smtune, waits):
    waits()
    smtune.ok("stop", "exp")
    smtune.ok("resume", "exp", "--trials", 2, "--detach")
    assert end(smtune) == 2
    assert smtune.json("show", "exp")["reason"] == "trial budget used up (2 of 2)"


# ---- what is refused ----

def test_fewer_than_have_begun(smtune, run, waits):
    run()
    refused(smtune, 3, 2, "at least 5 trials, not 3: 4 have already started")
    refused(smtune, 4, 2, "at least 5 trials, not 4: 4 have already started")
    smtune.ok("rm", "exp")
    waits(parallel=2)
    wait_until(lambda: running(smtune) == 2)
    for _ in range(2):  # with an engine, and without one
        result = smtune("resume", "exp", "--trials", 1)
        assert result.returncode == 2
        assert "at least 2 trials, not 1: 2 have already" in result.stderr
        if smtune.json("status", "exp")["state"] == "running":
            smtune.ok("stop", "exp")
    assert proved(smtune) == 2


def test_nonsense(smtune, run):
    run()
    for trials, says in [
            ("0", "at least 1, got '0'"),
            ("-3", "at least 1, got '-3'"),
            ("2.5", "got '2.5'"),
            ("", "got ''"),
            ("1000000000001", "at most 1000000000000 trials, not 10000000000"),
            ("99999999999999999999", "got '99999999999999999999'")]:
        refused(smtune, trials, 2, says)


@pytest.mark.parametrize("budget, command, status, says", [
    ("target: 9", "echo loss=1", 0, "the target was reached"),
    ("failures: 1", "false", 1, "too many failed trials (budget.failures)"),
])
def test_it_ended_for_another_reason(smtune, run, budget, command, status,
                                     says):
    result = run(command=command,
                 budget="{trials: 4, parallel: 1, %s}" % budget)
    assert result.returncode == status
    refused(smtune, 9, 5, f"more trials would change nothing, because the run "
            f"ended for another reason: {says}")


def test_of_a_workflow(smtune, workflow):
    path = workflow('one: {shell: "while [ ! -e go ]; do sleep 0.1; done"}',
                    name="exp")
    smtune.ok("run", path, "--detach")
    result = smtune("resume", "exp", "--trials", 3)
    assert result.returncode == 2
    assert "the budget of a workflow has no trials" in result.stderr
    (smtune.directory / "go").touch()
    smtune("wait", "exp")
    result = smtune("resume", "exp", "--trials", 3)
    assert result.returncode == 2
    assert "the budget of a workflow has no trials" in result.stderr


def test_there_is_no_such_run(smtune, run):
    run()
    assert smtune("resume", "none", "--trials", 9).returncode == 4
