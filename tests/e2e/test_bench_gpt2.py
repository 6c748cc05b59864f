# SPDX-License-Identifier: GPL-3.0-or-later
"""tests/bench/train/gpt2.py where there is no GPU: a tiny shape on the
processor, and what it says is missing."""

import importlib
import os
import re
import subprocess
import sys
import types

import pytest

from conftest import BUILD, ROOT
from programs import wait_until

SCRIPT = ROOT / "tests/bench/train/gpt2.py"
LINE = r"{}: [\d.]+ ms a step, [\d,]+ tokens/s$"


def run(*words, env=None):
    return subprocess.run([sys.executable, SCRIPT, *map(str, words)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=env, timeout=300)


NVIDIA_SMI = """#!/bin/sh
case $* in
*-lms*) echo 9000, 1200; echo 20480, 1980; echo 1, 1; : >"$0.told"
        exec sleep 100 ;;
*=name,driver*) echo "NVIDIA H100 PCIe, 580.1, 350.00 W" ;;
*=name*) echo "NVIDIA H100 PCIe" ;;
esac
"""


@pytest.fixture
def gpt2(tmp_path, monkeypatch):
    """The script, on a machine that says it has a GPU."""
    (tmp_path / "nvidia-smi").write_text(NVIDIA_SMI)
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("NVCC", str(tmp_path / "none"))
    monkeypatch.syspath_prepend(SCRIPT.parent)
    return importlib.import_module("gpt2")


def test_what_is_seen_of_a_device(gpt2, tmp_path, capsys):
    with gpt2.Watch() as watch:
        wait_until((tmp_path / "nvidia-smi.told").exists)
    assert watch.said() == ", 20.0 GiB in use, 1980 MHz"
    gpt2.tell_versions("cuda", {"said": "PyTorch"})
    assert "NVIDIA H100 PCIe, 580.1, 350.00 W" in capsys.readouterr().out
    peaks = gpt2.peaks_of("cuda", {"peak_flops_s": 6e14})
    assert peaks == {"measured": 6e14, "data sheet's": 756e12}


def test_the_quickest_other_counts(gpt2, capsys):
    """124M at 1024 tokens a sample: 100 ms for 32 of them are 26.15 TFLOP."""
    seen = {"smtrain": [(100, ""), (80, "")], "eager": [(90, ""), (88, "")],
            "compile": [(80, ""), (96, ", 9 MHz")]}
    peers = types.SimpleNamespace(shape=gpt2.SHAPES["gpt2"], batch=32)
    assert gpt2.tell(peers, seen, {"measured": 5e14}) == pytest.approx(0.95)
    assert capsys.readouterr().out.splitlines()[0] == (
        "smtrain: 90.00 ms a step, 364,089 tokens/s, 58.1 % of the measured "
        "500 TFLOP/s")


@pytest.mark.skipif(importlib.util.find_spec("torch") is None,
                    reason="there is no PyTorch")
def test_a_tiny_shape_on_the_processor():
    result = run(BUILD, "--device", "cpu", "--shape", "tiny", "--batch", 2,
                 "--rounds", 1)
    # Who is ahead is not for a busy machine to say.
    assert result.returncode in (0, 1), result.stdout
    lines = result.stdout.splitlines()
    assert any(line.startswith("8 losses of a tiny model from the same weights")
               for line in lines), result.stdout
    assert ("42,880 parameters in PyTorch, 42,880 in smtrain; 0.2584 MFLOP a "
            "token") in lines
    for name in ("smtrain", "PyTorch eager"):
        assert any(re.match(LINE.format(name), line) for line in lines), lines
    assert re.match(r"smtrain is [\d.]+ times as fast as the quickest PyTorch",
                    lines[-1])


def test_what_is_missing_is_named(tmp_path):
    """Nothing is found, whatever the machine has."""
    for name in ("nvidia-smi", "nvcc"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 9\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "torch.py").write_text("raise ImportError\n")
    result = run(tmp_path, env={**os.environ, "PATH": str(tmp_path),
                                "PYTHONPATH": str(tmp_path)})
    assert result.returncode == 0
    (line,) = result.stdout.splitlines()
    for what in ("a PyTorch of " + sys.executable,
                 "a GPU that nvidia-smi -L shows",
                 f"{tmp_path}/smtrain-cuda.so, which make builds"):
        assert what in line
