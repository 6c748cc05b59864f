# SPDX-License-Identifier: GPL-3.0-or-later
"""`enqueue`: settings that are tried first, and `smtune enqueue`: next."""

import contextlib
import os
import signal
import sqlite3

import pytest

from checker import process_state
from dashboards import Dashboard
from programs import open_files, wait_until

ENQUEUED = [{"x": 0.25, "k": "b", "y": 4}, {"y": 9}, {"x": 0.5}]
FILE = {"trials": 8, "enqueue": ENQUEUED, "constraints": ["x > 0.1"],
        "parameters": """
            x: {type: float, min: 0, max: 1}
            k: {type: categorical, values: [a, b]}
            y: {type: int, min: 1, max: 9, when: "k = 'b'"}
            """}


@pytest.mark.sanitized
@pytest.mark.parametrize("method", ["auto", "random", "sobol"])
def test_enqueued_settings_come_first(smtune, experiment, method):
    path = experiment(method=method, **FILE)
    planned = [t["params"] for t in smtune.json("plan", path)["first"]]
    smtune.ok("run", path)
    rows = smtune.json("trials", "exp")
    tried = [row["params"] for row in rows]
    assert tried[0] == {"x": 0.25, "k": "b", "y": 4}
    assert tried[1]["k"] == "b" and tried[1]["y"] == 9  # y asks for it
    assert tried[1]["x"] > 0.1
    assert tried[2]["x"] == 0.5
    assert [{k: v for k, v in t.items() if v is not None}
            for t in tried[:3]] == planned[:3]
    why = smtune.json("why", "exp", 1)
    assert why["method"] == "enqueue"
    assert smtune.json("why", "exp", 4)["method"] != "enqueue"
    smtune.ok("replay", "exp")


def test_a_value_that_cannot_be_kept_is_refused(smtune, experiment):
    path = experiment(**{**FILE, "enqueue": [{"x": 0.5}, {"k": "a", "y": 9}]})
    result = smtune("validate", path)
    assert result.returncode == 3
    assert "parameter 'y' is inactive with these values (it is active when " \
        "k = 'b')" in result.stderr


@pytest.mark.parametrize("method", ["grid", "random"])
def test_a_setting_is_enqueued_once(smtune, write, method):
    text = f"""\
        version: 1
        name: exp
        objective: loss
        parameters:
          a: {{type: int, min: 1, max: 2}}
          b: {{type: int, min: 1, max: 2, when: a = 2}}
        search: {method}
        enqueue:
          - {{a: 1}}
          - {{a: 2, b: 1}}
          - {{a: 2}}
          - {{b: 1, a: 2.0}}
        trial: {{command: "echo loss=${{{{ a }}}}"}}
        """
    result = smtune("validate", write("exp.yaml", text))
    assert result.returncode == 3
    assert "exp.yaml:12:5: error: duplicate setting (first defined at line " \
        "10)" in result.stderr
    assert "repeats: 2" in result.stderr
    result = smtune("run", "exp.yaml")
    assert result.returncode == 3
    assert not smtune.store.exists()


def test_a_constant_makes_no_other_setting(smtune, experiment):
    path = experiment(
        "echo loss=${{ a }}", enqueue="[{a: 2}, {a: 2, epochs: 5}]",
        parameters="{a: {type: int, min: 1, max: 4}, epochs: 5}")
    result = smtune("validate", path)
    assert result.returncode == 3
    assert "duplicate setting" in result.stderr


def test_a_setting_may_be_in_groups(smtune, experiment):
    parameters = ("{model: {depth: {type: int, min: 1, max: 3},"
                  " head: {drop: {type: float, min: 0, max: 1}}},"
                  " kind: {type: categorical, values: [{a: 1}, [2]]}}")
    path = experiment(
        "echo loss=1", parameters=parameters, trials=1,
        enqueue="[{model: {depth: 2, head: {drop: 0.5}}, kind: {a: 1}}]")
    smtune.ok("run", path)
    params = smtune.json("trials", "exp")[0]["params"]
    assert (params["model.depth"], params["model.head.drop"]) == (2, 0.5)
    for wrong, message in (
            ("{model: {width: 2}}", "unknown parameter 'model.width'"),
            ("{model: 2}", "unknown parameter 'model'"),
            ("{model.depth: 2, model: {depth: 3}}",
             "duplicate key 'model.depth'")):
        result = smtune("validate", experiment(
            "echo loss=1", parameters=parameters, enqueue=f"[{wrong}]"))
        assert result.returncode == 3 and message in result.stderr


