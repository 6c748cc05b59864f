# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to runs is on its way to who watches at once, and those who
watch never stand in an engine's way."""

import base64
import json
import os
import queue
import signal
import sqlite3
import struct
import subprocess
import threading

import pytest

import files
from dashboards import Dashboard
from programs import wait_until

FILE = files.experiment("""
    while [ ! -e go ]; do sleep 0.1; done
    echo loss=${{ x }}
    """, trials=12, parameters=files.X_AND_K)

FORMATS = {"u8": "B", "u16": "H", "u32": "I", "f64": "d"}


def decode(block):
    """The header, and the rows as dictionaries; what is not known is None."""
    magic, version, length = struct.unpack_from("<4sII", block)
    assert (magic, version) == (b"SMTC", 1)
    header = json.loads(block[12:12 + length])
    at, rows = 12 + length, [{} for _ in range(header["rows"])]
    for column in header["columns"]:
        code = FORMATS[column["type"]]
        cells = struct.unpack_from(f"<{header['rows']}{code}", block, at)
        at += -(-struct.calcsize(code) * len(cells) // 8) * 8
        for row, cell in zip(rows, cells):
            if "words" in column:
                none = (1 << 8 * struct.calcsize(code)) - 1
                cell = None if cell == none else column["words"][cell]
            row[column["name"]] = None if cell != cell else cell
    return header, rows


class Stream:
    """Listens; what came is in a queue of (event, data)."""

    def __init__(self, dashboard, run, **headers):
        self.events = queue.Queue()
        self.context = dashboard.connection(timeout=60)
        connection = self.context.__enter__()
        connection.request(
            "GET", f"/api/v1/events?run={run}",
            headers={"Authorization": f"Bearer {dashboard.tokens['viewer']}",
                     **headers})
        self.response = connection.getresponse()
        assert self.response.status == 200
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        name = ""
        try:
            for line in self.response:
                key, _, value = line.decode().rstrip("\n").partition(": ")
                if key == "event":
                    name = value
                elif key == "data":
                    self.events.put((name, json.loads(value)))
        except (OSError, ValueError, AttributeError):
            pass  # it was closed

    def wait_for(self, condition):
        """Takes events until one is as wanted, and gives it."""
        while True:
            name, data = self.events.get(timeout=30)
            if condition(name, data):
                return data


class Follower:
    """Keeps a run's rows up to date as the page does."""

    def __init__(self, dashboard, run):
        self.dashboard, self.run = dashboard, run
        self.rows, self.seq = {}, 0
        self.deltas = 0
        self.ask()

    def take(self, block):
        header, rows = decode(block)
        if header["since"] == 0:
            self.rows = {}
        else:
            assert header["since"] <= self.seq <= header["seq"]
        self.rows.update((row["number"], row) for row in rows)
        self.seq = header["seq"]

    def ask(self):
        self.take(self.dashboard.get(
            f"/api/v1/runs/{self.run}/columns?since={self.seq}").body)

    def hear(self, name, data):
        if name != "rows" or data["seq"] <= self.seq:
            return
        if "columns" in data and data["since"] <= self.seq:
            self.take(base64.b64decode(data["columns"]))
            self.deltas += 1
        else:
            self.ask()


def state_is(state):
    return lambda name, data: name == "runs" and any(
        run["state"] == state for run in data["runs"])


def rows_of(dashboard, path):
    header, rows = decode(dashboard.get(path).body)
    return rows, header.get("next")


@pytest.fixture
def filled(smtune, build):
    subprocess.run([build / "tests/e2e/fill_store", smtune.store, "r",
                    "minimize", "30"], check=True)
    with Dashboard(smtune) as dashboard:
        yield dashboard


@pytest.mark.sanitized
def test_a_run_is_followed_until_it_ends(smtune, write):
    # The second half waits: the rows change in more than one look at them.
    write("exp.yaml", FILE.replace("-e go", "-e go$((SMTUNE_JOB > 6))"))
    smtune.ok("run", "exp.yaml", "--detach")
    with Dashboard(smtune) as dashboard:
        stream, follower = Stream(dashboard, 1), Follower(dashboard, 1)
        # The first says how far the run is; deltas begin there.
        stream.wait_for(lambda name, data: (
            follower.hear(name, data), name == "rows")[1])
        (smtune.directory / "go0").touch()

        def half(name, data):
            follower.hear(name, data)
            return sum(row["state"] == "succeeded"
                       for row in follower.rows.values()) == 6
        stream.wait_for(half)
        (smtune.directory / "go1").touch()
        ended = state_is("succeeded")

        def take(name, data):
            follower.hear(name, data)
            return ended(name, data)
        last = stream.wait_for(take)
        assert last["runs"][0]["trials"]["succeeded"] == 12
        fresh = Follower(dashboard, 1)
        stream.wait_for(lambda name, data: (
            follower.hear(name, data), follower.seq == fresh.seq)[1])
        assert follower.rows == fresh.rows and len(fresh.rows) == 12
        assert follower.deltas > 0
        assert {row["state"] for row in fresh.rows.values()} == {"succeeded"}
        assert {row["param:k"] for row in fresh.rows.values()} <= {"a", "b"}


def test_who_comes_back_is_sent_what_it_missed(smtune, write):
    write("exp.yaml", FILE)
    smtune.ok("run", "exp.yaml", "--detach")
    with Dashboard(smtune) as dashboard:
        follower = Follower(dashboard, 1)

        def both_run():
            follower.ask()
            return len(follower.rows) == 2
        wait_until(both_run, what="two trials")
        heard = follower.seq
        (smtune.directory / "go").touch()
        smtune.ok("wait", "exp")

        def first(last_id):
            stream = Stream(dashboard, 1, **{"Last-Event-ID": str(last_id)})
            return stream.wait_for(lambda name, _: name == "rows")
        missed = first(heard)
        assert missed["since"] == heard < missed["seq"]
        follower.hear("rows", missed)
        fresh = Follower(dashboard, 1)
        assert follower.deltas == 1 and len(fresh.rows) == 12
        assert follower.rows == fresh.rows and follower.seq == fresh.seq
        # What is not known any more, or is no event, is like none at all.
        for last_id in (1, fresh.seq, 1 << 40, 1 << 70, "x", "-3", "7x"):
            told = first(last_id)
            assert told == {"run": 1, "since": fresh.seq, "seq": fresh.seq}


def test_a_store_without_runs_is_served(smtune, build, write):
    subprocess.run([build / "tests/e2e/fill_store", smtune.store, "r",
                    "minimize", "1"], check=True)
    smtune.ok("rm", "r")
    with Dashboard(smtune) as dashboard:
        assert dashboard.get("/api/v1/runs").json() == {"runs": []}
        assert dashboard.get("/").status == 200
        stream = Stream(dashboard, 0)
        write("exp.yaml", FILE)
        (smtune.directory / "go").touch()
        smtune.ok("run", "exp.yaml")
        assert stream.wait_for(state_is("succeeded"))


def test_a_killed_engine_is_seen(smtune, write):
    write("exp.yaml", FILE)
    engine = smtune.start("run", "exp.yaml")
    wait_until(lambda: smtune("status", "exp").returncode == 0, what="a run")
    with Dashboard(smtune) as dashboard:
        stream = Stream(dashboard, 0)
        runs = dashboard.get("/api/v1/runs").json()["runs"]
        assert [run["state"] for run in runs] == ["running"]
        os.kill(engine.pid, signal.SIGKILL)
        stream.wait_for(state_is("interrupted"))
    (smtune.directory / "go").touch()
    engine.wait()
    smtune.ok("resume", "exp")


def test_a_removed_run_is_gone(smtune, filled):
    stream = Stream(filled, 1)
    assert filled.get("/api/v1/runs/1/columns").status == 200
    stream.wait_for(lambda name, data: name == "rows")
    smtune.ok("rm", "r")
    assert stream.wait_for(lambda name, _: name == "gone") == {"run": 1}
    for path in ("columns", "attempts", "metrics?name=loss", "rungs"):
        answer = filled.get(f"/api/v1/runs/1/{path}")
        assert (answer.status, answer.error()) == (404, "not_found"), path
    assert filled.get("/api/v1/runs").json() == {"runs": []}


def test_who_watches_keeps_no_log(smtune, filled):
    streams = [Stream(filled, 1) for _ in range(5)]
    for stream in streams:
        stream.wait_for(lambda name, data: name == "rows")
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        for n in range(5):
            database.execute(
                "INSERT INTO event (run_id, time_ms, event) VALUES (1, 1, 'x')")
            database.commit()

            def is_empty():
                busy, _, _ = database.execute(
                    "PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                return busy == 0
            wait_until(is_empty, what="a log that nobody reads")
            for stream in streams:
                stream.wait_for(lambda name, data: name == "rows")


def test_pages_hold_all(filled):
    path = "/api/v1/runs/1/attempts"
    whole, after = rows_of(filled, path)
    assert after is None and len(whole) == 27 + 2 * 3
    rows, after = [], 0
    while after is not None:
        page, after = rows_of(filled, f"{path}?limit=7&after={after}")
        assert len(page) <= 7
        rows += page
    assert rows == whole
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    failed = [row for row in rows if row["number"] == 10]
    assert [(row["attempt"], row["cause"], row["exit_code"], row["node"])
            for row in failed] == [(1, "exit", 3, "n3"), (2, "exit", 3, "n3")]

    seq = decode(filled.get("/api/v1/runs/1/columns").body)[0]["seq"]
    assert rows_of(filled, f"{path}?changed_since={seq}") == ([], None)
    changed, _ = rows_of(filled, f"{path}?changed_since={seq - 12}")
    assert 0 < len(changed) < len(whole)


def test_curves_come_for_those_that_are_asked_for(filled):
    assert filled.get("/api/v1/runs/1/metric_names").json() == ["loss"]
    path = "/api/v1/runs/1/metrics?name=loss"
    whole, after = rows_of(filled, path)
    assert after is None and len(whole) == 27
    some, _ = rows_of(filled, path + "&trials=2,5-7,10")
    assert [row["number"] for row in some] == [2, 5, 6, 7]
    page, after = rows_of(filled, path + "&trials=2,5-7&limit=2")
    rest, last = rows_of(filled, path + f"&trials=2,5-7&after={after}")
    assert page + rest == some and last is None
    for bad in ("x", "0", "5,4", "1-", "3-2", "1,,2", "1;2"):
        answer = filled.get(f"{path}&trials={bad}")
        assert (answer.status, answer.error()) == (400, "bad_request"), bad
    rungs = filled.get("/api/v1/runs/1/rungs").json()
    assert [row["number"] for row in rungs["observations"]] == [1]
