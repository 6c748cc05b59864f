# SPDX-License-Identifier: GPL-3.0-or-later
"""The charts that the page draws itself: parallel coordinates, contours, the
timeline, a workflow's graph, resources. What a brush selects is what SQL says."""

import json
import math
import re
import sqlite3
import time

import pytest

from programs import build_gpu_library, wait_until

TRIALS = 40
FILE = f"""\
    version: 1
    name: tuned
    objective: loss
    parameters:
      lr: {{type: float, min: 1.0e-5, max: 1, scale: log}}
      width: {{type: int, min: 16, max: 512, scale: log}}
      optimizer: {{type: categorical, values: [sgd, adam]}}
      momentum: {{type: float, min: 0, max: 0.99, scale: reverse_log, when: "optimizer = 'sgd'"}}
    search: {{method: random, seed: 1}}
    budget: {{trials: {TRIALS}, parallel: 4}}
    trial:
      command: ["sh", "-c", "test $(( ${{{{ trial }}}} % 9 )) -ne 5 && echo loss=$(awk 'BEGIN {{ print (log(${{{{ lr }}}}) + 4)^2 + ${{{{ width }}}} / 500 }}')"]
      retry: [{{match: ["exit:1"], max: 1, delay: 0s}}]
    """
RUNGS = """\
    version: 1
    name: rungs
    objective: {metric: loss, goal: minimize}
    parameters: {lr: {type: float, min: 1.0e-4, max: 1, scale: log}}
    search: {method: random, seed: 1}
    schedule: {method: asha, resource: epochs, min: 1, max: 9, eta: 3}
    budget: {trials: 12, parallel: 2}
    trial:
      shell: >-
        i=1; while [ $i -le ${{ epochs }} ]; do
        echo epochs=$i loss=${{ lr }}; i=$((i+1)); sleep 0.05; done
    """
STEPS = 1000
COPIES, FILLED = 15, 20_000
MANY = COPIES * FILLED
FLOW = """\
    version: 1
    name: flow
    steps:
      first: {command: "true"}
      shard: {needs: first, matrix: {part: [0, 1, 2, 3, 4, 5]}, command: "true"}
      last: {needs: shard, command: "true"}
      broken: {needs: first, command: "false"}
      after: {needs: broken, command: "true"}
    """


@pytest.fixture
def tuned(smtune, write, serve, page):
    """The page, with a run of real trials."""
    smtune.ok("run", write("tuned.yaml", FILE), "-q", timeout=240)
    page.login(serve().operator)
    page.see("tuned")
    return page


def count_sql(smtune, question, *values):
    with sqlite3.connect(f"file:{smtune.store}/smtune.db?mode=ro",
                         uri=True) as database:
        return database.execute(
            f"SELECT count(*) FROM trial WHERE {question}", values).fetchone()[0]


def painted(page):
    """What was drawn last, once the lines have come to rest."""
    def fine():
        told = page.js("return document.querySelector('.pc-lines')"
                       "?.dataset.painted")
        drawn = json.loads(told) if told else None
        return drawn if drawn and (drawn["isExact"] or not drawn["isQuick"]) \
            else None
    return wait_until(fine, 60, "the lines")


def drawn_pixels(page, css):
    """How many pixels of a canvas are not empty."""
    return page.js("""
        const from = document.querySelector(arguments[0]);
        if (from === null) return 0;
        const to = document.createElement('canvas');
        to.width = from.width; to.height = from.height;
        const context = to.getContext('2d');
        context.drawImage(from, 0, 0);
        const { data } = context.getImageData(0, 0, to.width, to.height);
        let count = 0;
        for (let at = 3; at < data.length; at += 4) count += data[at] > 0;
        return count;""", css)


def filters(page):
    """The ranges of the address, by column."""
    text = page.js("return decodeURIComponent(location.hash)")
    return {name: (float(low), float(high)) for name, low, high in
            re.findall(r"f\.([^=&]+)=([-\d.e]+)\.\.([-\d.e]+)", text)}


