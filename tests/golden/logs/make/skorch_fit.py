# SPDX-License-Identifier: GPL-3.0-or-later
"""skorch's NeuralNetClassifier: a table in colours."""

import torch
from data import digits, write_curve
from skorch import NeuralNetClassifier

torch.manual_seed(1)
train_x, _, train_y, _ = digits()
net = NeuralNetClassifier(torch.nn.Sequential(torch.nn.Linear(64, 10),
                                              torch.nn.Softmax(1)),
                          max_epochs=5, lr=0.1)
net.fit(train_x, train_y)
write_curve("epochs", "valid_loss",
            enumerate(net.history[:, "valid_loss"], start=1))
