# SPDX-License-Identifier: GPL-3.0-or-later
"""A value that a step passes on, or that --set changes, keeps its text."""

import pytest

LINES = ["commit=7e2", "ver=1.10", "id=12345678901234567890", "neg=-0",
         "loss=0.50", "n=3"]


@pytest.fixture
def reported(workflow):
    """A workflow whose step 'a' reports LINES to another step."""
    lines = "\\n".join(LINES)
    return lambda **b: workflow({
        "a": {"shell": f"printf '{lines}\\n' >>$SMTUNE_OUTPUTS",
              "outputs": dict.fromkeys(line.split("=")[0] for line in LINES)},
        "b": {"needs": "a", **b}})


def log(smtune, step="b"):
    return smtune.ok("logs", "last", step)


@pytest.mark.sanitized
def test_an_output_keeps_its_text(smtune, reported):
    words = " ".join("%s=${{ a.%s }}" % (2 * (line.split("=")[0],))
                     for line in LINES)
    result = smtune.ok("run", reported(command=f"echo {words}"))
    assert log(smtune) == " ".join(LINES) + "\n"
    assert "commit=7e2 ver=1.10 id=12345678901234567890" in result
    smtune.ok("replay", "last")
    smtune.ok("fsck")


def test_an_expression_sees_the_number(smtune, reported):
    sums = ("echo ${{ a.ver + 1 }} ${{ a.commit > 699 }} "
            "${{ a.n / 2 }} ${{ a.loss = 0.5 }}")
    smtune.ok("run", "-q", reported(command=sums, **{"if": "a.neg = 0"}))
    assert log(smtune) == "2.1 1 1 1\n"


def test_programs_get_numbers_as_numbers(smtune, reported):
    run = smtune.json("run", "-q", reported(command="true"))
    outputs = run["steps"][0]["outputs"]
    assert outputs == {"commit": 700.0, "ver": 1.1, "neg": 0, "loss": 0.5,
                       "id": "12345678901234567890", "n": 3}
    assert smtune.json("show", "last", "a")["outputs"] == outputs


def test_people_see_what_was_written(smtune, reported):
    smtune.ok("run", "-q", reported(command="true"))
    shown = {line.split(":")[0].strip(): line.split(":")[1].strip()
             for line in smtune.ok("show", "last", "a").splitlines()
             if line.startswith("  ")}
    for line in LINES:
        name, text = line.split("=")
        assert shown[name] == text


def test_of_copies_the_list_has_the_texts(smtune, workflow):
    path = workflow({
        "a": {"matrix": {"x": [1, 2]}, "outputs": {"v": None},
              "shell": "echo v=1.${{ x }}0 >>$SMTUNE_OUTPUTS"},
        "b": {"needs": "a", "command": "echo ${{ a.v }} ${{ a.max_v }}"}})
    smtune.ok("run", "-q", path)
    assert log(smtune) == "[1.10,1.20] 1.2\n"


def test_a_child_run_passes_the_text_on(smtune, workflow):
    workflow({"a": {"shell": "echo v=1.10 >>$SMTUNE_OUTPUTS",
                    "outputs": {"v": None}}},
             name="child", outputs={"v": "a.v"})
    path = workflow({
        "below": {"workflow": "child.yaml"},
        "b": {"needs": "below", "command": "echo ${{ below.v }}"}})
    smtune.ok("run", "-q", path)
    assert log(smtune) == "1.10\n"


def test_set_keeps_the_type_that_the_file_declares(smtune, workflow):
    path = workflow({"b": {"command": "echo ${{ ver }} ${{ zip }} ${{ n }} "
                                      "${{ flag }} ${{ big }}"}},
                    params={"ver": "3.1", "zip": "0123", "n": 1,
                            "flag": "x", "big": 12345678901234567890})
    smtune.ok("run", "-q", path)
    assert log(smtune) == "3.1 0123 1 x 12345678901234567890\n"
    smtune.ok("run", "-q", path, *(word for value in (
        "ver=3.10", "zip=0456", "n=2.0", "flag=true") for word in (
            "--set", "params." + value)))
    assert log(smtune) == "3.10 0456 2.0 true 12345678901234567890\n"


def test_set_keeps_a_real_real(smtune, workflow):
    path = workflow({"a": {"command": "echo ${{ rate }} ${{ rate / 2 }}"}},
                    params={"rate": 1.0})
    smtune.ok("run", "-q", path, "--set", "params.rate=3")
    assert log(smtune, "a") == "3.0 1.5\n"


def test_set_keeps_a_constant_of_an_experiment_text(smtune, experiment):
    path = experiment("echo ver=${{ ver }} loss=1", trials=1,
                      parameters={"x": {"type": "int", "min": 1, "max": 9},
                                  "ver": "3.1"})
    smtune.ok("run", "-q", path, "--set", "parameters.ver=3.10")
    assert "ver=3.10" in smtune.ok("logs", "last", "1")
