#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The archive that runs anywhere beside the ordinary build, in turns.

    tests/bench/archive.py ARCHIVE

The libraries of the archive are inside its programs, made by another compiler
than the system's. Seconds of the clock, medians; exits 1 when a bar is missed.
Nothing else should run meanwhile. Files are in memory, where the system offers
that, as disks differ from one run to the next.
"""

import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from measure import SMTUNE, Table, in_turns

TIMES = 9
STARTS = 100
ECHOES = 1000
# Searches in ten dimensions, and for how many trials.
SEARCHES = {"bayesian": 120, "tpe": 4000, "cmaes": 20000}
NUMBERS = itertools.count(1)
SPACE = "\n".join(f"  x{i}: {{type: float, min: 0, max: 1}}" for i in range(10))
EXPERIMENT = """\
version: 1
name: {name}
objective: {{metric: loss, goal: minimize}}
parameters:
{space}
search: {search}
budget: {{trials: {trials}, parallel: 2}}
trial:
  command: /bin/echo loss=1
  resources: {{cpus: 0}}
"""


def write(folder, search, trials):
    path = folder / "exp.yaml"
    path.write_text(EXPERIMENT.format(name=f"run-{next(NUMBERS)}", space=SPACE,
                                      search=search, trials=trials))
    return path


def seconds(command, folder, words=os.devnull):
    start = time.perf_counter()
    with open(words, encoding="utf-8") as file:
        subprocess.run(command, cwd=folder, check=True, stdin=file,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def starts_s(program, folder):
    return sum(seconds([program, "version"], folder) for _ in range(STARTS))


def echoes_s(program, folder):
    return seconds([program, "run", "-q", write(folder, "random", ECHOES)],
                   folder)


def suggestions_s(program, folder, search):
    values = random.Random(1)
    requests = folder / "requests"
    requests.write_text("".join(
        json.dumps(request) + "\n"
        for i in range(1, SEARCHES[search] + 1)
        for request in ({"op": "ask", "n": 1},
                        {"op": "tell", "id": i, "value": values.random()})))
    return seconds([program, "suggest", "--stdio",
                    write(folder, search, SEARCHES[search])], folder, requests)


def main():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    table = Table()
    with tempfile.TemporaryDirectory(dir=memory) as name:
        folder = pathlib.Path(name)
        subprocess.run(["tar", "-xf", sys.argv[1], "-C", name], check=True)
        archived = next(folder.glob("smtune-*/bin/smtune"))

        def compare(what, bar, measure, *words):
            value, peer = in_turns(TIMES, *(
                lambda program=program: measure(program, folder, *words)
                for program in (archived, SMTUNE)))
            ratio = value / peer
            table.add(what, value, peer, ratio, f"<= {bar}", ratio <= bar, "s")

        compare(f"{STARTS} starts of smtune version", 1.2, starts_s)
        for search, trials in SEARCHES.items():
            compare(f"{trials} suggestions of {search}", 1.03, suggestions_s,
                    search)
        compare(f"{ECHOES} trials of /bin/echo", 1.03, echoes_s)
    sys.exit(1 if table.missed else 0)


if __name__ == "__main__":
    main()
