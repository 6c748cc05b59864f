# SPDX-License-Identifier: GPL-3.0-or-later
"""The importance of parameters in `smtune show`."""

import pytest


@pytest.fixture
def run(smtune, experiment):
    def run_objectives(objective, trials):
        smtune.ok("run", experiment(
            command="echo a=${{ x }} b=${{ y }} c=1", objective=objective,
            trials=trials, seed=1, parameters="""
                x: {type: float, min: 0, max: 1}
                y: {type: float, min: 0, max: 1}
                word: {type: categorical, values: [a, b, c]}
                fixed: 7
                """))
    return run_objectives


def shares(smtune, metric):
    return {row["param"]: row["importance"]
            for row in smtune.json("show", "exp")["importance"]
            if row["metric"] == metric}


@pytest.mark.sanitized
def test_the_parameter_that_matters_comes_first(smtune, run):
    run("a", 40)
    found = shares(smtune, "a")
    assert list(found)[0] == "x" and found["x"] > 0.8
    assert sum(found.values()) == pytest.approx(1)
    assert set(found) == {"x", "y", "word"}
    shown = smtune.ok("show", "exp")
    bars = shown[shown.index("importance for a:"):].splitlines()
    assert bars[1].split()[0] == "x" and bars[1].endswith("%")
    assert "#####" in bars[1]


def test_each_objective_has_its_own(smtune, run):
    run("[a, {metric: b, goal: maximize}]", 40)
    assert shares(smtune, "a")["x"] > 0.8
    assert shares(smtune, "b")["y"] > 0.8
    shown = smtune.ok("show", "exp")
    assert "importance for a:" in shown and "importance for b:" in shown


def test_few_results_say_nothing(smtune, run):
    run("a", 9)
    assert smtune.json("show", "exp")["importance"] == []
    assert "importance: needs at least 10 results (9 so far)" in \
        smtune.ok("show", "exp")


def test_equal_results_say_nothing(smtune, run):
    run("c", 20)
    assert smtune.json("show", "exp")["importance"] == []
    assert "importance for c: no parameter has a clear effect in 20 results" in \
        smtune.ok("show", "exp")
