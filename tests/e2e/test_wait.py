# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune wait: ends with the run, and says how it ended."""

import os
import signal

import pytest

from programs import wait_until


@pytest.fixture
def detached(smtune, experiment):
    """A run whose trials wait for the file `go`."""
    experiment("until [ -e go ]; do sleep 0.1; done; echo loss=${{ x }}",
               name="waited", trials=2, parallel=1)

    def start(*words):
        smtune.ok("run", "waited.yaml", "--detach", *words)
    return start


def go(smtune):
    (smtune.directory / "go").touch()


@pytest.mark.sanitized
def test_it_ends_with_the_run(smtune, detached):
    detached()
    waiting = smtune.start("wait", "last")
    assert smtune("wait", "last", "--timeout", "0").returncode == 124
    assert waiting.poll() is None
    go(smtune)
    out, _ = waiting.communicate(timeout=30)
    assert waiting.returncode == 0
    assert "succeeded" in out
    assert smtune.json("wait", "waited") == {
        "run": "waited", "state": "succeeded",
        "reason": "trial budget used up (2 of 2)"}


def test_it_gives_up_after_the_timeout(smtune, detached):
    detached()
    result = smtune("wait", "waited", "--timeout", "200ms")
    assert result.returncode == 124
    assert result.stderr == "smtune: run 'waited' is still running\n"
    assert smtune("wait", "waited", "-q", "--timeout", "0").stderr == ""
    go(smtune)
    smtune.ok("wait", "waited")


@pytest.mark.parametrize("words, status", [
    (["--set", "budget.target=-1"], 6),
    (["--set", "budget.target=2"], 0),
    (["--set", "trial.shell=exit 1"], 6),
])
def test_its_status_is_the_runs(smtune, detached, words, status):
    go(smtune)
    detached(*words)
    assert smtune("wait", "waited").returncode == status


def test_a_stopped_run_is_not_done(smtune, detached):
    detached()
    waiting = smtune.start("wait", "waited")
    smtune.ok("stop", "waited")
    out, _ = waiting.communicate(timeout=30)
    assert waiting.returncode == 1
    assert "stopped" in out
    go(smtune)
    smtune.ok("resume", "waited")
    smtune.ok("wait", "waited")


def test_an_engine_that_died_is_noticed(smtune, detached):
    detached()
    pid = wait_until(lambda: smtune.json("status", "waited")["engine_pid"])
    os.kill(pid, signal.SIGKILL)
    result = smtune("wait", "waited")
    assert result.returncode == 1
    assert "smtune resume waited" in result.stderr
    go(smtune)
    smtune.ok("resume", "waited")


def test_there_is_no_such_run(smtune, detached):
    assert smtune("wait", "waited").returncode == 4
    go(smtune)
    detached()
    smtune.ok("wait", "waited")
    result = smtune("wait", "waitd")
    assert result.returncode == 4
    assert "waited" in result.stderr
