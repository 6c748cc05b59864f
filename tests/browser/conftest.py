# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for tests of the dashboard in Chromium.

    def test_something(smtune, fill, serve, page):
        fill("a", "minimize", 1000)
        page.login(serve().operator)
        page.see("1,000 succeeded")
        page.pictures("list")

Any error on the browser's console fails the test (page.expected allows some).
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile

import pytest

from programs import BUILD
from proxies import free_port

MISSING = [name for name in ("chromium", "chromedriver")
           if shutil.which(name) is None]
try:
    import selenium  # noqa: F401
except ImportError:
    MISSING.append("python3-selenium")

if MISSING:
    collect_ignore_glob = ["test_*.py"]


def pytest_terminal_summary(terminalreporter):
    if MISSING:
        terminalreporter.write_line(
            f"SKIPPED, THE PAGE IS NOT TESTED: there is no {' '.join(MISSING)}")
        return
    from page import AXE
    if not AXE.exists():
        terminalreporter.write_line(
            "SKIPPED, ACCESSIBILITY IS NOT TESTED: there is no axe-core "
            "(dashboard/web/install)")


def pytest_sessionfinish(session, exitstatus):
    if MISSING and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


# The file that a filled run could have been made from.
SPEC = """\
version: 1
objective: {metric: loss, goal: %s}
parameters:
  lr: {type: float, min: 1.0e-9, max: 1, scale: log}
  width: {type: int, min: 0, max: 512}
  optimizer: {type: categorical, values: [adam, sgd]}
  nesterov: {type: bool}
  momentum: {type: float, min: 0, max: 1, when: "optimizer = 'sgd'"}
  decay: {type: float, min: 1.0e-6, max: 1.0e-2, scale: log}
  layers: {type: int, min: 1, max: 9}
  dropout: {type: float, min: 0, max: 0.9}
  batch: {type: int, min: 16, max: 1024, scale: log}
  epochs: {type: int, min: 1, max: 99}
search: {method: random}
budget: {trials: 1000000}
trial: {command: "true"}
"""


@pytest.fixture
def fill(smtune):
    """fill(run, goal, trials): adds a run that has ended to the store."""
    def add(run, goal, trials):
        subprocess.run([BUILD / "tests/e2e/fill_store", smtune.store, run, goal,
                        str(trials)], check=True, env=smtune.env)
        if goal != "workflow":
            db = sqlite3.connect(smtune.store / "smtune.db")
            with db:
                db.execute("UPDATE run SET spec = ? WHERE name = ?",
                           (SPEC % goal, run))
            db.close()
    return add


class Dashboard:
    """A server that runs: .operator (another each time, for one use) and
    .viewer let a browser in."""

    def __init__(self, smtune, port, options):
        self.smtune, self.port, self.options = smtune, port, options
        self.start()

    def start(self):
        self.process = self.smtune.start(
            "dashboard", "--port", self.port, "-o", "json", *self.options)
        text = ""
        for line in self.process.stdout:
            text += line
            try:
                told = json.loads(text)
                break
            except json.JSONDecodeError:
                continue
        else:
            raise AssertionError(self.process.stderr.read())
        self.viewer = told["viewer"]

    @property
    def operator(self):
        return self.smtune.json("dashboard", "--login", "--port",
                                self.port)["operator"]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)
        errors = self.process.stderr.read()
        assert self.process.returncode == 0, errors
        assert "Sanitizer" not in errors and "runtime error:" not in errors, \
            errors

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)


@pytest.fixture
def serve(smtune):
    """serve(option, ...): a Dashboard over the test's store."""
    started = []

    def start(*options):
        started.append(Dashboard(smtune, free_port(), options))
        return started[-1]
    yield start
    for one in started:
        one.stop()


@pytest.fixture(scope="session")
def browser():
    from page import start_browser
    folder = tempfile.mkdtemp(prefix="browser-",
                              dir=os.environ.get("SMTUNE_TEST_FOLDER"))
    driver = start_browser(folder)
    yield driver
    driver.quit()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def page(browser, serve):
    """The browser, at nothing yet; before the server ends it is left."""
    from page import Page
    shown = Page(browser)
    browser.get_log("browser")
    yield shown
    shown.read_console()
    browser.get("about:blank")
    browser.delete_all_cookies()
    shown.check()
