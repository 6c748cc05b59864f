# SPDX-License-Identifier: GPL-3.0-or-later
"""xgboost.train() with two sets."""

import xgboost
from data import digits, write_curve

train_x, valid_x, train_y, valid_y = digits()
train = xgboost.DMatrix(train_x, train_y)
valid = xgboost.DMatrix(valid_x, valid_y)
result = {}
xgboost.train({"objective": "multi:softprob", "num_class": 10, "max_depth": 3,
               "nthread": 1},
              train, 10, evals=[(train, "train"), (valid, "valid")],
              evals_result=result)
write_curve("rounds", "valid-mlogloss", enumerate(result["valid"]["mlogloss"]))