def brush(page, axis, start, end):
    """With the pointer along an axis; parts of its length from the top."""
    box = page.js("""
        const heads = [...document.querySelectorAll('.pc-name')];
        const at = heads.findIndex((head) => head.dataset.axis === arguments[0]);
        const hit = document.querySelectorAll('.pc-hit')[at];
        hit.scrollIntoView({ block: 'center', inline: 'center' });
        const { left, top, width, height } = hit.getBoundingClientRect();
        return [left + width / 2, top + 6, height - 12];""", axis)
    x, top, height = box
    pointer(page, "mousePressed", x, top + start * height)
    for part in (0.3, 0.7, 1):
        pointer(page, "mouseMoved", x, top + (start + part * (end - start)) * height)
    pointer(page, "mouseReleased", x, top + end * height)


def pointer(page, kind, x, y):
    page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
        "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1,
        "buttons": 0 if kind == "mouseReleased" else 1, "pointerType": "mouse"})


def brushed_lr(smtune, page):
    """The range of a brush that is over, and of how many trials the page and
    SQL say that they are in it: on its way it had others."""
    page.driver.execute_async_script(
        "requestAnimationFrame(() => requestAnimationFrame(() => "
        "setTimeout(arguments[0])))")

    def agreed():
        low, high = filters(page).get("param:lr", (1, 0))
        wanted = count_sql(
            smtune, "params ->> 'lr' BETWEEN ? AND ?", low, high)
        return low < high and (low, high, wanted) if re.search(
            rf"\b{wanted} of {TRIALS} trials", page.text()) else None
    low, high, wanted = wait_until(agreed, 30)
    assert 1e-4 < low < 0.02 and 0.05 < high < 0.3
    assert 0 < wanted < TRIALS
    return low, high, wanted


def test_brushes_select_what_sql_says(smtune, tuned):
    tuned.go("/runs/1/parallel")
    wait_until(lambda: painted(tuned)["count"] == TRIALS)
    wait_until(lambda: drawn_pixels(tuned, ".pc-lines") > 1000)
    brush(tuned, "param:lr", 0.2, 0.6)
    low, high, wanted = brushed_lr(smtune, tuned)
    wait_until(lambda: painted(tuned)["count"] == wanted)
    # Another one by keys: both together.
    tuned.js("document.querySelector('[data-axis=\"param:width\"]').focus()")
    tuned.press("Up")
    tuned.at(r"f\.param:width=")
    low_width, high_width = filters(tuned)["param:width"]
    assert high_width == 512 and low_width > 100
    both = count_sql(
        smtune, "params ->> 'lr' BETWEEN ? AND ? AND params ->> 'width' >= ?",
        low, high, low_width)
    tuned.see(rf"\b{both} of {TRIALS} trials")
    tuned.press("\ue017")  # Delete
    tuned.see(rf"\b{wanted} of {TRIALS} trials")
    tuned.pictures("parallel")
    tuned.axe()
    # The address holds it.
    tuned.driver.refresh()
    tuned.see(rf"\b{wanted} of {TRIALS} trials")


def least_colourful(page):
    """By how much red, green and blue differ in the greyest pixel of the lines
    that is nearly opaque."""
    return page.js("""
        const from = document.querySelector('.pc-lines');
        const to = document.createElement('canvas');
        to.width = from.width; to.height = from.height;
        const context = to.getContext('2d');
        context.drawImage(from, 0, 0);
        const { data } = context.getImageData(0, 0, to.width, to.height);
        let least = 255;
        for (let at = 0; at < data.length; at += 4)
          if (data[at + 3] > 128)
            least = Math.min(least, Math.max(...data.slice(at, at + 3)) -
                                    Math.min(...data.slice(at, at + 3)));
        return least;""")


@pytest.mark.parametrize("values", ["1 2 3", "2 2 2", "2"])
def test_all_that_has_a_value_is_coloured(smtune, experiment, serve, page,
                                          values):
    """The worst one too, and all of those that are equal. Their lines do not
    cross: the edge of one over another can be grey."""
    smtune.ok("run", experiment(
        f"x=${{{{ x }}}}; set -- {values}; shift $((x - 1)); echo loss=$1",
        trials=len(values.split()), method="grid",
        parameters={"x": {"type": "ordinal", "values": [1, 2, 3]}}))
    page.login(serve().operator).go("/runs/1/parallel")
    wait_until(lambda: painted(page)["count"] == len(values.split()))
    wait_until(lambda: drawn_pixels(page, ".pc-lines") > 100)
    assert least_colourful(page) > 40


