# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune whatif`: other schedules on the curves of a run."""

import csv
import io
import json
import os
import signal

import pytest

from programs import wait_until

# The first is the best from its first epoch to its last.
STEADY = 'echo "score=$((x * 100 / e)) epoch=$e"'


@pytest.fixture
def nine(experiment):
    """Nine trials that do this in each of nine epochs."""
    def make(each=STEADY, goal="minimize", value="last", checkpoints=True):
        return experiment(f"""
            x=${{{{ x }}}}
            for e in 1 2 3 4 5 6 7 8 9; do
              {each}
            done
            """, objective=f"{{metric: score, goal: {goal}, value: {value}}}",
            search="grid", trials=9, parallel=1, checkpoints=checkpoints,
            parameters={"x": {"type": "ordinal", "values": list(range(1, 10))}})
    return make


def one(smtune, *words):
    """The only schedule that is tried, and the run."""
    told = smtune.json("whatif", "exp", *words)
    assert len(told["schedules"]) == 1
    return told["schedules"][0], told


@pytest.mark.sanitized
def test_it_says_what_would_have_been_saved(smtune, nine):
    smtune.ok("run", nine())
    asha, run = one(smtune, "--schedule", "asha", "--eta", 3)
    assert run["run"] == "exp" and run["trials"] == run["curves"] == 9
    assert run["resource"] == 81 and run["parallel"] == 1
    assert run["winner"] == 1 and run["value"] == 11
    # all to 1, three of them to 3, one to 9
    assert asha["schedule"] == "asha eta 3 promotion"
    assert (asha["min"], asha["max"], asha["eta"]) == (1, 9, 3)
    assert asha["resource"] == 9 + 3 * 2 + 6
    assert asha["resource_saved"] == pytest.approx(1 - 21 / 81)
    assert asha["winner"] == {"fate": "completed", "resource": 9, "rung": 2,
                              "reason": asha["winner"]["reason"]}
    assert asha["best"] == {"id": 1, "value": 11, "resource": 9}
    assert asha["completed"] == 1 and asha["unknown"] == 0
    assert 0 < asha["machine_ms"] < run["machine_ms"]
    assert 0 < asha["elapsed_ms"] < run["elapsed_ms"]


def test_without_checkpoints_a_promoted_trial_begins_again(
        smtune, nine):
    smtune.ok("run", nine(checkpoints=False))
    asha, _ = one(smtune, "--schedule", "asha", "--type", "promotion")
    assert asha["resource"] == 9 + 3 * 3 + 9
    stopping, _ = one(smtune, "--schedule", "asha")
    assert stopping["type"] == "stopping"


def test_it_says_where_the_winner_was_lost(smtune, nine):
    """The trial with the worst beginning has the best end."""
    smtune.ok("run", nine(
        'echo "score=$((e < 9 ? x * 100 / e : 100 - 10 * x)) epoch=$e"'))
    asha, run = one(smtune, "--schedule", "asha", "--eta", 3)
    assert run["winner"] == 9 and run["value"] == 10
    assert asha["winner"]["fate"] == "stopped"
    assert asha["winner"]["resource"] == 1 and asha["winner"]["rung"] == 0
    assert asha["best"]["id"] == 1 and asha["best"]["value"] == 90
    text = smtune.ok("whatif", "exp", "--schedule", "asha", "--eta", 3)
    assert "asha eta 3 promotion: trial 9 was stopped at 1 of 9 steps, rung 0: " \
        "900 is not among the best 3 of 9 at 1" in text
    stopped, _ = one(smtune, "--schedule", "asha", "--type", "stopping")
    assert stopped["winner"]["fate"] == "stopped"
    assert stopped["winner"]["reason"]


def test_maximize_and_the_best_of_a_curve(smtune, nine):
    """Every trial falls off in its last epoch."""
    smtune.ok("run", nine(
        'echo "score=$((e < 9 ? (10 - x) * e : 0)) epoch=$e"',
        goal="maximize", value="best"))
    asha, run = one(smtune, "--schedule", "asha", "--eta", 3)
    assert run["winner"] == 1 and run["value"] == 72
    assert asha["winner"]["fate"] == "completed"
    assert asha["best"] == {"id": 1, "value": 72, "resource": 9}


