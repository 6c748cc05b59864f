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
    assert "its result is that of the earlier job" in " ".join(
        smtune.ok("why", "two", "train[1]").split())
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
