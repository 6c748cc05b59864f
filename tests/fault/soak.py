# SPDX-License-Identifier: GPL-3.0-or-later
"""How much is done: a little in `make check`, and in `make soak` what
SMTUNE_KILLS, SMTUNE_CUTS and SMTUNE_HISTORIES say. With SMTUNE_SOAK each test
leaves a line there of what it did; run as a program, this adds them up."""

import collections
import json
import os
import pathlib
import sys

KILLS = int(os.environ.get("SMTUNE_KILLS", 300))
CUTS = int(os.environ.get("SMTUNE_CUTS", 20))


def note(what, seed, **counts):
    """Writes down what a test did that went well."""
    folder = os.environ.get("SMTUNE_SOAK")
    if folder:
        line = json.dumps({"what": what, "seed": seed, **counts})
        with open(f"{folder}/done.jsonl", "a") as file:
            file.write(line + "\n")


def table(folder):
    total = collections.defaultdict(collections.Counter)
    with open(pathlib.Path(folder) / "done.jsonl") as file:
        for line in file:
            done = json.loads(line)
            what = done.pop("what")
            del done["seed"]
            total[what].update(seeds=1, **done)
    lines = []
    for what, counts in sorted(total.items()):
        lines.append(f"{what:24} " + "  ".join(
            f"{count} {name}" for name, count in counts.items()))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    text = table(sys.argv[1])
    (pathlib.Path(sys.argv[1]) / "table").write_text(text)
    print(text, end="")
