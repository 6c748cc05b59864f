# SPDX-License-Identifier: GPL-3.0-or-later
"""What `smtune plan` and `run --dry-run` say of steps with `cache`, before
anything runs; and that a run then does so."""

import pytest

from files import workflow

FILE = workflow("""
    prep:
      shell: sed "s/x/$MARK/" in > mid; echo rows=3 > $SMTUNE_OUTPUTS
      outputs: {data: mid, rows: null}
      cache: {inputs: [in], env: [MARK]}
    train:
      needs: [prep]
      matrix: {seed: [1, 2]}
      shell: >
        cat ${{ prep.data }} > ${{ dir }}/model;
        echo loss=${{ prep.rows * times + seed }}
      outputs: {model: "${{ dir }}/model"}
      metrics: [loss]
      cache: true
    last:
      needs: [train]
      command: echo ${{ train.max_loss }}
    """, name="w", params={"times": 2})


@pytest.fixture
def flow(smtune, write):
    write("in", "x\n")
    write("w.yaml", FILE)
    return "w.yaml"


def cached(smtune, *words, command="plan", **keys):
    """What the plan says of each step with a cache."""
    plan = smtune.json(command, *words, **keys)
    return {step["name"]: step["cached"] for step in plan["steps"]
            if step["cached"] is not None}


def test_a_plan_names_the_result_that_would_be_used(smtune, workflow):
    """As asked for in treeverse/dvc#8342: `dvc repro --dry` printed "Running
    stage" for a stage that `dvc repro` then took from its run-cache."""
    path = workflow({"write_file": {
        "shell": "echo Hello World > file.txt",
        "outputs": {"file": "file.txt"}, "cache": True}}, name="w")
    before = smtune.ok("plan", path)
    assert "cache miss: no earlier result of this step\n" in before
    assert not (smtune.store / "smtune.db").exists()
    smtune.ok("run", path)
    said = smtune.ok("plan", path)
    assert "cache hit: job 1 of run 'w'\n" in said
    assert "\ncache     1 of 1 step with a cache is a hit\n" in said
    assert smtune.ok("run", path, "--dry-run") == said
    (smtune.directory / "file.txt").unlink()
    said = smtune.ok("plan", path)
    assert ("cache miss: a file that job 1 of run 'w' made has changed or is "
            "missing\n") in said
    assert "0 of 1 step with a cache are hits, 1 is a miss\n" in said
    assert [run["name"] for run in smtune.json("ls")] == ["w"]


def test_what_runs_first_decides(smtune, workflow):
    """The three rules of snakemake/snakemake#1766: A has no cache and makes
    what B reads, so that only A's run can tell whether B is a hit."""
    path = workflow("""
        A: {shell: echo 0.25 > A.dat, outputs: {dat: A.dat}}
        B:
          needs: A
          shell: cp ${{ A.dat }} B.dat; echo B >> ran
          outputs: {dat: B.dat}
          cache: true
        C:
          needs: B
          shell: cp ${{ B.dat }} C.dat
          outputs: {dat: C.dat}
          cache: true
        D: {shell: echo d, cache: true}
        """, name="w")
    for _ in range(2):
        smtune.ok("run", path)
        said = smtune.ok("plan", path)
        assert said.count("cache: depends on A\n") == 2
        assert "1 of 3 steps with a cache is a hit, 2 are not known yet" in said
        assert cached(smtune, path)["C"] == {
            "is_known": False, "is_skipped": False, "is_forced": False,
            "hits": 0, "depends_on": ["A"], "jobs": []}
    assert (smtune.directory / "ran").read_text() == "B\n"


def test_a_hit_lets_the_plan_look_further(smtune, flow):
    smtune.ok("run", flow, env={"MARK": "a"})
    steps = cached(smtune, flow, env={"MARK": "a"})
    assert [job["from"] for job in steps["train"]["jobs"]] == [
        "job 2 of run 'w'", "job 3 of run 'w'"]
    steps = cached(smtune, flow, env={"MARK": "b"})
    assert steps["prep"]["jobs"][0]["reason"] == (
        "cache miss: changed since job 1 of run 'w': variables")
    assert steps["train"]["depends_on"] == ["prep"]
    said = smtune.ok("run", flow, "--dry-run", "--force", "train",
                     env={"MARK": "b"})
    assert "cache miss: --force\n" in said and ", 2 are misses" in said
    said = smtune.ok("plan", flow, "--set", "params.times=5",
                     env={"MARK": "a"})
    assert ("0 of 2 jobs are cache hits; train[0]: cache miss: changed since "
            "job 2 of run 'w': command\n") in said


