# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine is asked for something while what it writes fails: it says yes only
to what it did, and what it could not do is said to have failed, once."""

import sqlite3

import pytest

# Trials take their time, so that most of what the engine does meanwhile is
# what it is asked for.
SIZE = {"trials": 6, "parallel": 2, "pause": 0.5}

NINE_HOURS_MS = 9 * 3600 * 1000
FAULTS = ["EIO:commit", "EIO:fsync", "ENOSPC:write"]


def query(it, text):
    with sqlite3.connect(f"file:{it.store}/smtune.db?mode=ro",
                         uri=True) as record:
        return [row[0] for row in record.execute(text)]


def is_over(it, trial):
    return trial in query(
        it, "SELECT number FROM job WHERE state = 'succeeded'")


def ask(it, engine):
    """What was promised, and what was refused: {word: is_promised}."""
    promised = {}
    it.wait_while_alive(engine, it.ran)
    for words in (["enqueue", "drill", "x=0.515625"],
                  ["retry", "drill", "1", "--force"],
                  ["resume", "drill", "--trials", "7", "--time", "9h"],
                  ["pause", "drill"]):
        if not it.wait_while_alive(engine, lambda: is_over(it, 1)):
            break
        client = it.start(*words)
        status = client.wait(60)
        said = it.last_said()
        if words[0] != "resume" or engine.poll() is None:
            promised[words[0]] = status == 0
        if status != 0:
            errors = [line for line in said.splitlines()
                      if line.startswith("smtune: ")]
            assert len(errors) == 1 and not errors[0].endswith(": "), said
    return promised


@pytest.mark.parametrize("fault", FAULTS)
def test_yes_is_said_to_what_was_done(sanitized_drill, fault):
    n, struck = 4, True
    while struck:
        n += 1 + n // 4
        it = sanitized_drill(**SIZE)
        engine = it.go_on(f"smtune:{fault}@{n}")
        began = it.engines
        promised = ask(it, engine)
        if promised.get("pause"):
            it.start("resume", "drill").wait(60)  # or that is what fails
        engine.wait(60)
        log = it.directory / f"log-{began}"
        struck = log.exists() and " struck " in log.read_text()
        print(fault, n, promised)
        it.check_record()
        assert it.go_on().wait(60) == 0, it.last_said()
        it.check_record()
        it.check_processes()
        it.check_store()
        assert it.start("replay", "drill").wait(60) == 0, it.last_said()
        tried = query(it, "SELECT value FROM param_value").count(0.515625)
        assert tried <= 1 and tried >= promised.get("enqueue", 0), n
        if promised.get("retry"):
            assert "reopened" in query(it, "SELECT event FROM event"), n
        if promised.get("resume"):
            assert it.budget() == (7, NINE_HOURS_MS), n


def runs(it):
    """Whether the record has it that a trial does."""
    return "attempt_running" in query(it, "SELECT event FROM event")


@pytest.mark.quick
def test_no_is_said_where_nothing_else_fails(sanitized_drill):
    """The engine's one trial sleeps: what it commits is what it is asked for.
    How often it has committed before depends a little on the machine's load: the
    commit that fails is looked for more than once."""
    for n in 3 * list(range(3, 20)):
        it = sanitized_drill(trials=2, parallel=1, pause=60)
        engine = it.go_on(f"smtune:EIO:commit@{n}")
        if not it.wait_while_alive(engine, lambda: it.ran() and runs(it)):
            continue  # what failed came before
        status = it.start("enqueue", "drill", "x=0.515625").wait(60)
        said = it.last_said()
        engine.terminate()
        engine.wait(60)
        it.check_record()
        it.check_store()
        assert len(query(it, "SELECT idx FROM enqueued")) == (status == 0), n
        if status != 0:
            break
    assert "the commit was made to fail" in said, said
