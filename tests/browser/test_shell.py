# SPDX-License-Identifier: GPL-3.0-or-later
"""The page around the views: list of runs, header, tabs, keys, colours."""

import re
import sqlite3

import pytest

from programs import wait_until


@pytest.fixture
def runs(fill):
    fill("alpha", "minimize", 200)
    fill("beta", "maximize", 60)
    fill("gamma", "workflow", 12)


@pytest.fixture
def shown(runs, serve, page):
    """The page at the list of three runs."""
    page.login(serve().operator)
    page.see("gamma")
    return page


def names(page):
    return page.texts(".runs .name a")


def test_who_is_not_let_in_is_told_what_to_do(fill, serve, page):
    fill("a", "minimize", 3)
    page.expected = "401"
    page.login(serve().operator.split("/login")[0] + "/")
    page.see("Not logged in")
    page.pictures("locked-out")
    page.axe()


def test_an_empty_list_says_how_to_fill_it(smtune, fill, serve, page):
    fill("a", "minimize", 1)
    smtune.ok("rm", "a")
    page.login(serve().operator)
    page.see("No runs yet", "h1")
    page.axe()


@pytest.mark.quick
def test_list_says_state_counts_and_best(shown):
    row = shown.text("[data-run='1']")
    for pattern in ("alpha", "succeeded", r"\d+ failed", r"0\.\d+ \w+"):
        assert re.search(pattern, row), row
    shown.pictures("runs")
    shown.axe()
    shown.dark(True)
    shown.axe()


RUNS = 5000


@pytest.mark.timeout(600)  # where much else is going on
def test_list_of_thousands_of_runs(smtune, runs, serve, page):
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        database.execute(f"""
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
                                    WHERE i < {RUNS})
            INSERT INTO run (name, kind, state, spec, overrides, spec_path,
                             work_directory, seed, created_ms, started_ms)
            SELECT printf('many-%05d', i), kind, 'stopped', spec, overrides,
                   spec_path, work_directory, seed, i * 1000, i * 1000
            FROM run, n WHERE name = 'alpha'""")
        database.execute("""
            INSERT INTO event (run_id, time_ms, event)
            SELECT id, created_ms, 'created' FROM run
            WHERE name LIKE 'many-%'""")
    page.login(serve().operator)
    page.see(f"{RUNS + 3:,}", ".page .row", timeout=180)
    page.see("gamma")
    elements = "return document.querySelectorAll('*').length"
    assert page.js(elements) < 5000
    page.js("scrollTo(0, document.body.scrollHeight / 2)")
    page.see(r"many-02(4|5)\d\d", timeout=60)
    page.js("scrollTo(0, document.body.scrollHeight)")
    page.see("many-00001", timeout=60)
    assert page.js(elements) < 5000
    page.pictures("runs-many")
    page.axe()
    page.go("/", sort="name")
    page.see("alpha", timeout=60)
    page.press(*"j" * 60)
    page.see(r"many-00057", ".current", timeout=60)
    page.fill(".runs-filter", "many-03777")
    wait_until(lambda: names(page) == ["many-03777"], 60)


def test_list_is_filtered_and_sorted(shown):
    shown.fill(".runs-filter", "ET")
    shown.see("1 of 3", ".page .row")
    assert names(shown) == ["beta"]
    shown.at("q=ET")
    shown.click_text("Clear")
    shown.click_text("Name")
    shown.click_text("Name ↓")
    assert names(shown) == ["alpha", "beta", "gamma"]
    shown.at("sort=name")
    shown.driver.refresh()
    shown.see("gamma")
    assert names(shown) == ["alpha", "beta", "gamma"]
    shown.fill(".runs-filter", "nothing is called so")
    shown.see("No run matches the filters")


def test_list_goes_by_keys(shown):
    first = names(shown)[0]
    shown.press("j", "j", "k", "Enter")
    shown.see(first, ".run-title")
    shown.press("g", "l")
    shown.see("Runs", "h1")
    shown.press("/", "x")
    assert shown.js("return document.activeElement.value") == "x"
    shown.press("Escape", "Escape")
    assert len(names(shown)) == 3


