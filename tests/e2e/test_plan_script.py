# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune plan --script: what would be submitted."""

EXPERIMENT = """
version: 1
name: mlp
executor: {name: slurm, mode: job, job_name: "${{ run }}-${{ step }}"}
objective: {metric: loss, goal: minimize}
parameters: {x: {type: float, min: 0, max: 1}}
budget: {trials: 2}
trial:
  setup: [module load cuda]
  command: ./train --token s3cret-word ${{ x }}
  env: {DB_PASSWORD: hunter22}
  resources: {cpus: 2, time: 1h, memory: 1G}
"""

WORKFLOW = """
version: 1
name: nightly
executor: {name: slurm, mode: job}
steps:
  a: {shell: "echo a\\n", setup: [module load x], resources: {nodes: 2}}
  b: {command: "echo ${{ file_dir }}", needs: a, executor: local}
  c: {command: "echo ${{ file_dir }}", needs: a}
"""


def test_script_of_a_trial(smtune, write):
    path = write("e.yaml", EXPERIMENT)
    script = smtune.ok("plan", path, "--script")
    lines = script.splitlines()
    assert lines[0] == "#!/bin/sh" and lines[1].startswith("# sbatch ")
    for word in ("--job-name=mlp-trial.smt-TOKEN-j1", "--cpus-per-task=2",
                 "--mem=1024M", "--time=62",
                 "'--comment=smtune run=mlp step=trial job=1'"):
        assert word in lines[1].partition(" --parsable")[2]
    assert lines[2].startswith("exec '") and "/attempts/1-1'" in lines[2]
    assert "#   module load cuda && ./train --token" in script
    assert "hunter22" not in script and "s3cret" not in script
    assert "#   DB_PASSWORD=***" in script
    shown = smtune.ok("plan", path, "--script", "--with-secrets")
    assert "#   DB_PASSWORD=hunter22" in shown and "s3cret-word" in shown
    assert len(smtune.json("plan", path, "--script", "--trials", "2")) == 2
    assert "# The cluster was not asked: its limits of time" in script
    assert not smtune.store.exists()


def test_scripts_of_steps(smtune, write):
    scripts = smtune.json("plan", write("w.yaml", WORKFLOW), "--script")
    assert [script["job"] for script in scripts] == ["a", "c"]
    assert "--nodes=2" in scripts[0]["script"]
    assert "#   module load x\n#   echo a\n" in scripts[0]["script"]
    assert "${{ file_dir }}" in scripts[1]["script"]


def test_nothing_is_submitted(smtune, write):
    path = write("e.yaml", EXPERIMENT)
    result = smtune("plan", path, "--script", "--set", "executor=local")
    assert result.returncode == 2
    assert "the executor 'local' submits no scripts" in result.stderr
    assert "s3cret-word" in smtune.ok("plan", path, "--with-secrets")
    assert "s3cret-word" not in smtune.ok("plan", path)
