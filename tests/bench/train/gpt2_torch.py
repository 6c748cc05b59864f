#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPT-2 in PyTorch, as gpt2.py holds it against smtrain: prints one JSON
object.

    tests/bench/train/gpt2_torch.py JOB

JOB is a JSON object: `device` and `shape`, and what to do, `task`, with
`tokens`, `batch`, `steps` and, of `times`, `block` and `compiles`. PyTorch
1.13 and later; what an older one lacks is done without, and `about` says so.
"""

import importlib.util
import inspect
import json
import pathlib
import sys
import time

import torch
from torch import nn
from torch.nn import functional

ROOT = pathlib.Path(__file__).resolve().parents[3]
HAS_FLASH = hasattr(functional, "scaled_dot_product_attention")
HAS_FUSED = "fused" in inspect.signature(torch.optim.AdamW).parameters
SIDE, PRODUCTS = 8192, 30  # of matrices, to measure the device's peak


def attend(q, k, v):
    if HAS_FLASH:
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    length = q.shape[2]
    unseen = torch.ones(length, length, dtype=torch.bool,
                        device=q.device).triu(1)
    scores = q @ k.transpose(2, 3) * q.shape[3] ** -0.5
    return scores.masked_fill(unseen, -torch.inf).softmax(-1) @ v


class Block(nn.Module):
    def __init__(self, heads, width):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x):
        count, length, width = x.shape
        q, k, v = (part.view(count, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).split(width, dim=2))
        x = x + self.out(attend(q, k, v).transpose(1, 2).reshape(x.shape))
        y = functional.gelu(self.wide(self.norm2(x)), approximate="tanh")
        return x + self.narrow(y)


class Gpt(nn.Module):
    """Its parameters come in smtrain's order."""

    def __init__(self, layers, heads, width, context, classes):
        super().__init__()
        self.tokens = nn.Embedding(classes, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(heads, width)
                                      for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, targets):
        """The mean loss of a batch."""
        x = self.tokens(tokens) + self.positions.weight
        x = self.norm(self.blocks(x))
        logits = functional.linear(x, self.tokens.weight)
        return functional.cross_entropy(logits.flatten(0, 1),
                                        targets.flatten())


class Training:
    """As PyTorch's users are told to train: products in bf16 with fp32
    parameters, TF32 where fp32 is left, AdamW in one kernel."""

    def __init__(self, job):
        self.device, self.steps = job["device"], job["steps"]
        self.size = job["batch"], job["shape"]["context"]
        self.model = Gpt(**job["shape"]).to(self.device)
        if job.get("compiles"):
            self.model = torch.compile(self.model)
        raw = bytearray(pathlib.Path(job["tokens"]).read_bytes())
        self.tokens = torch.frombuffer(raw, dtype=torch.int32).long()
        self.tokens = self.tokens.to(self.device)
        fused = {"fused": True} if HAS_FUSED and self.on_gpu() else {}
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=job["lr"], betas=(0.9, 0.999),
            eps=1e-8, weight_decay=job["decay"], **fused)

    def on_gpu(self):
        return self.device == "cuda"

    def step(self, number):
        """On another batch each; its loss, which may still be under way."""
        count = self.size[0] * self.size[1]
        taken = self.tokens[number * count:(number + 1) * count + 1]
        with torch.autocast(self.device, torch.bfloat16,
                            enabled=self.on_gpu()):
            loss = self.model(taken[:-1].view(self.size),
                              taken[1:].view(self.size))
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def wait(self):
        if self.on_gpu():
            torch.cuda.synchronize()


def first_weights(flags):
    """smtrain's, by its promise of what is random alone."""
    spec = importlib.util.spec_from_file_location(
        "trajectories", ROOT / "tests/golden/smtrain_trajectories.py")
    trajectories = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(trajectories)
    return trajectories.Gpt(flags).tensors


def losses(job):
    """Of steps on the first batch again and again."""
    training = Training(job)
    tensors = first_weights({**job["shape"], "seed": job["seed"]})
    with torch.no_grad():
        for parameter, tensor in zip(training.model.parameters(), tensors,
                                     strict=True):
            parameter.copy_(tensor)
    return [float(training.step(0)) for _ in range(training.steps)]


def times(job):
    """Milliseconds of a step, the mean of each block of them."""
    training, block, mean = Training(job), job["block"], []
    for first in range(0, training.steps, block):
        start = time.monotonic()
        for i in range(first, first + block):
            training.step(i)
        training.wait()
        mean.append((time.monotonic() - start) * 1e3 / block)
    return mean


def peak_flops_s(device):
    """Of products in bf16, the median of some."""
    x = torch.randn(SIDE, SIDE, device=device, dtype=torch.bfloat16)
    spent = []
    for _ in range(PRODUCTS):
        torch.cuda.synchronize()
        start = time.monotonic()
        x @ x
        torch.cuda.synchronize()
        spent.append(time.monotonic() - start)
    return 2 * SIDE ** 3 / sorted(spent)[PRODUCTS // 2]


def about(job):
    is_gpu = job["device"] == "cuda"
    said = [f"PyTorch {torch.__version__}"]
    if is_gpu:
        said.append(f"CUDA {torch.version.cuda}")
    said.append("scaled_dot_product_attention" if HAS_FLASH else
                "attention with a matrix of scores, as it has no other")
    said.append("fused AdamW" if HAS_FUSED and is_gpu else "plain AdamW")
    return {
        "said": ", ".join(said),
        "compiles": hasattr(torch, "compile"),
        "parameters": sum(parameter.numel()
                          for parameter in Gpt(**job["shape"]).parameters()),
        "peak_flops_s": peak_flops_s("cuda") if is_gpu else None}


TASKS = {"about": about, "losses": losses, "times": times}


def main():
    job = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    if hasattr(torch, "set_float32_matmul_precision"):
        torch.set_float32_matmul_precision("high")
    print(json.dumps(TASKS[job["task"]](job)))


if __name__ == "__main__":
    main()
