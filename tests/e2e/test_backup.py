# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune backup`: one file, of one moment, that can be gone on with by `smtune
restore`."""

import json
import os
import re
import signal
import sqlite3

import pytest

from programs import wait_until


@pytest.fixture
def experiment(experiment):
    return experiment("sleep 0.05; echo loss=${{ x }}", trials=40, parallel=4)


def restore(smtune, backup, name):
    folder = smtune.directory / name
    result = smtune("--store", folder, "restore", backup)
    assert (result.returncode, result.stderr) == (0, "")
    assert (folder / "smtune.db").stat().st_mode & 0o777 == 0o600
    return folder


@pytest.mark.sanitized
def test_a_backup_is_a_store(smtune, experiment, tmp_path):
    smtune.ok("run", experiment)
    result = smtune("backup", "copy.db")
    assert result.returncode == 0
    assert result.stdout.strip() == str(smtune.directory / "copy.db")
    assert "1 run, " in result.stderr
    backup = smtune.directory / "copy.db"
    assert backup.stat().st_mode & 0o777 == 0o600
    assert not list(smtune.directory.glob("copy.db-*"))
    folder = restore(smtune, backup, "restored")
    assert smtune.json("--store", folder, "trials", "exp") == smtune.json(
        "trials", "exp")
    # The attempts' files stayed where they were.
    result = smtune("--store", folder, "fsck", "-o", "json")
    assert [f["text"] for f in json.loads(result.stdout)] == [
        "missing folders of attempts: 40 (the first is this one)"]
    smtune.ok("--store", folder, "run", experiment)
    assert len(smtune.json("--store", folder, "ls")) == 2


def test_a_matrix_of_more_than_a_message(smtune, workflow, write):
    """The row and the event of its step have the same lines, masked or not."""
    write("in.txt", "".join(f"{i} --token=x{i} {'x' * 2000}\n"
                            for i in range(600)))
    smtune.ok("run", workflow("""\
  each:
    matrix: {line: {lines: in.txt}}
    if: copy = 599
    command: "true"
"""))
    smtune.ok("backup", "copy.db")
    folder = restore(smtune, smtune.directory / "copy.db", "restored")
    result = smtune("--store", folder, "fsck", "-o", "json")
    texts = [finding["text"] for finding in json.loads(result.stdout)]
    assert all(text.startswith("missing folder") for text in texts), texts


def test_names_and_what_is_there_already(smtune, experiment):
    smtune.ok("run", experiment)
    first = smtune.ok("backup").strip()
    assert re.fullmatch(
        rf"{smtune.directory}/smtune-backup-\d{{8}}T\d{{6}}Z\.db", first)
    (smtune.directory / "safe").mkdir()
    assert smtune.ok("backup", "safe").startswith(
        str(smtune.directory / "safe/smtune-backup-"))
    (smtune.directory / "x").write_text("mine")
    result = smtune("backup", "x")
    assert result.returncode == 5
    assert "file exists: '" in result.stderr and "--force" in result.stderr
    assert (smtune.directory / "x").read_text() == "mine"
    smtune.ok("backup", "-f", "x")
    with sqlite3.connect(smtune.directory / "x") as database:
        assert database.execute("SELECT count(*) FROM job").fetchone() == (40,)
    database.close()
    result = smtune("backup", "-f", smtune.store / "smtune.db")
    assert result.returncode == 2
    assert "is the database itself" in result.stderr
    assert smtune("backup", "none/x").returncode == 1
    assert smtune("--store", "none", "backup").returncode == 4
    assert not list(smtune.directory.glob("x.*"))


def test_of_a_run_that_goes_on(smtune, experiment):
    """Each is a record in itself, and the run does not notice."""
    engine = smtune.start("run", experiment)
    wait_until(lambda: (smtune.store / "smtune.db").exists() and
               smtune("trials", "exp").stdout.count("succeeded") > 2)
    backups = []
    while engine.poll() is None and len(backups) < 8:
        smtune.ok("backup", f"{len(backups)}.db")
        backups.append(smtune.directory / f"{len(backups)}.db")
    os.kill(engine.pid, signal.SIGSTOP) if engine.poll() is None else None
    smtune.ok("backup", "stopped.db")
    os.kill(engine.pid, signal.SIGCONT) if engine.poll() is None else None
    assert engine.wait() == 0
    assert len(smtune.json("trials", "exp")) == 40
    counts = []
    for backup in backups:
        folder = restore(smtune, backup, backup.stem)
        found = json.loads(
            smtune("--store", folder, "fsck", "-o", "json").stdout)
        assert all("missing folders of attempts" in f["text"]
                   for f in found), found
        counts.append(sum(t["state"] == "succeeded" for t in
                          smtune.json("--store", folder, "trials", "exp")))
    assert counts == sorted(counts)


def test_a_run_goes_on_from_a_backup(smtune, experiment):
    """What it did after the backup, it does again; those files are kept."""
    engine = smtune.start("run", experiment)
    wait_until(lambda: (smtune.store / "smtune.db").exists() and
               smtune("trials", "exp").stdout.count("succeeded") > 2)
    smtune.ok("backup", "copy.db")
    assert engine.wait() == 0
    before = smtune.json("trials", "exp")
    smtune.ok("restore", "copy.db")
    smtune.ok("resume", "exp")
    after = smtune.json("trials", "exp")
    assert [(t["state"], t["params"]) for t in after] == [
        ("succeeded", t["params"]) for t in before]
    assert all(f["severity"] == "note" for f in smtune.json("fsck"))
    kept = list(smtune.store.glob("runs/exp/attempts/*.unrecorded-1/exit"))
    assert 0 < len(kept) < 40


def test_a_run_of_the_name_of_one_that_is_lost(smtune, experiment):
    smtune.ok("run", experiment)
    for file in smtune.store.glob("smtune.db*"):
        file.unlink()
    smtune.ok("run", experiment)
    assert {t["state"] for t in smtune.json("trials", "exp")} == {"succeeded"}
    assert all(f["severity"] == "note" for f in smtune.json("fsck"))


def test_of_a_store_without_a_log(smtune, experiment):
    """Readers and writers wait for each other, and none is turned away."""
    smtune.env["SMTUNE_STORE_JOURNAL"] = "delete"
    engine = smtune.start("run", experiment)
    wait_until(lambda: (smtune.store / "smtune.db").exists() and
               smtune("trials", "exp").stdout.count("succeeded") > 2)
    for number in range(4):
        smtune.ok("backup", f"{number}.db")
        smtune.ok("ls")
        smtune.ok("fsck")
    assert engine.wait() == 0
    assert not (smtune.store / "smtune.db-wal").exists()
    assert len(smtune.json("trials", "exp")) == 40
    smtune.ok("--store", restore(smtune, smtune.directory / "3.db", "r"), "ls")


def test_a_damaged_database_is_no_backup(smtune, experiment):
    smtune.ok("run", experiment)
    path = smtune.store / "smtune.db"
    bytes_ = bytearray(path.read_bytes())
    bytes_[4096 * 3:4096 * 4] = b"\xa5" * 4096
    path.write_bytes(bytes_)
    result = smtune("backup", "copy.db")
    assert result.returncode == 1
    assert "damaged" in result.stderr and "smtune fsck" in result.stderr
    assert not list(smtune.directory.glob("copy.db*"))
    assert path.read_bytes() == bytes_
