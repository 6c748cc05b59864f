# SPDX-License-Identifier: GPL-3.0-or-later
"""A live engine and those who talk to it: signals, terminals that go away, and
`smtune attach`, `pause`, `resume` and `retry`."""

import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import stat
import subprocess

import pytest

from programs import open_files, wait_until

# Says that it runs, and ends when it may.
SLOW = """\
    echo $SMTUNE_JOB >>ran.txt
    while [ ! -e go ]; do sleep 0.1; done
    echo loss=${{ x }}
    """
WAITS = "while [ ! -e go ]; do sleep 0.1; done; "


def ran(smtune):
    path = smtune.directory / "ran.txt"
    return path.read_text().split() if path.exists() else []


def go(smtune):
    (smtune.directory / "go").touch()


def status(smtune):
    """Also of a run that is only just about to be."""
    result = smtune("status", "exp", "-o", "json")
    if result.returncode == 4:
        return {"state": None, "trials": {"running": 0}}
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def is_pending(pid, number):
    """Whether the process, which is stopped, has that signal before it."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    masks = re.findall(r"^(?:Shd|Sig)Pnd:\s*(\w+)", text, re.M)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def running(smtune, count):
    """So many commands run, and the engine knows."""
    wait_until(lambda: status(smtune)["trials"]["running"] == count and
               len(ran(smtune)) >= count, what=f"{count} running trials")


def detach(smtune, path, *words):
    smtune.ok("run", path, "--detach", *words)


def over(smtune):
    """Its engine is gone; its state."""
    smtune("wait", "exp")
    wait_until(lambda: not status(smtune)["engine_pid"])
    return status(smtune)["state"]


def proved(smtune):
    assert "verified" in smtune.ok("replay", "exp")


# ---- signals and terminals ----

@pytest.mark.quick
@pytest.mark.sanitized
def test_ctrl_c_three_times_kills(smtune, experiment):
    path = experiment("""\
        trap '' TERM
        echo $SMTUNE_JOB >>ran.txt
        while :; do sleep 0.1; done
        """, resources={"grace": "500s"})
    pressed = []

    def during(process, shown):
        wanted = ["waiting for running trials (Ctrl-C stops them)",
                  "stopping running trials (Ctrl-C kills them)"]
        if not pressed and len(ran(smtune)) == 2:
            running(smtune, 2)
        elif not pressed or len(pressed) > 2 or \
                wanted[len(pressed) - 1] not in shown:
            return
        pressed.append(len(pressed) + 1)
        os.kill(process.pid, signal.SIGINT)

    code, shown = smtune.on_terminal("run", path, during=during)
    assert code == 130 and pressed == [1, 2, 3]
    assert "smtune resume exp" in shown
    assert status(smtune)["state"] == "stopped"
    assert smtune.states() == ["ready", "ready"]


def test_sigterm_ends_trials_at_once(smtune, experiment):
    engine = smtune.start("run", experiment(SLOW))
    running(smtune, 2)
    engine.terminate()
    assert engine.wait(30) == 143
    assert status(smtune)["state"] == "stopped"
    go(smtune)
    smtune.ok("resume", "exp")
    assert smtune.states() == ["succeeded"] * 6


class Terminal:
    """A controlling terminal of its own for one smtune."""

    def __init__(self, smtune, *words, term="xterm"):
        self.ours, theirs = os.openpty()
        self.process = smtune.start(
            *words, env={"TERM": term}, stdin=theirs, stdout=theirs,
            stderr=theirs, preexec_fn=lambda: os.login_tty(os.dup(theirs)))
        os.close(theirs)

    def hang_up(self):
        """The kernel sends SIGHUP to the session; writes fail with EIO."""
        os.close(self.ours)


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_a_lost_terminal_ends_nothing(smtune, experiment, term):
    terminal = Terminal(smtune, "run", experiment(SLOW), term=term)
    running(smtune, 2)
    terminal.hang_up()
    os.kill(terminal.process.pid, signal.SIGHUP)
    go(smtune)
    assert over(smtune) == "succeeded"
    terminal.process.wait(30)
    assert smtune.states() == ["succeeded"] * 6
    assert sorted(ran(smtune)) == ["1", "2", "3", "4", "5", "6"]


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_a_terminal_that_nobody_reads_holds_nothing_up(smtune, experiment,
                                                       term):
    path = experiment("echo loss=${{ x }}", trials=1500)
    terminal = Terminal(smtune, "run", path, term=term)
    wait_until(lambda: status(smtune)["state"] == "succeeded", 120)
    terminal.hang_up()
    terminal.process.wait(30)


def test_a_broken_pipe_ends_nothing(smtune, experiment):
    engine = smtune.start("run", experiment(SLOW))
    running(smtune, 2)
    engine.stderr.close()
    engine.stdout.close()
    go(smtune)
    engine.wait(60)
    assert status(smtune)["state"] == "succeeded"


def test_a_full_pipe_holds_nothing_up(smtune, experiment):
    """Whatever is written to it before it is full."""
    path = experiment("echo loss=0.$((1000 - SMTUNE_JOB))", trials=900)
    ours, theirs = os.pipe()
    engine = smtune.start("run", path, stdout=subprocess.DEVNULL,
                          stderr=theirs)
    os.close(theirs)
    wait_until(lambda: status(smtune)["state"] == "succeeded", 120)
    os.close(ours)
    engine.wait(30)


# ---- attach ----

def test_attach_shows_what_run_shows(smtune, experiment):
    # as many lines as may come at once
    path = experiment(SLOW, trials=4)
    detach(smtune, path)
    running(smtune, 2)
    attached = smtune.start("attach", "exp")
    wait_until(lambda: len(subscribers(smtune)) > 0)
    go(smtune)
    out, err = attached.communicate(timeout=60)
    assert attached.returncode == 0
    for number in range(1, 5):
        assert f"trial {number} succeeded  loss=" in err
    assert "more trials" not in err and "4/4)" in err
    assert "best trials:" in out
    # The same for a run that is over.
    result = smtune("attach", "exp")
    assert result.returncode == 0 and "best trials:" in result.stdout


def test_attach_counts_the_steps_of_a_workflow(smtune, workflow):
    path = workflow("""
        a: {shell: "while [ ! -e go ]; do sleep 0.1; done"}
        b: {needs: a, command: "true"}
        """)
    smtune.ok("run", path, "--detach")
    attached = smtune.start("attach", "flow")
    wait_until(lambda: any(
        "attach flow" in command and
        any("socket:" in file for file in open_files(pid))
        for pid, command in smtune.left_behind().items()))
    go(smtune)
    _, err = attached.communicate(timeout=60)
    assert "a succeeded" in err and "/2 steps)" in err
    assert "(0 steps)" not in err


def subscribers(smtune):
    """Processes that are attached: they look for signals from the engine's
    answer on."""
    return [pid for pid, command in smtune.left_behind().items()
            if "attach exp" in command and
            any("[signalfd]" in file for file in open_files(pid))]


def test_attach_ends_with_the_runs_status(smtune, experiment):
    detach(smtune, experiment(WAITS + "exit 3"))
    attached = smtune.start("attach", "exp", "-o", "json")
    wait_until(lambda: len(subscribers(smtune)) > 0)
    go(smtune)
    out, _ = attached.communicate(timeout=60)
    assert attached.returncode == 6
    assert json.loads(out)["trials"]["failed"] == 6
    assert smtune("attach", "exp").returncode == 6


def test_ctrl_c_detaches_only(smtune, experiment):
    detach(smtune, experiment(SLOW))
    running(smtune, 2)
    pressed = []

    def during(process, shown):
        if "of 2 running" in shown.replace("\033[36m", "").replace(
                "\033[0m", "") and not pressed:
            pressed.append(True)
            os.kill(process.pid, signal.SIGINT)

    code, shown = smtune.on_terminal("attach", "exp", during=during)
    assert code == 130
    assert "detached; run 'exp' is still running" in shown
    assert status(smtune)["state"] == "running"
    go(smtune)
    assert over(smtune) == "succeeded"


def test_attach_to_a_stopped_and_to_a_dead_engine(smtune, experiment):
    detach(smtune, experiment(SLOW))
    running(smtune, 2)
    attached = smtune.start("attach", "exp")
    wait_until(lambda: len(subscribers(smtune)) > 0)
    smtune.ok("stop", "exp")
    _, err = attached.communicate(timeout=30)
    assert attached.returncode == 143
    assert "smtune resume exp" in err
    assert smtune("attach", "exp").returncode == 1  # as `wait` says

    smtune.ok("resume", "exp", "--detach")
    running(smtune, 2)
    attached = smtune.start("attach", "exp")
    wait_until(lambda: len(subscribers(smtune)) > 0)
    os.kill(status(smtune)["engine_pid"], signal.SIGKILL)
    _, err = attached.communicate(timeout=30)
    assert attached.returncode == 1
    assert "lost its engine" in err and "smtune resume exp" in err
    result = smtune("attach", "exp")
    assert result.returncode == 1 and "smtune resume exp" in result.stderr
    smtune.ok("stop", "exp")


def test_stop_and_the_engine_dies_of_something_else(smtune, experiment):
    """What it left running is ended all the same."""
    detach(smtune, experiment(SLOW))
    running(smtune, 2)
    engine = status(smtune)["engine_pid"]
    os.kill(engine, signal.SIGSTOP)
    stopping = smtune.start("stop", "exp")
    wait_until(lambda: is_pending(engine, signal.SIGTERM))
    os.kill(engine, signal.SIGKILL)
    _, said = stopping.communicate(timeout=60)
    assert stopping.returncode == 0 and "had lost its engine" in said
    assert status(smtune)["state"] == "stopped"
    assert status(smtune)["trials"]["running"] == 0


def test_stop_and_the_run_is_over(smtune, experiment):
    """Its engine still waits for a receiver that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        path = experiment(trials=1, notify=[
            {"url": "http://127.0.0.1:%d/" % silent.getsockname()[1]}])
        engine = smtune.start("run", path)
        wait_until(lambda: status(smtune)["state"] == "succeeded")
        said = smtune("stop", "exp")
        _, shown = engine.communicate(timeout=60)
    assert engine.returncode == 0, shown
    assert said.returncode == 0
    assert "'exp' ended by itself meanwhile: it succeeded" in said.stderr \
        or "is not running" in said.stderr


