# SPDX-License-Identifier: GPL-3.0-or-later
"""The commit of git that a run's code is at."""

import os
import signal
import subprocess
import time

import pytest

from programs import wait_until

TRAIN = "#!/bin/sh\necho loss=$1\n"
WAITS = "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.1; done\necho loss=$1\n"


@pytest.fixture
def git(smtune):
    def call(*words):
        return subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org",
             *words],
            cwd=smtune.directory, check=True, capture_output=True,
            text=True).stdout.strip()
    return call


@pytest.fixture
def clone(git, write):
    """A clone with a commit of a program to train, whose name it is."""
    write("train", TRAIN).chmod(0o755)
    git("init", "-q")
    git("add", "train")
    git("commit", "-qm", "train")
    return git("rev-parse", "HEAD")


@pytest.fixture
def run(smtune, experiment):
    def start(*words):
        path = experiment(command="./train ${{ x }}", trials=2, parallel=1)
        return smtune.ok("run", path, *words)
    return start


def revision(smtune):
    return smtune.json("show", "exp")["revision"]


@pytest.mark.sanitized
def test_record_has_the_commit(smtune, clone, run):
    run()
    assert revision(smtune) == clone
    assert f"code:       {clone}\n" in smtune.ok("show", "exp")
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_files_that_git_keeps_have_changed(smtune, clone, run, write):
    write("train", TRAIN + "# better\n")
    run()
    assert revision(smtune) == f"{clone}-dirty"


def test_other_commit_is_told_on_resume(smtune, git, clone, run):
    run()
    git("commit", "-q", "--allow-empty", "-m", "nothing")
    now = git("rev-parse", "HEAD")
    told = smtune("resume", "exp", "--trials", "3").stderr
    assert f"the code is now at {now}; the run started with {clone}\n" in told
    assert revision(smtune) == now
    told = smtune("resume", "exp", "--trials", "4").stderr
    assert "the code is at" not in told
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_what_is_not_in_git_has_no_commit(smtune, run, write):
    write("train", TRAIN).chmod(0o755)
    run()
    assert revision(smtune) is None
    smtune.ok("fsck")


def test_git_that_hangs_delays_no_run_for_long(smtune, clone, run, write,
                                               monkeypatch):
    write("bin/git", "#!/bin/sh\nexec sleep 600\n").chmod(0o755)
    monkeypatch.setitem(smtune.env, "PATH",
                        f"{smtune.directory}/bin:{smtune.env['PATH']}")
    start = time.monotonic()
    run()
    assert time.monotonic() - start < 60
    assert revision(smtune) is None


def test_engine_that_was_killed_ended_before_the_code_changed(
        smtune, git, clone, run, write):
    write("train", WAITS).chmod(0o755)
    run("--detach")
    wait_until(lambda: smtune.json("status", "exp")["trials"]["running"] > 0)
    os.kill(smtune.json("status", "exp")["engine_pid"], signal.SIGKILL)
    git("commit", "-qam", "wait")
    write("go", "")
    smtune.ok("resume", "exp")
    assert revision(smtune) == git("rev-parse", "HEAD")
    words = [word for (word,) in smtune.query(
        "SELECT event FROM event WHERE event IN ('engine_started',"
        " 'engine_ended', 'revision_changed') ORDER BY seq")]
    assert words == ["revision_changed", "engine_started", "engine_ended",
                     "revision_changed", "engine_started", "engine_ended"]
