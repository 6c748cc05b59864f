# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints of smtrain, read as anybody could who knows the format."""


def newest(folder):
    return sorted(folder.glob("checkpoint-*"))[-1]


def shard(path):
    """A file of one with a single rank."""
    (found,) = path.glob("shard-*")
    return found


def state_of(path):
    """All that a run goes on from, however many ranks saved it: the lines of
    the settings and the position, and the bytes of the arrays."""
    header, pieces = [], []
    for line in (path / "manifest").read_text().splitlines():
        name, _, value = line.partition("=")
        if name == "shard":
            shard_bytes = (path / value.split()[0]).read_bytes()
            at = 0
        elif name == "piece":
            array, first, count = map(int, value.split())
            pieces.append((array, first, shard_bytes[at:at + 4 * count]))
            at += 4 * count
        elif name not in ("world size", "crc32"):
            header.append(line)
    return header, b"".join(numbers for _, _, numbers in sorted(pieces))
