#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPT-2 124M on one GPU in bf16: a training step of smtrain beside PyTorch's,
eager and compiled, in turns.

    tests/bench/train/gpt2.py [BUILD] [--batch N] [--rounds N]
    tests/bench/train/gpt2.py [BUILD] --device cpu --shape tiny

PyTorch (gpt2_torch.py) is that of the Python that runs this. Both learn from
one text (gpt2_text.py), as many tokens a step, with AdamW on fp32 parameters
and no dropout. First a tiny model of both begins with the same weights, and has
to come to the same losses; then both say how many parameters they have. A
step's time is the mean of ten, the median of those behind the first twenty, and
of all rounds. smtrain's has in it what its users have: reading its batch and
its loss in each step, the gradients' norm in each tenth. PyTorch's tokens are
on the GPU from the start, and it waits for the GPU each tenth step alone.

Exits 1 where smtrain is not ahead of both, or computes something else. Where
GPU, nvcc's backend or PyTorch are missing it says so and exits 0.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from gpt2_text import Vocabulary

FOLDER = pathlib.Path(__file__).resolve().parent
BLOCK, WARM_BLOCKS, BLOCKS = 10, 2, 6  # of steps
LOSSES, CHECK_BATCH = 8, 4
OFF = {"cpu": 1e-4, "cuda": 1e-2}  # that losses may be; cuda computes in bf16
DECAY, SEED = 0.1, 1
LR, CHECK_LR = 3e-4, 3e-3
# Dense bf16, from NVIDIA's data sheets; the first whose name is in the GPU's.
SHEETS = {"H100 PCIe": 756e12, "H100 NVL": 835e12, "H200 NVL": 835e12,
          "H100": 989e12, "H200": 989e12, "A100": 312e12}


@dataclasses.dataclass
class Shape:
    layers: int
    heads: int
    width: int
    context: int
    classes: int

    def parameters(self):
        return (self.width * (self.classes + self.context + 2) + self.layers *
                (12 * self.width ** 2 + 13 * self.width))

    def flops(self):
        """A token's: 6 for each number that it is multiplied by, and attention
        to what is before it, half of the context in the mean."""
        numbers = self.width * self.classes + self.layers * (
            12 * self.width ** 2 + self.width * (self.context + 1))
        return 6 * numbers


# The vocabulary of 50257 in whole tiles, as is usual.
SHAPES = {"gpt2": Shape(12, 12, 768, 1024, 50304),
          "tiny": Shape(2, 2, 32, 32, 512)}


class Peers:
    """smtrain and PyTorch, on one shape and text."""

    def __init__(self, build, device, shape, sizes, folder):
        self.build, self.device, self.shape = build, device, shape
        self.batch, self.steps, self.lr = sizes
        batch, steps, _ = sizes
        self.text, self.tokens, self.vocabulary = (
            folder / name for name in ("text", "tokens", "vocabulary"))
        made = Vocabulary(shape.classes)
        made.write(self.vocabulary)
        # A tenth is not trained on; one sample of it has to be whole.
        count = shape.context * max(batch * steps + 1, 20) * 10 // 9
        tokens = made.draw(count + 20 * shape.context)
        self.text.write_bytes(made.spell(tokens))
        self.tokens.write_bytes(tokens.tobytes())

    def flags(self):
        flags = {**dataclasses.asdict(self.shape), "data": self.text,
                 "vocabulary": self.vocabulary, "batch": self.batch,
                 "optimizer": "adam", "schedule": "constant", "lr": self.lr,
                 "weight-decay": DECAY, "seed": SEED, "backend": self.device,
                 "precision": {"cuda": "bf16", "cpu": "fp32"}[self.device]}
        del flags["classes"]
        return ["gpt", *(word for name, value in flags.items()
                         for word in (f"--{name}", value))]

    def smtrain(self, limit, epochs, every):
        output = output_of([
            self.build / "smtrain", *self.flags(), "--limit", limit,
            "--epochs", epochs, "--log-steps", every])
        return [{name: float(value) for name, value in
                 re.findall(r"(\w+)=([\d.e+-]+)", line)}
                for line in output.splitlines() if line.startswith("step=")]

    def torch(self, task, **more):
        job = {"task": task, "device": self.device, "seed": SEED,
               "shape": dataclasses.asdict(self.shape), "batch": self.batch,
               "steps": self.steps, "lr": self.lr, "decay": DECAY,
               "tokens": str(self.tokens), **more}
        return json.loads(output_of([sys.executable, FOLDER / "gpt2_torch.py",
                                     json.dumps(job)]))

    def losses(self):
        """Of steps on the first batch again and again, of both."""
        steps = self.smtrain(self.batch, self.steps, 1)
        return [step["loss"] for step in steps], self.torch("losses")

    def smtrain_ms(self):
        steps = self.smtrain(self.batch * self.steps, 1, BLOCK)
        return [step["compute_ms"] + step["exposed_comm_ms"] + step["input_ms"]
                for step in steps]

    def planned(self):
        return json.loads(output_of([
            self.build / "smtrain", "plan", *self.flags(), "--backend", "cpu",
            "--precision", "fp32", "--output", "json"]))


