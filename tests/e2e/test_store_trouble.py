# SPDX-License-Identifier: GPL-3.0-or-later
"""A store that is damaged, locked, or cannot be written to: one line each, and
the file as it was."""

import functools
import os
import signal
import sqlite3
import subprocess
import time

import pytest

from programs import wait_until

PAGE = 4096
READERS = [("ls",), ("show", "exp"), ("trials", "exp"), ("best", "exp"),
           ("fsck",), ("backup", "copy.db", "-f"), ("replay", "exp")]


@pytest.fixture
def experiment(experiment):
    return functools.partial(experiment, trials=12)


@pytest.fixture
def database(smtune, experiment):
    smtune.ok("run", experiment())
    return smtune.store / "smtune.db"


def put(path, content):
    """In place of the database, without what lay beside it."""
    for more in "-wal", "-shm", "-journal":
        path.with_name(path.name + more).unlink(missing_ok=True)
    path.write_bytes(content)


def must_be_told(smtune, *words, code=(0, 1)):
    """It ends, in a result or in one line of its own."""
    result = smtune(*words, timeout=60)
    assert result.returncode in code, (words, result.stderr)
    errors = [line for line in result.stderr.splitlines()
              if line.startswith("smtune: ")]
    assert "Sanitizer" not in result.stderr
    if result.returncode != 0 and words[0] not in ("fsck", "replay"):
        assert len(errors) == 1, (words, result.stderr)
    return result


