# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for tests of the whole programs.

    def test_something(smtune, write):
        result = smtune("run", write("a.yaml", "..."))
        assert result.returncode == 0
        rows = smtune.json("trials", "a")

Every test has a folder and a store of its own, and no process that it started
may outlive it.
"""

import pytest

from programs import (  # noqa: F401, what tests import from here
    BUILD, ROOT, Smtune, processes_with, wait_until, write_below)


@pytest.fixture
def smtune(tmp_path):
    runner = Smtune(tmp_path)
    yield runner
    runner.end()


@pytest.fixture
def write(tmp_path):
    """write(name, text): a file in the test's folder; its path."""
    return write_below(tmp_path)


@pytest.fixture
def root():
    """The source tree."""
    return ROOT


@pytest.fixture
def build():
    """The folder of the programs under test."""
    return BUILD