class Watch:
    """What nvidia-smi says of the device while something runs."""

    def __enter__(self):
        self.process = subprocess.Popen(
            ["nvidia-smi", "-i", device_name(), "-lms", "200",
             "--query-gpu=memory.used,clocks.sm",
             "--format=csv,noheader,nounits"],
            stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.rows = re.findall(r"^(\d+), (\d+)$",
                               self.process.communicate()[0], re.M)

    def said(self):
        if not self.rows:
            return ""
        used, clocks = (max(map(int, column)) for column in zip(*self.rows))
        return f", {used / 1024:.1f} GiB in use, {clocks} MHz"


def device_name():
    return os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]


def output_of(words):
    process = subprocess.run([str(word) for word in words],
                             stdout=subprocess.PIPE, text=True)
    if process.returncode != 0:
        sys.exit(f"gpt2.py: {words[0]}: exit status {process.returncode}")
    return process.stdout


def said_by(*words):
    """A program's output, empty where there is none."""
    try:
        return subprocess.run(words, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL).stdout
    except FileNotFoundError:
        return ""


def missing(build, device):
    """What there would have to be."""
    has = said_by(sys.executable, "-c",
                  "import torch; print(torch.cuda.is_available())").strip()
    lacks = []
    if not has:
        lacks.append(f"a PyTorch of {sys.executable} (make PYTHON=...)")
    if device == "cpu":
        return lacks
    if has == "False":
        lacks.append(f"a GPU that the PyTorch of {sys.executable} can use")
    if not said_by("nvidia-smi", "-L").startswith("GPU"):
        lacks.append("a GPU that nvidia-smi -L shows")
    if not (build / "smtrain-cuda.so").exists():
        lacks.append(f"{build}/smtrain-cuda.so, which make builds where it "
                     "finds nvcc (make NVCC=...)")
    return lacks


def tell_versions(device, about):
    if device == "cuda":
        print("GPU, driver, power limit: " + said_by(
            "nvidia-smi", "-i", device_name(), "--format=csv,noheader",
            "--query-gpu=name,driver_version,power.limit").strip())
        print("nvcc: " + said_by(os.environ.get("NVCC", "nvcc"), "--version")
              .strip().rpartition("\n")[2])
    print(about["said"], flush=True)


def peaks_of(device, about):
    """The device's bf16 peaks by their names; none of a processor."""
    if device == "cpu":
        return {}
    peaks = {"measured": about["peak_flops_s"]}
    name = said_by("nvidia-smi", "-i", device_name(), "--query-gpu=name",
                   "--format=csv,noheader")
    for model, flops_s in SHEETS.items():
        if model in name:
            return {**peaks, "data sheet's": flops_s}
    return peaks


