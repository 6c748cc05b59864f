# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune stop RUN --job: one job ends for good, and the run goes on."""

import json
import os
import signal
import socket

import pytest

from programs import wait_until

HOLD = """\
touch on.$SMTUNE_JOB
while [ ! -e go ]; do sleep 0.1; done
echo loss=${{ x }}
"""


def on(smtune, *numbers):
    wait_until(lambda: all((smtune.directory / f"on.{n}").exists()
                           for n in numbers), what=f"trials {numbers}")


def go(smtune):
    (smtune.directory / "go").touch()


def then(smtune, job):
    """What became of the job after its only attempt."""
    attempt, = smtune.json("why", "flow", job)["attempts"]
    return attempt["then"]


def proved(smtune, run):
    smtune.ok("fsck")
    smtune.ok("replay", run)


@pytest.mark.quick
@pytest.mark.sanitized
def test_a_trial_that_runs(smtune, experiment):
    engine = smtune.start("run", experiment(HOLD, trials=3, parallel=2))
    on(smtune, 1, 2)
    assert "1 job is stopped" in smtune("stop", "exp", "--job", 1).stderr
    on(smtune, 3)
    go(smtune)
    assert engine.wait(30) == 0
    assert smtune.states("exp") == ["cancelled", "succeeded", "succeeded"]
    assert [a["cause"] for a in smtune.json("show", "exp", 1)["attempts"]] == \
        ["cancelled"]
    proved(smtune, "exp")


def test_it_is_no_failed_trial(smtune, experiment):
    engine = smtune.start("run", experiment(HOLD, trials=2, parallel=2))
    on(smtune, 1, 2)
    smtune.ok("stop", "exp", "--job", 1)
    go(smtune)
    said, _ = engine.communicate(timeout=60)
    assert "2 trials (1 succeeded, 1 cancelled)" in said
    shown = smtune.json("show", "exp")["trials"]
    assert (shown["done"], shown["failed"], shown["cancelled"]) == (2, 0, 1)


def test_a_step_without_a_failed_copy_was_cancelled(smtune, write):
    path = write("w.yaml", """\
        version: 1
        name: flow
        parallel: 6
        steps:
          one: {shell: "touch on.$SMTUNE_JOB; sleep 600"}
          all: {matrix: {i: [1, 2, 3]},
                shell: "touch on.$SMTUNE_JOB; test ${{ i }} = 3 || sleep 600"}
          part:
            matrix: {i: [1, 2]}
            shell: |
              touch on.$SMTUNE_JOB
              while [ ! -e go ]; do sleep 0.1; done
              exit 1
        """)
    engine = smtune.start("run", path, "-o", "json")
    on(smtune, 1, 2, 3, 4, 5, 6)
    for job in "one", "all[0]", "all[1]", "part[1]":
        smtune.ok("stop", "flow", "--job", job)
    wait_until(lambda: smtune.states("flow").count("cancelled") == 4)
    go(smtune)
    said, err = engine.communicate(timeout=60)
    assert "run 'flow': step 'one' was cancelled" in err
    steps = {step["name"]: step for step in json.loads(said)["steps"]}
    assert [(step["failed"], step["cancelled"]) for step in steps.values()] == [
        (0, 1), (0, 2), (1, 1)]
    reasons = [step["reason"] for step in steps.values()]
    assert reasons[0].startswith("cancelled")
    assert reasons[1:] == ["2 of 3 copies were cancelled",
                           "1 of 2 copies failed, 1 cancelled"]
    proved(smtune, "flow")


def test_outputs_of_the_workflow_count_what_succeeded(smtune, write):
    """By the record, in which a cancelled copy has not failed."""
    path = write("w.yaml", """\
        version: 1
        name: flow
        parallel: 2
        steps:
          many:
            matrix: {i: [1, 2]}
            shell: |
              touch on.$SMTUNE_JOB
              while [ ! -e go ]; do sleep 0.1; done
            success_if: 1
          then: {needs: many,
                 shell: "echo ${{ many.succeeded }} ${{ many.failed }} >counts"}
        outputs: {good: many.succeeded, bad: many.failed}
        """)
    engine = smtune.start("run", path, "-o", "json")
    on(smtune, 1, 2)
    smtune.ok("stop", "flow", "--job", "many[0]")
    go(smtune)
    said, err = engine.communicate(timeout=60)
    assert engine.returncode == 0, err
    assert json.loads(said)["outputs"] == {"good": 1, "bad": 0}
    assert (smtune.directory / "counts").read_text() == "1 0\n"
    proved(smtune, "flow")


