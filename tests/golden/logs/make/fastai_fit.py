# SPDX-License-Identifier: GPL-3.0-or-later
"""fastai's Learner: a table under bars."""

import torch
from data import digits, write_curve
import fastai.callback.progress  # noqa: F401
from fastai.data.core import DataLoaders
from fastai.learner import Learner
from fastai.metrics import accuracy
from torch.utils.data import TensorDataset
from fastai.data.load import DataLoader

torch.manual_seed(1)
train_x, valid_x, train_y, valid_y = (torch.tensor(part) for part in digits())
loaders = DataLoaders(
    DataLoader(TensorDataset(train_x, train_y), bs=64, num_workers=0),
    DataLoader(TensorDataset(valid_x, valid_y), bs=64, num_workers=0))
learner = Learner(loaders, torch.nn.Linear(64, 10), metrics=accuracy,
                  loss_func=torch.nn.functional.cross_entropy)
learner.fit(4, 0.01)
write_curve("epochs", "valid_loss",
            [(epoch, values[1])
             for epoch, values in enumerate(learner.recorder.values)])