CHANGES = {
    "nothing": lambda write: [],
    "input": lambda write: write("in", "y\n") and [],
    "parameter": lambda write: ["--set", "params.times=5"],
    "matrix": lambda write: write("w.yaml", FILE.replace("[1, 2]", "[2, 3]"))
    and [],
    "damaged": lambda write: write("mid", "damaged\n") and [],
    "force": lambda write: ["--force", "train"],
    "skipped": lambda write: write("w.yaml", FILE.replace(
        "needs: [prep]", "needs: [prep]\n    if: times > 2")) and [],
    "one copy": lambda write: write("w.yaml", FILE.replace(
        "needs: [prep]", "needs: [prep]\n    if: seed > 1")) and [],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_does_what_the_plan_said(smtune, flow, write, change):
    smtune.ok("run", flow, env={"MARK": "a"})
    words = [flow, *CHANGES[change](write)]
    steps = cached(smtune, *words, "--dry-run", command="run",
                   env={"MARK": "a"})
    smtune.ok("run", *words, "--name", "two", env={"MARK": "a"})
    known = {name for name, step in steps.items() if step["is_known"]}
    planned = {(name, job["copy"]): job["state"]
               for name in known for job in steps[name]["jobs"]}
    done = {}
    for row in smtune.json("trials", "two"):
        shown = smtune.json("show", "two", row["job"])
        if shown["step"] in known:
            done[shown["step"], shown["copy"] or 0] = (
                "hit" if shown.get("cached_from") else
                "skipped" if shown["state"] == "skipped" else "miss")
    assert done == planned


def test_steps_with_rounds_are_followed(smtune, workflow):
    path = workflow("""
        grow:
          shell: echo loss=${{ 10 - size }}
          metrics: [loss]
          repeat: {max: 3, values: {size: {first: 1, next: size * 2}}}
          cache: true
        """, name="w")
    smtune.ok("run", path)
    jobs = cached(smtune, path)["grow"]["jobs"]
    assert [(job["round"], job["state"]) for job in jobs] == [
        (1, "hit"), (2, "hit"), (3, "hit")]
    smtune.ok("run", path)
    assert smtune.json("show", "last")["step_counts"]["cached"] == 1


def test_limits_on_jobs_hide_nothing(smtune, workflow):
    """Jobs that would run hold no place in the plan."""
    path = workflow("""
        one: {command: "true", pool: gpu}
        two: {command: "true", pool: gpu, cache: true}
        """, name="w", parallel=1, pools="{gpu: 1}")
    assert cached(smtune, path)["two"]["is_known"]


def test_a_store_that_cannot_be_read_is_an_error(smtune, flow):
    smtune.store.mkdir(parents=True)
    (smtune.store / "smtune.db").write_text("no database")
    result = smtune("plan", flow, env={"MARK": "a"})
    assert result.returncode == 1 and "smtune.db" in result.stderr


# ---- counts


def test_cached_steps_are_counted(smtune, flow):
    smtune.ok("run", flow, "--name", "one", env={"MARK": "a"})
    assert " cached" not in smtune("run", flow, "--name", "other",
                                   env={"MARK": "b"}).stdout
    result = smtune("run", flow, "--name", "two", "--force", "prep",
                    env={"MARK": "a"})
    assert "train[1] succeeded (cached)  (" in result.stderr
    assert "3 steps (3 succeeded (1 cached))" in result.stdout
    assert "2/2 succeeded (2 cached)" in result.stdout
    show = smtune.json("show", "two")
    assert show["step_counts"]["succeeded"] == 3
    assert show["step_counts"]["cached"] == 1
    assert [step["cached"] for step in show["steps"]] == [0, 2, 0]
    assert {run["name"]: run["cached"] for run in smtune.json("ls")} == {
        "one": 0, "other": 0, "two": 2}
    assert smtune.json("status", "two")["step_counts"]["cached"] == 1
    said = smtune.json("run", flow, "--name", "three", env={"MARK": "a"})
    assert [step["cached"] for step in said["steps"]] == [1, 2, 0]
    shown = smtune.ok("show", "three").split("\n")
    assert any(line.split()[:3] == ["prep", "succeeded", "cached"]
               for line in shown)
    smtune.ok("fsck")
    smtune.ok("replay", "three")


def test_a_retried_job_is_no_hit_any_more(smtune, flow):
    for name in "one", "two":
        smtune.ok("run", flow, "--name", name, env={"MARK": "a"})
    assert smtune.json("ls")[1]["cached"] == 3
    smtune.ok("retry", "two", "train[0]", "--force")
    smtune.ok("resume", "two", env={"MARK": "a"})
    assert smtune.json("ls")[1]["cached"] == sum(
        step["cached"] for step in smtune.json("show", "two")["steps"])
    smtune.ok("fsck", "two")
    smtune.ok("replay", "two")