def test_a_grid_draws_what_is_missing_once(smtune, experiment):
    """Also where another enqueued setting has it."""
    for seed in range(8):
        path = experiment(
            "echo loss=${{ a }}", parameters="{a: {type: int, min: 1, max: 4}}",
            search=f"{{method: grid, seed: {seed}}}",
            enqueue="[{a: 2}, {}, {}, {}]")
        smtune.ok("run", path, "-n", f"g{seed}")
        tried = [row["params"]["a"] for row in smtune.json("trials",
                                                           f"g{seed}")]
        assert tried[0] == 2 and sorted(tried) == [1, 2, 3, 4]


def test_set_can_enqueue(smtune, experiment):
    path = experiment(**FILE)
    smtune.ok("run", path, "--set", "enqueue=[{x: 0.75}]")
    rows = smtune.json("trials", "exp")
    assert rows[0]["params"]["x"] == 0.75
    assert rows[1]["params"]["x"] != 0.5


# ---- while a run goes on ----

TRIAL = """\
#!/bin/sh
while [ ! -e go ]; do sleep 0.1; done
echo loss=$1
"""


@pytest.fixture
def waits(smtune, experiment, write):
    """waits(key=value ...): a run whose trials wait for a file goes on."""
    def start(**keys):
        path = experiment(**{"command": "./trial ${{ x }}"} | FILE | keys)
        write("trial", TRIAL).chmod(0o755)
        smtune.ok("run", path, "--detach")
        wait_until(lambda: len(smtune.json("trials", "exp", "--state",
                                           "running")) == 2)
    return start


def go(smtune):
    (smtune.directory / "go").touch()
    smtune("wait", "exp")
    assert "verified" in smtune.ok("replay", "exp")
    smtune.ok("fsck")
    return {row["id"]: row["params"] for row in smtune.json("trials", "exp")}


@pytest.mark.parametrize("method", ["auto", "random", "sobol", "bayesian"])
def test_a_setting_is_tried_next(smtune, waits, method):
    waits(method=method, enqueue=[*ENQUEUED, {"x": 0.625}])
    smtune.ok("enqueue", "exp", "x=0.75", "k=b", "y=3")
    smtune.ok("enqueue", "exp", "x=0.875")
    listed = smtune.json("enqueue", "exp")
    assert [(row["id"], row["params"], row["trial"]) for row in listed] == [
        (1, {"x": 0.75, "k": "b", "y": 3}, None), (2, {"x": 0.875}, None)]
    tried = go(smtune)
    # behind those of the file
    assert tried[4]["x"] == 0.625
    assert tried[5] == {"x": 0.75, "k": "b", "y": 3}
    assert tried[6]["x"] == 0.875
    assert [row["trial"] for row in smtune.json("enqueue", "exp")] == [5, 6]
    assert smtune.json("why", "exp", 5)["method"] == "enqueue"
    assert len(tried) == 8  # each takes one of the budget's


@pytest.mark.parametrize("setting, says", [
    (["z=1"], "unknown parameter 'z' (one of: x, k, y)"),
    (["x=2"], "'2' is not a value of parameter 'x' (from 0 to 1)"),
    (["x=nan"], "'nan' is not a value of parameter 'x'"),
    (["y=2.5"], "'2.5' is not a value of parameter 'y' (from 1 to 9)"),
    (["k=c"], "unknown value of parameter 'k': 'c'"),
    (["x=0.05"], "violates a constraint"),
    (["k=a", "y=4"], "parameter 'y' is inactive with these values"),
    (["x"], "'x': expected NAME=VALUE"),
    (["=1"], "'=1': expected NAME=VALUE"),
])
def test_what_cannot_be_tried_is_refused(smtune, waits, setting, says):
    """With an engine, and without one."""
    waits()
    for _ in range(2):
        result = smtune("enqueue", "exp", *setting)
        assert result.returncode == 2 and says in result.stderr
        if smtune.json("status", "exp")["state"] == "running":
            smtune.ok("stop", "exp")
    assert smtune.json("enqueue", "exp") == []


