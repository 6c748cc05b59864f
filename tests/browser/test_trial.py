# SPDX-License-Identifier: GPL-3.0-or-later
"""A trial's page: its setting, what happened to it, its log."""

import json

import pytest

from programs import wait_until

LINES = "return [...document.querySelectorAll('.log-row')].map((row) => row.textContent)"

EXPERIMENT = """
version: 1
name: tune
objective: {metric: loss, goal: minimize}
parameters:
  lr: {type: float, min: 1.0e-4, max: 1, scale: log}
  width: {type: int, min: 16, max: 512, scale: log}
  optimizer: {type: categorical, values: [sgd, adam]}
  momentum: {type: float, min: 0, max: 0.99, when: "optimizer = 'sgd'"}
search: {method: random, seed: 1}
schedule: {method: asha, resource: epochs, min: 1, max: 9, eta: 3}
budget: {trials: 12, parallel: 2}
trial:
  shell: >-
    i=1; while [ $i -le ${{ epochs }} ]; do
    echo epochs=$i loss=${{ lr }}; i=$((i+1)); sleep 0.05; done;
    printf 'read 10%%\\rread 100%%\\n';
    true
"""

FAILING = """
version: 1
name: tune
objective: {metric: loss, goal: minimize}
parameters: {lr: {type: float, min: 0, max: 1}}
search: {method: random, seed: 1}
budget: {trials: 4, parallel: 1}
trial:
  shell: 'echo loss=${{ lr }}; [ ${{ trial }} -ne 2 ] || { echo oops; exit 3; }'
  retry: [{match: ["exit:3"], max: 1, delay: 0s}]
"""

WORKFLOW = """
version: 1
name: night
steps:
  shard:
    matrix: {part: [0, 1]}
    command: 'echo rows=${{ part }}'
    metrics: [rows]
  bad: {needs: shard, shell: 'echo "<script>alert(1)</script>"; exit 3'}
"""


@pytest.fixture
def tuned(smtune, write):
    """The trials of a run, as `smtune trials` says them."""
    smtune("run", write("exp.yaml", EXPERIMENT))
    return json.loads(smtune.ok("trials", "tune", "-o", "json"))


def log_of(smtune, run, job, attempt=1):
    return smtune.store / "runs" / run / "attempts" / f"{job}-{attempt}" / "log"


def see_lines(page, wanted, timeout=45):
    wait_until(lambda: wanted in page.js(LINES), timeout, wanted)


def test_it_says_all_about_a_trial(smtune, tuned, serve, page):
    page.login(serve().operator)
    page.see("tune")
    best = min((one for one in tuned if one["state"] == "succeeded"),
               key=lambda one: one["value"])
    page.go("/runs/1/trial", trial=best["id"])
    page.see(f"Trial {best['id']}")
    page.see("★ best")
    page.see("rank 1 of ")
    page.see("Suggested by random")
    page.see(f"smtune show tune {best['id']}")
    page.see(r"cause\s+succeeded")
    page.see(r"continued at 1 epoch\b")
    see_lines(page, "read 100%")
    page.see(r"loss\s+\S+\s+9\s+9", ".trial-part[aria-label=Metrics]")
    page.pictures("trial")
    page.axe()

    stopped = next(one for one in tuned if one["state"] == "stopped")
    page.go("/runs/1/trial", trial=stopped["id"])
    page.see("stopped at")
    page.see("is not among the best")


def test_attempts_have_causes_and_logs(smtune, write, serve, page):
    smtune("run", write("exp.yaml", FAILING))
    failed, = [one for one in json.loads(
        smtune.ok("trials", "tune", "-o", "json")) if one["state"] == "failed"]
    page.login(serve().operator)
    page.see("tune")
    page.go("/runs/1/table", trial=failed["id"])
    page.see("failed .exit code 3.", ".trial-panel")
    see_lines(page, "oops")
    page.click_text("1\nexit", ".trial-panel button")
    see_lines(page, "oops")
    page.picture("trial-panel")
    page.press("]")
    page.see(f"Trial {failed['id'] + 1}", ".trial-panel")
    page.at(f"trial={failed['id'] + 1}")
    page.press("[", "[")
    page.see(f"Trial {failed['id'] - 1}", ".trial-panel")
    page.click_text("Full page", ".trial-panel a")
    page.one(".trial-page")
    page.go("/runs/1/trial", trial=999)
    page.expected = "/jobs/999"
    page.see("has no trial 999")


