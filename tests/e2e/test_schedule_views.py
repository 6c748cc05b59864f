# SPDX-License-Identifier: GPL-3.0-or-later
"""What people and programs see of a run's schedule."""

import csv
import io
import json
import re
import signal

import pytest

import files
from programs import wait_until

ASHA = "{method: asha, resource: epochs, min: 1, max: 9, eta: 3}"


@pytest.fixture
def nine(experiment):
    """Nine trials that count to 9 or to their resource, and do something each
    time."""
    def make(each=":", **keys):
        return experiment(f"""\
            x=${{{{ x }}}} c=$SMTUNE_CHECKPOINT_DIR/n n=0
            [ -f $c ] && n=$(cat $c)
            while [ $n -lt ${{SMTUNE_RESOURCE:-9}} ]; do
              n=$((n + 1))
              echo "epoch=$n loss=$((x * 100 / n))"
              {each}
              echo $n >$c
            done
            """, search="grid", trials=9, parallel=1, resources={"cpus": 0},
            parameters={"x": {"type": "ordinal", "values": list(range(1, 10))}},
            **{"schedule": ASHA, "checkpoints": True} | keys)
    return make


@pytest.fixture
def at_rest(smtune, nine, tmp_path):
    """A run of which two trials are paused; the third, and later the first one,
    wait for a file: its process, and that file's path."""
    gate = tmp_path / "gate"
    smtune.env["GATE"] = str(gate)
    wait = "[ $x$n = 31 ] && while [ ! -e $GATE ]; do sleep 0.1; done"
    process = smtune.start("run", nine(each=wait))

    def paused():
        result = smtune("status", "exp", "-o", "json")
        trials = result.returncode == 0 and json.loads(result.stdout)["trials"]
        return trials and (trials.get("paused"), trials["running"]) == (2, 1)

    wait_until(paused)
    return process, gate


def rungs(smtune):
    return [tuple(line.values())
            for line in smtune.json("show", "exp")["rungs"]]


@pytest.mark.sanitized
def test_rungs_and_what_came_of_trials(smtune, nine):
    """All nine to 1; of each three the best goes on."""
    lines = smtune("run", nine(resource=50))
    assert lines.returncode == 0
    assert re.search(r"trial 1 paused at 1 epoch  loss=100  ", lines.stderr)
    assert "9 trials (1 succeeded, 8 stopped)" in lines.stdout
    shown = smtune.json("show", "exp")
    assert list(shown["rungs"][0]) == [
        "bracket", "rung", "resource", "planned", "reached", "promoted",
        "stopped", "paused", "running", "cutoff"]
    assert rungs(smtune) == [
        (0, 0, 1, 9, 9, 3, 6, 0, 0, 300),
        (0, 1, 3, 3, 3, 1, 2, 0, 0, 33),
        (0, 2, 9, 1, 1, 0, 0, 0, 0, None)]
    assert shown["schedule"] == {
        "method": "asha", "type": "promotion", "eta": 3, "resource": "epochs",
        "min": 1, "max": 9, "used": 21, "budget": 50}
    assert smtune.json("status", "exp")["schedule"] == shown["schedule"]
    assert shown["trials"]["stopped"] == 8
    assert shown["trials"]["paused"] == 0
    text = smtune.ok("show", "exp")
    assert re.search(r"bracket  rung  resource  planned  reached  promoted", text)


def test_trials_say_how_far_they_came(smtune, nine):
    smtune.ok("run", nine())
    trials = smtune.json("trials", "exp")
    assert [t["resource"] for t in trials] == [9, 3, 3] + 6 * [1]
    assert [t["rung"] for t in trials] == [2, 1, 1] + 6 * [0]
    assert {t["bracket"] for t in trials} == {0}
    assert {t["parent"] for t in trials} == {None}
    assert trials[1]["value"] == 66
    assert smtune.ok("trials", "exp").split("\n")[0].split()[:8] == [
        "id", "state", "loss", "resource", "used", "bracket", "rung", "parent"]
    rows = list(csv.DictReader(io.StringIO(smtune.ok("export", "exp"))))
    assert rows[1]["resource"] == "3" and rows[1]["rung"] == "1"


