# SPDX-License-Identifier: GPL-3.0-or-later
"""The checker objects to doctored evidence, records and claims, and to nothing
where nothing was doctored."""

import os
import re
import sqlite3
import subprocess

import pytest

import checker
from drill import RUN, Drill

TRIALS = 4


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    it = Drill(tmp_path_factory.mktemp("checker") / "it", trials=TRIALS)
    assert it.go_on().wait(60) == 0, it.last_said()
    return it


@pytest.fixture
def it(pristine):
    """The run, and what is needed to put it back as it was."""
    files = {path: path.read_bytes() for path in pristine.evidence.iterdir()}
    files[pristine.store / "smtune.db"] = \
        (pristine.store / "smtune.db").read_bytes()
    yield pristine
    for path in pristine.evidence.iterdir():
        path.unlink()
    for path, content in files.items():
        path.write_bytes(content)


def complaints(it, said=None, is_strict=True):
    """All that the checker has to say."""
    record = checker.read_record(it.store, RUN)
    evidence = checker.read_evidence(it.evidence)
    expected = {trial: lines[0].value for trial, lines in it.pristine.items()}
    return "\n".join(
        checker.check_acknowledged(record, checker.read_acknowledged(
            it.last_said() if said is None else said)) +
        checker.check_attempts(record, evidence) +
        checker.check_end(record, evidence, expected, is_strict) +
        checker.check_processes(it.token))


@pytest.fixture(autouse=True)
def remember(it):
    it.pristine = checker.read_evidence(it.evidence)


def change(it, sql):
    database = sqlite3.connect(it.store / "smtune.db")
    database.execute("PRAGMA ignore_check_constraints = ON")
    assert database.execute(sql).rowcount != 0
    database.commit()
    database.close()


def test_nothing_to_say(it):
    assert complaints(it) == ""


def test_a_trial_that_ran_twice(it):
    path = it.evidence / "2"
    again = re.sub(r"(start|end) (\d+) (\d+)", r"\1 \2 99", path.read_text())
    path.write_text(path.read_text() + again)
    assert "trial 2 ran 2 times" in complaints(it)
    assert "attempt 99 of trial 2 ran without a record" in complaints(it)


def test_an_attempt_that_ran_twice(it):
    path = it.evidence / "3"
    path.write_text(path.read_text() * 2)
    assert re.search(r"attempt \d+ of trial 3 ran twice",
                     complaints(it, is_strict=False))


def test_a_trial_that_never_ran(it):
    (it.evidence / "1").unlink()
    assert "trial 1 never ran to its end" in complaints(it)
    assert "is ok in the record, and never came to its end" in complaints(it)


def test_a_trial_that_broke_off(it):
    path = it.evidence / "1"
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    assert "trial 1 never ran to its end" in complaints(it)


def test_another_suggestion(it):
    path = it.evidence / "4"
    path.write_text(path.read_text().replace(" 0.", " 7."))
    assert "trial 4 was given 7." in complaints(it)


def test_another_process(it):
    path = it.evidence / "4"
    path.write_text(re.sub(r"(start|end) \d+", r"\1 1", path.read_text()))
    assert "ran as process 1, and is" in complaints(it)


@pytest.mark.parametrize("sql, complaint", [
    ("DELETE FROM job_value WHERE job_id = 2", "trial 2 has None"),
    ("UPDATE job_value SET value = 2 WHERE job_id = 2", "trial 2 has 2.0"),
    ("UPDATE job SET state = 'failed' WHERE id = 3", "trial 3 is failed"),
    ("UPDATE job SET number = 9 WHERE id = 3", "the record has the trials"),
    ("UPDATE run SET state = 'running'", "the run is running"),
    ("UPDATE attempt SET state = 'running', cause = NULL WHERE id = 1",
     "attempt 1 is still running"),
    ("UPDATE attempt SET id = 77 WHERE id = 1",
     "attempt 1 of trial 1 ran without a record"),
    ("UPDATE attempt SET job_id = 2, number = 2 WHERE job_id = 1",
     "trial 2 has 2 good attempts"),
    ("UPDATE attempt SET job_id = 88 WHERE id = 1", "belong to nothing"),
    ("DELETE FROM run", "the run has no record"),
])
def test_a_doctored_record(it, sql, complaint):
    change(it, sql)
    assert complaint in complaints(it, said="")


def test_a_lost_result(it):
    change(it, "UPDATE job SET state = 'running' WHERE id = 2")
    assert f"{TRIALS} trials were said to have ended, and {TRIALS - 1} have" \
        in complaints(it)
    assert "trial 2 was said to have succeeded, and is running" in complaints(
        it, said="trial 2 succeeded  loss=0.17  3 ms  (new best; 1/4)\n")


def test_a_changed_result(it):
    assert "trial 2 was said to have 0.5, and has 0.1717" in complaints(
        it, said="trial 2 succeeded  loss=0.5  3 ms  (new best; 1/4)\n")


def test_half_a_line_says_nothing(it):
    assert complaints(it, said="trial 2 succeeded  loss=0.5 ") == ""


def test_a_run_that_is_gone():
    assert checker.check_acknowledged(None, checker.read_acknowledged(
        "trial 1 succeeded  loss=1  3 ms  (new best; 1/4)\n"))
    assert not checker.check_acknowledged(None, checker.read_acknowledged(""))


def test_a_damaged_database(it):
    path = it.store / "smtune.db"
    content = bytearray(path.read_bytes())
    pages = len(content) // 4096
    for page in range(2, pages):    # the counts of cells
        content[page * 4096 + 3:page * 4096 + 5] = b"\xff\xff"
    path.write_bytes(content)
    try:
        assert "damaged" in complaints(it)
    except sqlite3.DatabaseError as error:
        assert "malformed" in str(error)


def test_a_process_that_is_left(it):
    name, _, value = it.token.partition("=")
    process = subprocess.Popen(["sleep", "60"],
                               env={**os.environ, name: value})
    try:
        assert f"process {process.pid} is left: sleep 60" in complaints(it)
    finally:
        process.kill()
        process.wait()
