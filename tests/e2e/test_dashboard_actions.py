# SPDX-License-Identifier: GPL-3.0-or-later
"""What people do to a run over HTTP: by its engine, and in the record."""

import json
import os
import signal

import pytest

from dashboards import Dashboard
from programs import wait_until


@pytest.fixture
def dashboard(smtune, experiment, workflow):
    workflow("""
        a: {matrix: {k: [1, 2]}, shell: "[ -e mended ] || exit 1"}
        b: {shell: "while [ ! -e go ]; do sleep 0.1; done"}
        """)
    smtune.ok("run", experiment("""
        while [ ! -e go ]; do sleep 0.1; done
        [ $SMTUNE_JOB != 5 ] || [ -e mended ] || exit 3
        echo loss=${{ x }}
        """), "--detach")
    with Dashboard(smtune) as dashboard:
        yield dashboard


def act(dashboard, verb, body=None, run=1, role="operator"):
    answer = dashboard.post(f"/api/v1/runs/{run}/{verb}", body or {},
                            role=role)
    return answer.status, answer.json()


def done(dashboard, verb, body=None, run=1):
    status, reply = act(dashboard, verb, body, run)
    assert status == 200 and reply["ok"], reply
    return reply


def refused(dashboard, verb, body=None, run=1):
    status, reply = act(dashboard, verb, body, run)
    assert status >= 400
    return status, reply["error"]["text"]


def status_of(smtune):
    return json.loads(smtune.ok("status", "exp", "-o", "json"))


def running(smtune, count):
    wait_until(lambda: status_of(smtune)["trials"]["running"] == count,
               what=f"{count} running trials")


def go(smtune):
    (smtune.directory / "go").touch()


@pytest.mark.sanitized
def test_pause_and_resume(smtune, dashboard):
    running(smtune, 2)
    done(dashboard, "pause", {"now": True})
    running(smtune, 0)
    assert status_of(smtune)["state"] == "paused"
    assert done(dashboard, "resume")["was_paused"]
    assert not done(dashboard, "resume")["was_paused"]
    running(smtune, 2)
    go(smtune)
    smtune("wait", "exp")


def test_stop(smtune, dashboard):
    running(smtune, 2)
    done(dashboard, "stop")
    wait_until(lambda: status_of(smtune)["state"] == "stopped")
    status, text = refused(dashboard, "stop")
    assert status == 409 and "has ended" in text


def test_drain(smtune, dashboard):
    running(smtune, 2)
    done(dashboard, "stop", {"drain": True})
    assert status_of(smtune)["trials"]["running"] == 2
    go(smtune)
    wait_until(lambda: status_of(smtune)["state"] == "stopped")
    assert status_of(smtune)["trials"]["succeeded"] == 2


def test_retry_while_the_run_goes_on(smtune, dashboard):
    running(smtune, 2)
    smtune.ok("pause", "exp")
    go(smtune)
    running(smtune, 0)
    assert done(dashboard, "retry", {"jobs": [1, 2], "force": True}
                )["count"] == 2
    status, text = refused(dashboard, "retry", {"jobs": [99]})
    assert (status, text) == (404, "run 'exp': there is no trial 99")
    status, text = refused(dashboard, "retry", {"failed": True})
    assert "nothing has failed" in text
    done(dashboard, "resume")
    smtune("wait", "exp")
    assert [row["attempts"] for row in smtune.json("trials", "exp")][:3] == [
        2, 2, 1]
    status, text = refused(dashboard, "retry", {"failed": True})
    assert status == 409 and text.endswith(
        "in a terminal: smtune retry --failed exp")
    smtune.ok("replay", "exp")
    smtune.ok("fsck")


