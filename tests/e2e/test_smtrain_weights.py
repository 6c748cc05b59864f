# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain export and --init-from: weights and tokens that other programs write
and read. tests/golden/gpt2 has a small GPT-2 that Hugging Face's transformers
wrote, its logits, and the tokens of some texts (tests/golden/smtrain_gpt2.py)."""

import json
import re
import shutil
import struct

import pytest

from programs import BUILD, ROOT
from test_smtrain import lines_of, metric

GPT2 = ROOT / "tests/golden/gpt2"
LINE = "in the beginning was the word. "
TRAIN = ("--layers", 2, "--heads", 2, "--width", 16, "--context", 20, "--lr",
         "0.01", "--batch", 8, "--epochs", 1)


@pytest.fixture
def text(tmp_path):
    file = tmp_path / "text"
    file.write_text(LINE * 200)
    return file


@pytest.fixture
def gpt(smtune, text):
    def run(*words, data=text):
        return smtune("gpt", "--data", data, *words, program="smtrain")
    return run


@pytest.fixture
def trained(smtune, gpt, text, tmp_path):
    """A checkpoint of 270 tokens, and the line that its training printed."""
    file = tmp_path / "vocabulary"
    smtune.ok("vocabulary", "--data", text, "--size", 270, "--output", file,
              program="smtrain")
    (line,) = lines_of(gpt(*TRAIN, "--vocabulary", file, "--checkpoint-dir",
                           tmp_path / "run"))
    return tmp_path / "run", line


@pytest.fixture
def export(smtune, trained, tmp_path):
    """export(...): the folder of a model."""
    def run(*words, name="model"):
        line = smtune.ok("export", "--checkpoint-dir", trained[0], "--output",
                         tmp_path / name, *words, program="smtrain")
        assert line == "parameters=11232 tokens=270 context=20\n"
        return tmp_path / name
    return run


def tensors(file):
    """What a file in the format safetensors has, by the format's own page:
    {name: (dtype, shape, bytes)}."""
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    assert header.pop("__metadata__") == {"format": "pt"}
    assert length % 8 == 0
    found = {}
    for name, about in header.items():
        begin, end = about["data_offsets"]
        found[name] = (about["dtype"], about["shape"],
                       data[8 + length:][begin:end])
    assert sum(len(some) for _, _, some in found.values()) + 8 + length == \
        len(data)
    return found


def read_gpt(smtune, *words, **options):
    return smtune.ok(*words, program="tests/e2e/read_gpt", **options)


def close(lines, expected):
    found = [[float(word) for word in line.split()] for line in lines]
    assert len(found) == len(expected) > 0
    for some, wanted in zip(found, expected):
        assert some == pytest.approx(wanted, rel=1e-4, abs=1e-4)


@pytest.mark.sanitized
def test_logits_are_those_of_transformers(smtune):
    golden = json.loads((GPT2 / "logits.json").read_text())
    close(read_gpt(smtune, "logits", GPT2, *golden["tokens"]).splitlines(),
          golden["logits"])


def test_tokens_are_those_of_tokenizers(smtune):
    golden = json.loads((GPT2 / "tokens.json").read_text())
    texts = "".join(text + "\0" for text, _ in golden)
    lines = read_gpt(smtune, "tokens", GPT2, input=texts).split("\n")
    assert [[int(word) for word in line.split()] for line in lines[:-1]] == \
        [tokens for _, tokens in golden]
    spelled = read_gpt(smtune, "text", GPT2, input="\n".join(lines))
    assert spelled == texts


def test_an_export_is_read_by_its_format(export):
    folder = export()
    config = json.loads((folder / "config.json").read_text())
    assert {key: config[key] for key in (
        "model_type", "vocab_size", "n_positions", "n_embd", "n_layer",
        "n_head", "activation_function", "eos_token_id")} == {
            "model_type": "gpt2", "vocab_size": 270, "n_positions": 20,
            "n_embd": 16, "n_layer": 2, "n_head": 2,
            "activation_function": "gelu_new", "eos_token_id": None}
    found = tensors(folder / "model.safetensors")
    assert len(found) == 4 + 2 * 12
    assert found["transformer.wte.weight"][:2] == ("F32", [270, 16])
    assert found["transformer.h.1.mlp.c_fc.weight"][:2] == ("F32", [16, 64])
    assert found["transformer.h.0.ln_1.bias"][:2] == ("F32", [16])
    vocabulary = json.loads((folder / "vocab.json").read_text())
    assert sorted(vocabulary.values()) == list(range(270))
    assert vocabulary["a"] == ord("a") and vocabulary["Ġ"] == ord(" ")
    merges = (folder / "merges.txt").read_text().splitlines()
    assert merges[0].startswith("#version") and len(merges) == 15


def test_an_export_goes_on_as_its_checkpoint(smtune, gpt, trained, export):
    """With a rate of 0 the weights stay, and so does what they come to."""
    folder, line = trained
    for words, name in (((), "whole"), (("--shard-mb", "0.01"), "shards")):
        model = export(*words, name=name)
        (again,) = lines_of(gpt("--init-from", model, "--batch", 8, "--epochs",
                                1, "--lr", 0))
        for key in ("val_loss", "val_error"):
            assert metric(again, key) == metric(line, key)
        drawn = [smtune.ok("sample", flag, place, "--prompt", "in the",
                           "--temperature", 0, "--max-bytes", 50,
                           program="smtrain")
                 for flag, place in (("--checkpoint-dir", folder),
                                     ("--init-from", model))]
        assert drawn[0] == drawn[1]
    assert len(list(model.glob("model-*-of-*.safetensors"))) > 2


def test_two_bytes_a_number_are_half_the_file(export, gpt, trained):
    whole = tensors(export() / "model.safetensors")
    for dtype in ("f16", "bf16"):
        folder = export("--dtype", dtype, name=dtype)
        found = tensors(folder / "model.safetensors")
        assert found.keys() == whole.keys()
        for name, (kind, shape, data) in found.items():
            assert (kind, shape, 2 * len(data)) == \
                (dtype.upper(), whole[name][1], len(whole[name][2]))
        (again,) = lines_of(gpt("--init-from", folder, "--batch", 8, "--epochs",
                                1, "--lr", 0))
        assert metric(again, "val_loss") == pytest.approx(
            metric(trained[1], "val_loss"), rel=0.01)


def test_fine_tuning_begins_with_the_weights(gpt, tmp_path):
    flags = ("--init-from", GPT2, "--context", 16, "--batch", 8, "--lr", "0.01",
             "--schedule", "constant")
    whole = lines_of(gpt(*flags, "--epochs", 2))
    assert metric(whole[1], "val_loss") < metric(whole[0], "val_loss")
    run = ("--checkpoint-dir", tmp_path / "run")
    assert lines_of(gpt(*flags, *run, "--epochs", 1)) == whole[:1]
    assert lines_of(gpt(*flags, *run, "--epochs", 2)) == whole[1:]
    (test,) = lines_of(gpt(*flags, *run, "--test"))
    assert metric(test, "test_loss") < 6


def test_ranks_begin_with_the_same_weights(smtune, text):
    seen = [lines_of(smtune(
        "launch", "-n", count, "--", BUILD / "smtrain", "gpt", "--data", text,
        "--init-from", GPT2, "--context", 16, "--batch", 8, "--lr", "0.01",
        "--epochs", 1, "--shares", 2, *words))
        for count, words in ((1, ()), (2, ()), (2, ("--zero", 3)))]
    assert seen[0] == seen[1] == seen[2] and len(seen[0]) == 1


def test_a_vocabulary_of_others_alone(gpt):
    (line,) = lines_of(gpt(*TRAIN, "--vocabulary", GPT2))
    (same,) = lines_of(gpt(*TRAIN, "--vocabulary", GPT2 / "tokenizer.json"))
    assert line == same
    assert 1 < metric(line, "val_loss") / metric(line, "val_nats_per_byte")


@pytest.mark.parametrize("words, message", [
    (("--layers", 3), "no tensor 'transformer.h.2.ln_1.weight', expected with "
                      "the shape [8]"),
    (("--layers", 1), "tensor 'transformer.h.1.attn.c_attn.bias' of shape [24] "
                      "has no place in this gpt"),
    (("--width", 16), "tensor 'transformer.wte.weight' has the shape [300, 8], "
                      "expected [300, 16]"),
    (("--context", 25), "tensor 'transformer.wpe.weight' has the shape [24, 8]"
                        ", expected [25, 8]"),
    (("--vocabulary", "bytes"), "tensor 'transformer.wte.weight' has the shape "
                                "[300, 8], expected [256, 8]"),
])
def test_weights_that_do_not_fit_are_named(gpt, words, message):
    result = gpt("--init-from", GPT2, *words)
    assert lines_of(result, 1) == []
    assert f"weights in '{GPT2}': {message}\n" in result.stderr
    assert result.stderr.count("\n") == 1


def test_heads_are_those_of_the_weights(gpt):
    """No shape shows them."""
    result = gpt("--init-from", GPT2, "--heads", 4)
    assert lines_of(result, 2) == []
    assert f"--heads 4: the weights in '{GPT2}' are for 2 heads" in \
        result.stderr


def test_damaged_files_are_named(gpt, tmp_path):
    for name, damage, message in (
            ("model.safetensors", lambda data: data[:-1], "ends beyond the end"),
            ("model.safetensors", lambda data: data[:5], "is cut short"),
            ("config.json", lambda data: data.replace(b'"gpt2"', b'"llama"'),
             "'model_type' is \"llama\": smtrain's gpt needs \"gpt2\""),
            ("tokenizer.json", lambda data: data.replace(b"BPE", b"WordLevel"),
             "only BPE can be read, not a model of type 'WordLevel'"),
            ("model.safetensors", None, "no model.safetensors and no"),
            ("config.json", None, "--init-from: ")):
        folder = tmp_path / "damaged"
        shutil.copytree(GPT2, folder)
        if damage:
            (folder / name).write_bytes(damage((folder / name).read_bytes()))
        else:
            (folder / name).unlink()
        result = gpt("--init-from", folder)
        assert lines_of(result, 1) == []
        assert message in result.stderr and name in result.stderr
        assert result.stderr.count("\n") == 1
        shutil.rmtree(folder)


def test_an_export_overwrites_nothing(smtune, export, trained, tmp_path):
    folder = export()
    for words, status, message in (
            (("--checkpoint-dir", trained[0], "--output", folder), 2,
             f"'{folder}' has a model already"),
            (("--checkpoint-dir", trained[0]), 2, "missing --output"),
            (("--output", folder), 2, "missing --checkpoint-dir"),
            (("--checkpoint-dir", tmp_path, "--output", tmp_path / "x"), 1,
             "no complete checkpoint in"),
            (("--dtype", "f32x"), 2, "unknown value 'f32x'; did you mean "
                                     "'f32'?")):
        result = smtune("export", *words, program="smtrain")
        assert lines_of(result, status) == []
        assert message in result.stderr
        assert result.stderr.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_help_is_as_it_was(smtune):
    text = smtune.ok("export", "--help", program="smtrain")
    golden = ROOT / "tests/golden/smtrain-export-help.txt"
    assert text == golden.read_text()
    assert max(map(len, text.splitlines())) <= 80
    page = (ROOT / "man/smtrain.1").read_text()
    section = page[page.index(".Cm export\nwrites"):]
    for flag in re.findall(r"^  --(\S+) ", text, re.M):
        assert f"\n.It Fl Fl {flag} " in section[:section.index("\n.El")]
