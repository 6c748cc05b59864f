# SPDX-License-Identifier: GPL-3.0-or-later
"""How much the drills do: a little in `make check`, and in `make soak`, which
runs this as a program, what SOAK_KILLS, SOAK_CUTS and SOAK_HISTORIES say, or as
much as fits into SOAK_MINUTES. Each drill that went well leaves a line of what
it did in build/soak/done.jsonl, and the table at the end adds them up."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import time

FOLDER = os.environ.get("SOAK_FOLDER")
KILLS = int(os.environ.get("SOAK_KILLS", 300))
CUTS = int(os.environ.get("SOAK_CUTS", 20))
UNTIL = float(os.environ.get("SOAK_UNTIL", "inf"))

HISTORIES_AT_ONCE = 2000


def note(what, **counts):
    """Writes down what a drill did that went well."""
    if FOLDER:
        with open(f"{FOLDER}/done.jsonl", "a") as file:
            file.write(json.dumps({"what": what, **counts}) + "\n")


def time_is_up():
    return time.time() > UNTIL


# -- The program --------------------------------------------------------------

def table():
    total = collections.defaultdict(collections.Counter)
    path = pathlib.Path(FOLDER) / "done.jsonl"
    for line in path.read_text().splitlines() if path.exists() else []:
        counts = json.loads(line)
        total[counts.pop("what")].update(counts)
    return "".join(
        f"{what:12} " + ", ".join(f"{n} {name}" for name, n in counts.items())
        + "\n" for what, counts in sorted(total.items()))


def run_drills(jobs):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", str(jobs),
         "tests/fault/test_random_kills.py",
         "tests/fault/test_power_cuts.py"]).returncode


def play_histories(simulator, count, until):
    first = 1
    while first <= count and time.time() < until:
        seeds = min(HISTORIES_AT_ONCE, count - first + 1)
        status = subprocess.run(
            [simulator, "--from", str(first), "--seeds", str(seeds),
             "--jobs", str(os.cpu_count())]).returncode
        if status != 0:
            return status
        note("simulator", histories=seeds)
        first += seeds
    return 0


def main(simulator):
    """Drills for two thirds of the time, if there is a limit."""
    start = time.time()
    minutes = float(os.environ.get("SOAK_MINUTES") or "inf")
    os.environ["SOAK_UNTIL"] = str(start + minutes * 40)
    drills = run_drills(2 * os.cpu_count())
    histories = play_histories(
        simulator, int(os.environ["SOAK_HISTORIES"]), start + minutes * 60)
    text = f"{table()}in {(time.time() - start) / 60:.1f} minutes; " + \
        ("all is well\n" if drills == histories == 0 else "SOMETHING FAILED\n")
    (pathlib.Path(FOLDER) / "table").write_text(text)
    print(text, end="")
    return 1 if drills or histories else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
