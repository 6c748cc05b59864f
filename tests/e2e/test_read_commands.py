# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that read the record: ls, status, show, best, trials, logs,
export; and rm. The stores are filled by tests/e2e/fill_store.c."""

import contextlib
import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import time

import pytest

from programs import SHIPPED, wait_until

pytestmark = pytest.mark.sanitized

PARAMS = ["lr", "width", "optimizer", "nesterov", "momentum", "decay",
          "layers", "dropout", "batch", "epochs"]


@pytest.fixture
def fill(smtune):
    def fill_store(name="r", goal="minimize", trials=30):
        smtune.ok(smtune.store, name, goal, trials,
                  program="tests/e2e/fill_store")
        (smtune.store / "runs" / name).mkdir(parents=True)
    return fill_store


@pytest.fixture
def sql(smtune):
    def execute(statement):
        with contextlib.closing(
                sqlite3.connect(smtune.store / "smtune.db")) as connection:
            rows = connection.execute(statement).fetchall()
            connection.commit()
            return rows
    return execute


# ---- ls, status, show


def test_ls_lists_runs(smtune, fill):
    fill("first", trials=10)
    fill("second", "maximize", trials=25)
    first, second = smtune.json("ls")
    assert first == {
        "id": 1, "name": "first", "state": "succeeded", "done": 10,
        "trials": 10, "cached": None, "best": 1 / 9, "started": "2026-01-01T00:00:00.000Z",
        "duration_ms": 12000, "parent": None}
    assert (second["name"], second["best"]) == ("second", 1.0)
    table = smtune.ok("ls").splitlines()
    assert table[0].split() == ["id", "name", "state", "done", "trials",
                                "cached", "best", "started", "duration"]
    assert len(table) == 3
    assert len(smtune.ok("ls", "-o", "jsonl").splitlines()) == 2
    assert smtune.ok("ls", "-o", "csv").startswith("id,name,state,done,")


@pytest.fixture
def family(fill, sql):
    """Two runs, of which the first started one, and that two more."""
    for name in "top", "beside", "top.a", "top.a.x", "top.a.y":
        fill(name, trials=1)
    sql("UPDATE run SET parent_id = 1 WHERE id = 3")
    sql("UPDATE run SET parent_id = 3 WHERE id > 3")


def test_ls_shows_runs_below_their_own(smtune, family):
    names = [re.match(r" *\d  ( *\S+)", line)[1]
             for line in smtune.ok("ls").splitlines()[1:]]
    assert names == ["top", "  top.a", "    top.a.x", "    top.a.y", "beside"]
    assert [(run["name"], run["parent"]) for run in smtune.json("ls")] == [
        ("top", None), ("top.a", 1), ("top.a.x", 3), ("top.a.y", 3),
        ("beside", None)]
    assert smtune.json("show", "last")["name"] == "beside"


def test_rm_takes_the_runs_below_along(smtune, family):
    assert len(list((smtune.store / "runs").iterdir())) == 5
    result = smtune("rm", "top.a", "beside", "top", "top.a.y")
    assert result.stderr.splitlines() == [
        f"removed run {name}" for name in
        ("top.a.y", "top.a.x", "top.a", "beside", "top")]
    assert smtune.json("ls") == []
    assert not list((smtune.store / "runs").iterdir())


def test_state_is_interrupted_without_an_engine(smtune, fill, sql):
    fill()
    sql("UPDATE run SET state = 'running', ended_ms = NULL")
    assert smtune.json("status", "r")["state"] == "interrupted"
    assert smtune.json("ls")[0]["state"] == "interrupted"
    assert smtune.json("ls")[0]["duration_ms"] is None
    assert "smtune resume r" in smtune("status", "r").stderr
    assert smtune("-q", "status", "r").stderr == ""
    with smtune.as_engine_of("r"):
        status = smtune.json("status", "r")
        assert status["state"] == "running"
        assert status["engine_pid"] == os.getpid()
        assert smtune.json("ls")[0]["duration_ms"] > 0


def test_status_counts_and_lists_what_runs(smtune, fill, sql):
    fill()
    sql("UPDATE job SET state = 'running' WHERE number = 3")
    sql("UPDATE job SET state = 'waiting' WHERE number = 4")
    sql("UPDATE attempt SET state = 'running', cause = NULL, ended_ms = NULL"
        " WHERE job_id = 3")
    status = smtune.json("status", "last")
    assert status["trials"] == {"total": 30, "done": 28, "succeeded": 25,
                                "failed": 3, "running": 1, "pending": 1}
    assert status["best"]["id"] == 29
    assert set(status["best"]) == {"id", "value", "params"}
    running, = status["running_trials"]
    assert (running["id"], running["attempt"], running["pid"]) == (3, 1, 4711)
    assert "running_trials:" in smtune.ok("status", "r")
    line = smtune.ok("status", "r", "-o", "csv").splitlines()[1]
    assert line.startswith("1,r,succeeded,budget used,,2026-01-01T00:00:00")


def test_show_run(smtune, fill):
    fill()
    shown = smtune.json("show", "r")
    assert shown["objectives"] == {"loss": "minimize"}
    assert shown["seed"] == str(2**64 - 1)
    assert shown["file"] == "/tmp/exp.yaml"
    assert shown["overrides"] == "[]"
    assert shown["directory"] == f"{smtune.store}/runs/r"
    assert shown["best"]["params"]["optimizer"] == "sgd"
    assert "objectives:\n  loss:  minimize\n" in smtune.ok("show", "r")


def test_show_trial(smtune, fill):
    fill()
    failed = smtune.json("show", "r", 10)
    assert (failed["id"], failed["state"], failed["cause"]) == \
        (10, "failed", "exit")
    assert list(failed["params"]) == PARAMS
    assert failed["params"]["momentum"] is None
    assert failed["params"]["nesterov"] is False
    assert [(a["number"], a["cause"], a["exit_code"], a["signal"])
            for a in failed["attempts"]] == \
        [(1, "exit", 3, None), (2, "exit", 3, None)]
    assert failed["metrics"] == []
    good = smtune.json("show", "r", 2)
    assert good["metrics"] == [
        {"name": "loss", "step": 1, "value": 0.5, "points": 1}]
    assert good["attempts"][0]["max_rss_bytes"] == 1 << 20
    assert "metrics:\nmetric  last step  value  points\n" in \
        smtune.ok("show", "r", 2)


def test_show_trial_gives_the_last_point_of_each_metric(smtune, fill, sql):
    fill(trials=2)
    sql("INSERT INTO metric_name VALUES (7, 'acc')")
    sql("INSERT INTO metric VALUES (1, 7, 5, 0.9, 1, 1), (1, 7, 9, NULL, 1, 1),"
        " (1, 1, 4, 9e999, 1, 1)")
    assert smtune.json("show", "r", 1)["metrics"] == [
        {"name": "loss", "step": 4, "value": "inf", "points": 2},
        {"name": "acc", "step": 9, "value": "nan", "points": 2}]


# ---- trials, best, export


def test_trials(smtune, fill):
    fill()
    trials = smtune.json("trials", "r")
    assert [t["id"] for t in trials] == list(range(1, 31))
    assert list(trials[1]) == ["id", "state", "value", "params", "started",
                               "ended", "duration_ms", "cause", "attempts",
                               "last_started", "last_duration_ms"]
    assert trials[1]["params"] == {
        "lr": 0.05, "width": 2, "optimizer": "adam", "nesterov": False,
        "momentum": None, "decay": 1e-05, "layers": 3, "dropout": 0.5,
        "batch": 128, "epochs": 27}
    assert trials[1]["started"] == "2026-01-01T00:00:02.000Z"
    failed = smtune.json("trials", "r", "--state", "failed")
    assert [(t["id"], t["value"], t["attempts"]) for t in failed] == \
        [(10, None, 2), (20, None, 2), (30, None, 2)]
    best = smtune.json("trials", "r", "--sort", "best", "--limit", 28)
    assert [t["id"] for t in best][:3] == [29, 28, 27]
    assert [t["id"] for t in best][-2:] == [1, 10]
    assert smtune.json("trials", "1", "--state", "paused") == []
    assert smtune.ok("trials", "r", "-n", 1).split()[:3] == \
        ["id", "state", "loss"]


def test_best(smtune, fill):
    fill("low")
    fill("high", "maximize")
    best = smtune.json("best", "low")
    assert best == {"id": 29, "value": 1 / 29, "params": best["params"]}
    assert smtune.json("best", "high")["id"] == 1
    assert [t["id"] for t in smtune.json("best", "low", "-n", 3)] == \
        [29, 28, 27]
    assert "loss:" in smtune.ok("best", "low")


def test_best_is_never_infinite(smtune, fill, sql):
    fill(trials=3)
    sql("UPDATE job_value SET value = -9e999 WHERE job_id = 1")
    sql("UPDATE job_value SET value = NULL WHERE job_id = 2")
    assert smtune.json("best", "r")["id"] == 3
    assert len(smtune.json("best", "r", "-n", 5)) == 1
    sql("UPDATE job_value SET value = 9e999 WHERE job_id = 3")
    result = smtune("best", "r")
    assert result.returncode == 4
    assert "finite value of 'loss'" in result.stderr
    assert smtune("best", "r", "-n", 2).returncode == 4
    assert "-inf" in smtune.ok("trials", "r", "-o", "csv").splitlines()[1]
    assert [row["value"] for row in smtune.json("trials", "r")] == [
        "-inf", "nan", "inf"]


def test_best_of_several_objectives_is_the_front(smtune, fill, sql):
    fill(trials=5)
    sql("INSERT INTO run_objective VALUES (1, 1, 'speed', 'maximize')")
    for job, (loss, speed) in enumerate(
            [(3, 9), (2, 5), (2, 5), (1, 1), (2, 4)], 1):
        sql(f"UPDATE job_value SET value = {loss} WHERE job_id = {job}")
        sql(f"INSERT INTO job_value VALUES ({job}, 1, 1, {speed})")
    result = smtune("best", "r", "-o", "json")
    assert [(t["id"], t["values"]) for t in json.loads(result.stdout)] == \
        [(4, [1.0, 1.0]), (2, [2.0, 5.0]), (3, [2.0, 5.0]), (1, [3.0, 9.0])]
    assert "4 trials on the Pareto front" in result.stderr
    assert len(smtune.json("best", "r", "-n", 2)) == 2
    assert smtune.json("trials", "r")[0]["values"] == [3.0, 9.0]
    assert smtune.ok("trials", "r", "-o", "csv").startswith(
        "id,state,loss,speed,lr,")
    table = smtune.ok("best", "r")
    assert table.index("speed against loss: the Pareto front") > \
        table.index("id  loss  speed")
    shown = smtune.json("show", "r")
    assert [t["id"] for t in shown["front"]] == [4, 2, 3, 1]
    assert shown["front_size"]["trials"] == 4 and "best" not in shown
    size = shown["front_size"]
    worst_loss, worst_speed = size["reference"]["loss"], \
        size["reference"]["speed"]
    assert worst_loss > 3 and worst_speed < 1
    assert size["hypervolume"] == pytest.approx(
        (worst_loss - 3) * (9 - worst_speed) + (3 - 2) * (5 - worst_speed)
        + (2 - 1) * (1 - worst_speed))
    assert "hypervolume:" in smtune.ok("status", "r")
    assert smtune.json("ls")[0]["best"] is None
    sql("UPDATE job_value SET value = NULL WHERE idx = 1")
    assert smtune("best", "r").returncode == 4
    assert smtune.json("show", "r")["front"] == []


def test_export(smtune, fill, tmp_path):
    fill()
    rows = list(csv.DictReader(io.StringIO(smtune.ok("export", "r"))))
    assert list(rows[0]) == ["id", "state", "value", *PARAMS, "started",
                             "ended", "duration_ms", "cause", "attempts",
                             "last_started", "last_duration_ms"]
    assert len(rows) == 30
    assert float(rows[2]["value"]) == 1 / 3
    assert rows[1]["momentum"] == "" and rows[1]["nesterov"] == "false"
    smtune.ok("export", "r", "--format", "jsonl", "-o", "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == smtune.json("trials", "r")
    assert smtune.ok("export", "r", "-o", "-").startswith("id,state,")
    result = smtune("export", "r", "-o", "no/such/folder.csv")
    assert result.returncode == 1 and "no/such/folder.csv" in result.stderr
    smtune("export", "nobody", "-o", "new.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == \
        [".smtune", "out.jsonl"]


def test_export_leaves_the_old_file_when_it_fails(smtune, fill, sql, tmp_path):
    fill()
    (tmp_path / "out.csv").write_text("old")
    (tmp_path / "out.csv.part").symlink_to("/dev/full")
    result = smtune("export", "r", "-o", "out.csv")
    assert result.returncode == 1
    assert (tmp_path / "out.csv").read_text() == "old"


# ---- logs


@pytest.fixture
def log(smtune):
    """The log that all of fill_store's attempts share."""
    path = smtune.store / "runs/r/1/1/log"

    def write(data, mode="wb"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, mode) as file:
            file.write(data)
    return write


