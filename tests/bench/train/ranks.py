#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What working together costs: two ranks that train one model, against two
processes that train one each, at the same work a step.

    tests/bench/train/ranks.py build [PAIRS]

Pairs are measured one after the other, a model in turn, and the median of a
model's ratios counts. It should be 0.95 at least on a machine with nothing else
to do. Of the three, mlp has by far the most parameters for its work, and so the
most to send.
"""

import pathlib
import re
import statistics
import subprocess
import sys

# The batch of a process, and what it trains.
MODELS = {"mlp": (256, "--width 1024 --depth 2 --limit 20000 --epochs 2"),
          "cnn": (128, "--limit 8000 --epochs 1"),
          "gpt": (32, "--limit 400 --epochs 1")}


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


def measure(build, model):
    """How fast two ranks are together, of what two processes are apart."""
    batch, flags = MODELS[model]
    smtrain = (build / "smtrain", model, *flags.split(), "--quiet", "--batch")
    apart = samples_per_s([start(*smtrain, batch) for _ in range(2)])
    together = samples_per_s([start(build / "smtune", "launch", "-n", 2, "--",
                                    *smtrain, 2 * batch)])
    print(f"{model}: apart {apart:8.0f} samples/s   together {together:8.0f}   "
          f"ratio {together / apart:.3f}", flush=True)
    return together / apart


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    ratios = {model: [] for model in MODELS}
    for _ in range(pairs):
        for model in MODELS:
            ratios[model].append(measure(build, model))
    medians = {model: statistics.median(it) for model, it in ratios.items()}
    for model, median in medians.items():
        print(f"{model}: 2 ranks reach {median:.3f} of 2 processes "
              f"(goal: 0.95)")
    return min(medians.values()) < 0.95


if __name__ == "__main__":
    sys.exit(main())
