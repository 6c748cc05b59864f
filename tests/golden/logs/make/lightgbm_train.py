# SPDX-License-Identifier: GPL-3.0-or-later
"""lightgbm.train() with its warnings and log_evaluation."""

import lightgbm
from data import digits, write_curve

train_x, valid_x, train_y, valid_y = digits()
train = lightgbm.Dataset(train_x, train_y == 8)
valid = lightgbm.Dataset(valid_x, valid_y == 8, reference=train)
result = {}
lightgbm.train({"objective": "binary", "num_leaves": 7, "num_threads": 1,
                "metric": ["binary_logloss", "auc"]},
               train, 10, valid_sets=[valid],
               callbacks=[lightgbm.log_evaluation(1),
                          lightgbm.record_evaluation(result)])
write_curve("rounds", "valid_0's binary_logloss",
            enumerate(result["valid_0"]["binary_logloss"], start=1))
