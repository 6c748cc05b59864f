# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune try`, and `smtune validate --read-log`."""

import json
import os
import signal

import pytest

from programs import wait_until

pytestmark = pytest.mark.sanitized

FILE = """\
version: 1
name: mlp
objective: loss
parameters:
  lr: {type: float, min: 0.001, max: 1, scale: log}
  layers: {type: categorical, values: [[64], [32, 32]]}
budget: {trials: 20, parallel: 4}
trial:
  command: sh train.sh ${{ lr }} ${{ layers }}
"""
SCRIPT = """\
echo "lr $1 layers $2 in $PWD"
for epoch in 1 2 3; do echo "epoch=$epoch loss=0.$epoch acc: 9$epoch%"; done
echo '{"size": 7}' >>"$SMTUNE_METRICS"
"""


@pytest.fixture
def path(write):
    write("train.sh", SCRIPT)
    return write("mlp.yaml", FILE)


def left_over(smtune):
    return [name for name in os.listdir(smtune.directory) if "-try-" in name]


def test_shows_the_output_and_what_was_found(smtune, path):
    result = smtune("try", path, "--param", "lr=0.5", "-p", "layers=[32, 32]")
    assert result.returncode == 0, result.stderr
    output, _, report = result.stdout.partition("\n\ntrial     ")
    assert output.splitlines() == [
        f"lr 0.5 layers [32,32] in {smtune.directory}",
        *(f"epoch={n} loss=0.{n} acc: 9{n}%" for n in (1, 2, 3))]
    lines = report.splitlines()
    assert lines[0] == "succeeded"
    assert lines[1].startswith("took      ")
    assert lines[1].endswith("of memory")
    assert lines[2:8] == [
        "loss (objective): 3 values, steps 1 to 3, the last is 0.3",
        "    line 2: epoch=1 loss=0.1 acc: 91%",
        "acc: 3 values, steps 1 to 3, the last is 93",
        "    line 2: epoch=1 loss=0.1 acc: 91%",
        "size: 1 value, steps 1, the last is 7",
        '    line 5: {"size": 7}']
    assert lines[8].startswith("a run of 20 trials, 4 at a time: about ")


def test_leaves_nothing_behind(smtune, path):
    smtune.ok("try", path)
    assert not smtune.store.exists()
    assert not left_over(smtune)


def test_json_for_programs(smtune, path):
    result = smtune("try", path, "-o", "json")
    report = json.loads(result.stdout)
    assert report["state"] == "succeeded" and report["cause"] == "ok"
    assert report["took_ms"] > 0 and report["all_trials_ms"] > 0
    assert [metric["name"] for metric in report["metrics"]] == [
        "loss", "acc", "size"]
    assert report["metrics"][0]["objective"] is True
    assert "epoch=3 loss=0.3" in result.stderr


def test_a_metric_that_is_missing(smtune, path):
    result = smtune("try", path, "--set", "objective=val_loss")
    assert result.returncode == 1
    assert "\nval_loss (objective): no value in 5 lines of output\n" in \
        result.stdout
    assert "\ntrial     failed (no_metric" in result.stdout
    assert "loss: 3 values" in result.stdout


def test_a_trial_that_fails(smtune, path, write):
    write("train.sh", "echo oh no >&2; exit 3\n")
    result = smtune("try", path)
    assert result.returncode == 1
    assert result.stdout.startswith("oh no\n\ntrial     failed (exit")
    assert not left_over(smtune)


def test_what_a_schedule_gives(smtune, write):
    write("train.sh", "for n in $(seq $1); do echo epoch=$n loss=1; done\n")
    path = write("asha.yaml", """\
version: 1
objective: loss
parameters: {x: {type: float, min: 0, max: 1}}
schedule: {method: asha, resource: epochs, min: 3, max: 27}
budget: {trials: 27, parallel: 2}
trial: {command: "sh train.sh ${{ epochs }} ${{ x }}"}
""")
    result = smtune("try", path)
    assert result.returncode == 0, result.stdout
    assert "\nresource  epochs: it was given 27 and reported 27\n" in \
        result.stdout
    assert "loss (objective): 27 values, epochs 1 to 27" in result.stdout
    assert " epochs, 2 at a time: about " in result.stdout


