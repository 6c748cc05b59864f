# SPDX-License-Identifier: GPL-3.0-or-later
"""Attempts that wait in a queue, run on nodes and are displaced: what the
record and the commands make of them, with an executor that only says so."""

import datetime
import json
import os
import signal
import time

import pytest

from programs import wait_until


@pytest.fixture
def fake(experiment, write):
    """fake([outcome, ...]): the path of an experiment that goes so."""
    def make(outcomes, **keys):
        write("script.jsonl", "".join(
            json.dumps({"log": "loss=1\n"} | outcome) + "\n"
            for outcome in outcomes))
        return experiment(executor="{name: fake, script: script.jsonl}",
                          **{"trials": 1, "parallel": 1} | keys)
    return make


def attempts(smtune, trial=1):
    return smtune.json("show", "exp", trial)["attempts"]


def counts(smtune):
    """How many trials run, and how many wait on a cluster."""
    result = smtune("status", "exp", "-o", "json")
    trials = json.loads(result.stdout)["trials"] if result.stdout else {}
    return trials.get("running", 0), trials.get("queued", 0)


@pytest.mark.quick
@pytest.mark.sanitized
def test_what_waits_is_counted_apart(smtune, fake):
    path = fake([{"queued_ms": 0, "duration_ms": 60000},
                 {"queued_ms": 60000}, {"queued_ms": 60000}],
                trials=3, parallel=3)
    engine = smtune.start("run", path)
    wait_until(lambda: counts(smtune) == (1, 2))
    status = smtune.json("status", "exp")
    assert status["trials"]["pending"] == 0
    rows = {row["handle"]: row for row in status["running_trials"]}
    assert sorted(rows) == ["FAKE-1", "FAKE-2", "FAKE-3"]
    assert rows["FAKE-2"]["state"] == "starting"
    assert rows["FAKE-2"]["queued_ms"] >= 0
    assert rows["FAKE-2"]["node"] is None
    assert "it is queued as job FAKE-2, for " in \
        smtune.json("why", "exp", 2)["waits"]
    assert "trial 2 has not started: it is queued as job FAKE-2" in \
        smtune("logs", "exp", 2).stderr
    engine.send_signal(signal.SIGTERM)
    engine.wait(timeout=30)
    assert "queued" not in smtune.json("status", "exp")["trials"]


def test_the_first_ctrl_c_takes_back_what_waits(smtune, fake):
    path = fake([{"queued_ms": 0, "duration_ms": 1500},
                 {"queued_ms": 60000}, {"queued_ms": 60000}],
                trials=3, parallel=3)
    engine = smtune.start("run", path)
    wait_until(lambda: counts(smtune) == (1, 2))
    engine.send_signal(signal.SIGINT)
    engine.wait(timeout=30)
    assert [a["cause"] for a in attempts(smtune, 1)] == ["ok"]
    for trial in 2, 3:
        assert [a["cause"] for a in attempts(smtune, trial)] == ["cancelled"]
    assert smtune.json("status", "exp")["state"] == "stopped"
    fake([{}])
    smtune.ok("resume", "exp")
    assert [a["cause"] for a in attempts(smtune, 2)] == ["cancelled", "ok"]
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_a_pause_takes_back_what_waits(smtune, fake):
    path = fake([{"queued_ms": 60000}])
    engine = smtune.start("run", path)
    wait_until(lambda: counts(smtune) == (0, 1))
    smtune.ok("pause", "exp")
    wait_until(lambda: counts(smtune) == (0, 0))
    assert smtune.json("status", "exp")["state"] == "paused"
    smtune.ok("resume", "exp")
    engine.wait(timeout=30)
    assert [a["cause"] for a in attempts(smtune)] == ["cancelled", "ok"]


def test_an_engine_that_comes_back_starts_what_waited(smtune, fake):
    path = fake([{"duration_ms": 60000}, {"queued_ms": 60000}], trials=2,
                parallel=2)
    engine = smtune.start("run", path)
    wait_until(lambda: counts(smtune) == (1, 1))
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    fake([{}, {}])
    smtune.ok("resume", "exp")
    assert smtune.json("status", "exp")["trials"]["succeeded"] == 2


def test_nodes_and_jobs_are_shown(smtune, fake):
    path = fake([{"node": "n1", "queued_ms": 5, "note": "by job"},
                 {"node": "n2"}], trials=2)
    smtune.ok("run", path)
    first, = attempts(smtune, 1)
    assert (first["node"], first["handle"]) == ("n1", "FAKE-1")
    assert first["queued_ms"] >= 0
    second, = attempts(smtune, 2)
    assert (second["node"], second["handle"]) == ("n2", None)
    assert smtune.json("status", "exp")["note"] == "by job"
    assert smtune.json("why", "exp", 2)["executor"] == "by job"
    smtune.ok("fsck")


