# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges a run from outside, sharing no code with the engine.

What it believes are three witnesses: the lines that the trials themselves
wrote, the database as SQLite reads it, and what `smtune run` said before it
was killed. Each function returns its complaints, a list of sentences, which
is empty where all is well.

A trial writes into a file of its own, named by its number:

    start PID ATTEMPT TRIAL VALUE
    end PID ATTEMPT TRIAL VALUE
"""

import collections
import dataclasses
import math
import os
import pathlib
import re
import shutil
import sqlite3
import tempfile

Line = collections.namedtuple("Line", "word pid attempt trial value")


# -- The witnesses ------------------------------------------------------------

def read_evidence(directory):
    """{trial: [Line, ...]} in the order in which they were written."""
    evidence = {}
    for path in pathlib.Path(directory).iterdir():
        lines = [line.split() for line in path.read_text().splitlines()]
        evidence[int(path.name)] = [
            Line(w, int(p), int(a), int(t), v) for w, p, a, t, v in lines]
    return evidence


@dataclasses.dataclass
class Record:
    """What the database says of a run."""
    state: str
    jobs: dict       # {trial: (state, cause)}
    values: dict     # {trial: its first objective}
    attempts: dict   # {id: (trial, number, state, cause, pid)}
    complaints: list


def read_record(store, run):
    """The run's Record, or None where it has none yet. Reads a copy, so that
    the engine that comes next finds the log as the last one left it."""
    store = pathlib.Path(store)
    with tempfile.TemporaryDirectory() as copy:
        for name in ("smtune.db", "smtune.db-wal"):
            if (store / name).exists():
                shutil.copy(store / name, copy)
        if not os.path.exists(f"{copy}/smtune.db"):
            return None
        database = sqlite3.connect(f"{copy}/smtune.db")
        try:
            return _read_database(database, run)
        finally:
            database.close()


def _read_database(database, run):
    complaints = []

    def rows(sql, *values):
        return database.execute(sql, values).fetchall()

    found = [row[0] for row in rows("PRAGMA integrity_check")]
    if found != ["ok"]:
        complaints.append(f"the database is damaged: {found[:3]}")
    if rows("PRAGMA foreign_key_check"):
        complaints.append("the database has rows that belong to nothing")
    if not rows("SELECT 1 FROM sqlite_schema WHERE name = 'run'"):
        return None
    runs = rows("SELECT id, state FROM run WHERE name = ?", run)
    if not runs:
        return None
    (id_, state), = runs
    return Record(
        state=state,
        jobs={n: (s, c) for n, s, c in rows(
            "SELECT number, state, cause FROM job WHERE run_id = ?", id_)},
        values=dict(rows(
            "SELECT number, value FROM job_value JOIN job ON job.id = job_id "
            "WHERE job.run_id = ? AND idx = 0", id_)),
        attempts={a: rest for a, *rest in rows(
            "SELECT attempt.id, job.number, attempt.number, attempt.state, "
            "attempt.cause, pid FROM attempt JOIN job ON job.id = job_id "
            "WHERE job.run_id = ?", id_)},
        complaints=complaints)


@dataclasses.dataclass
class Acknowledged:
    """What an engine said, as far as it came to say it."""
    trials: dict     # {trial: (state, value or None)}
    count: int       # so many trials have ended


def read_acknowledged(text, metric="loss"):
    trials, count = {}, 0
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        said = re.match(r"trial (\d+) (succeeded|failed|stopped)", line)
        value = re.search(rf"  {metric}=(\S+)", line)
        if said:
            trials[int(said[1])] = (said[2],
                                    float(value[1]) if value else None)
        done = re.search(r"\b(\d+)/\d+\)$", line)
        if done and (said or line.startswith("... and")):
            count = max(count, int(done[1]))
    return Acknowledged(trials, count)


def process_state(pid):
    """A letter; None where there is no such process any more."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state = stat.rpartition(")")[2].split()[0]
    return None if state in "ZX" else state


def processes_left(marker):
    """[(pid, command)] of those with the words in their environment."""
    left = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            folder = pathlib.Path(entry.path)
            if (marker.encode() in (folder / "environ").read_bytes() and
                    process_state(entry.name)):
                command = (folder / "cmdline").read_bytes()
                left.append((int(entry.name),
                             command.replace(b"\0", b" ").decode().strip()))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return left


# -- The judgements -----------------------------------------------------------

