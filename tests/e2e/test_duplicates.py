# SPDX-License-Identifier: GPL-3.0-or-later
"""`search.duplicates` and `repeats`: settings that come again."""

import re
import sqlite3
import statistics

import pytest

FILE = {"duplicates": "reuse", "trials": 40, "parameters": """
    x: {type: int, min: 1, max: 5}
    k: {type: categorical, values: [a, b]}
    """}


@pytest.fixture
def file(experiment):
    """Trials of ten settings, which say in `jobs` that they ran."""
    def make(result="echo loss=${{ x }}", **keys):
        return experiment(f"echo $SMTUNE_JOB >>jobs; {result}", **FILE | keys)
    return make


@pytest.fixture
def run(smtune, file):
    def start(*words, **keys):
        smtune.ok("run", file(*words, **keys))
        return smtune.json("trials", "exp")
    return start


@pytest.mark.sanitized
def test_reuse_takes_over_results(smtune, run):
    """Trials that are too long for the next to be prepared ahead: of 40 no
    setting is tried again before it has ended."""
    rows = run("sleep 0.2; echo loss=${{ x }}", parallel=1)
    ran = {int(line) for line in
           (smtune.directory / "jobs").read_text().split()}
    first = {}
    reused = 0
    for row in rows:
        assert row["state"] == "succeeded"
        assert row["value"] == row["params"]["x"]
        key = tuple(row["params"].values())
        source = smtune.json("why", "exp", row["id"])["same_as"] \
            if row["id"] not in ran else None
        if source is not None:
            reused += 1
            assert row["attempts"] == 0 and row["started"] is None
            assert source in first[key]
        else:
            assert row["id"] in ran and row["attempts"] == 1
        first.setdefault(key, []).append(row["id"])
    assert reused >= 30
    smtune.ok("replay", "exp")
    database = sqlite3.connect(f"file:{smtune.store}/smtune.db?mode=ro",
                               uri=True)
    assert database.execute("SELECT count(*) FROM event WHERE event = 'reused'"
                            ).fetchone() == (reused,)
    database.close()


def test_reuse_ends_when_nothing_is_new(smtune, run):
    rows = run(trials=100000)
    assert len(rows) < 1000
    assert smtune.json("status", "exp")["state"] == "succeeded"


def test_result_that_is_taken_over_ends_a_run(smtune, run):
    """Trials that are too long for the next to be prepared ahead."""
    rows = run("sleep 0.2; echo loss=1", trials=100, parallel=1,
               no_improvement=5, enqueue="[{k: a}, {k: b}]",
               parameters="{k: {type: categorical, values: [a, b]}}")
    assert [row["attempts"] for row in rows] == [1, 1, 0, 0, 0, 0]
    smtune.ok("replay", "exp")


def test_reuse_says_so_over_stdio(smtune, file):
    path = file(trials=9)
    asked = "".join('{"op":"ask"}\n{"op":"tell","id":%d,"value":1}\n' % i
                    for i in range(1, 41))
    assert '"same_as":' in smtune.ok("suggest", "--stdio", path, input=asked)


@pytest.mark.parametrize("goal", ["minimize", "maximize"])
def test_replicates_are_judged_by_their_mean(smtune, run, goal):
    rows = run("echo loss=${{ x + (trial * 7 % 5) * 0.75 }} "
               "repeat=${{ repeat }}", duplicates=None,
               repeats=3, trials=21, method="sobol",
               objective=f"{{metric: loss, goal: {goal}}}")
    settings = [rows[i:i + 3] for i in range(0, 21, 3)]
    for setting in settings:
        assert all(t["params"] == setting[0]["params"] for t in setting)
        assert [t["metrics"]["repeat"] for t in setting] == [1, 2, 3]
    better = min if goal == "minimize" else max
    best = better(settings,
                  key=lambda s: statistics.mean(t["value"] for t in s))
    values = [t["value"] for t in best]
    shown = smtune.json("best", "exp")
    assert shown["params"] == best[0]["params"]
    assert shown["value"] == pytest.approx(statistics.mean(values))
    assert shown["deviation"] == pytest.approx(statistics.stdev(values))
    assert shown["replicates"] == 3
    assert smtune.json("ls")[0]["best"] == pytest.approx(shown["value"])
    ranked = smtune.json("best", "exp", "-n", 100)
    assert len(ranked) == 7
    means = [row["value"] for row in ranked]
    assert means == sorted(means, reverse=goal == "maximize")
    smtune.ok("replay", "exp")


