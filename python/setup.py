# SPDX-License-Identifier: GPL-3.0-or-later
"""The version is that of smtune, which is in the Makefile. A source archive of
this folder alone has it in PKG-INFO."""

import pathlib
import re

from setuptools import setup

HERE = pathlib.Path(__file__).resolve().parent


def version() -> str:
    for path, pattern in ((HERE / "PKG-INFO", r"^Version: (\S+)$"),
                          (HERE.parent / "Makefile", r"^VERSION\s*:= (\S+)$")):
        if path.exists():
            found = re.search(pattern, path.read_text(encoding="utf-8"), re.M)
            if found:
                return found[1]
    raise SystemExit("setup.py: no version in ../Makefile")


setup(version=version())
