# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine does not notice what happens to a dashboard of its store.

It runs its trials while a crowd (crowd.py) uses the dashboard, and pauses, by
turns of half a second; so both kinds of time see the same machine and the
same length of the record. What is compared is how many trials end in them.
Dashboard and crowd get only what is left of the processor, since what they
use of a small machine's is not theirs to give back; what remains are locks,
the disk and the log of the database."""

import contextlib
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import time

from dashboards import Dashboard
from programs import ROOT, wait_until

TRIALS = 2000
TURN_S = 0.2
WAL_MAX_BYTES = 48 << 20

FILE = f"""\
version: 1
name: exp
objective: {{metric: loss, goal: minimize}}
parameters:
  x: {{type: float, min: 0, max: 1}}
  y: {{type: float, min: 0, max: 1}}
search: {{method: random, seed: 3}}
budget: {{trials: {TRIALS}, parallel: 4}}
trial: {{command: "echo loss=${{{{ x }}}}"}}
"""


def last_in_line(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setscheduler(int(task), os.SCHED_IDLE, os.sched_param(0))


def take_turns(engine, crowd, wal):
    """The turns, (begin, end, whether the crowd was at it), and how large the
    log was at most."""
    turns, largest, is_busy = [], 0, True
    while engine.poll() is None:
        begin = time.time()
        os.kill(crowd.pid, signal.SIGCONT if is_busy else signal.SIGSTOP)
        while time.time() < begin + TURN_S and engine.poll() is None:
            with contextlib.suppress(FileNotFoundError):
                largest = max(largest, wal.stat().st_size)
            time.sleep(0.02)
        turns.append((begin, time.time(), is_busy))
        is_busy = not is_busy
    return turns, largest


def rates(database, turns):
    """Trials that ended a second, in the turns with the crowd, and without.
    The first turn and the last are not whole."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as record:
        ended = [ms / 1000 for ms, in record.execute(
            "SELECT ended_ms FROM job WHERE ended_ms IS NOT NULL")]
    found = {True: [], False: []}
    for begin, end, is_busy in turns[1:-1]:
        count = sum(begin <= at < end for at in ended)
        found[is_busy].append(count / (end - begin))
    return found[True], found[False]


def has_room():
    return (os.cpu_count() or 1) >= 4 and os.getloadavg()[0] < 2


def test_a_crowd_disturbs_no_engine(smtune, write):
    path = write("exp.yaml", FILE)
    wal = smtune.store / "smtune.db-wal"
    room = has_room()
    engine = smtune.start("run", path, "-q", stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    wait_until(lambda: smtune("show", "exp").returncode == 0)
    with Dashboard(smtune) as dashboard:
        last_in_line(dashboard.process.pid)
        crowd = subprocess.Popen(
            [sys.executable, ROOT / "tests/e2e/crowd.py", dashboard.host,
             str(dashboard.port), dashboard.tokens["viewer"]])
        try:
            turns, largest = take_turns(engine, crowd, wal)
        finally:
            crowd.kill()
            crowd.wait()
        assert dashboard.get("/api/v1/session").status == 200
        assert dashboard.process.poll() is None
    assert engine.returncode == 0, engine.stderr.read()
    busy, quiet = rates(smtune.store / "smtune.db", turns)
    states = [row["state"] for row in smtune.json("trials", "exp")]
    assert states == ["succeeded"] * TRIALS
    smtune.ok("fsck", timeout=300)
    assert largest < WAL_MAX_BYTES
    ratio = statistics.median(busy) / statistics.median(quiet)
    print(f"{statistics.median(quiet):.0f} trials/s alone, "
          f"{statistics.median(busy):.0f} with a crowd ({ratio:.3f}; "
          f"{len(busy)} turns each), log at most {largest >> 20} MiB")
    # Where others want the processor, too, turns differ for their sake.
    assert ratio > (0.95 if room else 0.7)
