# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told to end ends, and nothing stays in the queue. That nothing does
is seen after each test (conftest.py); here is how soon."""

import json
import signal

import pytest

from conftest import MODES, both
from programs import wait_until

# Says that it runs, and ends when it may.
SLOW = {"shell": "echo $SMTUNE_JOB >>ran\n"
                 "while [ ! -e go ]; do sleep 0.1; done\n"
                 "echo loss=${{ x }}\n"}

# The first three are good, those after them are not; each rests after its
# third epoch until it is told to end, and notes when that is.
LINES = {"shell": """\
trap 'date +%s%N >$SMTUNE_JOB.term; exit 0' TERM
base=0
[ $SMTUNE_JOB -le 3 ] || base=10
for n in 1 2 3; do echo epoch=$n loss=$base; done
date +%s%N >$SMTUNE_JOB.line
[ $SMTUNE_JOB -le 3 ] || { sleep 30 & wait; }
"""}


def ran(smtune):
    path = smtune.directory / "ran"
    return path.read_text().split() if path.exists() else []


def go(smtune):
    (smtune.directory / "go").touch()


def status(smtune):
    result = smtune("status", "run", "-o", "json")
    return json.loads(result.stdout) if result.returncode == 0 else {
        "state": None, "trials": {"running": 0, "succeeded": 0}}


def running(smtune, count):
    wait_until(lambda: status(smtune)["trials"]["running"] >= count and
               len(ran(smtune)) >= count, what=f"{count} running trials")


def fill_but_two(cluster):
    """Of the 64 CPUs, so that two trials run and others wait."""
    job = cluster.ok("sbatch", "--parsable", "-p", "high", "-n", 62, "-o",
                     "/dev/null", "--wrap", "exec sleep 1000").strip()
    wait_until(lambda: cluster.jobs("RUNNING"))
    return job


@both(*MODES)
def test_ctrl_c_takes_the_waiting_out_of_the_queue(smtune, experiment, cluster,
                                                   transport, mode):
    """What runs goes on to its end; the rest starts when the run goes on."""
    filler = fill_but_two(cluster)
    engine = smtune.start("run", experiment(
        trials=6, executor={"mode": mode, "pilot": {"cpus": 2}}, trial=SLOW))
    running(smtune, 2)
    engine.send_signal(signal.SIGINT)
    wait_until(lambda: len(cluster.jobs()) <= 3, what="no waiting jobs")
    assert len(ran(smtune)) == 2
    go(smtune)
    assert engine.wait(30) == 130
    cluster.ok("scancel", filler)
    cluster.wait_until_done(10)
    assert smtune.states("run").count("succeeded") == 2
    smtune.ok("resume", "run")
    assert smtune.states("run") == ["succeeded"] * 6
    assert sorted(ran(smtune)) == list("123456")


@both("array")
def test_ctrl_c_twice_ends_all(smtune, experiment, cluster, transport, mode):
    engine = smtune.start("run", experiment(
        trials=6, executor={"mode": mode}, trial=SLOW))
    running(smtune, 3)
    engine.send_signal(signal.SIGINT)
    while "waiting for running trials" not in engine.stderr.readline():
        assert engine.poll() is None
    engine.send_signal(signal.SIGINT)
    assert engine.wait(30) == 130
    cluster.wait_until_done(5)
    go(smtune)
    smtune.ok("resume", "run")
    assert smtune.states("run") == ["succeeded"] * 6


@both("job", "pilot")
def test_ctrl_c_without_a_controller(smtune, experiment, cluster, transport,
                                     mode):
    """Who waits for its end is not held up, and told what stays."""
    filler = fill_but_two(cluster)
    engine = smtune.start("run", experiment(
        trials=6, executor={"mode": mode, "pilot": {"cpus": 2},
                            "heartbeat": "1s"}, trial=SLOW))
    running(smtune, 2)
    cluster.lab("stop", "slurmctld")  # it knows them all when it is back
    engine.send_signal(signal.SIGINT)
    said = ""
    while "waiting for running trials" not in said or (
            mode != "pilot" and  # whose jobs wait for nobody by themselves
            "will start nothing" not in said):
        said += engine.stderr.readline()
        assert engine.poll() is None
    engine.send_signal(signal.SIGINT)
    assert engine.wait(25) == 130
    cluster.lab("start", "slurmctld")
    cluster.ok("scancel", filler)
    go(smtune)
    # A node that found no controller reports the end of a job again after 15
    # seconds, and then after 15 more.
    smtune.ok("resume", "run", timeout=120)
    assert smtune.states("run") == ["succeeded"] * 6
    assert sorted(set(ran(smtune))) == list("123456")
    assert len(ran(smtune)) == 8
    cluster.wait_until_done(60)


@pytest.mark.parametrize("trap", ["", "trap '' TERM\n"])
@both(*MODES)
def test_stop(smtune, experiment, cluster, transport, mode, trap):
    """Also one that does not listen, which is killed after its grace."""
    if transport == "rest" and trap:
        pytest.skip("as by commands")
    smtune.ok("run", "--detach", experiment(
        trials=20, executor={"mode": mode}, budget={
            "trials": 20, "parallel": 12}, trial={
            "shell": trap + SLOW["shell"], "resources": {"grace": "1s"}}))
    running(smtune, 12)
    smtune.ok("stop", "run")
    assert status(smtune)["state"] == "stopped"
    cluster.wait_until_done(5)
    assert not smtune.left_behind()
    go(smtune)
    smtune.ok("resume", "run")
    assert smtune.states("run") == ["succeeded"] * 20


@both("job")
def test_pause_and_go_on(smtune, experiment, transport, mode):
    smtune.ok("run", "--detach", experiment(
        trials=6, executor={"mode": mode}, trial=SLOW,
        budget={"trials": 6, "parallel": 3}))
    running(smtune, 3)
    smtune.ok("pause", "run")
    go(smtune)
    wait_until(lambda: status(smtune)["trials"]["succeeded"] == 3)
    assert len(ran(smtune)) == 3
    smtune.ok("resume", "run")
    smtune("wait", "run")
    assert smtune.states("run") == ["succeeded"] * 6
    smtune.ok("replay", "run")


@pytest.mark.parametrize("mode", MODES)
def test_retry_of_what_failed(smtune, experiment, mode):
    smtune.ok("run", experiment(trials=4, executor={"mode": mode}, trial={
        "shell": "[ -e go ] || [ $SMTUNE_JOB -ne 2 ] || exit 3\n"
                 "echo loss=1"}))
    assert smtune.states("run") == ["succeeded", "failed", "succeeded",
                                    "succeeded"]
    go(smtune)
    smtune.ok("retry", "run", 2)
    smtune.ok("resume", "run")
    assert smtune.states("run") == ["succeeded"] * 4


@pytest.mark.parametrize("schedule", [
    {"method": "median", "min": 1, "min_trials": 3},
    {"method": "asha", "min": 1, "max": 9, "eta": 3}],
    ids=lambda schedule: schedule["method"])
@pytest.mark.parametrize("mode", MODES)
def test_schedules_stop_trials_soon(smtune, experiment, mode, schedule):
    """Within five seconds of the line, and at once on pilots."""
    smtune.ok("run", experiment(
        trials=9, executor={"mode": mode}, trial=LINES, schedule=schedule,
        budget={"trials": 9, "parallel": 3}), timeout=120)
    stopped = [n for n, state in enumerate(smtune.states("run"), 1)
               if state == "stopped" and n > 3]
    assert len(stopped) >= 4
    for trial in stopped:
        line, term = (int((smtune.directory / f"{trial}.{name}").read_text())
                      for name in ("line", "term"))
        assert (term - line) / 1e9 < (1 if mode == "pilot" else 5)


@pytest.mark.parametrize("mode", MODES)
def test_killed_engine_leaves_the_queue_alone(smtune, experiment, cluster,
                                              mode):
    engine = smtune.start("run", experiment(
        trials=4, executor={"mode": mode}, trial=SLOW))
    running(smtune, 4)
    before = cluster.jobs()
    engine.kill()
    engine.wait()
    assert cluster.jobs() == before
    log = smtune.directory / "log"
    engine = smtune.start("resume", "run", env={"SMTUNE_LOG": "slurm=debug:log"})
    running(smtune, 4)
    wait_until(lambda: log.exists() and
               log.read_text().count("squeue") >= 3, what="looks at the queue")
    go(smtune)
    assert engine.wait(30) == 0
    assert smtune.states("run") == ["succeeded"] * 4
    assert sorted(ran(smtune)) == list("1234")
