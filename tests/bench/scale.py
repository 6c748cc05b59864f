# SPDX-License-Identifier: GPL-3.0-or-later
"""How smtune does where trials are many: in the record, and at once.

Each function prints rows of a table of run.py's; `many` is a store there with
a finished run of that name, of fake trials.
"""

import pathlib
import sqlite3
import subprocess
import sys
import time

from measure import BUILD, SMTUNE, run

METHODS = ("random", "sobol", "tpe", "cmaes", "nsga2", "bayesian", "auto")
OF_MANY = "run_id = (SELECT id FROM run WHERE name = 'many')"

ALIVE = """\
version: 1
name: alive
objective: {{metric: end, goal: minimize}}
parameters: {{s: {{type: float, min: {shortest}, max: {longest}}}}}
search: random
budget: {{trials: {trials}, parallel: {alive}}}
trial:
  command: {nap} ${{{{ s }}}}
  resources: {{cpus: 0}}
executor: {{name: local, cgroup: {cgroup}}}
"""


def open_record(folder):
    return sqlite3.connect(pathlib.Path(folder) / ".smtune/smtune.db")


def count_trials(database):
    return database.execute(
        f"SELECT count(*) FROM job WHERE {OF_MANY}").fetchone()[0]


def percentile(values, share):
    return sorted(values)[int(share * len(values))]


def bench_rate(table, folder):
    """Whether trials are as quick at the end of a long run as at its start."""
    with open_record(folder) as database:
        count = count_trials(database)
        step = count // 5

        def ended_ms(number):
            return database.execute(
                f"SELECT ended_ms FROM job WHERE {OF_MANY} AND number = ?",
                (max(number, 1),)).fetchone()[0]
        first = 1000 * step / (ended_ms(step) - ended_ms(0))
        last = 1000 * step / (ended_ms(count) - ended_ms(count - step))
    table.add(f"last {step} of {count} trials, the first ones", last, first,
              last / first, ">= 0.8", last / first >= 0.8, "/s")


def reopen(folder, method, unfinished):
    """Makes the finished run one of that method, with so many trials to come."""
    with open_record(folder) as database:
        count = count_trials(database)
        spec, = database.execute(
            "SELECT spec FROM run WHERE name = 'many'").fetchone()
        lines = spec.splitlines()
        for i, line in enumerate(lines):
            if line.startswith("search:"):
                lines[i] = f"search: {method}"
            if line.startswith("budget:"):
                lines[i] = (f"budget: {{trials: {count + 1},"
                            f" parallel: {unfinished + 2}}}")
        database.execute("UPDATE run SET state = 'stopped', spec = ?"
                         " WHERE name = 'many'", ("\n".join(lines) + "\n",))
        if unfinished > 0:
            database.execute("PRAGMA foreign_keys = ON")
            above = (count - unfinished,)
            jobs = f"(SELECT id FROM job WHERE {OF_MANY} AND number > ?)"
            for change in (
                    f"DELETE FROM job_value WHERE job_id IN {jobs}",
                    f"DELETE FROM attempt WHERE job_id IN {jobs}",
                    "UPDATE job SET state = 'ready', told = NULL, cause = NULL"
                    f" WHERE id IN {jobs}"):
                database.execute(change, above)


def ready_s(folder, method, unfinished=0):
    """Seconds from `smtune resume` to the first attempt that it starts."""
    reopen(folder, method, unfinished)
    start = time.time()
    result = subprocess.run([SMTUNE, "resume", "many", "-q"], cwd=folder,
                            stdin=subprocess.DEVNULL, capture_output=True)
    if result.returncode != 0:
        sys.exit(f"smtune resume: {result.stderr.decode(errors='replace')}")
    with open_record(folder) as database:
        first_ms, = database.execute(
            "SELECT min(time_ms) FROM event WHERE event = 'attempt_running'"
            " AND time_ms >= ?", (int(1000 * start),)).fetchone()
    return first_ms / 1000 - start


def bench_resume(table, folder, trials):
    seconds = {method: ready_s(folder, method) for method in METHODS}
    slowest = max(seconds, key=seconds.get)
    table.add(f"resume at {trials} trials, slowest: {slowest}",
              seconds[slowest], 2, seconds[slowest] / 2, "< 2 s",
              seconds[slowest] < 2, "s")
    unfinished = min(trials * 3 // 100, 3000)
    again = ready_s(folder, "random", unfinished)
    table.add(f"resume, {unfinished} of them to start again", again, 2,
              again / 2, "< 2 s", again < 2, "s")


def bench_alive(table, folder, alive, cgroup):
    """From what a trial says last until its end is in the record, while so many
    are alive: what is due on the engine's loop, and on its agent's, waits that
    long."""
    seconds = 20 if alive > 100 else 1
    path = folder / "alive.yaml"
    path.write_text(ALIVE.format(alive=alive, trials=alive * 3 // 2,
                                 nap=BUILD / "nap",
                                 shortest=seconds, longest=2 * seconds,
                                 cgroup=cgroup))
    run("run", str(path), "--name", f"alive-{cgroup}", cwd=folder)
    with open_record(folder) as database:
        lags_ms = [row[0] for row in database.execute(
            "SELECT e.time_ms - 1000 * v.value FROM event AS e"
            " JOIN job_value AS v ON v.job_id = e.job_id AND v.idx = 0"
            " WHERE e.event = 'succeeded' AND e.run_id ="
            " (SELECT id FROM run WHERE name = ?) ORDER BY e.seq LIMIT ?",
            (f"alive-{cgroup}", alive // 2))]
    lag_ms = percentile(lags_ms, 0.95)
    kind = "without cgroups" if cgroup == "off" else "alive"
    table.add(f"lag (95 %) with {alive} trials {kind}", lag_ms, 20,
              lag_ms / 20, "< 20 ms", lag_ms < 20, "ms")
