# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune resume RUN --time T`: a run that has begun gets more time, or less."""

import itertools
import os
import signal

import pytest

from programs import wait_until

# A trial that finds no file `go` outlives any budget here.
TRIAL = """
    if [ ! -e go ]; then
      [ -e $SMTUNE_CHECKPOINT_DIR/began ] || sleep 600
    fi
    touch $SMTUNE_CHECKPOINT_DIR/began
    echo loss=${{ x }}
    """
FLOW = """
    one: {shell: "[ -e go ] || sleep 600"}
    two: {needs: one, command: "true"}
    """


@pytest.fixture
def run(smtune, experiment):
    def start(*words, **budget):
        return smtune("run", experiment(TRIAL, checkpoints=True, parallel=1,
                                        **{"trials": 4} | budget), *words)
    return start


@pytest.fixture
def over(smtune, run):
    """A run whose time is used up while its only trial sleeps."""
    def start(**budget):
        assert run(**{"time": "1s"} | budget).returncode == 6
        assert smtune.states() == ["stopped"]
    return start


@pytest.fixture
def live(smtune, run):
    """A run whose first trial sleeps, and which has time for that."""
    def start(**budget):
        run("--detach", **{"time": "1h"} | budget)
        wait_until(lambda: smtune.json("status", "exp")["trials"]["running"])
    return start


def go(smtune):
    (smtune.directory / "go").touch()


def proved(smtune):
    assert "verified" in smtune.ok("replay", "exp")
    smtune.ok("fsck")
    return smtune.states()


def reason(smtune):
    return smtune.json("show", "exp")["reason"]


def refused(smtune, status, says, *words):
    before = smtune.json("show", "exp")
    result = smtune("resume", "exp", *words)
    assert result.returncode == status and says in result.stderr
    after = smtune.json("show", "exp")
    for it in before, after:
        del it["duration_ms"]  # it may run
    assert after == before


# ---- a run that has ended ----

@pytest.mark.sanitized
def test_it_goes_on_with_new_trials(smtune, over):
    over()
    go(smtune)
    result = smtune("resume", "exp", "--time", "1h")
    assert result.returncode == 0
    assert "run 'exp': its budget is now 1h 00m" in result.stderr
    assert reason(smtune) == "trial budget used up (4 of 4)"
    assert proved(smtune) == ["stopped"] + ["succeeded"] * 3


def test_what_was_stopped_goes_on_by_retry(smtune, over):
    """From its checkpoint."""
    over()
    go(smtune)
    smtune.ok("resume", "exp", "--time", "1h")
    smtune.ok("retry", "exp", 1)
    assert proved(smtune) == ["succeeded"] * 4


def test_the_new_time_is_used_up_too(smtune, over):
    over()
    assert smtune("resume", "exp", "--time", "2s").returncode == 6
    assert reason(smtune) == "no trial succeeded: time budget used up"
    assert smtune.json("show", "exp")["budget_ms"] == 2000
    refused(smtune, 2, "already used, not 2.0 s", "--time", "2s")
    assert proved(smtune) == ["stopped"] * 2


def test_trials_and_time(smtune, over):
    over(trials=1)
    go(smtune)
    refused(smtune, 5, "more trials would change nothing", "--trials", 3)
    result = smtune("resume", "exp", "--trials", 3, "--time", "90m")
    assert "its budget is now 3 trials and 1h 30m" in result.stderr
    assert proved(smtune) == ["stopped"] + ["succeeded"] * 2


def test_what_is_shown(smtune, over):
    over()
    for command in "show", "status":
        assert "budget_ms" not in smtune.json(command, "exp")
    go(smtune)
    smtune.ok("resume", "exp", "--time", "1h")
    for command in "show", "status":
        assert smtune.json(command, "exp")["budget_ms"] == 3600000
        assert "1h 00m" in smtune.ok(command, "exp")


# ---- a run that has not ----

def test_a_live_run_gets_less(smtune, live):
    live()
    smtune.ok("resume", "exp", "--time", "3s")
    assert smtune("wait", "exp").returncode == 6
    assert reason(smtune) == "no trial succeeded: time budget used up"
    assert smtune.json("show", "exp")["duration_ms"] > 2900
    assert proved(smtune) == ["stopped"]


def test_a_live_run_gets_more(smtune, live):
    live(time="4s", trials=3)
    smtune.ok("resume", "exp", "--time", "1h")
    wait_until(lambda: smtune.json("status", "exp")["duration_ms"] > 4200)
    assert smtune.json("status", "exp")["state"] == "running"
    refused(smtune, 2, "already used, not 4.0 s", "--time", "4s")
    smtune.ok("stop", "exp")
    go(smtune)
    smtune.ok("resume", "exp")
    assert proved(smtune) == ["succeeded"] * 3


def test_a_run_without_a_limit_gets_one(smtune, live):
    live(time=None, trials=2)
    smtune.ok("resume", "exp", "--time", "2s")
    smtune("wait", "exp")
    assert proved(smtune) == ["stopped"]


def test_a_paused_run_gets_more_and_goes_on(smtune, live):
    live(trials=2)
    smtune.ok("pause", "exp", "--now")
    go(smtune)
    smtune.ok("resume", "exp", "--time", "2h")
    smtune.ok("wait", "exp")
    assert proved(smtune) == ["succeeded"] * 2


def test_after_a_kill(smtune, live):
    live(trials=2)
    smtune.ok("resume", "exp", "--time", "2h")
    os.kill(smtune.json("status", "exp")["engine_pid"], signal.SIGKILL)
    wait_until(lambda: smtune.json("status", "exp")["state"] == "interrupted")
    assert smtune.json("show", "exp")["budget_ms"] == 7200000
    smtune.ok("resume", "exp", "--time", "3h", "--detach")
    assert smtune.json("show", "exp")["budget_ms"] == 10800000
    smtune.ok("stop", "exp")
    go(smtune)
    smtune.ok("resume", "exp")
    assert proved(smtune) == ["succeeded"] * 2


# ---- a workflow ----

def test_a_live_workflow_gets_less(smtune, workflow):
    smtune("run", workflow(FLOW, name="exp", time="1h"), "--detach")
    wait_until(lambda: smtune.json("status", "exp")["steps"][0]["state"] ==
               "active")
    # Less than it has used already is refused.
    seconds = itertools.count(1)
    wait_until(lambda: smtune("resume", "exp", "--time",
                              f"{next(seconds)}s").returncode == 0)
    assert smtune("wait", "exp").returncode == 1
    assert reason(smtune) == "time budget used up"
    proved(smtune)


def test_a_workflow_that_is_over_is_for_retry(smtune, workflow):
    assert smtune("run", workflow(FLOW, name="exp", time="1s")).returncode == 1
    refused(smtune, 5, "its steps have ended (time budget used up): smtune "
            "retry runs them again", "--time", "1h")
    go(smtune)
    smtune.ok("retry", "exp", "--failed")
    assert reason(smtune) == "all steps have finished"
    assert proved(smtune) == ["succeeded"] * 2


# ---- what is refused ----

@pytest.mark.parametrize("time", ["0", "999ms", "-3", "soon", "", "9999999d"])
def test_nonsense(smtune, over, time):
    over()
    refused(smtune, 2, f"a duration of at least 1.0 s such as 90s, 10m or 2h, got '{time}'",
            "--time", time)
