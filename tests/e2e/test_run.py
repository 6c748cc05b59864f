# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune run`: from a file to results, with real processes."""

import json
import os
import signal
import subprocess

import pytest

import files
from programs import wait_until


def trials(smtune, run="exp"):
    return smtune.json("trials", run)


@pytest.mark.quick
@pytest.mark.sanitized
def test_every_trial_is_run_and_recorded(smtune, experiment):
    path = experiment(parameters=files.X_AND_K)
    result = smtune("run", path)
    assert result.returncode == 0, result.stderr
    rows = trials(smtune)
    assert [row["id"] for row in rows] == [1, 2, 3, 4, 5, 6]
    for row in rows:
        assert row["state"] == "succeeded"
        assert row["value"] == pytest.approx(row["params"]["x"])
        assert row["params"]["k"] in ("a", "b")
        assert row["started"] and row["ended"]
    best = smtune.json("best", "exp")
    assert best["value"] == min(row["value"] for row in rows)
    assert "best" in result.stdout


def test_the_best_trials_checkpoints(smtune, experiment):
    path = experiment("""\
        if [ $SMTUNE_JOB = 3 ]; then touch $SMTUNE_CHECKPOINT_DIR/model; fi
        echo loss=$((10 - SMTUNE_JOB))
        """, trials=3, parallel=1)
    smtune.ok("run", path)
    folder = smtune.ok("best", "exp", "--checkpoints").strip()
    assert os.listdir(folder) == ["model"]
    # What a trial left untouched is not kept.
    assert not (smtune.store / "runs/exp/trials/2/ml").exists()
    smtune.ok("run", path, "--set", "budget.trials=2")
    assert smtune("best", "exp-2", "--checkpoints").returncode == 4


def test_commands_that_cannot_start_among_many(smtune, experiment):
    """Starts overlap then; each fails with its own reason all the same."""
    path = experiment(
        command="${{ p }} loss=1", trials=100, resources={"cpus": 0},
        parameters={"p": {"type": "categorical", "values": [
            "/bin/echo", "/nowhere/echo", "echo", "nowhere"]}})
    smtune("run", path)
    rows = trials(smtune)
    assert len(rows) == 100
    for row in rows:
        expected = "launch_error" if "nowhere" in row["params"]["p"] else "ok"
        assert row["cause"] == expected


def test_results_as_json(smtune, experiment):
    path = experiment()
    result = smtune.json("run", path)
    assert result["run"] == "exp"
    assert result["state"] == "succeeded"
    assert result["trials"]["succeeded"] == 6
    assert result["best"]["params"]["x"] == result["best"]["value"]


def test_parallelism_does_not_change_the_trials(smtune, experiment):
    path = experiment(trials=40, parallel=1,
                      parameters=files.X_AND_K)
    smtune.ok("run", path, "--name", "one")
    smtune.ok("run", path, "--name", "many", "--set", "budget.parallel=8")
    assert [t["params"] for t in trials(smtune, "one")] == \
        [t["params"] for t in trials(smtune, "many")]


def test_failures_are_told_apart(smtune, experiment):
    path = experiment("""\
        case $SMTUNE_JOB in
        1) exit 3 ;;
        2) kill -9 $$ ;;
        3) echo nothing to see ;;
        *) echo loss=0.5 ;;
        esac
        """, trials=4, parallel=1)
    assert smtune("run", path).returncode == 0
    rows = trials(smtune)
    assert [row["cause"] for row in rows] == ["exit", "signal", "no_metric",
                                              "ok"]
    assert [row["state"] for row in rows] == ["failed", "failed", "failed",
                                              "succeeded"]


def test_all_failed_is_status_6(smtune, experiment):
    result = smtune("run", experiment(command="sh -c 'echo bad; exit 3'"))
    assert result.returncode == 6
    assert "\ntrial 1 failed (exit)\n    bad\n" in result.stderr