def test_a_stopped_reader_holds_nobody_up(smtune, experiment):
    """attach is stopped by ^Z; what it missed it does without."""
    path = experiment(WAITS + "echo loss=${{ x }}", trials=2000)
    detach(smtune, path)
    attached = smtune.start("attach", "exp")
    wait_until(lambda: len(subscribers(smtune)) > 0)
    os.kill(attached.pid, signal.SIGSTOP)
    go(smtune)
    assert over(smtune) == "succeeded"
    os.kill(attached.pid, signal.SIGCONT)
    attached.communicate(timeout=30)


# ---- the socket ----

def talk(smtune, *requests):
    """Replies to requests, one after the other."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(30)
        folder = os.open(smtune.store / "runs/exp", os.O_PATH)
        peer.connect(f"/proc/self/fd/{folder}/control.sock")
        os.close(folder)
        lines = peer.makefile()
        replies = []
        for request in requests:
            peer.sendall(json.dumps(request).encode() + b"\n")
            replies.append(json.loads(lines.readline()))
        return replies


def test_the_socket(smtune, experiment):
    detach(smtune, experiment(SLOW))
    running(smtune, 2)
    path = smtune.store / "runs/exp/control.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    now, wrong, bad, none = talk(
        smtune, {"op": "status"}, {"op": "pauze"}, {"op": "retry",
        "trials": ["x"]}, {})
    assert now["ok"] and now["running"] == 2 and now["tally"]["suggested"] >= 2
    assert wrong["status"] == 2 and "'pause'" in wrong["error"]
    assert bad["status"] == 2 and "error" in none
    assert talk(smtune, {"op": "stop", "drain": True}) == [{"ok": True}]
    go(smtune)
    assert over(smtune) == "stopped"
    assert smtune.states()[:2] == ["succeeded"] * 2
    wait_until(lambda: not path.exists())


def test_an_engine_that_comes_to_its_end_does_no_more(smtune, experiment):
    detach(smtune, experiment(SLOW))
    running(smtune, 2)
    stopped, now, *refused = talk(
        smtune, {"op": "stop", "drain": True}, {"op": "status"},
        {"op": "pause"}, {"op": "pause", "now": True}, {"op": "resume"},
        {"op": "resume", "trials": 20}, {"op": "retry", "trials": [1]},
        {"op": "enqueue", "params": {"x": 0.5}})
    assert stopped == {"ok": True} and now["running"] == 2
    assert [reply["error"] for reply in refused] == [
        "the run is ending"] * 6
    go(smtune)
    assert over(smtune) == "stopped"
    assert smtune.json("enqueue", "exp") == []
    proved(smtune)


def test_a_request_with_an_id_is_in_the_record(smtune, experiment):
    """Its answer is there with what it did; what is refused leaves nothing."""
    detach(smtune, experiment(SLOW))
    running(smtune, 2)
    done, refused, none, wrong = talk(
        smtune, {"op": "enqueue", "params": {"x": 0.5}, "id": "first"},
        {"op": "enqueue", "params": {"y": 0.5}, "id": "second"},
        {"op": "enqueue", "params": {"x": 0.75}},
        {"op": "enqueue", "params": {"x": 0.25}, "id": 7})
    assert done == {"ok": True, "enqueued": 1, "id": "first"}
    assert "error" in refused and none == {"ok": True, "enqueued": 2}
    assert wrong["status"] == 2 and "'id'" in wrong["error"]
    with sqlite3.connect(f"file:{smtune.store}/smtune.db?mode=ro",
                         uri=True) as record:
        answers, = record.execute(
            "SELECT detail FROM event WHERE event = 'answered'")
    assert [json.loads(text) for text in answers] == [done]
    go(smtune)
    assert over(smtune) == "succeeded"
    proved(smtune)


def test_what_cannot_be_answered_for_is_not_done(smtune, experiment):
    detach(smtune, experiment(SLOW))
    running(smtune, 2)
    with sqlite3.connect(smtune.store / "smtune.db") as record:
        record.execute("CREATE TRIGGER no_answer BEFORE INSERT ON event"
                       " WHEN NEW.event = 'answered'"
                       " BEGIN SELECT RAISE(ABORT, 'no answers'); END")
    refused, = talk(smtune, {"op": "enqueue", "params": {"x": 0.5}, "id": "a"})
    assert "no answers" in refused["error"]
    wait_until(lambda: not status(smtune)["engine_pid"])
    with sqlite3.connect(smtune.store / "smtune.db") as record:
        record.execute("DROP TRIGGER no_answer")
    record.close()
    assert smtune.json("enqueue", "exp") == []
    go(smtune)
    smtune.ok("resume", "exp")
    assert over(smtune) == "succeeded"
    proved(smtune)


def test_the_run_goes_on_without_a_socket(smtune, experiment):
    path = experiment()
    (smtune.store / "runs/exp/control.sock/in the way").mkdir(parents=True)
    result = smtune("run", path)
    assert result.returncode == 0
    assert "control.sock" in result.stderr


# ---- pause ----

def test_pause_lets_running_trials_end(smtune, experiment):
    detach(smtune, experiment(SLOW))
    running(smtune, 2)
    assert "is paused" in smtune("pause", "exp").stderr
    assert status(smtune)["state"] == "paused"
    assert [run["state"] for run in smtune.json("ls")] == ["paused"]
    assert smtune.json("show", "exp")["state"] == "paused"
    go(smtune)
    wait_until(lambda: status(smtune)["trials"]["succeeded"] == 2)
    smtune.ok("pause", "exp")  # once more changes nothing
    assert sorted(ran(smtune)) == ["1", "2"]
    assert status(smtune)["trials"]["running"] == 0
    assert smtune("wait", "exp", "--timeout", "0").returncode == 124
    assert "continues" in smtune("resume", "exp").stderr
    assert over(smtune) == "succeeded"
    assert sorted(ran(smtune)) == ["1", "2", "3", "4", "5", "6"]
    proved(smtune)


def test_pause_now_interrupts(smtune, experiment):
    detach(smtune, experiment(SLOW))
    running(smtune, 2)
    smtune.ok("pause", "exp", "--now")
    wait_until(lambda: status(smtune)["trials"]["running"] == 0)
    assert set(smtune.states()) == {"ready"}
    assert status(smtune)["state"] == "paused"
    go(smtune)
    smtune.ok("resume", "exp")
    assert over(smtune) == "succeeded"
    assert [t["attempts"] for t in smtune.json("trials", "exp")][:2] == [2, 2]
    proved(smtune)


def test_a_paused_run_ends_when_nothing_is_left(smtune, experiment):
    detach(smtune, experiment(SLOW, trials=2))
    running(smtune, 2)
    smtune.ok("pause", "exp")
    go(smtune)
    assert over(smtune) == "succeeded"
    assert status(smtune)["state"] == "succeeded"


def test_a_paused_run_is_stopped_killed_and_taken_up(smtune, experiment):
    detach(smtune, experiment(SLOW))
    running(smtune, 2)
    smtune.ok("pause", "exp", "--now")
    smtune.ok("stop", "exp")
    assert status(smtune)["state"] == "stopped"
    assert "no engine" in smtune("pause", "exp").stderr
    smtune.ok("resume", "exp", "--detach")
    running(smtune, 2)
    smtune.ok("pause", "exp")
    os.kill(status(smtune)["engine_pid"], signal.SIGKILL)
    wait_until(lambda: status(smtune)["state"] == "interrupted")
    go(smtune)
    smtune.ok("resume", "exp")  # and so it is not paused any more
    assert smtune.states() == ["succeeded"] * 6
    proved(smtune)


def test_paused_time_is_not_in_the_budget(smtune, experiment):
    path = experiment(WAITS + "echo loss=${{ x }}", trials=4, time="8s")
    detach(smtune, path)
    wait_until(lambda: status(smtune)["trials"]["running"] == 2)
    smtune.ok("pause", "exp")
    elapsed = talk(smtune, {"op": "status"})[0]["elapsed_ms"]
    pid = status(smtune)["engine_pid"]
    wait_until(lambda: smtune.json("status", "exp")["duration_ms"] > 9000)
    assert talk(smtune, {"op": "status"})[0]["elapsed_ms"] == elapsed
    # Nor does the engine's death change that.
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: status(smtune)["state"] == "interrupted")
    go(smtune)
    smtune.ok("resume", "exp")
    assert status(smtune)["reason"] == "trial budget used up (4 of 4)"


def test_what_rests_in_a_pause_goes_on_after_it(smtune, experiment):
    path = experiment(
        WAITS + "echo loss=${{ x }} at ${{ epochs }}", trials=3, parallel=3,
        schedule="{method: asha, type: promotion, resource: epochs,"
                 " min: 1, max: 3, eta: 3}")
    detach(smtune, path)
    wait_until(lambda: status(smtune)["trials"]["running"] == 3)
    smtune.ok("pause", "exp")
    go(smtune)
    wait_until(lambda: smtune.states() == ["paused"] * 3)
    assert smtune("wait", "exp", "--timeout", "0").returncode == 124
    smtune.ok("resume", "exp")
    assert over(smtune) == "succeeded"
    assert sorted(smtune.states()) == ["stopped", "stopped", "succeeded"]
    proved(smtune)


# ---- retry ----

# Fails until it is mended; says which attempt it is.
BROKEN = """\
    echo $SMTUNE_ATTEMPT_NUMBER >>$SMTUNE_CHECKPOINT_DIR/attempts
    if [ $((SMTUNE_JOB % 4)) = 3 ] && [ ! -e mended ]; then exit 4; fi
    echo loss=${{ x }}
    """
RETRY = '[{match: "exit:4", max: 1, delay: 1ms}]'


def mend(smtune):
    (smtune.directory / "mended").touch()


@pytest.mark.parametrize("search", ["random", "tpe", "cmaes"])
def test_retry_of_a_run_that_is_over(smtune, experiment, search):
    path = experiment(BROKEN, trials=20, method=search, retry=RETRY)
    smtune.ok("run", path)
    assert smtune.states().count("failed") == 5
    mend(smtune)
    assert "1 trial runs again" in smtune("retry", "exp", "7").stderr
    assert smtune.states().count("failed") == 4
    assert status(smtune)["state"] == "succeeded"
    proved(smtune)
    result = smtune("retry", "exp", "--failed")
    assert result.returncode == 0 and "4 trials run again" in result.stderr
    assert smtune.states() == ["succeeded"] * 20
    rows = smtune.json("trials", "exp")
    assert [row["attempts"] for row in rows if row["id"] % 4 == 3] == [3] * 5
    attempts = smtune.store / "runs/exp/trials/7/ml/checkpoints/attempts"
    found = [path for path in
             (smtune.store / "runs/exp/trials/7").rglob("attempts")]
    assert attempts in found or found
    assert found[0].read_text().split() == ["1", "2", "3"]
    proved(smtune)
    assert smtune("retry", "exp", "--failed").returncode == 2


def test_retries_begin_anew(smtune, experiment):
    path = experiment(BROKEN, trials=3, parallel=1, retry=RETRY)
    smtune.ok("run", path)
    assert smtune.json("trials", "exp")[2]["attempts"] == 2
    smtune.ok("retry", "exp", "3")
    assert smtune.json("trials", "exp")[2]["attempts"] == 4
    smtune.ok("retry", "exp", "3")
    assert smtune.json("trials", "exp")[2]["attempts"] == 6
    assert smtune.states()[2] == "failed"
    proved(smtune)


def test_what_cannot_be_retried(smtune, experiment):
    detach(smtune, experiment(SLOW, trials=3, parallel=1))
    running(smtune, 1)
    for live in (True, False):
        if not live:
            go(smtune)
            over(smtune)
        assert smtune("retry", "exp", "99").returncode == 4
        assert smtune("retry", "exp", "x").returncode == 2
        assert smtune("retry", "exp").returncode == 2
        assert smtune("retry", "exp", "--failed").returncode == 2
        assert smtune("retry", "exp", "1").returncode == 2
    result = smtune("retry", "exp", "1")
    assert "--force" in result.stderr
    assert smtune("retry", "none", "1").returncode == 4


def test_a_success_is_run_again_by_force(smtune, experiment):
    """The best one, which is then forgotten, by a curve's best value."""
    path = experiment("""\
        if [ $SMTUNE_JOB = 2 ] && [ ! -e mended ]; then echo loss=-5; fi
        echo loss=$SMTUNE_JOB
        """, trials=4, parallel=1, target=0, method="tpe")
    smtune("run", path, "--set", "objective={metric: loss, value: best}")
    assert smtune.json("best", "exp")["value"] == -5
    assert status(smtune)["reason"] == "the target was reached"
    mend(smtune)
    smtune("retry", "exp", "2", "--force")
    assert smtune.json("best", "exp")["value"] == 1
    assert smtune.json("trials", "exp")[1]["value"] == 2
    assert len(smtune.json("trials", "exp")) == 4
    proved(smtune)


