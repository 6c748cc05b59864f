#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What checkpoints beside training cost a step.

    tests/bench/train/checkpoint.py [BUILD]

Processor time, which other programs disturb less: of a checkpoint, from runs
of many short epochs with and without, in turns; and of a step, from a long and
a short run. Exits 1 where a checkpoint after each epoch of `smtrain mlp`, the
model with the quickest steps, costs 2 percent of them or more.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIMIT = 0.02
BATCH, EPOCH_STEPS = 128, 391
SAVES, PAIRS = 40, 7
FEW, MANY = 20, 380  # steps of two runs


def cpu_s(smtrain, epochs, steps, *words):
    process = subprocess.Popen(
        [smtrain, "mlp", "--optimizer", "adam", "--lr", "0.001", "--quiet",
         "--batch", str(BATCH), "--epochs", str(epochs), "--limit",
         str(steps * BATCH), *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit("checkpoint.py: smtrain failed")
    return used.ru_utime + used.ru_stime


def step_s(smtrain):
    return ((cpu_s(smtrain, 1, MANY) - cpu_s(smtrain, 1, FEW))
            / (MANY - FEW))


def checkpoint_s(smtrain):
    plain = cpu_s(smtrain, SAVES, 1)
    with tempfile.TemporaryDirectory() as folder:
        saving = cpu_s(smtrain, SAVES, 1, "--checkpoint-dir", folder)
    return (saving - plain) / SAVES


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    smtrain = build / "smtrain"
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    pairs = [(checkpoint_s(smtrain), step_s(smtrain)) for _ in range(PAIRS)]
    saving, step = (statistics.median(times) for times in zip(*pairs))
    share = saving / (EPOCH_STEPS * step)
    print(f"a checkpoint takes {saving * 1e3:.2f} ms of processor time, a step "
          f"{step * 1e3:.3f} ms: {100 * share:.2f} percent of an epoch of "
          f"{EPOCH_STEPS} steps (goal: 2)")
    return share >= LIMIT


if __name__ == "__main__":
    sys.exit(main())
