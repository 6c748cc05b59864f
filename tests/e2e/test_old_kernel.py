# SPDX-License-Identifier: GPL-3.0-or-later
"""A kernel that lacks the younger system calls, and a container whose filter
refuses them. Other tests run there with SMTUNE_DENIED=ENOSYS or EPERM."""

import subprocess

import pytest

from programs import BUILD, wait_until


@pytest.fixture(params=["ENOSYS", "EPERM"], autouse=True)
def denied(request, smtune):
    deny = [BUILD / "tests/e2e/deny", "all", request.param]
    if subprocess.run([*deny, "true"], check=False).returncode == 77:
        pytest.skip("no filter of system calls here")
    smtune.deny(request.param)


@pytest.mark.sanitized
def test_a_run(smtune, experiment):
    """Its code's revision is asked of git, whose end a thread waits for."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C",
           smtune.directory]
    path = experiment(trials=4, parallel=2)
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", path], check=True)
    subprocess.run([*git, "commit", "-qm", "a"], check=True)
    smtune.ok("run", path)
    assert smtune.states() == ["succeeded"] * 4
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, text=True,
                          capture_output=True).stdout.strip()
    assert smtune.json("show", "exp")["revision"] == head
    smtune.ok("fsck")


def test_a_run_is_stopped_and_resumed(smtune, experiment):
    go = smtune.directory / "go"
    path = experiment(f"""\
        test -e {go} || sleep 300 & wait
        echo loss=1
        """, trials=2, parallel=2)
    engine = smtune.start("run", path)
    wait_until(lambda: (smtune.store / "smtune.db").exists() and
               smtune("trials", "exp").stdout.count("running") == 2)
    smtune.ok("stop", "exp")
    assert engine.wait(5) != 0  # it ends with stop, which has ended
    assert not smtune.left_behind()
    go.touch()
    smtune.ok("resume", "exp")
    assert smtune.states() == ["succeeded"] * 2


def test_ranks_end_together(smtune):
    result = smtune("launch", "-n", 2, "--", "sh", "-c",
                    "test $RANK = 0 && exit 3; sleep 300")
    assert result.returncode == 3
    assert "rank 0 exited with status 3" in result.stderr


def test_doctor(smtune):
    rows = {row["check"]: row for row in smtune.json("doctor")}
    assert rows["kernel"]["found"].startswith("processes are watched by pid")
    assert rows["kernel"]["state"] == "ok"