@pytest.mark.parametrize("search", ["random", "tpe"])
def test_retry_in_a_live_run(smtune, experiment, search):
    path = experiment("""\
        echo $SMTUNE_JOB >>ran.txt
        if [ $SMTUNE_JOB = 2 ] && [ ! -e mended ]; then exit 4; fi
        while [ $SMTUNE_JOB = 5 ] && [ ! -e go ]; do sleep 0.1; done
        echo loss=${{ x }}
        """, trials=16, method=search)
    detach(smtune, path)
    wait_until(lambda: "succeeded" in smtune.states()[5:])
    mend(smtune)
    assert "1 trial runs again" in smtune("retry", "exp", "2", "2").stderr
    assert smtune.ok("status", "exp")
    wait_until(lambda: smtune.states()[1] == "succeeded")
    smtune.ok("retry", "exp", "1", "--force")
    wait_until(lambda: smtune.json("trials", "exp")[0]["attempts"] == 2)
    go(smtune)
    assert over(smtune) == "succeeded"
    assert smtune.states() == ["succeeded"] * 16
    shown = status(smtune)["trials"]
    assert (shown["total"], shown["done"]) == (16, 16)
    assert ran(smtune).count("2") == 2 and ran(smtune).count("1") == 2
    proved(smtune)


def test_retry_survives_the_engine(smtune, experiment):
    """Killed while what was put back runs: the record says so, and the search
    goes on as it would have."""
    path = experiment("""\
        echo $SMTUNE_JOB >>ran.txt
        if [ $SMTUNE_JOB = 3 ] && [ ! -e mended ]; then exit 4; fi
        wait=go; if [ $SMTUNE_JOB = 9 ]; then wait=mended; fi
        if [ $SMTUNE_JOB -gt 8 ] || [ -e mended ]; then
            while [ ! -e $wait ]; do sleep 0.1; done
        fi
        echo loss=${{ x }}
        """, trials=20, method="tpe")
    detach(smtune, path)
    running(smtune, 2)
    smtune.ok("pause", "exp")
    smtune.ok("retry", "exp", "3")
    mend(smtune)
    smtune.ok("resume", "exp")
    wait_until(lambda: ran(smtune).count("3") == 2)
    os.kill(status(smtune)["engine_pid"], signal.SIGKILL)
    wait_until(lambda: status(smtune)["state"] == "interrupted")
    proved(smtune)
    go(smtune)
    smtune.ok("resume", "exp")
    assert smtune.states() == ["succeeded"] * 20
    assert ran(smtune).count("3") == 2
    proved(smtune)


