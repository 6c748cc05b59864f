# SPDX-License-Identifier: GPL-3.0-or-later
"""When a run is over: each criterion ends one, and `smtune replay` proves it."""

import re

import pytest

from programs import wait_until

FILE = {"objective": "{metric: acc, goal: maximize}", "method": "bayesian",
        "seed": 2, "trials": 200, "parallel": 1, "parameters": """
            x: {type: float, min: 0, max: 1}
            y: {type: float, min: 0, max: 1}
            n: 3
            """}
# Best at (0.3, 0.6), where it is 1.
HILL = ("awk 'BEGIN { x = '${{ x }}'; y = '${{ y }}'; "
        "print \"acc=\" 1 - (x - 0.3)^2 - (y - 0.6)^2 }'")
CONVERGED = "the search has converged: a better trial is unlikely"


@pytest.fixture
def run_file(experiment):
    def make(shell=HILL, pause=":", **keys):
        return experiment(f"{pause}; {shell}", **FILE | keys)
    return make


def reason(smtune):
    return re.search(r"^reason: *(.*)$", smtune.ok("show", "exp"), re.M)[1]


def succeeded(smtune):
    """The last trial may be under way when the verdict falls."""
    return [row for row in smtune.json("trials", "exp")
            if row["state"] == "succeeded"]


def must_be_proved(smtune):
    result = smtune("replay", "exp")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.sanitized
def test_convergence_ends_the_run(smtune, run_file):
    smtune.ok("run", run_file(convergence=True))
    assert reason(smtune) == CONVERGED
    rows = smtune.json("trials", "exp")
    assert 24 <= len(rows) < 60
    assert max(row["value"] for row in rows) > 0.99
    must_be_proved(smtune)


def test_convergence_of_many_at_once(smtune, run_file):
    smtune.ok("run", run_file(convergence=True, parallel=4))
    assert reason(smtune) == CONVERGED
    assert len(smtune.json("trials", "exp")) < 80
    must_be_proved(smtune)


def test_without_convergence_the_run_goes_on(smtune, run_file):
    smtune.ok("run", run_file(convergence=False, trials=40))
    assert len(smtune.json("trials", "exp")) == 40


def test_convergence_outlives_the_engine(smtune, run_file):
    """What is known comes back with the next one, in the same order."""
    engine = smtune.start("run", run_file(convergence=True, parallel=2,
                                          pause="sleep 0.05"))
    wait_until(lambda: (smtune.store / "smtune.db").exists() and
               len(smtune("trials", "exp").stdout.splitlines()) > 22)
    engine.kill()
    engine.wait()
    smtune.ok("resume", "exp")
    assert reason(smtune) == CONVERGED
    assert len(succeeded(smtune)) < 60
    must_be_proved(smtune)


@pytest.mark.parametrize("improvement, trials",
                         [("", 5), (", improvement: 0", 9)])
def test_small_steps_are_no_improvement(smtune, run_file, improvement, trials):
    """1, 1.001, 1.002 ... 1.005 and no further."""
    path = run_file("echo acc=1.00$((SMTUNE_JOB < 6 ? SMTUNE_JOB - 1 : 4))",
                    "sleep 0.2", method="random",
                    budget="{trials: 200, parallel: 1, no_improvement: 4%s}"
                           % improvement)
    smtune.ok("run", path)
    assert "no improvement" in reason(smtune)
    assert len(succeeded(smtune)) == trials
    must_be_proved(smtune)


@pytest.mark.parametrize("budget, words", [
    ("target: 0.9", "target"), ("time: 1s", "time budget")])
def test_target_and_time(smtune, run_file, budget, words):
    smtune.ok("run", run_file(
        pause="sleep 0.02", method="random",
        budget="{trials: 200, parallel: 1, %s}" % budget))
    assert words in reason(smtune)
    must_be_proved(smtune)


def test_the_resource_is_used_up(smtune, run_file):
    """27 trials to 1, 9 to 3, 3 to 9 and 1 to 27 would be 108 without
    checkpoints; after them there is no room for another trial's 27."""
    path = run_file("for i in $(seq ${{ epochs }}); do "
                    "echo epoch=$i acc=$((i * SMTUNE_JOB)); done",
                    method="random", trials=100, resource=90,
                    schedule="{method: asha, max: 27, type: promotion}")
    smtune.ok("run", path)
    assert "resource" in reason(smtune)
    assert smtune.json("plan", path)["schedule"]["total"] > 90
    must_be_proved(smtune)