def test_the_first_failure_is_told_at_once(smtune, experiment):
    path = experiment("""\
        printf 'a bar: 1%%\\ra bar: 2%%\\r'
        echo bad of ${{ trial }}
        echo
        exit 3
        """, trials=3, parallel=1)
    result = smtune("run", path)
    lines = result.stderr.splitlines()
    assert [line for line in lines if "its last output" in line] == [
        "trial 1: its last output: bad of 1"]
    first, second = (
        next(n for n, line in enumerate(lines)
             if line.startswith(f"trial {trial} failed (exit)"))
        for trial in (1, 2))
    assert lines[first + 1:second] == ["trial 1: its last output: bad of 1"]
    assert ("smtune: run 'exp': no trial succeeded: trial budget used up "
            "(3 of 3); trial 1 (exit): bad of 1\n") in result.stderr
    assert result.stdout.startswith("run exp: failed after ")
    assert "its last output" not in smtune("-q", "run", path).stderr


def test_the_best_trials_command_runs_again(smtune, experiment, write):
    write("train.sh", "echo loss=$1; shift; printf '<%s>' \"$@\" >again\n")
    experiment(name="again", trials=None, parallel=None, search="grid",
               command="sh train.sh ${{ x }} ${{ word }} ${{ steps }} --never "
                       "${{ never }} ${{ trial }} ${{ dir }}",
               parameters="""
                   x: {type: int, min: 1, max: 3}
                   word: {value: "it's one"}
                   never: {type: bool, when: x > 5}
                   """,
               schedule="{method: asha, resource: steps, max: 9,"
                        " type: stopping}")
    smtune("run", "again.yaml", "-q")
    command = smtune.ok("best", "again", "--command")
    folder = smtune.directory / "again-1"
    assert command == (
        f"mkdir -p {folder}/checkpoints && "
        f"sh train.sh 1 'it'\\''s one' 9 1 {folder}\n")
    again = smtune.directory / "again"
    again.unlink()
    subprocess.run(["sh", "-c", command], cwd=smtune.directory, check=True)
    assert again.read_text() == f"<it's one><9><1><{folder}>"
    # The next time gets another new folder.
    assert f" 9 1 {folder}-2\n" in smtune.ok("best", "again", "--command")


def test_the_best_trials_command_trains_again(smtune, write):
    """In the trial's own checkpoints it would find that all is done."""
    write("train.sh", """\
[ -e "$2/done" ] && exit
touch "$2/done"
echo loss=$1
""")
    write("anew.yaml", """\
version: 1
name: anew
objective: loss
parameters: {x: {type: int, min: 1, max: 2}}
search: grid
trial:
  shell: sh train.sh ${{ x }} ${{ checkpoint_dir }}
""")
    smtune("run", "anew.yaml", "-q")
    command = smtune.ok("best", "anew", "--command")
    again = subprocess.run(["sh", "-c", command], cwd=smtune.directory,
                           check=True, capture_output=True, text=True)
    assert again.stdout == "loss=1\n"


def test_the_best_trials_command_has_what_a_trial_has(smtune, write):
    """Variables and files of the file, and the folders that smtune names."""
    write("all.yaml", """\
version: 1
name: all
objective: loss
parameters:
  x: {type: int, min: 1, max: 2}
  y: {value: 5, when: x > 1}
search: grid
trial:
  env: {X: "it's ${{ x }}", Y: "${{ y }}"}
  files: [{path: a/b/c.json, set: {x: "${{ x }}"}}]
  checkpoints: true
  shell: |
    cat $SMTUNE_DIR/a/b/c.json
    echo "$X ${Y-unset} $(cat $SMTUNE_PARAMS)"
    [ -e $SMTUNE_CHECKPOINT_DIR/done ] || echo loss=${X#it?s }
    touch $SMTUNE_CHECKPOINT_DIR/done
""")
    smtune.ok("run", "all.yaml", "-q")
    log = smtune.ok("logs", "all", "1")
    assert "it's 1 unset" in log
    assert "=1\n" in log
    again = subprocess.run(
        ["sh", "-c", smtune.ok("best", "all", "--command")],
        cwd=smtune.directory, check=True, capture_output=True, text=True,
        env=smtune.env | {"Y": "of the shell"})
    assert again.stdout == log