def test_logs_are_copied_byte_for_byte(smtune, fill, log):
    fill()
    assert smtune.ok("logs", "r", 1) == ""
    data = os.urandom(200_000) + b"\0half a line"
    log(data)
    assert smtune("logs", "r", 1, text=False).stdout == data
    both = smtune("logs", "r", 10, text=False)
    assert both.stdout == data + data
    assert b"attempt 1" in both.stderr and b"attempt 2" in both.stderr
    one = smtune("logs", "r", 10, "--attempt", 2, text=False)
    assert (one.stdout, one.stderr) == (data, b"")
    assert smtune("logs", "r", 1, "-f", text=False).stdout == data


def test_logs_follow_until_the_attempt_ends(smtune, fill, log, sql):
    fill()
    sql("UPDATE run SET state = 'running'")
    sql("UPDATE attempt SET state = 'running', cause = NULL WHERE job_id = 3")
    with smtune.as_engine_of("r"):
        process = smtune.start("logs", "r", 3, "-f")
        log(b"one\n")
        assert process.stdout.readline() == "one\n"
        log(b"two\n", "ab")
        assert process.stdout.readline() == "two\n"
        assert process.poll() is None
        log(b"the end", "ab")
        sql("UPDATE attempt SET state = 'ended', cause = 'ok' WHERE job_id = 3")
        assert process.stdout.read() == "the end"
        assert process.wait(10) == 0


