# SPDX-License-Identifier: GPL-3.0-or-later
"""The first steps of each model come to what PyTorch, in double precision and
from the same first weights, batches and dropout, comes to."""

import re

import pytest

from programs import ROOT
from test_smtrain import images  # noqa: F401

GOLDEN = (ROOT / "tests/golden/smtrain-trajectories.txt").read_text()
RUNS = dict(re.findall(r"^smtrain (\w+ .*)\n((?:step=.*\n)+)", GOLDEN, re.M))


def steps_of(text):
    """[{"step": 1.0, "loss": ...}, ...], without what hangs on time."""
    return [{name: float(value) for name, value in
             re.findall(r"\b(step|loss|grad_norm|lr)=(\S+)", line)}
            for line in text.splitlines() if line.startswith("step=")]


@pytest.mark.sanitized
@pytest.mark.parametrize("words", RUNS, ids=lambda words: words[:3])
def test_ten_steps_are_those_of_an_independent_reference(
        smtune, images, words):  # noqa: F811
    data = ROOT / "LICENSE" if words.startswith("gpt") else images
    steps = steps_of(smtune.ok(*words.split(), "--data", data,
                               "--log-steps", 1, program="smtrain"))
    expected = steps_of(RUNS[words])
    assert len(expected) == 10
    assert len(steps) == 10
    for step, reference in zip(steps, expected):
        assert step == pytest.approx(reference, rel=2e-5)
