# SPDX-License-Identifier: GPL-3.0-or-later
"""What torch_*.py have in common: a training step of smtrain beside PyTorch's
(Debian's python3-torch) of the same model, with 1 and with 2 ranks.

A batch is shared out to the ranks, each of which has one thread; PyTorch's
take DistributedDataParallel with gloo. `smtune launch` starts both, in turns.
smtrain's step is what more samples cost a whole run: reading, shuffling and
gathering them is in it. PyTorch's is that of steps on the same batch again and
again. Times are the processor's, of all ranks, since other programs may run
meanwhile; behind them is by how much the time on the clock differs.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1
                     else ROOT / "build").resolve()
ROUNDS = 3
FEW, MANY = 5, 25  # steps of two runs; the fewer warm PyTorch up
RANKS = (1, 2)


def launch(ranks, words):
    """Runs a program; its processor time and time in seconds, its output."""
    start = time.monotonic()
    process = subprocess.Popen(
        [str(word) for word in (BUILD / "smtune", "launch", "-n", ranks, "--",
                                *words)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        sys.exit(f"{words}: exit status {process.returncode}")
    return (usage.ru_utime + usage.ru_stime, time.monotonic() - start), output


def smtrain_step(ranks, batch, words):
    """Processor time and time of a step."""
    few, many = (launch(ranks, [BUILD / "smtrain", *words, "--epochs", 1,
                                "--batch", batch, "--limit", steps * batch])[0]
                 for steps in (FEW, MANY))
    return [(b - a) / (MANY - FEW) for a, b in zip(few, many)]


def torch_step(ranks, words):
    """The same of the script that runs, which is started with --torch."""
    _, output = launch(ranks, [sys.executable, sys.argv[0], BUILD, "--torch",
                               *words])
    (line,) = [line for line in output.splitlines() if "step_s=" in line]
    return [float(number) for number in line.rpartition("step_s=")[2].split()]


def wants_torch():
    """The words behind --torch; None where the script is to compare."""
    return sys.argv[3:] if sys.argv[2:3] == ["--torch"] else None


def share(batch):
    """This rank's part of a batch, in samples."""
    return batch // int(os.environ["WORLD_SIZE"])


def time_in_torch(model, optimizer_of, loss_of):
    """Rank 0 prints the processor time of all ranks and the time of a step.
    optimizer_of(parameters); loss_of(model): of this rank's part."""
    import torch
    from torch import distributed

    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    if distributed.get_world_size() > 1:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = optimizer_of(model.parameters())

    def train(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            loss_of(model).backward()
            optimizer.step()
        distributed.barrier()

    train(FEW)
    before = time.process_time(), time.monotonic()
    train(MANY - FEW)
    spent = torch.tensor([time.process_time() - before[0],
                          time.monotonic() - before[1]], dtype=torch.float64)
    spent /= MANY - FEW
    distributed.reduce(spent, 0)
    if distributed.get_rank() == 0:
        print("step_s=%g %g" % (spent[0],
                                spent[1] / distributed.get_world_size()))


def compare(what, batch, smtrain_words, torch_words=()):
    """Prints a line for each number of ranks; whether smtrain is ahead."""
    ahead = True
    for ranks in RANKS:
        pairs = [(smtrain_step(ranks, batch, smtrain_words),
                  torch_step(ranks, torch_words)) for _ in range(ROUNDS)]
        ours, theirs = (statistics.median(step[0] for step in steps)
                        for steps in zip(*pairs))
        ratio, clock = (statistics.median(theirs[i] / ours[i]
                                          for ours, theirs in pairs)
                        for i in range(2))
        print(f"{what}, {ranks} rank{'s' * (ranks > 1)}: smtrain "
              f"{ours * 1e3:.1f} ms, PyTorch {theirs * 1e3:.1f} ms, "
              f"{ratio:.2f} times as long; {clock:.2f} by the clock",
              flush=True)
        ahead = ahead and ratio > 1
    return ahead
