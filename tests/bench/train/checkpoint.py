#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What writing checkpoints beside training costs: the processor time of smtrain
with a checkpoint after each epoch and without, in turns, and of a step."""

import os
import statistics
import subprocess
import sys
import tempfile

EPOCHS, STEPS, REPEATS = 3, 3 * 391, 5


def cpu_seconds(smtrain, *words):
    process = subprocess.Popen(
        [smtrain, "mlp", "--optimizer", "adam", "--lr", "0.001", "--epochs",
         str(EPOCHS), *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("smtrain failed")
    return used.ru_utime + used.ru_stime


def main():
    smtrain = sys.argv[1]
    shares, plain_seconds = [], []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            plain = cpu_seconds(smtrain)
            saving = cpu_seconds(smtrain, "--checkpoint-dir", folder)
        plain_seconds.append(plain)
        shares.append(saving / plain - 1)
    print(f"checkpoints: {100 * statistics.median(shares):+.1f} percent of "
          f"processor time (of {REPEATS}: {100 * min(shares):+.1f} .. "
          f"{100 * max(shares):+.1f}), a step takes "
          f"{1000 * statistics.median(plain_seconds) / STEPS:.2f} ms")


main()