def test_words_and_none_have_bands(smtune, tuned):
    tuned.go("/runs/1/parallel")
    painted(tuned)
    assert "none" in tuned.js(
        "return [...document.querySelectorAll('.pc-mark')].map(e => e.textContent)")
    brush(tuned, "param:optimizer", 0.05, 0.3)
    tuned.at("f.param:optimizer==(adam|sgd)")
    word = re.search("optimizer==(adam|sgd)", tuned.js(
        "return decodeURIComponent(location.hash)"))[1]
    wanted = count_sql(smtune, "params ->> 'optimizer' = ?", word)
    tuned.see(rf"\b{wanted} of {TRIALS} trials")


def test_axes_are_moved_turned_and_hidden(tuned):
    tuned.go("/runs/1/parallel")
    painted(tuned)
    tuned.js("document.querySelector('[data-axis=\"param:lr\"]').focus()")
    tuned.press("Enter")
    tuned.at("axes=-lr,width")
    tuned.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {
        "type": "keyDown", "key": "ArrowRight", "code": "ArrowRight",
        "windowsVirtualKeyCode": 39, "modifiers": 8})
    tuned.at("axes=width,-lr")
    tuned.js("document.querySelector('[data-axis=\"param:momentum\"]').focus()")
    tuned.press("h")
    tuned.at("axes=width,-lr,optimizer,value:loss")
    assert len(tuned.all(".pc-name")) == 4
    # With the pointer: the first one behind the second.
    (x, y), (next_x, _) = tuned.js(
        "return [...document.querySelectorAll('.pc-name')].slice(0, 2).map(e =>"
        "{ const b = e.getBoundingClientRect();"
        "return [b.left + b.width / 2, b.top + b.height / 2]; })")
    pointer(tuned, "mousePressed", x, y)
    for part in (0.3, 0.8, 1):
        pointer(tuned, "mouseMoved", x + part * (next_x - x), y)
    pointer(tuned, "mouseReleased", next_x, y)
    tuned.at("axes=-lr,width")


def test_contour_says_where_nothing_is_known(tuned):
    tuned.go("/runs/1/contour")
    tuned.see(r"surface covers \d+ % of the plane")
    tuned.see("Most important pairs")
    part = int(re.search(r"covers (\d+) %", tuned.text("main"))[1])
    assert 10 < part < 100
    tuned.pictures("contour")
    tuned.axe()
    tuned.go("/runs/1/contour", **{"contour.x": "optimizer", "contour.y": "lr"})
    tuned.see("over optimizer and lr")
    tuned.picture("contour-bands")


def test_contour_stays_in_the_ranges(smtune, experiment, serve, page):
    """The best place is a corner, and an int is whole there."""
    smtune.ok("run", experiment(
        "awk -v x=${{ x }} -v k=${{ k }} 'BEGIN { print \"loss=\" x + k }'",
        method="grid", points=5, trials=45,
        parameters={"x": {"type": "float", "min": 0, "max": 1},
                    "k": {"type": "int", "min": 1, "max": 9}}))
    page.login(serve().operator).go(
        "/runs/1/contour", **{"contour.x": "x", "contour.y": "k"})
    page.see("The surface covers 100 % of the plane")
    place = re.search(r"best point is near x ([-\d.e]+), k ([-\d.e]+),",
                      page.text("main"))
    assert 0 <= float(place[1]) < 0.05 and place[2] == "1"