@pytest.mark.sanitized
def test_any_page_may_be_damaged(smtune, database):
    """Readers never crash, hang or change the file."""
    good = database.read_bytes()
    noticed = 0
    for page in range(len(good) // PAGE):
        bad = bytearray(good)
        bad[page * PAGE:(page + 1) * PAGE] = b"\xa5" * PAGE
        put(database, bad)
        command = READERS[page % len(READERS)]
        must_be_told(smtune, *command, code=(0, 1, 4))
        noticed += must_be_told(smtune, "fsck").returncode != 0
        assert database.read_bytes() == bad, f"page {page}: {command}"
    assert noticed > len(good) // PAGE * 0.7


def test_the_file_may_end_anywhere(smtune, database):
    """What a reader does not need may be missing: then it says what it says of
    the whole. fsck misses all."""
    good = database.read_bytes()
    whole = [smtune(*command).stdout for command in READERS[:4]]
    for page in range(0, len(good) // PAGE, 3):
        put(database, good[:page * PAGE + 100 * (page % 2)])
        before = database.read_bytes()
        result = must_be_told(smtune, *READERS[page % 4], code=(0, 1, 4))
        assert result.returncode != 0 or result.stdout == whole[page % 4]
        must_be_told(smtune, "fsck", code=(1, 4))
        assert database.read_bytes() == before, f"page {page}"


def test_a_run_in_a_damaged_store_ends_in_one_line(
        smtune, database, experiment):
    good = database.read_bytes()
    path = experiment()
    for page in range(0, len(good) // PAGE, 4):
        bad = bytearray(good)
        bad[page * PAGE:(page + 1) * PAGE] = b"\xa5" * PAGE
        put(database, bad)
        for command in ("resume", "exp"), ("run", path, "--name", f"r{page}"):
            result = smtune(*command, timeout=60)
            assert result.returncode in range(7), result.stderr
            assert "Sanitizer" not in result.stderr


@pytest.mark.parametrize("content, word", [
    (b"", "is empty"), (b"nonsense " * 2000, "not a database"),
    (b"SQLite format 3\0" + bytes(4080), "damaged")],
    ids=["empty", "garbage", "zeroes"])
def test_something_else_in_its_place(smtune, database, content, word):
    put(database, content)
    for command in READERS:
        result = must_be_told(smtune, *command, code=(1, 4))
        assert word in result.stderr, result.stderr
        assert database.read_bytes() == content


def test_a_folder_in_its_place(smtune, database):
    put(database, b"")
    database.unlink()
    database.mkdir()
    for command in READERS:
        must_be_told(smtune, *command, code=(1,))
    assert list(database.iterdir()) == []


def test_its_log_may_be_gone_or_another_ones(smtune, database, experiment):
    """What was in the log is lost then; nothing else is."""
    log = database.with_name("smtune.db-wal")
    engine = smtune.start("run", experiment("sleep 30; echo loss=1"),
                          "--name", "slow")
    wait_until(lambda: "running" in smtune("trials", "slow").stdout)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    content, saved = database.read_bytes(), log.read_bytes()
    assert saved
    put(database, content)
    must_be_told(smtune, "ls")
    assert must_be_told(smtune, "fsck").returncode == 0
    put(database, content)
    log.write_bytes(b"\x5a" * len(saved))
    must_be_told(smtune, "ls")
    put(database, content)
    log.write_bytes(saved[:len(saved) // 2])
    must_be_told(smtune, "ls")
    put(database, content)
    log.write_bytes(saved)
    assert must_be_told(smtune, "fsck").returncode == 0
    smtune("stop", "slow")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts")
def test_a_medium_that_is_read_only(smtune, database, experiment, build):
    """ls and the like work; what writes says so."""
    path = experiment()
    ours = ["unshare", "-m", "sh", "-c",
            'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" "$1" &&'
            ' shift && exec "$@"', "sh", str(smtune.store)]

    def inside(*words):
        return subprocess.run(
            [*ours, str(build / "smtune"), *map(str, words)], text=True,
            cwd=smtune.directory, env=smtune.env, timeout=60,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    if inside("version").returncode != 0:
        pytest.skip("no mounts here")
    for command in ("ls",), ("show", "exp"), ("fsck",), ("backup", "copy.db"):
        result = inside(*command)
        assert result.returncode == 0, result.stderr
    for command in (("run", path), ("rm", "exp"), ("fsck", "--repair")):
        result = inside(*command)
        assert result.returncode == 1, result.stderr
        line, = [line for line in result.stderr.splitlines()
                 if line.startswith("smtune: ")]
        assert str(smtune.store) in line and "ead-only" in line


def test_a_lock_is_waited_for_and_its_holder_named(
        smtune, database, experiment):
    path = experiment()
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    start = time.monotonic()
    result = smtune("run", path, "--name", "late", timeout=60)
    assert result.returncode == 5
    assert f"process {os.getpid()} keeps it locked" in result.stderr
    assert 4 < time.monotonic() - start < 30
    smtune.ok("ls")
    holder.execute("ROLLBACK")
    holder.close()
    smtune.ok("run", path, "--name", "late")


def test_a_run_outlives_a_lock(smtune, experiment):
    """Somebody keeps the store locked for longer than is waited for."""
    engine = smtune.start(
        "run", experiment("sleep 0.1; echo x >>ran-$SMTUNE_JOB;"
                          " echo loss=${{ x }}", trials=40),
        env={"SMTUNE_LOG": "engine=warning:log"})
    log = smtune.directory / "log"
    database = smtune.store / "smtune.db"
    wait_until(lambda: database.exists() and
               smtune("trials", "exp").stdout.count("succeeded") > 3)
    holder = sqlite3.connect(database, isolation_level=None, timeout=30)
    holder.execute("BEGIN IMMEDIATE")
    wait_until(lambda: log.exists() and "keeps it locked" in log.read_text(),
               60, "an engine that gives up waiting")
    holder.execute("ROLLBACK")
    holder.close()
    assert engine.wait(timeout=120) == 0
    assert len(smtune.json("trials", "exp")) == 40
    for trial in range(1, 41):
        assert (smtune.directory / f"ran-{trial}").read_text() == "x\n"
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


# ---- saving what can be read ----

def rows_of(path, table):
    with sqlite3.connect(path) as database:
        rows = set(database.execute(f"SELECT * FROM {table}"))
    database.close()
    return rows


def test_what_can_be_read_is_saved(smtune, database, experiment):
    """Page by page; where the events are whole, so is the record."""
    smtune.ok("run", experiment(trials=150), "--name", "long")
    smtune.ok("ls")
    good = database.read_bytes()
    trials = {name: smtune.json("trials", name) for name in ("exp", "long")}
    wholes, hopeless = 0, []
    pages = [*range(30), *range(30, len(good) // PAGE, 7)]
    for page in pages:
        bad = bytearray(good)
        bad[page * PAGE:(page + 1) * PAGE] = b"\xa5" * PAGE
        put(database, bad)
        if smtune("fsck").returncode == 0:
            continue  # a page that holds nothing
        result = smtune("fsck", "--repair", timeout=60)
        assert result.returncode in (0, 1), result.stderr
        assert "Sanitizer" not in result.stderr
        if "rows saved" not in result.stderr:
            hopeless.append(page)
            assert "no readable data in" in result.stderr, result.stderr
            assert database.read_bytes() == bad
            continue
        kept, = smtune.store.glob("smtune.db.damaged-*Z")
        assert kept.read_bytes() == bad
        with sqlite3.connect(database) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == (
                "ok",)
        connection.close()
        if result.returncode == 0:
            wholes += 1
            assert {name: smtune.json("trials", name)
                    for name in ("exp", "long")} == trials, f"page {page}"
        for more in smtune.store.glob("smtune.db.*-*"):
            more.unlink()
        assert not list(smtune.store.glob("salvage*"))
    assert wholes > len(pages) / 2 and len(hopeless) < 4, (wholes, hopeless)


def test_what_is_left_of_a_file_is_saved(smtune, database, experiment):
    """Whatever was cut off its end, within a page, too."""
    smtune.ok("run", experiment(trials=150), "--name", "long")
    smtune.ok("ls")
    good = database.read_bytes()
    before = rows_of(database, "event")
    found = []
    for quarters in (3, 2):
        for odd in (0, 100, 2000):
            bad = good[:len(good) // PAGE * quarters // 4 * PAGE + odd]
            put(database, bad)
            result = smtune("fsck", "--repair", timeout=60)
            assert "rows saved" in result.stderr, result.stderr
            kept, = smtune.store.glob("smtune.db.damaged-*Z")
            assert kept.read_bytes() == bad
            after = rows_of(database, "event")
            assert after <= before or odd  # half a row may look like one
            found.append(len(after))
            smtune.ok("ls")
            for more in smtune.store.glob("smtune.db.*-*"):
                more.unlink()
    assert len(before) / 4 < found[0] <= found[1] <= found[2], found
    assert found[3] <= found[0], found


def test_many_pages_may_be_damaged(smtune, database, experiment):
    smtune.ok("run", experiment(trials=150), "--name", "long")
    smtune.ok("ls")
    good = database.read_bytes()
    before = rows_of(database, "event")
    bad = bytearray(good)
    for page in range(5, len(good) // PAGE, 7):
        bad[page * PAGE:(page + 1) * PAGE] = os.urandom(PAGE)
    put(database, bad)
    result = smtune("fsck", "--repair", timeout=60)
    assert "rows saved" in result.stderr, result.stderr
    after = rows_of(database, "event")
    assert after <= before and len(after) > len(before) / 3
    smtune.ok("ls")
