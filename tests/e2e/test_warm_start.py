# SPDX-License-Identifier: GPL-3.0-or-later
"""`warm_start`: a search that begins with earlier runs' results."""

import json
import sqlite3
import statistics

import pytest

from test_replay import METHODS

FILE = """\
    version: 1
    name: %(name)s
    objective: {metric: loss, goal: %(goal)s}
    parameters:
    %(params)s
    search: {method: %(method)s, seed: %(seed)d}
    budget: {trials: %(trials)d, parallel: 2}
    trial: {shell: "%(shell)s"}
    %(more)s
    """
FINITE = "  x: {type: int, min: 1, max: 6}\n      k: [a, b]".replace(
    "[a, b]", "{type: categorical, values: [a, b]}")


@pytest.fixture
def experiment(write):
    def make(name, more="", params=FINITE, method="random", trials=7, seed=1,
             goal="minimize", shell="echo loss=${{ x }}"):
        return write(f"{name}.yaml", FILE % locals())
    return make


def settings(smtune, run):
    return [tuple(t["params"].values()) for t in smtune.json("trials", run)]


def earlier(smtune):
    connection = sqlite3.connect(f"file:{smtune.store}/smtune.db?mode=ro",
                                 uri=True)
    connection.row_factory = sqlite3.Row
    rows = connection.execute("SELECT * FROM earlier_result"
                              " ORDER BY run_id, idx").fetchall()
    connection.close()
    return rows


@pytest.mark.sanitized
@pytest.mark.parametrize("method", [m for m in METHODS if m != "grid"])
def test_same_counts_as_seen(smtune, experiment, method):
    smtune.ok("run", experiment("old"))
    path = experiment("new", "warm_start: old", method=method, trials=5,
                      seed=9)
    plan = smtune.json("plan", path)
    assert plan["warm_start"] == [
        {"run": "old", "mode": "same", "taken": 7, "left_out": 0}]
    result = smtune("run", path)
    assert "7 trials of run 'old' counted as evaluated" in result.stderr
    both = settings(smtune, "old") + settings(smtune, "new")
    assert len(set(both)) == len(both) == 12  # the whole space, each once
    assert smtune.json("show", "new")["warm_start"] == [
        {"run": "old", "trials": 7}]
    assert [t["params"] for t in plan["first"]][0] == \
        smtune.json("trials", "new")[0]["params"]
    smtune.ok("rm", "old")  # what was read stays with the run
    assert smtune.json("replay", "new")["proved"] == 5
    assert len(earlier(smtune)) == 7
    smtune.ok("rm", "new")
    assert earlier(smtune) == []


def test_settings_out_of_range_are_left_out(smtune, experiment):
    smtune.ok("run", experiment("old", trials=12))
    path = experiment("new", "warm_start: {from: [old]}\n"
                      "    constraints: [\"x != 3\"]",
                      params=FINITE.replace("max: 6", "max: 4"), trials=3)
    plan = smtune.json("plan", path)["warm_start"]
    assert plan == [{"run": "old", "mode": "same", "taken": 6, "left_out": 6}]
    assert "6 outside this search space ignored" in smtune.ok("plan", path)
    smtune.ok("run", path)
    assert {json.loads(row["params"])["x"] for row in earlier(smtune)} == \
        {1, 2, 4}


def test_results_are_told_as_they_were(smtune, experiment):
    smtune.ok("run", experiment(
        "old", shell="[ $SMTUNE_JOB = 2 ] && exit 1; echo loss=${{ x }}"))
    smtune.ok("run", experiment("up", "warm_start: {from: old, mode: same}",
                                goal="maximize", trials=1))
    rows = earlier(smtune)
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert rows[1]["state"] == "failed"
    assert json.loads(rows[1]["values"]) == [None]
    for row in rows[2:]:  # the lower the better
        assert json.loads(row["values"]) == [-json.loads(row["params"])["x"]]


def test_transfer_standardises_and_fits_settings_in(smtune, experiment):
    smtune.ok("run", experiment("old", trials=12))
    path = experiment(
        "new", "warm_start: {from: [old], mode: transfer}",
        params="  x: {type: float, min: 2.5, max: 5}\n"
               "      k: {type: categorical, values: [b, c]}\n"
               "      z: {type: float, min: 0, max: 1}\n"
               "      y: {type: bool, when: \"x > 4.5\"}",
        method="bayesian", trials=4)
    assert smtune.json("plan", path)["warm_start"] == [
        {"run": "old", "mode": "transfer", "taken": 12, "left_out": 0}]
    smtune.ok("run", path)
    old = smtune.json("trials", "old")
    rows = earlier(smtune)
    values = [json.loads(row["values"])[0] for row in rows]
    assert statistics.mean(values) == pytest.approx(0, abs=1e-12)
    assert statistics.pstdev(values) == pytest.approx(1)
    for row, trial in zip(rows, old):
        params = json.loads(row["params"])
        x = trial["params"]["x"]
        assert params["x"] == min(max(x, 2.5), 5)
        assert params["k"] == "b" or trial["params"]["k"] == "a"
        assert 0 <= params["z"] <= 1
        assert ("y" in params) == (params["x"] > 4.5)
    assert len({json.loads(row["params"])["z"] for row in rows}) == 12
    smtune.ok("rm", "old")
    assert smtune.json("replay", "new")["proved"] == 4


