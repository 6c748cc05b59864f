# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine does not notice what happens to a dashboard of its store.

It runs its trials by turns: alone, beside two processes that only count, and
while a crowd (crowd.py) uses the dashboard; so all kinds of time see the same
machine and the same length of the record. What is compared is how many trials
end in them. Dashboard, crowd and counters get only what is left of the
processor. What the counters cost is what it costs that the processor is never
idle; what the crowd costs besides are locks, the disk and the log of the
database."""

import contextlib
import itertools
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import time

import pytest

import files
from dashboards import Dashboard
from programs import ROOT, wait_until

TRIALS = 6000
TURN_S = 0.2
WAL_MAX_BYTES = 48 << 20

FILE = files.experiment(trials=TRIALS, parallel=4, parameters="""
    x: {type: float, min: 0, max: 1}
    y: {type: float, min: 0, max: 1}
    """)


def last_in_line(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setscheduler(int(task), os.SCHED_IDLE, os.sched_param(0))


COUNT = """
import os
os.fork()
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while True:
    pass
"""


class Company:
    """A script of Python's in a process group of its own, at rest at first."""

    def __init__(self, *words):
        self.process = subprocess.Popen([sys.executable, *words],
                                        process_group=0)
        self.send(signal.SIGSTOP)

    def send(self, number):
        os.killpg(self.process.pid, number)

    def end(self):
        self.send(signal.SIGKILL)
        self.process.wait()


def take_turns(engine, companies, wal):
    """The turns, (begin, end, which company, if any), and how large the log
    was at most."""
    turns, largest, begin = [], 0, 0

    def is_over():
        nonlocal largest
        with contextlib.suppress(FileNotFoundError):
            largest = max(largest, wal.stat().st_size)
        return time.time() > begin + TURN_S or engine.poll() is not None

    for name in itertools.cycle([None, *companies]):
        if engine.poll() is not None:
            return turns, largest
        begin = time.time()
        if name:
            companies[name].send(signal.SIGCONT)
        wait_until(is_over, longest_pause=0.02)
        if name:
            companies[name].send(signal.SIGSTOP)
        turns.append((begin, time.time(), name))


def rates(database, turns):
    """Trials that ended a second, the median of each company's turns. The
    first round and the last turn are not whole."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as record:
        ended = [ms / 1000 for ms, in record.execute(
            "SELECT ended_ms FROM job WHERE ended_ms IS NOT NULL")]
    found = {}
    for begin, end, name in turns[3:-1]:
        count = sum(begin <= at < end for at in ended)
        found.setdefault(name, []).append(count / (end - begin))
    return {name: statistics.median(each) for name, each in found.items()}


def has_room():
    return (os.cpu_count() or 1) >= 4 and os.getloadavg()[0] < 2


@pytest.mark.sanitized
def test_a_crowd_disturbs_no_engine(smtune, write):
    path = write("exp.yaml", FILE)
    wal = smtune.store / "smtune.db-wal"
    room = has_room()
    engine = smtune.start("run", path, "-q", stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    wait_until(lambda: smtune("show", "exp").returncode == 0)
    with Dashboard(smtune) as dashboard:
        last_in_line(dashboard.process.pid)
        companies = {
            "counters": Company("-c", COUNT),
            "crowd": Company(ROOT / "tests/e2e/crowd.py", dashboard.host,
                             str(dashboard.port), dashboard.tokens["viewer"])}
        try:
            turns, largest = take_turns(engine, companies, wal)
        finally:
            for company in companies.values():
                company.end()
        assert dashboard.get("/api/v1/session").status == 200
        assert dashboard.process.poll() is None
    assert engine.returncode == 0, engine.stderr.read()
    rate = rates(smtune.store / "smtune.db", turns)
    assert smtune.states() == ["succeeded"] * TRIALS
    smtune.ok("fsck", timeout=300)
    assert largest < WAL_MAX_BYTES
    print(f"{rate[None]:.0f} trials/s alone, {rate['counters']:.0f} beside "
          f"counters, {rate['crowd']:.0f} beside a crowd; {len(turns)} turns, "
          f"log at most {largest >> 20} MiB")
    if room:
        assert rate["crowd"] > 0.95 * rate[None]
    # Where others want the processor, too, turns differ for their sake.
    assert rate["crowd"] > (0.95 if room else 0.8) * rate["counters"]
