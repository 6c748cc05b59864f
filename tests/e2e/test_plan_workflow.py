# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune plan` of a workflow: its graph, and what its steps would do."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from files import workflow
from programs import ROOT

SVG = "{http://www.w3.org/2000/svg}"

FILE = workflow("""
    fetch: {command: "python fetch.py 'a & b' '<x>'"}
    prepare:
      needs: fetch
      matrix: {part: [0, 1, 2], file: [a.csv, b.csv]}
      command: "python prepare.py ${{ part }} ${{ file }}"
      resources: {cpus: 2}
      pool: disk
    train:
      needs: prepare
      shell: |
        python train.py --epochs ${{ epochs }}
        echo done
      resources: {gpus: 1, time: 4h}
      pool: gpu
    each: {needs: prepare, matrix: {f: {glob: "*.c"}}, command: "cat ${{ f }}"}
    check: {needs: [train, each], when: any_failed, fail: "not good enough"}
    """, name="pipeline", params="{epochs: 10, seed: 1}", time="2h", parallel=4,
    pools="{gpu: 2, disk: 1}", always="{clean: {command: rm -rf scratch}}")

PLAN = """\
plan for  pipeline
steps     6, 1 of them at the end
jobs      at least 10 (the number of copies of 1 step is not known yet)
runs      with the local executor, 4 jobs at a time, at most 2h 00m
pools     gpu 2, disk 1
params    epochs=10, seed=2

○ fetch
○ prepare  6 copies, 2 CPUs, 1 of disk
├─○ train  1 GPU, 4h 00m, 1 of gpu
○ │ each   copies not known yet
└─○ check  fail, when one has failed
○ clean    at the end, always

steps, in order
     1  fetch    python fetch.py 'a & b' '<x>'
     2  prepare  python prepare.py ${{ part }} ${{ file }}
     3  train    python train.py --epochs ${{ epochs }} ...
     4  each     cat ${{ f }}
     5  check    fail: not good enough
     6  clean    rm -rf scratch
"""


@pytest.mark.sanitized
def test_the_plan_for_people(smtune, write):
    path = write("pipeline.yaml", FILE)
    change = ["--set", "params.seed=2"]
    text = smtune.ok("plan", path, *change, env={"TERM": "xterm"})
    assert text == PLAN
    assert smtune.ok("run", "--dry-run", path, *change,
                     env={"TERM": "xterm"}) == PLAN
    text = smtune.ok("plan", path, "-n", 2)
    assert "o prepare" in text and "and 4 more" in text
    assert not smtune.store.exists()


def test_the_plan_for_programs(smtune, write):
    plan = smtune.json("plan", write("pipeline.yaml", FILE))
    assert (plan["name"], plan["kind"], plan["parallel"]) == \
        ("pipeline", "workflow", 4)
    assert plan["pools"] == {"gpu": 2, "disk": 1}
    assert plan["params"] == {"epochs": 10, "seed": 1}
    steps = {step["name"]: step for step in plan["steps"]}
    assert list(steps) == ["fetch", "prepare", "train", "each", "check",
                           "clean"]
    assert steps["check"]["needs"] == ["train", "each"]
    assert steps["prepare"]["copies"] == 6
    assert steps["prepare"]["matrix"]["part"] == [0, 1, 2]
    assert steps["each"]["copies"] is None
    assert steps["each"]["matrix"] == {"f": None}
    assert steps["train"]["pools"] == {"gpu": 1}
    assert steps["train"]["resources"]["time_ms"] == 4 * 3600 * 1000
    assert steps["clean"]["final"] and not steps["train"]["final"]
    assert "${{ epochs }}\necho done" in steps["train"]["command"]


def number(element, name):
    return float(element.get(name))


