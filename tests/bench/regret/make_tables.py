#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains small models over grids of settings, for regret's real problems.

    tests/bench/regret/make_tables.py [TABLE...]

Writes tests/bench/regret/tables/TABLE.txt, which is committed, so that nobody
needs to do this again; about ten minutes on one core in all. Needs
build/smtrain with Fashion-MNIST, and Debian's python3-sklearn, whose bundled
data sets and models the other tables are made of.

A table holds lines `axis NAME KIND VALUE...`, then `values`, and the results
with the last axis fastest; lower is better, nan is a training that failed.
"""

import itertools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLES = pathlib.Path(__file__).resolve().parent / "tables"


def fashion(optimizer, lr, width, depth, batch, weight_decay):
    """The validation error of smtrain on 2,000 images, 3 epochs."""
    result = subprocess.run(
        [ROOT / "build/smtrain", "mlp", "--limit", "2000", "--epochs", "3",
         "--quiet", "--optimizer", optimizer, "--lr", str(lr), "--width",
         str(width), "--depth", str(depth), "--batch", str(batch),
         "--weight-decay", str(weight_decay)], capture_output=True, text=True)
    found = re.search(r"val_error=([0-9.]+)", result.stdout)
    return float(found[1]) if found else float("nan")


def digits(kernel, c, gamma):
    """The error of a support vector machine, two halves crossed."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import cross_val_score
    from sklearn.svm import SVC
    data = load_digits()
    model = SVC(kernel=kernel, C=c, gamma=gamma, degree=3)
    return 1 - cross_val_score(model, data.data / 16, data.target, cv=2).mean()


def cancer(lr, depth, subsample, features, trees):
    """Log loss of boosted trees on the held-out 40 percent: all numbers of
    trees come from one training."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.metrics import log_loss
    from sklearn.model_selection import train_test_split
    data = load_breast_cancer()
    x, x_held, y, y_held = train_test_split(
        data.data, data.target, test_size=0.4, random_state=1)
    model = GradientBoostingClassifier(
        learning_rate=lr, max_depth=depth, subsample=subsample,
        max_features=features, n_estimators=max(trees), random_state=1)
    model.fit(x, y)
    losses = [log_loss(y_held, p) for p in model.staged_predict_proba(x_held)]
    return [losses[count - 1] for count in trees]


def diabetes(depth, leaf, features, bootstrap):
    """Mean squared error of a forest, three folds crossed."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import cross_val_score
    data = load_diabetes()
    model = RandomForestRegressor(
        n_estimators=30, max_depth=depth, min_samples_leaf=leaf,
        max_features=features, bootstrap=bootstrap, random_state=1)
    return -cross_val_score(model, data.data, data.target, cv=3,
                            scoring="neg_mean_squared_error").mean()


def decades(low, high, count):
    ratio = (high / low) ** (1 / (count - 1))
    return [float(f"{low * ratio ** i:.4g}") for i in range(count)]


# Function, axes (name, kind, values), whether a call takes the whole last axis.
RECIPES = {
    "fashion": (fashion, [
        ("optimizer", "categorical", ["sgd", "adam"]),
        ("lr", "ordinal", decades(1e-4, 1, 9)),
        ("width", "ordinal", [8, 24, 64, 160]),
        ("depth", "ordinal", [1, 2, 3]),
        ("batch", "ordinal", [16, 64, 256]),
        ("weight_decay", "ordinal", [0, 1e-3, 1e-2])], False),
    "digits": (digits, [
        ("kernel", "categorical", ["rbf", "poly", "sigmoid"]),
        ("c", "log", decades(1e-3, 1e3, 13)),
        ("gamma", "log", decades(1e-4, 10, 11))], False),
    "cancer": (cancer, [
        ("lr", "log", decades(0.01, 1, 7)),
        ("depth", "ordinal", [1, 2, 3, 4, 6]),
        ("subsample", "linear", [0.4, 0.7, 1]),
        ("features", "linear", [0.1, 0.4, 0.7, 1]),
        ("trees", "ordinal", [10, 20, 40, 80, 160])], True),
    "diabetes": (diabetes, [
        ("depth", "ordinal", [1, 2, 3, 4, 6, 8, 12, 16]),
        ("leaf", "ordinal", [1, 2, 4, 8, 16, 32]),
        ("features", "linear", [0.1, 0.3, 0.5, 0.7, 1]),
        ("bootstrap", "categorical", ["true", "false"])], False),
}


def results(function, axes, last_is_list):
    values = [axis[2] for axis in axes]
    if last_is_list:
        for point in itertools.product(*values[:-1]):
            yield from function(*point, values[-1])
    else:
        for point in itertools.product(*values):
            yield function(*(p == "true" if p in ("true", "false") else p
                             for p in point))


def make(name):
    function, axes, last_is_list = RECIPES[name]
    numbers = [f"{r:.4g}" for r in results(function, axes, last_is_list)]
    with open(TABLES / f"{name}.txt", "w", encoding="ascii") as file:
        for axis, kind, values in axes:
            print("axis", axis, kind, *values, file=file)
        print("values", file=file)
        for i in range(0, len(numbers), 12):
            print(*numbers[i:i + 12], file=file)


def main():
    unknown = set(sys.argv[1:]) - set(RECIPES)
    if unknown:
        sys.exit(f"no such table: {', '.join(sorted(unknown))}")
    for name in sys.argv[1:] or RECIPES:
        make(name)


if __name__ == "__main__":
    main()
