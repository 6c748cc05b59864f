# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune plan`: what a run would do, told beforehand."""

import shlex

FILE = """\
    version: 1
    objective: loss
    parameters:
      x: {type: float, min: 0, max: 1}
      k: {type: categorical, values: [a b, "it's"]}
    constraints: ["x < 0.5 or k = 'a b'"]
    search: {method: random, seed: 7}
    budget: {trials: 8, parallel: 2}
    trial: {command: "echo loss=${{ x }} ${{ k }}"}
    """


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
