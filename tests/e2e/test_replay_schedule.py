# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune replay` and `smtune fsck` of runs with a schedule."""

import json
import re

import pytest

import files
from programs import wait_until

# Up to its resource; curves cross. No checkpoint is kept: it begins anew.
CURVE = ("x=${{ x }}; i=0; while [ $i -lt ${{ epochs }} ]; do i=$((i + 1)); "
         "echo epoch=$i loss=$(awk -v x=$x -v n=$i 'BEGIN {"
         "print (x - 0.3) * (x - 0.3) + (1 - x) / n}'); done")
RESOURCE = "resource: epochs, min: 1, max: 9"
SCHEDULES = {
    "asha": f"{{method: asha, {RESOURCE}, eta: 3, type: promotion}}",
    "asha-brackets": f"{{method: asha, {RESOURCE}, eta: 3, brackets: 2,"
                     " type: promotion}",
    "asha-stopping": f"{{method: asha, {RESOURCE}, eta: 3, type: stopping}}",
    "hyperband": f"{{method: hyperband, {RESOURCE}, eta: 3}}",
    "median": f"{{method: median, {RESOURCE}, min_trials: 3}}",
    "vizier": f"{{method: median, {RESOURCE}, min_trials: 3, rule: vizier}}",
    "patient": f"{{method: patient, {RESOURCE}, patience: 2,"
               " min_delta: 0.05}",
    "threshold": f"{{method: threshold, {RESOURCE}, upper: 0.6}}",
    "pbt": "{method: pbt, resource: epochs, min: 3, max: 9, population: 4}",
}


@pytest.fixture
def run(smtune, experiment):
    def make(schedule, shell=CURVE, **keys):
        smtune.ok("run", experiment(
            shell, schedule=schedule, checkpoints=True, resources={"cpus": 0},
            parameters=files.X_AND_K, **{"trials": 20, "parallel": 3} | keys),
            timeout=120)
    return make


def proof(smtune):
    smtune.ok("fsck")
    told = json.loads(smtune.ok("replay", "exp", "-o", "json"))
    assert told["difference"] is told["step"] is told["decision"] is None
    assert told["proved"] == told["trials"]
    return told


@pytest.mark.sanitized
@pytest.mark.parametrize("name", SCHEDULES)
def test_every_step_is_proved(smtune, run, name):
    run(SCHEDULES[name])
    steps = proof(smtune)["steps"]
    (observations, promotions), = smtune.query(
        "SELECT count(*), count(promoted) FROM observation")
    assert observations > 10
    assert steps >= 8 + observations + promotions
    text = smtune.ok("replay", "exp")
    assert f"all {steps} schedule steps verified" in text


@pytest.mark.parametrize("name", ["asha", "asha-stopping", "hyperband", "pbt"])
def test_with_failures_a_learner_and_the_other_goal(smtune, run, name):
    run(SCHEDULES[name], objective="{metric: loss, goal: maximize}",
        method="tpe", trials=30,
        shell=f"[ $((SMTUNE_JOB % 5)) != 2 ] || exit 1; {CURVE}")
    proof(smtune)


def test_a_budget_of_the_resource(smtune, run):
    run(SCHEDULES["asha"], resource=40)
    assert proof(smtune)["trials"] < 20


def test_a_setting_is_enqueued_when_none_was_left(smtune, experiment):
    """No new trials were to come, and then one does."""
    engine = smtune.start("run", experiment("""
        test ${{ epochs }} = 1 || until test -e end; do sleep 0.1; done;
        for i in $(seq ${{ epochs }}); do echo epoch=$i loss=$i; done
        """, search="{method: grid, points: 4}", trials=9, parallel=3,
        resources={"cpus": 0}, parameters="{k: {type: float, min: 1, max: 4}}",
        schedule="{method: hyperband, resource: epochs, max: 9, eta: 3}"))
    wait_until(lambda: any(row["attempts"] > 1 for row in
                           json.loads(smtune("trials", "exp", "-o", "json")
                                      .stdout or "[]")))
    smtune.ok("enqueue", "exp", "k=1.5")
    (smtune.directory / "end").touch()
    assert engine.wait(60) == 0
    assert smtune.query("SELECT count(*) FROM job") == [(5,)]
    proof(smtune)


def test_a_run_that_ends_early(smtune, run):
    """What is paused is stopped with it."""
    run(SCHEDULES["asha"], target=0.4)
    assert smtune.query("SELECT 1 FROM job WHERE state = 'stopped'")
    proof(smtune)


CHANGES = {
    "another resource": "UPDATE observation SET promoted_to = 9"
                        " WHERE promoted_to = 3",
    "a promotion": "UPDATE observation SET (promoted, promoted_to) ="
                   " (NULL, NULL) WHERE told ="
                   " (SELECT max(told) FROM observation"
                   "  WHERE promoted IS NOT NULL)",
    "a decision": "UPDATE observation SET decision = 'continue'"
                  " WHERE told = 2",
    "a value": "UPDATE observation SET \"values\" = '[0]'"
               " WHERE told = (SELECT min(told) FROM observation"
               "  WHERE promoted IS NULL)",
    "a bracket": "UPDATE job SET bracket = 1 WHERE number = 5",
    "a rung": "UPDATE observation SET rung = 1 WHERE told = 1",
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_differs_is_found(smtune, run, change):
    run(SCHEDULES["asha"])
    smtune.query(CHANGES[change])
    result = smtune("replay", "exp")
    assert result.returncode == 1
    assert re.search(r"differs: .* the schedule|lacks results",
                     result.stdout + result.stderr)
    assert smtune("fsck").returncode == 1


def test_a_setting_of_a_clone_is_proved(smtune, run):
    run(SCHEDULES["pbt"])
    clone, = smtune.query("SELECT min(number) FROM job"
                          " WHERE parent IS NOT NULL")[0]
    smtune.query("UPDATE param_value SET value = 0.123 WHERE idx = 0"
                 f" AND job_id = (SELECT id FROM job WHERE number = {clone})")
    result = smtune("replay", "exp")
    assert result.returncode == 1
    assert f"trial {clone} differs: 'x': recorded 0.123" in result.stdout
