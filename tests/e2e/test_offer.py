# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune run` of a file whose run is not over offers to go on with it."""

import os
import pty

import pytest

from files import experiment, workflow
from programs import wait_until

FILE = experiment("test -e go || exit 75; echo loss=${{ x }}", trials=4,
                  parallel=1)


@pytest.fixture
def stopped(smtune, write):
    """The file of a run that was stopped before its first result."""
    path = write("exp.yaml", FILE)
    process = smtune.start("run", path)
    wait_until(lambda: smtune("status", "exp").returncode == 0)
    smtune.ok("stop", "exp", timeout=60)
    process.wait()
    write("go", "")
    return path


def runs(smtune):
    return {run["name"]: run["state"] for run in smtune.json("ls")}


def answer(smtune, words, reply):
    """Runs on a terminal and replies to its question: (status, shown)."""
    ours, theirs = pty.openpty()
    process = smtune.start(*words, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"[Y/n] " not in shown:
        shown += os.read(ours, 4096)
    os.write(ours, reply)
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the terminal is closed
        pass
    os.close(ours)
    return process.wait(), shown.decode()


@pytest.mark.sanitized
@pytest.mark.parametrize("reply", [b"\n", b"y\n"])
def test_on_a_terminal_it_asks_and_goes_on(smtune, stopped, reply):
    status, shown = answer(smtune, ["run", stopped], reply)
    assert status == 0
    assert "run 'exp' of this file has not ended" in shown
    assert runs(smtune) == {"exp": "succeeded"}


@pytest.mark.parametrize("reply", [b"n\n", b"\x04"])
def test_whoever_says_no_gets_a_new_run(smtune, stopped, reply):
    status, _ = answer(smtune, ["run", stopped], reply)
    assert status == 0
    assert runs(smtune) == {"exp": "stopped", "exp-2": "succeeded"}


def test_with_a_name_no_is_an_error(smtune, stopped):
    status, shown = answer(smtune, ["run", stopped, "--name", "exp"], b"n\n")
    assert status == 5
    assert "choose another --name" in shown


def test_without_a_terminal_it_names_the_command(smtune, stopped):
    result = smtune("run", stopped, "--name", "exp")
    assert result.returncode == 5
    assert "resume it: smtune resume exp" in result.stderr
    result = smtune("run", stopped)
    assert result.returncode == 0
    assert "resume it: smtune resume exp" in result.stderr
    assert runs(smtune) == {"exp": "stopped", "exp-2": "succeeded"}


def test_asked_to_resume_it_goes_on_until_nothing_is_left(smtune, stopped):
    smtune.ok("run", stopped, "--resume")
    assert runs(smtune) == {"exp": "succeeded"}
    result = smtune("run", stopped, "--resume")
    assert result.returncode == 0
    assert "nothing to resume" in result.stderr
    smtune.ok("run", stopped, "--resume", "--name", "first")
    assert runs(smtune) == {"exp": "succeeded", "first": "succeeded"}


@pytest.mark.parametrize("keys", [
    {}, {"outcomes": "[{metric: gain, max: 0.5}]"},
    {"objective": "[loss, {metric: gain, goal: maximize}]"},
    {"schedule": "{method: asha, resource: epochs, min: 1, max: 4, eta: 2}",
     "checkpoints": True}], ids=["one", "constraint", "two", "schedule"])
def test_a_program_gets_the_result_of_a_run_that_has_ended(smtune, experiment,
                                                           keys):
    path = experiment(
        "%s; do echo epochs=$e loss=${{ x }} gain=${{ x }}; done;"
        " [ ${{ trial }} != 2 ]" % (
            "for e in $(seq ${{ epochs }})" if "schedule" in keys
            else "for e in 1 2"), trials=6, parallel=1, seed=1, **keys)
    first = smtune("run", path, "-o", "json")
    assert first.returncode == 0, first.stderr
    for words in (("run", path, "--resume"), ("run", path, "--resume", "-q"),
                  ("run", path, "--resume", "--detach"), ("resume", "exp"),
                  ("attach", "exp")):
        assert smtune.ok(*words, "-o", "json") == first.stdout
    assert smtune.ok("run", path, "--resume") == ""
    assert runs(smtune) == {"exp": "succeeded"}


def test_a_program_gets_the_result_of_a_workflow_that_has_ended(smtune, write):
    path = write("w.yaml", workflow({"a": {"shell": "true"},
                                     "b": {"shell": "true"}}))
    first = smtune.ok("run", path, "-o", "json")
    for words in (("run", path, "--resume"), ("resume", "flow"),
                  ("attach", "flow")):
        assert smtune.ok(*words, "-o", "json") == first


def test_a_reason_of_the_record_that_is_no_text(smtune, experiment):
    smtune.ok("run", experiment("echo loss=${{ x }}", trials=1))
    smtune.query("UPDATE run SET reason = CAST(x'61ff' AS TEXT)")
    assert smtune.json("resume", "exp")["reason"] == "a\\xff"


def test_a_program_gets_the_name_of_the_last_run(smtune, experiment):
    path = experiment("echo loss=${{ x }}", trials=2)
    smtune.ok("run", path)
    smtune.ok("run", path)
    result = smtune.json("run", path, "--resume")
    assert (result["run"], result["state"]) == ("exp-2", "succeeded")


def test_detached_it_goes_on_as_well(smtune, stopped):
    smtune.ok("run", stopped, "--resume", "--detach")
    smtune.ok("wait", "exp")
    assert runs(smtune) == {"exp": "succeeded"}


def test_another_file_is_another_run(smtune, stopped):
    changed = ["run", stopped, "--set", "search.seed=4"]
    result = smtune(*changed, "--resume")
    assert result.returncode == 5
    assert "other --set values" in result.stderr
    result = smtune(*changed, "--name", "exp")
    assert result.returncode == 5
    assert "other --set values" in result.stderr
    result = smtune(*changed)
    assert result.returncode == 0
    assert "has not ended" not in result.stderr
    assert runs(smtune) == {"exp": "stopped", "exp-2": "succeeded"}


def test_a_run_with_an_engine_is_not_offered(smtune, write):
    path = write("exp.yaml", FILE.replace("exit 75", "sleep 1000"))
    process = smtune.start("run", path)
    wait_until(lambda: smtune("status", "exp").returncode == 0)
    result = smtune("run", path, "--resume")
    assert result.returncode == 5
    assert "exp" in result.stderr
    smtune.ok("stop", "exp", timeout=60)
    process.wait()
    assert runs(smtune) == {"exp": "stopped"}


def test_a_second_run_in_the_same_folder_is_warned_of(smtune, write, tmp_path):
    path = write("w.yaml", workflow({"a": {"shell": "test -e go || exit 75",
                                           "retry": [{"match": "exit:75",
                                                      "max": 1000,
                                                      "delay": "0.1s"}]}}))
    process = smtune.start("run", "-q", path)
    wait_until(lambda: smtune("status", "flow").returncode == 0)
    second = smtune.start("run", "-q", path)
    warning = second.stderr.readline()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "go").touch()
    assert warning == ("smtune: warning: run 'flow' of this file is running in "
                       "this folder; both runs write to the same files\n")
    assert smtune("run", "-q", path, cwd=elsewhere).stderr == ""
    write("go", "")
    assert process.wait() == second.wait() == 0
    assert smtune("run", "-q", path).stderr == ""


