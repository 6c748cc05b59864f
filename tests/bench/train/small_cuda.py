#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Training steps of the small models on one GPU: smtrain with and without CUDA
graphs beside PyTorch, eager and with its step captured as a CUDA graph.

    tests/bench/train/small_cuda.py [BUILD]

Batches of 128 random images in fp32, SGD with momentum. smtrain's step includes
reading its batch and its loss. PyTorch trains on one batch that stays on the
GPU. Prints the median of blocks of 100 steps. Where a GPU, the CUDA backend or
PyTorch are missing it prints what is missing and exits 0.
"""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import torch_cnn

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
BATCH, BLOCK, BLOCKS = torch_cnn.BATCH, 100, 6
MODELS = {"mlp": ["--width", 256, "--depth", 2, "--dropout", 0.2],
          "cnn": ["--channels", torch_cnn.CHANNELS, "--depth", torch_cnn.DEPTH,
                  "--width", torch_cnn.WIDTH, "--dropout", torch_cnn.DROPOUT]}


def smtrain_ms(model, data, *more):
    output = subprocess.run(
        [str(word) for word in (
            BUILD / "smtrain", model, "--data", data, "--backend", "cuda",
            "--batch", BATCH, "--epochs", 1, "--limit", BATCH * BLOCK * BLOCKS,
            "--log-steps", BLOCK, *MODELS[model], *more)],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    steps = [dict(re.findall(r"(\w+)=([\d.e+-]+)", line))
             for line in output.splitlines() if line.startswith("step=")]
    return statistics.median(
        float(step["compute_ms"]) + float(step["exposed_comm_ms"]) +
        float(step["input_ms"]) for step in steps[1:])


def make_model(kind):
    from torch import nn

    if kind == "mlp":
        return nn.Sequential(
            nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(256, 10))
    return torch_cnn.make_model()


def torch_ms(kind, captures):
    import torch

    model = make_model(kind).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    images = torch.randn(BATCH, 1, 28, 28, device="cuda")
    labels = torch.randint(0, 10, (BATCH,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=False)
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    if captures:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        run = graph.replay
    else:
        run = step
    spent = []
    for _ in range(BLOCKS):
        torch.cuda.synchronize()
        start = time.monotonic()
        for _ in range(BLOCK):
            run()
        torch.cuda.synchronize()
        spent.append((time.monotonic() - start) * 1e3 / BLOCK)
    return statistics.median(spent[1:])


def is_missing():
    try:
        import torch
        lacks = [] if torch.cuda.is_available() else ["a GPU"]
    except ImportError:
        lacks = [f"a PyTorch of {sys.executable}"]
    if not (BUILD / "smtrain-cuda.so").exists():
        lacks.append(f"{BUILD}/smtrain-cuda.so")
    if lacks:
        print("small_cuda.py: skipped: missing " + ", ".join(lacks))
    return bool(lacks)


def main():
    if is_missing():
        return
    with tempfile.TemporaryDirectory() as folder:
        torch_cnn.write_images(pathlib.Path(folder), BLOCK * BLOCKS)
        for kind in MODELS:
            plain = smtrain_ms(kind, folder, "--no-cuda-graphs")
            graphs = smtrain_ms(kind, folder)
            print(f"{kind}, a step of {BATCH} images: smtrain "
                  f"{graphs:.3f} ms ({plain:.3f} without graphs), PyTorch "
                  f"{torch_ms(kind, True):.3f} ms with a graph, "
                  f"{torch_ms(kind, False):.3f} eager", flush=True)


if __name__ == "__main__":
    main()
