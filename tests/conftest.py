# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for tests of the whole programs.

    def test_something(smtune, experiment):
        result = smtune("run", experiment("echo loss=1", trials=2))
        assert result.returncode == 0
        rows = smtune.json("trials", "exp")

Every test has a folder and a store of its own, and no process that it started
may outlive it.
"""

import fnmatch
import os
import shutil
import textwrap

import pytest

import files
from programs import BUILD, ROOT, Smtune


# What machines that build set, and a user's does not: trials and the programs
# that tests start would behave in another way there.
MAKES = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL")
for name in list(os.environ):
    if name in ("CI", *MAKES) or \
            name.startswith(("PYTHON", "OPENBLAS_", "OMP_")) and \
            name != "PYTHONPYCACHEPREFIX":
        del os.environ[name]


def pytest_addoption(parser):
    parser.addoption("--sample", action="store_true", help="leave out what the "
                     "suite's sample.txt leaves to `make check-all`")
    parser.addoption("--one-case", action="store_true",
                     help="of each test only the first case")


def read_sample(folder):
    """{"test_file.py::test": patterns} of a suite's sample.txt: which cases of
    the test run, none without a pattern. A test that is not in it runs whole."""
    path = folder / "sample.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [line.split() for line in lines if line and line[0] != "#"]
    return {name: patterns for name, *patterns in rows}


def choose_sample(items):
    """The items that run, and a complaint of each test that is not there and
    each pattern that no case fits."""
    tables = {folder: read_sample(folder)
              for folder in {item.path.parent for item in items}}
    files = {item.path for item in items}
    unused = {(folder, name, pattern) for folder, table in tables.items()
              for name, patterns in table.items() for pattern in ["", *patterns]
              if folder / name.split("::")[0] in files}
    chosen = []
    for item in items:
        folder = item.path.parent
        name = f"{item.path.name}::{getattr(item, 'originalname', item.name)}"
        case = item.callspec.id if hasattr(item, "callspec") else ""
        hits = [pattern for pattern in tables[folder].get(name, [])
                if fnmatch.fnmatchcase(case, pattern)]
        unused -= {(folder, name, pattern) for pattern in ["", *hits]}
        if hits or name not in tables[folder]:
            chosen.append(item)
    return chosen, [f"{folder.name}/sample.txt: {name} has no case {pattern}"
                    for folder, name, pattern in sorted(unused)]


def pytest_collection_modifyitems(config, items):
    chosen = items[:]
    if config.getoption("sample"):
        chosen, complaints = choose_sample(items)
        if complaints:
            raise pytest.UsageError("\n".join(complaints))
    if config.getoption("one_case"):
        first = {}
        for item in chosen:
            first.setdefault(item.nodeid.split("[")[0], item)
        chosen = list(first.values())
    config.hook.pytest_deselected(items=list(set(items).difference(chosen)))
    items[:] = chosen


def pytest_terminal_summary(terminalreporter):
    """What failed the first time, and why (RERUN in tests.mk)."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"RERUN {report.nodeid} ({report.when})")
        terminalreporter.write_line(report.longreprtext)


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Only what failed leaves its folder: pytest would keep those of three
    runs, and remove 100,000 files at the end of one."""
    report = (yield).get_result()
    if report.failed:
        item.stash[FAILED] = True
    elif (report.when == "teardown" and not item.stash.get(FAILED, False)
          and "tmp_path" in item.funcargs):
        shutil.rmtree(item.funcargs["tmp_path"], ignore_errors=True)


@pytest.fixture
def smtune(tmp_path):
    runner = Smtune(tmp_path)
    yield runner
    runner.end()


@pytest.fixture
def write(tmp_path):
    """write(name, text): a file in the test's folder; its path."""
    def put(name, text, mode=None):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        if mode is not None:
            path.chmod(mode)
        return path
    return put


@pytest.fixture
def experiment(write):
    """experiment(shell, key=value ...): writes NAME.yaml, see files.experiment;
    its path."""
    def make(*words, name="exp", **keys):
        return write(f"{name}.yaml",
                     files.experiment(*words, name=name, **keys))
    return make


@pytest.fixture
def workflow(write):
    """workflow(steps, key=value ...): writes NAME.yaml, see files.workflow;
    its path."""
    def make(steps, name="flow", **sections):
        return write(f"{name}.yaml",
                     files.workflow(steps, name=name, **sections))
    return make


@pytest.fixture
def root():
    """The source tree."""
    return ROOT


@pytest.fixture
def build():
    """The folder of the programs under test."""
    return BUILD
