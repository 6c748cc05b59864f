# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator does to a run in the browser, and a viewer may not."""

import pytest

from programs import wait_until

FILE = """\
    version: 1
    name: acted
    objective: loss
    parameters:
      x: {type: float, min: 0, max: 1}
      kind: {type: categorical, values: [a, b]}
    search: {method: random, seed: 1}
    budget: {trials: 8, parallel: 2}
    trial:
      command: ["sh", "-c", "until [ -e $GATE/${{ trial }} ] || [ -e $GATE/all ]; do sleep 0.1; done; [ ! -e $GATE/bad ] || exit 3; echo loss=${{ x }}"]
    """


@pytest.fixture
def acted(smtune, write, tmp_path, serve, page):
    """A run that goes on with two trials, and the page that shows it."""
    gate = tmp_path / "gate"
    gate.mkdir()

    class Run:
        def open(self, name):
            (gate / str(name)).touch()

        def close(self, name):
            (gate / str(name)).unlink()

        def end(self):
            self.open("all")
            return self.process.wait(60)
    run = Run()
    run.process = smtune.start("run", write("acted.yaml", FILE), "-q",
                               env={"GATE": str(gate)})
    wait_until(lambda: smtune("status", "acted").returncode == 0)
    run.dashboard = serve()
    page.login(run.dashboard.operator)
    page.see("acted")
    page.click_text("acted")
    page.see("2 running", ".run-head")
    yield run
    run.end()


def confirm(page, pattern, button):
    """Reads the dialog, and presses its button."""
    page.see(pattern, "dialog")
    page.click_text(button, "dialog button")
    page.gone("dialog")


def test_pause_and_resume(acted, page):
    page.click_text("Pause")
    page.pictures("pause")
    page.axe()
    confirm(page, "No new trials start", "Pause")
    page.see("paused", ".run-title .badge")
    acted.open("all")
    page.see("2 succeeded", ".run-head")
    page.click_text("Resume")
    confirm(page, "starts trials again", "Resume")
    page.see("8 succeeded", ".run-head")
    assert acted.end() == 0


def test_stop_that_drains(acted, page):
    page.press("a", "s")
    page.see("are stopped now", "dialog")
    page.click("dialog input[type=checkbox]")
    page.see("have finished", "dialog")
    page.picture("stop")
    page.click_text("Stop", "dialog button")
    page.gone("dialog")
    acted.open("all")
    page.see("stopped", ".run-title .badge")
    page.see("2 succeeded", ".run-head")


def test_retry_what_failed(acted, page):
    acted.open("bad")
    acted.open(1)
    page.see("1 failed", ".run-head")
    acted.close("bad")
    page.click_text("Retry failed")
    confirm(page, "All failed trials", "Retry")
    page.see("1 pending", ".run-head")
    acted.open("all")
    page.see("8 succeeded", ".run-head")


def test_enqueue_a_setting(acted, page, smtune):
    page.click_text("Enqueue")
    page.see("next new trial", "dialog")
    page.fill("#enqueue-x", "1.5")
    page.click_text("Enqueue", "dialog button")
    page.see("1.5 is out of range: 0 to 1", "dialog [role=alert]")
    page.pictures("enqueue")
    page.axe()
    page.fill("#enqueue-x", "0.125")
    page.click_text("Enqueue", "dialog button")
    page.gone("dialog")
    acted.open("all")
    wait_until(lambda: any(row["params"]["x"] == 0.125
                           for row in smtune.json("trials", "acted")),
               what="the setting")
    assert acted.end() == 0


def test_note_and_tags(acted, page, smtune):
    page.click_text("Note")
    page.fill("#note-text", "<b>wider</b> than the last one")
    page.pictures("note")
    page.click_text("Save", "dialog button")
    page.gone("dialog")
    page.see("<b>wider</b> than the last one", ".note")
    page.click_text("Tags")
    page.fill("#tag-text", "paper night")
    page.click_text("Save", "dialog button")
    page.gone("dialog")
    page.see("paper", ".run-title .tags")
    page.click_text("Tags")
    page.click("[aria-label='Remove night']")
    page.click_text("Save", "dialog button")
    page.gone("dialog")
    wait_until(lambda: "night" not in page.text(".run-title .tags"))
    page.press("g", "l")
    page.see("paper", "[data-run='1']")
    page.fill(".runs-filter", "wider")
    page.see("1 of 1", ".page .row")


def test_what_does_not_work_is_said_in_words(acted, page):
    page.expected = "409"
    page.click_text("Pause")
    assert acted.end() == 0
    page.click_text("Pause", "dialog button")
    page.see("has ended", "dialog [role=alert]")
    page.click_text("Cancel", "dialog button")
    page.gone("dialog")


def test_viewer_may_only_look(acted, page):
    page.driver.delete_all_cookies()
    page.login(acted.dashboard.viewer)
    page.go("/runs/1")
    page.see("2 running", ".run-head")
    page.see("read-only", ".topbar")
    assert not page.all(".run-title .btns")
    page.press("a", "s")
    assert not page.all("dialog")