def refusal(smtune, status, path, *more):
    result = smtune("run", path, "--failed", *more)
    assert result.returncode == status
    return result.stderr.removeprefix("smtune: ").rstrip("\n")


def test_what_failed_runs_again(smtune, write):
    path = write("exp.yaml", FILE.replace(
        "test -e go || exit 75", "test -e go -o ${{ trial }} != 2 || exit 3"))
    assert smtune("run", path).returncode == 0
    assert smtune.states() == ["succeeded", "failed", "succeeded", "succeeded"]
    write("go", "")
    assert smtune("run", path, "--failed").returncode == 0
    assert smtune.states() == ["succeeded"] * 4
    assert runs(smtune) == {"exp": "succeeded"}
    assert refusal(smtune, 2, path) == "run 'exp': nothing has failed"


def test_what_failed_is_taken_over_from_the_same_file_alone(smtune, write):
    path = write("exp.yaml", FILE)
    assert "no store" in refusal(smtune, 4, path)
    write("go", "")
    smtune.ok("run", path)
    assert "have changed since run 'exp'" in refusal(
        smtune, 5, path, "--set", "budget.trials=5")


def test_a_run_below_goes_on_with_its_jobs_run(smtune, write):
    """What the engine of a workflow starts for a job, time and again."""
    path = write("exp.yaml", FILE)
    write("go", "")
    smtune.ok("run", path, "--name", "top")
    below = ("run", path, "--resume", "--below", "1:1", "--name", "top.a")
    for _ in range(2):
        smtune.ok(*below)
        assert below_runs(smtune) == ["top.a"]
    smtune.ok(*below, "--set", "budget.trials=2")
    assert below_runs(smtune) == ["top.a", "top.a-2"]
    result = smtune(*below[:3], "--below", "1", "--name", "x")
    assert result.returncode == 2
    assert "'1': expected RUN:JOB" in result.stderr


def below_runs(smtune):
    return sorted(run["name"] for run in smtune.json("ls")
                  if run["name"] != "top")
