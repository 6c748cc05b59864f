# SPDX-License-Identifier: GPL-3.0-or-later
"""A line through points, fitted by gradient descent on many machines: each
rank has its share of the points, and rank 0 adds the gradients up. Any
data-parallel training has the same parts: the variables of the environment,
the checkpoint, and the reaction to USR2."""

import argparse
import json
import os
import pathlib
import random
import signal
import socket
import sys
import time

COME_BACK = 75  # a checkpoint exists, and work is left

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, required=True)
parser.add_argument("--pause", type=float, default=0.01)
parser.add_argument("--checkpoint-dir", type=pathlib.Path, required=True)
options = parser.parse_args()

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
PLACE = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
signalled = []
signal.signal(signal.SIGUSR2, lambda *_: signalled.append(True))


def connect():
    """A list of [file] to and from: rank 0's of all others, theirs of it."""
    if RANK > 0:
        for _ in range(600):
            try:
                link = socket.create_connection(PLACE)
                return [link.makefile("rw")]
            except OSError:
                time.sleep(0.1)
        sys.exit(f"rank 0 is not at {PLACE}")
    with socket.create_server(("", PLACE[1]), backlog=WORLD) as server:
        return [server.accept()[0].makefile("rw") for _ in range(WORLD - 1)]


def add_up(links, numbers):
    """The sum over all ranks, which all get."""
    if RANK > 0:
        print(json.dumps(numbers), file=links[0], flush=True)
        return json.loads(links[0].readline())
    rows = [numbers] + [json.loads(link.readline()) for link in links]
    total = [sum(column) for column in zip(*rows)]
    for link in links:
        print(json.dumps(total), file=link, flush=True)
    return total


def save(path, state):
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(state))
    temporary.replace(path)


def main():
    path = options.checkpoint_dir / "weights.json"
    chance = random.Random(RANK)
    points = [(x, 3 * x - 1 + chance.gauss(0, 0.01)) for x in
              (chance.uniform(-1, 1) for _ in range(100))]
    state = (json.loads(path.read_text()) if path.exists()
             else {"step": 0, "a": 0.0, "b": 0.0})
    links = connect()
    while state["step"] < options.steps:
        a, b = state["a"], state["b"]
        errors = [(a * x + b - y, x) for x, y in points]
        da, db, loss, count, stop = add_up(links, [
            sum(e * x for e, x in errors), sum(e for e, _ in errors),
            sum(e * e for e, _ in errors), len(points), len(signalled)])
        state = {"step": state["step"] + 1, "a": a - 0.1 * da / count,
                 "b": b - 0.1 * db / count}
        if RANK == 0 and (stop or state["step"] % 100 == 0):
            save(path, state)
            print(f"step={state['step']} loss={loss / count:.6f}", flush=True)
        if stop:  # all see it at the same step, some before they are signalled
            signal.signal(signal.SIGUSR2, signal.SIG_IGN)
            return COME_BACK
        time.sleep(options.pause)
    if RANK == 0:
        save(path, state)
    return 0


sys.exit(main())
