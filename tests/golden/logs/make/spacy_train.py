# SPDX-License-Identifier: GPL-3.0-or-later
"""spacy train with a text classifier."""

import json
import random
from pathlib import Path

import spacy
from data import write_curve
from spacy.cli.init_config import init_config
from spacy.cli.train import train
from spacy.tokens import DocBin

random.seed(1)
nlp = spacy.blank("en")
good, bad = "nice good fine warm bright".split(), "bad sad cold dark poor".split()
for name, count in (("train", 200), ("dev", 60)):
    docs = DocBin()
    for _ in range(count):
        is_good = random.random() < 0.5
        doc = nlp(" ".join(random.choice(good if is_good else bad)
                           for _ in range(4)))
        doc.cats = {"GOOD": float(is_good), "BAD": float(not is_good)}
        docs.add(doc)
    docs.to_disk(f"{name}.spacy")
config = init_config(lang="en", pipeline=["textcat"], optimize="efficiency")
config["training"]["logger"] = {"@loggers": "spacy.ConsoleLogger.v3",
                                "output_file": "log.jsonl"}
config.to_disk("config.cfg")
train("config.cfg", output_path="out",
      overrides={"paths.train": "train.spacy", "paths.dev": "dev.spacy",
                 "training.max_steps": 100, "training.eval_frequency": 20})
lines = map(json.loads, Path("log.jsonl").read_text().splitlines())
write_curve("steps", "LOSS TEXTCAT", [(line["step"], line["losses"]["textcat"])
                                      for line in lines])
