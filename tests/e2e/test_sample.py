# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make check` leaves out of a suite (sample.txt and
--one-case, tests/conftest.py)."""

import os
import subprocess
import sys

import pytest

from programs import ROOT

SUITE = """\
import pytest

@pytest.mark.parametrize("way", ["by force", "by guile"])
@pytest.mark.parametrize("mode", ["job", "array"])
def test_many(mode, way):
    pass

def test_one():
    pass
"""


@pytest.fixture
def collect(tmp_path):
    """collect(sample): the cases that pytest would run, none after an error, and
    what it said."""
    (tmp_path / "conftest.py").symlink_to(ROOT / "tests/conftest.py")
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {ROOT}/tests/e2e\n")
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "test_it.py").write_text(SUITE)

    def run(sample, *options):
        if sample is not None:
            (suite / "sample.txt").write_text(sample)
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--co", "-p",
             "no:cacheprovider", *options, "suite"], cwd=tmp_path, text=True,
            capture_output=True, timeout=100,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        said = result.stdout + result.stderr
        return [line.split("::")[1] for line in said.splitlines()
                if line.startswith("suite/") and result.returncode == 0], said
    return run


def test_all_cases_run_of_a_test_that_is_not_listed(collect):
    assert len(collect(None, "--sample")[0]) == 5
    assert len(collect("# nothing\n", "--sample")[0]) == 5


def test_the_listed_cases_run(collect):
    sample = "test_it.py::test_many job-by?force array-*\n"
    assert collect(sample, "--sample")[0] == [
        "test_many[job-by force]", "test_many[array-by force]",
        "test_many[array-by guile]", "test_one"]
    assert len(collect(sample)[0]) == 5


def test_no_case_runs_of_a_test_without_patterns(collect):
    assert collect("test_it.py::test_many\n", "--sample")[0] == ["test_one"]


def test_of_each_test_one_case(collect):
    assert collect(None, "--one-case")[0] == ["test_many[job-by force]",
                                              "test_one"]
    sample = "test_it.py::test_many array-*\n"
    assert collect(sample, "--sample", "--one-case")[0] == [
        "test_many[array-by force]", "test_one"]


@pytest.mark.parametrize("sample", [
    "test_it.py::test_many job-* pilot-*\n",
    "test_it.py::test_removed\n",
    "test_it.py::test_renamed *\n"])
def test_a_pattern_that_fits_no_case_is_an_error(collect, sample):
    cases, said = collect(sample, "--sample")
    assert not cases
    assert "suite/sample.txt: test_it.py::test_" in said and " no case " in said
