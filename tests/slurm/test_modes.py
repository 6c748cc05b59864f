# SPDX-License-Identifier: GPL-3.0-or-later
"""A job a trial, arrays, pilots: where trials run changes nothing of them."""

import json
import os
import shutil
import tempfile

import pytest

import container_runtimes as runtimes
from conftest import MODES, NODES, both
from programs import wait_until

NASTY = ["a b", "$(touch pwned)", "`touch pwned`", "'; touch pwned; '",
         '"; touch pwned; "', "*", "\\", "--wrap=touch pwned", "%j %A", "ä\tö"]


def trials(smtune, run="run"):
    return smtune.json("trials", run)


@pytest.mark.parametrize("mode", ["job", "array", "pilot", "auto"])
def test_results_are_those_of_any_executor(smtune, experiment, mode,
                                           transport):
    path = experiment(trials=8, executor={"mode": mode})
    smtune.ok("run", path)
    smtune.ok("run", path, "--name", "here", "--set", "executor=local")
    rows = trials(smtune)
    assert [row["state"] for row in rows] == ["succeeded"] * 8
    for row, local in zip(rows, trials(smtune, "here"), strict=True):
        assert row["params"] == local["params"]
        assert row["value"] == local["value"]
        assert smtune.ok("logs", "run", row["id"]) == \
            smtune.ok("logs", "here", row["id"])


@pytest.mark.quick
@pytest.mark.parametrize("mode", MODES)
def test_metrics_and_files(smtune, experiment, mode):
    smtune.ok("run", experiment(
        executor={"mode": mode}, trial={
            "shell": "for i in 1 2 3; do echo epoch=$i loss=$i; done\n"
                     "smtune report loss=0.5\n"
                     "cp $SMTUNE_PARAMS $SMTUNE_CHECKPOINT_DIR/params\n"
                     "echo err >&2\n"}))
    for row in trials(smtune):
        assert row["value"] == 0.5
        assert smtune.ok("logs", "run", row["id"]) == \
            "epoch=1 loss=1\nepoch=2 loss=2\nepoch=3 loss=3\nerr\n"
    folder = smtune.ok("best", "run", "--checkpoints").strip()
    with open(f"{folder}/params") as file:
        assert json.load(file) == smtune.json("best", "run")["params"]


@both("job", "array")
def test_failures_are_told_apart(smtune, experiment, transport, mode):
    """Where the third trial ends first, a run without `failures` ends with it
    and cancels the others."""
    smtune.ok("run", experiment(trials=5, executor={"mode": mode}, trial={
        "resources": {"time": "20s"},
        "shell": "case $SMTUNE_JOB in 1) exit 3 ;; 2) kill -9 $$ ;;\n"
                 "3) : ;; 4) exec /nowhere/program ;; *) echo loss=1 ;; esac\n"
    }, budget={"trials": 5, "failures": 5}))
    assert [row["cause"] for row in trials(smtune)] == [
        "exit", "signal", "no_metric", "exit", "ok"]


@pytest.mark.parametrize("mode", MODES)
def test_a_missing_program(smtune, experiment, mode):
    result = smtune("run", experiment(executor={"mode": mode}, trial={
        "command": ["/nowhere/program"]}))
    assert result.returncode in (1, 6)
    assert "/nowhere/program" in result.stderr + smtune.ok("trials", "run")
    # The run ends with the first failures, and cancels what still waits then.
    causes = {row["cause"] for row in trials(smtune)}
    assert causes - {"cancelled"} == {"launch_error"}


@pytest.mark.parametrize("mode", MODES)
def test_values_reach_no_shell(smtune, experiment, mode):
    smtune.ok("run", experiment(
        trials=len(NASTY), executor={"mode": mode},
        search={"method": "grid"},
        parameters={"v": {"type": "categorical", "values": NASTY}},
        trial={"command": ["sh", "-c", "printf '%s|' \"$@\"; echo loss=1",
                           "sh", "${{ v }}", "x${{ v }}"],
               "env": {"VALUE": "${{ v }}"}}))
    rows = trials(smtune)
    assert sorted(row["params"]["v"] for row in rows) == sorted(NASTY)
    for row in rows:
        value = row["params"]["v"]
        assert smtune.ok("logs", "run", row["id"]) == \
            f"{value}|x{value}|loss=1\n"
    assert not list(smtune.directory.rglob("pwned"))


@pytest.mark.parametrize("folder", [
    "it's \"here\" $(touch pwned) b", "%j-%A \\ %% ä;*?[x]"])
@both("job")
def test_paths_of_any_characters(smtune, experiment, transport, mode, folder):
    where = smtune.directory / folder
    where.mkdir()
    smtune.ok("--store", where / "st ore", "run",
              experiment(trials=3, executor={"mode": mode}, trial={
                  "shell": "pwd; echo x >\"here $SMTUNE_JOB\"; echo loss=1"}),
              cwd=where)
    for n in (1, 2, 3):
        assert (where / f"here {n}").exists()
        assert smtune.ok("--store", where / "st ore", "logs", "run", n) == \
            f"{where}\nloss=1\n"
    assert not list(smtune.directory.rglob("pwned"))
    assert {path.name for path in where.iterdir()} == {
        "st ore", "here 1", "here 2", "here 3"}