@pytest.mark.parametrize("method", [m for m in METHODS if m != "grid"])
def test_the_best_of_each_earlier_run_is_tried_first(smtune, experiment,
                                                     method):
    for name, seed in ("old", 1), ("older", 5):
        smtune.ok("run", experiment(name, seed=seed, trials=5,
                                    shell=f"echo loss=${{{{ x * {seed} }}}}"))
    best = [smtune.json("best", run)["params"] for run in ("older", "old")]
    path = experiment("new", "warm_start: {from: [older, old],"
                      " mode: transfer}\n    enqueue: [{x: 6, k: b}]",
                      method=method, seed=3)
    smtune.ok("run", path)
    tried = [t["params"] for t in smtune.json("trials", "new")]
    expected = [{"x": 6, "k": "b"}] + best[:1 + (best[0] != best[1])]
    assert tried[:len(expected)] == expected
    assert smtune.json("why", "new", 2)["step"] == "enqueued in the file"
    assert smtune.json("replay", "new")["proved"] == 7
    # once, where the file has it, too
    path = experiment("newest", "warm_start: {from: [older, old],"
                      f" mode: transfer}}\n    enqueue: [{json.dumps(best[0])}]",
                      method=method, seed=3)
    smtune.ok("run", path)
    tried = [t["params"] for t in smtune.json("trials", "newest")]
    assert tried[0] == best[0] and best[0] not in tried[1:]


def test_several_runs(smtune, experiment):
    smtune.ok("run", experiment("old"))
    smtune.ok("run", experiment("older", trials=3, seed=5,
                                shell="echo loss=4"))
    path = experiment("new", "warm_start: {from: [old, last], mode: transfer}",
                      trials=2)
    assert [s["run"] for s in smtune.json("plan", path)["warm_start"]] == \
        ["old", "older"]
    smtune.ok("run", path)
    assert [json.loads(row["values"])[0] for row in earlier(smtune)][7:] == \
        [0, 0, 0]


@pytest.mark.parametrize("more, params, status, words", [
    ("warm_start: odl", FINITE, 4, "did you mean 'old'"),
    ("warm_start: old", FINITE + "\n      z: 3", 3, "no parameter 'z'"),
    ("warm_start: old", FINITE.split("\n")[0], 3, "parameter 'k' that this file lacks"),
    ("warm_start: {from: [old, old]}", FINITE, 3, "duplicate run"),
    ("warm_start: {from: [], mod: same}", FINITE, 3, "'mode'"),
    ("warm_start: {from: old, mode: some}", FINITE, 3, "did you mean 'same'"),
])
def test_what_does_not_fit_is_refused(smtune, experiment, more, params, status,
                                      words):
    smtune.ok("run", experiment("old", trials=2))
    path = experiment("new", more, params)
    for command in "plan", "run":
        result = smtune(command, path)
        assert result.returncode == status, result.stderr
        assert words in result.stderr
    assert [run["name"] for run in smtune.json("ls")] == ["old"]


def test_a_metric_that_was_never_said(smtune, experiment):
    smtune.ok("run", experiment("old", trials=2, shell="echo loss=1 other=2"))
    path = experiment("new", "warm_start: old", trials=1)
    path.write_text(path.read_text().replace("metric: loss", "metric: los"))
    result = smtune("run", path)
    assert result.returncode == 3
    assert "no trial of run 'old' has a value of 'los'" in result.stderr
    path.write_text(path.read_text().replace("metric: los,", "metric: other,")
                    .replace("echo loss", "echo other"))
    smtune.ok("run", path)  # a metric that was no objective then
    assert [json.loads(row["values"]) for row in earlier(smtune)] == [[2], [2]]


def test_other_programs_begin_with_them_too(smtune, experiment):
    smtune.ok("run", experiment("old"))
    path = experiment("new", "warm_start: old", seed=4)
    answer = json.loads(smtune.ok("suggest", "--stdio", path,
                                  input='{"op":"ask","n":5}\n'))
    new = [tuple(t["params"].values()) for t in answer["trials"]]
    assert len(set(new + settings(smtune, "old"))) == 12