FINAL = ("succeeded", "failed", "stopped", "cancelled")


def _same(a, b, digits=None):
    if a is None or b is None:
        return a is None and b is None
    if digits is not None:
        a, b = float(f"{a:.{digits}g}"), float(f"{b:.{digits}g}")
    return a == b or (math.isnan(a) and math.isnan(b))


def check_acknowledged(record, acknowledged):
    """After every crash: what was said stands in the record."""
    if record is None:
        return (["the run has gone from the record"]
                if acknowledged.count or acknowledged.trials else [])
    complaints = list(record.complaints)
    for trial, (state, value) in acknowledged.trials.items():
        found = record.jobs.get(trial, ("missing", None))[0]
        if found != state:
            complaints.append(f"trial {trial} was said to have {state}, and "
                              f"is {found} in the record")
        elif state == "succeeded" and not _same(
                value, record.values.get(trial), digits=6):
            complaints.append(
                f"trial {trial} was said to have {value}, and has "
                f"{record.values.get(trial)} in the record")
    ended = sum(state in FINAL for state, _ in record.jobs.values())
    if ended < acknowledged.count:
        complaints.append(f"{acknowledged.count} trials were said to have "
                          f"ended, and {ended} have in the record")
    return complaints


def check_attempts(record, evidence):
    """At any moment: what ran was in the record before, and ran once."""
    if record is None:
        return [f"trial {t} ran without a record" for t in evidence]
    complaints = []
    for trial, lines in evidence.items():
        starts = [line for line in lines if line.word == "start"]
        twice = [a for a, n in collections.Counter(
            line.attempt for line in starts).items() if n > 1]
        complaints += [f"attempt {a} of trial {trial} ran twice"
                       for a in twice]
        for line in starts:
            row = record.attempts.get(line.attempt)
            if row is None:
                complaints.append(f"attempt {line.attempt} of trial {trial} "
                                  "ran without a record")
                continue
            if row[0] != trial or line.trial != trial:
                complaints.append(f"attempt {line.attempt} ran as trial "
                                  f"{line.trial}, and is trial {row[0]}'s")
            if row[4] and row[4] != line.pid:
                complaints.append(f"attempt {line.attempt} ran as process "
                                  f"{line.pid}, and is {row[4]} in the record")
    return complaints


def check_end(record, evidence, expected, is_strict=True):
    """When the run is over: every trial ran, came to its end, and has the
    result that it printed, which is that of an undisturbed run. Strictly,
    only one attempt of each ever started a command."""
    if record is None:
        return ["the run has no record"]
    complaints = list(record.complaints)
    if record.state != "succeeded":
        complaints.append(f"the run is {record.state}")
    if sorted(record.jobs) != sorted(expected):
        complaints.append(f"the record has the trials {sorted(record.jobs)}")
    for trial, value in expected.items():
        lines = evidence.get(trial, [])
        ends = [line for line in lines if line.word == "end"]
        starts = [line for line in lines if line.word == "start"]
        state = record.jobs.get(trial, ("missing", None))[0]
        if not ends:
            complaints.append(f"trial {trial} never ran to its end")
        if is_strict and len(starts) > 1:
            complaints.append(f"trial {trial} ran {len(starts)} times")
        if state != "succeeded":
            complaints.append(f"trial {trial} is {state} in the record")
        elif not _same(record.values.get(trial), float(value)):
            complaints.append(f"trial {trial} has {record.values.get(trial)} "
                              f"in the record, and should have {value}")
        for line in lines:
            if line.value != value:
                complaints.append(f"trial {trial} was given {line.value}, and "
                                  f"without faults {value}")
    complaints += _check_ended_attempts(record, evidence)
    return complaints


def _check_ended_attempts(record, evidence):
    complaints = []
    ended = {line.attempt for lines in evidence.values() for line in lines
             if line.word == "end"}
    good = collections.Counter()
    for attempt, (trial, _, state, cause, _) in record.attempts.items():
        if state != "ended":
            complaints.append(f"attempt {attempt} is still {state}")
        if cause == "ok":
            good[trial] += 1
            if attempt not in ended:
                complaints.append(f"attempt {attempt} is ok in the record, "
                                  "and never came to its end")
    return complaints + [f"trial {t} has {n} good attempts"
                         for t, n in good.items() if n > 1]


def check_processes(marker):
    return [f"process {pid} is left: {command}"
            for pid, command in processes_left(marker)]
