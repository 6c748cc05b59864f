# SPDX-License-Identifier: GPL-3.0-or-later
"""Trials are put back while the engine is killed before it sends something, be
it the answer alone: each is run again exactly once for each time that it was
asked for, and whoever asks is told so."""

import collections
import sqlite3

import checker
import pytest

SIZE = {"trials": 6, "parallel": 2, "pause": 0.4}
PUT_BACK = (1, 2, 1)


def is_over(it, trial):
    with sqlite3.connect(f"file:{it.store}/smtune.db?mode=ro",
                         uri=True) as record:
        return (trial, "succeeded") in record.execute(
            "SELECT number, state FROM job").fetchall()


def put_back_until_it_dies(it, engine):
    """How often each was put back. The one of whose question the engine dies
    is the run's engine from then on."""
    asked = collections.Counter()
    for trial in PUT_BACK:
        if not it.wait_while_alive(engine, lambda: is_over(it, trial)):
            break
        assert it.start("retry", "drill", str(trial), "--force").wait(60) == 0, \
            it.last_said()
        assert "1 trial runs again" in it.last_said()
        asked[trial] += 1
    return asked


@pytest.mark.parametrize("part", range(4))
def test_each_is_run_again_once(drill, part):
    status, n = -9, part
    while status == -9:
        n += 4
        it = drill(**SIZE)
        engine = it.go_on(f"smtune:kill:send@{n}")
        it.wait_while_alive(engine, it.ran)
        asked = put_back_until_it_dies(it, engine)
        status = engine.wait(60)
        assert it.go_on().wait(60) == 0, it.last_said()
        it.check_record()
        it.check_processes()
        it.check_store()
        assert it.start("replay", "drill").wait(60) == 0, it.last_said()
        ran = {trial: sum(line.word == "start" for line in lines) for
               trial, lines in checker.read_evidence(it.evidence).items()}
        assert ran == {trial: 1 + asked[trial] for trial in range(1, 7)}, n
    assert status == 0 and asked == collections.Counter(PUT_BACK)
