# SPDX-License-Identifier: GPL-3.0-or-later
"""`cache`: nothing is done twice, and nothing is taken that is not the same."""

import json
import time

import pytest

from files import workflow
from programs import wait_until

FILE = workflow("""
    prep:
      shell: echo prep >> ran; sed "s/x/$MARK/" in > mid; echo rows=3 > $SMTUNE_OUTPUTS
      outputs: {data: mid, rows: null}
      cache: {inputs: [in], env: [MARK]}
    train:
      needs: [prep]
      matrix: {seed: [1, 2]}
      shell: >
        echo train >> ran; cat ${{ prep.data }} > ${{ dir }}/model;
        loss=${{ prep.rows * times + seed }}; echo loss=$loss
      outputs: {model: "${{ dir }}/model"}
      metrics: [loss]
      cache: true
    last:
      needs: [train]
      command: echo ${{ train.max_loss }} ${{ train.model }}
    """, name="w", params={"times": 2, "unused": 1})


@pytest.fixture
def run(smtune, write):
    """run(name): runs the workflow, and says which steps' commands ran."""
    write("in", "x\n")
    write("w.yaml", FILE)
    log = smtune.directory / "ran"

    def run_workflow(name, *words, mark="a"):
        log.unlink(missing_ok=True)
        smtune.ok("run", "w.yaml", "--name", name, *words, env={"MARK": mark})
        return sorted(log.read_text().split()) if log.exists() else []

    return run_workflow


ALL = ["prep", "train", "train"]


def why(smtune, run, job):
    return " ".join(smtune.ok("why", run, job).split())


@pytest.mark.quick
@pytest.mark.sanitized
def test_nothing_is_run_twice(smtune, run):
    assert run("one") == ALL
    assert run("two") == []
    first = smtune.ok("logs", "one", "last").split()
    second = smtune.ok("logs", "two", "last").split()
    assert first == second and "8" in second
    shown = smtune.json("show", "two", "train[1]")
    assert shown["state"] == "succeeded" and shown["attempts"] == []
    assert shown["cached_from"] == "job 3 of run one"
    assert "its result is that of the earlier job" in why(smtune, "two",
                                                          "train[1]")
    assert "has changed since job 3 of run one" in why(smtune, "two",
                                                       "train[1]")
    smtune.ok("fsck", "two")


def test_what_the_cache_remembers_is_no_output(smtune, run):
    run("one")
    said = smtune.ok("run", "w.yaml", "--name", "two", env={"MARK": "a"})
    assert "data=" in said and "sha256" not in said
    shown = smtune.json("show", "two", "prep")
    assert set(shown["outputs"]) == {"data", "rows"}


def test_what_changed_is_run_again(smtune, run, write):
    run("one")
    write("in", "y\n")
    assert run("input") == ALL
    assert run("variable", mark="b") == ["prep"]  # which makes the same
    write("in", "x\n")
    assert run("both", mark="b") == ALL
    assert run("back") == ["prep"]  # `mid` had been written over
    assert run("parameter", "--set", "params.times=5") == ["train", "train"]
    assert run("unused", "--set", "params.unused=5") == []
    write("w.yaml", FILE.replace("echo prep", "echo  prep"))
    assert run("command") == ["prep"]
    write("w.yaml", FILE.replace("seed: [1, 2]", "seed: [2, 3]"))
    assert run("matrix") == ["train"]


def test_a_damaged_output_is_made_again(smtune, run):
    run("one")
    (smtune.directory / "mid").write_text("damaged\n")
    assert run("two") == ["prep"]
    model = smtune.store / "runs/one/trials/2/model"
    model.unlink()
    assert run("three") == ["train"]
    assert run("four") == []


def test_results_grow_old(smtune, run, write):
    write("w.yaml", FILE.replace("env: [MARK]", "env: [MARK], expire: 1h"))
    run("one")
    assert run("two") == []
    write("w.yaml", FILE.replace("env: [MARK]", "env: [MARK], expire: 1s"))
    ended = time.time()
    wait_until(lambda: time.time() > ended + 1.1)
    assert run("three") == ["prep"]


