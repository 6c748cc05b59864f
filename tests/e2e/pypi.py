# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages of PyPI, for tests of what this machine need not have."""

import os
import subprocess
import sys
import tempfile

import pytest

from programs import ROOT


def python_packages(names, place=ROOT / "build/python", words=()):
    """The folder with the packages, installed now or before; skips the test
    where they cannot be installed. They are this Python's: that of another
    release of Debian cannot read them. words: other options of pip."""
    folder = place / sys.implementation.cache_tag / "+".join(names)
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        result = subprocess.run(
            [sys.executable, "-m", "pip", "install", "-q", *words, "--target",
             f"{scratch}/new", *names], capture_output=True, text=True)
        if result.returncode != 0:
            why = result.stderr.strip().split("\n")[-1]
            pytest.skip(f"cannot install {' '.join(names)}: {why}")
        try:
            os.rename(f"{scratch}/new", folder)
        except OSError:  # another process was faster
            assert folder.exists()
    return folder
