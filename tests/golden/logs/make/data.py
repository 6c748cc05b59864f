# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scripts beside this one share: 1797 handwritten digits, and the
curve that the framework itself knows, written beside its log."""

import os

import numpy
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def digits(scale=16.0):
    """(train images, valid images, train labels, valid labels)."""
    images, labels = load_digits(return_X_y=True)
    return train_test_split((images / scale).astype(numpy.float32),
                            labels.astype(numpy.int64), test_size=360,
                            random_state=0)


def write_curve(resource, metric, points):
    """points: (step, value), from the framework's own history."""
    with open(os.environ["CURVE"], "w", encoding="utf-8") as file:
        file.write(f"resource {resource}\nmetric {metric}\n")
        for step, value in points:
            file.write(f"{step:g} {float(value):.8g}\n")
