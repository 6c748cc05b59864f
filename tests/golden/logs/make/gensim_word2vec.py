# SPDX-License-Identifier: GPL-3.0-or-later
"""gensim's Word2Vec with its log, and the callback that prints the loss."""

import logging
import random
import sys

from data import write_curve
from gensim.models import Word2Vec
from gensim.models.callbacks import CallbackAny2Vec

logging.basicConfig(format="%(asctime)s : %(levelname)s : %(message)s",
                    level=logging.INFO, stream=sys.stdout)
random.seed(1)
words = [f"word{i}" for i in range(50)]
sentences = [[random.choice(words) for _ in range(20)] for _ in range(300)]


class PrintLoss(CallbackAny2Vec):
    def __init__(self):
        self.epoch, self.points, self.before = 0, [], 0.0

    def on_epoch_end(self, model):
        total = model.get_latest_training_loss()
        print("Loss after epoch {}: {}".format(self.epoch, total - self.before))
        self.points.append((self.epoch, total - self.before))
        self.before = total
        self.epoch += 1


printer = PrintLoss()
Word2Vec(sentences, vector_size=10, epochs=5, workers=1, seed=1,
         compute_loss=True, callbacks=[printer])
write_curve("epochs", "Loss", printer.points)
