# SPDX-License-Identifier: GPL-3.0-or-later
"""The charts of a run: that they say what the record says, by their sentence,
their numbers and their files; brushes, the cursor, and many trials."""

import csv
import json
import re
import sqlite3
import struct
import xml.etree.ElementTree

import pytest

TWO = """\
    version: 1
    name: two
    objective: [{metric: loss, goal: minimize}, {metric: size, goal: maximize}]
    parameters:
      x: {type: float, min: 1.0e-4, max: 1, scale: log}
      kind: {type: categorical, values: [a, "b <i>", c]}
      y: {type: int, min: 1, max: 9}
    search: {method: random, seed: 5}
    budget: {trials: 40, parallel: 4}
    trial:
      shell: |
        [ ${{ trial }} != 7 ] || exit 3
        [ ${{ trial }} != 9 ] || { echo loss=inf size=1; exit; }
        awk -v x=${{ x }} -v y=${{ y }} 'BEGIN {
            print "loss=" (x - 0.01) * (x - 0.01) + 1 / y, "size=" 10 - y + x }'
      resources: {cpus: 0}
    """

CURVED = """\
    version: 1
    name: curved
    objective: {metric: loss, goal: minimize}
    parameters:
      x: {type: float, min: 0, max: 1}
    search: {method: random, seed: 3}
    schedule: {method: asha, resource: epochs, min: 1, max: 9, eta: 3}
    budget: {trials: 12, parallel: 2}
    trial:
      shell: |
        i=0; while [ $i -lt ${{ epochs }} ]; do i=$((i + 1))
        echo epoch=$i loss=$(awk -v x=${{ x }} -v n=$i 'BEGIN {print x + 1 / n}')
        done
      resources: {cpus: 0}
    """

GROWING = """\
    version: 1
    name: growing
    objective: {metric: loss, goal: minimize}
    parameters:
      x: {type: float, min: 0, max: 1}
    search: {method: random, seed: 3}
    budget: {trials: 1, parallel: 1}
    trial:
      command: ["sh", "-c", "echo epoch=1 loss=3; until [ -e $GATE ]; do sleep 0.1; done; echo epoch=2 loss=2; until [ -e $GATE.2 ]; do sleep 0.1; done"]
    """


@pytest.fixture
def ask(smtune):
    """ask(sql, ...): rows of the store."""
    def rows(sql, *values):
        db = sqlite3.connect(f"file:{smtune.store}/smtune.db?mode=ro", uri=True)
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()
    return rows


@pytest.fixture
def made(smtune, write):
    """made(text): runs the file to its end."""
    def run(text):
        name = re.search(r"name: (\w+)", text)[1]
        done = smtune("run", write(f"{name}.yaml", text), "-q")
        assert done.returncode == 0, done.stderr
    return run


@pytest.fixture
def chart(serve, page):
    """chart(run, view, query...): the page at a view of a run."""
    def show(run, view, **query):
        if page.address is None:
            page.login(serve().operator)
            page.see("Runs", "h1")
        page.go(f"/runs/{run}/{view}", **query)
        page.one(".chart canvas")
        return page
    return show


