# SPDX-License-Identifier: GPL-3.0-or-later
"""Constraints on outcomes and several objectives, from the file to best."""

import os
import signal

import pytest

from programs import wait_until


@pytest.fixture
def fake(smtune, experiment, write):
    """fake([log, ...]): runs trials that say these lines, one by one."""
    def run(logs, *words, **keys):
        lines = "".join('{"log": "%s\\n"}\n' % log for log in logs)
        write("script.jsonl", lines)
        path = experiment(**{
            "command": "train", "trials": len(logs), "parallel": 1,
            "outcomes": "[{metric: lat, max: 20}]",
            "executor": "{name: fake, script: script.jsonl}"} | keys)
        return smtune("run", path, *words)
    return run


@pytest.mark.sanitized
def test_what_is_infeasible_is_never_the_best(smtune, fake):
    result = fake(["loss=1 lat=21", "loss=4 lat=20", "loss=3 lat=5",
                   "loss=2 lat=50", "loss=5 lat=nan"])
    assert result.returncode == 0, result.stderr
    assert "trial 1 succeeded (infeasible)  loss=1 lat=21" in result.stderr
    assert "loss=3 lat=5" in result.stderr
    assert "5 trials (5 succeeded, 3 of them infeasible)" in result.stdout
    best = smtune.json("best", "exp")
    assert (best["id"], best["value"], best["outcomes"]) == \
        (3, 3.0, {"lat": 5.0})
    assert [row["id"] for row in smtune.json("best", "exp", "-n", 9)] == [3, 2]
    rows = smtune.json("trials", "exp", "--sort", "best")
    assert [row["id"] for row in rows] == [3, 2, 1, 4, 5]
    assert [row["feasible"] for row in rows] == \
        [True, True, False, False, False]
    assert [row["outcomes"]["lat"] for row in rows] == [
        5, 20, 21, 50, "nan"]
    assert smtune.json("ls")[0]["best"] == 3.0
    status = smtune.json("status", "exp")
    assert status["best"]["id"] == 3 and status["trials"]["infeasible"] == 3
    assert smtune.json("show", "exp")["outcomes"] == [
        {"metric": "lat", "min": None, "max": 20.0}]
    assert smtune.json("show", "exp", 1)["feasible"] is False
    header = smtune.ok("export", "exp").splitlines()[0]
    assert header.startswith("id,state,value,feasible,lat,x,")


def test_a_program_is_told_of_feasible_trials_alone(fake, smtune):
    result = fake(["loss=1 lat=21", "loss=4 lat=1"], "-o", "json")
    assert '"infeasible":1' in result.stdout
    assert '"best":{"id":2,"value":4.0,"outcomes":{"lat":1.0},' in result.stdout


def test_nothing_feasible(smtune, fake):
    result = fake(["loss=1 lat=25", "loss=2 lat=21", "loss=3 lat=30"])
    assert result.returncode == 6
    assert "no trial satisfies the constraints on metrics" in result.stderr
    assert "no trial satisfies the constraints on metrics; the closest:" in \
        result.stdout
    best = smtune("best", "exp")
    assert best.returncode == 4 and best.stdout == ""
    assert "satisfies its constraints on metrics yet (trial 2 is closest" \
        in best.stderr
    assert smtune("best", "exp", "--checkpoints").returncode == 4
    assert "best" not in smtune.json("show", "exp")
    assert fake(["loss=1 lat=25"], "-o", "json").stdout.rstrip().endswith(
        '"best":null}')


def test_each_bound_counts(smtune, fake):
    fake(["loss=1 size=1 recall=0.4 over=0", "loss=2 size=4 recall=0.6 over=0",
          "loss=3 size=2 recall=0.6 over=0.1",
          "loss=4 size=3 recall=0.5 over=-1"],
         outcomes="[{metric: size, min: 2, max: 3},"
                  " {metric: recall, min: 0.5}, over]")
    assert smtune.json("best", "exp")["id"] == 4
    assert [row["id"] for row in smtune.json("trials", "exp", "--sort", "best")
            ] == [4, 3, 2, 1]  # by 0.1, by 1, by 1.1


def test_the_plan_says_the_bounds(smtune, experiment):
    path = experiment(outcomes="[{metric: size, min: 2, max: 3}, over]")
    shown = smtune.ok("plan", path)
    assert "bound     size at least 2 and at most 3\n" in shown
    assert "bound     over at most 0\n" in shown


def test_who_never_says_the_metric_has_failed(smtune, fake):
    result = fake(["loss=1", "loss=2 lat=1"])
    assert result.returncode == 0, result.stderr
    assert [(row["state"], row["cause"]) for row in smtune.json("trials", "exp")
            ] == [("failed", "no_metric"), ("succeeded", "ok")]


def test_the_last_value_counts(smtune, fake):
    fake(["loss=1 lat=1\\nlat=99", "loss=2 lat=99\\nlat=1"])
    assert smtune.json("best", "exp")["id"] == 2


