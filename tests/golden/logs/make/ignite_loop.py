# SPDX-License-Identifier: GPL-3.0-or-later
"""The handlers of ignite's MNIST example, with its lines of output."""

import torch
from data import digits, write_curve
from ignite.engine import (Events, create_supervised_evaluator,
                           create_supervised_trainer)
from ignite.metrics import Accuracy, Loss
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
train_x, valid_x, train_y, valid_y = (torch.tensor(part) for part in digits())
train = DataLoader(TensorDataset(train_x, train_y), 64)
valid = DataLoader(TensorDataset(valid_x, valid_y), 64)
model = torch.nn.Linear(64, 10)
criterion = torch.nn.CrossEntropyLoss()
trainer = create_supervised_trainer(
    model, torch.optim.Adam(model.parameters(), lr=0.01), criterion)
evaluator = create_supervised_evaluator(
    model, metrics={"accuracy": Accuracy(), "nll": Loss(criterion)})
points = []


@trainer.on(Events.EPOCH_COMPLETED)
def log_results(engine):
    for name, loader in (("Training", train), ("Validation", valid)):
        evaluator.run(loader)
        metrics = evaluator.state.metrics
        print(f"{name} Results - Epoch: {engine.state.epoch} "
              f"Avg accuracy: {metrics['accuracy']:.2f} "
              f"Avg loss: {metrics['nll']:.2f}")
    points.append((engine.state.epoch, metrics["nll"]))


trainer.run(train, max_epochs=4)
write_curve("epochs", "Avg loss", points)