@pytest.mark.parametrize("first", [0, 1])
def test_curves_are_over_the_resource(smtune, experiment, first):
    """Whether a program counts from 0 or 1: the first unit is at 1."""
    smtune.ok("run", experiment(**files.counting_from(first)))
    rows = list(csv.DictReader(io.StringIO(
        smtune.ok("export", "exp", "--curves"))))
    best = [row for row in rows if row["id"] == "1"]
    assert [row["step"] for row in best] == [str(first + i) for i in range(3)]
    assert [row["resource"] for row in best] == ["1", "2", "3"]
    shown = smtune.json("show", "exp", 1)
    assert shown["metrics"][0]["step"] == first + 2
    assert shown["metrics"][0]["resource"] == 3 == shown["resource"]
    assert max(rung["resource"] for rung in shown["rungs"]) == 3


def test_why_each_trial_went_as_far(smtune, nine):
    smtune.ok("run", nine())
    decisions = smtune.json("why", "exp", "2")["rungs"]
    assert [(d["resource"], d["rung"], d["decision"], d["up_to"])
            for d in decisions] == [
        (1, 0, "pause", None), (1, 0, "promote", 3),
        (3, 1, "pause", None), (3, 1, "stop", None)]
    assert [d["last"] for d in decisions] == [200, None, 66, None]
    assert decisions[1]["reason"].startswith("200 is among the best 2 of 6")
    assert decisions[3]["reason"].startswith("66 is not among the best 1 of 3")
    last = smtune.json("why", "exp", "1")["rungs"][-1]
    assert (last["resource"], last["decision"]) == (9, "continue")
    assert smtune.json("show", "exp", "2")["rungs"] == decisions
    for number in range(1, 7):  # what was observed is no result yet
        chosen = smtune.json("why", "exp", number)
        assert chosen["known"] + chosen["unfinished"] == number - 1
        assert 0 <= chosen["known"] < number
    assert "200 is among the best 2 of 6" in smtune.ok("why", "exp", "2")
    smtune.ok("fsck")


def test_what_is_stopped_on_its_way(smtune, nine):
    """It stays until it is told to end."""
    path = nine(checkpoints=False, each="[ $x -lt 4 ] || exec sleep 600")
    lines = smtune("run", path)
    assert lines.returncode == 0
    assert re.search(r"trial 4 stopped at 1 epoch  loss=400  .*  "
                     r"400 is not among the best 1 of 4 at 1", lines.stderr)
    shown = smtune.json("show", "exp")
    assert shown["schedule"]["type"] == "stopping"
    assert shown["rungs"][0]["stopped"] == shown["trials"]["stopped"] >= 6
    decisions = smtune.json("why", "exp", "4")["rungs"]
    assert [d["decision"] for d in decisions] == ["stop"]
    assert decisions[0]["reason"].startswith("400 is not among the best 1")
    smtune.ok("fsck")


PROMOTED = """
    SELECT bracket, rung, count(*), count(promoted_to) FROM rung
    GROUP BY bracket, rung ORDER BY bracket, rung"""


@pytest.mark.parametrize("checkpoints", [True, False])
def test_each_form_counts_its_promotions(smtune, nine, checkpoints):
    """The record and the table of the rungs agree, with pauses and without."""
    smtune.ok("run", nine(checkpoints=checkpoints,
                          each=":" if checkpoints
                          else "[ $x -lt 3 ] || exec sleep 600"))
    counted = smtune.query(PROMOTED)
    assert counted == [(0, 0, 9, 3 if checkpoints else 2),
                       (0, 1, 3 if checkpoints else 2,
                        1 if checkpoints else 2),
                       (0, 2, 1 if checkpoints else 2, 0)]
    assert [row[:2] + row[4:6] for row in rungs(smtune)] == counted


def test_a_rare_report_is_promoted_over_rungs(smtune, experiment):
    """The first one is at 4: beyond the rungs at 1 and 3."""
    smtune.ok("run", experiment(
        """\
        for n in 4 9; do echo "epoch=$n loss="${{ x }}; done
        """, search="grid", trials=3, parallel=1, schedule=ASHA,
        parameters={"x": {"type": "ordinal", "values": [1, 2, 3]}}))
    shown = smtune.json("show", "exp")["rungs"]
    assert [(row["reached"], row["promoted"]) for row in shown] == [
        (3, 3), (3, 2), (2, 0)]
    assert [row["cutoff"] for row in shown] == [None, 2, None]
    assert smtune.query(PROMOTED) == [(0, 1, 3, 2), (0, 2, 2, 0)]


def test_what_rests_and_what_is_on_its_way(smtune, at_rest):
    process, gate = at_rest
    assert rungs(smtune)[0] == (0, 0, 1, 9, 2, 0, 0, 2, 1, None)
    told = smtune.json("status", "exp")["trials"]
    assert (told["paused"], told["running"], told["done"]) == (2, 1, 0)
    assert smtune.json("trials", "exp")[0]["state"] == "paused"
    gate.touch()
    assert process.wait(60) == 0
    assert "trial 1 promoted to 3 epochs" in process.stderr.read()