def test_a_step_of_which_too_few_were_to_run(smtune, write):
    """No copy has failed, and none was cancelled."""
    assert smtune("run", write("w.yaml", """\
        version: 1
        name: flow
        steps:
          many: {matrix: {i: [1, 2, 3]}, if: i < 2, command: "true",
                 success_if: 2}
        """)).returncode == 1
    step, = smtune.json("status", "flow")["steps"]
    assert step["reason"] == "only 1 of 3 copies succeeded"
    proved(smtune, "flow")


@pytest.mark.parametrize("keys", [{"search": "auto"}, {"search": "tpe"}])
def test_the_search_goes_on_without_it(smtune, experiment, keys):
    engine = smtune.start("run", experiment(HOLD, trials=6, parallel=2, **keys))
    on(smtune, 1, 2)
    smtune.ok("stop", "exp", "--job", 2)
    go(smtune)
    assert engine.wait(60) == 0
    assert sorted(smtune.states("exp")) == ["cancelled"] + ["succeeded"] * 5
    proved(smtune, "exp")


def test_one_that_waits_for_a_slot_is_not_started(smtune, workflow):
    """The next request would start it: one client sends both at once."""
    engine = smtune.start("run", workflow("""
        a:
          matrix: {n: [1, 2, 3]}
          shell: >
            touch on.${{ n }};
            while [ ! -e go ]; do sleep 0.1; done
          resources: {cpus: 1}
        """, executor="{name: local, cpus: 1}", parallel=3))
    on(smtune, 1)
    wait_until(lambda: len(smtune.states("flow")) == 3)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(smtune.store / "runs/flow/control.sock"))
        client.sendall(b'{"op": "pause"}\n')
        assert b"true" in client.recv(1000)
        go(smtune)
        wait_until(lambda: "succeeded" in smtune.states("flow"))
        client.sendall(b'{"op": "cancel", "trials": [2]}\n{"op": "resume"}\n')
        engine.wait(30)
    assert smtune.states("flow") == ["succeeded", "cancelled", "succeeded"]
    assert not (smtune.directory / "on.2").exists()
    proved(smtune, "flow")


def test_a_trial_that_waits_for_its_retry(smtune, experiment):
    path = experiment(f"test $SMTUNE_JOB != 1 || exit 7\n{HOLD}", trials=2,
                      retry="[{match: exit, max: 3, delay: 1h}]")
    engine = smtune.start("run", path)
    on(smtune, 2)
    wait_until(lambda: "waiting" in smtune.states("exp"))
    smtune.ok("stop", "exp", "--job", 1)
    go(smtune)
    assert engine.wait(30) == 0
    assert smtune.states("exp") == ["cancelled", "succeeded"]
    proved(smtune, "exp")


def test_a_copy_of_a_step_by_its_name(smtune, write):
    path = write("w.yaml", """\
        version: 1
        name: flow
        steps:
          a:
            matrix: {i: [1, 2]}
            shell: "touch on.$SMTUNE_JOB; while [ ! -e go ]; do sleep 0.1; done"
            may_fail: true
            fail_fast: false
          b: {needs: a, when: all_done, command: "true"}
        """)
    engine = smtune.start("run", path)
    on(smtune, 1, 2)
    smtune.ok("stop", "flow", "--job", "a[1]")
    go(smtune)
    assert engine.wait(30) == 0
    assert smtune.states("flow") == ["succeeded", "cancelled", "succeeded"]
    assert then(smtune, "a[1]") == "stopped by its user: it is over"
    proved(smtune, "flow")


def test_a_copy_that_has_not_started(smtune, workflow):
    engine = smtune.start("run", workflow("""
        a:
          matrix: {i: [1, 2]}
          parallel: 1
          shell: "touch on.$SMTUNE_JOB; while [ ! -e go ]; do sleep 0.1; done"
        """))
    on(smtune, 1)
    result = smtune("stop", "flow", "--job", "a[1]")
    assert result.returncode == 4
    assert "copy 1 of step 'a' has not started" in result.stderr
    go(smtune)
    assert engine.wait(30) == 0


def test_without_an_engine_it_is_recorded(smtune, experiment):
    """And heeded by the next one, which ends what still runs."""
    engine = smtune.start("run", experiment(HOLD, trials=2, parallel=2))
    on(smtune, 1, 2)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    assert "as soon as it resumes" in \
        smtune("stop", "exp", "--job", 1).stderr
    smtune.ok("fsck")
    engine = smtune.start("resume", "exp")
    wait_until(lambda: smtune.states("exp")[0] == "cancelled")
    go(smtune)
    assert engine.wait(30) == 0
    assert smtune.states("exp") == ["cancelled", "succeeded"]
    proved(smtune, "exp")
    smtune.ok("retry", "exp", 1)
    assert smtune.states("exp") == ["succeeded", "succeeded"]
    proved(smtune, "exp")


