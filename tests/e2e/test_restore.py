# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune restore`: back to a copy, whatever the store is now, and never while a
run has an engine. test_backup.py has restores of a backup in a new folder."""

import contextlib
import shutil
import sqlite3
import subprocess
import sys

import pytest

from programs import wait_until


@pytest.fixture
def kept(smtune, experiment):
    """A store with a run, and that run in copy.db."""
    smtune.ok("run", experiment("echo loss=${{ x }}", trials=2))
    smtune.ok("backup", "copy.db")
    return smtune.store / "smtune.db"


def before(smtune):
    """The only database that a restore has replaced."""
    path, = smtune.store.glob("smtune.db.before-restore-*Z")
    return path


def names(smtune):
    return [run["name"] for run in smtune.json("ls")]


@contextlib.contextmanager
def reader_of(database):
    """A program that reads it, and is killed: the log stays as it is."""
    reader = subprocess.Popen(
        [sys.executable, "-c", "import sqlite3, sys, time;"
         "reader = sqlite3.connect(sys.argv[1]); reader.execute('BEGIN');"
         "print(reader.execute('SELECT count(*) FROM run').fetchone(), flush=True);"
         "time.sleep(60)", database], stdout=subprocess.PIPE)
    reader.stdout.readline()
    yield
    reader.kill()
    reader.communicate()


def test_the_previous_database_is_kept(smtune, experiment, kept):
    smtune.ok("run", experiment("echo loss=1", name="later", trials=1))
    # Its last changes are in its log, which goes with it.
    with reader_of(kept):
        smtune.ok("tag", "later", "--add", "logged")
    assert (smtune.store / "smtune.db-wal").stat().st_size > 0
    result = smtune("restore", "copy.db")
    assert result.returncode == 0
    path = before(smtune)
    assert result.stderr == f"the previous database: {path}\n"
    assert names(smtune) == ["exp"]
    assert kept.stat().st_mode & 0o777 == 0o600
    later = smtune.store / "later.db"
    path.rename(later)
    path.with_name(f"{path.name}-wal").rename(f"{later}-wal")
    smtune.ok("restore", later)
    assert names(smtune) == ["exp", "later"]
    assert smtune.json("tag", "later")[0]["tags"] == ["logged"]
    assert smtune.ok("replay", "exp").startswith("run 'exp': all 2 ")


def test_an_upgrade_is_undone(smtune, kept):
    """A newer smtune upgraded the store, and kept a copy. The copies of a run
    of today stand for both."""
    copy = smtune.store / "smtune.db.version-1-20260101T000000Z"
    shutil.copy(smtune.directory / "copy.db", copy)
    with sqlite3.connect(kept) as database:
        database.execute("CREATE VIEW schema_release AS SELECT '7.0' AS smtune")
        database.execute("PRAGMA user_version = 2")
    database.close()
    result = smtune("ls")
    assert result.returncode == 1
    assert "written by a newer smtune (its tables have version 2," in result.stderr
    way = f"use smtune 7.0 or a later one, or go back to the copy from before its " \
          f"upgrade: smtune restore {copy}\n"
    assert result.stderr.endswith(way)
    # A newer one is no copy to go back to.
    other = smtune("restore", kept)
    assert other.returncode == 1
    assert other.stderr.endswith(way)
    smtune.ok("restore", copy)
    assert names(smtune) == ["exp"]
    with sqlite3.connect(before(smtune)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (2,)
    database.close()


def test_a_damaged_store_goes_back(smtune, kept):
    kept.write_bytes(b"nonsense " * 2000)
    smtune.ok("restore", "copy.db")
    assert names(smtune) == ["exp"]
    assert before(smtune).read_bytes().startswith(b"nonsense")


def test_the_log_of_a_lost_database_is_not_used(smtune, kept):
    with reader_of(kept):
        smtune.ok("tag", "exp", "--add", "logged")
    kept.unlink()
    result = smtune("restore", "copy.db")
    assert (result.returncode, result.stderr) == (0, "")
    assert smtune.json("tag", "exp") == []
    assert smtune.json("fsck") == []


def damaged(path):
    data = bytearray(path.read_bytes())
    data[4096 * 3:4096 * 4] = b"\xa5" * 4096
    path.write_bytes(data)


@pytest.mark.parametrize("make, status, text", [
    (lambda path: path.unlink(), 4, "cannot open 'copy.db': No such file"),
    (lambda path: path.write_bytes(b""), 4, "copy.db' is empty"),
    (lambda path: path.write_text("text " * 1000), 1, "not a database"),
    (damaged, 1, "'copy.db': the database is damaged: "),
])
def test_nothing_changes_by_what_is_no_copy(smtune, kept, make, status, text):
    make(smtune.directory / "copy.db")
    files = {path: path.read_bytes() for path in smtune.store.glob("smtune.db*")}
    result = smtune("restore", "copy.db")
    assert result.returncode == status
    assert f"store '{smtune.store}' cannot be restored: " in result.stderr
    assert text in result.stderr
    assert files == {path: path.read_bytes()
                     for path in smtune.store.glob("smtune.db*")}


def test_no_folder_is_made_without_a_copy(smtune):
    assert smtune("restore", "none.db", "--store", "new").returncode == 4
    assert not (smtune.directory / "new").exists()


def test_a_run_with_an_engine_is_not_restored(smtune, experiment, kept):
    engine = smtune.start("run", experiment("sleep 60; echo loss=1", name="busy",
                                            trials=1))
    wait_until(lambda: smtune("status", "busy").returncode == 0 and
               "running" in smtune.ok("trials", "busy"))
    result = smtune("restore", "copy.db")
    assert result.returncode == 5
    assert "run 'busy' has an engine (pid " in result.stderr
    assert names(smtune) == ["exp", "busy"]
    smtune.ok("stop", "busy")
    engine.wait()
    smtune.ok("restore", "copy.db")
    assert names(smtune) == ["exp"]
