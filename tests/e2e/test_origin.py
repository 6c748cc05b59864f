# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run was started from, beside its file: machine, command, environment,
and what of the code is in no commit."""

import json
import platform
import subprocess

import pytest

from dashboards import Dashboard

SECRET = "hunter2hunter2"


@pytest.fixture
def git(smtune):
    def call(*words):
        return subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org",
             *words],
            cwd=smtune.directory, check=True, capture_output=True, text=True)
    return call


def origins(smtune):
    return [json.loads(detail) for detail, in smtune.query(
        "SELECT detail FROM event WHERE event = 'origin' ORDER BY seq")]


@pytest.mark.sanitized
def test_record_has_machine_command_and_environment(smtune, experiment,
                                                    monkeypatch):
    monkeypatch.setitem(smtune.env, "COLOUR", "blue")
    monkeypatch.setitem(smtune.env, "HF_TOKEN", SECRET)
    monkeypatch.setitem(smtune.env, "ALSO", f"a {SECRET} b")
    monkeypatch.setitem(smtune.env, "PIN", "12")
    path = experiment(trials=1, env_from=["PIN"])
    smtune.ok("run", path, "--set", f"trial.env.MORE={SECRET[::-1]}")
    origin, = origins(smtune)
    assert origin["host"] == platform.node()
    assert origin["system"].startswith("Linux ")
    assert "run" in origin["command"] and str(path) in origin["command"]
    assert origin["environment"]["COLOUR"] == "blue"
    assert origin["environment"]["HF_TOKEN"] == "***"
    assert origin["environment"]["PIN"] == "***"
    text = json.dumps(origin)
    assert SECRET not in text and SECRET[::-1] not in text
    assert origin["diff"] is None and not origin["is_cut"]
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_an_origin_is_recorded_when_it_differs(smtune, experiment, monkeypatch):
    smtune.ok("run", experiment(trials=1))
    smtune.ok("resume", "exp", "--trials", "2")
    smtune("resume", "exp", "--trials", "2")
    first, second = origins(smtune)
    assert "resume" in second["command"]
    assert first["environment"] == second["environment"]
    with Dashboard(smtune) as dashboard:
        answer = dashboard.get("/api/v1/runs/1/origin", role="viewer").json()
    assert [engine["command"] for engine in answer["engines"]] == \
        [first["command"], second["command"]]
    smtune.ok("fsck")


def test_changes_of_the_code_are_recorded(smtune, git, experiment, write):
    write("train", "old\n")
    git("init", "-q")
    git("add", "train")
    git("commit", "-qm", "train")
    write("train", f"new\nTOKEN_OF = 'x'\nHF_TOKEN={SECRET}\n")
    smtune.ok("run", experiment(trials=1))
    diff = origins(smtune)[0]["diff"]
    assert "\n-old\n+new\n" in diff
    assert SECRET not in diff


def test_very_long_changes_are_cut(smtune, git, experiment, write):
    write("train", "old\n")
    git("init", "-q")
    git("add", "train")
    git("commit", "-qm", "train")
    write("train", "a new line\n" * 50_000)
    smtune.ok("run", experiment(trials=1))
    origin, = origins(smtune)
    assert origin["is_cut"]
    assert 100_000 < len(origin["diff"]) <= 256 << 10
    assert origin["diff"].endswith("+a new line\n")