def test_on_one_machine_nobody_speaks_of_nodes(smtune, fake):
    smtune.ok("run", fake([{}]))
    first, = attempts(smtune)
    assert not {"node", "handle", "queued_ms", "displaced"} & first.keys()
    assert "note" not in smtune.json("status", "exp")
    assert "queued" not in smtune.json("status", "exp")["trials"]


# ---- displaced ----

GONE = {"cause": "preempted", "displaced": True}


def test_what_was_displaced_spends_no_retry(smtune, fake):
    path = fake([GONE] * 5 + [{"cause": "preempted"}] * 3 + [GONE, {}])
    smtune.ok("run", path)
    found = attempts(smtune)
    assert [a["cause"] for a in found] == ["preempted"] * 9 + ["ok"]
    assert [a["displaced"] for a in found] == \
        [True] * 5 + [None] * 3 + [True, None]
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_that_is_so_twenty_times(smtune, fake):
    """From then on it is what its cause says: the default rule's three."""
    path = fake([GONE] * 30)
    assert smtune("run", path).returncode == 6
    assert len(attempts(smtune)) == 20 + 3 + 1
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_what_was_displaced_says_nothing_of_the_command(smtune, fake):
    """A queue that forgets its jobs is no command that cannot be started."""
    forgotten = {"cause": "launch_error", "displaced": True}
    smtune.ok("run", fake([forgotten] * 5 + [{}] * 5, trials=5, parallel=5))
    # the first may be back before the last has been
    assert sum(len(attempts(smtune, n)) for n in range(1, 6)) == 10
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_an_engine_that_comes_back_counts_them(smtune, fake):
    path = fake([GONE] * 15 + [{"duration_ms": 60000}])
    engine = smtune.start("run", path)
    wait_until(lambda: counts(smtune)[0] == 1 and len(attempts(smtune)) == 16)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    fake([GONE] * 30)
    assert smtune("resume", "exp").returncode == 6
    found = attempts(smtune)
    # the 16th is lost with its engine: the first of the default rule's three
    assert [a["cause"] for a in found[14:17]] == \
        ["preempted", "lost", "preempted"]
    assert len(found) == 15 + 1 + 5 + 2 + 1
    smtune.ok("replay", "exp")


# ---- nodes ----

def nodes(smtune, *words):
    return {row["name"]: row for row in smtune.json("nodes", *words)}


def hours_left(row):
    until = datetime.datetime.fromisoformat(row["until"])
    return (until.timestamp() - time.time()) / 3600


@pytest.mark.parametrize("trouble, hours",
                         [("died", 1), ("unhealthy", 24), ("refused", 1)])
def test_a_node_that_is_trouble_is_avoided(smtune, fake, trouble, hours):
    path = fake([{"node": "n1"},
                 {"node": "n7", "cause": "node_fail", "trouble": trouble,
                  "text": "no GPU"}, {"node": "n2"}], trials=2)
    smtune.ok("run", path)
    node, = nodes(smtune).values()
    assert (node["name"], node["avoided"], node["trouble"], node["count"],
            node["run"], node["trial"], node["by"], node["text"]) == \
        ("n7", True, trouble, 1, "exp", 2, "engine", "no GPU")
    assert hours - 0.1 < hours_left(node) <= hours
    smtune.ok("fsck")


def test_a_person_says_which_nodes_to_avoid(smtune):
    row = nodes(smtune, "--avoid", "n1", "--reason", "its fan hums")["n1"]
    assert row["avoided"] and row["until"] is None and row["by"] == "user"
    assert row["text"] == "its fan hums" and row["trouble"] is None
    row = nodes(smtune, "--avoid", "n1", "--for", "2h")["n1"]
    assert 1.9 < hours_left(row) <= 2 and row["text"] == "its fan hums"
    assert not nodes(smtune, "--clear", "n1")["n1"]["avoided"]
    assert "its fan hums" in smtune.ok("nodes")
    assert smtune.ok("nodes", "-o", "csv").splitlines()[0].startswith("name,")