@pytest.mark.parametrize("inherits", [True, False])
@both("job")
def test_environment(smtune, experiment, transport, mode, inherits):
    """What is set for a trial, for all jobs, and what smtune itself had."""
    value = "it's; $HOME \"x\"\ny"
    smtune.ok("run", experiment(
        trials=2, executor={
            "mode": mode, "environment": "inherit" if inherits else "none",
            "setup": ["[[ -n $OF_TRIAL ]]", "export FROM_SETUP='a  b'",
                      "unset GONE"]},
        trial={"env": {"OF_TRIAL": value},
               "shell": "printf '%s|' \"$OF_TRIAL\" \"$FROM_SETUP\" "
                        "\"$HAD\" \"$GONE\"; echo loss=1"}),
        env={"HAD": value, "GONE": "1"})
    had = value if inherits else ""
    for n in (1, 2):
        assert smtune.ok("logs", "run", n) == f"{value}|a  b|{had}||loss=1\n"


@both("job", "pilot")
def test_setup_that_fails(smtune, experiment, transport, mode):
    """Nothing of the trial runs, and what was said is to be found."""
    result = smtune("run", experiment(
        trials=2, trial={"resources": {"time": "20s"}},
        executor={"mode": mode, "setup": [
            "echo no such module >&2", "exit 7"]}), timeout=100)
    assert result.returncode != 0
    assert {row["state"] for row in trials(smtune)} == {"failed"}
    for n in (1, 2):
        attempt = smtune.json("show", "run", n)["attempts"][-1]
        assert (attempt["cause"], attempt["exit_code"]) == ("setup_failed", 7)
        assert attempt["text"] == "line 2 of setup failed with exit " \
            "status 7: exit 7 (no such module)"
        assert smtune.ok("logs", "run", n) == "no such module\n"


@both("job", "array", "pilot")
def test_container(smtune, experiment, transport, mode):
    """The runtime is found on the node, after setup, by the same words."""
    folder = smtune.directory
    runtimes.write_program(folder, "apptainer")
    (folder / "box.sif").touch()
    smtune.ok("run", experiment(
        trials=2, trial={"shell": "pwd; echo $SMTUNE_JOB; echo loss=1",
                         "container": "box.sif",
                         "resources": {"time": "20s", "gpus": 1}},
        executor={"mode": mode,
                  "setup": [f"export PATH={folder}/bin:$PATH"]}), timeout=100)
    assert len(runtimes.calls(folder)) == 2
    for n, words in enumerate(runtimes.calls(folder), 1):
        assert words[:2] == ["exec", "--nv"]
        assert smtune.ok("logs", "run", n) == f"{folder}\n{n}\nloss=1\n"


@both("array", "pilot")
def test_gpus_are_not_shared(smtune, experiment, transport, mode):
    """Two nodes of four: what runs at once there has different ones."""
    held = smtune.directory / "held"
    held.mkdir()
    smtune.ok("run", experiment(
        trials=12, executor={"mode": mode, "pilot": {"gpus": 4, "cpus": 4}},
        trial={
            "resources": {"gpus": 1, "cpus": 1},
            "shell": "g=held/$SLURMD_NODENAME-$CUDA_VISIBLE_DEVICES\n"
                     "mkdir $g || exit 1\nsleep 0.3\nrmdir $g\n"
                     "echo $CUDA_VISIBLE_DEVICES; echo loss=1\n"}))
    assert [row["state"] for row in trials(smtune)] == ["succeeded"] * 12
    assert {smtune.ok("logs", "run", n).split()[0]
            for n in range(1, 13)} <= set("0123")


@pytest.mark.parametrize("mode", MODES)
def test_trials_are_spread_and_packed(smtune, experiment, mode, cluster):
    """Four times as many as there are CPUs for at once: all of them run, no
    node has more of them than its CPUs hold."""
    smtune.ok("run", experiment(
        trials=24, executor={"mode": mode}, trial={
            "resources": {"cpus": 4},
            "shell": "echo $SLURMD_NODENAME $SMTUNE_CPUS; echo loss=1"}))
    said = [smtune.ok("logs", "run", n).split() for n in range(1, 25)]
    assert {words[0] for words in said} <= set(NODES)
    assert {words[1] for words in said} == {"4"}


def test_an_ordinary_user(smtune, experiment, cluster):
    """The user nobody, with a store of its own, which is not among pytest's
    folders: it takes those away from others whenever it begins anywhere."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        path = shutil.copy(experiment(trials=4), folder)
        os.chmod(path, 0o644)
        env = {**smtune.env, "HOME": folder, "XDG_RUNTIME_DIR": folder}
        result = cluster.run(
            "setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
            "env", *(f"{k}={v}" for k, v in env.items()),
            f"{smtune.env['PATH'].split(':')[0]}/smtune", "run", path,
            cwd=folder, timeout=100)
        assert result.returncode == 0, result.stderr
        cluster.wait_until_done()
