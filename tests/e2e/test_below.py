# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments and workflows as steps: child runs of the workflow's."""

import pytest

import files
from programs import wait_until

TOP = files.workflow("""
    tune: {experiment: tune.yaml, with: {budget.trials: "${{ n }}", word: "${{ said }}"}}
    use:
      needs: tune
      shell: "echo ${{ tune.best_x }} ${{ tune.best_loss }} ${{ tune.best_trial }} ${{ tune.trials }} ${{ tune.run }} ${{ tune.best_word }}; cat ${{ tune.best_checkpoint }}/x"
    """, name="top", params={"n": 2, "said": "yes: [it is"})


@pytest.fixture
def file(write, experiment):
    """A workflow with an experiment, whose trials do something first."""
    def make(first="true", top=TOP):
        experiment(f"{first}; echo ${{{{ x }}}} > ${{{{ checkpoint_dir }}}}/x; "
                   "echo loss=${{ x }}", name="tune", trials=3, parallel=1,
                   parameters="{x: {type: float, min: 0, max: 1},"
                              " word: {value: none}}")
        return write("top.yaml", top)
    return make


def states(smtune):
    return {run["name"]: run["state"] for run in smtune.json("ls")}


def wait_until_below_has(smtune, trials):
    def has_begun():
        result = smtune("trials", "top.tune", "-o", "jsonl")
        return result.stdout.count('"running"') == 1 and len(
            result.stdout.splitlines()) == trials
    wait_until(has_begun)


@pytest.mark.sanitized
def test_the_best_of_an_experiment_goes_on(smtune, file):
    result = smtune("run", file())
    assert result.returncode == 0, result.stderr
    assert states(smtune) == {"top": "succeeded", "top.tune": "succeeded"}
    best = smtune.json("best", "top.tune")
    x = best["params"]["x"]
    assert best["params"]["word"] == "yes: [it is"
    assert smtune.ok("logs", "top", "use").splitlines() == [
        f"{x} {best['value']} {best['id']} 2 top.tune yes: [it is", str(x)]


def test_several_at_once_take_no_slots_themselves(smtune, file):
    top = TOP[:TOP.index("  use:")].replace(
        "tune: {", "tune: {matrix: {trials: [1, 2, 3]}, ").replace(
            "${{ n }}", "${{ trials }}") + (
        "executor: {name: local, cpus: 1}\n")
    result = smtune("run", file(top=top))
    assert result.returncode == 0, result.stderr
    assert states(smtune) == {"top": "succeeded"} | {
        f"top.tune.{i}": "succeeded" for i in range(3)}
    assert [len(smtune.json("trials", f"top.tune.{i}"))
            for i in range(3)] == [1, 2, 3]


def test_workflows_are_steps_and_give_outputs(smtune, file, write):
    write("middle.yaml", TOP.replace("name: top", "name: middle")
          + "outputs: {twice: \"2 * tune.best_x\", n: n}\n")
    result = smtune("run", file(top=files.workflow("""
        inner: {workflow: middle.yaml, with: {n: 1}}
        use: {needs: inner, shell: "echo ${{ inner.twice }} ${{ inner.n }} ${{ inner.run }}"}
        """, name="top")))
    assert result.returncode == 0, result.stderr
    assert states(smtune) == dict.fromkeys(
        ["top", "top.inner", "top.inner.tune"], "succeeded")
    x = smtune.json("best", "top.inner.tune")["params"]["x"]
    twice, n, run = smtune.ok("logs", "top", "use").split()
    assert float(twice) == pytest.approx(2 * x)
    assert (n, run) == ("1", "top.inner")


def attempts(smtune, run, job):
    return smtune.json("show", run, job)["attempts"]


def test_a_stop_ends_what_is_below_and_resume_goes_on(smtune, file, write):
    process = smtune.start("run", file("test ${{ trial }} = 1 -o -e go || "
                                       "sleep 1000"))
    wait_until_below_has(smtune, 2)
    smtune.ok("stop", "top")
    assert process.wait() == 143
    assert states(smtune) == {"top": "stopped", "top.tune": "stopped"}
    assert smtune.left_behind() == {}
    write("go", "")
    smtune.ok("resume", "top")
    assert states(smtune) == {"top": "succeeded", "top.tune": "succeeded"}
    assert smtune.states("top.tune") == ["succeeded"] * 2
    assert [attempt["cause"] for attempt in attempts(smtune, "top", "tune")
            ] == ["cancelled", "ok"]


def test_what_is_below_survives_the_engine_above(smtune, file, write):
    process = smtune.start("run", file("while ! test -e go; do sleep .1; done"))
    wait_until_below_has(smtune, 1)
    process.kill()
    process.wait()
    assert states(smtune) == {"top": "interrupted", "top.tune": "running"}
    write("go", "")
    smtune.ok("resume", "top")
    assert states(smtune) == {"top": "succeeded", "top.tune": "succeeded"}
    assert len(attempts(smtune, "top", "tune")) == 1


def test_a_run_below_that_is_stopped_goes_on_and_costs_no_retry(smtune, file,
                                                                write):
    process = smtune.start("run", file("while ! test -e go; do sleep .1; done"))
    wait_until_below_has(smtune, 1)
    smtune.ok("stop", "top.tune")
    write("go", "")
    assert process.wait(timeout=60) == 0
    assert [attempt["cause"] for attempt in attempts(smtune, "top", "tune")
            ] == ["cancelled", "ok"]


def test_a_pause_reaches_what_is_below(smtune, file, write):
    process = smtune.start("run", file("while ! test -e go; do sleep .1; done"))
    wait_until_below_has(smtune, 1)
    smtune.ok("pause", "top")
    assert states(smtune) == {"top": "paused", "top.tune": "paused"}
    write("go", "")
    smtune.ok("resume", "top")
    assert process.wait(timeout=60) == 0


def test_what_failed_below_is_tried_again(smtune, workflow, write):
    workflow("""
        first: {shell: "echo once >> firsts"}
        second: {needs: first, shell: "test -e go"}
        """, name="middle")
    path = workflow("inner: {workflow: middle.yaml}", name="top")
    result = smtune("run", path)
    assert result.returncode == 1
    assert "the child run failed" in result.stderr
    write("go", "")
    smtune.ok("run", path, "--failed")
    assert states(smtune) == {"top": "succeeded", "top.inner": "succeeded"}
    assert (smtune.directory / "firsts").read_text() == "once\n"




def test_what_begins_below_a_paused_run_is_paused(smtune, file, workflow,
                                                  write):
    """It was on its way when its run was paused."""
    path = file()
    top = smtune.start("run", workflow(
        'first: {shell: "while ! test -e go; do sleep .1; done"}', name="wait"))
    wait_until(lambda: smtune("trials", "wait", "-o", "jsonl").stdout
               .count('"running"') == 1)
    smtune.ok("pause", "wait")
    below = smtune.start("run", path.parent / "tune.yaml", "--resume",
                         "--below", "1:1", "--name", "wait.tune")
    wait_until(lambda: states(smtune).get("wait.tune") == "paused")
    assert smtune.json("trials", "wait.tune") == []
    write("go", "")
    smtune.ok("resume", "wait")
    assert below.wait(timeout=60) == 0
    assert top.wait(timeout=60) == 0
