#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tabulates learning curves of real networks, for the simulated cluster.

Trains `smtrain mlp` on the first images of Fashion-MNIST with settings drawn
at random, one process and one thread at a time, and writes for each how many
of the held out images it got wrong after each epoch, and the CPU time of an
epoch. Everything but the times is a function of the seed.
"""

import argparse
import gzip
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import tempfile

IMAGES = 12000    # of the training file; the last sixth is held out
HELD_OUT = IMAGES // 6
TRAINED = 4000    # the first ones of the rest
EPOCHS = 27
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")

ABOUT = f"""\
# Learning curves of `smtrain mlp` on Fashion-MNIST, by tests/bench/cluster/curves.py.
# Made from the first {IMAGES} images of the training file: {TRAINED} to train on, the last {HELD_OUT}
# held out. Each row is one setting, drawn at random (seed {{seed}}): log-uniform lr 1e-4 .. 1,
# width 8 .. 128 and weight_decay 1e-6 .. 1e-1, uniform momentum 0 .. 0.99 (of sgd alone),
# depth 1 .. 3, batch 32, 64, 128 or 256, dropout 0 .. 0.6. epoch_ms is CPU time of one thread.
# e1 .. e{EPOCHS}: how many of the {HELD_OUT} it classified wrong after that epoch; nothing once the
# training diverged.
"""
SETTINGS = ("lr", "optimizer", "momentum", "width", "depth", "batch",
            "dropout", "weight_decay")


def write_images(folder):
    """The first images and labels of the training file, uncompressed."""
    for kind, dimensions in (("images-idx3", 3), ("labels-idx1", 1)):
        name = f"train-{kind}-ubyte"
        with gzip.open(FASHION / f"{name}.gz") as file:
            head = file.read(4 + 4 * dimensions)
            shape = struct.unpack(f">{dimensions}I", head[4:])[1:]
            (folder / name).write_bytes(
                head[:4] + struct.pack(f">{dimensions}I", IMAGES, *shape)
                + file.read(IMAGES * math.prod(shape)))


def draw(seed, row):
    """The settings of a row, as text."""
    rng = random.Random(f"{seed} {row}")

    def log_uniform(low, high):
        return math.exp(rng.uniform(math.log(low), math.log(high)))
    values = {
        "lr": f"{log_uniform(1e-4, 1):.3g}",
        "optimizer": rng.choice(("sgd", "adam")),
        "momentum": f"{rng.uniform(0, 0.99):.2f}",
        "width": str(round(log_uniform(7.5, 128.49))),
        "depth": str(rng.randint(1, 3)),
        "batch": str(rng.choice((32, 64, 128, 256))),
        "dropout": f"{rng.uniform(0, 0.6):.2f}",
        "weight_decay": f"{log_uniform(1e-6, 1e-1):.2g}",
    }
    if values["optimizer"] != "sgd":
        values["momentum"] = ""
    return values


def train(program, folder, values):
    """(CPU time of an epoch in ms, [errors after each epoch])"""
    flags = [word for name, value in values.items() if value
             for word in ("--" + name.replace("_", "-"), value)]
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(
            ["nice", "-n", "19", program, "mlp", *flags, "--epochs",
             str(EPOCHS), "--limit", str(TRAINED), "--data", folder],
            stdout=out, stderr=subprocess.DEVNULL,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0
        out.seek(0)
        found = re.findall(r"val_error=(\S+)", out.read())
    errors = [round(float(text) * HELD_OUT) for text in found
              if text != "nan"]
    spent = usage.ru_utime + usage.ru_stime
    return 1000 * spent / len(found), errors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1350)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--smtrain", default="build/smtrain")
    parser.add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    part = options.out.with_suffix(".part")
    with tempfile.TemporaryDirectory() as folder, open(part, "w") as table:
        write_images(pathlib.Path(folder))
        table.write(ABOUT.format(seed=options.seed))
        print(*SETTINGS, "epoch_ms",
              *(f"e{epoch + 1}" for epoch in range(EPOCHS)), sep=",",
              file=table)
        for row in range(options.rows):
            values = draw(options.seed, row)
            epoch_ms, errors = train(options.smtrain, folder, values)
            empty = [""] * (EPOCHS - len(errors))
            print(*values.values(), f"{epoch_ms:.1f}", *errors, *empty,
                  sep=",", file=table, flush=True)
    part.rename(options.out)


if __name__ == "__main__":
    main()
