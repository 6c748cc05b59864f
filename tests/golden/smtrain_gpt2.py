#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small GPT-2 as Hugging Face's libraries write it, with what they compute.

    PYTHON tests/golden/smtrain_gpt2.py

Writes tests/golden/gpt2 anew, with a PYTHON that has torch, transformers,
tokenizers and safetensors; nothing of smtrain is run. The model is
tests/e2e/gpt2_peer.py's, with a vocabulary of the text LICENSE.
"""

import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/golden/gpt2"
sys.path.insert(0, str(ROOT / "tests/e2e"))
import gpt2_peer  # noqa: E402

# Each of its classes of characters beside each other one, and what ends a text.
PARTS = ("the License", " ", "  ", "\n", "\t", "'s", "'", "é", "中文", "12", "²",
         "!?", "\u00a0", "\u0301", "🙂", "<|endoftext|>", "<|endoftext|", "'LL")
TEXTS = ["", "GNU General Public License", "it's we'll  I'd\n\n\n  x ",
         "a" * 150, "。".join("自由軟體" * 30)]


def main():
    draw = random.Random(1)
    texts = TEXTS + ["".join(draw.choices(PARTS, k=12)) for _ in range(40)]
    gpt2_peer.make(FOLDER, (ROOT / "LICENSE").read_text())
    tokens = gpt2_peer.tokens(FOLDER, texts)
    (FOLDER / "tokens.json").write_text(json.dumps(
        [list(pair) for pair in zip(texts, tokens)], ensure_ascii=False,
        indent=0) + "\n")
    some = draw.choices(range(300), k=24)
    logits = gpt2_peer.logits(FOLDER, some)
    (FOLDER / "logits.json").write_text(json.dumps(
        {"tokens": some, "logits": [[float(f"{number:.6g}") for number in row]
                                    for row in logits]}) + "\n")
    (FOLDER / "generation_config.json").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
