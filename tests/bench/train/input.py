#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What preparing its batches costs a step of smtrain.

    tests/bench/train/input.py [BUILD]

The share of a step's time that --log-steps calls input, the median over steps
of each model. Exits 1 where it is 2 percent or more of cnn or gpt: then batches
should be prepared by a thread beside training. Of mlp, a step of which takes
a millisecond, it is only told.
"""

import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIMIT = 0.02
MODELS = {"mlp": (128, 100), "cnn": (128, 12), "gpt": (32, 8)}  # batch, steps


def input_share(smtrain, model, batch, count, text):
    """The median over steps, and that step's milliseconds."""
    data = ["--data", text] if model == "gpt" else []
    output = subprocess.run(
        [smtrain, model, *data, "--epochs", "1", "--log-steps", "1", "--batch",
         str(batch), "--limit", str(count * batch)],
        check=True, text=True, stdout=subprocess.PIPE).stdout
    steps = [tuple(map(float, step)) for step in re.findall(
        r"compute_ms=(\S+) exposed_comm_ms=(\S+) input_ms=(\S+)", output)]
    if len(steps) != count:
        sys.exit(f"input.py: {model} printed {len(steps)} steps, not {count}")
    share = statistics.median(step[2] / sum(step) for step in steps)
    print(f"input, {model}: {100 * share:.3f} percent of a step of "
          f"{statistics.median(map(sum, steps)):.1f} ms", flush=True)
    return share


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    with tempfile.NamedTemporaryFile() as text:
        text.write(random.Random(1).randbytes(200000))
        text.flush()
        shares = {model: input_share(build / "smtrain", model, *sizes,
                                     text.name)
                  for model, sizes in MODELS.items()}
    return max(shares["cnn"], shares["gpt"]) >= LIMIT


if __name__ == "__main__":
    sys.exit(main())