def test_a_target_is_reached_by_feasible_trials_alone(smtune, fake):
    result = fake(["loss=1 lat=21", "loss=9 lat=1"], target=2)
    assert result.returncode == 6
    assert "trial budget used up (2 of 2)" in result.stdout
    result = fake(["loss=1 lat=21", "loss=2 lat=20"], target=2)
    assert result.returncode == 0
    assert "the target was reached" in result.stdout


def test_outcomes_are_known_after_a_stop(smtune, experiment):
    """The bound is broken before the stop, and the target with it: a record
    that forgot it would end the run at once."""
    path = experiment("""\
        case $SMTUNE_JOB in
        1) echo loss=1 lat=99 ;;
        2) touch second; while [ ! -e go ]; do sleep 0.1; done
           echo loss=9 lat=1 ;;
        3) echo loss=4 lat=2 ;;
        esac
        """, outcomes="[{metric: lat, max: 20}]", trials=3, parallel=1,
        target=5)
    engine = smtune.start("run", path)
    wait_until((smtune.directory / "second").exists)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    (smtune.directory / "go").touch()
    result = smtune("resume", "exp", "-o", "json")
    assert result.returncode == 0, result.stderr
    assert '"succeeded":3,"infeasible":1' in result.stdout
    assert '"best":{"id":3' in result.stdout
    assert "target was reached" in result.stdout


# ---- several objectives ----

GOALS = "[loss, {metric: gain, goal: maximize}]"


def test_the_front_of_two_objectives(smtune, fake):
    result = fake(["loss=1 gain=1 lat=1", "loss=2 gain=3 lat=1",
                   "loss=3 gain=2 lat=1", "loss=0 gain=9 lat=99",
                   "loss=4 gain=4 lat=1", "loss=2 gain=3 lat=1"],
                  objective=GOALS)
    assert result.returncode == 0, result.stderr
    assert "(new of 4 on the front; 6/6)" in result.stderr
    assert "4 trials on the Pareto front, hypervolume" in result.stdout
    assert "gain against loss: the Pareto front" in result.stdout
    rows = smtune.json("best", "exp")
    assert [(row["id"], row["values"]) for row in rows] == \
        [(1, [1, 1]), (2, [2, 3]), (6, [2, 3]), (5, [4, 4])]
    assert rows[0]["outcomes"] == {"lat": 1.0}


def test_the_chart_counts_what_has_no_place(smtune, fake):
    """Infinite and nan: the record has them, and no chart draws them."""
    result = fake(["loss=1 gain=1 lat=1", "loss=inf gain=3 lat=1",
                   "loss=3 gain=nan lat=1", "loss=-inf gain=inf lat=99"],
                  objective=GOALS)
    for shown in (result.stdout, smtune.ok("best", "exp")):
        title, = (line for line in shown.splitlines()
                  if line.startswith("gain against loss: the Pareto front"))
        assert title.endswith(", 2 not finite")


def test_a_program_gets_the_front(smtune, fake):
    result = fake(["loss=2 gain=1", "loss=1 gain=1", "loss=3 gain=2"],
                  "-o", "json", objective=GOALS, outcomes="[]")
    assert '"front":[{"id":2,"values":[1.0,1.0],"params":{"x":' in result.stdout
    assert '{"id":3,"values":[3.0,2.0]' in result.stdout
    assert '"id":1' not in result.stdout


def test_a_bound_on_one_of_several_objectives(smtune, fake):
    fake(["loss=1 gain=1", "loss=2 gain=2", "loss=3 gain=3"], objective=GOALS,
         outcomes="[{metric: gain, min: 2}]")
    assert [row["id"] for row in smtune.json("best", "exp")] == [2, 3]


def test_the_panel_counts_the_front(smtune, fake):
    fake(["loss=1 gain=1", "loss=2 gain=2"], objective=GOALS, outcomes="[]")
    status, shown = smtune.on_terminal("run", "exp.yaml", "--name", "again")
    assert status == 0
    assert "on the Pareto front; best loss" in shown


def test_the_front_goes_on_after_a_stop(smtune, experiment):
    path = experiment("""\
        case $SMTUNE_JOB in
        1) echo loss=1 gain=1 ;;
        2) touch second; while [ ! -e go ]; do sleep 0.1; done
           echo loss=2 gain=2 ;;
        esac
        """, objective=GOALS, outcomes="[]", trials=2, parallel=1)
    engine = smtune.start("run", path)
    wait_until((smtune.directory / "second").exists)
    engine.kill()
    engine.wait()
    (smtune.directory / "go").touch()
    result = smtune("resume", "exp")
    assert result.returncode == 0, result.stderr
    assert "(new of 2 on the front; 2/2)" in result.stderr
    assert [row["id"] for row in smtune.json("best", "exp")] == [1, 2]
