# SPDX-License-Identifier: GPL-3.0-or-later
"""Drills: engines, controllers and nodes are killed, frozen and drained, and
every trial comes to its end, once. tests/fault/checker.py is the judge."""

import json
import os
import pathlib
import random
import signal
import time

import pytest

import checker
from conftest import MODES, both
from drill import undisturbed
from programs import wait_until

SIZE = {"trials": 4, "parallel": 4}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What trials are given; the executor does not matter for that."""
    def run(trials):
        return undisturbed(tmp_path_factory.mktemp("undisturbed") / "it",
                           trials=trials)
    made = {}
    return lambda trials=4, **_: made.setdefault(trials, run(trials))


def nodes_of(it):
    """{node: directory of the attempt} of what runs by its claim."""
    found = {}
    for path in pathlib.Path(it.store).glob("runs/*/attempts/*/claim"):
        text = path.read_text()  # empty while it is made
        if text and not (path.parent / "exit").exists():
            found[json.loads(text)["node"]] = path.parent
    return found


# -- Engines ------------------------------------------------------------------

@both("job")
@pytest.mark.parametrize("part", range(3))
def test_engine_killed_while_it_submits(drill, expected, transport, mode,
                                        part):
    """At changes to the world from the first to the last of a run."""
    chance = random.Random(f"{mode}{part}")
    for _ in range(4):
        point = chance.randrange(60, 330)
        it = drill(mode, **SIZE)
        it.disturb(f"smtune:kill:change@{point}")
        print(point, it.struck())
        it.finish(expected(**SIZE))


@pytest.mark.parametrize("mode", MODES)
def test_engine_killed_again_and_again(drill, expected, mode):
    chance = random.Random(mode)
    it = drill(mode, **SIZE, pause=1)
    for _ in range(6):
        it.disturb(f"smtune:kill:change@{chance.randrange(30, 260)}")
    it.finish(expected(**SIZE))


@both("job", "pilot")
def test_resume_takes_up_what_waits_runs_and_has_ended(drill, expected,
                                                       transport, mode,
                                                       cluster):
    """62 of 64 CPUs are taken: two run, two wait; then all of them end while
    nobody looks."""
    filler = cluster.ok("sbatch", "--parsable", "-p", "high", "-n", 62, "-o",
                        "/dev/null", "--wrap", "exec sleep 1000").strip()
    wait_until(lambda: cluster.jobs("RUNNING"))
    it = drill(mode, **SIZE, pause=1,
               executor={"pilot": {"cpus": 1}} if mode == "pilot" else {})
    engine = it.go_on()
    it.wait_for_trials(2)
    engine.kill()
    engine.wait()
    cluster.ok("scancel", filler)
    if mode != "pilot":  # whose agents are told what to run
        it.wait_for_trials(4)
        cluster.wait_until_done()
    it.finish(expected(**SIZE))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["smtune-shim"])
@pytest.mark.parametrize("part", range(2))
def test_shims_killed(drill, expected, mode, name, part):
    """The process on the node that starts and watches a trial."""
    chance = random.Random(f"{mode}{part}")
    for _ in range(3):
        it = drill(mode, **SIZE, executor={"silence": "3s",
                                           "heartbeat": "500ms"})
        it.disturb(f"{name}:kill:change@{chance.randrange(1, 25)}",
                   patience=60)
        it.finish(expected(**SIZE), is_strict=False, patience=90)


def test_a_doubled_submission(drill, expected, cluster, transport):
    """The same script once more, by hand: the claim is taken."""
    it = drill("job", **SIZE, pause=2)
    engine = it.go_on()
    it.wait_for_trials(4)
    scripts = list(it.store.rglob("script"))
    assert scripts
    for script in scripts:
        cluster.ok("sbatch", "-o", "/dev/null", "-J",
                   script.parent.name, script)
    assert engine.wait(60) == 0
    cluster.wait_until_done()
    it.finish(expected(**SIZE))


# -- Controllers --------------------------------------------------------------

@both(*MODES)
@pytest.mark.parametrize("moment", ["submitting", "running"])
def test_controller_killed(drill, expected, transport, mode, cluster, moment):
    """In the seconds after it took jobs, so that it forgets them and gives
    their numbers to others; or when it has written them down."""
    it = drill(mode, **SIZE, pause=3)
    engine = it.go_on()
    if moment == "submitting":
        wait_until(cluster.jobs)
    else:
        it.wait_for_trials(4)
        since = time.time()
        state = cluster.directory / "state/job_state"
        wait_until(lambda: state.exists() and state.stat().st_mtime > since,
                   what="a controller that writes, as it does every 5 s")
    cluster.lab("kill", "slurmctld")
    cluster.lab("start", "slurmctld")
    others = [cluster.ok("sbatch", "--parsable", "-o", "/dev/null", "--wrap",
                         "sleep 5; exit 7").strip() for _ in range(6)]
    engine.wait(100)
    it.finish(expected(**SIZE), is_strict=False, patience=100)

    def others_are_over():
        """The controller hears late of what ended while it was away; and it
        holds a job of which a node has one with the same number already."""
        left = [job for job in cluster.jobs() if job["id"] in others]
        for job in left:
            if "held" in job["reason"].lower():
                cluster.ok("scontrol", "release", job["id"])
        return not left

    cluster.wait_until_done(60)
    wait_until(others_are_over, 60, "an end of what is not ours")
    ended = (cluster.directory / "log/ended").read_text()
    controller = (cluster.directory / "log/slurmctld").read_text()
    for job in others:  # nobody ended what is not ours
        # Slurm does, where a node has just ended another job of that number.
        if f"Killing non-startable batch JobId={job}:" in controller:
            continue
        lines = [line for line in ended.splitlines() if f"JobId={job} " in line]
        assert any("ExitCode=7:0" in line for line in lines), (job, lines)


@both(*MODES)
def test_controller_is_away_for_a_while(drill, expected, transport, mode,
                                        cluster):
    it = drill(mode, trials=8, parallel=4, pause=1)
    engine = it.go_on()
    it.wait_for_trials(2)
    cluster.lab("kill", "slurmctld")
    time.sleep(8)  # longer than any client waits
    cluster.lab("start", "slurmctld")
    engine.wait(100)
    it.finish(expected(trials=8), is_strict=False, patience=100)
    cluster.wait_until_done(60)


@pytest.mark.cluster("patience=60")  # or it finds its nodes down as it wakes
@both(*MODES)
def test_controller_frozen(drill, expected, transport, mode, cluster):
    """What it was told meanwhile it does later, though nobody heard."""
    it = drill(mode, **SIZE, pause=1)
    cluster.lab("freeze", "slurmctld")
    engine = it.go_on()
    time.sleep(8)  # longer than any client waits
    assert it.ran() == 0
    cluster.lab("thaw", "slurmctld")
    engine.wait(100)
    it.finish(expected(**SIZE), patience=100)


# -- Nodes --------------------------------------------------------------------

@both("job", "pilot")
def test_node_failed_and_the_old_process_lives(drill, expected, cluster,
                                               transport, mode):
    """The daemon of the node is gone, and Slurm gave its jobs up; the trial
    runs on there, until it is told. Another node has it again in seconds."""
    it = drill(mode, trials=1, parallel=1, pause=6, executor={
        "silence": "3s", "heartbeat": "500ms"})
    engine = it.go_on()
    it.wait_for_trials(1)
    (node, attempt), = wait_until(lambda: nodes_of(it)).items()
    cluster.lab("kill", node)
    cluster.set_node(node, "down")
    since = time.monotonic()
    wait_until(lambda: (attempt / "revoked").exists(), 15)
    wait_until(lambda: len(starts(it)) == 2, 30)
    assert time.monotonic() - since < 15
    assert engine.wait(60) == 0, it.last_said()
    it.finish(expected(trials=1), is_strict=False)
    assert len(ends(it)) == 1
    assert it.start("nodes").wait(10) == 0
    assert node in it.last_said()


def test_silent_node(drill, expected, cluster, transport):
    """All that runs there stands still: no pulse. Slurm has seen nothing yet.
    What wakes up later ends by itself, unless its command's time was over. The
    engine's own squeue does not run there: frozen, it would cost a minute."""
    pause = 15
    it = drill("job", trials=1, parallel=1, pause=pause, executor={
        "silence": "3s", "heartbeat": "500ms"})
    engine = it.go_on()
    it.wait_for_trials(1)
    (node, attempt), = wait_until(lambda: nodes_of(it)).items()
    frozen = [pid for pid in it.processes()
              if engine.pid not in (pid, parent_of(pid))]
    since = time.monotonic()
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: len(starts(it)) == 2, 40)
    finally:
        for pid in frozen:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
    frozen_s = time.monotonic() - since
    assert engine.wait(60) == 0, it.last_said()
    it.finish(expected(trials=1), is_strict=False)
    assert len(ends(it)) == 1 or frozen_s > pause - 3


