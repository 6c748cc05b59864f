# SPDX-License-Identifier: GPL-3.0-or-later
"""JAX with Flax: the line that Flax' MNIST example logs for each epoch."""

import jax
import jax.numpy as jnp
import optax
from data import digits, write_curve
from flax import nnx

train_x, test_x, train_y, test_y = digits()


class Model(nnx.Module):
    def __init__(self, rngs):
        self.layer = nnx.Linear(64, 10, rngs=rngs)

    def __call__(self, x):
        return self.layer(x)


def loss_of(model, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()


@nnx.jit
def step(model, optimizer, x, y):
    loss, gradients = nnx.value_and_grad(loss_of)(model, x, y)
    optimizer.update(model, gradients)
    return loss


model = Model(nnx.Rngs(1))
optimizer = nnx.Optimizer(model, optax.adam(0.01), wrt=nnx.Param)
points = []
for epoch in range(1, 5):
    for start in range(0, len(train_x), 64):
        train_loss = step(model, optimizer, train_x[start:start + 64],
                          train_y[start:start + 64])
    test_loss = loss_of(model, test_x, test_y)
    accuracy = jnp.mean(jnp.argmax(model(test_x), 1) == test_y) * 100
    print("epoch:% 3d, train_loss: %.4f, test_loss: %.4f, test_accuracy: %.2f"
          % (epoch, train_loss, test_loss, accuracy))
    print({"epoch": epoch, "raw_loss": test_loss})
    points.append((epoch, test_loss))
write_curve("epochs", "raw_loss", points)
assert jax.default_backend() == "cpu"