def saved(page, kind, nth=0):
    """What a chart's button saves, as bytes."""
    before = set(page.driver.downloads.glob("*"))
    for path in before:
        path.unlink()
    button = [one for one in page.all(".chart-buttons button")
              if one.text == kind][nth]
    page.js("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    return page.downloads(f"*.{kind.lower()}").read_bytes()


def numbers(page, nth=0):
    """A chart's numbers: a list of dicts of texts."""
    return list(csv.DictReader(saved(page, "CSV", nth).decode().splitlines()))


def summary(page, nth=0):
    return page.texts(".chart-summary")[nth]


def test_history_says_what_the_record_says(fill, chart, ask):
    fill("hist", "minimize", 300)
    page = chart(1, "history")
    page.see("300 trials, loss")
    record = ask("SELECT number, state, value FROM trial ORDER BY number")
    rows = numbers(page)
    assert [(int(r["trial"]), r["state"]) for r in rows] \
        == [(number, state) for number, state, _ in record]
    best = float("inf")
    for row, (_, state, value) in zip(rows, record):
        assert row["loss"] == "" if value is None else \
            float(row["loss"]) == value
        if state == "succeeded" and value is not None:
            best = min(best, value)
        assert row["best"] == "" or float(row["best"]) == best
    (number, value), = ask("SELECT number, value FROM best_trial")
    assert float(rows[-1]["best"]) == value
    assert f", trial {number}, after " in summary(page)
    failed = sum(state == "failed" for _, state, _ in record)
    page.see(f"{failed} trials have no loss \\({failed} failed\\)",
             ".chart-notes")
    page.axe()
    page.dark(True)
    page.axe()
    page.dark(False)
    page.pictures("history")


def test_chart_is_saved_as_files(fill, chart):
    fill("files", "minimize", 40)
    page = chart(1, "history")
    page.see("40 trials")
    box = page.one(".chart-panels").size
    png = saved(page, "PNG")
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) \
        == (box["width"] * 2, box["height"] * 2)
    svg = xml.etree.ElementTree.fromstring(saved(page, "SVG"))
    space = "{http://www.w3.org/2000/svg}"
    texts = [one.text for one in svg.iter(f"{space}text")]
    assert svg.find(f"{space}title").text == "Optimisation history"
    assert "trial" in texts and any(text.startswith("loss") for text in texts)
    assert len(list(svg.iter(f"{space}path"))) > 10
    rows = json.loads(saved(page, "JSON"))
    assert len(rows) == 40 and rows[0]["trial"] == 1
    page.click(".chart-buttons [aria-pressed]")
    page.see("40 rows", ".chart-table caption")
    assert len(page.all(".chart-table tbody tr")) == 40


def test_cursor_goes_by_keys(fill, chart, ask):
    fill("keys", "minimize", 60)
    page = chart(1, "history")
    page.see("60 trials")
    known = [number for number, in ask(
        "SELECT number FROM trial WHERE value IS NOT NULL ORDER BY number")]
    page.js("document.querySelector('.chart-region').focus()")
    page.press("Home")
    page.see(f"trial {known[0]}\n", ".chart-tip")
    page.press("Right")
    assert page.js("return document.querySelector('.chart-said').textContent") \
        .startswith(f"trial {known[1]}, ")
    page.press("End")
    page.see(f"trial {known[-1]}\n", ".chart-tip")
    page.press("Enter")
    page.at(f"trial={known[-1]}$")


def test_brush_filters_everywhere(fill, chart, ask):
    fill("brush", "minimize", 200)
    page = chart(1, "history")
    page.see("200 trials")
    page.drag(".chart-over", (0.5, 0.5), (0.8, 0.52))
    page.at(r"f\.number=\d+\.\.\d+")
    low, high = re.search(r"f\.number=(\d+)\.\.(\d+)", page.js("return location.hash")).groups()
    kept = int(high) - int(low) + 1
    page.see(f"{kept} of 200 trials")
    for view in ("slice", "edf", "scatter"):
        page.click(f"nav.tabs a[href*='/{view}?']")
        page.see(f"{kept} of 200 trials", ".chart" if view != "edf"
                 else ".page")
    known, = ask("SELECT count(*) FROM trial WHERE value IS NOT NULL "
                 "AND number BETWEEN ? AND ?", low, high)[0]
    page.click("nav.tabs a[href*='/edf?']")
    page.see(f"{known} trials \\(selection\\)", ".chart-summary")
    # A category is brushed by its words.
    page.click("nav.tabs a[href*='/slice?']")
    page.see("10 parameters", ".chart-summary")
    page.js("document.querySelectorAll('.chart-over')[2].id = 'words'")
    page.drag("#words", (0.05, 0.5), (0.4, 0.52))
    page.at("f.param:optimizer==(sgd|adam)$")


def test_zoom_stays_in_the_address(fill, chart):
    fill("zoom", "minimize", 100)
    page = chart(1, "history", **{"history.drag": "zoom"})
    page.see("100 trials")
    page.drag(".chart-over", (0.2, 0.2), (0.6, 0.8))
    page.at(r"history\.zoom=[\d.,e-]+")
    page.driver.refresh()
    page.see("100 trials")
    page.click_text("Whole range")
    page.at(r"^#/runs/1/history\?history\.drag=zoom$")


