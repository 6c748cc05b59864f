# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings are enqueued while the engine is killed: what was acknowledged is
tried exactly once, and what was not is tried at most once."""

import collections
import sqlite3

import pytest

# Trials take their time, so that most of what the engine does meanwhile is
# what it is asked for.
SIZE = {"trials": 10, "parallel": 2, "pause": 0.6}
ASKED = 6


def values_tried(it):
    with sqlite3.connect(f"file:{it.store}/smtune.db?mode=ro",
                         uri=True) as record:
        return collections.Counter(
            value for value, in record.execute("SELECT value FROM param_value"))


def enqueue_until_it_dies(it, engine):
    """What was asked for, what of that was promised, and how often the engine
    lived on. The last one may find none: it goes into the record."""
    asked, promised, alive = [], [], 0
    for i in range(ASKED):
        value = (2 * i + 1) / 64
        asked.append(value)
        if it.start("enqueue", "drill", f"x={value}").wait(60) == 0:
            promised.append(value)
        if engine.poll() is not None:
            break
        alive += 1
    return asked, promised, alive


@pytest.mark.parametrize("part", range(4))
def test_each_is_tried_once(drill, part):
    alive, n = 0, 100 + 25 * part
    while n < 400 or alive == 0:  # which it is in the end: nobody kills it
        n += 100
        it = drill(**SIZE)
        engine = it.go_on(f"smtune:kill:change@{n}")
        it.wait_while_alive(engine, it.ran)
        asked, promised, count = enqueue_until_it_dies(it, engine)
        engine.wait(30)
        alive += count
        it.check_record()
        assert it.go_on().wait(60) == 0, it.last_said()
        it.check_record()
        it.check_processes()
        it.check_store()
        assert it.start("replay", "drill").wait(60) == 0, it.last_said()
        tried = values_tried(it)
        assert [tried[x] for x in promised] == [1] * len(promised), n
        assert all(tried[x] <= 1 for x in asked), n