def test_what_cannot_be_stopped(smtune, experiment):
    smtune.ok("run", experiment("echo loss=1", trials=1))
    result = smtune("stop", "exp", "--job", 1)
    assert result.returncode == 2
    assert "job 1 is succeeded: it cannot be stopped" in result.stderr
    assert "no job 7" in smtune("stop", "exp", "--job", 7).stderr
    assert "--job takes one RUN" in \
        smtune("stop", "exp", "exp", "--job", 1).stderr
    proved(smtune, "exp")


# ---- fail_fast: kill ----

@pytest.mark.sanitized
@pytest.mark.parametrize("retry", ["[]", "[{match: cancelled, max: 1}]"])
def test_the_copies_of_a_step_that_has_failed(smtune, write, retry):
    """Those that run and those that wait; no rule starts them again."""
    path = write("w.yaml", f"""\
        version: 1
        name: flow
        steps:
          a:
            matrix: {{i: [1, 2, 3, 4]}}
            parallel: 2
            shell: |
              touch on.${{{{ i }}}}
              while [ ! -e on.2 ]; do sleep 0.1; done
              test ${{{{ i }}}} != 1 && sleep 600
            fail_fast: kill
            retry: {retry}
          b: {{command: "sleep 1"}}
        """)
    assert smtune("run", path, timeout=60).returncode == 1
    rows = [row for row in smtune.json("trials", "flow") if row["job"] != "b"]
    assert [row["state"] for row in rows] == ["failed", "cancelled"]
    steps = {s["name"]: s for s in smtune.json("status", "flow")["steps"]}
    assert [s["state"] for s in steps.values()] == ["failed", "succeeded"]
    assert steps["a"]["reason"] == "1 of 4 copies failed, 1 cancelled"
    assert (steps["a"]["failed"], steps["a"]["cancelled"]) == (1, 1)
    proved(smtune, "flow")


@pytest.mark.parametrize("engine", [["retry", "flow", "--failed"],
                                    ["run", "w.yaml", "--failed"]])
def test_retry_failed_starts_them_again(smtune, write, engine):
    """Their user ended none of them."""
    path = write("w.yaml", """\
        version: 1
        name: flow
        parallel: 4
        steps:
          a:
            matrix: {i: [1, 2, 3, 4]}
            parallel: 3
            shell: |
              touch on.$SMTUNE_JOB
              test -e go && exit 0
              while [ ! -e on.3 ]; do sleep 0.1; done
              test ${{ i }} = 1 || sleep 600
              exit 1
            fail_fast: kill
          b: {needs: a, command: "true"}
        """)
    assert smtune("run", path, timeout=60).returncode == 1
    assert smtune.states("flow") == ["failed", "cancelled", "cancelled"]
    assert then(smtune, "a[1]") == \
        "stopped by its step (fail_fast: kill): it is over"
    assert {"rule": "fail_fast", "line": 14, "text": "kill"} in \
        smtune.json("why", "flow", "a")["rules"]
    go(smtune)
    smtune.ok(*engine)
    assert smtune.states("flow") == ["succeeded"] * 5
    proved(smtune, "flow")


def test_retry_failed_leaves_what_its_user_stopped(smtune, write):
    path = write("w.yaml", """\
        version: 1
        name: flow
        parallel: 4
        steps:
          a:
            matrix: {i: [1, 2, 3]}
            shell: |
              touch on.$SMTUNE_JOB
              while [ ! -e go ]; do sleep 0.1; done
              test ${{ i }} = 1 && exit 1
              sleep 600
            fail_fast: kill
            success_if: 2
        """)
    running = smtune.start("run", path)
    on(smtune, 1, 2, 3)
    smtune.ok("stop", "flow", "--job", "a[1]")
    go(smtune)
    assert running.wait(30) == 1
    assert smtune.states("flow") == ["failed", "cancelled", "cancelled"]
    assert smtune("retry", "flow", "--failed").returncode == 1
    assert len(smtune.json("show", "flow", "a[2]")["attempts"]) == 2
    assert len(smtune.json("show", "flow", "a[1]")["attempts"]) == 1


def test_as_long_as_it_may_succeed_its_copies_run(smtune, write):
    path = write("w.yaml", """\
        version: 1
        name: flow
        steps:
          a:
            matrix: {i: [1, 2, 3]}
            shell: "test ${{ i }} != 1 && sleep 0.5"
            success_if: 2
            fail_fast: kill
        """)
    smtune.ok("run", path)
    assert smtune.states("flow") == ["failed", "succeeded", "succeeded"]
    proved(smtune, "flow")


def test_a_wrong_word_is_refused(smtune, write):
    result = smtune("validate", write("w.yaml", """\
        version: 1
        steps: {a: {copies: 2, command: "true", fail_fast: kil}}
        """))
    assert "did you mean 'kill'" in result.stderr