def test_a_job_of_a_workflow(smtune, write, serve, page):
    smtune("run", write("night.yaml", WORKFLOW))
    page.login(serve().operator)
    page.see("night")
    jobs = json.loads(smtune.ok("trials", "night", "-o", "json"))
    bad = next(one for one in jobs if one["step"] == "bad")
    page.go("/runs/1/table")
    page.see("3 jobs")
    page.picture("table-workflow")
    page.go("/runs/1/trial", trial=bad["id"])
    page.see(f"Job {bad['id']} bad")
    page.see("exit code 3")
    page.see("no retry rule matches")
    see_lines(page, "<script>alert(1)</script>")
    page.pictures("job")
    page.axe()


def test_a_log_is_what_a_terminal_shows(smtune, tuned, serve, page):
    log = log_of(smtune, "tune", 1)
    with open(log, "wb") as file:
        file.write(b"FIRST LINE\n")
        for i in range(1_000_000):
            file.write(b"\r%7d/1000000" % (i + 1))
        file.write(b"\n\x1b[31mred\x1b[0m \xff\xfe bad bytes\n")
        file.write(b"<img src=x onerror=alert(1)><script>alert(2)</script>\n")
        file.write("\u00e4\u6f22\u5b57 long\rsh\n".encode())
    page.login(serve().operator)
    page.see("tune")
    page.go("/runs/1/trial", trial=1)
    see_lines(page, "1000000/1000000")
    lines = page.js(LINES)
    assert lines[-3:] == [
        "red \ufffd\ufffd bad bytes",
        "<img src=x onerror=alert(1)><script>alert(2)</script>",
        "sh\u5b57 long"]
    assert len(page.js(LINES)) < 10
    assert page.texts(".log-row .ink-1") == ["red"]
    page.picture("log-progress")
    page.click_text("Beginning")
    see_lines(page, "FIRST LINE")


def test_a_log_has_the_colours_of_a_terminal(smtune, tuned, serve, page):
    log_of(smtune, "tune", 1).write_text("\n".join(
        f"\x1b[{bold}3{color}mtold in colour {color}\x1b[0m and plainly"
        for bold in ("", "1;") for color in range(1, 7)) +
        "\n\x1b[2mfaint\x1b[0m, \x1b[1mbold\x1b[0m\n")
    page.login(serve().operator)
    page.see("tune")
    page.go("/runs/1/trial", trial=1)
    see_lines(page, "faint, bold")
    page.fill(".log input", "told in colour 3 and")
    page.press("Enter")
    page.see("told in colour 3 and plainly", ".log-row.is-found")
    assert page.texts(".log-row.is-found mark") == ["told in colour 3", " and"]
    page.pictures("log-colours")
    page.axe()


def test_the_log_of_each_rank_is_there(smtune, tuned, serve, page):
    log = log_of(smtune, "tune", 1)
    for rank in (1, 2):
        (log.parent / f"rank-{rank}.log").write_text(f"from rank {rank}\n")
    page.login(serve().operator)
    page.see("tune")
    page.go("/runs/1/trial", trial=2)
    page.see("read 100%", ".log-text")
    assert not page.all(".log-tools select")
    page.go("/runs/1/trial", trial=1)
    page.one(".log-tools select")
    assert page.texts(".log-tools option") == ["0", "1", "2"]
    page.choose(".log-tools select", "2")
    see_lines(page, "from rank 2")
    page.picture("log-rank")
    page.choose(".log-tools select", "0")
    page.see("read 100%", ".log-text")