def test_a_result_of_changed_inputs_is_nobodys(smtune, write):
    """What it read has changed while it ran."""
    write("in", "x\n")
    write("w.yaml", workflow("""
        prep:
          shell: echo prep >> ran; cat in > out; echo y > in
          outputs: {data: out}
          cache: {inputs: [in]}
        """, name="w"))
    smtune.ok("run", "w.yaml", "--name", "one")
    write("in", "x\n")
    smtune.ok("run", "w.yaml", "--name", "two")
    assert (smtune.directory / "ran").read_text().split() == ["prep", "prep"]


def test_an_engine_killed_asks_again(smtune, run, write):
    run("one")
    write("w.yaml", FILE + "parallel: 1\n")
    engine = smtune.start("run", "w.yaml", "--name", "two", env={"MARK": "a"})
    engine.kill()
    engine.wait()
    if smtune("status", "two").returncode == 4:
        return  # it was killed before the run was in the store
    (smtune.directory / "ran").unlink()
    smtune.ok("resume", "two", env={"MARK": "a"})
    assert not (smtune.directory / "ran").exists()
    assert json.loads(smtune.ok("status", "two", "-o", "json"))["state"] == \
        "succeeded"


def test_why_says_what_a_miss_is_for(smtune, run, write):
    run("one")
    assert "cache miss: no earlier result" in why(smtune, "one", "prep")
    write("in", "y\n")
    run("input")
    assert "changed since job 1 of run 'one': input 'in'" in why(
        smtune, "input", "prep")
    assert "changed since job 2 of run 'one': input 'mid'" in why(
        smtune, "input", "train[0]")
    run("variable", mark="b")
    assert "changed since job 1 of run 'input': variables" in why(
        smtune, "variable", "prep")
    run("forced", "--force", "prep", mark="b")
    assert "cache miss: --force" in why(smtune, "forced", "prep")
    (smtune.directory / "mid").unlink()
    run("gone", mark="b")
    assert "made has changed or is missing" in why(smtune, "gone", "prep")
    write("w.yaml", FILE.replace("echo prep", "echo  prep"))
    run("command", mark="b")
    assert "of run 'gone': command" in why(smtune, "command", "prep")
    smtune.ok("replay", "gone")
    smtune.ok("fsck")
    made = [row["outputs"] for row in smtune.json("trials", "one")]
    assert any(made) and "#" not in str(made)


@pytest.mark.parametrize("inputs, reason", [
    ("raw/*.csv", "no file matches '"), ("prepp.py", "cannot read '")])
def test_inputs_that_are_not_there_are_no_cache(smtune, workflow, inputs,
                                                reason):
    step = {"shell": "echo x >>ran", "cache": {"inputs": [inputs]}}
    path = workflow({"prep": step}, name="w")
    for _ in range(2):
        result = smtune("run", path)
        assert "warning: step 'prep': it cannot be cached: " + reason \
            in result.stderr
    assert (smtune.directory / "ran").read_text() == "x\nx\n"
    assert reason in why(smtune, "last", "prep")
    assert not smtune.json("show", "last", "prep").get("outputs")
    if "*" in inputs:
        path = workflow({"prep": {**step, "allow_empty": True}}, name="w")
        assert "warning" not in smtune("run", path).stderr


def test_results_belong_to_their_folder(smtune, workflow):
    path = workflow({
        "make": {"shell": "cat in >made", "outputs": {"f": "made"},
                 "cache": {"inputs": ["in"]}},
        "use": {"needs": "make", "shell": "cat made; echo ${{ make.f }}"}})
    for name in "ab":
        folder = smtune.directory / name
        folder.mkdir()
        (folder / "in").write_text("same\n")
        smtune.ok("run", "-q", path, f"--store={smtune.store}", cwd=folder)
        said = smtune.ok("logs", "last", "use", f"--store={smtune.store}")
        assert said == f"same\n{folder}/made\n"
