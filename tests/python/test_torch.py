# SPDX-License-Identifier: GPL-3.0-or-later
"""A training with PyTorch that reports through the package."""

import pytest

TRAIN = """
    import os

    import smtune
    import torch
    from torch import nn

    p = smtune.params(lr=0.1, width=8)
    world = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("RANK", 0))
    if world > 1:
        torch.distributed.init_process_group("gloo")
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(1, p["width"]), nn.Tanh(),
                          nn.Linear(p["width"], 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=p["lr"])
    path = smtune.checkpoint_dir() / "last.pt"
    first = 1
    if path.exists():
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        first = saved["epoch"] + 1
    trained = nn.parallel.DistributedDataParallel(model) if world > 1 else model
    x = torch.linspace(-1, 1, 64).unsqueeze(1)[rank::world]
    for epoch in range(first, smtune.resource(3) + 1):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(trained(x), torch.sin(3 * x))
        loss.backward()
        optimizer.step()
        smtune.report(epoch=torch.tensor(epoch), loss=loss, rank_was=rank)
        if rank == 0:
            torch.save({"model": model.state_dict(), "epoch": epoch},
                       path.with_suffix(".new"))
            path.with_suffix(".new").replace(path)
        if smtune.should_stop():
            break
    """
SPAWN = """
    import os
    import smtune
    import torch

    def train(rank, place):
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{place}", rank=rank, world_size=2)
        for step in range(1, 4):
            smtune.report(step=step, loss=0.5, rank_was=rank)

    if __name__ == "__main__":
        place = os.path.abspath(os.environ["SMTUNE_DIR"]) + "/meeting"
        torch.multiprocessing.spawn(train, [place], nprocs=2)
    """


@pytest.fixture
def torch_experiment(write, experiment):
    pytest.importorskip("torch")

    def make(text, **keys):
        write("train.py", text)
        return experiment(
            command="python3 train.py", checkpoints=True,
            objective="{metric: loss, goal: minimize}", **keys)
    return make


def last_values(smtune, trial):
    return {metric["name"]: (metric["step"], metric["value"]) for metric in
            smtune.json("show", "exp", trial)["metrics"]}


def test_a_schedule_continues_from_checkpoints(smtune, torch_experiment):
    smtune.ok("run", torch_experiment(
        TRAIN, trials=4, seed=1,
        schedule="{method: asha, resource: epochs, min: 1, max: 4, eta: 2}",
        parameters="{lr: {type: float, min: 0.01, max: 0.3}, width: 4}"),
        timeout=150)
    best = smtune.json("best", "exp")["id"]
    assert last_values(smtune, best)["loss"][0] == 4


def test_ranks_of_smtune(smtune, torch_experiment):
    smtune.ok("run", torch_experiment(
        TRAIN, trials=1, resources="{tasks: 2}",
        parameters="{lr: {type: float, min: 0.01, max: 0.3}, width: 4}"),
        timeout=150)
    values = last_values(smtune, 1)
    assert values["loss"][0] == 3 and values["rank_was"] == (3, 0)


def test_ranks_of_torch(smtune, torch_experiment):
    smtune.ok("run", torch_experiment(SPAWN, trials=1), timeout=150)
    assert last_values(smtune, 1)["rank_was"] == (3, 0)