def dominates(one, other):
    """Less loss and more size is better."""
    return one[0] <= other[0] and one[1] >= other[1] and one != other


def ranks(values):
    order = sorted(values)
    return [(order.index(v) + 1 + order.index(v) + order.count(v)) / 2
            for v in values]


def correlation(xs, ys):
    n, xs, ys = len(xs), ranks(xs), ranks(ys)
    mean = (n + 1) / 2
    cross = sum((x - mean) * (y - mean) for x, y in zip(xs, ys))
    return cross / (sum((x - mean) ** 2 for x in xs)
                    * sum((y - mean) ** 2 for y in ys)) ** 0.5


def test_two_objectives(made, chart, ask):
    made(TWO)
    page = chart(1, "front")
    rows = front_rows = numbers(page)
    known = {int(r["trial"]): (float(r["loss"]), float(r["size"]))
             for r in rows if r["state"] == "succeeded" and r["loss"] != "inf"}
    assert len(known) == 38
    record = dict(ask("SELECT number, value FROM trial"))
    assert all(record[number] == loss for number, (loss, _) in known.items())
    front = {number for number, values in known.items()
             if not any(dominates(other, values) for other in known.values())}
    assert {int(r["trial"]) for r in rows if r["front"] == "yes"} == front
    page.see(f"{len(front)} trials? on the front", ".chart-summary")
    page.see("1 trial has an infinite loss", ".chart-notes")
    page.axe()
    page.pictures("front")

    page = chart(1, "edf")
    rows = numbers(page)
    losses = sorted(loss for loss, _ in known.values())
    assert [float(r["loss"]) for r in rows] == losses
    assert [float(r["share"]) for r in rows] \
        == [(i + 1) / len(losses) for i in range(len(losses))]
    page.axe()
    page.pictures("edf")

    page = chart(1, "importance")
    page.see("38 results", ".chart-summary")
    said = {(r["metric"], r["param"]): float(r["correlation"])
            for r in numbers(page, 1)}
    params = {number: json.loads(text) for number, text in
              ask("SELECT number, params FROM trial")}
    for metric in ("loss", "size"):
        finite = {int(r["trial"]): float(r[metric]) for r in front_rows
                  if r[metric] not in ("", "inf")}
        for name in ("x", "y"):
            xs = [params[number][name] for number in finite]
            assert said[metric, name] == pytest.approx(
                correlation(xs, list(finite.values())))
    page.see("kind has no order", ".chart-notes")
    page.axe()
    page.pictures("importance")

    page = chart(1, "scatter", **{"scatter.x": "param:kind",
                                  "scatter.y": "value:size"})
    page.see("39 trials have both values", ".chart-summary")
    page.axe()
    page.pictures("scatter")
    page = chart(1, "slice", **{"slice.colour": "param:kind"})
    page.see("b <i>", ".chart-legend")
    page.axe()
    page.pictures("slice")


def test_curves_and_rungs(made, chart, ask):
    made(CURVED)
    page = chart(1, "curves")
    points = ask("SELECT number, step, value FROM learning_curve "
                 "WHERE metric = 'loss' ORDER BY number, step, attempt")
    last = {(number, step): value for number, step, value in points}
    page.see(f"12 curves of loss, {len(last)} points", ".chart-summary")
    rows = numbers(page)
    assert {(int(r["trial"]), int(r["epochs"])): float(r["loss"])
            for r in rows} == last
    reached, promoted = ask(
        "SELECT count(*), count(promoted_to) FROM rung WHERE rung = 0")[0]
    page.see(f"at 1, {promoted} of {reached} promoted", ".chart-summary")
    page.axe()
    page.pictures("curves")
    page.js("document.querySelector('.chart-region').focus()")
    page.press("Home", "Down")
    page.see("trial 2\n", ".chart-tip")
    page.press("Enter")
    page.at("trial=2")
    page = chart(1, "curves", **{"f.number": "1..3"})
    page.see("3 curves of loss", ".chart-summary")