def test_retry_beyond_the_budget(smtune, experiment):
    """What ended the run does not end what was put back, and lets nothing else
    begin."""
    path = experiment("""\
        if [ $SMTUNE_JOB = 1 ] && [ ! -e mended ]; then exit 4; fi
        if [ $SMTUNE_JOB = 1 ]; then
          while [ ! -e go ]; do sleep 0.1; done
          echo loss=1; exit
        fi
        echo loss=${{ x }}; while [ ! -e mended ]; do sleep 0.1; done
        """, trials=5000, time="1s")
    smtune("run", path)
    assert status(smtune)["reason"] == (
        "no trial succeeded: time budget used up")
    mend(smtune)
    smtune.ok("retry", "exp", "1", "--detach")
    wait_until(lambda: status(smtune)["trials"]["running"] == 1)
    refused, = talk(smtune, {"op": "enqueue", "params": {"x": 0.5}})
    assert refused["error"] == "the run is ending"
    go(smtune)
    assert over(smtune) == "succeeded"
    rows = smtune.json("trials", "exp")
    assert rows[0]["state"] == "succeeded" and rows[0]["value"] == 1
    assert "stopped" in smtune.states() and len(rows) < 5000
    assert status(smtune)["reason"] == "time budget used up"
    proved(smtune)
