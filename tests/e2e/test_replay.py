# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune replay` and `smtune why`: suggestions follow from the record."""

import json
import os
import re
import signal
import sqlite3

import pytest

from programs import ROOT, wait_until

METHODS = re.findall(r"^    X\((\w+)\)", re.search(
    r"define STRATEGY_METHODS\(X\)(.*?)\n\n",
    (ROOT / "strategies/strategy_impl.h").read_text(), re.S)[1], re.M)
ECHO = "echo loss=${{ x * 3 + (k = 'b') * coalesce(y, 2) / 5.0 - z }}"


@pytest.fixture
def mixed(experiment):
    """Trials with all kinds of parameters."""
    def make(method="auto", trials=24, parallel=4, shell=ECHO,
             goal="minimize"):
        return experiment(
            shell, method=method, seed=11, trials=trials, parallel=parallel,
            objective=f"{{metric: loss, goal: {goal}}}",
            constraints=["x > 0.002 or z"], parameters="""
                x: {type: float, min: 1e-3, max: 1, scale: log}
                k: {type: categorical, values: [a, b]}
                y: {type: int, min: 1, max: 9, when: "k = 'b'"}
                z: {type: bool}
                """)
    return make


def params(smtune, run):
    return [t["params"] for t in smtune.json("trials", run)]


@pytest.mark.sanitized
@pytest.mark.parametrize("method", METHODS)
def test_every_suggestion_is_proved(smtune, mixed, method):
    path = mixed(method, goal="maximize", shell=
                      "[ $SMTUNE_JOB = 5 ] && exit 1; " + ECHO)
    smtune.ok("run", path)
    count = len(params(smtune, "exp"))
    told = smtune.json("replay", "exp")
    decisions = told.pop("decisions")
    assert told == {"run": "exp", "trials": count, "proved": count,
                    "difference": None, "steps": 0, "step": None,
                    "decision": None}
    assert decisions >= 2 * count + 1
    text = smtune.ok("replay", "exp")
    assert f"all {count} suggestions" in text
    assert f"all {decisions} decisions verified" in text


def trials_so_far(smtune):
    """None, where there is no run yet."""
    text = smtune("trials", "exp", "-o", "json").stdout
    return json.loads(text) if text else []


def start_and_kill(smtune, path, after):
    """The engine is killed when so many trials are over; its trials not."""
    process = smtune.start("run", path)

    def over():
        return sum(t["ended"] is not None
                   for t in trials_so_far(smtune)) >= after

    wait_until(over)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("method", METHODS)
def test_after_a_crash_it_goes_on_as_if_nothing_had_been(
        smtune, mixed, method):
    """One at a time, results come in the same order with and without."""
    slow = f"sleep 0.05; {ECHO}"
    path = mixed(method, 20, 1, slow)
    smtune.ok("run", path, "--name", "whole")
    start_and_kill(smtune, path, 8)
    smtune.ok("resume", "exp")
    assert params(smtune, "exp") == params(smtune, "whole")
    smtune.ok("replay", "exp")


def test_64_at_once_and_three_crashes(smtune, mixed):
    path = mixed("auto", 260, 64, f"sleep 0.0$(($SMTUNE_JOB % 7)); {ECHO}")
    start_and_kill(smtune, path, 40)
    for after in 100, 160:
        engine = smtune.start("resume", "exp")
        wait_until(lambda: engine.poll() is not None or sum(
            t["ended"] is not None
            for t in smtune.json("trials", "exp")) >= after)
        os.kill(engine.pid, signal.SIGKILL)
        engine.wait()
    smtune.ok("resume", "exp", timeout=120)
    assert smtune.json("replay", "exp", timeout=120)["proved"] == 260


def test_a_difference_is_found(smtune, mixed):
    smtune.ok("run", mixed("random", 10))
    database = sqlite3.connect(smtune.store / "smtune.db")
    with database:
        database.execute("UPDATE param_value SET value = 0.25"
                         " WHERE job_id = 7 AND idx = 0")
    database.close()
    result = smtune("replay", "exp", "-o", "json")
    assert result.returncode == 1
    told = json.loads(result.stdout)
    assert told["proved"] == 6
    assert told["difference"]["id"] == 7
    assert told["difference"]["param"] == "x"
    assert told["difference"]["recorded"] == 0.25
    assert told["difference"]["suggested"] != 0.25
    result = smtune("replay", "exp")
    assert result.returncode == 1
    assert "trial 7 differs: 'x': recorded 0.25, but" in result.stdout