def test_the_best_trials_command_has_files_of_its_own_folder(smtune, write):
    """A file that names the trial's folders names the new ones."""
    write("base.txt", "save to ${{ checkpoint_dir }}\n")
    write("files.yaml", """\
version: 1
name: files
objective: loss
parameters: {x: {type: int, min: 1, max: 2}}
search: grid
trial:
  files:
    - {path: "in/${{ x }}.txt", from: base.txt}
    - {path: c.yaml, set: {out: "${{ dir }}", x: "${{ x }}"}}
    - {path: kept.json, set: {x: "${{ x }}"}}
  command: cat ${{ dir }}/in/${{ x }}.txt ${{ dir }}/c.yaml ${{ dir }}/kept.json
  metrics: {loss: "x: (.*)"}
""")
    smtune.ok("run", "files.yaml", "-q")
    command = smtune.ok("best", "files", "--command")
    assert command.count("cp ") == 1
    again = subprocess.run(["sh", "-c", command], cwd=smtune.directory,
                           check=True, capture_output=True, text=True)
    folder = smtune.directory / "files-1"
    assert again.stdout.startswith(f"save to {folder}/checkpoints\n"
                                   f"out: \"{folder}\"\nx: 1\n")


def test_the_best_trials_command_has_the_file_that_the_trial_had(smtune, write):
    """Of a template that was edited since; one that was not is made anew."""
    write("edited.txt", "first\n")
    write("same.txt", "in ${{ dir }}\n")
    write("files.yaml", """\
version: 1
name: files
objective: loss
parameters: {x: {type: int, min: 1, max: 2}}
search: grid
trial:
  files: [{path: a.txt, from: edited.txt}, {path: b.txt, from: same.txt}]
  command: cat ${{ dir }}/a.txt ${{ dir }}/b.txt
  metrics: {loss: "trials/([0-9]+)"}
""")
    smtune.ok("run", "files.yaml", "-q")
    write("edited.txt", "second\n")
    best = smtune("best", "files", "--command")
    assert best.returncode == 0
    assert "smtune: 'a.txt' of trial 1 is not what '" in best.stderr
    assert "b.txt" not in best.stderr
    again = subprocess.run(["sh", "-c", best.stdout], cwd=smtune.directory,
                           check=True, capture_output=True, text=True)
    assert again.stdout == f"first\nin {smtune.directory}/files-1\n"


def test_a_metric_of_another_name_is_told(smtune, experiment):
    path = experiment(command="echo error=1 size=${{ x }}", parallel=1)
    result = smtune("run", path)
    assert result.returncode == 6
    text = "no value of 'loss' in its output (found: error, size)"
    assert f"\ntrial 1 failed (no_metric): {text}\n    error=1" in result.stderr
    assert text in smtune.ok("show", "exp", "1")


def test_a_missing_program_ends_the_run_at_once(smtune, experiment):
    path = experiment(command="no-such-program", trials=500, parallel=None)
    result = smtune("run", path)
    assert result.returncode == 1
    assert "no-such-program" in result.stderr
    assert len(trials(smtune)) < 200
    assert smtune.json("status", "exp")["state"] == "failed"


def test_target_ends_the_run(smtune, experiment):
    path = experiment("echo loss=$(( 10 - SMTUNE_JOB ))", trials=500,
                      parallel=1, target=4)
    assert smtune("run", path).returncode == 0
    values = [row["value"] for row in trials(smtune)
              if row["state"] == "succeeded"]
    assert values[5] == 4 and len(values) < 100


def test_target_out_of_reach_is_status_6(smtune, experiment):
    path = experiment(command="echo loss=3", trials=3, parallel=1, target=2)
    assert smtune("run", path).returncode == 6


def test_target_ends_running_trials(smtune, experiment):
    path = experiment("if [ $SMTUNE_JOB = 1 ]; then sleep 300; fi; echo loss=0",
                      trials=2, target=1)
    assert smtune("run", path).returncode == 0
    assert smtune.states() == ["stopped", "succeeded"]


