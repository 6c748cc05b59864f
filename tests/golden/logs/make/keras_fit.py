# SPDX-License-Identifier: GPL-3.0-or-later
"""Keras' fit() with its bar (verbose=1)."""

import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
import keras  # noqa: E402
from data import digits, write_curve  # noqa: E402

verbose = int(sys.argv[1]) if len(sys.argv) > 1 else 1
keras.utils.set_random_seed(1)
train_x, valid_x, train_y, valid_y = digits()
model = keras.Sequential([keras.Input((64,)),
                          keras.layers.Dense(16, activation="relu"),
                          keras.layers.Dense(10)])
model.compile(optimizer="adam", metrics=["accuracy"],
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(train_x, train_y, epochs=5, verbose=verbose,
                    validation_data=(valid_x, valid_y))
write_curve("epochs", "val_loss",
            enumerate(history.history["val_loss"], start=1))
