# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of a run is corrected, and whoever takes it over is killed: the run
follows the one file or the other, and what was acknowledged holds."""

import sqlite3

import pytest

BEFORE, AFTER = 3, 6


def correct(it):
    path = it.directory / "drill.yaml"
    path.write_text(path.read_text().replace(f"trials: {BEFORE}",
                                             f"trials: {AFTER}"))


def is_edited(it):
    with sqlite3.connect(f"file:{it.store}/smtune.db?mode=ro",
                         uri=True) as record:
        events, = record.execute(
            "SELECT count(*) FROM event WHERE event = 'edited'").fetchone()
        rows = record.execute(
            "SELECT count(*) FROM run WHERE edited_spec IS NOT NULL").fetchone()
    assert rows == (events,)
    return events == 1


def finish(it, expected):
    """With the corrected file, whether it was taken over by now or not."""
    if not is_edited(it):
        assert it.start("edit", "drill").wait(60) == 0, it.last_said()
    it.finish(expected(trials=AFTER))
    assert it.start("replay", "drill").wait(60) == 0, it.last_said()


@pytest.mark.parametrize("part", range(3))
def test_without_an_engine(drill, expected, part):
    seen, status, n = set(), -9, part
    while status == -9:
        n += 60 if True in seen else 3
        it = drill(trials=BEFORE)
        assert it.go_on().wait(60) == 0, it.last_said()
        correct(it)
        edit = it.start("edit", "drill", fault=f"smtune:kill:change@{n}")
        status = edit.wait(60)
        it.check_record()
        it.check_store()
        seen.add(is_edited(it))
        finish(it, expected)
    assert status == 0 and seen == {False, True}


@pytest.mark.parametrize("part", range(3))
def test_an_engine_dies_of_it(drill, expected, part):
    """At any moment from the request to well into the session behind it."""
    edited, status, n = 0, -9, 150 + 15 * part
    while status == -9:
        n += 45
        it = drill(trials=BEFORE, pause=0.4)
        engine = it.go_on(f"smtune:kill:change@{n}")
        alive = it.wait_while_alive(engine, it.ran)
        correct(it)
        if alive and it.start("edit", "drill").wait(60) == 0:
            edited += 1
            assert is_edited(it), n
        status = engine.wait(60)
        it.check_record()
        it.check_store()
        finish(it, expected)
    assert status == 0 and edited > 0