def test_logs_stop_following_when_the_engine_is_gone(smtune, fill, log, sql):
    fill()
    log(b"left")
    sql("UPDATE attempt SET state = 'running', cause = NULL WHERE job_id = 3")
    assert smtune.ok("logs", "r", 3, "-f", timeout=20) == "left"


def test_logs_follow_no_links(smtune, fill, log, tmp_path):
    """A trial can put anything into its folder."""
    fill()
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "log").write_text("secret")
    (secret / "rank-1.log").write_text("secret")
    log(b"mine\n")
    folder = smtune.store / "runs/r/1/1"
    refusal = ("smtune: the log in 'runs/r/1/1' is a link or no regular file; "
               "smtune does not open it\n")

    def assert_refused(*words):
        result = smtune("logs", "r", 1, *words, timeout=20)
        assert (result.returncode, result.stdout) == (4, "")
        assert result.stderr == refusal

    (folder / "rank-1.log").symlink_to(secret / "log")
    assert_refused("--rank", 1)
    assert smtune.ok("logs", "r", 1) == "mine\n"
    (folder / "log").unlink()
    (folder / "log").symlink_to(secret / "log")
    assert_refused()
    assert_refused("-f")
    (folder / "log").unlink()
    os.mkfifo(folder / "log")
    assert_refused()
    (folder / "log").unlink()
    (folder / "rank-1.log").unlink()
    folder.rmdir()
    folder.symlink_to(secret)
    assert_refused()
    assert_refused("--rank", 1)