def test_no_improvement_ends_the_run(smtune, experiment):
    path = experiment("sleep 0.05; echo loss=1", trials=500, parallel=1,
                      no_improvement=4)
    assert smtune("run", path).returncode == 0
    assert smtune.states().count("succeeded") == 5


def test_time_budget_ends_the_run(smtune, experiment):
    path = experiment("echo loss=1; sleep 300", trials=4, time="1s")
    result = smtune("run", path, timeout=30)
    assert result.returncode == 6
    assert smtune.states()[:2] == ["stopped", "stopped"]


def test_a_retry_is_a_new_attempt_with_the_same_checkpoints(smtune,
                                                            experiment):
    path = experiment("""\
        n=$(cat $SMTUNE_CHECKPOINT_DIR/n 2>/dev/null || echo 0)
        echo $((n + 1)) >$SMTUNE_CHECKPOINT_DIR/n
        if [ $n -lt 2 ]; then exit 4; fi
        echo loss=$n
        """, trials=2, retry='[{match: "exit:4", max: 3, delay: 100ms}]')
    smtune.ok("run", path)
    for row in trials(smtune):
        assert row["state"] == "succeeded"
        assert row["attempts"] == 3
        assert row["value"] == 2


def test_retries_run_out(smtune, experiment):
    path = experiment(command='sh -c "exit 5"', trials=1,
                      retry="[{match: exit, max: 2}]")
    assert smtune("run", path).returncode == 6
    assert trials(smtune)[0]["attempts"] == 3


def test_exit_75_asks_for_a_retry(smtune, experiment):
    path = experiment(
        "if [ $SMTUNE_ATTEMPT_NUMBER = 1 ]; then exit 75; fi; echo loss=1",
        trials=1)
    smtune.ok("run", path)
    assert trials(smtune)[0]["attempts"] == 2


def test_what_a_trial_sees(smtune, experiment):
    path = experiment("""\
        env >env.txt; cp $SMTUNE_PARAMS params.json
        cp $SAGEMAKER_BASE_DIR/input/config/hyperparameters.json .
        test -d $SM_MODEL_DIR && test -d $SM_OUTPUT_DATA_DIR
        test -d $SMTUNE_CHECKPOINT_DIR && test -d $SMTUNE_DIR
        smtune report loss=0.25
        """, trials=1, parameters=files.X_AND_K, env={"MINE": "x is ${{ x }}"},
        channels={"train": "data"})
    smtune.ok("run", path)
    row = trials(smtune)[0]
    assert row["value"] == 0.25
    env = dict(line.split("=", 1) for line in
               (smtune.directory / "env.txt").read_text().splitlines()
               if "=" in line)
    x = row["params"]["x"]
    assert env["SMTUNE_RUN"] == "exp" and env["SMTUNE_JOB"] == "1"
    assert float(env["MINE"].removeprefix("x is ")) == x
    assert float(env["SM_HP_X"]) == x
    assert json.loads(env["SM_HPS"]) == row["params"]
    assert env["SM_CHANNEL_TRAIN"] == str(smtune.directory / "data")
    assert json.loads(env["SM_HOSTS"]) == ["algo-1"]
    params = json.loads((smtune.directory / "params.json").read_text())
    assert params == row["params"]
    strings = json.loads(
        (smtune.directory / "hyperparameters.json").read_text())
    assert strings["k"] == row["params"]["k"]
    assert float(strings["x"]) == x and isinstance(strings["x"], str)


def test_umask_is_the_users(smtune, experiment):
    path = experiment("umask >mask.txt; echo loss=1", trials=1)
    old = os.umask(0o027)
    try:
        smtune.ok("run", path)
    finally:
        os.umask(old)
    assert int((smtune.directory / "mask.txt").read_text(), 8) == 0o027


def test_a_folder_with_nothing_in_it_is_the_next_trials(smtune, experiment):
    smtune.ok("run", experiment(
        "sleep 0.1; echo loss=$(stat -c %i $SMTUNE_DIR)", trials=4, parallel=1))
    assert len({row["value"] for row in trials(smtune)}) == 1
    assert not os.listdir(smtune.store / "runs/exp/trials")