def test_a_large_log_opens_at_once_and_is_searched(
        smtune, tuned, serve, page):
    log = log_of(smtune, "tune", 1)
    block = b"".join(b"line %06d of a log that goes on\n" % i
                     for i in range(100_000))
    with open(log, "wb") as file:
        file.write(b"FIRST LINE\n" + block + b"a needle\n" + block * 8)
        file.truncate(1 << 30)  # a hole: zero bytes
        file.seek(0, 2)
        file.write(b"\n" + block + b"x" * 20_000 + b"\nLAST LINE\n")
    page.login(serve().operator)
    page.see("tune")
    page.go("/runs/1/trial", trial=1)
    see_lines(page, "LAST LINE")
    page.see(r"the last \d+ KiB of 1.0 GiB")
    page.js("document.querySelector('.log-text').scrollTop = 0")
    page.see(r"the last \d\d\d KiB of 1.0 GiB")
    assert len(page.js(LINES)) < 200
    page.click_text("Wrap")
    page.click_text("End")
    wait_until(lambda: sum("x" * 20 in line for line in page.js(LINES)) > 10)
    page.click_text("Wrap")
    page.fill(".log input", "line 000003")
    page.press("Enter")
    page.see("line 000003", ".log-row.is-found", 60)
    page.picture("log-found")
    page.fill(".log input", "a needle")
    page.press("Enter")
    page.see("a needle", ".log-row.is-found", 60)
    page.click_text("Beginning")
    see_lines(page, "FIRST LINE")
    assert page.js("return document.querySelectorAll('*').length") < 3000


def test_a_log_is_followed_while_it_grows(smtune, write, serve, page):
    text = EXPERIMENT.replace(
        "    i=1;", "    echo begun; while [ -e %s ]; do sleep 0.1; done; i=1;"
        % write("hold", ""))
    engine = smtune.start("run", write("exp.yaml", text))
    wait_until(log_of(smtune, "tune", 1).exists)
    page.login(serve().operator)
    page.see("tune")
    page.go("/runs/1/trial", trial=1)
    see_lines(page, "begun")
    page.see(r"B, live$", ".log p")
    log = log_of(smtune, "tune", 1)
    with open(log, "ab") as file:
        file.write(b"50%\r")
        file.flush()
        see_lines(page, "50%")
        file.write(b"60%\r99%")
        file.flush()
        see_lines(page, "99%")
        file.write(b"\n" + b"more\n" * 500 + b"the newest\n")
        file.flush()
        see_lines(page, "the newest")
    (smtune.store.parent / "hold").unlink()
    page.see("complete, ", timeout=30)
    engine.wait(60)
    page.see("succeeded|failed|stopped by the schedule", timeout=30)


def test_what_people_write_on_a_trial(smtune, tuned, serve, page):
    page.login(serve().operator)
    page.see("tune")
    page.go("/runs/1/trial", trial=3)
    page.see("Trial 3")
    page.click_text("Note", ".trial button")
    page.fill("#note-text", "<b>bold</b> & strange")
    page.click_text("Save")
    page.see("<b>bold</b> & strange", ".trial-remarks")
    page.click_text("Tags", ".trial button")
    page.fill("#tag-text", "odd")
    page.click_text("Save")
    page.see("odd", ".trial-remarks .tag")
    assert "bold" in smtune.ok("note", "tune", "3")
    page.picture("trial-remarks")


def test_a_link_right_after_a_key_is_followed(fill, serve, page):
    """The address follows a key a moment later: a link, or the way back, that
    is taken in that moment stays taken, and back leads to what was seen."""
    fill("tune", "minimize", 20)
    page.login(serve().operator)
    page.see("tune")
    page.go("/runs/1/table", trial=5)
    page.see("Trial 5", ".trial-panel")
    page.js("""
        dispatchEvent(new KeyboardEvent("keydown", {key: "]", bubbles: true}));
        scheduler.postTask(() => location.hash = "#/runs/1/trial?trial=6",
                           {priority: "user-blocking"});
        const end = performance.now() + 400;
        while (performance.now() < end);""")
    page.one(".trial-page")
    page.at("/trial.trial=6$")

    page.driver.execute_async_script("""
        const done = arguments[0];
        dispatchEvent(new KeyboardEvent("keydown", {key: "]", bubbles: true}));
        requestAnimationFrame(() => requestAnimationFrame(() => {
            document.querySelector("nav.tabs a").click();
            done();
        }));""")
    page.at("/overview.trial=7$")
    page.js("history.back()")
    page.at("/trial.trial=7$")
