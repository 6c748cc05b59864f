# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain plan: what a training would take, with its own flags."""

import json

import pytest

from test_smtrain import images  # noqa: F401

MODEL = ("plan", "mlp", "--width", 256, "--depth", 2, "--optimizer", "adam")


def planned(smtune, images, *words):  # noqa: F811
    return json.loads(smtune.ok(*MODEL, "--data", images, *words, "-o", "json",
                                program="smtrain"))


@pytest.mark.sanitized
def test_memory_by_purpose_and_stage(smtune, images):  # noqa: F811
    plan = planned(smtune, images, "--ranks", 4, "--bucket-mb", "0.1")
    count = 785 * 256 + 257 * 256 + 257 * 10
    assert plan["parameters"] == count
    assert plan["ranks"] == plan["shares"] == 4
    stages = plan["bytes_by_zero_stage"]
    all_of_them = stages["parameters"][0]
    # Layers are padded to whole pages, and tensors to cache lines.
    assert 4 * count <= all_of_them < 4 * (count + 3 * 1024 + 6 * 16)
    assert stages["gradients"][1] == all_of_them
    assert stages["moments"][0] == 2 * all_of_them
    assert 2 * all_of_them <= 4 * stages["moments"][1] < 2.1 * all_of_them
    assert stages["gradients"][2] <= all_of_them * 2
    assert stages["partial_sums"] == [0, 0, 0, 0]
    assert len(set(stages["activations"])) == 1
    assert stages["checkpoint"] == [0, 0, 0, 0]
    plan = planned(smtune, images, "--ranks", 4, "--checkpoint-dir", "unused")
    (copied,) = set(plan["bytes_by_zero_stage"]["checkpoint"])
    assert 3 * all_of_them <= 4 * copied < 3.3 * all_of_them


def test_shares_of_a_rank_take_sums_and_save_activations(
        smtune, images):  # noqa: F811
    flags = ("--batch", 4096)
    plain = planned(smtune, images, *flags)
    parts = planned(smtune, images, *flags, "--accumulate", 4)
    assert parts["flops"] == plain["flops"]
    sums, whole = (plan["bytes_by_zero_stage"] for plan in (parts, plain))
    everything = whole["parameters"][0]
    assert sums["partial_sums"] == [2 * everything] * 2 + [everything] * 2
    assert sums["activations"][0] * 3 < whole["activations"][0]


@pytest.mark.parametrize("words,samples", [((), 1000), (("--limit", 300), 300)])
def test_a_batch_is_planned_no_larger_than_the_data(
        smtune, images, words, samples):  # noqa: F811
    plans = [planned(smtune, images, *words, "--batch", batch)
             for batch in (samples, 65536)]
    for name in ("bytes_by_zero_stage", "flops"):
        assert plans[0][name] == plans[1][name]


def test_arithmetic_of_a_step(smtune, images):  # noqa: F811
    plan = planned(smtune, images, "--batch", 100, "--ranks", 2)
    products = 3 * (256 * 256 + 256 * 10) + 2 * 784 * 256
    assert plan["flops"] == 2 * 100 * products
    at_best_ms = plan["flops"] / 2 / plan["gemm_flops_s"] * 1000
    assert abs(plan["product_ms"] - at_best_ms) < 1e-9 * at_best_ms


def test_a_table_and_what_is_wrong(smtune, images):  # noqa: F811
    table = smtune.ok(*MODEL, "--data", images, program="smtrain")
    for word in ("parameters", "moments", "total", "--zero", "GFLOP"):
        assert word in table
    for words, message in ((("plan", "mpl"), "did you mean 'mlp'?"),
                           (("plan", "mlp", "--rank", 2), "'--ranks'?"),
                           (("plan", "mlp", "--shares", 3, "--ranks", 2,
                             "--data", images), "possible numbers of ranks")):
        result = smtune(*words, program="smtrain")
        assert result.returncode == 2 and message in result.stderr
    assert "smtrain plan" in smtune.ok("plan", "--help", program="smtrain")
