# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes to keep away from, and where attempts are, on a real cluster."""

import json
import signal

import pytest

from conftest import NODES
from programs import wait_until

KEYS = {"mode": "job", "heartbeat": "500ms", "silence": "5s"}


def attempts(smtune, trial=1):
    return smtune.json("show", "run", trial)["attempts"]


def running(smtune):
    """What status says of the attempts that run, once there is a run."""
    result = smtune("status", "run", "-o", "json")
    rows = json.loads(result.stdout)["running_trials"] if result.stdout else []
    return [row for row in rows if row["state"] == "running"]


def used(smtune, trials):
    return {attempt["node"] for trial in range(1, trials + 1)
            for attempt in attempts(smtune, trial)}


@pytest.mark.parametrize("mode", ["job", "array", "pilot"])
def test_attempts_have_a_node_and_a_job(smtune, experiment, transport, mode):
    smtune.ok("run", experiment(trials=2, executor={"mode": mode}),
              timeout=120)
    for trial in 1, 2:
        attempt, = attempts(smtune, trial)
        assert attempt["node"] in NODES
        assert attempt["handle"].replace("_", "").isdigit()
    smtune.ok("fsck")


def test_nothing_starts_where_a_person_says_so(smtune, experiment, transport):
    for name in NODES[:3]:
        smtune.ok("nodes", "--avoid", name)
    smtune.ok("run", experiment(trials=3, executor=KEYS), timeout=120)
    assert used(smtune, 3) == {"n4"}


def test_a_live_engine_heeds_what_is_said(smtune, experiment, cluster):
    """What is all avoided waits; cleared, it starts."""
    for name in NODES[:3]:
        smtune.ok("nodes", "--avoid", name)
    engine = smtune.start("run", experiment(
        executor=KEYS, budget={"trials": 99, "parallel": 1},
        trial={"command": ["sh", "-c", "echo loss=1; sleep 2"]}))
    wait_until(lambda: running(smtune), 60)
    smtune.ok("nodes", "--avoid", "n4")
    smtune.ok("nodes", "--clear", "n2")
    wait_until(lambda: any(row["node"] == "n2" for row in running(smtune)), 60)
    engine.send_signal(signal.SIGTERM)
    engine.wait(timeout=60)


def test_a_trial_keeps_away_from_where_it_failed(smtune, experiment, cluster,
                                                 transport):
    smtune.ok("run", experiment(trials=1, executor=KEYS, trial={
        "command": ["sh", "-c", 'test "$SMTUNE_ATTEMPT_NUMBER" -gt 3 || exit 9;'
                                " echo loss=1"],
        "retry": [{"match": "exit:9", "max": 3, "exclude_node": True}]}),
        timeout=120)
    found = [attempt["node"] for attempt in attempts(smtune)]
    assert sorted(found) == sorted(NODES)
    assert smtune.json("nodes") == []


def test_all_keep_away_from_a_node_that_dies(smtune, experiment, cluster,
                                             transport):
    engine = smtune.start("run", experiment(
        trials=1, executor=KEYS, trial={"command": ["sh", "-c", """
            [ "$SMTUNE_ATTEMPT_NUMBER" = 1 ] && sleep 600
            echo loss=1"""]}))
    wait_until(lambda: running(smtune), 60)
    node = attempts(smtune)[0]["node"]
    cluster.lab("kill", node)
    assert engine.wait(timeout=120) == 0
    first, second = attempts(smtune)
    assert (first["node"], first["cause"]) == (node, "node_fail")
    assert second["node"] != node and second["cause"] == "ok"
    row, = smtune.json("nodes")
    assert (row["name"], row["trouble"], row["avoided"], row["run"],
            row["trial"]) == (node, "died", True, "run", 1)
    smtune.ok("fsck")
    smtune.ok("replay", "run")


def test_a_partition_that_is_none_fails_the_run(smtune, experiment, cluster,
                                                transport):
    """After three trials: nothing can be started at all."""
    result = smtune("run", experiment(
        trials=9, executor={**KEYS, "partition": "bogus"}), timeout=120)
    assert result.returncode == 1
    assert "no trial can be started" in result.stderr
    assert "invalid partition" in result.stderr.lower() or \
        "bogus" in result.stderr
    assert smtune.json("status", "run")["state"] == "failed"