def test_a_record_that_does_not_fit_its_file_is_refused(smtune, mixed):
    smtune.ok("run", mixed("random", 4))
    database = sqlite3.connect(smtune.store / "smtune.db")
    with database:
        database.execute("UPDATE run SET spec = replace(spec, 'max: 1,',"
                         " 'max: 1.1e-3,')")
    database.close()
    result = smtune("replay", "exp")
    assert result.returncode == 1
    assert "'x'" in result.stderr and "experiment file" in result.stderr
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        database.execute("UPDATE run SET spec = 'version: 1'")
    database.close()
    assert smtune("replay", "exp").returncode == 3


def test_why(smtune, mixed):
    smtune.ok("run", mixed("sobol", 12, 3))
    for number in range(1, 13):
        why = smtune.json("why", "exp", number)
        assert why["id"] == number
        assert why["method"] == "sobol"
        assert why["known"] + why["unfinished"] == number - 1
        assert 0 <= why["unfinished"] < 3 * 65
    assert why["value"] == smtune.json("show", "exp", 12)["value"]
    text = smtune.ok("why", "last", 3)
    assert re.search(r"chosen because: +selected by name", text)
    assert "acquisition" not in text  # which it has not: a model's
    assert smtune("why", "exp", 13).returncode == 4
    assert smtune("why", "exp", "x").returncode == 2
    assert smtune("why", "none", 1).returncode == 4


def test_results_are_told_in_places_without_gaps(smtune, mixed):
    smtune.ok("run", mixed("random", 40, 8))
    database = sqlite3.connect(f"file:{smtune.store}/smtune.db?mode=ro",
                               uri=True)
    rows = database.execute("SELECT number, told, seen FROM job"
                            " ORDER BY number").fetchall()
    database.close()
    assert sorted(told for _, told, _ in rows) == list(range(1, 41))
    for number, _, seen in rows:
        assert number - 8 * 65 <= seen < number
        known = [n for n, told, _ in rows if told <= seen]
        assert all(n < number for n in known)


def test_a_result_that_is_gone_is_missed(smtune, mixed):
    smtune.ok("run", mixed("random", 12, 1, f"sleep 0.06; {ECHO}"))
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        database.execute("UPDATE job SET told = NULL WHERE number = 3")
    database.close()
    result = smtune("replay", "exp")
    assert result.returncode == 1
    assert "lacks results" in result.stderr


# ---- decisions ----

ENDS = ("case $SMTUNE_JOB in 2) exit 3;; 3) echo try again; exit 4;; "
        "4) exit 5;; 5) [ $SMTUNE_ATTEMPT = 3 ] || exit 3;; "
        "6) kill -9 $$;; 7) exit 0;; esac; echo loss=${{ x }}")


@pytest.fixture
def retries(experiment):
    def make(shell=ENDS, budget="", trials=12, **keys):
        return experiment(
            shell, seed=5, budget=f"{{trials: {trials}, parallel: 3{budget}}}",
            retry=[{"match": ["exit:3"], "max": 2, "delay": "20ms",
                    "backoff": 2, "jitter": "full"},
                   {"match": ["log:try again"], "max": 1, "delay": "10ms"},
                   {"match": ["exit"], "max": 1, "delay": "5ms"}], **keys)
    return make


def must_be_proved(smtune, run="exp"):
    result = smtune("replay", run, "-o", "json")
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout)["decisions"]


def test_retries_and_failures_are_proved(smtune, retries):
    smtune.ok("run", retries())
    assert must_be_proved(smtune) > 2 * 12 + 6


@pytest.mark.parametrize("budget, reason", [
    (", target: 0.5", "target"), (", no_improvement: 3", "no improvement"),
    (", time: 1s", "time budget")])
def test_the_budget_is_proved(smtune, retries, budget, reason):
    smtune.ok("run", retries(f"sleep 0.1; {ENDS}", budget, 200))
    assert reason in smtune.ok("show", "exp")
    must_be_proved(smtune)


def test_a_run_that_cannot_start_is_proved(smtune, retries):
    path = retries(None, command="/none/such")
    assert smtune("run", path).returncode != 0
    must_be_proved(smtune)


