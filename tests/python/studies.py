# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments for the tests of Study, and functions that they try."""

import pytest

import smtune as package

FILE = {
    "objective": "loss",
    "parameters": {"x": {"type": "float", "min": 0, "max": 1}},
    "search": {"method": "tpe", "seed": 1},
}
SCHEDULED = {
    **FILE,
    "schedule": {"method": "asha", "resource": "epochs", "min": 1, "max": 9,
                 "eta": 3},
    "budget": {"trials": 9},
    "trial": {"command": "x ${{ epochs }}", "checkpoints": True},
}
BOUNDED = {**FILE, "outcomes": [{"metric": "c", "max": 1}]}


def square(trial):
    return (trial.params["x"] - 0.3) ** 2


def assert_all_have_ended(study):
    """Every trial that was asked for has a result."""
    for number in range(1, study.ask().id):
        with pytest.raises(package.Error, match="already has a result"):
            study.tell(number, 0)