def test_the_budget_has_to_have_room(smtune, waits):
    waits()
    for i in range(5):  # the file's third setting waits as well
        smtune.ok("enqueue", "exp", f"x=0.{i + 2}")
    result = smtune("enqueue", "exp", "x=0.9")
    assert result.returncode == 5
    assert "trial budget used up (8 of 8, with 6 waiting settings)" in result.stderr
    tried = go(smtune)
    assert [row["trial"] for row in smtune.json("enqueue", "exp")] == [
        4, 5, 6, 7, 8]
    assert len(tried) == 8
    result = smtune("enqueue", "exp", "x=0.9")
    assert result.returncode == 5 and "it has ended" in result.stderr


def test_the_last_trials_still_run(smtune, waits):
    waits(trials=2)
    result = smtune("enqueue", "exp", "x=0.9")
    assert result.returncode == 5
    assert "trial budget used up (2 of 2)" in result.stderr
    go(smtune)


def test_what_was_all_tried_goes_on_with_it(smtune, waits):
    """A grid has nothing more; what is enqueued is tried all the same."""
    waits(search="{method: grid, points: 2}", enqueue=None, constraints=None,
          parameters="{x: {type: float, min: 1, max: 2}}")
    smtune.ok("enqueue", "exp", "x=1.5")
    assert [params["x"] for params in go(smtune).values()] == [1, 2, 1.5]


def test_a_setting_of_the_run_is_not_enqueued_again(smtune, waits):
    """Not one of a trial, nor one that waits; with an engine and without."""
    waits(parameters="{x: {type: int, min: 1, max: 9}, epochs: 5}",
          enqueue="[{x: 3}, {x: 4}, {x: 5}]", constraints=None,
          method="random")
    smtune.ok("enqueue", "exp", "x=6")
    for engine in (True, False):
        for x, says in ((3, "trial 1 has this setting (smtune retry evaluates "
                            "a trial again)"),
                        (5, "this setting is enqueued already"),
                        (6, "this setting is enqueued already")):
            for words in ([f"x={x}"], [f"x={x}", "epochs=5"]):
                result = smtune("enqueue", "exp", *words)
                assert result.returncode == 2 and says in result.stderr
        if engine:
            smtune.ok("stop", "exp")
    (smtune.directory / "go").touch()
    smtune.ok("resume", "exp")
    tried = [params["x"] for params in go(smtune).values()]
    assert tried[:4] == [3, 4, 5, 6] and len(set(tried)) == 8


def test_a_setting_whose_result_is_reused_may_come_again(smtune, waits):
    waits(parameters="{x: {type: int, min: 1, max: 9}}", constraints=None,
          enqueue="[{x: 3}, {x: 4}]",
          search="{method: random, duplicates: reuse}")
    smtune.ok("enqueue", "exp", "x=3")
    tried = go(smtune)
    assert [tried[n]["x"] for n in (1, 2, 3)] == [3, 4, 3]


def test_a_run_without_an_engine_tries_it_later(smtune, waits):
    waits()
    smtune.ok("enqueue", "exp", "x=0.75")
    smtune.ok("stop", "exp")
    said = smtune("enqueue", "exp", "x=0.875")
    assert said.returncode == 0 and "smtune resume exp" in said.stderr
    (smtune.directory / "go").touch()
    smtune.ok("resume", "exp")
    tried = go(smtune)
    assert [tried[n]["x"] for n in (4, 5)] == [0.75, 0.875]


def test_an_engine_that_dies_loses_none(smtune, waits):
    waits(method="bayesian")
    smtune.ok("enqueue", "exp", "x=0.75")
    os.kill(smtune.json("status", "exp")["engine_pid"], signal.SIGKILL)
    wait_until(lambda: smtune.json("status", "exp")["state"] == "interrupted")
    smtune.ok("enqueue", "exp", "x=0.875")
    (smtune.directory / "go").touch()
    smtune.ok("resume", "exp")
    tried = go(smtune)
    assert [tried[n]["x"] for n in (4, 5)] == [0.75, 0.875]


def test_what_is_enqueued_without_an_engine_takes_no_time(smtune, waits):
    """By whatever clock: none of the run's time goes by meanwhile."""
    waits(time="3s")
    os.kill(smtune.json("status", "exp")["engine_pid"], signal.SIGKILL)
    wait_until(lambda: smtune.json("status", "exp")["state"] == "interrupted")
    smtune.ok("enqueue", "exp", "x=0.75")
    path = smtune.directory / ".smtune/smtune.db"
    with contextlib.closing(sqlite3.connect(path)) as record, record:
        record.execute("DROP TRIGGER event_never_changes")
        record.execute("UPDATE event SET time_ms = time_ms - 86400000"
                       " WHERE event = 'enqueued'")
    said = smtune("resume", "exp")
    assert "time budget used up" in said.stdout + said.stderr
    assert "verified" in smtune.ok("replay", "exp")


