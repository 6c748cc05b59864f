# SPDX-License-Identifier: GPL-3.0-or-later
"""Prepares images in the IDX format: stretches each one's contrast.

    images.py shard --source DIR --part 0 --of 4 --limit 60000 --out FILE
    images.py join --source DIR --shards '["FILE", ...]' --out DIR

A shard has every OFth image. `join` restores their order, copies the labels, and
treats the test images in the same way.
"""

import argparse
import gzip
import json
import pathlib
import struct

HEAD = ">IIII"
MAGIC = 0x803


def read(path):
    """The images of a file, as bytes, and their rows and columns."""
    with gzip.open(path) as file:
        magic, count, rows, columns = struct.unpack(HEAD, file.read(16))
        assert magic == MAGIC, f"{path} holds no images"
        pixels, size = file.read(), rows * columns
    return [pixels[i * size:(i + 1) * size] for i in range(count)], rows, columns


def write(path, images, rows, columns):
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(struct.pack(HEAD, MAGIC, len(images), rows, columns))
        file.write(b"".join(images))


def stretch(image):
    """Makes the brightest pixel white."""
    most = max(image)
    if most in (0, 255):
        return image
    return image.translate(bytes(min(255, i * 255 // most)
                                 for i in range(256)))


def shard(options):
    images, rows, columns = read(
        options.source / "train-images-idx3-ubyte.gz")
    mine = [stretch(image)
            for image in images[:options.limit][options.part::options.of]]
    write(options.out, mine, rows, columns)
    print(f"images={len(mine)}")


def join(options):
    parts = [read(path) for path in json.loads(options.shards)]
    rows, columns = parts[0][1:]
    total = sum(len(images) for images, _, _ in parts)
    joined = [None] * total
    for part, (images, _, _) in enumerate(parts):
        joined[part::len(parts)] = images
    options.out.mkdir(parents=True, exist_ok=True)
    write(options.out / "train-images-idx3-ubyte.gz", joined, rows, columns)
    with gzip.open(options.source / "train-labels-idx1-ubyte.gz") as file:
        labels = file.read()[8:8 + total]
    with gzip.open(options.out / "train-labels-idx1-ubyte.gz", "wb") as file:
        file.write(struct.pack(">II", 0x801, total) + labels)
    images, rows, columns = read(options.source / "t10k-images-idx3-ubyte.gz")
    write(options.out / "t10k-images-idx3-ubyte.gz",
          [stretch(image) for image in images], rows, columns)
    name = "t10k-labels-idx1-ubyte.gz"
    (options.out / name).write_bytes((options.source / name).read_bytes())
    print(f"images={total}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["shard", "join"])
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--limit", type=int, default=60000)
    parser.add_argument("--shards")
    options = parser.parse_args()
    {"shard": shard, "join": join}[options.what](options)


main()
