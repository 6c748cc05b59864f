# SPDX-License-Identifier: GPL-3.0-or-later
"""A text in logs: in one that is large, and in all of a run."""

import pytest

EXPERIMENT = """
version: 1
name: tune
objective: {metric: loss, goal: minimize}
parameters: {lr: {type: float, min: 0, max: 1}}
search: {method: random, seed: 1}
budget: {trials: 4, parallel: 1}
trial: {shell: 'echo loss=${{ lr }}'}
"""
BLOCK = b"".join(b"line %06d of a log that goes on\n" % i
                 for i in range(100_000))


@pytest.fixture
def logs(smtune, write):
    """The paths of the logs of a run's four trials."""
    smtune.ok("run", write("exp.yaml", EXPERIMENT))
    return [smtune.store / f"runs/tune/attempts/{job}-1/log"
            for job in (1, 2, 3, 4)]


def see_found(page, text, where=""):
    page.see(text, f"{where} .log-row.is-found".strip())


def test_a_text_is_found_in_a_large_log(logs, serve, page):
    logs[0].write_bytes(b"A NEEDLE\n" + BLOCK * 3 + b"another needle\n"
                        + BLOCK * 3 + b"the last needle\n" + BLOCK)
    page.login(serve().viewer)
    page.see("tune")
    page.go("/runs/1/trial", trial=1)
    page.see(r"the last \d+ KiB of 22.7 MiB")
    page.fill(".log input", "needle")
    page.press("Enter")
    see_found(page, "the last needle")
    page.click_text("Previous")
    see_found(page, "another needle")
    page.click_text("Previous")
    see_found(page, "A NEEDLE")
    page.click_text("Previous")
    page.see("not found above", ".log-said")
    for wanted in ("another needle", "the last needle"):
        page.click_text("Next")
        see_found(page, wanted)
    page.click_text("Next")
    page.see("not found below", ".log-said")
    assert page.js("return document.querySelectorAll('*').length") < 3000
    page.fill(".log input", "none such")
    page.press("Enter")
    page.see("not found above", ".log-said")


def rows(page):
    return page.js("return [...document.querySelectorAll('.logs tbody tr')]"
                   ".map((row) => [...row.children].map("
                   "(cell) => cell.textContent))")


def test_a_text_is_found_in_all_logs(logs, serve, page):
    logs[0].write_bytes(BLOCK + b"a needle & <b>more</b>\n" + BLOCK)
    logs[2].write_bytes(b"x\n\x1b[31mNeed\x1b[0mle 2\nneedle\xff3\n")
    (logs[2].parent / "rank-1.log").write_bytes(b"no\nneedle of a rank\n")
    page.login(serve().viewer)
    page.see("tune")
    page.go("/runs/1/trial", trial=1)
    page.fill(".log input", "needle")
    page.click_text("All logs")
    page.see("4 lines found, 5 logs searched")
    assert rows(page) == [
        ["1", "1", "100,001", "a needle & <b>more</b>"],
        ["3", "1", "2", "Needle 2"], ["3", "1", "3", "needle\\xff3"],
        ["3", "1, rank 1", "2", "needle of a rank"]]
    page.pictures("logs")
    page.axe()

    page.click_text("1", ".logs a")
    page.at("trial=1")
    see_found(page, "a needle & <b>more</b>", ".trial-panel")
    assert page.texts(".trial-panel .log-row.is-found mark") == ["needle"]
    page.js("document.querySelectorAll('.logs a')[3].click()")
    see_found(page, "needle of a rank", ".trial-panel")
    assert len(rows(page)) == 4  # they are still there
    page.click_text("Full page", ".trial-panel a")
    page.one(".trial-page")

    page.go("/runs/1/logs", find="need(le)? [23]", regex=1)
    page.see("1 line found")
    page.fill(".logs input", "needle [")
    page.press("Enter")
    page.expected = "log_lines"
    page.see("bad regular expression")
    page.click_text("Regular expression", ".logs label")
    page.click_text("Match case", ".logs label")
    page.fill(".logs input", "N")
    page.press("Enter")
    page.see("1 line found")
    page.at("case=1")


def test_another_text_comes_from_a_log_beside_the_list(logs, serve, page):
    logs[0].write_bytes(b"one\ntwo\n")
    page.login(serve().viewer)
    page.see("tune")
    page.go("/runs/1/logs", find="one")
    page.see("1 line found")
    page.click_text("1", ".logs a")
    see_found(page, "one", ".trial-panel")
    page.fill(".trial-panel .log input", "two")
    page.click_text("All logs", ".trial-panel a")
    page.see("two", ".logs tbody")
    assert rows(page) == [["1", "1", "2", "two"]]
    assert page.js("return document.querySelector('.logs input').value") \
        == "two"


def test_more_lines_than_anybody_reads(logs, serve, page):
    logs[1].write_bytes(BLOCK)
    page.login(serve().viewer)
    page.see("tune")
    page.go("/runs/1/logs", find="log that goes on")
    page.see("500 lines found")
    page.click_text("Continue")
    page.see("1,000 lines found, 1 log searched")
    assert len(rows(page)) == 1000
