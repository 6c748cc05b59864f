# SPDX-License-Identifier: GPL-3.0-or-later
"""A vocabulary of any size, and a text of which every token is known.

A token is a byte; or two of them, the first of 128 .. 191, the second above; or
such a pair and a letter. A text is of the last kind, in words of ten and a line
break, as no token of smtrain's goes past 32 bytes. How often each comes falls
off as words of a language do (Zipf's law), so that gradients of the embeddings
are as uneven as theirs.
"""

import array
import itertools
import pathlib
import random
import string

BYTES, SIDE, WORD = 256, 64, 10
LETTERS = string.ascii_letters.encode()
LINE_BREAK = ord("\n")


class Vocabulary:
    def __init__(self, size):
        count = -(-(size - BYTES) // (1 + len(LETTERS)))
        self.pairs = [(128 + i // SIDE, 128 + SIDE + i % SIDE)
                      for i in range(count)]
        self.first = BYTES + count  # of the tokens that texts are made of
        self.last = [(BYTES + i // len(LETTERS), LETTERS[i % len(LETTERS)])
                     for i in range(size - self.first)]

    def write(self, path):
        """As `smtrain vocabulary` does."""
        lines = [f"{left} {right}\n" for left, right in self.pairs + self.last]
        pathlib.Path(path).write_text("smtrain vocabulary 1\n" +
                                      "".join(lines))

    def draw(self, count, seed=1):
        """So many tokens, or a few more: a whole number of words."""
        weights = [1 / (i + 1) for i in range(len(self.last))]
        drawn = random.Random(seed).choices(
            range(self.first, self.first + len(weights)), k=count,
            cum_weights=list(itertools.accumulate(weights)))
        tokens = array.array("i")
        for i in range(0, count, WORD):
            tokens.extend(drawn[i:i + WORD])
            tokens.append(LINE_BREAK)
        return tokens

    def spell(self, tokens):
        spelled = {token: bytes((*self.pairs[left - BYTES], right))
                   for token, (left, right) in enumerate(self.last, self.first)}
        spelled[LINE_BREAK] = b"\n"
        return b"".join(map(spelled.__getitem__, tokens))
