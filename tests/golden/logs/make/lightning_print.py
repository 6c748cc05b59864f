# SPDX-License-Identifier: GPL-3.0-or-later
"""Lightning with its progress bar, and a callback that prints the metrics of
each epoch."""

import lightning
import torch
import torch.nn.functional as F
from data import digits, write_curve
from torch.utils.data import DataLoader, TensorDataset

lightning.seed_everything(1)
train_x, valid_x, train_y, valid_y = (torch.tensor(part) for part in digits())


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 10)

    def training_step(self, batch, _):
        loss = F.cross_entropy(self.layer(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        loss = F.cross_entropy(self.layer(batch[0]), batch[1])
        self.log("val_loss", loss, prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


class Printer(lightning.Callback):
    points = []

    def on_validation_epoch_end(self, trainer, module):
        if not trainer.sanity_checking:
            metrics = trainer.callback_metrics
            print(f"epoch {trainer.current_epoch}: "
                  f"val_loss {metrics['val_loss']}", flush=True)
            self.points.append((trainer.current_epoch, metrics["val_loss"]))


trainer = lightning.Trainer(
    max_epochs=4, callbacks=[Printer()], logger=False, accelerator="cpu",
    enable_checkpointing=False)
trainer.fit(Model(),
            DataLoader(TensorDataset(train_x, train_y), 64),
            DataLoader(TensorDataset(valid_x, valid_y), 64))
write_curve("epochs", "val_loss", Printer.points)
