# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of PyTorch's MNIST example, with its lines of output."""

import torch
import torch.nn.functional as F
from data import digits, write_curve

torch.manual_seed(1)
train_x, test_x, train_y, test_y = (torch.tensor(part) for part in digits())
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(),
                            torch.nn.Linear(32, 10))
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
losses = []
for epoch in range(1, 6):
    for batch_idx, start in enumerate(range(0, len(train_x), 64)):
        data, target = train_x[start:start + 64], train_y[start:start + 64]
        optimizer.zero_grad()
        loss = F.nll_loss(F.log_softmax(model(data), 1), target)
        loss.backward()
        optimizer.step()
        if batch_idx % 10 == 0:
            print('Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}'.format(
                epoch, batch_idx * len(data), len(train_x),
                100. * start / len(train_x), loss.item()))
    with torch.no_grad():
        output = F.log_softmax(model(test_x), 1)
        test_loss = F.nll_loss(output, test_y).item()
        correct = (output.argmax(1) == test_y).sum().item()
    print('\nTest set: Average loss: {:.4f}, Accuracy: {}/{} ({:.0f}%)\n'.format(
        test_loss, correct, len(test_x), 100. * correct / len(test_x)))
    losses.append((epoch, test_loss))
write_curve("epochs", "Average loss", losses)