def test_means_agree_in_all_views(smtune, experiment):
    """The best single trial is not of the best setting."""
    result = smtune("run", experiment(
        """\
        case $SMTUNE_JOB in 1) v=9;; [23]) v=1;; [456]) v=6;; *) v=5;; esac
        echo acc=$v seconds=$SMTUNE_JOB size=$((SMTUNE_JOB * 10)); : ${{ x }}
        """, trials=9, parallel=1, repeats=3, search="grid",
        objective="{metric: acc, goal: maximize}",
        outcomes="[{metric: size, max: 1000}]",
        parameters="{x: {type: ordinal, values: [1, 2, 3]}}"))
    assert re.findall(r"\(((?:new )?best.*); \d/9\)", result.stderr)[:6] == [
        "new best mean 9 of 1, trial 1", "best mean 5 of 2, trial 1",
        *["best mean 3.66667 of 3, trial 1"] * 3,
        "new best mean 6 of 3, trial 4"]
    best = result.stdout.split("best settings:\n")[1].splitlines()
    assert best[0].split()[:3] == ["id", "acc", "deviation"]
    assert best[1].split()[:3] == ["4", "6", "0"]
    assert "mean acc: best so far" in result.stdout
    shown = smtune.json("best", "exp")
    assert shown == {"id": 4, "value": 6, "deviation": 0, "replicates": 3,
                     "outcomes": {"size": 50}, "params": {"x": 2},
                     "metrics": {"seconds": 5}}
    del shown["metrics"]
    for command in "status", "show":
        assert smtune.json(command, "exp")["best"] == shown
    assert smtune.json("ls")[0]["best"] == 6


def test_the_mean_counts_again_after_a_stop(smtune, experiment):
    smtune.ok("run", experiment("echo loss=${{ x + repeat }}", trials=6,
                                parallel=1, repeats=3, search="grid",
                                parameters="{x: {type: ordinal,"
                                " values: [1, 2, 3]}}"))
    result = smtune("resume", "exp", "--trials", "9")
    assert re.findall(r"\((best.*); \d/9\)", result.stderr) == [
        "best mean 3 of 3, trial 1"] * 3


def test_columns_of_settings(smtune, experiment):
    smtune.ok("run", experiment(
        "echo loss=$SMTUNE_JOB seconds=$((SMTUNE_JOB * 2)); : ${{ x }}",
        trials=6, parallel=1, repeats=2, search="grid",
        parameters="{x: {type: categorical, values: [a, b, c]}}"))
    rows = smtune.ok("best", "exp", "-n", 2, "--columns",
                     "id,x,seconds,value,deviation", "-o", "csv")
    assert rows.splitlines() == [
        "id,x,seconds,value,deviation", "1,a,3,1.5,0.7071067811865476",
        "3,b,7,3.5,0.7071067811865476"]
    assert smtune.json("best", "exp", "--columns", "loss,replicates") == {
        "value": 1.5, "replicates": 2}
    result = smtune("best", "exp", "--columns", "second")
    assert result.returncode == 2
    assert "unknown column 'second' (did you mean 'seconds'?)" in result.stderr


def test_a_setting_that_lacks_trials_comes_last(smtune, run):
    rows = run(duplicates=None, repeats=4, trials=10, method="sobol")
    assert rows[8]["params"] == rows[9]["params"]
    ranked = smtune.json("best", "exp", "-n", 5)
    assert [row["replicates"] for row in ranked] == [4, 4, 2]


def test_repeats_and_reuse_exclude_each_other(smtune, file):
    result = smtune("validate", file(repeats=2))
    assert result.returncode == 3
    assert "'search.duplicates: reuse' evaluates no setting twice, and " \
        "'repeats' is 2" in result.stderr
