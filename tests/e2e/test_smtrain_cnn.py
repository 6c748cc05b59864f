# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain cnn: convolutions learn, go on, and come to the same on any number
of ranks."""

import re

import pytest

from checkpoints import newest, state_of
from programs import BUILD, ROOT
from test_smtrain import images, lines_of, metric  # noqa: F401

SMALL = ("--channels", 2, "--depth", 2, "--width", 16, "--batch", 20,
         "--limit", 400, "--schedule", "constant")


@pytest.fixture
def cnn(smtune, images):  # noqa: F811
    """cnn(...): smtrain cnn on a few images; a CompletedProcess."""
    def run(*words):
        return smtune("cnn", *SMALL, "--data", images, *words,
                      program="smtrain")
    return run


@pytest.mark.sanitized
def test_convolutions_learn(cnn):
    lines = lines_of(cnn("--epochs", 2))
    assert len(lines) == 2
    assert metric(lines[1], "train_loss") < metric(lines[0], "train_loss")
    assert metric(lines[1], "val_error") < 0.8


def test_goes_on_bit_for_bit_and_is_tested(cnn, tmp_path):
    flags = ("--dropout", "0.3", "--checkpoint-dir")
    whole = lines_of(cnn(*flags, tmp_path / "whole", "--epochs", 2))
    parts = lines_of(cnn(*flags, tmp_path / "parts", "--epochs", 1))
    parts += lines_of(cnn(*flags, tmp_path / "parts", "--epochs", 2))
    assert parts == whole
    assert (state_of(newest(tmp_path / "parts"))
            == state_of(newest(tmp_path / "whole")))
    (line,) = lines_of(cnn("--test", *flags, tmp_path / "whole"))
    assert metric(line, "test_error") < 0.8


def test_two_ranks_come_to_what_one_does(smtune, images,  # noqa: F811
                                         tmp_path):
    seen = []
    for count in (1, 2):
        folder = tmp_path / f"{count}"
        lines = lines_of(smtune(
            "launch", "-n", count, "--", BUILD / "smtrain", "cnn", *SMALL,
            "--data", images, "--epochs", 1, "--shares", 2, "--zero", count,
            "--checkpoint-dir", folder))
        seen.append((lines, state_of(newest(folder))))
    assert seen[0] == seen[1]


def test_more_pooling_than_pixels_is_refused(cnn):
    result = cnn("--depth", 5)
    assert lines_of(result, status=2) == []
    assert "--depth 5 is too large for images of 784 pixels: at most 4" \
        in result.stderr


def test_help_is_as_it_was(smtune):
    """The flags of training are those of all models."""
    text = smtune.ok("cnn", "--help", program="smtrain").split("\nTraining:")[0]
    assert text == (ROOT / "tests/golden/smtrain-cnn-help.txt").read_text()
    assert max(map(len, text.splitlines())) <= 80


def test_the_manual_page_has_every_flag_of_it(smtune):
    page = (ROOT / "man/smtrain.1").read_text()
    section = page[page.index(".Ss The model cnn"):]
    section = section[:section.index("\n.El")]
    text = smtune.ok("cnn", "--help", program="smtrain")
    model = text[text.index("\nModel:"):text.index("Training:")]
    flags = re.findall(r"^  --(\S+) .*\((\S+)\)$", model, re.M)
    assert len(flags) == 4
    for flag, default in flags:
        item = section[section.index(f"\n.It Fl Fl {flag} "):]
        assert re.search(r"\nDefault: (\S+)\.", item)[1] == default
