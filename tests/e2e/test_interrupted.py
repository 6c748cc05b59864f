# SPDX-License-Identifier: GPL-3.0-or-later
"""After a crash of the engine the record still has jobs as running. Every view
shows what has become of them, and all of them show the same."""

import csv
import fcntl
import io
import json
import os
import pathlib
import signal

import pytest

import files
from dashboards import Dashboard
from programs import wait_until

# Three that run: the first goes on, the second ends after the engine, and of
# the third nothing is left.
SCRIPT = """\
echo $$ >pid-$SMTUNE_JOB
while [ ! -e go-$SMTUNE_JOB ]; do sleep 0.1; done
echo loss=$SMTUNE_JOB
"""
NOW = {1: "running", 2: "ended", 3: "lost"}
RESUME = {1: "adopts it; its end counts as lost, because its smtune-shim "
          "crashed", 2: "records its end (ok)", 3: "counts it as lost"}
SENTENCE = {1: "attempt 1 still runs (pid ", 2: "attempt 1 has ended, and ",
            3: "no process of attempt 1 is left, and "}


def pid_of(smtune, number):
    path = smtune.directory / f"pid-{number}"
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def agent_of(smtune, run, number):
    path = smtune.store / f"runs/{run}/attempts/{number}-1/claim"
    return json.loads(path.read_text())["shim_pid"]


def has_ended(pid):
    try:
        return ") Z" in pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: has_ended(pid))


def is_free(claim):
    """Nothing of the attempt lives, the `sleep` of its shell included."""
    with open(claim) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def crash(smtune, run, path):
    engine = smtune.start("run", path)
    pids = {number: pid_of(smtune, number) for number in NOW}
    wait_until(lambda: [row["state"] for row in smtune.json("trials", run)] ==
               ["running"] * 3)
    assert smtune.json("status", run)["state"] == "running"
    engine.kill()
    engine.wait()
    attempts = smtune.store / f"runs/{run}/attempts"
    (smtune.directory / "go-2").touch()
    wait_until((attempts / "2-1/exit").exists)
    kill(agent_of(smtune, run, 3))
    kill(pids[3])
    wait_until(lambda: is_free(attempts / "3-1/claim"))
    return pids


def let_go(smtune):
    for number in range(1, 4):
        (smtune.directory / f"go-{number}").touch()


@pytest.fixture
def tune(smtune, experiment):
    """An experiment whose engine is killed; the pids of its trials."""
    yield crash(smtune, "exp", experiment(SCRIPT, trials=3, parallel=3))
    let_go(smtune)


@pytest.fixture
def flow(smtune, workflow):
    yield crash(smtune, "flow", workflow(f"""
        work:
          matrix: {{i: [1, 2, 3]}}
          shell: {files.script(SCRIPT)}
        last: {{needs: work, command: "true"}}
        """, parallel=3))
    let_go(smtune)


# Each view of jobs, as {number: state}.
def table(smtune, run):
    return {row["id"]: row["state"] for row in smtune.json("trials", run)}


def table_as_csv(smtune, run):
    text = smtune.ok("trials", run, "-o", "csv")
    return {int(row["id"]): row["state"]
            for row in csv.DictReader(io.StringIO(text))}


def filtered(smtune, run):
    assert smtune.json("trials", run, "--state", "running") == []
    return {row["id"]: row["state"]
            for row in smtune.json("trials", run, "--state", "interrupted")}


def documents(smtune, run):
    return {number: smtune.json("show", run, number)["state"]
            for number in NOW}


def page(smtune, run):
    with Dashboard(smtune) as dashboard:
        [row] = dashboard.get("/api/v1/runs").json()["runs"]
        assert row["state"] == "interrupted"
        assert row["trials"]["interrupted"] == 3
        assert row["trials"]["running"] == 0
        metrics = dashboard.get("/metrics").body.decode()
        assert f'smtune_trials{{run="{run}",state="interrupted"}} 3' in metrics
        return {number: dashboard.get(
            f"/api/v1/runs/{row['id']}/jobs/{number}").json()["state"]
            for number in NOW}


VIEWS = [table, table_as_csv, filtered, documents, page]


