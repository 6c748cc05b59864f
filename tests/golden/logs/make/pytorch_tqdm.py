# SPDX-License-Identifier: GPL-3.0-or-later
"""A loop with a bar of tqdm for each epoch, whose postfix has the losses."""

import sys

import torch
import torch.nn.functional as F
from data import digits, write_curve
from tqdm import tqdm

torch.manual_seed(1)
train_x, valid_x, train_y, valid_y = (torch.tensor(part) for part in digits())
model = torch.nn.Linear(64, 10)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
points, valid = [], None
for epoch in range(4):
    bar = tqdm(range(0, len(train_x), 64), desc=f"Epoch {epoch}",
               file=sys.stdout, mininterval=0)
    for start in bar:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(train_x[start:start + 64]),
                               train_y[start:start + 64])
        loss.backward()
        optimizer.step()
        if start + 64 >= len(train_x):
            with torch.no_grad():
                valid = F.cross_entropy(model(valid_x), valid_y).item()
            points.append((epoch, valid))
        bar.set_postfix(loss=loss.item(),
                        **({} if valid is None else {"val_loss": valid}))
write_curve("epochs", "val_loss", points)
