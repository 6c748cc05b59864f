# SPDX-License-Identifier: GPL-3.0-or-later
"""Retry rules, with real processes: what they match, what the next attempt
gets, and that a run that was cut off goes on where they were."""

import os
import signal

import pytest

from programs import wait_until


def attempts(smtune, trial=1):
    return smtune.json("show", "exp", trial)["attempts"]


def causes(smtune, trial=1):
    return [attempt["cause"] for attempt in attempts(smtune, trial)]


@pytest.mark.sanitized
@pytest.mark.parametrize("match", ["signal:SEGV", "signal:sigsegv",
                                   "signal:11", "signal"])
def test_a_signal(smtune, experiment, match):
    path = experiment(
        "test $SMTUNE_ATTEMPT_NUMBER != 1 || kill -SEGV $$; echo loss=1",
        trials=1, retry=[{"match": ["signal:BUS"]}, {"match": match}])
    smtune.ok("run", path)
    assert causes(smtune) == ["signal", "ok"]
    assert attempts(smtune)[0]["signal"] == signal.SIGSEGV


def test_a_signal_that_no_rule_names(smtune, experiment):
    path = experiment("kill -BUS $$", trials=1, retry=[
        {"match": ["signal:SEGV", "exit:1-255", "log:."]}])
    assert smtune("run", path).returncode == 6
    assert causes(smtune) == ["signal"]


def test_a_range_of_exit_statuses(smtune, experiment):
    path = experiment(
        "case $SMTUNE_ATTEMPT_NUMBER in 1) exit 5;; 2) exit 10;; 3) exit 11;; "
        "esac", trials=1, retry=[{"match": "exit:5-10", "max": 9}])
    assert smtune("run", path).returncode == 6
    assert [a["exit_code"] for a in attempts(smtune)] == [5, 10, 11]


def test_what_the_log_says(smtune, experiment):
    """Of the log's end, whatever bytes are in it; nothing said: no retry."""
    path = experiment("""\
        head -c 400000 /dev/zero
        if [ $SMTUNE_JOB = 2 ]; then echo NCCL timed out; exit 1; fi
        if [ $SMTUNE_JOB = 3 ]; then echo 'NCCL: late timeout'; sleep 0; kill $$; fi
        if [ $SMTUNE_ATTEMPT_NUMBER -le 2 ]; then
          printf '\\nwatchdog: NCCL: a timeout\\r\\n\\377bye'; exit 1
        fi
        echo; echo loss=1
        """, trials=3, retry=[{"match": "log:NCCL.*timeout$", "max": 2}])
    smtune.ok("run", path)
    assert causes(smtune, 1) == ["exit", "exit", "ok"]
    assert causes(smtune, 2) == ["exit"]
    assert causes(smtune, 3) == ["signal"] * 3


def test_the_first_rule_decides_and_each_counts_for_itself(smtune, experiment):
    path = experiment("""\
        case $SMTUNE_ATTEMPT_NUMBER in
        1) echo slow; exit 3;; 2) exit 3;; 3) echo slow; exit 3;;
        *) echo slow; exit 3;;
        esac
        """, trials=1,
        retry="[{match: 'log:slow', max: 2}, {match: [exit], max: 5}]")
    assert smtune("run", path).returncode == 6
    assert len(attempts(smtune)) == 4
    rules = smtune.query("SELECT rule FROM attempt ORDER BY number")
    assert rules == [(0,), (1,), (0,), (0,)]


def test_out_of_memory_and_again_with_more(smtune, experiment):
    path = experiment("""\
        echo $SMTUNE_MEMORY_BYTES >>memory.txt
        exec python3 -c "
        import time
        data = b'x' * (150 << 20)
        time.sleep(2)
        print('loss=1')"
        """, trials=1, resources="{memory: 64M}",
        retry="[{match: oom, max: 3, scale: {memory: 2}, cap: {memory: 220M}}]")
    smtune.ok("run", path)
    assert causes(smtune) == ["oom", "oom", "ok"]
    had = (smtune.directory / "memory.txt").read_text().split()
    assert had == [str(64 << 20), str(128 << 20), str(220 << 20)]
    first, second, third = (a["text"] or "" for a in attempts(smtune))
    assert first.endswith("next: memory 128.0 MiB")
    assert second.endswith("next: memory 220.0 MiB (the cap)")
    assert "next" not in third


