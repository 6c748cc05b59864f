# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that has ended gets more trials, and whoever gives them to it is
killed: either it has them, and goes on with them, or it has not."""

import sqlite3

import pytest

BEFORE, AFTER = 3, 6


def budget(it):
    """None: as its file says."""
    with sqlite3.connect(f"file:{it.store}/smtune.db?mode=ro",
                         uri=True) as record:
        return record.execute("SELECT budget_trials FROM run").fetchone()[0]


@pytest.mark.parametrize("part", range(3))
def test_it_has_them_or_not(drill, expected, part):
    seen, status, n = set(), -9, part
    while status == -9:
        n += 60 if AFTER in seen else 3
        it = drill(trials=BEFORE)
        assert it.go_on().wait(60) == 0, it.last_said()
        more = it.start("resume", "drill", "--trials", str(AFTER),
                        fault=f"smtune:kill:change@{n}")
        status = more.wait(60)
        it.check_record()
        seen.add(budget(it))
        it.check_store()
        if status == -9 and budget(it) is None:
            assert it.ran() == BEFORE, n
            more = it.start("resume", "drill", "--trials", str(AFTER))
            assert more.wait(60) == 0, it.last_said()
        it.finish(expected(trials=AFTER))
        assert it.start("replay", "drill").wait(60) == 0, it.last_said()
    assert status == 0 and seen == {None, AFTER}
