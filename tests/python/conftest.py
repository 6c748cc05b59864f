# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for the tests of the Python package."""

import os
import subprocess
import sys
import textwrap

import pytest

import smtune as package
from programs import ROOT
from studies import FILE


@pytest.fixture
def smtune(smtune):
    """Its scripts and trials have the package."""
    smtune.env["PYTHONPATH"] = str(ROOT / "python")
    return smtune


@pytest.fixture
def here(smtune, tmp_path, monkeypatch):
    """This process is like a script of the test: it finds the programs under
    test and the test's store, and is in no trial."""
    for name in list(os.environ):
        if name.startswith(("SMTUNE_", "SM_")) or name in (
                "RANK", "OMPI_COMM_WORLD_RANK"):
            monkeypatch.delenv(name)
    for name, value in smtune.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return smtune


@pytest.fixture
def script(smtune, write):
    """script(text, *words, name=, env=): runs a script with the package;
    a CompletedProcess."""
    def run(text, *words, name="script.py", env=None, python=sys.executable):
        path = write(name, textwrap.dedent(text))
        return subprocess.run(
            [python, path, *map(str, words)], cwd=path.parent, text=True,
            env=smtune.environment(env), capture_output=True, timeout=100,
            stdin=subprocess.DEVNULL)
    return run


@pytest.fixture
def study(here):
    with package.Study(FILE) as study:
        yield study
