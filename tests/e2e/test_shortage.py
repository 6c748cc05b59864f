# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the machine has no room for a while: the run waits, and goes on."""

import os
import pathlib
import pwd
import shutil
import sqlite3
import subprocess
import tempfile

import pytest

import files
from programs import Smtune, wait_until

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


class Story:
    """A run in the background, what it says, and what its trials say."""

    def __init__(self, smtune, trials, start):
        self.smtune = smtune
        self.trials = trials
        self.evidence = smtune.directory / "ran"
        self.evidence.touch(mode=0o666)
        self.evidence.chmod(0o666)
        path = smtune.directory / "exp.yaml"
        path.write_text(files.experiment(f"""
            echo $SMTUNE_JOB >> {self.evidence}
            sleep 0.05
            echo loss=${{{{ x }}}}
            """, trials=trials))
        self.said = smtune.directory / "said"
        with open(self.said, "w") as file:
            self.engine = start("run", path, stderr=file)

    def ran(self):
        return [int(line) for line in self.evidence.read_text().split()]

    def wait_for_trials(self, count):
        wait_until(lambda: len(self.ran()) >= count, what=f"{count} trials")

    def wait_for_words(self, words):
        wait_until(lambda: words in self.said.read_text(),
                   what=f"{words!r} in {self.said.read_text()!r}")

    def ends_well(self, every_trial_once=True):
        assert self.engine.wait(60) == 0, self.said.read_text()
        rows = self.smtune.json("trials", "exp")
        assert [row["state"] for row in rows] == ["succeeded"] * self.trials
        if every_trial_once:
            assert sorted(self.ran()) == list(range(1, self.trials + 1))


@pytest.fixture
def small_disk(smtune):
    """The store lies on a disk of 8 MiB."""
    smtune.store.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs",
                    smtune.store], check=True)
    yield smtune.store
    smtune.kill_left_behind()
    subprocess.run(["umount", "-l", smtune.store], check=True)


def fill(path):
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


@pytest.mark.sanitized
@as_root
def test_a_full_disk_is_waited_for(smtune, small_disk):
    story = Story(smtune, 60, smtune.start)
    story.wait_for_trials(4)
    fill(small_disk / "filler")
    story.wait_for_words("no trials start for now")
    assert story.engine.poll() is None
    (small_disk / "filler").unlink()
    story.ends_well(every_trial_once=False)
    # One whose files the full disk did not take may have run again.
    assert set(story.ran()) == set(range(1, 61))


def test_a_locked_database_is_waited_for(smtune):
    story = Story(smtune, 60, smtune.start)
    story.wait_for_trials(4)
    locker = sqlite3.connect(smtune.store / "smtune.db", timeout=30,
                             isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    story.wait_for_words(f"process {os.getpid()} keeps it locked")
    locker.execute("ROLLBACK")
    locker.close()
    story.ends_well()


@pytest.fixture
def nobodys():
    """A Smtune of somebody who is not root, with a start() of its own."""
    nobody = pwd.getpwnam("nobody")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="smtune-test-"))
    os.chown(directory, nobody.pw_uid, nobody.pw_gid)
    runner = Smtune(directory)
    runner.as_nobody = {"user": nobody.pw_uid, "group": nobody.pw_gid,
                        "extra_groups": []}
    try:
        runner.start("version", **runner.as_nobody).wait(10)
    except PermissionError:
        pytest.skip("the programs are where only root may go")
    yield runner
    runner.kill_left_behind()
    runner.close()
    shutil.rmtree(directory)


def allow_processes(whose, process, count):
    subprocess.run(["prlimit", "--pid", str(process), f"--nproc={count}:"],
                   check=True, **whose)


@as_root
def test_a_missing_process_is_no_trials_fault(nobodys):
    story = Story(nobodys, 20, lambda *words, **options: nobodys.start(
        *words, **options, **nobodys.as_nobody))
    story.wait_for_trials(2)
    agent = next(pid for pid, command in nobodys.left_behind().items()
                 if "smtune-shim" in command)
    allow_processes(nobodys.as_nobody, agent, 1)
    story.wait_for_words("cannot create a process")
    allow_processes(nobodys.as_nobody, agent, 1000)
    story.ends_well()
    database = sqlite3.connect(nobodys.store / "smtune.db")
    causes = database.execute("SELECT DISTINCT cause FROM attempt").fetchall()
    database.close()
    assert sorted(causes) == [("launch_error",), ("ok",)]


@pytest.mark.parametrize("command", [("run", "it.yaml"), ("resume", "it"),
                                     ("stop", "it"),
                                     ("launch", "-n", 1, "--", "true"),
                                     ("dashboard", "--port", 0), ("doctor",)])
def test_without_descriptors_one_line_says_so(smtune, experiment, command):
    experiment("echo loss=1", name="it", trials=1)
    for files in range(4, 26, 3):
        result = subprocess.run(
            ["prlimit", f"--nofile={files}", "smtune", *map(str, command)],
            env=smtune.environment(), cwd=smtune.directory,
            capture_output=True, text=True, timeout=60)
        assert result.returncode == 1
        assert result.stderr == (
            "smtune: cannot open 24 files at once: the limit of this process "
            f"is {files} (raise it with 'ulimit -n')\n")
    assert not smtune.store.exists()


def test_with_few_descriptors_a_run_succeeds(smtune, experiment):
    path = experiment("sleep 0.1; echo loss=1", name="it", trials=20,
                      parallel=10)
    for limit in ("28:28", "9:60"):
        subprocess.run(["prlimit", f"--nofile={limit}", "smtune", "run", path],
                       env=smtune.environment(), cwd=smtune.directory,
                       capture_output=True, check=True, timeout=60)