def waits_for_an_answer(process):
    return (process_state(process.pid) == "S" and
            any("socket:" in file for file in open_files(process.pid)))


def test_an_engine_that_dies_before_it_takes_one(smtune, waits):
    """Nothing of it is in the record: so it is put there."""
    waits()
    engine = smtune.json("status", "exp")["engine_pid"]
    os.kill(engine, signal.SIGSTOP)
    asking = smtune.start("enqueue", "exp", "x=0.75")
    wait_until(lambda: waits_for_an_answer(asking))
    os.kill(engine, signal.SIGKILL)
    _, said = asking.communicate(timeout=30)
    assert asking.returncode == 0 and "after you resume it" in said
    assert len(smtune.json("enqueue", "exp")) == 1
    (smtune.directory / "go").touch()
    smtune.ok("resume", "exp")
    tried = go(smtune)
    assert [row["x"] for row in tried.values()].count(0.75) == 1


def test_a_paused_run_takes_it(smtune, waits):
    waits()
    smtune.ok("pause", "exp")
    smtune.ok("enqueue", "exp", "x=0.75")
    smtune.ok("resume", "exp")
    assert go(smtune)[4]["x"] == 0.75


def test_a_schedule_begins_it_at_its_first_rung(smtune, waits):
    waits(schedule="{method: asha, resource: epochs, min: 1, max: 4, eta: 2}",
          command="./trial ${{ x }} ${{ epochs }}")
    smtune.ok("enqueue", "exp", "x=0.75")
    go(smtune)
    trial, = smtune.json("enqueue", "exp")
    row = smtune.json("trials", "exp")[trial["trial"] - 1]
    assert row["params"]["x"] == 0.75 and row["resource"] >= 1


def test_a_population_that_is_full_takes_none(smtune, waits):
    waits(schedule="{method: pbt, resource: epochs, min: 1, max: 3,"
                   " population: 3}",
          command="./trial ${{ x }} ${{ epochs }}", checkpoints=True)
    smtune.ok("enqueue", "exp", "x=0.75")
    result = smtune("enqueue", "exp", "x=0.875")
    assert result.returncode == 5
    assert "creates new trials only from earlier ones" in result.stderr
    go(smtune)


def test_the_dashboard_enqueues(smtune, waits):
    waits()
    with Dashboard(smtune) as dashboard:
        def post(body):
            answer = dashboard.post("/api/v1/runs/1/enqueue", body)
            return answer.status, answer.json()
        assert post({"params": {"x": 0.75, "k": "b", "y": 3}}) == (
            200, {"ok": True, "enqueued": 1})
        assert post({"params": {"x": "0.875"}})[1]["enqueued"] == 2
        for body, says in (({}, "missing field 'params'"),
                           ({"params": 3}, "'params' is an object"),
                           ({"params": {}}, "a setting has at least one"),
                           ({"params": {"x": None}}, "'null' is not a value"),
                           ({"params": {"x": [1]}}, "'[1]' is not a value"),
                           ({"params": {"w": 1}}, "unknown parameter 'w'")):
            status, reply = post(body)
            assert status == 400 and says in reply["error"]["text"]
        smtune.ok("stop", "exp")
        assert post({"params": {"x": 0.625}})[1]["enqueued"] == 3
        (smtune.directory / "go").touch()
        smtune.ok("resume", "exp")
        status, reply = post({"params": {"x": 0.5}})
        assert status == 409 and "it has ended" in reply["error"]["text"]
    tried = go(smtune)
    assert [tried[n]["x"] for n in (4, 5, 6)] == [0.75, 0.875, 0.625]


def test_a_workflow_searches_for_nothing(smtune, workflow):
    smtune.ok("run", workflow(
        'a: {shell: "while [ ! -e go ]; do sleep 0.1; done"}'), "--detach")
    result = smtune("enqueue", "flow", "x=1")
    assert result.returncode == 2
    assert "a workflow has no search" in result.stderr
    smtune.ok("stop", "flow")
    result = smtune("enqueue", "flow", "x=1")
    assert result.returncode == 2
    assert "a workflow has no search" in result.stderr
