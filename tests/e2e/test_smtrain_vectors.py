# SPDX-License-Identifier: GPL-3.0-or-later
"""The loops of smtrain that are compiled for several generations of processors
(SIMD_CLONES) are vector instructions in each of them. A compiler that leaves one
a loop over single numbers reports nothing, and the results are the same."""

import pathlib
import re
import shutil
import subprocess

import pytest

from programs import ROOT, SHIPPED

REGISTERS = {"avx512f": "[yz]mm", "avx2": "ymm", "default": "xmm"}
ARITHMETIC = r"v?(?:add|sub|mul|div|sqrt|max|min|cmp\w*|and|andn|or)p[sd]"
# It has no arithmetic: gcc calls memset.
CLEARS = {"clear_line"}
# With an exponential for each number, whose exponent is shifted into its place.
EXPONENTIALS = {"cpu_gelu", "cpu_gelu_grad", "probabilities_of",
                "softmax_block", "softmax_block_grad"}


def cloned():
    """(source, function) of each."""
    for source in sorted((ROOT / "training").glob("*/*.c")):
        for name in re.findall(r"^SIMD_CLONES\s+(?:static\s+)?\w+\s+(\w+)\(",
                               source.read_text(), re.M):
            yield source.relative_to(ROOT), name


def clones_in(source):
    """{(function, processor): its instructions}"""
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn",
         SHIPPED / source.with_suffix(".o")],
        capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\w+ <(\w+)\.(\w+)(?:\.\d+)?>:\n(.+?)(?:\n\n|\Z)", text,
                       re.M | re.S)
    return {(name, processor): code for name, processor, code in found}


@pytest.fixture(scope="module")
def code():
    """code(source, function, processor): its instructions."""
    if shutil.which("objdump") is None:
        pytest.skip("needs objdump, of binutils")
    seen = {}

    def find(source, name, processor):
        if source not in seen:
            seen[source] = clones_in(source)
        return seen[source][name, processor]
    first, name = next(cloned())
    if not any(clone == name for clone, _ in clones_in(first)):
        pytest.skip("the compiler makes no clones here")
    return find


def test_the_sources_are_found():
    assert EXPONENTIALS | CLEARS < {name for _, name in cloned()}


@pytest.mark.parametrize("processor", REGISTERS)
def test_each_clone_is_vector_code(code, processor):
    register = REGISTERS[processor]
    scalar = {name for source, name in cloned()
              if not re.search(rf"\t{ARITHMETIC}\s.*%{register}",
                               code(source, name, processor))}
    assert scalar == CLEARS


@pytest.mark.parametrize("processor", REGISTERS)
def test_exponentials_are_vector_code(code, processor):
    register = REGISTERS[processor]
    scalar = {name for source, name in cloned() if name in EXPONENTIALS
              and not re.search(rf"\tv?pslld\s+\$0x17,%{register}",
                                code(source, name, processor))}
    assert scalar == set()


@pytest.mark.parametrize("processor,register", [("avx512f", "zmm"),
                                                ("avx2", "ymm")])
def test_each_number_is_divided_once(code, processor, register):
    """gcc may divide it for each limit of its exponential, too, and choose one
    of the quotients."""
    for name in ("cpu_gelu", "cpu_gelu_grad"):
        loop = code(pathlib.Path("training/ops/gelu.c"), name, processor)
        assert len(re.findall(rf"\tvdivps\s.*%{register}", loop)) == 1, name