def test_the_engine_interrupts_no_trial(smtune, experiment):
    (smtune.directory / "policies.py").write_text("""\
import os, sys
engine = int(open(sys.argv[1] + "/../../engine.lock").read())
policies = [os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK
            for pid in (engine, 0)]
print(f"loss={policies == [os.SCHED_BATCH, os.SCHED_OTHER]:d}")
""")
    smtune.ok("run", experiment("python3 policies.py $SMTUNE_DIR", trials=1))
    assert trials(smtune)[0]["value"] == 1


@pytest.mark.parametrize("value, expected", [("last", 3.0), ("best", 1.0)])
def test_the_value_of_a_curve(smtune, experiment, value, expected):
    path = experiment(
        'for v in 2 1 nan 3; do echo "epoch=$((i = i + 1)) loss=$v"; done',
        trials=1)
    smtune.ok("run", path, "--set",
              f"objective={{metric: loss, value: {value}}}")
    assert trials(smtune)[0]["value"] == expected


def test_nan_is_never_best(smtune, experiment):
    path = experiment(
        "if [ $SMTUNE_JOB = 2 ]; then echo loss=7; else echo loss=nan; fi",
        trials=3, parallel=1)
    result = smtune("run", path)
    assert "3 trials (1 succeeded, 2 nonfinite)" in result.stdout
    assert "trial 1 nonfinite  loss=nan" in result.stderr
    assert smtune.json("best", "exp")["id"] == 2
    assert smtune.states() == ["nonfinite", "succeeded", "nonfinite"]
    assert [row["value"] for row in trials(smtune)] == ["nan", 7, "nan"]
    rows = smtune.ok("trials", "exp", "--sort", "best", "-o", "csv")
    assert [row[:15] for row in rows.splitlines()[1:3]] == [
        "2,succeeded,7,0", "1,nonfinite,nan"]
    assert smtune.json("show", "exp", "1")["state"] == "nonfinite"
    counts = smtune.json("status", "exp")["trials"]
    for state, count in ("succeeded", 1), ("nonfinite", 2):
        assert counts[state] == count
        assert len(smtune.json("trials", "exp", "--state", state)) == count
        assert len(smtune.json("trials", "exp", "--filter",
                               f"state = '{state}'")) == count
    smtune.ok("replay", "exp")


def test_a_run_without_a_finite_value_has_failed(smtune, experiment):
    path = experiment("echo loss=nan", trials=3)
    assert smtune("run", path).returncode == 6
    assert smtune.json("status", "exp")["state"] == "failed"
    assert "no trial succeeded" in smtune.json("status", "exp")["reason"]
    assert smtune("best", "exp").returncode == 4
    smtune.ok("replay", "exp")
    smtune.ok("fsck")


def test_every_objective_has_to_be_finite(smtune, experiment):
    path = experiment("""
        case $SMTUNE_JOB in
          1) echo loss=0.1 size=inf;; 2) echo loss=5 size=3;;
          3) echo loss=4 size=4;; 4) echo loss=0.2 size=1; exit 1;;
        esac
        """, trials=4, parallel=1)
    result = smtune("run", path, "--set",
                    "objective=[{metric: loss}, {metric: size}]")
    assert "trial 1 nonfinite  loss=0.1 size=inf" in result.stderr
    assert "best 0.1, trial 1" not in result.stderr
    rows = smtune.json("trials", "exp", "--sort", "best")
    assert [row["id"] for row in rows] == [3, 2, 1, 4]
    assert rows[2]["values"] == [0.1, "inf"]
    assert {row["id"] for row in smtune.json("best", "exp", "-n", 9)} == {2, 3}


def test_loud_output_is_survived(smtune, experiment):
    path = experiment("""\
        head -c 30000000 /dev/urandom; echo; head -c 30000000 /dev/zero; echo
        yes junk | head -n 2000000; printf 'loss=0.125'
        """, trials=1)
    smtune.ok("run", path, timeout=120)
    assert trials(smtune)[0]["value"] == 0.125