@pytest.mark.parametrize("words, says", [
    (["--clear", "n9"], "unknown node 'n9' (list: smtune nodes)"),
    (["--avoid", "n 1"], "of a node: 'n 1'"),
    (["--avoid", ""], "of a node: ''"),
    (["--avoid", "n" * 65], "up to 64 letters"),
    (["--avoid", "n1", "--for", "soon"], "got 'soon'"),
    (["--clear", "nn1"], "did you mean 'n1'?"),
    (["--avoid", "n[1-"], "lacks a ']'"),
    (["--avoid", "n1", "--clear", "n2"], "exclude each other"),
    (["--reason", "so"], "--reason requires --avoid"),
    (["--for", "1h"], "--for requires --avoid"),
])
def test_what_nodes_refuses(smtune, words, says):
    smtune.ok("nodes", "--avoid", "n1")
    result = smtune("nodes", *words)
    assert result.returncode in (2, 4) and says in result.stderr


# A trial's next attempt on the same node runs on "spare" if that is avoided.

def test_a_live_engine_heeds_what_a_person_says(smtune, fake):
    path = fake([{"node": "n1", "duration_ms": 300}] * 100, trials=100)
    engine = smtune.start("run", path)
    wait_until(lambda: counts(smtune)[0] == 1)
    smtune.ok("nodes", "--avoid", "n1")
    wait_until(lambda: any(
        row.get("node") == "spare"
        for row in smtune.json("status", "exp")["running_trials"]))
    smtune.ok("nodes", "--clear", "n1")
    wait_until(lambda: any(
        row.get("node") == "n1"
        for row in smtune.json("status", "exp")["running_trials"]))
    engine.send_signal(signal.SIGTERM)
    engine.wait(timeout=30)


def test_from_where_a_rule_says_so_a_trial_keeps_away(smtune, fake):
    """That trial alone, and by that rule alone; a new engine knows it, too."""
    path = fake([{"node": "n1", "cause": "exit", "exit_code": 9},
                 {"node": "n1", "cause": "exit", "exit_code": 8},
                 {"node": "n2", "cause": "exit", "exit_code": 8},
                 {"node": "n2", "cause": "exit", "exit_code": 9},
                 {"node": "n2", "duration_ms": 60000}],
                retry="[{match: 'exit:9', max: 9, exclude_node: true},"
                      " {match: 'exit:8', max: 9}]")
    engine = smtune.start("run", path)
    wait_until(lambda: counts(smtune)[0] == 1 and len(attempts(smtune)) == 5)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    fake([{"node": "n1"}, {"node": "n1"}])
    smtune.ok("resume", "exp")
    assert [a["node"] for a in attempts(smtune)] == \
        ["n1", "spare", "n2", "n2", "spare", "spare"]
    assert nodes(smtune) == {}


# ---- what is started again without a retry has a bound, and is printed ----

SCANCELLED = {"cause": "cancelled", "outside": True, "signal": 15,
              "text": "its job was cancelled in slurm"}


@pytest.mark.sanitized
def test_what_others_cancel_is_over(smtune, fake):
    path = fake([SCANCELLED, {}], trials=2,
                retry="[{match: [exit, signal, log:loss], max: 9}]")
    smtune.ok("run", path)
    rows = smtune.json("trials", "exp")
    assert [(row["state"], row["cause"], row["attempts"]) for row in rows] == \
        [("cancelled", "cancelled", 1), ("succeeded", "ok", 1)]
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_unless_a_rule_names_it(smtune, fake):
    path = fake([SCANCELLED] * 5, retry="[{match: cancelled, max: 2}]")
    assert smtune("run", path).returncode == 6
    assert len(attempts(smtune)) == 3
    row, = smtune.json("trials", "exp")
    assert (row["state"], row["cause"]) == ("cancelled", "cancelled")
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


@pytest.mark.parametrize("cause", [
    "exit", "signal", "timeout", "oom", "node_fail", "preempted",
    "launch_error", "lost", "cancelled", "no_metric", "no_output",
    "setup_failed"])
def test_a_rule_can_name_every_cause(smtune, experiment, cause):
    smtune.ok("validate", experiment(retry=f"[{{match: {cause}}}]"))


def test_a_start_without_a_retry_is_printed_with_its_bound(smtune, fake):
    short = {"cause": "launch_error", "shortage": True,
             "text": "cannot create a process"}
    printed = smtune("run", fake([GONE, short, GONE, {}])).stderr
    assert "trial 1 ended (preempted), starts again " \
        "(infrastructure failure 1 of 20)" in printed
    assert "trial 1 ended (launch_error), starts again " \
        "(shortage 1 of 100)" in printed
    assert "starts again (infrastructure failure 2 of 20)" in printed
    smtune.ok("fsck")
    smtune.ok("replay", "exp")
