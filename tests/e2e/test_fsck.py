# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune fsck`: the tables are what the events say."""

import json
import os
import signal
import sqlite3

import pytest

from programs import wait_until

SHELL = ("[ $SMTUNE_JOB = 5 ] && exit 3; [ $SMTUNE_JOB = 6 ] && exit 4; "
         "[ $SMTUNE_JOB = 7 ] && exit 0; echo size=${{ w }} loss=${{ x * 3 }}")


@pytest.fixture
def rich(experiment):
    """Trials with all kinds of parameters, an outcome and a retry."""
    def make(shell=SHELL, **keys):
        return experiment(shell, **{
            "objective": "{metric: loss, goal: maximize}", "seed": 11,
            "trials": 20, "parallel": 4, "outcomes": "[{metric: size, max: 3}]",
            "retry": '[{match: ["exit:3"], max: 1, delay: 10ms}]',
            "parameters": """
                x: {type: float, min: 1e-3, max: 1, scale: log}
                k: {type: categorical, values: [a, "b\\"\\\\é"]}
                y: {type: int, min: 1, max: 9, when: "k = 'a'"}
                z: {type: bool}
                w: {type: float, min: 1, max: 4, step: 1}
                """} | keys)
    return make


@pytest.fixture
def change(smtune):
    """change(sql): past smtune, as no program of it would."""
    def change_store(*statements):
        with sqlite3.connect(smtune.store / "smtune.db") as database:
            for statement in statements:
                database.execute(statement)
        database.close()
    return change_store


def findings(smtune, *words, status=1):
    result = smtune("fsck", "-o", "json", *words)
    assert result.returncode == status, result.stdout + result.stderr
    return json.loads(result.stdout)


def must_be_sound(smtune):
    assert findings(smtune, status=0) == []
    assert smtune.ok("fsck") == "no findings\n"


@pytest.mark.quick
@pytest.mark.sanitized
@pytest.mark.parametrize("method", ["auto", "random", "grid", "nsga2"])
def test_a_run_is_sound(smtune, rich, method):
    smtune.ok("run", rich(method=method))
    must_be_sound(smtune)
    result = smtune("fsck")
    assert result.returncode == 0
    assert "no inconsistencies" in result.stderr


def test_trials_that_take_over_results_are_sound(smtune, experiment):
    smtune.ok("run", experiment(
        "echo loss=${{ k }}", method="tpe", trials=12, parallel=1,
        parameters="{k: {type: int, min: 1, max: 3}}"))
    must_be_sound(smtune)


def test_only_the_runs_that_are_named_are_checked(smtune, rich, change):
    path = rich(trials=8)
    smtune.ok("run", path)
    smtune.ok("run", path, "--name", "other")
    change("UPDATE job SET told = 77 WHERE id = 3")
    assert findings(smtune, "other", status=0) == []
    assert findings(smtune, "exp") == findings(smtune)
    assert smtune("fsck", "none").returncode == 4


def test_a_live_run_one_that_was_killed_and_its_end_are_sound(
        smtune, rich):
    path = rich(trials=60, shell="sleep 0.1; " + SHELL)
    engine = smtune.start("run", path)
    wait_until(lambda: (smtune.store / "smtune.db").exists() and
               smtune("trials", "exp").stdout.count("succeeded") > 4)
    for _ in range(5):
        must_be_sound(smtune)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    assert all(f["severity"] == "note" for f in findings(smtune, status=0))
    engine = smtune.start("resume", "exp")
    wait_until(lambda: smtune("trials", "exp").stdout.count("succeeded") > 12)
    engine.send_signal(signal.SIGTERM)
    engine.wait()
    assert all(f["severity"] == "note" for f in findings(smtune, status=0))
    smtune.ok("resume", "exp")
    must_be_sound(smtune)


@pytest.mark.parametrize("shell", ["echo up; exec sleep 60",
                                   "trap 'exit 0' TERM; echo up; sleep 60 & wait",
                                   "trap 'exit 4' TERM; echo up; sleep 60 & wait"])
def test_trials_of_a_dead_engine_that_were_ended_are_sound(
        smtune, rich, shell):
    engine = smtune.start("run", rich(parallel=2, shell=shell))
    wait_until(lambda: (smtune.store / "smtune.db").exists() and all(
        smtune("logs", "exp", n).stdout == "up\n" for n in (1, 2)))
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    smtune.ok("stop", "exp")
    attempts = smtune.json("show", "exp", 1)["attempts"]
    assert [a["cause"] for a in attempts] == ["cancelled"]
    assert all(f["severity"] == "note" for f in findings(smtune, status=0))