def test_limits(smtune, experiment):
    path = experiment("""\
        echo loss=1
        if [ $SMTUNE_JOB = 1 ]; then sleep 300; fi
        exec python3 -c "x = bytearray(300 << 20); import time; time.sleep(300)"
        """, trials=2, resources="{time: 2s, memory: 100M, grace: 1s}")
    smtune("run", path, timeout=60)
    assert [row["cause"] for row in trials(smtune)] == ["timeout", "oom"]


def test_nothing_of_a_trial_outlives_it(smtune, experiment):
    """The fixture looks for processes that are left."""
    path = experiment(
        "(trap '' TERM; setsid sleep 300) & (sleep 300 &) & echo loss=1",
        trials=4)
    smtune.ok("run", path)
    wait_until(lambda: not smtune.left_behind(), 10, "an empty house")


def test_names(smtune, experiment):
    path = experiment(command="echo loss=1", trials=1)
    smtune.ok("run", path)
    smtune.ok("run", path)
    assert {run["name"] for run in smtune.json("ls")} == {"exp", "exp-2"}
    result = smtune("run", path, "--name", "exp")
    assert result.returncode == 5
    assert "'exp'" in result.stderr
    for name in ("last", "17", "../x", ""):
        assert smtune("run", path, "--name", name).returncode == 2


def test_a_wrong_file_starts_nothing(smtune, write):
    path = write("bad.yaml", "version: 1\nparametres: {}\n")
    result = smtune("run", path)
    assert result.returncode == 3
    assert f"{path}:2:1: error: unknown key 'parametres'" in result.stderr
    assert not smtune.store.exists()


def test_dry_run_starts_nothing(smtune, experiment):
    path = experiment("touch ran; echo loss=1")
    result = smtune("run", path, "--dry-run")
    assert result.returncode == 0, result.stderr
    assert not (smtune.directory / "ran").exists()
    assert not smtune.store.exists()


SLOW = """\
    echo $SMTUNE_JOB >>ran.txt
    while [ ! -e go ]; do sleep 0.1; done
    echo loss=${{ x }}
    """


def ran(smtune):
    path = smtune.directory / "ran.txt"
    return path.read_text().split() if path.exists() else []


def two_run(smtune):
    """Two commands run, and the engine knows: an interrupt withdraws trials
    whose start has not been told yet."""
    return (len(ran(smtune)) == 2 and
            smtune.json("status", "exp")["trials"]["running"] == 2)


def interrupt(engine):
    """The first one, which has come when the engine says so."""
    os.kill(engine.pid, signal.SIGINT)
    assert any("Ctrl-C stops them" in line for line in engine.stderr)


def test_interrupted_once_lets_trials_end_and_resumes(smtune, experiment):
    path = experiment(SLOW)
    engine = smtune.start("run", path)
    wait_until(lambda: two_run(smtune))
    interrupt(engine)
    (smtune.directory / "go").touch()
    assert engine.wait(30) == 130
    assert smtune.states()[:2] == ["succeeded"] * 2
    assert sorted(ran(smtune)) == ["1", "2"]
    assert smtune.json("status", "exp")["state"] == "stopped"
    smtune.ok("resume", "exp")
    assert smtune.states() == ["succeeded"] * 6
    assert sorted(ran(smtune)) == ["1", "2", "3", "4", "5", "6"]
    smtune.ok("run", path, "--name", "whole")
    assert [t["params"] for t in trials(smtune, "exp")] == \
        [t["params"] for t in trials(smtune, "whole")]


def test_interrupted_twice_ends_trials_and_resumes(smtune, experiment):
    path = experiment(SLOW)
    engine = smtune.start("run", path)
    wait_until(lambda: two_run(smtune))
    interrupt(engine)
    os.kill(engine.pid, signal.SIGINT)
    assert engine.wait(60) == 130
    assert "succeeded" not in smtune.states()
    (smtune.directory / "go").touch()
    smtune.ok("resume", "exp")
    assert smtune.states() == ["succeeded"] * 6


