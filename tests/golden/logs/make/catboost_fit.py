# SPDX-License-Identifier: GPL-3.0-or-later
"""CatBoost's fit() with an evaluation set."""

from catboost import CatBoostClassifier
from data import digits, write_curve

train_x, valid_x, train_y, valid_y = digits()
model = CatBoostClassifier(iterations=10, depth=3, thread_count=1,
                           random_seed=1, allow_writing_files=False)
model.fit(train_x, train_y == 8, eval_set=(valid_x, valid_y == 8))
write_curve("iterations", "test",
            enumerate(model.evals_result_["validation"]["Logloss"]))
