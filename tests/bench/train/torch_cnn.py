#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A training step of `smtrain cnn` beside PyTorch's of the same model.

    tests/bench/train/torch_cnn.py [BUILD]

One thread, batches of 128, SGD with momentum, in turns, the median of ROUNDS;
processor time, since other programs may run meanwhile. smtrain's is what more
samples cost a whole run: reading, shuffling and gathering them is in it.
PyTorch's (Debian's python3-torch) is that of steps on the same batch again and
again. Exits 1 when smtrain is not ahead.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
ROUNDS = 3
BATCH, FEW, MANY = 128, 5, 30  # samples in a step; steps of two runs
CHANNELS, DEPTH, WIDTH, DROPOUT = 24, 3, 128, 0.2


def run_s(words):
    """Runs a program; the processor time that it took, its output."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        sys.exit(f"{words}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, output


def smtrain_step_s(smtrain):
    few, many = (run_s([smtrain, "cnn", "--epochs", "1", "--batch", str(BATCH),
                        "--channels", str(CHANNELS), "--depth", str(DEPTH),
                        "--width", str(WIDTH), "--dropout", str(DROPOUT),
                        "--limit", str(steps * BATCH)])[0]
                 for steps in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def torch_step_s():
    return float(run_s([sys.executable, __file__, "--torch"])[1])


def train_in_torch():
    """Prints the processor time of a step, after a few to warm up."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    layers, side, channels = [], 28, 1
    for i in range(DEPTH):
        layers += [nn.Conv2d(channels, CHANNELS << i, 3, padding=1),
                   nn.MaxPool2d(2), nn.ReLU()]
        side, channels = side // 2, CHANNELS << i
    model = nn.Sequential(*layers, nn.Flatten(),
                          nn.Linear(side * side * channels, WIDTH), nn.ReLU(),
                          nn.Dropout(DROPOUT), nn.Linear(WIDTH, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss = nn.CrossEntropyLoss()
    images = torch.randn(BATCH, 1, 28, 28)
    labels = torch.randint(0, 10, (BATCH,))

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            loss(model(images), labels).backward()
            optimizer.step()

    train(FEW)
    start = time.process_time()
    train(MANY - FEW)
    print((time.process_time() - start) / (MANY - FEW))


def main():
    if sys.argv[1:] == ["--torch"]:
        train_in_torch()
        return
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    pairs = [(smtrain_step_s(build / "smtrain"), torch_step_s())
             for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(times) for times in zip(*pairs))
    ratio = statistics.median(theirs / ours for ours, theirs in pairs)
    print(f"cnn, a step of {BATCH} samples: smtrain {ours * 1e3:.1f} ms, "
          f"PyTorch {theirs * 1e3:.1f} ms, {ratio:.2f} times as long")
    sys.exit(ratio <= 1)


if __name__ == "__main__":
    main()