def test_a_finger_brushes_as_the_pointer_does(smtune, tuned):
    tuned.go("/runs/1/parallel")
    wait_until(lambda: painted(tuned)["count"] == TRIALS)
    wait_until(lambda: drawn_pixels(tuned, ".pc-lines") > 1000)
    axis = tuned.js("return [...document.querySelectorAll('.pc-name')]"
                    ".findIndex((head) => head.dataset.axis === 'param:lr')")
    tuned.swipe(".pc-hit", (0.5, 0.2), (0.5, 0.6), axis)
    brushed_lr(smtune, tuned)
    tuned.go("/runs/1/history")
    wait_until(lambda: drawn_pixels(tuned, ".chart-canvas") > 1000)
    tuned.swipe(".chart-over", (0.3, 0.5), (0.7, 0.52))
    tuned.at(r"f\.number=")
    low, high = filters(tuned)["number"]
    tuned.see(rf"\b{math.floor(high) - math.ceil(low) + 1} of {TRIALS} trials")
    tuned.go("/runs/1/timeline", **{"timeline.drag": "filter"})
    tuned.see("attempts in")
    wait_until(lambda: drawn_pixels(tuned, ".timeline canvas") > 1000)
    tuned.swipe(".timeline", (0.1, 0.5), (0.45, 0.5))
    tuned.at(r"f\.started=")


def test_timeline_shows_all_attempts(smtune, tuned):
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        attempts, failed = database.execute(
            "SELECT count(*), sum(cause = 'exit') FROM attempt").fetchone()
    assert attempts > TRIALS
    tuned.go("/runs/1/timeline")
    tuned.see(rf"{attempts} attempts in [4-9] lanes")
    tuned.see(rf"\b{failed} exit")
    wait_until(lambda: drawn_pixels(tuned, ".timeline canvas") > 5000)
    tuned.pictures("timeline")
    tuned.axe()
    tuned.go("/runs/1/timeline", **{"timeline.lanes": "trial"})
    tuned.see(rf"{attempts} attempts in {TRIALS} lanes")
    tuned.picture("timeline-trials")
    # A brush of time is a filter of when trials started.
    tuned.go("/runs/1/timeline", **{"timeline.drag": "filter"})
    tuned.see("attempts in")
    tuned.drag(".timeline", (0.1, 0.5), (0.45, 0.5))
    tuned.at(r"f\.started=")
    low, high = filters(tuned)["started"]
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        wanted = database.execute(
            "SELECT count(*) FROM job WHERE (SELECT min(started_ms) FROM attempt"
            " WHERE job_id = job.id) BETWEEN ? AND ?",
            (low, high)).fetchone()[0]
    assert 0 < wanted < TRIALS
    tuned.see(rf"\b{wanted} of {TRIALS} trials")


def test_timeline_marks_rungs_and_parts_of_a_second(
        smtune, write, serve, page):
    smtune.ok("run", write("rungs.yaml", RUNGS), "-q", timeout=120)
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        began_ms, = database.execute(
            "SELECT min(started_ms) FROM attempt").fetchone()
    page.login(serve().operator)
    page.see("rungs")
    page.go("/runs/1/timeline", **{"timeline.lanes": "trial"})
    page.see("reached a rung", ".chart-legend")
    page.js("document.querySelector('.chart-region').focus()")
    page.press("Home")
    page.see(r"trial 1, .*rung at 1: (not )?promoted", ".chart-said")
    page.pictures("timeline-rungs")
    page.go("/runs/1/timeline", **{
        "timeline.window": f"{began_ms - 20},{began_ms + 80},0,4"})
    page.see("outside the view")
    page.click("[aria-label^='Save as SVG']")
    marks = re.findall(r">\d\d:\d\d:\d\d\.(\d{3})<",
                       page.downloads("rungs-timeline.svg").read_text())
    assert len(marks) > 4 and all(int(mark) % 5 == 0 for mark in marks), marks
    page.picture("timeline-parts-of-a-second")


