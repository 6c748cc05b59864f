# SPDX-License-Identifier: GPL-3.0-or-later
"""Stable Baselines3: a block of rows for each rollout."""

from data import write_curve
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback


class Curve(BaseCallback):
    """The mean reward of each rollout, as the library logs it afterwards."""

    def __init__(self):
        super().__init__()
        self.points = []

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        episodes = [episode["r"] for episode in self.model.ep_info_buffer]
        self.points.append((self.num_timesteps, sum(episodes) / len(episodes)))


curve = Curve()
model = PPO("MlpPolicy", "CartPole-v1", n_steps=256, verbose=1, seed=1)
model.learn(1024, callback=curve)
write_curve("timesteps", "rollout/ep_rew_mean", curve.points)
