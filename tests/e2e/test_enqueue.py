# SPDX-License-Identifier: GPL-3.0-or-later
"""`enqueue`: settings that are tried first."""

import pytest

FILE = """\
    version: 1
    name: exp
    objective: loss
    parameters:
      x: {type: float, min: 0, max: 1}
      k: {type: categorical, values: [a, b]}
      y: {type: int, min: 1, max: 9, when: "k = 'b'"}
    constraints: ["x > 0.1"]
    enqueue:
      - {x: 0.25, k: b, y: 4}
      - {k: a, y: 9}
      - {x: 0.5}
    search: {method: %s, seed: 2}
    budget: {trials: 8, parallel: 2}
    trial: {command: "echo loss=${{ x }}"}
    """


@pytest.mark.parametrize("method", ["auto", "random", "sobol"])
def test_enqueued_settings_come_first(smtune, write, method):
    path = write("exp.yaml", FILE % method)
    planned = [t["params"] for t in smtune.json("plan", path)["first"]]
    smtune.ok("run", path)
    rows = smtune.json("trials", "exp")
    tried = [row["params"] for row in rows]
    assert tried[0] == {"x": 0.25, "k": "b", "y": 4}
    assert tried[1]["k"] == "a" and tried[1]["y"] is None
    assert tried[1]["x"] > 0.1
    assert tried[2]["x"] == 0.5
    assert [{k: v for k, v in t.items() if v is not None}
            for t in tried[:3]] == planned[:3]
    why = smtune.json("why", "exp", 1)
    assert why["method"] == "enqueue"
    assert smtune.json("why", "exp", 4)["method"] != "enqueue"
    smtune.ok("replay", "exp")


def test_set_can_enqueue(smtune, write):
    path = write("exp.yaml", FILE % "random")
    smtune.ok("run", path, "--set", "enqueue=[{x: 0.75}]")
    rows = smtune.json("trials", "exp")
    assert rows[0]["params"]["x"] == 0.75
    assert rows[1]["params"]["x"] != 0.5