def test_graph_of_a_workflow(smtune, write, serve, page):
    smtune("run", write("flow.yaml", FLOW), "-q", timeout=120)
    page.login(serve().operator)
    page.see("flow")
    page.go("/runs/1/graph")
    page.see("5 steps, 4 dependencies: 3 succeeded, 1 failed")
    wait_until(lambda: drawn_pixels(page, ".timeline canvas") > 5000)
    page.pictures("graph")
    page.axe()
    # Along a line by keys, and into the step's jobs.
    page.js("document.querySelector('.chart-region').focus()")
    page.press("Home", "Down")
    page.see("broken\nfailed", ".chart-tip")
    page.press("Left")
    page.see("shard\nsucceeded\n×6: 6 ✓", ".chart-tip")
    page.press("Enter")
    page.at("/runs/1/table")
    page.see(r"\b6 of \d+ ")
    page.go("/runs/1/timeline")
    page.see("Critical path: first → ")
    page.picture("timeline-workflow")
    # A step's copies are seen in it, and are gone through by keys.
    page.go("/runs/1/graph")
    page.see("5 steps, 4 dependencies")
    page.choose(".chart-controls select", "shard")
    page.at("graph.unfold=shard")
    page.js("document.querySelector('.chart-region').focus()")
    wait_until(lambda: page.press("End") and
               "shard[5]\nsucceeded" in page.text(".chart-tip"))
    page.press("Left", "Up")
    page.see(r"shard\[1\]", ".chart-tip")
    page.pictures("graph-unfolded")
    page.axe()
    page.press("Up")
    page.see(r"shard\n", ".chart-tip")
    page.press("Down", "Left", "Down", "Down")
    page.see(r"last\n", ".chart-tip")
    page.press("Up", "Down", "Down", "Enter")
    page.see(r"Job \d shard", ".trial-panel")


def test_graph_of_a_thousand_steps(smtune, write, serve, page):
    steps = [f"  s{i}: {{needs: [s{(i - 1) // 2}], command: 'true'}}"
             if i else "  s0: {command: 'false'}" for i in range(STEPS)]
    smtune("run", write("big.yaml", "version: 1\nname: big\nsteps:\n" +
                        "\n".join(steps) + "\n"), "-q", timeout=200)
    page.login(serve().operator)
    page.see("big")
    page.go("/runs/1/graph")
    page.see(f"{STEPS:,} steps, {STEPS - 1} dependencies", timeout=60)
    page.picture("graph-1000")
    page.fill("input[type=search].input", "s777")
    page.at("graph.search=s777")
    page.at("graph.camera=")
    page.picture("graph-1000-found")
    spent = page.js("""
        const canvas = document.querySelector('.timeline');
        const box = canvas.getBoundingClientRect();
        return new Promise((done) => {
          const times = [];
          let last = performance.now();
          const turn = (left) => {
            canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: left % 2 ? 40 : -40,
              clientX: box.left + 300, clientY: box.top + 200, cancelable: true }));
            requestAnimationFrame((now) => {
              times.push(now - last);
              last = now;
              if (left > 0) turn(left - 1); else done(times);
            });
          };
          turn(40);
        });""")
    print("frames while zooming 1,000 steps (ms):", distribution(spent))
    # The quickest quarter: others may want the processor, too.
    assert sorted(spent)[len(spent) // 4] < 250


def test_resources(tuned):
    tuned.go("/runs/1/resources")
    tuned.see("Resources of attempts")
    tuned.see(r"Duration: median [\d.]+ m?s")
    tuned.see(r"This machine")
    tuned.see(r"\d+ CPUs, load")
    wait_until(lambda: len(tuned.all(".chart-spot")) >= 6)
    tuned.pictures("resources")
    tuned.axe()


def test_resources_shows_gpus(smtune, fill, serve, page, tmp_path):
    smtune.env |= build_gpu_library(tmp_path)
    fill("a", "minimize", 10)
    page.login(serve().operator)
    page.go("/runs/1/resources")
    page.see("0 NVIDIA <b>H100</b> 80GB HBM3 42 % 20.0 GiB 80.0 GiB")
    page.see("1 NVIDIA A100-SXM4-40GB MIG – 40.0 GiB 40.0 GiB")
    # Three of attempts, four of the machine, two of GPUs.
    wait_until(lambda: len(page.all(".chart-spot")) >= 9, 45)
    page.pictures("resources-gpus")
    page.axe()


def distribution(times):
    ordered = sorted(times)
    def at(share):
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)
    return {"frames": len(ordered), "p50": at(0.5), "p90": at(0.9),
            "p99": at(0.99), "max": round(ordered[-1], 1)}


