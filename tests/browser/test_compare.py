# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that are compared: which are in the address, what the charts and tables
say of them, their files, and all of it as one file."""

import csv

import pytest

EXPERIMENT = """\
    version: 1
    name: {name}
    objective: {{metric: loss, goal: minimize}}
    parameters:
      x: {{type: float, min: 0, max: {most}}}
    {more}
    search: {{method: {method}, seed: {seed}}}
    budget: {{trials: 8, parallel: 1}}
    trial:
      shell: |
        i=0; while [ $i -lt 3 ]; do i=$((i + 1))
        echo epoch=$i loss=$(awk -v x=${{{{ x }}}} -v n=$i 'BEGIN {{print x + 1 / n}}') acc=0.$i
        done
      resources: {{cpus: 0}}
    """


@pytest.fixture
def three(smtune, write):
    """Runs a, b and c, with the ids 1, 2 and 3."""
    for name, most, method, seed, more in (
            ("a", 1, "random", 3, ""), ("b", 2, "sobol", 3, ""),
            ("c", 1, "random", 4,
             "  k: {type: categorical, values: [p, q]}")):
        smtune.ok("run", write(f"{name}.yaml", EXPERIMENT.format(
            name=name, most=most, method=method, seed=seed, more=more)), "-q")


def test_runs_are_chosen_in_the_list_and_compared(three, serve, page):
    page.login(serve().operator).see("8 succeeded")
    for name in "ab":
        page.click(f"input[aria-label='Compare {name}']")
    page.at("runs=1,2").click_text("Compare 2", "a").at("^#/compare")
    page.see("Comparison of 2 runs").see("Best so far")
    page.see(r"of 2 runs\. The best is [\d.]+, (a|b)\.")
    page.fill("input[aria-label='Add a run by its name']", "c")
    page.see("Comparison of 3 runs").at("runs=1,2,3")
    page.see(r"of 3 runs\.")
    page.axe()
    page.pictures("compare-progress")
    page.choose(".chart-controls label:has(select) select", "time")
    page.at("progress.over=time").see("seconds")
    page.click("button[aria-label='Remove b from the comparison']")
    page.at("runs=1,3").see("Comparison of 2 runs")


def test_settings_that_differ_are_shown(three, serve, page):
    page.login(serve().viewer)
    page.go("/compare", runs="1,2,3", view="settings")
    page.see("search.method").see("sobol").see("parameters.x.max")
    page.see("settings are equal")
    assert "budget.trials" not in page.text()
    page.axe()
    page.pictures("compare-settings")
    page.click_text("Only differences").see("budget.trials")
    page.go("/compare", runs="1,2", view="files")
    page.see(r"- name: a\s").see(r"\+ name: b\s").see("equal line")
    page.axe()
    page.pictures("compare-files")


def test_trials_of_all_runs_are_together(three, serve, page, smtune):
    page.login(serve().viewer)
    page.go("/compare", runs="1,2,3", view="parallel")
    page.see("24 of 24 trials over 4 axes")
    page.axe()
    page.pictures("compare-parallel")
    page.go("/compare", runs="1,3", view="table", **{"f.run": "=c"})
    page.see("showing 8 of 16")
    page.go("/compare", runs="1,2,3", view="distribution")
    page.see("Medians: a ")
    page.pictures("compare-distribution")
    page.go("/compare", runs="1,2,3", view="curves")
    page.see("3 curves of loss")
    page.choose(".chart-controls select", "acc")
    page.see("3 curves of acc")
    page.pictures("compare-curves")


def test_a_file_compares_them(three, smtune, page):
    path = smtune.directory / "both.html"
    smtune.ok("export", "a", "c", "--format", "html", "-o", path)
    page.driver.get(f"file://{path}")
    page.see("Comparison of 2 runs").see(r"of 2 runs\. The best is")
    assert page.js("return location.hash").startswith("#/compare?runs=1,3")
    page.driver.get("about:blank")
    page.driver.get(f"file://{path}#/compare?runs=1,3&view=settings")
    page.see("parameters.k.type")


def test_what_is_not_there_is_said(three, serve, page):
    page.expected = "/api/v1/runs/99"
    page.login(serve().viewer)
    page.go("/compare", runs="1,99").see("Cannot read run 99")
    page.see("Comparison of 2 runs").see(r"of 1 run\.")
    page.go("/compare").see("Choose runs in the list of runs")


def test_every_metric_is_a_column(three, serve, page):
    page.login(serve().viewer)
    page.go("/runs/1/scatter", **{"scatter.y": "metric.max:acc",
                                  "scatter.x": "metric.min:loss"})
    page.see("max acc over min loss").see("8 trials have both values")
    page.axe()
    page.go("/runs/1/table", columns="metric:acc,metric.min:acc,metric.max:acc")
    page.see("min acc").see(r"0\.3").see(r"0\.1")
    page.click_text("Export").click_text("Save as CSV")
    with open(page.downloads("a-table*.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["acc"], row["min acc"], row["max acc"]) for row in rows] == \
        [("0.3", "0.1", "0.3")] * 8
    page.go("/runs/1/parallel").click_text("Add a metric")
    page.choose(".chart-controls label:has(option[value='metric.max:acc']) select",
                "max acc")
    page.at("axes=.*metric.max:acc").see("3 axes")


def test_curves_have_means_colours_and_time(three, serve, page):
    page.login(serve().viewer)
    page.go("/runs/3/curves", **{"curves.by": "param:k"})
    page.see("p: mean of").see("q: mean of").axe()
    page.pictures("curves-groups")
    page.go("/runs/3/curves", **{"curves.colour": "param:x",
                                 "curves.over": "time"})
    page.see("8 curves of loss").see("Log time")
    page.picture("curves-colours")


def test_origin_is_shown_alone_and_against_another(three, serve, page):
    page.login(serve().viewer)
    page.go("/runs/1/origin").see("name: a").see("smtune")
    page.see("Environment").axe()
    page.pictures("origin")
    page.choose(".chart-controls select", "b")
    page.at("with=2").see(r"\+ name: b")
    page.axe()


def test_twenty_runs_of_many_trials(smtune, fill, serve, page):
    for number in range(20):
        fill(f"r{number:02}", "minimize", 500)
    page.login(serve().viewer)
    page.go("/", **{"runs": "1,2"}).see("Compare 2")
    page.click_text("Choose all").click_text("Compare 20", "a")
    page.see("Comparison of 20 runs").see(r"of 20 runs\. The best is")
    page.axe()
    page.pictures("compare-twenty")
    ids = ",".join(str(number + 1) for number in range(20))
    page.go("/compare", runs=ids, view="table").see("10,000 trials")
    page.go("/compare", runs=ids, view="parallel")
    page.see("10,000 of 10,000 trials over")
    page.pictures("compare-twenty-parallel")
