# SPDX-License-Identifier: GPL-3.0-or-later
"""scikit-learn's MLPClassifier, verbose, with early stopping."""

from data import digits, write_curve
from sklearn.neural_network import MLPClassifier

train_x, _, train_y, _ = digits()
model = MLPClassifier(hidden_layer_sizes=(16,), max_iter=8, verbose=True,
                      early_stopping=True, random_state=1)
model.fit(train_x, train_y)
write_curve("iterations", "Validation score",
            enumerate(model.validation_scores_, start=1))