def test_a_wrong_file_or_command(smtune, path, write):
    assert smtune("try", path, "--set", "trial.command=t {{ lr }} |").returncode == 3
    result = smtune("try", path, "--param", "lr=7")
    assert result.returncode == 3
    assert "'7' is not a value of parameter 'lr'" in result.stderr
    result = smtune("try", path, "--param", "lr")
    assert result.returncode == 2
    assert "'lr': expected NAME=VALUE" in result.stderr
    flow = write("flow.yaml", "version: 1\nsteps: {a: {command: 'true'}}\n")
    result = smtune("try", flow)
    assert result.returncode == 2
    assert "is a workflow" in result.stderr


def test_ctrl_c_ends_the_trial(smtune, write):
    write("train.sh", "echo begun; exec sleep 1000\n")
    path = write("long.yaml", FILE)
    process = smtune.start("try", path)
    assert process.stdout.readline() == "begun\n"
    os.killpg(process.pid, signal.SIGINT)
    wait_until(lambda: process.poll() is not None, what="the end of try")
    assert not left_over(smtune)


# ---- a log ----

LOG = "start\nepoch=1 loss=0.5\nepoch=2 loss=0.25 lr: 1e-3\n"


def test_reads_a_log_as_a_run_would(smtune, path, write):
    write("train.log", LOG)
    result = smtune("validate", "--read-log", "train.log", path)
    assert result.returncode == 0
    assert result.stdout == (
        "loss (objective): 2 values, steps 1 to 2, the last is 0.25\n"
        "    line 2: epoch=1 loss=0.5\n"
        "lr: 1 value, steps 2, the last is 0.001\n"
        "    line 3: epoch=2 loss=0.25 lr: 1e-3\n")
    found = smtune.json("validate", "--read-log", "train.log", path)
    assert [(metric["name"], metric["line"]) for metric in found] == [
        ("loss", 2), ("lr", 3)]


def test_a_log_without_the_objective(smtune, path, write):
    write("train.log", LOG.replace("loss", "error"))
    result = smtune("validate", "--read-log", "train.log", path)
    assert result.returncode == 1
    assert "loss (objective): no value in 3 lines of output\n" in result.stdout
    assert "to read it" not in result.stdout
    write("near.log", "start\nthe loss after epoch 3 was 0.5\n")
    result = smtune("validate", "--read-log", "near.log", path)
    assert result.stdout.endswith(
        "loss (objective): no value in 2 lines of output\n"
        '    to read it from "the loss after epoch 3 was 0.5", write metrics: '
        "{\"loss\": 'loss\\s+after\\s+epoch\\s+\\d+\\s+was\\s+([-+.0-9eE]+)'}\n")
    assert smtune("validate", "--read-log", "none.log", path).returncode == 4
    assert smtune("validate", "--read-log", "train.log", path,
                  path).returncode == 2


def test_a_line_is_shown_as_a_terminal_shows_it(smtune, path, write):
    write("train.log", "\033[1mloss\033[0m=2\r\033[32mloss\033[0m=1 \n")
    result = smtune("validate", "--read-log", "train.log", path)
    assert result.stdout == (
        "loss (objective): 1 value, steps 1, the last is 1\n"
        "    line 1: loss=1\n")


def test_a_schedule_that_counts_values_is_told(smtune, path, write):
    write("train.log", "loss=2\nloss=1\n")
    schedule = path.read_text().replace("budget: {trials: 20", """\
schedule: {method: asha, resource: epochs, min: 1, max: 4, eta: 2}
budget: {trials: 20""")
    write("train.sh", "echo loss=2; echo loss=1; : $1 $2\n")
    counted = ("loss (objective): 2 values, epochs 1 to 2 (no line names them, "
               "so values count), the last is 1\n")
    scheduled = write("scheduled.yaml", schedule)
    result = smtune("validate", "--read-log", "train.log", scheduled)
    assert counted in result.stdout
    assert counted in smtune("try", scheduled).stdout
    write("train.log", "epoch 1: loss=2\nepoch 2: loss=1\n")
    result = smtune("validate", "--read-log", "train.log", scheduled)
    assert "epochs 1 to 2, the last is 1\n" in result.stdout