def test_a_run_that_cannot_start_and_loses_its_success_is_proved(
        smtune, experiment, write):
    path = experiment(command="./trial${{ x }}", search="grid", trials=5,
                      parameters="{x: {type: int, min: 1, max: 5}}")
    for x, text in (1, "echo loss=1"), (2, "sleep 600"):
        script = write(f"trial{x}", f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
    engine = smtune.start("run", path)
    wait_until(lambda: [t["state"] for t in trials_so_far(smtune)] ==
               ["succeeded", "running"] + 3 * ["failed"])
    smtune.ok("retry", "exp", 1, "--force")
    assert engine.wait() == 1
    assert "no trial can be started" in smtune.ok("show", "exp")
    must_be_proved(smtune)


def test_interruptions_and_their_end_are_proved(smtune, retries):
    path = retries(f"sleep 0.2; {ENDS}", "", 30)
    for command in ["run", path], ["resume", "exp"]:
        engine = smtune.start(*command)
        wait_until(lambda: engine.poll() is not None or
                   (smtune.store / "smtune.db").exists() and
                   "running" in smtune("trials", "exp").stdout)
        engine.send_signal(signal.SIGTERM)
        engine.wait()
        must_be_proved(smtune)
    start = smtune.start("resume", "exp")
    wait_until(lambda: "running" in smtune("trials", "exp").stdout)
    start.kill()
    start.wait()
    smtune.ok("resume", "exp")
    must_be_proved(smtune)


def tamper(smtune, event, change):
    """The first such event's detail, past smtune."""
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        database.execute("DROP TRIGGER IF EXISTS event_never_changes")
        seq, detail = database.execute(
            "SELECT seq, detail FROM event WHERE event = ? ORDER BY seq"
            " LIMIT 1", (event,)).fetchone()
        detail = json.loads(detail)
        word = change(detail) or event
        database.execute("UPDATE event SET event = ?, detail = ?"
                         " WHERE seq = ?", (word, json.dumps(detail), seq))
    database.close()
    return seq


@pytest.mark.parametrize("event, change, text", [
    ("retry", lambda d: d.update(due_ms=d["due_ms"] + 1),
     "but its rule gives"),
    ("retry", lambda d: d.update(state="failed") or "failed",
     "recorded 'failed', but its retry rules give 'retry'"),
    ("failed", lambda d: d.update(state="waiting") or "retry",
     "recorded 'retry', but its retry rules give 'failed'"),
    ("failed", lambda d: d.update(state="succeeded", values=[0]) or "succeeded",
     "recorded 'succeeded', but its retry rules give 'failed'"),
    ("succeeded", lambda d: d.update(state="failed") or "failed",
     "recorded 'failed', but its end gives 'succeeded'"),
    ("succeeded", lambda d: d.update(state="stopped") or "stopped",
     "it was stopped, but the budget was not used up"),
    ("succeeded", lambda d: d.update(state="ready") or "interrupted",
     "it was interrupted, but no user stopped the run"),
    ("attempt_ended", lambda d: d.update(rule=2) if d["cause"] == "ok" else
     d.update(rule=1 - d.get("rule", 0)), "recorded "),
])
def test_a_decision_that_does_not_follow_is_found(
        smtune, retries, event, change, text):
    smtune.ok("run", retries())
    seq = tamper(smtune, event, change)
    result = smtune("replay", "exp", "-o", "json")
    assert result.returncode == 1
    decision = json.loads(result.stdout)["decision"]
    assert decision["event"] in range(seq, seq + 4)
    assert text in decision["text"]
    result = smtune("replay", "exp")
    assert result.returncode == 1
    assert " differs: " in result.stdout and text in result.stdout


@pytest.mark.parametrize("by_ms", [-1, 1, 5000])
def test_time_that_was_not_used_up_is_found(smtune, retries, by_ms):
    smtune.ok("run", retries("sleep 0.1; echo loss=1", ", time: 1s", 200))
    must_be_proved(smtune)
    tamper(smtune, "time_used_up",
           lambda d: d.update(after_ms=d["after_ms"] + by_ms))
    result = smtune("replay", "exp")
    assert result.returncode == 1
    assert "the time budget was not used up at this event" in result.stdout


@pytest.mark.parametrize("budget, trials", [(", no_improvement: 4", 100),
                                            ("", 5)])
@pytest.mark.parametrize("reason", ["the target was reached", "it was enough"])
def test_an_end_of_the_run_that_does_not_follow_is_found(
        smtune, retries, budget, trials, reason):
    smtune.ok("run", retries("echo loss=${{ x }}", budget, trials))
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        database.execute("DROP TRIGGER event_never_changes")
        database.execute("UPDATE event SET detail = json_set(detail,"
                         " '$.reason', ?) WHERE event = 'run_state'"
                         " AND detail LIKE '%succeeded%'", (reason,))
    database.close()
    result = smtune("replay", "exp")
    assert result.returncode == 1
    assert "the recorded end succeeded" in result.stdout