def test_a_step_is_retried_by_its_name(smtune, dashboard):
    smtune.ok("run", "flow.yaml", "--detach")
    wait_until(lambda: smtune.json("trials", "flow", "--state", "running",
                                   "--step", "b"))
    wait_until(lambda: len(smtune.json("trials", "flow", "--state", "failed")
                           ) == 2)
    (smtune.directory / "mended").touch()
    assert done(dashboard, "retry", {"step": "a"}, run=2)["count"] == 2
    status, text = refused(dashboard, "retry", {"step": "c"}, run=2)
    assert status == 404 and "'c'" in text
    assert "no steps" in refused(dashboard, "retry", {"step": "a"})[1]
    go(smtune)
    smtune.ok("wait", "flow")
    smtune("wait", "exp")


def test_notes_and_tags(smtune, dashboard):
    running(smtune, 2)
    done(dashboard, "note", {"text": "seen <b>"})
    done(dashboard, "note", {"job": 2, "text": "a\nb"})
    done(dashboard, "tag", {"jobs": [1, 2], "add": ["x", "y"]})
    done(dashboard, "tag", {"jobs": [1], "remove": ["x"]})
    done(dashboard, "tag", {"add": ["run's"]})
    assert [row["note"] for row in smtune.json("note", "exp")] == [
        "seen <b>", "a\nb"]
    assert [row["tags"] for row in smtune.json("tag", "exp")] == [
        ["run's"], ["y"], ["x", "y"]]
    done(dashboard, "note", {"text": ""})
    assert [row["id"] for row in smtune.json("note", "exp")] == [2]
    # all of them or none
    status, text = refused(dashboard, "tag", {"jobs": [1, 77], "add": ["z"]})
    assert (status, text) == (404, "run 'exp' has no trial 77")
    assert smtune.json("trials", "exp", "--tag", "z") == []
    go(smtune)
    smtune("wait", "exp")
    smtune.ok("fsck")


@pytest.mark.parametrize("verb, body, says", [
    ("stop", {"drian": True}, "did you mean 'drain'?"),
    ("stop", {"drain": "yes"}, "'drain' is true or false"),
    ("resume", {"now": True}, "unknown field 'now'"),
    ("retry", {"jobs": [0]}, "'jobs' is a list of jobs' numbers"),
    ("retry", {"jobs": 3}, "'jobs' is a list of jobs' numbers"),
    ("note", {}, "missing field 'text'"),
    ("note", {"text": "x", "job": "1"}, "'job' is a job's number"),
    ("note", {"text": "a\x1bb"}, "control characters"),
    ("note", {"text": "x" * 20000}, "at most 16384 bytes"),
    ("tag", {"add": ["x" * 65]}, "at most 64 bytes"),
    ("tag", {"add": [""]}, "must not be empty"),
    ("tag", {"add": [f"t{i}" for i in range(65)]}, "at most 64 tags"),
])
def test_a_wrong_body_is_refused(smtune, dashboard, verb, body, says):
    status, text = refused(dashboard, verb, body)
    assert status == 400 and says in text
    smtune.ok("stop", "exp")


def test_who_only_looks_may_do_nothing(smtune, dashboard):
    for verb in ("stop", "pause", "resume", "retry", "enqueue", "note", "tag"):
        status, reply = act(dashboard, verb, {"text": "x"}, role="viewer")
        assert (status, reply["error"]["kind"]) == (403, "forbidden")
    dashboard.end()
    with Dashboard(smtune, "--read-only") as looking:
        assert "operator" not in looking.tokens
        for verb in ("stop", "note"):
            assert act(looking, verb, role="viewer")[0] == 403
    running(smtune, 2)
    assert smtune.json("note", "exp") == []
    smtune.ok("stop", "exp")


def test_without_an_engine_it_says_what_to_type(smtune, dashboard):
    running(smtune, 2)
    pid = status_of(smtune)["engine_pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: status_of(smtune)["state"] == "interrupted")
    for verb, typed in (("stop", "smtune stop exp"),
                        ("pause", "smtune resume exp"),
                        ("resume", "smtune resume exp"),
                        ("retry", "smtune retry exp")):
        status, text = refused(dashboard, verb)
        assert status == 409 and typed in text
    done(dashboard, "note", {"text": "killed"})
    smtune.ok("stop", "exp")
