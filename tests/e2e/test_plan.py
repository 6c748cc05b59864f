# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune plan`: what a run would do, told beforehand."""

import shlex

import pytest

from files import experiment

FILE = experiment(command="echo loss=${{ x }} ${{ k }}", trials=8,
                  constraints=["x < 0.5 or k = 'a b'"], parameters="""
                      x: {type: float, min: 0, max: 1}
                      k: {type: categorical, values: [a b, "it's"]}
                      """)


@pytest.mark.sanitized
def test_the_plan_is_what_the_run_does(smtune, write):
    path = write("exp.yaml", FILE)
    plan = smtune.json("plan", path, "--trials", 20)
    assert not smtune.store.exists()
    smtune.ok("run", path)
    rows = smtune.json("trials", "exp")
    assert [(t["id"], t["params"]) for t in plan["first"]] == \
        [(row["id"], row["params"]) for row in rows]
    for trial in plan["first"]:
        words = shlex.split(trial["command"])
        assert words[0] == "echo" and words[2] == trial["params"]["k"]
    assert 0.6 < plan["volume"]["fraction"] < 0.9


def test_the_plan_for_people(smtune, write):
    text = smtune.ok("plan", write("exp.yaml", FILE), "--set",
                     "trial.resources={cpus: 4, tasks: 2}")
    assert "8 trials, 2 at a time" in text
    assert "4 CPUs, 2 ranks" in text
    assert "feasible" in text
    assert text.count("echo loss=") == 5


SCHEDULED = experiment(command="echo loss=${{ x }} epochs=${{ epochs }}",
                       search="hyperband", schedule="{max: 81}", trials=143,
                       parallel=None)


def test_the_brackets_of_hyperband(smtune, write):
    """Table 1 of the paper, but for n = ceil(...), as its algorithm has it."""
    path = write("exp.yaml", SCHEDULED)
    plan = smtune.json("plan", path)
    assert [[(rung["trials"], rung["resource"]) for rung in bracket["rungs"]]
            for bracket in plan["brackets"]] == [
        [(81, 1), (27, 3), (9, 9), (3, 27), (1, 81)],
        [(34, 3), (11, 9), (3, 27), (1, 81)],
        [(15, 9), (5, 27), (1, 81)],
        [(8, 27), (2, 81)],
        [(5, 81)]]
    schedule = plan["schedule"]
    assert (schedule["method"], schedule["resource"]) == ("hyperband", "epochs")
    assert schedule["trials"] == 143
    rungs = [(bracket["rungs"], i) for bracket in plan["brackets"]
             for i in range(len(bracket["rungs"]))]
    assert schedule["total_restarted"] == sum(
        r[i]["trials"] * r[i]["resource"] for r, i in rungs)
    assert schedule["total_resumed"] == sum(
        r[i]["trials"] * (r[i]["resource"] -
                          (r[i - 1]["resource"] if i else 0))
        for r, i in rungs)
    assert schedule["total"] == schedule["total_restarted"]
    assert plan["first"][0]["command"].endswith(" epochs=1")
    plan = smtune.json("plan", path, "--set", "trial.checkpoints=true")
    assert plan["schedule"]["total"] == schedule["total_resumed"]


def test_a_schedule_for_people(smtune, write):
    path = write("exp.yaml", SCHEDULED)
    text = smtune.ok("plan", path, "--set", "schedule={max: 9}", "--set",
                     "budget={trials: 17, resource: 80, convergence: true}")
    assert "schedule  hyperband, 1 to 9 epochs\n" in text
    rows = [line.split() for line in text.splitlines()]
    for row in (["0", "0", "1", "9"], ["0", "2", "9", "1"],
                ["1", "0", "3", "5"], ["2", "0", "9", "3"]):
        assert row in rows
    assert "for 17 trials, 153 without a schedule" in text
    assert "at most 80 epochs, until no improvement" in text
    assert "in total  at most " in text


def test_what_asha_will_use_is_not_known_before(smtune, write):
    path = write("exp.yaml", SCHEDULED)
    asha = ("--set", "search=random",
            "--set", "schedule={method: asha, max: 9}")
    assert "in total  about " in smtune.ok("plan", path, *asha)
    assert not smtune.json("plan", path, *asha)["schedule"]["is_bound"]
    assert smtune.json("plan", path)["schedule"]["is_bound"]


def test_trials_without_a_limit(smtune, write):
    path = write("exp.yaml", FILE)
    assert smtune.json("plan", path)["schedule"] is None
    assert smtune.json("plan", path)["brackets"] == []