def test_the_picture_is_whole(smtune, write):
    """It is XML, no box covers another, and no text leaves its box."""
    root = ElementTree.fromstring(
        smtune.ok("plan", write("pipeline.yaml", FILE), "--format", "svg"))
    assert root.tag == SVG + "svg"
    assert root.find(SVG + "title").text == "pipeline"
    boxes = []
    for group in root.findall(SVG + "g"):
        if group.find(SVG + "rect") is None:
            continue
        box = group.findall(SVG + "rect")[-1]  # the sheet in front
        left, top = number(box, "x"), number(box, "y")
        right, low = left + number(box, "width"), top + number(box, "height")
        for text in group.findall(SVG + "text"):
            pitch = 6.6 if text.get("class") == "note" else 7.9
            reach = len(text.text) * pitch / 2
            assert left <= number(text, "x") - reach
            assert number(text, "x") + reach <= right
            assert top < number(text, "y") < low
        boxes.append((left, top, right, low))
    assert len(boxes) == 6
    for i, (left, top, right, low) in enumerate(boxes):
        assert 0 <= left and right <= number(root, "width")
        assert 0 <= top and low <= number(root, "height")
        for a, b, c, d in boxes[:i]:
            assert right < a or c < left or low < b or d < top
    assert len(root.find(f"{SVG}g[@class='lines']")) == 5


def test_the_picture_in_docs_is_that_of_the_example(smtune):
    """After a change: smtune plan FILE --format svg >docs/workflow.svg"""
    picture = smtune.ok("plan", ROOT / "examples/pipeline/pipeline.yaml",
                        "--format", "svg")
    assert picture == (ROOT / "docs/workflow.svg").read_text()


def test_graphs_for_other_programs(smtune, write):
    path = write("pipeline.yaml", FILE)
    dot = smtune.ok("plan", path, "-f", "dot")
    assert dot.startswith('digraph "pipeline" {')
    assert len(re.findall(r"s\d+ -> s\d+", dot)) == 5
    mermaid = smtune.ok("plan", path, "-f", "mermaid")
    assert mermaid.startswith("flowchart TD\n")
    assert len(re.findall(r"s\d+ -\.?->? s\d+", mermaid)) == 5
    text = smtune.ok("plan", path, "-f", "text")
    assert text.startswith("o fetch\n")


def test_only_workflows_have_a_graph(smtune, experiment):
    path = experiment()
    result = smtune("plan", path, "--format", "svg")
    assert result.returncode == 2
    assert "is an experiment" in result.stderr


RUN = workflow("""
    a: {command: "true"}
    b: {needs: a, matrix: {k: [0, 1, 2]}, shell: "test ${{ k }} != 1",
        success_if: 0.5}
    c: {needs: b, command: "false"}
    d: {needs: c, command: "true"}
    """, name="odd", executor="local", on_failure="{tell: {command: echo bad}}")

RUN_TEXT = """\
* a       succeeded
* b       succeeded, 2 of 3 copies, 1 failed
x c       failed
- d       skipped
  * tell  succeeded, at the end, when one has failed
"""


def test_the_graph_of_a_run(smtune, write):
    assert smtune("run", write("odd.yaml", RUN)).returncode == 1
    assert smtune.ok("status", "odd", "--format", "text") == RUN_TEXT
    colour = smtune.ok("status", "odd", "-f", "text", "--color", "always")
    assert "\x1b[" in colour
    assert re.sub(r"\x1b\[[0-9;]*m", "", colour) == RUN_TEXT
    root = ElementTree.fromstring(smtune.ok("status", "odd", "-f", "svg"))
    assert [group.get("class") for group in root.findall(SVG + "g")] == \
        ["succeeded", "failed", "skipped", "lines",
         "succeeded", "succeeded", "failed", "skipped", "succeeded"]


def test_runs_of_experiments_have_no_graph(smtune, experiment):
    path = experiment(trials=1)
    smtune.ok("run", path)
    result = smtune("status", "exp", "--format", "svg")
    assert result.returncode == 2
    assert "is an experiment" in result.stderr