def test_a_run_without_a_schedule_shows_none(smtune, nine):
    smtune.ok("run", nine(schedule=None, checkpoints=False))
    shown = smtune.json("show", "exp")
    assert "schedule" not in shown and "rungs" not in shown
    assert "paused" not in shown["trials"]
    assert "resource" not in smtune.json("trials", "exp")[0]
    assert "rungs" not in smtune.json("why", "exp", "1")


def test_median_has_no_rungs(smtune, nine):
    smtune.ok("run", nine(schedule=None, early_stopping="auto",
                          checkpoints=False))
    shown = smtune.json("show", "exp")
    assert shown["schedule"]["method"] == "median"
    assert shown["schedule"]["rule"] == "sagemaker"
    assert "rungs" not in shown
    assert smtune.json("trials", "exp")[0]["resource"] == 9


def test_attached_terminals_see_the_same(smtune, at_rest):
    """On a terminal: it draws what rests, and what was used."""
    process, gate = at_rest

    def during(_, shown):
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
        if "2 paused; 2 epochs" in plain:
            gate.touch()

    status, _ = smtune.on_terminal("attach", "exp", during=during)
    assert status == 0 and process.wait(60) == 0
    assert gate.exists()  # it was drawn


def test_a_clone_names_its_parent(smtune, experiment):
    path = experiment("""\
        c=$SMTUNE_CHECKPOINT_DIR/n n=0 x=${{ x }}
        [ -f $c ] && n=$(cat $c)
        while [ $n -lt $SMTUNE_RESOURCE ]; do
          n=$((n + 1))
          echo "epoch=$n loss=$(awk "BEGIN { print $x + 1 / $n }")"
          echo $n >$c
        done
        """, trials=12, checkpoints=True, resources={"cpus": 0}, seed=1,
        schedule="{method: pbt, min: 2, max: 8, population: 4}")
    smtune.ok("run", path)
    trials = smtune.json("trials", "exp")
    clones = [t for t in trials if t["parent"] is not None]
    assert clones and all(t["parent"] < t["id"] for t in clones)
    clone = clones[0]
    assert smtune.json("why", "exp", clone["id"])["parent"] == clone["parent"]
    told = smtune.json("whatif", "exp", "-s", "asha", "--eta", 2)
    assert told["trials"] == len(trials) - len(clones)


def test_what_earlier_engines_used_counts(smtune, nine):
    process = smtune.start("run", nine(resource=12, each="sleep 0.05"))

    def used():
        result = smtune("status", "exp", "-o", "json")
        return (json.loads(result.stdout)["schedule"]["used"]
                if result.returncode == 0 and "schedule" in result.stdout
                else 0)

    wait_until(lambda: used() >= 5)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    assert smtune("resume", "exp").returncode == 6  # none came to its end
    assert 9 < used() <= 12
    smtune.ok("replay", "exp")


@pytest.mark.parametrize("method", ["asha", "hyperband"])
def test_whatif_with_the_runs_own_schedule_changes_nothing(
        smtune, nine, method):
    smtune.ok("run", nine(schedule=ASHA.replace("asha", method)))
    told = smtune.json("whatif", "exp", "-s", method)
    again = told["schedules"][0]
    assert told["unit"] == "epochs"
    assert again["resource"] == told["resource"]
    assert again["machine_ms"] == pytest.approx(told["machine_ms"], abs=9)
    assert again["unknown"] == 0 and again["best"]["id"] == told["winner"]
    assert again["winner"]["fate"] == "completed"


def test_whatif_of_attempts_that_took_no_time(smtune, nine):
    """They end within the millisecond in which they began."""
    smtune.ok("run", nine())
    smtune.query("UPDATE attempt SET ended_ms = started_ms")
    told = smtune.json("whatif", "exp", "-s", "asha")
    assert told["schedules"][0]["best"]["id"] == told["winner"]


def test_whatif_counts_the_first_unit_as_1(smtune, experiment):
    """Whether a program counts from 0 or 1."""
    told = []
    for first in (0, 1):
        smtune.ok("run", experiment(**files.counting_from(first)))
        told.append(smtune.json("whatif", "exp", "-s", "asha")["schedules"][0])
        smtune.ok("rm", "exp")
    assert told[0]["resource"] == told[1]["resource"]
    assert told[0]["unknown"] == told[1]["unknown"] == 0
    assert [c["winner"]["fate"] for c in told] == ["completed"] * 2