def test_logs_of_what_is_not_there(smtune, fill, sql):
    fill()
    sql("DELETE FROM attempt WHERE job_id = 5")
    for words, status, text in [
            (("r", "31"), 4, "has no trial 31 (it has 30)"),
            (("r", "5"), 4, "trial 5 has not started yet"),
            (("r", "5", "-f"), 4, "trial 5 has not started yet"),
            (("r", "1", "--attempt", "2"), 4, "trial 1 has no attempt 2"),
            (("r", "x"), 2, "'x': expected the number of a trial"),
            (("r", "0"), 2, "'0': expected the number of a trial"),
            (("r",), 2, "missing")]:
        result = smtune("logs", *words)
        assert result.returncode == status, result.stderr
        assert text in result.stderr


# ---- rm


def test_rm(smtune, fill, sql):
    fill("r")
    fill("other", trials=3)
    (smtune.store / "runs/r/1/1").mkdir(parents=True)
    (smtune.store / "runs/r/1/1/log").write_text("x")
    (smtune.store / "runs/r/1/link").symlink_to(smtune.store)
    assert smtune("rm", "r", "nobody").returncode == 4
    assert len(smtune.json("ls")) == 2
    result = smtune("rm", "r")
    assert (result.returncode, result.stderr) == (0, "removed run r\n")
    assert [run["name"] for run in smtune.json("ls")] == ["other"]
    assert sorted(os.listdir(smtune.store / "runs")) == ["other"]
    assert sql("SELECT count(*) FROM job") == [(3,)]
    assert smtune("rm", "r").returncode == 4