@both("pilot")
def test_node_drained(drill, expected, cluster, transport, mode):
    """What runs there ends there; what comes goes elsewhere."""
    it = drill(mode, **SIZE, pause=1)
    engine = it.go_on()
    it.wait_for_trials(1)
    node = next(iter(wait_until(lambda: nodes_of(it))))
    cluster.set_node(node, "drain")
    assert engine.wait(60) == 0, it.last_said()
    it.finish(expected(**SIZE), is_strict=mode != "pilot")


@both("job", "pilot")
def test_job_requeued_by_hand(drill, expected, cluster, transport, mode):
    """Slurm starts it a second time; that copy finds the claim."""
    it = drill(mode, trials=1, parallel=1, pause=2)
    engine = it.go_on()
    it.wait_for_trials(1)
    job = cluster.jobs("RUNNING")[0]["id"]
    cluster.ok("scontrol", "update", f"jobid={job}", "requeue=1")
    cluster.ok("scontrol", "requeue", job)
    engine.wait(100)
    it.finish(expected(trials=1), is_strict=False, patience=60)
    cluster.wait_until_done(30)


@both("array")
def test_job_cancelled_by_hand(drill, expected, cluster, transport, mode):
    """By an administrator, who is not smtune: the trial is over, and so is the
    run."""
    it = drill(mode, trials=1, parallel=1, pause=2)
    engine = it.go_on()
    it.wait_for_trials(1)
    cluster.ok("scancel", cluster.jobs("RUNNING")[0]["id"])
    assert engine.wait(60) == 6
    assert it.check_record() is None
    it.check_processes()


def parent_of(pid):
    """The pid that started it, or 0 where it is gone."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return 0
    return int(stat.rpartition(")")[2].split()[1])


def starts(it):
    return [line for lines in checker.read_evidence(it.evidence).values()
            for line in lines if line.word == "start"]


def ends(it):
    return [line for lines in checker.read_evidence(it.evidence).values()
            for line in lines if line.word == "end"]
