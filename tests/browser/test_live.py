# SPDX-License-Identifier: GPL-3.0-or-later
"""What is seen while it happens: a run that is made, an engine that is killed,
a connection that is lost."""

import os
import signal

import pytest

from programs import wait_until

# A trial waits for its turn, a file of its number.
FILE = """\
    version: 1
    name: watched
    objective: loss
    parameters:
      x: {type: float, min: 0, max: 1}
      kind: {type: categorical, values: [a, b]}
    search: {method: random, seed: 1}
    budget: {trials: 6, parallel: 2}
    trial:
      command: ["sh", "-c", "until [ -e $GATE/${{ trial }} ] || [ -e $GATE/all ]; do sleep 0.1; done; echo loss=${{ x }}"]
    """


@pytest.fixture
def watched(smtune, write, tmp_path):
    """watched(): starts the run; open(n) lets trial n go on."""
    gate = tmp_path / "gate"
    gate.mkdir()

    class Run:
        env = {"GATE": str(gate)}

        def start(self):
            self.process = smtune.start(
                "run", write("watched.yaml", FILE), "-q", env=self.env)

        def open(self, name):
            (gate / str(name)).touch()

        def end(self):
            self.open("all")
            assert self.process.wait(60) == 0
    return Run()


def test_run_is_watched_while_it_is_made(fill, serve, page, watched):
    fill("before", "minimize", 5)
    page.login(serve().operator)
    page.see("before")
    watched.start()
    page.see("watched\n")
    page.see("2 running", "[data-run='2']")
    page.click_text("watched")
    page.see("2 running", ".run-head")
    page.see("none yet", ".run-head")
    watched.open(1)
    page.see("1 succeeded", ".run-head")
    page.see(r"trial 1", ".facts")
    page.pictures("watched")
    watched.end()
    page.see("6 succeeded", ".run-head")
    page.see("succeeded", ".run-title .badge")
    page.see("run succeeded:", "[role=status]")


def test_killed_engine_is_seen(serve, page, watched, smtune):
    watched.start()
    wait_until(lambda: smtune("status", "watched").returncode == 0)
    page.login(serve().operator)
    page.see("2 running", "[data-run='1']")
    page.click_text("watched")
    page.see("2 running", ".run-head")
    os.kill(watched.process.pid, signal.SIGKILL)
    page.see("interrupted", ".run-title .badge")
    page.picture("killed-engine")
    watched.open("all")
    smtune.ok("resume", "watched", env=watched.env)
    page.see("6 succeeded", ".run-head")


# A stream of events that opens when the test says so.
SLOW_STREAM = """
window.EventSource = class extends EventTarget {
  constructor() { super(); window.stream = this; }
  close() {}
}"""


def test_live_is_shown_once_the_server_is_heard(fill, serve, page):
    fill("a", "minimize", 5)
    script = page.driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": SLOW_STREAM})
    try:
        page.login(serve().operator)
        page.see("a\n")
        assert page.text(".live") == ""
        page.js("stream.onopen()")
        page.see("live", ".topbar")
    finally:
        page.driver.execute_cdp_cmd(
            "Page.removeScriptToEvaluateOnNewDocument", script)


def test_silent_server_is_told_and_comes_back(fill, serve, page):
    fill("a", "minimize", 5)
    dashboard = serve()
    page.expected = "ERR_"
    page.login(dashboard.operator)
    page.see("live", ".topbar")
    dashboard.freeze()
    page.see(r"Disconnected (1[5-9]|[2-9]\d) s", ".lost", timeout=60)
    page.pictures("disconnected")
    page.axe()
    fill("b", "minimize", 5)
    dashboard.thaw()
    page.gone(".lost")
    page.see("b\n")


def test_ended_server_is_told_and_a_new_one_asks_for_its_address(
        fill, serve, page):
    fill("a", "minimize", 5)
    dashboard = serve()
    page.expected = "ERR_|401"
    page.login(dashboard.operator)
    page.see("live", ".topbar")
    dashboard.stop()
    page.see("Disconnected", ".lost")
    dashboard.start()
    page.see("Not logged in")
    page.login(dashboard.operator)
    page.see("a\n")
    page.gone(".lost")
