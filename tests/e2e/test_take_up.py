# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine takes up of a run: what was decided, and what it read of the
record, holds for the next one and for what is put back."""

import contextlib
import os
import signal

import pytest

from programs import processes_with, wait_until


@pytest.fixture
def stopped(smtune, experiment):
    """The engine of a run whose trial is to stop, and does not until it may."""
    def start(first=""):
        engine = smtune.start("run", experiment(f"""
            {first} trap 'echo told >>told' TERM
            echo epoch=1 loss=2
            until test -e end; do sleep 0.1; done
            """, name="it", trials=1, parallel=1, resources="{grace: 1h}",
            schedule="{method: threshold, upper: 1, resource: epochs, max: 9}"))
        wait_until(lambda: lines(smtune, "told"))
        return engine
    return start


def lines(smtune, name):
    path = smtune.directory / name
    return path.read_text().split() if path.exists() else []


def kill(engine):
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()


@pytest.mark.quick
@pytest.mark.sanitized
def test_what_is_to_stop_is_told_again(smtune, stopped):
    """The engine that decided it may have died before it told."""
    engine = stopped()
    kill(engine)
    told = len(lines(smtune, "told"))
    engine = smtune.start("resume", "it")
    wait_until(lambda: len(lines(smtune, "told")) > told)
    (smtune.directory / "end").touch()
    assert engine.wait(30) in (0, 6)
    assert smtune.query("SELECT state FROM job") == [("stopped",)]
    smtune.ok("replay", "it")


def test_what_is_to_stop_begins_no_more(smtune, stopped):
    """A power cut took its processes, and its claim."""
    engine = stopped(first="echo ran >>ran;")
    kill(engine)
    token = smtune.token.encode()

    def none_left():
        left = processes_with(token)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left

    wait_until(none_left)
    (claim,) = smtune.store.glob("runs/it/**/claim")
    claim.unlink()
    (smtune.directory / "end").touch()
    smtune("resume", "it")
    assert smtune.query("SELECT state FROM job") == [("stopped",)]
    assert lines(smtune, "ran") == ["ran"]
    smtune.ok("fsck")
    smtune.ok("replay", "it")


def test_what_is_put_back_is_read_of_the_record(smtune, experiment):
    """Where that is damaged nothing of it runs, and no engine goes on."""
    engine = smtune.start("run", experiment("""
        echo ran >>seen
        [ $SMTUNE_JOB = 2 ] || exit 1
        until test -e end; do sleep 0.1; done
        echo loss=1
        """, name="it", trials=2, parallel=1))
    wait_until(lambda: lines(smtune, "seen") == ["ran", "ran"])
    smtune.query("UPDATE param_value SET value = 'much' WHERE job_id ="
                 " (SELECT id FROM job WHERE number = 1)")
    refused = smtune("retry", "it", "1")
    says = "trial 1 has a value of 'x' that the experiment file does not allow"
    assert refused.returncode == 1 and says in refused.stderr
    assert engine.wait(30) == 1
    assert says in engine.stderr.read()
    assert smtune.query("SELECT number, state FROM job") == [
        (1, "failed"), (2, "running")]
    (smtune.directory / "end").touch()
    assert lines(smtune, "seen") == ["ran", "ran"]


def test_of_what_was_lost_nothing_is_known(smtune, experiment):
    path = experiment(
        "echo loss=1; test $SMTUNE_ATTEMPT_NUMBER = 2 || kill -9 $PPID $$",
        name="it", trials=1)
    smtune.ok("run", path)
    lost, known = smtune.json("show", "it", 1)["attempts"]
    assert lost["cause"] == "lost" and "not recorded" in lost["text"]
    for key in ("exit_code", "signal", "cpu_ms", "max_rss_bytes"):
        assert lost[key] is None, key
    assert known["cause"] == "ok" and known["max_rss_bytes"] > 0
    assert known["cpu_ms"] is not None


def test_of_what_was_lost_it_is_said_why_it_was_ended(smtune, experiment):
    path = experiment("echo loss=1; kill -9 $PPID; exec sleep 60", name="it",
                      trials=1, resources="{time: 1500ms, grace: 1s}")
    smtune("run", path)
    attempt, = smtune.json("show", "it", 1)["attempts"]
    assert attempt["cause"] == "timeout"
    assert attempt["text"] == (
        "time limit of 1.5 s reached; its end was not recorded: its "
        "smtune-shim crashed or was killed")
    smtune("run", path, "--name", "told", "--set", "trial.resources.time=1h",
           "--detach")
    wait_until(lambda: smtune("logs", "told", 1).stdout == "loss=1\n")
    smtune.ok("stop", "told")
    attempt, = smtune.json("show", "told", 1)["attempts"]
    assert attempt["cause"] == "cancelled"
    assert attempt["text"] == ("stopped; its end was not recorded: its smtune-shim "
                               "crashed or was killed")


def test_where_there_are_no_nodes_none_is_avoided(smtune, experiment):
    engine = smtune.start("run", experiment("""
        echo ran >>seen
        [ $(wc -l <seen) -gt 1 ] || exit 9
        until test -e end; do sleep 0.1; done
        echo loss=1
        """, name="it", trials=1,
        retry="[{match: 'exit:9', max: 1, delay: 0, exclude_node: true}]"))
    wait_until(lambda: lines(smtune, "seen") == ["ran", "ran"])
    kill(engine)
    engine = smtune.start("resume", "it")
    (smtune.directory / "end").touch()
    assert engine.wait(30) == 0
    assert lines(smtune, "seen") == ["ran", "ran"]
    assert smtune.query("SELECT state FROM job") == [("succeeded",)]


def test_a_round_that_was_the_last_stays_so(smtune, workflow):
    """Whatever its values would say by now."""
    assert smtune("run", workflow("""
        train:
          metrics: [loss]
          repeat: {max: 5, until: train.loss < 0.3}
          shell: "echo ran >>seen; echo loss=0.2"
        use: {needs: train, shell: "echo used >>seen; exit 1"}
        """, name="it")).returncode == 1
    smtune.query("UPDATE run SET state = 'running', ended_ms = NULL")
    smtune.query("UPDATE job SET outputs = replace(outputs, '0.2', '0.9')")
    assert smtune("resume", "it").returncode == 1
    assert lines(smtune, "seen") == ["ran", "used"]
    assert smtune.query("SELECT name, state FROM run_step ORDER BY idx") == [
        ("train", "succeeded"), ("use", "failed")]


def test_a_job_of_an_earlier_time_does_not_count(smtune, workflow):
    """Its step waited again since, and has had another."""
    engine = smtune.start("run", workflow("""
        a: {shell: "echo a >>seen; until test -e go; do sleep 0.1; done"}
        b: {needs: a, shell: "echo b >>seen; test -e mended"}
        slow: {shell: "until test -e end; do sleep 0.1; done"}
        """, name="it"))
    (smtune.directory / "go").touch()
    wait_until(lambda: lines(smtune, "seen") == ["a", "b"] and
               smtune.query("SELECT 1 FROM run_step WHERE name = 'b'"
                            " AND state = 'failed'"))
    (smtune.directory / "go").unlink()
    smtune.ok("retry", "it", "a", "--force")
    (smtune.directory / "mended").touch()
    (smtune.directory / "go").touch()
    wait_until(lambda: smtune.query("SELECT 1 FROM run_step WHERE name = 'b'"
                                    " AND state = 'succeeded'"))
    kill(engine)
    (smtune.directory / "end").touch()
    smtune.ok("resume", "it")
    assert lines(smtune, "seen") == ["a", "b", "a", "b"]
    smtune.ok("fsck")