def copy_trials(smtune):
    """Adds each trial of the one run COPIES - 1 times more, under new numbers:
    far quicker than it is filled."""
    ids = {"job": "id", "attempt": "id", "event": "seq"}
    kinds = {"job_id": "job", "attempt_id": "attempt", "number": "job"}
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        size = {table: database.execute(
            f"SELECT max({key}) FROM {table}").fetchone()[0]
            for table, key in ids.items()}
        for table in ("job", "param_value", "job_value", "attempt", "metric",
                      "event"):
            columns = [row[1] for row in database.execute(
                f"PRAGMA table_info({table})")]
            by = {name: size[kinds[name]] for name in columns if name in kinds}
            by.pop("number" if table == "attempt" else "", None)
            if table in ids:
                by[ids[table]] = size[table]
            values = ", ".join(f"{name} + :k * {by[name]}" if name in by
                               else name for name in columns)
            old = f"{ids[table]} <= {size[table]}" if table in ids \
                else f"job_id <= {size['job']}"
            for k in range(1, COPIES):
                database.execute(f"INSERT INTO {table} SELECT {values} "
                                 f"FROM {table} WHERE {old}", {"k": k})
    database.close()


@pytest.mark.timeout(600)  # where much else is going on
def test_very_many_trials(smtune, fill, serve, page):
    fill("many", "minimize", FILLED)
    copy_trials(smtune)
    page.login(serve().operator)
    page.see("many")
    page.go("/runs/1/parallel")
    wait_until(lambda: painted(page)["count"] == MANY, 240)
    page.see("all trials are drawn as densities")
    page.pictures("parallel-many")
    page.js("""
        window.pageFrames = [];
        let last = performance.now();
        const frame = (now) => {
          pageFrames.push(now - last);
          last = now;
          requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
        window.pictureTimes = [];
        const lines = document.querySelector('.pc-lines');
        new MutationObserver(() => pictureTimes.push(performance.now()))
          .observe(lines, { attributes: true, attributeFilter: ['data-painted'] });""")
    box = page.js("const b = document.querySelectorAll('.pc-hit')[1]"
                  ".getBoundingClientRect(); return [b.left + b.width / 2, b.top, b.height]")
    x, top, height = box
    pointer(page, "mousePressed", x, top + 0.1 * height)
    begun = time.monotonic()
    while time.monotonic() - begun < 5:
        turn = math.sin((time.monotonic() - begun) * 3)
        pointer(page, "mouseMoved", x, top + (0.55 + 0.35 * turn) * height)
    frames, pictures = page.js("return [pageFrames, pictureTimes]")
    pointer(page, "mouseReleased", x, top + 0.6 * height)
    between = [b - a for a, b in zip(pictures, pictures[1:])]
    print(f"{MANY:,} trials, brushing: frames of the page (ms):",
          distribution(frames))
    print("new pictures (ms):", distribution(between))
    assert len(pictures) > 10

    def is_as_sql_says():
        low, high = filters(page).get("param:width", (0, 0))
        wanted = count_sql(
            smtune, "params ->> 'width' BETWEEN ? AND ?", low, high)
        return (f"{wanted:,} of {MANY:,} trials" in page.text()
                and painted(page)["count"] == wanted)
    wait_until(is_as_sql_says, 240)
    page.go("/runs/1/timeline")
    page.see(r"[\d,]+ attempts in", timeout=240)
    page.see("thinner than a pixel")
    page.picture("timeline-many")
    page.go("/runs/1/contour")
    page.see("surface covers", timeout=240)
    page.picture("contour-many")
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        best, least = database.execute(
            "SELECT number, value FROM trial WHERE state = 'succeeded' "
            "ORDER BY value LIMIT 1").fetchone()
    database.close()
    page.go("/runs/1/history")
    page.see(rf"{MANY:,} trials, loss .* trial {best},", timeout=240)
    wait_until(lambda: drawn_pixels(page, ".chart-canvas") > 50_000, 60)
    page.picture("history-many")
    page.go("/runs/1/table", sort="value:loss")
    page.see(rf"{best}\b", ".vt-row", timeout=240)
    page.go("/runs/1/table", **{"f.value:loss": f"{least}..{least}"})
    page.see(rf"\b{COPIES} of {MANY:,} trials", timeout=240)
