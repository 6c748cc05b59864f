# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain sample: text from a checkpoint of gpt, and the vocabulary that is
kept with it."""

import re

import pytest

from programs import ROOT
from test_smtrain import images, lines_of  # noqa: F401

LINE = "in the beginning was the word. "
PROMPT = " beginning was"
TRAIN = ("--layers", 1, "--heads", 2, "--width", 32, "--context", 29, "--lr",
         "0.01", "--batch", 8, "--epochs", 10)


@pytest.fixture
def text(tmp_path):
    file = tmp_path / "text"
    file.write_text(LINE * 300)
    return file


@pytest.fixture
def train(smtune, text, tmp_path):
    """Trains on a line that comes again and again; where its checkpoint is."""
    def run(*words):
        folder = tmp_path / "run"
        lines_of(smtune("gpt", *TRAIN, "--data", text, "--checkpoint-dir",
                        folder, *words, program="smtrain"))
        return folder
    return run


@pytest.fixture
def vocabulary(smtune, text, tmp_path):
    """vocabulary(size): a file of a vocabulary of the text."""
    def make(size):
        file = tmp_path / f"vocabulary{size}"
        smtune.ok("vocabulary", "--data", text, "--size", size, "--output",
                  file, program="smtrain")
        return file
    return make


@pytest.fixture
def sample(smtune):
    """sample(folder, ...): what it prints."""
    def run(folder, *words):
        return smtune.ok("sample", "--checkpoint-dir", folder, *words,
                         program="smtrain")
    return run


@pytest.mark.sanitized
@pytest.mark.parametrize("tokens", ["bytes", "pairs"])
def test_text_goes_on_as_what_was_learnt(train, sample, vocabulary, tokens):
    flags = ("--vocabulary", vocabulary(264)) if tokens == "pairs" else ()
    folder = train(*flags)
    begin = LINE.index(PROMPT)
    for length in (0, 1, 60):  # the window has 29 tokens
        end = begin + len(PROMPT) + length
        assert sample(folder, "--prompt", PROMPT, "--temperature", 0,
                      "--max-bytes", length) == (LINE * 4)[begin:end] + "\n"


def test_what_is_drawn_hangs_on_the_flags(train, sample):
    def draw(*words):
        return sample(folder, "--prompt", LINE * 2, "--max-bytes", 40, *words)
    folder = train()
    wild = ("--temperature", 100, "--top-k", 4)
    assert draw(*wild) == draw(*wild) != draw(*wild, "--seed", 2)
    assert draw(*wild) != draw("--temperature", 0)
    assert draw("--temperature", 100, "--top-k", 1) == draw("--temperature", 0)
    assert draw().startswith(LINE * 2)


def test_another_vocabulary_is_refused(train, smtune, text, vocabulary,
                                       tmp_path):
    mine, other = vocabulary(262), tmp_path / "other"
    lines = mine.read_text().splitlines(keepends=True)
    other.write_text("".join(lines[:-1] + ["120 121\n"]))
    folder = train("--vocabulary", mine)
    for words in (("--vocabulary", other), ("--vocabulary", other, "--test"),
                  ("--test",)):
        result = smtune("gpt", *TRAIN, "--data", text, "--checkpoint-dir",
                        folder, *words, program="smtrain")
        assert lines_of(result, 1) == []
        assert re.search(r"was saved with vocabulary=262 tokens \(\w{8}\), not "
                         r"vocabulary=(262|256) tokens \(\w{8}\): ",
                         result.stderr)
    test = smtune("gpt", *TRAIN, "--data", text, "--checkpoint-dir", folder,
                  "--vocabulary", mine, "--test", program="smtrain")
    assert len(lines_of(test)) == 1


def test_what_text_cannot_come_of_is_named(smtune, images,  # noqa: F811
                                           tmp_path):
    smtune.ok("mlp", "--data", images, "--width", 2, "--limit", 50, "--epochs",
              1, "--checkpoint-dir", tmp_path / "mlp", program="smtrain")
    for words, status, message in (
            ((), 2, "missing --checkpoint-dir, or --init-from"),
            (("--checkpoint-dir", tmp_path), 1, "no complete checkpoint in"),
            (("--checkpoint-dir", tmp_path / "mlp"), 1,
             "is a checkpoint of model 'mlp', expected one of gpt"),
            (("--temprature", "1"), 2, "'--temperature'?")):
        result = smtune("sample", *words, program="smtrain")
        assert lines_of(result, status) == []
        assert message in result.stderr
        assert result.stderr.count("\n") == 1


def test_help_is_as_it_was(smtune):
    text = smtune.ok("sample", "--help", program="smtrain")
    golden = ROOT / "tests/golden/smtrain-sample-help.txt"
    assert text == golden.read_text()
    assert max(map(len, text.splitlines())) <= 80
    page = (ROOT / "man/smtrain.1").read_text()
    section = page[page.index(".Cm sample\nprints"):]
    for flag in re.findall(r"^  --(\S+) ", text, re.M):
        assert f"\n.It Fl Fl {flag} " in section[:section.index("\n.El")]
