#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What working together costs: two ranks that train one model, against two
processes that train one each, at the same work a step.

    tests/bench/train/ranks.py build [PAIRS]

Pairs are measured one after the other, and the median of their ratios counts.
It should be 0.95 at least on a machine with nothing else to do.
"""

import pathlib
import re
import statistics
import subprocess
import sys

BATCH = 256
MODEL = ("mlp", "--width", "1024", "--depth", "2", "--limit", "20000",
         "--epochs", "2", "--quiet")


def samples_per_s(processes):
    """The sum of all that they print."""
    texts = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit("ranks.py: a training failed")
    return sum(float(number) for text in texts
               for number in re.findall(r"samples_per_s=(\d+)", text))


def start(*words):
    """In a session of its own, as launch starts ranks: Linux shares its time
    out by sessions."""
    return subprocess.Popen([str(word) for word in words], text=True,
                            stdout=subprocess.PIPE, start_new_session=True)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    smtrain = (build / "smtrain", *MODEL, "--batch")
    ratios = []
    for _ in range(pairs):
        apart = samples_per_s([start(*smtrain, BATCH) for _ in range(2)])
        together = samples_per_s([start(build / "smtune", "launch", "-n", 2,
                                        "--", *smtrain, 2 * BATCH)])
        ratios.append(together / apart)
        print(f"apart {apart:8.0f} samples/s   together {together:8.0f}   "
              f"ratio {ratios[-1]:.3f}", flush=True)
    median = statistics.median(ratios)
    print(f"2 ranks reach {median:.3f} of 2 processes (goal: 0.95)")
    return median < 0.95


if __name__ == "__main__":
    sys.exit(main())
