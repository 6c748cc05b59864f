# SPDX-License-Identifier: GPL-3.0-or-later
"""tests/fuzz/run, with a stand-in for a fuzz target."""

import shutil
import subprocess

import pytest

from programs import ROOT


@pytest.fixture
def run(tmp_path):
    """run(word..., status=0): its lines, and what it gave the program."""
    folder = tmp_path / "tests/fuzz"
    (folder / "corpus/thing").mkdir(parents=True)
    shutil.copy(ROOT / "tests/fuzz/run", folder)
    given = tmp_path / "given"
    program = tmp_path / "fuzz_thing"

    def call(*words, status=0):
        program.write_text(
            f"#!/bin/sh\necho \"$@\" >{given}\n"
            f"echo stat::number_of_executed_units: 7; exit {status}\n")
        program.chmod(0o755)
        result = subprocess.run([folder / "run", *words, program],
                                capture_output=True, text=True, timeout=60)
        assert (result.returncode == 0) == (status == 0), result.stderr
        return result.stdout.splitlines(), given.read_text().split()
    return call


def test_fixed_inputs_begin_with_the_seeds_alone(run, tmp_path):
    left = tmp_path / "build/fuzz/fixed/thing/left"
    left.parent.mkdir(parents=True)
    left.touch()
    lines, given = run("fixed", "7")
    assert lines == ["fuzz thing: 7 inputs", "fuzz: 1 passed, 0 failed"]
    assert {"-seed=1", "-runs=7", "-reload=0"} <= set(given)
    assert given[-2:] == ["build/fuzz/fixed/thing", "tests/fuzz/corpus/thing"]
    assert not left.exists()


def test_fixed_inputs_cut_short_are_told(run):
    lines, _ = run("fixed", "20")
    assert lines[0] == "fuzz thing: 7 inputs of 20, cut short after 60 s"
    assert lines[1] == "fuzz: 1 passed, 0 failed"


def test_open_ended_inputs_go_on_from_earlier_ones(run):
    lines, given = run("open", "3")
    assert lines[0] == "fuzz thing: 7 inputs"
    assert {"-runs=-1", "-max_total_time=3"} <= set(given)
    assert not any(word.startswith("-seed") for word in given)
    assert given[-2] == "build/fuzz/corpus/thing"


def test_a_program_that_fails_fails_the_run(run):
    lines, _ = run("fixed", "7", status=1)
    assert lines[-1] == "fuzz: 0 passed, 1 failed"


def test_replayed_inputs_have_seeds_and_a_file_for_what_is_found(run, tmp_path):
    (tmp_path / "tests/fuzz/thing.dict").touch()
    lines, given = run("replay", "7")
    assert lines == ["fuzz thing: stat::number_of_executed_units: 7",
                     "fuzz: 1 passed, 0 failed"]
    assert given == ["7", "build/fuzz/found/thing-input",
                     "tests/fuzz/corpus/thing", "tests/fuzz/thing.dict"]