DAMAGE = [
    ("UPDATE job SET state = 'failed' WHERE number = 3",
     {"trial": 3, "what": "state", "recorded": "failed",
      "by_events": "succeeded"}),
    ("UPDATE job SET told = 99 WHERE number = 3",
     {"trial": 3, "what": "told", "recorded": "99"}),
    ("UPDATE job SET seen = seen + 1 WHERE number = 3",
     {"trial": 3, "what": "seen"}),
    ("UPDATE job SET cursor = 9 WHERE number = 3",
     {"trial": 3, "what": "cursor", "recorded": "9"}),
    ("UPDATE job SET due_ms = 5 WHERE number = 3",
     {"trial": 3, "what": "due_ms", "recorded": "5", "by_events": "NULL"}),
    ("UPDATE job SET ended_ms = ended_ms + 1 WHERE number = 3",
     {"trial": 3, "what": "ended_ms"}),
    ("UPDATE job SET started_ms = NULL WHERE number = 3",
     {"trial": 3, "what": "started_ms", "recorded": "NULL"}),
    ("UPDATE job SET violation = 0.5 WHERE number = 3",
     {"trial": 3, "what": "violation", "recorded": "0.5"}),
    ("UPDATE job SET cause = NULL WHERE number = 6",
     {"trial": 6, "what": "cause", "recorded": "NULL", "by_events": "exit"}),
    ("UPDATE job_value SET value = value * (1 + 1e-15) WHERE job_id = 3",
     {"trial": 3, "what": "values"}),
    ("DELETE FROM job_value WHERE job_id = 3",
     {"trial": 3, "what": "values", "recorded": "NULL"}),
    ("UPDATE job_outcome SET value = 7 WHERE job_id = 3",
     {"trial": 3, "what": "outcomes", "recorded": "[7]"}),
    ("UPDATE param_value SET value = 0.5 WHERE job_id = 3 AND idx = 0",
     {"trial": 3, "what": "params"}),
    ("DELETE FROM param_value WHERE job_id = 3 AND idx = 3",
     {"trial": 3, "what": "params"}),
    ("UPDATE attempt SET exit_code = 1 WHERE id = 2",
     {"attempt": 1, "what": "exit_code", "recorded": "1", "by_events": "0"}),
    ("UPDATE attempt SET cause = 'lost' WHERE id = 2",
     {"attempt": 1, "what": "cause", "recorded": "lost", "by_events": "ok"}),
    ("UPDATE attempt SET directory = 'elsewhere' WHERE id = 2",
     {"attempt": 1, "what": "directory", "recorded": "elsewhere"}),
    ("UPDATE attempt SET number = 7 WHERE id = 2",
     {"attempt": 1, "what": "number", "recorded": "7", "by_events": "1"}),
    ("UPDATE attempt SET max_rss_bytes = 7 WHERE id = 2",
     {"attempt": 1, "what": "max_rss_bytes", "recorded": "7"}),
    ("DELETE FROM attempt WHERE id = 2",
     {"attempt": 1, "what": "attempt"}),
    ("UPDATE run SET state = 'failed'",
     {"trial": None, "what": "state", "by_events": "succeeded"}),
    ("UPDATE run SET reason = ''",
     {"what": "reason", "recorded": "''"}),
    ("UPDATE run SET engine_pid = 77",
     {"what": "engine_pid", "recorded": "77", "by_events": "0"}),
    ("UPDATE run SET paused_ms = 77",
     {"what": "paused_ms", "recorded": "77", "by_events": "NULL"}),
    ("UPDATE run SET seed = 12", {"what": "seed", "by_events": "11"}),
    ("UPDATE run SET spec = spec || ' '", {"what": "spec"}),
    ("UPDATE run_objective SET goal = 'minimize'",
     {"what": "goals", "recorded": '["minimize"]',
      "by_events": '["maximize"]'}),
    ("UPDATE run_outcome SET max = 4", {"what": "outcomes"}),
    ("UPDATE run_param SET name = 'q' WHERE idx = 0", {"what": "params"}),
    ("INSERT INTO job (run_id, number, state, cursor, created_ms)"
     " VALUES (1, 21, 'ready', 0, 0)",
     {"trial": 21, "what": "job"}),
    ("INSERT INTO attempt (job_id, number, directory, created_ms)"
     " VALUES (3, 2, 'x', 0)",
     {"trial": 3, "attempt": 2, "what": "attempt"}),
    ("DELETE FROM job WHERE number = 3", {"trial": 3, "what": "job"}),
    ("INSERT INTO event (run_id, job_id, time_ms, event, detail) VALUES"
     " (1, 3, 0, 'started', '{\"state\":\"running\"}')",
     {"trial": 3,
      "text": "'started' is not possible while the trial is succeeded"}),
    ("INSERT INTO event (run_id, job_id, time_ms, event) VALUES"
     " (1, 3, 0, 'danced')", {"text": "unknown event 'danced'"}),
    ("INSERT INTO event (run_id, job_id, time_ms, event, detail) VALUES"
     " (1, 3, 0, 'failed', '{')",
     {"text": "the detail is not a JSON object"}),
    ("INSERT INTO event (run_id, job_id, attempt_id, time_ms, event) VALUES"
     " (1, 3, 99, 0, 'attempt_ended')",
     {"text": "the attempt was never created"}),
    ("UPDATE metric SET attempt_id = 999 WHERE job_id = 3",
     {"what": "database", "run": None}),
    ("INSERT INTO param_value VALUES (999, 0, 1, 0)",
     {"what": "database", "run": None}),
]


