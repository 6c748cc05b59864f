# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page shows of values: nan and infinities, every metric as a column,
means of repeated settings, curves over the resource, marks at the edge."""

import re

import pytest

import files

CASES = """\
    case $SMTUNE_JOB in
      1) echo loss=3 val/acc=0.5;;
      2) echo loss=nan val/acc=0.9;;
      3) echo loss=inf seconds=12;;
      4) echo loss=1 val/acc=nan;;
      *) echo loss=2; exit 1;;
    esac
    """


@pytest.fixture
def cells(page):
    """cells(n): the texts of a row of the table, by what is over them."""
    def read(row):
        heads = page.texts(".vt-head-label")
        texts = page.js(
            "return [...document.querySelectorAll('.vt-row')].map(row =>"
            " [...row.querySelectorAll('.vt-cell > .text')]"
            ".map(cell => cell.textContent))")
        return dict(zip((head.split("\n")[0] for head in heads), texts[row]))
    return read


def test_nan_and_infinities_are_shown(smtune, experiment, serve, page, cells):
    smtune("run", experiment(CASES, trials=5, parallel=1))
    page.login(serve().operator).go("/runs/1/table")
    page.see("inf", ".vt")
    assert [cells(row)["loss"] for row in range(4)] == ["3", "nan", "inf", "1"]
    page.go("/runs/1/history")
    page.see("2 nonfinite", ".run-head")
    page.see("2 succeeded", ".run-head")
    page.see("1 trial has nan for loss")
    page.see("nan", ".chart-legend")
    page.picture("nan-and-infinity")


def test_every_metric_is_a_column(smtune, experiment, serve, page, cells):
    smtune("run", experiment(CASES, trials=5, parallel=1))
    page.login(serve().operator).go("/runs/1/table")
    page.see("inf", ".vt")
    page.click(".trials-tools .btns .btn[aria-haspopup]")
    for name in "val/acc", "seconds":
        page.click_text(name, ".popover .choice label")
        page.see(name, ".vt-heads")
    page.press("Escape")
    page.see("12", ".vt-body")
    assert [cells(row)["val/acc"] for row in range(4)] == [
        "0.5", "0.9", "", "nan"]
    assert cells(2)["seconds"] == "12"
    page.at("metric:val/acc")
    # filtered and sorted by it
    page.go("/runs/1/table", columns="metric:val/acc",
            sort="-metric:val/acc")
    page.see("0.9", ".vt-body")
    assert cells(0)["trial"] == "2" and cells(1)["trial"] == "1"


def test_means_of_settings(smtune, experiment, serve, page):
    smtune.ok("run", experiment(
        "case $SMTUNE_JOB in 1) v=9;; 2) v=1;; 3|4) v=6;; *) v=5;; esac; "
        "echo acc=$v; : ${{ x }}", trials=6, parallel=1, repeats=2,
        search="grid", objective="{metric: acc, goal: maximize}",
        parameters="{x: {type: ordinal, values: [1, 2, 3]}}"))
    page.login(serve().operator)
    page.see("6 acc", "[data-run='1']")
    page.go("/runs/1/table")
    page.see(r"best mean acc\s+6\s+trial 3", ".facts")
    page.see(r"★\s*(best)?\s*3\b", ".vt-body")
    page.go("/runs/1/history")
    page.see("The best mean is 6, trial 3")


@pytest.mark.parametrize("first", [0, 1])
def test_curves_and_rungs_share_their_axis(smtune, experiment, serve, page,
                                           first):
    smtune.ok("run", experiment(**files.counting_from(first)))
    page.login(serve().operator).go("/runs/1/curves")
    page.see(r"Rungs: at 1, \d of 3 promoted")
    page.click("[aria-label^='Show numbers']")
    rows = [line.split() for line in page.one(".chart-table tbody")
            .text.splitlines()]
    assert page.texts(".chart-table th")[2] == "epochs"
    assert [row[2] for row in rows if row[0] == "1"] == ["1", "2", "3"]


# A triangle of the SVG, as a path: its tip and its two other corners.
TRIANGLE = re.compile(r'd="M[^"ML]+L[^"ML]+L[^"ML]+" fill="#')


def test_infinite_values_have_a_mark_at_the_edge(smtune, experiment, serve,
                                                 page):
    smtune.ok("run", experiment("echo loss=${{ x }}", trials=5, name="finite"))
    smtune("run", experiment(CASES, trials=5, parallel=1))
    page.login(serve().operator)
    for run, name, count in (1, "finite", 0), (2, "exp", 1):
        page.go(f"/runs/{run}/history")
        page.click("[aria-label^='Save as SVG']")
        picture = page.downloads(f"{name}-history*.svg").read_text()
        assert len(TRIANGLE.findall(picture)) == count


def test_what_is_not_drawn_is_counted(smtune, experiment, serve, page):
    smtune.ok("run", experiment(
        "for v in 2 nan inf 1; do echo epoch=$((i = i + 1)) loss=$v; done",
        trials=2, name="curved"))
    smtune("run", experiment(CASES, trials=5, parallel=1))
    page.login(serve().operator).go("/runs/1/curves")
    page.see("2 points not drawn: nan")
    page.go("/runs/2/parallel")
    page.see("2 trials without a finite loss")