def attempts_in_status(smtune, run):
    status = smtune.json("status", run)
    rows = status.get("running_trials") or status["running_jobs"]
    return {row["id"]: row for row in rows}


def attempts_in_documents(smtune, run):
    return {number: smtune.json("show", run, number)["attempts"][0]
            for number in NOW}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_trials_are_interrupted_in_every_view(smtune, tune, view):
    assert view(smtune, "exp") == dict.fromkeys(NOW, "interrupted")


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_jobs_are_interrupted_in_every_view(smtune, flow, view):
    assert view(smtune, "flow") == dict.fromkeys(NOW, "interrupted")


@pytest.mark.parametrize("view", [attempts_in_status, attempts_in_documents],
                         ids=lambda view: view.__name__)
def test_attempts_are_as_their_folders_show(smtune, tune, view):
    rows = view(smtune, "exp")
    assert {n: row["state"] for n, row in rows.items()} == NOW
    assert {n: row["resume"] for n, row in rows.items()} == RESUME
    assert rows[1]["duration_ms"] > 0 and rows[3]["duration_ms"] is None


def test_counts_agree_and_resume_does_what_is_announced(smtune, tune):
    assert smtune.json("ls")[0]["state"] == "interrupted"
    for command in "status", "show":
        found = smtune.json(command, "exp")
        assert found["state"] == "interrupted"
        assert found["trials"]["running"] == 0
        assert found["trials"]["interrupted"] == 3
    for number, sentence in SENTENCE.items():
        waits = smtune.json("why", "exp", number)["waits"]
        assert waits.startswith("the engine crashed; " + sentence), waits
        assert waits.endswith(f"`smtune resume exp` {RESUME[number]}")
    assert f"(pid {tune[1]})" in smtune.json("why", "exp", 1)["waits"]
    let_go(smtune)
    (smtune.directory / "go-3").touch()
    smtune.ok("resume", "exp")
    assert table(smtune, "exp") == dict.fromkeys(NOW, "succeeded")
    causes = {n: [a["cause"] for a in
                  smtune.json("show", "exp", n)["attempts"]] for n in NOW}
    assert causes == {1: ["lost", "ok"], 2: ["ok"], 3: ["lost", "ok"]}
    assert "interrupted" not in smtune.json("status", "exp")["trials"]


def test_a_trial_is_adopted(smtune, experiment):
    engine = smtune.start("run", experiment(SCRIPT, trials=1))
    pid = pid_of(smtune, 1)
    wait_until(lambda: smtune.states() == ["running"])
    engine.kill()
    engine.wait()
    assert smtune.json("why", "exp", 1)["waits"] == (
        f"the engine crashed; attempt 1 still runs (pid {pid}), and "
        "`smtune resume exp` adopts it")
    let_go(smtune)
    smtune.ok("resume", "exp")
    [attempt] = smtune.json("show", "exp", 1)["attempts"]
    assert attempt["cause"] == "ok" and "resume" not in attempt


def test_steps_agree(smtune, flow):
    status = smtune.json("status", "flow")
    steps = {row["name"]: row for row in status["steps"]}
    assert steps["work"]["state"] == "interrupted"
    assert steps["work"]["running"] == 0 and steps["work"]["interrupted"] == 3
    assert steps["last"]["state"] == "waiting"
    assert status["step_counts"]["active"] == 0
    assert status["step_counts"]["interrupted"] == 1
    assert smtune.json("show", "flow", "work")["state"] == "interrupted"
    assert {row["state"] for row in smtune.json("show", "flow", "work")["jobs"]
            } == {"interrupted"}
    assert smtune.json("why", "flow", "work")["state"] == "interrupted"
    [need] = smtune.json("why", "flow", "last")["needs"]
    assert need["state"] == "interrupted"
    for number, sentence in SENTENCE.items():
        why = smtune.json("why", "flow", number)
        assert why["state"] == "interrupted"
        assert why["reason"].startswith("the engine crashed; " + sentence)
    assert "3 interrupted" in smtune.ok("status", "flow")
    text = smtune.ok("status", "flow", "--format", "text")
    assert "3 interrupted" in text and "active" not in text
    assert "1 interrupted" in smtune.ok("status", "flow", "--format", "svg")