def test_curve_grows_while_it_runs(smtune, fill, write, chart, tmp_path):
    fill("before", "minimize", 3)
    gate = tmp_path / "gate"
    run = smtune.start("run", write("growing.yaml", GROWING), "-q",
                       env={"GATE": str(gate)})
    page = chart(2, "curves")
    page.see("1 curve of loss, 1 point", ".chart-summary")
    gate.touch()
    page.see("1 curve of loss, 2 points", ".chart-summary")
    (tmp_path / "gate.2").touch()
    assert run.wait(60) == 0


@pytest.mark.timeout(600)  # where much else is going on
def test_a_hundred_thousand_trials(fill, chart, ask):
    fill("big", "minimize", 100_000)
    page = chart(1, "history")
    page.see("100,000 trials, loss", ".chart-summary", 60)
    record = ask("SELECT number, value FROM trial ORDER BY number")
    rows = numbers(page)
    assert len(rows) == 100_000
    for place in range(0, 100_000, 997):
        number, value = record[place]
        assert int(rows[place]["trial"]) == number
        assert rows[place]["loss"] == "" if value is None else \
            float(rows[place]["loss"]) == value
    known = sum(value is not None for _, value in record)
    page.see(f"{known:,} trials with a value", ".chart-summary")
    assert saved(page, "SVG").startswith(b"<?xml")
    page.picture("history-100000")
    page.drag(".chart-over", (0.3, 0.5), (0.6, 0.52))
    page.at(r"f\.number=\d+\.\.\d+")
    page.see(r"^[\d,]+ of 100,000 trials", ".chart-summary")
    for view, text in (("slice", "10 parameters"), ("edf", "selection"),
                       ("scatter", "both values"),
                       ("importance", "rank correlation")):
        page.go(f"/runs/1/{view}", **{"f.number": "1000..60000"})
        page.see(text, ".chart-stack" if view == "importance"
                 else ".chart-summary", 60)
        page.picture(f"{view}-100000")


def paths_of(svg):
    """The lines of a picture, each a list of its corners."""
    tree = xml.etree.ElementTree.fromstring(svg)
    return [re.findall(r"[ML]([\d.-]+) ([\d.-]+)", one.get("d"))
            for one in tree.iter("{http://www.w3.org/2000/svg}path")
            if one.get("fill") == "none"]


def test_lines_in_a_file_are_the_records(made, chart, ask):
    made(CURVED)
    page = chart(1, "curves", **{"curves.y": "linear"})
    page.see("12 curves of loss", ".chart-summary")
    curves = {}
    for number, step, value in ask(
            "SELECT number, step, value FROM learning_curve "
            "WHERE metric = 'loss' ORDER BY number, step, attempt"):
        curves.setdefault(number, {})[step] = value
    lines = paths_of(saved(page, "SVG"))
    for points in curves.values():
        if len(points) < 2:
            continue
        rise = [b - a for a, b in zip(list(points.values()),
                                      list(points.values())[1:])]
        # The picture's y goes down, and is linear in the value.
        shapes = [[float(b[1]) - float(a[1]) for a, b in zip(line, line[1:])]
                  for line in lines if len(line) == len(points)]
        assert any(fall == pytest.approx(
            [part * fall[0] / rise[0] for part in rise], abs=0.1)
            for fall in shapes), points


def test_lines_are_zoomed_and_brushed(made, chart):
    made(CURVED)
    page = chart(1, "curves")
    page.see("12 curves of loss", ".chart-summary")
    page.swipe(".chart-over", (0.2, 0.5), (0.7, 0.52))
    page.at(r"curves\.zoom=[\d.,e-]+")
    page.see("12 curves of loss", ".chart-summary")
    page.js("document.querySelector('.chart-over').dispatchEvent("
            "new MouseEvent('dblclick', {bubbles: true}))")
    page.at(r"^#/runs/1/curves$")
    page = chart(1, "edf")
    page.drag(".chart-over", (0.05, 0.5), (0.5, 0.52))
    page.at(r"f\.value:loss=[\d.-]+\.\.[\d.]+")
    page.see(r"\d+ of 12 trials")
    # What moved less than a drag is a click, and chooses nothing.
    page = chart(1, "edf")
    page.drag(".chart-over", (0.5, 0.5), (0.501, 0.5))
    assert page.js("return location.hash") == "#/runs/1/edf"
