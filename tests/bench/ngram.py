#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What n-gram models come to on a text, in nats a byte, for comparison with
`smtrain gpt`: counted on what it trains on, measured on what it holds out.

    tests/bench/ngram.py TEXT [HIGHEST]

A model of order n tells a byte from the n before it; its counts are smoothed
by adding ALPHA to each. The line of an order names the best ALPHA of a few.
"""

import collections
import gzip
import math
import pathlib
import sys

ALPHAS = (1, 0.1, 0.01, 0.001)


def read(path):
    data = pathlib.Path(path).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def parts(text):
    """As training/data/text.c has them: to train on, and held out."""
    share = len(text) // 20
    return text[:-2 * share], text[-2 * share:-share]


def losses(text, held, order):
    """Nats a byte for each of ALPHAS."""
    pairs = collections.Counter(
        text[i:i + order + 1] for i in range(len(text) - order))
    contexts = collections.Counter(
        text[i:i + order] for i in range(len(text) - order))
    known = len(set(text))
    seen = collections.Counter(
        held[i:i + order + 1] for i in range(len(held) - order))
    return [sum(count * -math.log((pairs[run] + alpha)
                                  / (contexts[run[:-1]] + alpha * known))
                for run, count in seen.items()) / seen.total()
            for alpha in ALPHAS]


def main():
    text, held = parts(read(sys.argv[1]))
    highest = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    for order in range(highest + 1):
        loss, alpha = min(zip(losses(text, held, order), ALPHAS))
        print(f"order={order} nats_per_byte={loss:.3f} alpha={alpha}",
              flush=True)


if __name__ == "__main__":
    main()