def test_it_compares_several(smtune, nine):
    smtune.ok("run", nine())
    told = smtune.json("whatif", "exp")["schedules"]
    assert [s["schedule"] for s in told] == [
        "asha eta 2 promotion", "asha eta 3 promotion", "asha eta 4 promotion",
        "hyperband eta 3", "median sagemaker", "median vizier"]
    assert all(s["winner"]["fate"] == "completed" for s in told)
    assert all(s["resource"] <= 81 for s in told)
    told = smtune.json("whatif", "exp", "--eta", 5, "--rule", "vizier")
    assert [s["schedule"] for s in told["schedules"]] == [
        "asha eta 5 promotion", "hyperband eta 5", "median vizier"]
    told = smtune.json("whatif", "exp", "-s", "median,asha", "-s", "hyperband")
    assert [s["method"] for s in told["schedules"]] == [
        "median", "asha", "hyperband"]
    text = smtune.ok("whatif", "exp")
    for s in told["schedules"]:
        assert s["schedule"] in text
    rows = list(csv.DictReader(io.StringIO(
        smtune.ok("whatif", "exp", "-o", "csv"))))
    assert len(rows) == 6 and rows[0]["fate"] == "completed"
    lines = smtune.ok("whatif", "exp", "-o", "jsonl").splitlines()
    assert json.loads(lines[1])["eta"] == 3


def test_what_nobody_knows_is_counted(smtune, nine):
    """The engine is killed while the second trial runs, and it goes too."""
    path = nine('[ $x = 2 -a $e = 5 ] && sleep 600; ' + STEADY)
    process = smtune.start("run", path)

    def is_there():
        result = smtune("show", "exp", "2", "-o", "json")
        return result.returncode == 0 and any(
            m["step"] == 4 for m in json.loads(result.stdout)["metrics"])

    wait_until(is_there)
    running, run = one(smtune, "--schedule", "asha", "--type", "stopping")
    assert run["trials"] == 2 and run["resource"] == 9 + 4
    assert running["best"]["id"] == 1
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    smtune.ok("stop", "exp")
    crashed, _ = one(smtune, "-s", "patient", "--patience", 8)
    assert crashed["unknown"] == 1 and crashed["resource"] == 13
    assert "unknown: trials that were stopped earlier" in smtune.ok(
        "whatif", "exp", "-s", "patient", "--patience", 8)


def test_failed_trials_fail_again(smtune, nine):
    smtune.ok("run", nine(
        '[ $x = 3 -a $e = 2 ] && exit 1; ' + STEADY))
    told, run = one(smtune, "-s", "patient", "--patience", 8)
    assert run["resource"] == 8 * 9 + 1
    assert told["completed"] == 8 and told["unknown"] == 0


@pytest.mark.parametrize("words,status,error", [
    (["-s", "asha", "--max", "10"], 2,
     "max is 10, but no trial used more than 9"),
    (["-s", "asha", "--min", "9"], 2, "max must be more than min 9, not 9"),
    (["-s", "pbt"], 2, "'pbt' creates new trials"),
    (["-s", "assha"], 2, "did you mean 'asha'?"),
    (["--eta", "1"], 2, "at least 2, got '1'"),
    (["-s", "threshold", "--upper", "lots"], 2,
     "'--upper': type mismatch: expected a number, got 'lots'"),
    (["--rule", "mean"], 2, "one of sagemaker, vizier"),
])
def test_wrong_options(smtune, nine, words, status, error):
    smtune.ok("run", nine())
    result = smtune("whatif", "exp", *words)
    assert result.returncode == status
    assert error in result.stderr


def test_without_curves_there_is_nothing_to_say(smtune, nine):
    smtune.ok("run", nine("echo score=$x step=1; break"))
    result = smtune("whatif", "exp")
    assert result.returncode == 1
    assert "no trial reported 'score' at more than one step" in result.stderr
