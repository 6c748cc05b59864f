# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that has ended gets more trials and time, and whoever gives them to it
is killed: either it has both, and goes on with them, or neither."""

import pytest

BEFORE, AFTER = 3, 6
NOTHING, GIVEN = (None, None), (AFTER, 9 * 3600 * 1000)
MORE = ["resume", "drill", "--trials", str(AFTER), "--time", "9h"]


@pytest.mark.parametrize("part", range(3))
def test_it_has_them_or_not(drill, expected, part):
    seen, status, n = set(), -9, part
    while status == -9:
        n += 60 if GIVEN in seen else 3
        it = drill(trials=BEFORE)
        assert it.go_on().wait(60) == 0, it.last_said()
        more = it.start(*MORE, fault=f"smtune:kill:change@{n}")
        status = more.wait(60)
        it.check_record()
        seen.add(it.budget())
        it.check_store()
        if status == -9 and it.budget() == NOTHING:
            assert it.ran() == BEFORE, n
            more = it.start(*MORE)
            assert more.wait(60) == 0, it.last_said()
        it.finish(expected(trials=AFTER))
        assert it.start("replay", "drill").wait(60) == 0, it.last_said()
    assert status == 0 and seen == {NOTHING, GIVEN}