def have_same_losses(build, device, folder):
    peers = Peers(build, device, SHAPES["tiny"],
                  (CHECK_BATCH, LOSSES, CHECK_LR), folder)
    ours, theirs = peers.losses()
    off = max(abs(a / b - 1) for a, b in zip(ours, theirs, strict=True))
    print(f"{LOSSES} losses of a tiny model from the same weights: "
          f"{theirs[0]:.5f} to {theirs[-1]:.5f}, smtrain's off by {off:.1e} "
          f"at most (may be: {OFF[device]:g})", flush=True)
    return off <= OFF[device]


def have_same_sizes(peers, about):
    count, plan = peers.shape.parameters(), peers.planned()
    flops = plan["flops"] / (peers.batch * peers.shape.context)
    print(f"{about['parameters']:,} parameters in PyTorch, "
          f"{plan['parameters']:,} in smtrain; {flops / 1e6:.4g} MFLOP a token",
          flush=True)
    return (about["parameters"] == plan["parameters"] == count and
            abs(flops / peers.shape.flops() - 1) < 1e-9)


def run_in_turns(peers, rounds, compiles):
    """For each contender, of all rounds: milliseconds of a step, and what
    else was seen."""
    runs = {"smtrain": peers.smtrain_ms,
            "PyTorch eager": lambda: peers.torch("times", block=BLOCK)}
    if compiles:
        runs["PyTorch compile"] = lambda: peers.torch("times", block=BLOCK,
                                                      compiles=True)
    seen = {name: [] for name in runs}
    for name, run in list(runs.items()) * rounds:
        if peers.device == "cpu":
            blocks, said = run(), ""
        else:
            with Watch() as watch:
                blocks = run()
            said = watch.said()
        seen[name].append((statistics.median(blocks[WARM_BLOCKS:]), said))
    return seen


def tell(peers, seen, peaks):
    """A line for each; by how much smtrain is ahead of the quickest other."""
    for name, rounds in seen.items():
        step_ms = statistics.median(ms for ms, _ in rounds)
        tokens_s = peers.batch * peers.shape.context / step_ms * 1e3
        shares = "".join(
            f", {100 * tokens_s * peers.shape.flops() / flops_s:.1f} % of the "
            f"{which} {flops_s / 1e12:.0f} TFLOP/s"
            for which, flops_s in peaks.items())
        print(f"{name}: {step_ms:.2f} ms a step, {tokens_s:,.0f} tokens/s"
              f"{shares}{rounds[-1][1]}", flush=True)
    ours, *others = ([ms for ms, _ in rounds] for rounds in seen.values())
    return statistics.median(min(turn[1:]) / turn[0]
                             for turn in zip(ours, *others))


def read_words():
    words = argparse.ArgumentParser()
    words.add_argument("build", nargs="?", default=FOLDER.parents[2] / "build",
                       type=pathlib.Path)
    words.add_argument("--device", choices=OFF, default="cuda")
    words.add_argument("--shape", choices=SHAPES, default="gpt2")
    words.add_argument("--batch", type=int, default=32)
    words.add_argument("--rounds", type=int, default=3)
    return words.parse_args()


def main():
    how = read_words()
    lacks = missing(how.build, how.device)
    if lacks:
        print("gpt2.py: skipped: there has to be " + ", and ".join(lacks))
        return False
    with tempfile.TemporaryDirectory() as folder:
        # What one round compiled the next one has.
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", folder + "/inductor")
        folder = pathlib.Path(folder)
        peers = Peers(how.build, how.device, SHAPES[how.shape],
                      (how.batch, BLOCK * BLOCKS, LR), folder)
        about = peers.torch("about")
        tell_versions(how.device, about)
        if not about["compiles"]:
            print("this PyTorch has no torch.compile: eager alone")
        (folder / "tiny").mkdir()
        if not (have_same_losses(how.build, how.device, folder / "tiny") and
                have_same_sizes(peers, about)):
            sys.exit("gpt2.py: the two do not compute the same")
        ratio = tell(peers, run_in_turns(peers, how.rounds, about["compiles"]),
                     peaks_of(how.device, about))
    print(f"smtrain is {ratio:.2f} times as fast as the quickest PyTorch "
          "(goal: over 1)")
    return ratio <= 1


if __name__ == "__main__":
    sys.exit(main())