def test_header_of_a_run(shown):
    shown.click_text("alpha")
    shown.see("180 succeeded", ".run-head")
    head = shown.text(".run-head")
    for pattern in ("alpha", "succeeded", "best loss", "minimize loss",
                    r"trial \d+", "duration"):
        assert re.search(pattern, head), head
    assert shown.driver.title == "alpha · Overview · smtune"
    shown.pictures("overview")
    shown.axe()


def test_workflow_says_its_steps(shown):
    shown.click_text("gamma")
    shown.see("Steps")
    shown.pictures("overview-workflow")
    shown.axe()


@pytest.mark.timeout(600)  # where much else is going on
def test_every_view_opens_and_fits_a_phone(shown):
    for run in (1, 3):
        shown.go(f"/runs/{run}")
        shown.see("Overview", ".tabs")
        for link in [one.get_attribute("href") for one in shown.all(".tabs a")]:
            path = link.split("#")[1]
            shown.go(path)
            shown.one(".tabs a[aria-current]")
            shown.gone(".message")
            shown.size(375, 812)
            shown.fits()
            shown.picture(f"phone{path.replace('/', '-')}")
            shown.size(1440, 900)


def test_tabs_go_by_keys_and_keep_the_selection(shown):
    shown.go("/runs/1", **{"f.state": "=succeeded"})
    shown.see(r"of 200 trials", ".chosen")
    shown.press("g", "t")
    shown.one("[href*='/table'][aria-current]")
    shown.at("f.state")
    shown.press("Escape")
    shown.gone(".chosen")
    shown.at("^#/runs/1/table$")


def test_a_filter_is_removed_by_its_chip(shown):
    shown.go("/runs/1", **{"f.state": "=succeeded", "f.number": "10..50"})
    shown.see(r"of 200 trials, .* filtered out", ".chosen")
    assert len(shown.all(".chip")) == 2
    shown.picture("chosen")
    shown.click("[aria-label='Remove the filter of state']")
    shown.see(r"^41 of 200 trials", ".chosen")
    shown.click_text("Clear all")
    shown.gone(".chosen")


def test_colours_are_kept(shown):
    theme = "return document.documentElement.dataset.theme"
    assert shown.js(theme) == "light"
    shown.dark(True)
    assert shown.js(theme) == "dark"
    shown.press("T")
    assert shown.js(theme) == "light"
    shown.driver.refresh()
    shown.see("gamma")
    assert shown.js(theme) == "light"
    shown.press("T")
    assert shown.js(theme) == "dark"


def test_help_of_keys(shown):
    shown.press("?")
    shown.see("show keyboard shortcuts", "dialog")
    shown.see("next run", "dialog")
    shown.pictures("keys")
    shown.axe()
    shown.press("Escape")
    shown.gone("dialog")


def test_every_key_means_one_thing(shown):
    shown.go("/runs/1")
    shown.see("Overview", ".tabs")
    shown.press("?")
    shown.see("overview", "dialog")
    keys = shown.texts("dialog dt")
    assert len(keys) == len(set(keys)) or [
        key for key in keys if keys.count(key) > 1] == ["Esc", "Esc"], keys


def test_what_is_on_the_page_is_one_tab_away(shown):
    shown.press("Tab")
    assert shown.focused() == "Skip to content"
    shown.press("Enter")
    assert shown.js("return document.activeElement.tagName") == "MAIN"


def test_what_is_not_there(shown):
    shown.expected = "404"
    shown.go("/runs/99")
    shown.see("Not found")
    shown.picture("not-there")
    shown.axe()
    shown.go("/nonsense")
    shown.see("Page not found")
    shown.go("/runs/1/nonsense")
    shown.see("no view “nonsense”")


def test_removed_run(smtune, shown):
    shown.go("/runs/2")
    shown.see("beta", ".run-title")
    smtune.ok("rm", "beta")
    shown.see("This run was removed")
    shown.picture("removed")
    shown.press("g", "l")
    shown.see("alpha")
    assert "beta" not in names(shown)
