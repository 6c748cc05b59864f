# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of links on a cluster, with an engine and without."""

import json
import os
import signal
import sqlite3

import pytest

from programs import wait_until

# Each link adds to the file which attempt it is, and how far it has come.
COUNT = r"""
    trap 'exit 75' USR2
    place=$SMTUNE_CHECKPOINT_DIR/place
    count=$(tail -n1 "$place" 2>/dev/null | cut -d' ' -f2)
    count=${count:-0}
    while [ "$count" -lt "$1" ]; do
        count=$((count + 1))
        echo "$SMTUNE_ATTEMPT_NUMBER $count" >>"$place"
        echo "count=$count"
        sleep 0.5
    done
"""

EXECUTOR = {"name": "slurm", "poll": "1s", "heartbeat": "500ms",
            "silence": "5s", "mode": "job"}


@pytest.fixture
def chain(write, cluster):
    """chain(count, ahead): the path of a workflow."""
    def make(count, ahead, time="5s", **link):
        write("count.sh", COUNT)
        return write("w.yaml", json.dumps({
            "version": 1, "name": "w",
            "executor": {**EXECUTOR, **cluster.options},
            "steps": {"long": {
                "command": f"sh count.sh {count}",
                "resources": {"time": time},
                "continue": {"max": 20, "ahead": ahead, **link},
                "metrics": ["count"]}}}))
    return make


def has_started(smtune):
    return any(smtune.store.glob("runs/w/attempts/1-1/claim"))


def rows(smtune, query):
    if not has_started(smtune):
        return []
    with sqlite3.connect(f"file:{smtune.store}/smtune.db?mode=ro",
                         uri=True) as db:
        return db.execute(query).fetchall()


def ends(smtune):
    return [cause for cause, in rows(
        smtune, "SELECT cause FROM attempt ORDER BY id")]


def place(smtune):
    """[(attempt's number, count)] as the links wrote them."""
    path, = smtune.store.glob("runs/w/trials/*/ml/checkpoints/place")
    return [tuple(map(int, line.split()))
            for line in path.read_text().splitlines()]


def attempts_on_the_cluster(smtune):
    """Numbers of the attempts of which there is a claim."""
    return sorted(int(path.parent.name.split("-")[1]) for path in
                  smtune.store.glob("runs/w/attempts/*/claim"))


def check_whole(smtune, count, cause="timeout"):
    """Every link once, one after the other; the record says so, too."""
    found = ends(smtune)
    assert found[-1] == "ok" and set(found[:-1]) == {cause}
    written = place(smtune)
    assert [number for _, number in written] == list(range(1, count + 1))
    numbers = [attempt for attempt, _ in written]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, len(found) + 1))
    hashes = [text for text, in rows(
        smtune, "SELECT checkpoint FROM attempt ORDER BY id")]
    assert all(hashes)
    smtune.ok("fsck")
    smtune.ok("replay", "w")


@pytest.mark.parametrize("transport, ahead", [
    ("commands", 0), ("commands", 2), ("rest", 2)])
def test_links_follow_each_other(smtune, chain, cluster, ahead, transport):
    smtune.ok("run", chain(18, ahead), timeout=120)
    check_whole(smtune, 18)
    assert len(ends(smtune)) >= 2


@pytest.mark.parametrize("transport, ahead, cause", [
    ("commands", 1, "timeout"), ("commands", 3, "timeout"),
    ("commands", 2, "exit"), ("rest", 2, "timeout")])
def test_a_chain_goes_on_without_an_engine(smtune, chain, cluster, ahead,
                                           cause, transport):
    """Until its time is over, or until it is warned of that and heeds it."""
    link = {"signal": "USR2@2s"} if cause == "exit" else {}
    engine = smtune.start("run", chain(45, ahead, time="7s", **link))
    wait_until(lambda: has_started(smtune), 60)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    wait_until(lambda: attempts_on_the_cluster(smtune) ==
               list(range(1, 2 + ahead)), 90)
    cluster.wait_until_done(60)  # so far it goes by itself
    assert ends(smtune) == [None]
    smtune.ok("resume", "w", timeout=120)
    check_whole(smtune, 45, cause)


def test_a_chain_that_ends_leaves_no_link_behind(smtune, chain, cluster,
                                                 transport):
    smtune.ok("run", chain(4, 3, time="60s"), timeout=90)
    assert ends(smtune) == ["ok"]
    cluster.wait_until_done(20)


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_who_stops_a_chain_stops_its_links(smtune, chain, cluster, which,
                                           transport):
    """SIGINT lets the link end, at its time limit, and no other begins."""
    engine = smtune.start("run", chain(40, 2))
    wait_until(lambda: rows(smtune, "SELECT state FROM attempt")
               == [("running",)], 60)
    engine.send_signal(which)
    engine.wait(timeout=60)
    ended = "timeout" if which == signal.SIGINT else "cancelled"
    assert ends(smtune) == [ended]
    cluster.wait_until_done(30)
    assert {attempt for attempt, _ in place(smtune)} == {1}
    engine = smtune.start("resume", "w")
    wait_until(lambda: len(ends(smtune)) == 2 and
               {attempt for attempt, _ in place(smtune)} == {1, 2}, 60)
    engine.send_signal(signal.SIGTERM)
    engine.wait(timeout=60)
    smtune.ok("fsck")
