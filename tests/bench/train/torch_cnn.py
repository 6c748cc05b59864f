#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A training step of `smtrain cnn` beside PyTorch's of the same model: SGD with
momentum, batches of 128 images (steps.py says how).

    tests/bench/train/torch_cnn.py [BUILD]

Exits 1 when smtrain is not ahead.
"""

import pathlib
import random
import struct
import sys
import tempfile

import steps

BATCH = 128
CHANNELS, DEPTH, WIDTH, DROPOUT = 24, 3, 128, 0.2


def make_model():
    from torch import nn

    layers, side, channels = [], 28, 1
    for i in range(DEPTH):
        layers += [nn.Conv2d(channels, CHANNELS << i, 3, padding=1),
                   nn.MaxPool2d(2), nn.ReLU()]
        side, channels = side // 2, CHANNELS << i
    return nn.Sequential(*layers, nn.Flatten(),
                         nn.Linear(side * side * channels, WIDTH), nn.ReLU(),
                         nn.Dropout(DROPOUT), nn.Linear(WIDTH, 10))


def train_in_torch():
    import torch
    from torch import nn

    count = steps.share(BATCH)
    model = make_model()
    loss = nn.CrossEntropyLoss()
    images = torch.randn(count, 1, 28, 28)
    labels = torch.randint(0, 10, (count,))
    steps.time_in_torch(
        model, lambda parameters: torch.optim.SGD(parameters, lr=0.05,
                                                  momentum=0.9),
        lambda net: loss(net(images), labels))


def write_images(folder, batches=steps.MANY):
    """As many as are trained on, and the sixth that is held out."""
    count, any_bytes = batches * BATCH * 6 // 5, random.Random(1)
    folder.joinpath("train-images-idx3-ubyte").write_bytes(
        struct.pack(">4I", 0x803, count, 28, 28) +
        any_bytes.randbytes(count * 28 * 28))
    folder.joinpath("train-labels-idx1-ubyte").write_bytes(
        struct.pack(">2I", 0x801, count) +
        bytes(any_bytes.randrange(10) for _ in range(count)))


def main():
    if steps.wants_torch() is not None:
        train_in_torch()
        return
    with tempfile.TemporaryDirectory() as folder:
        write_images(pathlib.Path(folder))
        sys.exit(not steps.compare(
            f"cnn, a step of {BATCH} images", BATCH,
            ["cnn", "--data", folder, "--channels", CHANNELS, "--depth", DEPTH,
             "--width", WIDTH, "--dropout", DROPOUT]))


if __name__ == "__main__":
    main()