def test_stop_and_resume(smtune, experiment):
    path = experiment(SLOW)
    engine = smtune.start("run", path)
    wait_until(lambda: len(ran(smtune)) == 2)
    smtune.ok("stop", "exp")
    assert engine.wait(30) == 143
    assert smtune.json("status", "exp")["state"] == "stopped"
    assert smtune("wait", "exp").returncode == 1
    (smtune.directory / "go").touch()
    smtune.ok("resume", "exp")
    assert smtune.states() == ["succeeded"] * 6
    assert smtune("resume", "exp").returncode == 0


def test_an_engine_killed_is_taken_over(smtune, experiment):
    path = experiment(SLOW)
    engine = smtune.start("run", path)
    wait_until(lambda: len(ran(smtune)) == 2)
    engine.kill()
    engine.wait()
    status = smtune.json("status", "exp")
    assert status["state"] == "interrupted"
    assert len(smtune.left_behind()) >= 2  # its trials go on
    resumed = smtune.start("resume", "exp")
    (smtune.directory / "go").touch()
    assert resumed.wait(60) == 0
    assert sorted(ran(smtune)) == ["1", "2", "3", "4", "5", "6"]  # once each
    assert all(row["attempts"] == 1 for row in trials(smtune)[:2])


def test_a_live_run_is_not_resumed(smtune, experiment):
    path = experiment(SLOW)
    engine = smtune.start("run", path)
    wait_until(lambda: len(ran(smtune)) == 2)
    assert smtune("resume", "exp").returncode == 5
    (smtune.directory / "go").touch()
    assert engine.wait(30) == 0


def test_stop_without_an_engine_ends_what_runs(smtune, experiment):
    path = experiment(SLOW)
    engine = smtune.start("run", path)
    wait_until(lambda: len(ran(smtune)) == 2)
    engine.kill()
    engine.wait()
    assert smtune("rm", "exp").returncode == 5
    smtune.ok("stop", "exp")
    wait_until(lambda: not smtune.left_behind(), 10)
    assert smtune.json("status", "exp")["state"] == "stopped"
    smtune.ok("rm", "exp")
    assert smtune.json("ls") == []


def test_detach(smtune, experiment):
    path = experiment(SLOW)
    assert "exp" in smtune.ok("run", path, "--detach")
    wait_until(lambda: len(ran(smtune)) == 2)
    assert smtune.json("status", "exp")["state"] == "running"
    (smtune.directory / "go").touch()
    assert smtune("wait", "exp").returncode == 0
    assert smtune.states() == ["succeeded"] * 6
    quiet = smtune.ok("run", path, "--detach", "--quiet", "--name", "quiet")
    assert quiet.startswith("run 'quiet' continues") and quiet.count("\n") == 1
    smtune.ok("wait", "quiet")


def test_detach_tells_what_is_wrong(smtune, write):
    path = write("bad.yaml", "version: 2\n")
    assert smtune("run", path, "--detach").returncode == 3


def test_a_grid_ends_when_it_is_used_up(smtune, experiment):
    path = experiment(command="echo loss=${{ a }}", name="grid", search="grid",
                      trials=100, parallel=3, parameters="""
                          a: {type: int, min: 1, max: 3}
                          b: {type: bool}
                          """)
    smtune.ok("run", path)
    points = [tuple(t["params"].values()) for t in trials(smtune, "grid")]
    assert len(points) == len(set(points)) == 6


def test_an_inactive_parameter_is_not_passed(smtune, experiment):
    path = experiment(
        command="echo loss=1 --opt ${{ opt }} --momentum ${{ momentum }}",
        name="cond", trials=12, parameters="""
            opt: {type: categorical, values: [sgd, adam]}
            momentum: {type: float, min: 0, max: 0.9, when: "opt = 'sgd'"}
            """)
    smtune.ok("run", path)
    rows = trials(smtune, "cond")
    assert {row["params"]["opt"] for row in rows} == {"sgd", "adam"}
    for row in rows:
        log = smtune.ok("logs", "cond", row["id"])
        assert ("--momentum" in log) == (row["params"]["opt"] == "sgd")