def test_each_damage_is_found(smtune, rich, tmp_path, change):
    smtune.ok("run", rich())
    path = smtune.store / "smtune.db"
    good = path.read_bytes()
    for sql, expected in DAMAGE:
        change(sql)
        found = findings(smtune)
        assert any(f["severity"] == "error" and
                   all(f[key] == value for key, value in expected.items())
                   for f in found), f"{sql}: {found}"
        path.write_bytes(good)
        for more in "-wal", "-shm":
            path.with_name(path.name + more).unlink(missing_ok=True)
    must_be_sound(smtune)


def test_files_that_say_something_else_are_found(smtune, rich):
    smtune.ok("run", rich(trials=8))
    run = smtune.store / "runs/exp"
    exit_file = run / "attempts/3-1/exit"
    exit_file.write_text(exit_file.read_text().replace(
        '"exit_code": 0', '"exit_code": 9').replace('"ok"', '"exit"'))
    found = findings(smtune)
    assert {(f["trial"], f["attempt"], f["what"], f["recorded"])
            for f in found} == {(3, 1, "exit file: cause", "ok"),
                                (3, 1, "exit file: exit_code", "0")}
    exit_file.unlink()
    must_be_sound(smtune)
    exit_file.parent.rename(run / "attempts/3-99")
    (run / "trials/99").mkdir()
    found = findings(smtune)
    assert {(f["severity"], f["what"]) for f in found} == {
        ("error", "runs/exp/attempts/3-1"),
        ("note", "runs/exp/attempts/3-99"),
        ("note", "runs/exp/trials/99")}


# ---- mending ----

def tables(smtune):
    """All rows of all tables."""
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        names = [name for name, in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table'"
            " AND name NOT LIKE 'sqlite_%'")]
        rows = {name: sorted(map(repr, database.execute(
            f"SELECT * FROM {name}"))) for name in names}
    database.close()
    return rows


def test_what_differs_is_mended(smtune, rich, change):
    smtune.ok("run", rich())
    path = smtune.store / "smtune.db"
    smtune.ok("ls")
    good, before = path.read_bytes(), tables(smtune)
    points = before.pop("metric")
    for sql, _ in DAMAGE:
        if "INTO event" in sql:
            continue
        change(sql)
        damaged = tables(smtune)["job"]
        result = smtune("fsck", "--repair")
        assert result.returncode == 0, f"{sql}: {result.stderr}"
        after = tables(smtune)
        assert len(after.pop("metric")) >= len(points) - 2
        assert after == before, sql
        backup, = smtune.store.glob("smtune.db.before-repair-*")
        assert str(backup) in result.stderr
        with sqlite3.connect(backup) as database:
            rows = sorted(map(repr, database.execute("SELECT * FROM job")))
        database.close()
        assert rows == damaged
        backup.unlink()
        path.write_bytes(good)
        for more in "-wal", "-shm":
            path.with_name(path.name + more).unlink(missing_ok=True)
    must_be_sound(smtune)
    smtune.ok("fsck", "--repair")
    assert not list(smtune.store.glob("smtune.db.before-repair-*"))


def test_events_that_cannot_be_are_left(smtune, rich, change):
    smtune.ok("run", rich())
    for sql, _ in DAMAGE:
        if "INTO event" in sql:
            change(sql, "UPDATE job SET cause = 'lost' WHERE number = 4")
            before = tables(smtune)
            result = smtune("fsck", "--repair")
            assert result.returncode == 1
            assert "cannot be fixed" in result.stderr
            assert tables(smtune) == before


def test_a_run_without_a_row_comes_back(smtune, rich, change):
    path = rich()
    smtune.ok("run", path)
    smtune.ok("run", path, "--name", "other")
    before = tables(smtune)
    change("DELETE FROM run WHERE name = 'exp'")
    assert {f["run"] for f in findings(smtune) if f["what"] == "run"} == {
        "exp"}
    smtune.ok("fsck", "--repair")
    assert tables(smtune) == before
    smtune.ok("replay", "exp")


def test_indexes_are_made_anew(smtune, rich, change):
    smtune.ok("run", rich())
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_schema SET sql = replace(sql,"
                         " '(run_id, state)', '(run_id, cause)')"
                         " WHERE name = 'job_state'")
    database.close()
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE job SET cause = 'exit', state = 'failed'"
                         " WHERE number < 5")
        database.execute("UPDATE sqlite_schema SET sql = replace(sql,"
                         " '(run_id, cause)', '(run_id, state)')"
                         " WHERE name = 'job_state'")
    database.close()
    assert any("job_state" in f["text"] for f in findings(smtune)
               if f["what"] == "database")
    smtune.ok("fsck", "--repair")
    must_be_sound(smtune)


def test_a_live_run_is_not_mended(smtune, rich, change):
    engine = smtune.start("run", rich(shell="sleep 60"))
    wait_until(lambda: (smtune.store / "smtune.db").exists() and
               "running" in smtune("trials", "exp").stdout)
    result = smtune("fsck", "--repair")
    assert result.returncode == 5
    assert f"pid {engine.pid}" in result.stderr and "'exp'" in result.stderr
    engine.send_signal(signal.SIGTERM)
    engine.wait()
    smtune.ok("fsck", "--repair")
