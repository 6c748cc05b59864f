#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How soon examples/asha.yaml comes to what random search comes to.

For each seed, random search trains --trials settings of the example, each at
its full resource; then the example itself runs until one of its trials has an
epoch that is as good as the best one's last. Times are by the clock, which
says little where others use the machine, and CPU time of the trials: of all of
random search's run, of it until its first epoch that good, and of the example's
run until its first. Runs alternate.
"""

import argparse
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from waiting import wait_until  # noqa: E402

ENOUGH_TRIALS = 1000

METRICS = """
SELECT metric.value, metric.time_ms FROM metric
JOIN job ON job.id = metric.job_id JOIN run ON run.id = job.run_id
WHERE run.name = ? AND metric.value IS NOT NULL
AND metric.name_id = (SELECT id FROM metric_name WHERE name = 'val_error')
ORDER BY metric.time_ms"""
ATTEMPTS = """
SELECT attempt.started_ms, attempt.ended_ms, attempt.cpu_ms FROM attempt
JOIN job ON job.id = attempt.job_id JOIN run ON run.id = job.run_id
WHERE run.name = ? AND attempt.started_ms IS NOT NULL"""
BEST = """
SELECT min(job_value.value) FROM job_value
JOIN job ON job.id = job_value.job_id JOIN run ON run.id = job.run_id
WHERE run.name = ? AND job.state = 'succeeded'"""


class Bench:
    def __init__(self, build, folder):
        self.smtune = build / "smtune"
        self.folder = folder

    def query(self, sql, run):
        path = self.folder / ".smtune/smtune.db"
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True,
                             timeout=30) as database:
            return database.execute(sql, (run,)).fetchall()

    def start(self, name, seed, trials, *more):
        return subprocess.Popen(
            [self.smtune, "run", ROOT / "examples/asha.yaml", "--name", name,
             "--quiet", "--set", f"search.seed={seed}", "--set",
             f"budget.trials={trials}", *more],
            cwd=self.folder, stdout=subprocess.DEVNULL)

    def reached(self, run, error):
        """When, in ms since the epoch, or None."""
        for value, time_ms in self.query(METRICS, run):
            if value <= error:
                return time_ms
        return None

    def spent(self, run, until_ms):
        """Seconds by the clock, and of the trials' CPU time."""
        attempts = self.query(ATTEMPTS, run)
        first_ms = min(started for started, _, _ in attempts)
        cpu_ms = 0
        for started, ended, cpu in attempts:
            if started < until_ms and ended is not None and cpu is not None:
                cpu_ms += cpu * min(1, (until_ms - started)
                                    / max(ended - started, 1))
        return (until_ms - first_ms) / 1000, cpu_ms / 1000

    def random(self, seed, trials):
        """(error, times of all, times until it was reached)"""
        name = f"random-{seed}"
        self.start(name, seed, trials, "--set", "schedule.method=none").wait()
        (error,), = self.query(BEST, name)
        end_ms = max(ended for _, ended, _ in self.query(ATTEMPTS, name))
        return (error, self.spent(name, end_ms),
                self.spent(name, self.reached(name, error)))

    def asha(self, seed, error):
        name = f"asha-{seed}"
        process = self.start(name, seed, ENOUGH_TRIALS)

        def reached():
            return self.query(ATTEMPTS, name) and self.reached(name, error)
        wait_until(lambda: reached() or process.poll() is not None,
                   float("inf"), longest_pause=0.2)
        until_ms = reached()
        process.terminate()
        process.wait()
        return self.spent(name, until_ms)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    options = parser.parse_args()
    sums = [0.0] * 6
    print("| seed | val_error | random, all: time s | CPU s | until then | CPU s"
          " | asha: time s | CPU s | of the CPU time of all | until then |\n"
          "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.build.resolve(), pathlib.Path(folder))
        for seed in range(options.first_seed,
                          options.first_seed + options.seeds):
            error, whole, until = bench.random(seed, options.trials)
            times = (*whole, *until, *bench.asha(seed, error))
            sums = [a + b for a, b in zip(sums, times)]
            print_row(seed, f"{error:.4f}", times)
    print_row("all", "", sums)


def print_row(seed, error, times):
    print(f"| {seed} | {error} |", " | ".join(f"{t:.0f}" for t in times),
          f"| {times[5] / times[1]:.0%} | {times[5] / times[3]:.0%} |",
          flush=True)


if __name__ == "__main__":
    main()
