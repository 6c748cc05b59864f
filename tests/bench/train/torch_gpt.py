#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A training step of `smtrain gpt` beside PyTorch's of the same model: Adam,
batches of 32 samples (steps.py says how).

    tests/bench/train/torch_gpt.py [BUILD]

Exits 1 when smtrain is not ahead.
"""

import random
import sys
import tempfile

import steps

BATCH = 32
NAMES = "layers", "heads", "width", "context"
SHAPES = [(4, 4, 128, 64), (4, 8, 256, 128)]


def train_in_torch(layers, heads, width, context):
    import torch
    from torch import nn
    from torch.nn import functional

    count = steps.share(BATCH)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)
            self.wide = nn.Linear(width, 4 * width)
            self.narrow = nn.Linear(4 * width, width)
            # No buffer of the module: gloo does not send bool.
            self.unseen = torch.ones(context, context,
                                     dtype=torch.bool).triu(1)

        def attend(self, x):
            q, k, v = (part.view(count, context, heads, -1).transpose(1, 2)
                       for part in self.qkv(x).split(width, dim=2))
            scores = q @ k.transpose(2, 3) * (width / heads) ** -0.5
            weights = scores.masked_fill(self.unseen, -1e30).softmax(-1)
            mixed = (weights @ v).transpose(1, 2).reshape(x.shape)
            return self.out(mixed)

        def forward(self, x):
            x = x + self.attend(self.norm1(x))
            y = functional.gelu(self.wide(self.norm2(x)), approximate="tanh")
            return x + self.narrow(y)

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(256, width)
            self.positions = nn.Embedding(context, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
            self.norm = nn.LayerNorm(width)

        def forward(self, tokens):
            x = self.tokens(tokens) + self.positions.weight
            return self.norm(self.blocks(x)) @ self.tokens.weight.T

    tokens = torch.randint(0, 128, (count, context))
    targets = torch.randint(0, 128, (count * context,))
    steps.time_in_torch(
        Gpt(), lambda parameters: torch.optim.Adam(parameters, lr=0.001),
        lambda net: functional.cross_entropy(net(tokens).view(-1, 256),
                                             targets))


def compare(text, shape):
    """Prints its lines; whether smtrain is ahead."""
    flags = [word for name, value in zip(NAMES, shape)
             for word in (f"--{name}", value)]
    layers, _, width, context = shape
    return steps.compare(
        f"gpt, {layers} layers of {width}, a step of {BATCH} x {context} "
        "tokens", BATCH, ["gpt", "--data", text, "--lr", "0.001", *flags],
        shape)


def main():
    shape = steps.wants_torch()
    if shape is not None:
        train_in_torch(*map(int, shape))
        return
    with tempfile.NamedTemporaryFile() as text:
        text.write(random.Random(1).randbytes(200000))
        text.flush()
        ahead = [compare(text.name, shape) for shape in SHAPES]
    sys.exit(not all(ahead))


if __name__ == "__main__":
    main()
