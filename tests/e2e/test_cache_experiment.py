# SPDX-License-Identifier: GPL-3.0-or-later
"""`cache` of a step that is an experiment: a search is not done twice."""

import pytest

from files import experiment
from programs import wait_until

TUNE = experiment("""
    echo trial >> trials
    echo ${{ x }} > ${{ checkpoint_dir }}/model
    echo loss=${{ x * times }}
    """, trials=2, parallel=1, checkpoints=True, parameters={
        "x": {"type": "float", "min": 0, "max": 1}, "times": 1})

STEPS = """
    tune:
      experiment: tune.yaml
      with: {times: "${{ times }}"}
      cache: {inputs: [train.py]}
    use:
      needs: tune
      shell: >
        cat ${{ tune.best_checkpoint }}/model;
        echo ${{ tune.best_x }} ${{ tune.run }}
    """


@pytest.fixture
def run(smtune, write, workflow):
    """run(name): runs the workflow; how many trials that took."""
    write("tune.yaml", TUNE)
    write("train.py", "pass\n")
    path = workflow(STEPS, name="w", params={"times": 1})
    log = smtune.directory / "trials"

    def run_workflow(name, *words, check=True):
        log.unlink(missing_ok=True)
        result = smtune("run", path, "--name", name, *words)
        assert not check or result.returncode == 0, result.stderr
        return len(log.read_text().split()) if log.exists() else 0

    return run_workflow


def why(smtune, run):
    return " ".join(smtune.ok("why", run, "tune").split())


@pytest.mark.sanitized
def test_a_search_is_not_done_twice(smtune, run):
    assert run("one") == 2
    assert "cache miss: no earlier result of this step" in why(smtune, "one")
    assert "cache hit: job 1 of run 'one'" in smtune.ok("plan", "w.yaml")
    assert run("two") == 0
    assert smtune.ok("logs", "one", "use") == smtune.ok("logs", "two", "use")
    assert "cache hit" in why(smtune, "two")
    assert "since job 1 of run one" in why(smtune, "two")
    shown = smtune.json("show", "two", "tune")
    assert shown["cached_from"] == "job 1 of run one"
    assert shown["attempts"] == [] and shown["runs_below"] == []
    assert shown["outputs"]["run"] == "one.tune"
    assert shown["outputs"] == smtune.json("show", "one", "tune")["outputs"]
    assert [row["name"] for row in smtune.json("ls")] == [
        "one", "one.tune", "two"]
    assert smtune.json("show", "two")["step_counts"]["cached"] == 1
    smtune.ok("fsck")
    for name in "one", "one.tune", "two":
        smtune.ok("replay", name)


@pytest.mark.parametrize("name, text, reason", [
    ("tune.yaml", TUNE + "# a comment\n", "input 'tune.yaml'"),
    ("train.py", "print()\n", "input 'train.py'"),
])
def test_what_its_files_hold_decides(smtune, run, write, name, text, reason):
    run("one")
    write(name, text)
    assert run("two") == 2
    assert f"cache miss: changed since job 1 of run 'one': {reason}" in why(
        smtune, "two")


def test_what_with_changes_decides(smtune, run):
    run("one")
    assert run("two", "--set", "params.times=2") == 2
    assert "changed since job 1 of run 'one': with" in why(smtune, "two")
    assert run("three") == 0


def test_template_files_of_its_trials_decide(smtune, run, write):
    write("tune.yaml", TUNE.replace(
        "trial: {", "trial: {files: [{path: c.txt, from: c.in}], "))
    write("c.in", "${{ x }}\n")
    run("one")
    assert run("two") == 0
    write("c.in", "value ${{ x }}\n")
    assert run("three") == 2
    assert "input 'c.in'" in why(smtune, "three")


def test_the_results_that_it_begins_with_decide(smtune, run, write,
                                                experiment):
    smtune.ok("run", experiment("echo loss=${{ x }}", trials=2, name="early"))
    write("tune.yaml", TUNE + "warm_start: {from: [early], mode: transfer}\n")
    run("one")
    assert run("two") == 0
    smtune.ok("resume", "early", "--trials", "4")
    assert run("three") == 2
    assert "changed since job 1 of run 'one': warm_start" in why(smtune,
                                                                 "three")


def test_its_result_has_to_be_there(smtune, run, write):
    run("one")
    outputs = smtune.json("show", "one", "tune")["outputs"]
    write(f"{outputs['best_checkpoint']}/model", "damaged")
    assert run("two") == 2
    assert "a file that job 1 of run 'one' made has changed or is missing" \
        in why(smtune, "two")
    smtune.ok("rm", "two.tune")
    assert "cache miss: the child run of job 1 of run 'two' was removed" in \
        smtune.ok("plan", "w.yaml")
    assert run("three") == 2


def test_a_result_that_people_changed_is_not_reused(smtune, workflow, write):
    """The child run ends with a setting that its file does not have."""
    write("tune.yaml", experiment("""
        while [ ! -e go ]; do sleep 0.1; done
        echo loss=${{ x }}
        """, trials=2, parallel=1))
    path = workflow("tune: {experiment: tune.yaml, cache: true}", name="w")
    engine = smtune.start("run", path, "--name", "one")
    wait_until(lambda: smtune("status", "one.tune").returncode == 0)
    smtune.ok("enqueue", "one.tune", "x=0.5")
    write("go", "")
    _, stderr = engine.communicate()
    assert engine.returncode == 0
    assert "warning: step 'tune': its result will not be reused: settings " \
        "were enqueued in its run" in stderr
    assert "cache miss: the result of job 1 of run 'one' is not to be " \
        "reused" in smtune.ok("plan", path)
    smtune.ok("fsck")


def test_a_failed_search_is_no_result(smtune, run, write):
    write("tune.yaml", experiment("exit 3", trials=1))
    write("w.yaml", "version: 1\nsteps: {tune: {experiment: tune.yaml, "
          "cache: true}}\n")
    for name in "one", "two":
        run(name, check=False)
        assert smtune.json("show", name, "tune")["state"] == "failed"


def test_a_workflow_as_a_step_has_no_cache(smtune, workflow, write):
    """Its own steps have theirs."""
    write("sub.yaml", "version: 1\nsteps: {a: {command: 'true'}}\n")
    path = workflow("sub: {workflow: sub.yaml, cache: true}", name="w")
    result = smtune("validate", path)
    assert "key 'cache' is not allowed in a step with 'workflow'" in \
        result.stderr