def test_more_of_each_but_not_than_there_is(smtune, experiment):
    path = experiment("""\
        echo $SMTUNE_CPUS $SMTUNE_TIME_MS ${SMTUNE_GPUS-none} >>had.txt
        test $SMTUNE_ATTEMPT_NUMBER = 3 || exit 1
        echo loss=1
        """, trials=1, resources="{cpus: 1, time: 100s}",
        retry="[{match: exit, max: 3, scale: {cpus: 3, time: 1.5}}]",
        executor="{name: local, cpus: 2}")
    smtune.ok("run", path)
    had = (smtune.directory / "had.txt").read_text().splitlines()
    assert had == ["1 100000 none", "2 150000 none", "2 225000 none"]
    assert attempts(smtune)[0]["text"] == \
        "next: 2 CPUs (all of the machine), time 2m 30s"


def retrying(experiment, delay="100ms"):
    return experiment("""\
        echo $SMTUNE_ATTEMPT_NUMBER $SMTUNE_TIME_MS >>had.txt
        while [ -e hold ]; do sleep 0.1; done
        exit 4
        """, trials=1, resources="{time: 100s}", retry=[
        {"match": "log:nothing", "max": 9},
        {"match": "exit:4", "max": 3, "delay": delay, "scale": {"time": 2},
         "cap": {"time": "700s"}}])


def had(smtune):
    path = smtune.directory / "had.txt"
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("cut", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_cut_off_keeps_counters_and_resources(smtune, experiment, cut):
    """Cut off in each attempt: what was ended by us counts as no retry."""
    path = retrying(experiment)
    hold = smtune.directory / "hold"
    hold.touch()
    engine = smtune.start("run", path)
    wait_until(lambda: had(smtune) == ["1 100000"])
    hold.unlink()
    wait_until(lambda: len(had(smtune)) == 2)
    hold.touch()
    wait_until(lambda: len(had(smtune)) == 3)
    os.kill(engine.pid, cut)
    engine.wait(30)
    seen = len(had(smtune))
    resumed = smtune.start("resume", "exp")
    if cut == signal.SIGTERM:
        wait_until(lambda: len(had(smtune)) == seen + 1)
    hold.unlink()
    assert resumed.wait(60) == 6
    times = [line.split()[1] for line in had(smtune)]
    ends = [a["cause"] for a in attempts(smtune)]
    kept = [t for t, end in zip(times, ends) if end != "cancelled"]
    assert kept == ["100000", "200000", "400000", "700000"]
    assert ends.count("cancelled") == (cut == signal.SIGTERM)


def test_a_due_time_survives_a_restart(smtune, experiment):
    path = retrying(experiment, delay="1h")
    engine = smtune.start("run", path)
    wait_until(lambda: had(smtune) and smtune.states() == ["waiting"])
    due = smtune.query("SELECT due_ms - a.ended_ms FROM job, attempt AS a")
    assert 3599_000 <= due[0][0] <= 3610_000
    due = smtune.query("SELECT due_ms FROM job")
    engine.kill()
    engine.wait()
    resumed = smtune.start("resume", "exp")
    wait_until(lambda: smtune.json("status", "exp")["state"] == "running")
    os.kill(resumed.pid, signal.SIGTERM)
    assert resumed.wait(30) in (143, -signal.SIGTERM)  # before it handles it
    assert smtune.states() == ["waiting"]
    assert smtune.query("SELECT due_ms FROM job") == due
    assert had(smtune) == ["1 100000"]
