# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain gpt and smtrain vocabulary as programs, on the project's own
documents."""

import gzip
import math
import re

import pytest

from programs import ROOT
from test_smtrain import lines_of, metric

SMALL = ("--layers", 1, "--heads", 2, "--width", 16, "--context", 16,
         "--lr", "0.01", "--batch", 16, "--schedule", "constant")


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    """60,000 bytes that stay as they are, the last like those before them."""
    file = tmp_path_factory.mktemp("text") / "license.txt"
    file.write_bytes((2 * (ROOT / "LICENSE").read_bytes())[:60000])
    return file


@pytest.fixture
def gpt(smtune, text):
    def run(*words, data=text):
        return smtune("gpt", *SMALL, "--data", data, *words,
                      program="smtrain")
    return run


def entropy(data):
    """Of single bytes, in nats: what a model without context comes to."""
    counts = [data.count(bytes([byte])) for byte in set(data)]
    return -sum(n / len(data) * math.log(n / len(data)) for n in counts)


@pytest.mark.sanitized
def test_learns_more_than_how_often_bytes_come(gpt, text):
    lines = lines_of(gpt("--epochs", 2))
    assert [metric(line, "epoch") for line in lines] == [1, 2]
    assert metric(lines[1], "val_loss") < entropy(text.read_bytes()) - 0.2
    assert metric(lines[1], "val_nats_per_byte") == \
        pytest.approx(metric(lines[1], "val_loss"), rel=1e-3)


@pytest.mark.parametrize("flags", [(), ("--dropout", "0.1")])
def test_goes_on_as_if_it_had_never_stopped(gpt, tmp_path, flags):
    whole = lines_of(gpt("--epochs", 2, "--limit", 800, *flags))
    assert lines_of(gpt("--epochs", 1, "--limit", 800, *flags,
                        "--checkpoint-dir", tmp_path)) == whole[:1]
    assert lines_of(gpt("--epochs", 2, "--limit", 800, *flags,
                        "--checkpoint-dir", tmp_path)) == whole[1:]
    test = gpt("--checkpoint-dir", tmp_path, "--test")
    assert metric(lines_of(test)[0], "test_loss") < 5


def test_compressed_text_is_the_same_text(gpt, text, tmp_path):
    packed = tmp_path / "docs.gz"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    limit = ("--limit", 100, "--epochs", 1)
    assert lines_of(gpt(*limit, data=packed)) == lines_of(gpt(*limit))


def test_a_vocabulary_makes_text_shorter(smtune, gpt, text, tmp_path):
    file = tmp_path / "vocabulary"
    result = smtune("vocabulary", "--data", text, "--size", 600,
                    "--output", file, program="smtrain")
    assert lines_of(result) == ["tokens=600 bytes=54000"]
    (line,) = lines_of(gpt("--vocabulary", file, "--epochs", 1))
    ratio = metric(line, "val_loss") / metric(line, "val_nats_per_byte")
    assert 1.5 < ratio < 5
    again = tmp_path / "again"
    smtune.ok("vocabulary", "--data", text, "--size", 600, "--output", again,
              program="smtrain")
    assert again.read_bytes() == file.read_bytes()


@pytest.mark.parametrize("words, status, message", [
    (("--heads", 3), 2, "--width 16 is not a multiple of --heads 3"),
    (("--context", 4000), 1, "too few tokens for samples of 4000 tokens"),
    (("--vocabulary", "/dev/null"), 1, "/dev/null"),
    (("--vocabulary", "nowhere"), 1, "nowhere"),
])
def test_what_does_not_fit_is_named(gpt, words, status, message):
    result = gpt(*words)
    assert lines_of(result, status) == []
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("words, message", [
    (("vocabulary",), "missing --output"),
    (("vocabulry",), "did you mean 'vocabulary'?"),
    (("vocabulary", "--size", "255"), "255 is out of range 256..65536"),
])
def test_wrong_words_of_vocabulary_are_named(smtune, words, message):
    result = smtune(*words, program="smtrain")
    assert result.returncode == 2
    assert message in result.stderr


def test_a_test_is_told_by_the_byte_too(gpt, smtune, text, tmp_path):
    file = tmp_path / "vocabulary"
    smtune.ok("vocabulary", "--data", text, "--size", 600, "--output", file,
              program="smtrain")
    flags = ("--vocabulary", file, "--checkpoint-dir", tmp_path / "run")
    lines_of(gpt(*flags, "--epochs", 1, "--limit", 100))
    (line,) = lines_of(gpt(*flags, "--test"))
    ratio = metric(line, "test_loss") / metric(line, "test_nats_per_byte")
    assert 1.5 < ratio < 5


@pytest.mark.parametrize("model, defaults", [
    ("mlp", {"lr": "0.05", "optimizer": "sgd", "epochs": "10"}),
    ("cnn", {"lr": "0.08", "weight-decay": "0.0005", "schedule": "cosine"}),
    ("gpt", {"lr": "0.003", "optimizer": "adam", "batch": "32",
             "epochs": "1", "schedule": "cosine"}),
])
def test_a_model_has_defaults_of_its_own(smtune, model, defaults):
    text = smtune.ok(model, "--help", program="smtrain")
    for flag, value in defaults.items():
        assert re.search(rf"^  --{flag} .* \({value}\)$", text, re.M), flag


@pytest.mark.parametrize("name", ["gpt", "vocabulary"])
def test_help_is_as_it_was(smtune, name):
    """The flags of training are those of all models."""
    text = smtune.ok(name, "--help", program="smtrain").split("\nTraining:")[0]
    golden = ROOT / f"tests/golden/smtrain-{name}-help.txt"
    assert text == golden.read_text()
    assert max(map(len, text.splitlines())) <= 80
    assert name in smtune.ok("--help", program="smtrain")