def test_rm_refuses_while_an_engine_has_it(smtune, fill):
    fill("idle", trials=2)
    fill("busy", trials=2)
    with smtune.as_engine_of("busy"):
        result = smtune("rm", "idle", "busy")
        assert result.returncode == 5
        assert "'busy'" in result.stderr and str(os.getpid()) in result.stderr
    assert len(smtune.json("ls")) == 2
    smtune.ok("rm", "idle", "busy")
    assert smtune.json("ls") == []


def test_rm_never_leaves_the_store(smtune, fill, sql, tmp_path):
    fill()
    (tmp_path / "precious").mkdir()
    sql("UPDATE run SET name = '../../precious'")
    assert smtune("rm", "1").returncode == 1
    assert (tmp_path / "precious").exists()


# ---- all


COMMANDS = [("ls",), ("status", "r"), ("show", "r"), ("show", "r", "1"),
            ("best", "r"), ("trials", "r"), ("logs", "r", "1"),
            ("export", "r"), ("rm", "r")]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_a_store(smtune, command):
    result = smtune(*command)
    assert (result.returncode, result.stdout) == (4, "")
    assert "no store at" in result.stderr and result.stderr.count("\n") == 1
    assert not smtune.store.exists()


def test_a_store_that_cannot_be_opened_is_not_called_missing(smtune):
    loop = smtune.directory / "loop"
    loop.symlink_to(loop)
    for command in ("ls", "status", "fsck"):
        result = smtune("--store", loop, command, *["x"] * (command == "status"))
        assert result.returncode == 1
        assert result.stderr == (
            f"smtune: cannot open the store '{loop}': Too many levels of "
            "symbolic links\n"), result.stderr


def test_names_the_store_of_a_folder_above(smtune, fill, tmp_path):
    fill("r", trials=1)
    below = tmp_path / "a" / "b"
    result = smtune("ls", "--store", below / smtune.store.name)
    assert result.returncode == 4
    assert result.stderr == (
        f"smtune: there is no store at '{below / smtune.store.name}' "
        f"(there is one at '{smtune.store}')\n")


@pytest.mark.parametrize("command", COMMANDS[1:], ids=" ".join)
def test_of_an_unknown_run(smtune, fill, command):
    fill("fashion-mlp", trials=1)
    name, _, *rest = command
    result = smtune(name, "fashion-mpl", *rest)
    assert result.returncode == 4
    assert "did you mean 'fashion-mlp'?" in result.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_has_examples(smtune, command):
    text = smtune.ok(command[0], "--help")
    assert f"\n  smtune {command[0]}" in text.split("\nExamples\n")[1]


def test_a_reader_that_leaves_is_no_error(smtune, fill):
    fill(trials=3000)
    process = smtune.start("trials", "r", "-o", "jsonl")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(30) != 0
    assert process.stderr.read() == ""


def test_reading_beside_a_writer(smtune, fill):
    fill()
    with contextlib.closing(sqlite3.connect(
            smtune.store / "smtune.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE run SET reason = 'not yet'")
        assert smtune.json("show", "r")["reason"] == "budget used"
        assert len(smtune.json("trials", "r")) == 30
        writer.execute("ROLLBACK")


def test_names_cannot_play_with_the_terminal(smtune, fill, sql):
    fill(trials=1)
    sql("UPDATE run SET reason = 'a' || char(27) || '[2J' || char(10) || 'b'")
    shown = smtune.ok("status", "r")
    assert "\x1b" not in shown and "a\\x1b[2J\\x0ab" in shown


def test_many_trials_start_at_once(smtune, fill):
    fill(trials=20_000)

    def first_line_s():
        with subprocess.Popen(
                [SHIPPED / "smtune", "trials", "r"], cwd=smtune.directory,
                env=smtune.environment(), stdout=subprocess.PIPE) as process:
            start = time.monotonic()
            process.stdout.readline()
            seconds = time.monotonic() - start
            process.stdout.close()
        return seconds

    # The bound is for an idle machine: it may take several tries.
    wait_until(lambda: first_line_s() < 0.1, what="a first line in 100 ms")
