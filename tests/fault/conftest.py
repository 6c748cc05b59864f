# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the drills."""

import functools
import shutil

import pytest

import soak
from drill import SANITIZED, Drill, undisturbed


@pytest.fixture(autouse=True)
def in_time():
    if soak.time_is_up():
        pytest.skip("the time is up")


@pytest.fixture(scope="session")
def expected(tmp_path_factory):
    """expected(trials=4, ...): what trials are given where nothing happens."""
    @functools.cache
    def run(**options):
        return undisturbed(tmp_path_factory.mktemp("undisturbed") / "it",
                           **options)
    return run


def fresh_drills(tmp_path, **programs):
    made = []

    def make(**options):
        while made:
            old = made.pop()
            old.end_all()
            shutil.rmtree(old.directory)
        made.append(Drill(tmp_path / f"drill-{len(list(tmp_path.iterdir()))}",
                          **programs, **options))
        return made[-1]

    yield make
    for it in made:
        it.end_all()


@pytest.fixture
def drill(tmp_path):
    """drill(trials=4, ...): a fresh Drill; nothing of it outlives the test.
    Those that went well leave no files."""
    yield from fresh_drills(tmp_path)


@pytest.fixture
def sanitized_drill(tmp_path):
    """The same of programs with sanitizers, for what an error leaves behind."""
    yield from fresh_drills(tmp_path, build=SANITIZED)
