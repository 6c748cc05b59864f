# SPDX-License-Identifier: GPL-3.0-or-later
"""scikit-learn's GradientBoostingRegressor, verbose: a table."""

from data import digits, write_curve
from sklearn.ensemble import GradientBoostingRegressor

train_x, _, train_y, _ = digits()
model = GradientBoostingRegressor(n_estimators=10, max_depth=3, verbose=2,
                                  random_state=1)
model.fit(train_x, train_y.astype(float))
write_curve("iterations", "Train Loss", enumerate(model.train_score_, start=1))
