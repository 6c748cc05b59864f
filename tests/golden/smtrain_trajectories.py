#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first ten steps of smtrain's models as PyTorch computes them, in double
precision: what smtrain has to come to.

    tests/golden/smtrain_trajectories.py >tests/golden/smtrain-trajectories.txt

Nothing of smtrain is run or linked here. Models are written down again from
the papers, gradients are autograd's, and the optimizers torch.optim's
(Debian's python3-torch). What is random is drawn as docs/trainer.md promises: by
Philox4x32-10 (Salmon et al., SC11), keyed by the seed and by what it is for.
So first weights, batches and dropout are the same to the last sample. Images
are the first of Fashion-MNIST's; the text is LICENSE.
"""

import gzip
import math
import pathlib
import sys

import torch
from torch.nn import functional

ROOT = pathlib.Path(__file__).resolve().parents[2]
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
STREAM_INIT, STREAM_ORDER, STREAM_DROPOUT = range(3)

# Two epochs of five steps each, the last one smaller than the others.
COMMON = {"batch": 20, "limit": 90, "epochs": 2, "momentum": 0.9,
          "warmup": 0.6, "scale-lr": "none", "base-batch": 5}
RUNS = {
    "mlp": {"width": 16, "depth": 2, "dropout": 0.1, "seed": 3,
            "optimizer": "sgd", "lr": 0.05, "weight-decay": 0.01,
            "clip-norm": 0, "schedule": "cosine"},
    "cnn": {"channels": 2, "depth": 2, "width": 16, "dropout": 0.2, "seed": 4,
            "optimizer": "sgd", "lr": 0.1, "weight-decay": 0.01,
            "clip-norm": 0.3, "schedule": "step", "decay-every": 1,
            "decay-factor": 0.5},
    "gpt": {"layers": 2, "heads": 2, "width": 16, "context": 16,
            "dropout": 0.1, "seed": 5, "optimizer": "adam", "lr": 0.01,
            "weight-decay": 0.1, "clip-norm": 0, "schedule": "wsd",
            "decay-share": 0.4, "scale-lr": "sqrt"},
}


def philox(seed, trial, stream):
    """The generator's words of 32 bits, one after the other."""
    low, block = 0xFFFFFFFF, 0
    while True:
        word = [block, stream, trial & low, trial >> 32]
        key = [seed & low, seed >> 32]
        for _ in range(10):
            first, second = 0xD2511F53 * word[0], 0xCD9E8D57 * word[2]
            word = [second >> 32 ^ word[1] ^ key[0], second & low,
                    first >> 32 ^ word[3] ^ key[1], first & low]
            key = [key[0] + 0x9E3779B9 & low, key[1] + 0xBB67AE85 & low]
        yield from word
        block += 1


def wide(words):
    return next(words) | next(words) << 32


def uniform(words):
    return (wide(words) >> 11) * 2.0 ** -53


def normal(seed, tensor, shape, deviation):
    """By Box and Muller, 1958."""
    words, numbers = philox(seed, tensor, STREAM_INIT), []
    for _ in range((math.prod(shape) + 1) // 2):
        radius = math.sqrt(-2 * math.log(1 - uniform(words)))
        angle = 2 * math.pi * uniform(words)
        numbers += [radius * math.cos(angle), radius * math.sin(angle)]
    return deviation * torch.tensor(numbers[:math.prod(shape)]).view(shape)


def shuffled(seed, epoch, count):
    """By Fisher and Yates, from the inside out."""
    words, order = philox(seed, epoch, STREAM_ORDER), []
    for i in range(count):
        number, unfair = wide(words), 2 ** 64 % (i + 1)
        while number < unfair:
            number = wide(words)
        j = number % (i + 1)
        order.append(order[j] if j < i else i)
        order[j] = i
    return order


class Model:
    """Tensors in the order in which smtrain numbers them, and dropout."""

    def __init__(self, flags):
        self.flags, self.tensors = flags, []

    def weight(self, *shape, deviation):
        self.tensors.append(normal(self.flags["seed"], len(self.tensors),
                                   shape, deviation))

    def constant(self, count, value=0.0):
        self.tensors.append(torch.full((count,), value))

    def drop_out(self, x, step, place):
        rate = self.flags["dropout"]
        words = philox(self.flags["seed"], step, STREAM_DROPOUT + place)
        kept = torch.tensor([next(words) >= int(rate * 2 ** 32)
                             for _ in range(x.numel())]).view(x.shape)
        return torch.where(kept, x / (1 - rate), torch.zeros(()))


class Images(Model):
    @staticmethod
    def read(_):
        """Pixels, and the class of each image."""
        pixels = gzip.open(FASHION / "train-images-idx3-ubyte.gz").read(80000)
        labels = gzip.open(FASHION / "train-labels-idx1-ubyte.gz").read(1000)
        count = (len(pixels) - 16) // 784
        x = torch.tensor(list(pixels[16:16 + 784 * count])).view(-1, 1, 28, 28)
        return ((x / 255 - 0.2860) / 0.3530,
                torch.tensor(list(labels[8:8 + count])))


class Mlp(Images):
    def __init__(self, flags):
        super().__init__(flags)
        sizes = [784] + [flags["width"]] * flags["depth"] + [10]
        for inputs, outputs in zip(sizes, sizes[1:]):
            self.weight(outputs, inputs, deviation=math.sqrt(2 / inputs))
            self.constant(outputs)

    def logits(self, x, step):
        x = x.flatten(1)
        for i in range(self.flags["depth"]):
            x = functional.linear(x, *self.tensors[2 * i:2 * i + 2]).relu()
            x = self.drop_out(x, step, i)
        return functional.linear(x, *self.tensors[-2:])


class Cnn(Images):
    def __init__(self, flags):
        super().__init__(flags)
        side, inputs = 28, 1
        for i in range(flags["depth"]):
            outputs = flags["channels"] << i
            gain = 1 / 1.55 if i > 0 else 1
            self.weight(outputs, 3, 3, inputs,
                        deviation=math.sqrt(gain / (9 * inputs)))
            self.constant(outputs)
            side, inputs = side // 2, outputs
        features = side * side * inputs
        self.weight(flags["width"], features,
                    deviation=math.sqrt(1 / 1.55 / features))
        self.constant(flags["width"])
        self.weight(10, flags["width"],
                    deviation=math.sqrt(0.01 / flags["width"]))
        self.constant(10)

    def logits(self, x, step):
        for i in range(self.flags["depth"]):
            kernel, bias = self.tensors[2 * i:2 * i + 2]
            x = functional.conv2d(x, kernel.permute(0, 3, 1, 2), bias,
                                  padding=1)
            x = functional.max_pool2d(x, 2).relu()
        x = x.permute(0, 2, 3, 1).flatten(1)
        x = functional.linear(x, *self.tensors[-4:-2]).relu()
        return functional.linear(self.drop_out(x, step, 0), *self.tensors[-2:])


class Gpt(Model):
    def __init__(self, flags):
        super().__init__(flags)
        width, layers = flags["width"], flags["layers"]
        plain, end = width ** -0.5, (2 * width * layers) ** -0.5
        self.weight(flags.get("classes", 256), width, deviation=0.02)
        self.weight(flags["context"], width, deviation=0.02)
        for _ in range(layers):
            for wide_rows, end_columns, end_deviation in (
                    (3 * width, width, end), (4 * width, 4 * width, end / 2)):
                self.constant(width, 1.0)
                self.constant(width)
                self.weight(wide_rows, width, deviation=plain)
                self.constant(wide_rows)
                self.weight(width, end_columns, deviation=end_deviation)
                self.constant(width)
        self.constant(width, 1.0)
        self.constant(width)

    @staticmethod
    def read(flags):
        """Windows of bytes, and the byte behind each."""
        text, context = (ROOT / "LICENSE").read_bytes(), flags["context"]
        tokens = torch.tensor(list(text))
        starts = range(0, (len(text) - 2 * (len(text) // 20)) - context,
                       context)
        return tuple(torch.stack([tokens[at + ahead:at + ahead + context]
                                  for at in starts]) for ahead in (0, 1))

    def attention(self, y):
        count, context, _ = y.shape
        query, key, value = (
            part.view(count, context, self.flags["heads"], -1).transpose(1, 2)
            for part in y.chunk(3, dim=2))
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1])
        future = torch.ones(context, context, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(future, -math.inf).softmax(-1) @ value
        return mixed.transpose(1, 2).flatten(2)

    def logits(self, tokens, step):
        width, left = self.flags["width"], list(self.tensors)
        table, positions = left.pop(0), left.pop(0)
        x = self.drop_out(table[tokens] + positions, step, 0)
        bends = (self.attention,
                 lambda y: functional.gelu(y, approximate="tanh"))
        for place in range(2 * self.flags["layers"]):
            gain, bias, weight, shift, end, end_shift = left[:6]
            left = left[6:]
            y = functional.layer_norm(x, (width,), gain, bias)
            y = bends[place % 2](functional.linear(y, weight, shift))
            y = functional.linear(y, end, end_shift)
            x = x + self.drop_out(y, step, place + 1)
        return functional.layer_norm(x, (width,), *left) @ table.T


MODELS = {"mlp": Mlp, "cnn": Cnn, "gpt": Gpt}


def rate(flags, epoch, length):
    """The learning rate of a step that begins at `epoch`."""
    end, warmup = flags["epochs"], flags["warmup"]
    scale = {"none": 1, "sqrt": math.sqrt(flags["batch"] /
                                          flags["base-batch"])}
    scale = scale[flags["scale-lr"]]
    start = 1 / scale if scale > 1 else 0
    risen = min(1, (epoch + length) / warmup)
    if flags["schedule"] == "cosine":
        done = max(0, epoch - warmup) / (end - warmup)
        factor = (1 + math.cos(math.pi * done)) / 2
    elif flags["schedule"] == "step":
        factor = flags["decay-factor"] ** (epoch // flags["decay-every"])
    else:
        factor = min(1, (end - epoch) / (flags["decay-share"] * end))
    return flags["lr"] * factor * scale * (start + (1 - start) * risen)


def make_optimizer(flags, tensors):
    if flags["optimizer"] == "sgd":
        return torch.optim.SGD(tensors, lr=1, momentum=flags["momentum"],
                               weight_decay=flags["weight-decay"])
    return torch.optim.AdamW(tensors, lr=1, betas=(0.9, 0.999), eps=1e-8,
                             weight_decay=flags["weight-decay"])


def batches(flags):
    """The epoch in which each step begins, and its samples."""
    count, batch = flags["limit"], flags["batch"]
    steps = -(-count // batch)
    for epoch in range(flags["epochs"]):
        order = shuffled(flags["seed"], epoch, count)
        for i in range(steps):
            yield (epoch + i / steps, 1 / steps,
                   order[i * batch:(i + 1) * batch])


def train(model, flags):
    """Prints a line a step."""
    inputs, targets = model.read(flags)
    for tensor in model.tensors:
        tensor.requires_grad_()
    optimizer = make_optimizer(flags, model.tensors)
    for step, (epoch, length, samples) in enumerate(batches(flags)):
        (group,) = optimizer.param_groups
        group["lr"] = rate(flags, epoch, length)
        optimizer.zero_grad()
        logits = model.logits(inputs[samples], step)
        loss = functional.cross_entropy(logits.flatten(0, -2),
                                        targets[samples].flatten())
        loss.backward()
        norm = math.sqrt(sum(float((tensor.grad ** 2).sum())
                             for tensor in model.tensors))
        if 0 < flags["clip-norm"] < norm:
            for tensor in model.tensors:
                tensor.grad *= flags["clip-norm"] / norm
        optimizer.step()
        print(f"step={step + 1} loss={float(loss):.9g} "
              f"grad_norm={norm:.9g} lr={group['lr']:.9g}")


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    print("# Made by tests/golden/smtrain_trajectories.py with PyTorch "
          f"{torch.__version__}.")
    for name, own in RUNS.items():
        flags = {**COMMON, **own}
        print("smtrain", name,
              *(f"--{flag} {value}" for flag, value in flags.items()))
        train(MODELS[name](flags), flags)


if __name__ == "__main__":
    sys.exit(main())
