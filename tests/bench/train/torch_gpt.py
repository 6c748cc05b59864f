#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A training step of `smtrain gpt` beside PyTorch's of the same model.

    tests/bench/train/torch_gpt.py [BUILD]

One thread, Adam, in turns, the median of ROUNDS; processor time, since other
programs may run meanwhile. smtrain's is what more samples cost a whole run.
PyTorch's (Debian's python3-torch) is that of steps on the same batch again and
again. Exits 1 when smtrain is not ahead.
"""

import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
ROUNDS = 5
BATCH, FEW, MANY = 32, 5, 25  # samples in a step; steps of two runs
SHAPES = [(4, 4, 128, 64), (4, 8, 256, 128)]  # layers, heads, width, context


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


def smtrain_step_s(smtrain, text, shape):
    flags = [word for flag, value in
             zip(("layers", "heads", "width", "context"), shape)
             for word in (f"--{flag}", str(value))]
    few, many = (run_s([smtrain, "gpt", "--data", text, "--epochs", "1",
                        "--optimizer", "adam", "--lr", "0.001",
                        "--batch", str(BATCH), *flags,
                        "--limit", str(steps * BATCH)])[0]
                 for steps in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def torch_step_s(shape):
    return float(run_s([sys.executable, __file__, "--torch",
                        *map(str, shape)])[1])


def train_in_torch(layers, heads, width, context):
    """Prints the processor time of a step, after a few to warm up."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)
            self.wide = nn.Linear(width, 4 * width)
            self.narrow = nn.Linear(4 * width, width)
            self.register_buffer("unseen", torch.ones(
                context, context, dtype=torch.bool).triu(1))

        def attend(self, x):
            q, k, v = (part.view(BATCH, context, heads, -1).transpose(1, 2)
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

    torch.set_num_threads(1)
    model = Gpt()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    tokens = torch.randint(0, 128, (BATCH, context))
    targets = torch.randint(0, 128, (BATCH * context,))

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            logits = model(tokens).view(-1, 256)
            functional.cross_entropy(logits, targets).backward()
            optimizer.step()

    train(FEW)
    start = time.process_time()
    train(MANY - FEW)
    print((time.process_time() - start) / (MANY - FEW))


def compare(smtrain, text, shape):
    """Prints a line; whether smtrain is ahead."""
    pairs = [(smtrain_step_s(smtrain, text, shape), torch_step_s(shape))
             for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(times) for times in zip(*pairs))
    ratio = statistics.median(theirs / ours for ours, theirs in pairs)
    layers, _, width, context = shape
    print(f"gpt, {layers} layers of {width}, a step of {BATCH} x {context} "
          f"tokens: smtrain {ours * 1e3:.0f} ms, PyTorch {theirs * 1e3:.0f} "
          f"ms, {ratio:.2f} times as long", flush=True)
    return ratio > 1


def main():
    if sys.argv[1:2] == ["--torch"]:
        train_in_torch(*map(int, sys.argv[2:]))
        return
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.NamedTemporaryFile() as text:
        text.write(random.Random(1).randbytes(200000))
        text.flush()
        ahead = [compare(build / "smtrain", text.name, shape)
                 for shape in SHAPES]
    sys.exit(not all(ahead))


if __name__ == "__main__":
    main()
