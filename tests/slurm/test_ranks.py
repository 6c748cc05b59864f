# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks over several nodes: smtune launch within an allocation, and trials of
several nodes."""

import json
import pathlib
import re

import pytest

from checkpoints import newest, state_of

FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
SAY = ("echo rank=$RANK/$WORLD_SIZE local=$LOCAL_RANK/$LOCAL_WORLD_SIZE "
       "at $MASTER_ADDR:$MASTER_PORT threads=$OMP_NUM_THREADS "
       "gpus=$CUDA_VISIBLE_DEVICES on $SLURMD_NODENAME")
LINE = re.compile(r"(\[rank \d+\] )?rank=(\d)/(\d) local=(\d)/(\d) at "
                  r"(\S+) threads=(\d+) gpus=(\S*) on (\w+)$")
WAIT = "while :; do sleep 0.1; done"


def seats_of(folder, tasks):
    """What each rank said: LOCAL_RANK, LOCAL_WORLD_SIZE, GPUs, node."""
    seats = []
    for rank in range(tasks):
        words = (folder / f"rank-{rank}.log").read_text().splitlines()
        _, told, _, local, share, _, _, gpus, node = \
            LINE.match(words[-1]).groups()
        assert int(told) == rank
        seats.append((int(local), int(share), gpus, node))
    return seats


@pytest.fixture
def in_job(cluster, smtune, write, tmp_path, build):
    """in_job(script, nodes=2, tasks=4): what a batch job wrote."""
    def run(script, *words, nodes=2, tasks=4):
        write("job.sh", f"#!/bin/sh\nPATH={build}:$PATH\n{script}\n")
        cluster.run("sbatch", "--wait", f"-N{nodes}", f"-n{tasks}", "-o",
                    tmp_path / "job.log", *words, tmp_path / "job.sh",
                    cwd=tmp_path, timeout=60)
        return (tmp_path / "job.log").read_text()
    return run


def test_ranks_are_spread_over_the_nodes(in_job):
    said = in_job(f"smtune launch -n 4 -- sh -c '{SAY}'", "-c3")
    seen = {}
    for line in said.splitlines():
        match = LINE.match(line)
        assert match, line
        tag, rank, world, local, share, place, threads, _, node = \
            match.groups()
        seen[int(rank)] = (int(local), int(share), node, place)
        assert tag == (None if rank == "0" else f"[rank {rank}] ")
        assert world == "4" and threads == "3"
    assert sorted(seen) == [0, 1, 2, 3]
    assert len({place for *_, place in seen.values()}) == 1
    assert len({node for *_, node, _ in seen.values()}) == 2
    for local, share, node, _ in seen.values():
        others = [it for it in seen.values() if it[2] == node]
        assert share == len(others)
        assert sorted(it[0] for it in others) == list(range(share))


def test_the_first_that_fails_ends_all(in_job, tmp_path):
    said = in_job(
        "smtune launch -n 4 --logs logs -- sh -c '"
        'echo begin $RANK; trap "echo told; exit 200" TERM; '
        f"[ $RANK = 2 ] && exit 9; {WAIT}'\necho status $?")
    assert "status 9\n" in said
    assert said.count("smtune: rank") == 1
    assert ("smtune: rank 2 exited with status 9; the others were stopped "
            "because of it") in said
    assert "[rank 2] begin 2\n" in said
    for rank in range(4):
        text = (tmp_path / f"logs/rank-{rank}.log").read_text()
        assert text.startswith(f"begin {rank}\n")
        assert ("told" in text) == (rank != 2)


def test_signals_reach_each_rank_once(in_job):
    """And what a rank has started does not get them from Slurm."""
    said = in_job(
        "for sig in USR1 TERM; do\n"
        "smtune launch -n 4 -- sh -c '"
        'trap "echo got $RANK USR1" USR1; '
        'trap "echo got $RANK TERM; exit 0" TERM; '
        f"echo ready $RANK; {WAIT}' >log.$sig &\n"
        "pid=$!\n"
        "until [ $(grep -c ready log.$sig) = 4 ]; do sleep 0.1; done\n"
        "kill -$sig $pid\n"
        "until [ $(grep -c got log.$sig) = 4 ]; do sleep 0.1; done\n"
        "[ $sig = TERM ] || kill $pid\n"
        "wait $pid\n"
        "echo status $?\n"
        "cat log.$sig\n"
        "done")
    for sig in "USR1", "TERM":
        for rank in range(4):
            assert f"got {rank} {sig}\n" in said
    assert said.count("USR1\n") == 4
    assert said.count("status 143\n") == 2


def test_says_what_it_cannot_do(in_job):
    said = in_job("smtune launch -n 4 -N 3 -- true\n"
                  "smtune launch -n 1 -N 2 -- true\n"
                  "srun -n 2 smtune launch -n 2 -- sh -c 'echo $RANK'")
    assert ("launch: 3 nodes requested, but the Slurm allocation has "
            "fewer") in said
    assert "launch: 2 nodes need at least as many ranks" in said
    lines = sorted(said.splitlines()[-4:])
    assert lines == ["0", "0", "[rank 1] 1", "[rank 1] 1"]


@pytest.mark.skipif(not FASHION.is_dir(),
                    reason="dataset-fashion-mnist is missing")
def test_smtrain_over_the_nodes(in_job, tmp_path):
    """Its ranks find each other by Slurm's environment, or by what smtune
    launch says, and come to what one rank does."""
    train = ("smtrain mlp --limit 500 --width 16 --epochs 2 --shares 4 "
             "--checkpoint-dir ")
    said = in_job("export MASTER_ADDR=127.0.0.1  # nodes have no names here\n"
                  f"srun -n 4 {train} srun || echo failed srun\n"
                  f"smtune launch -n 2 -N 2 -- {train} launch || echo failed\n"
                  f"{train} alone --threads 1", "--mem-per-cpu=250")
    assert "failed" not in said, said
    losses = re.findall(r"^epoch=2 train_loss=(\S+) ", said, re.M)
    assert len(losses) == 3 and len(set(losses)) == 1, said
    states = [state_of(newest(tmp_path / name))
              for name in ("srun", "launch", "alone")]
    assert states[0] == states[1] == states[2]


def test_a_trial_of_several_nodes(smtune, experiment):
    """Its metrics are rank 0's, the logs of the others beside its own; gpus
    are those of all nodes together."""
    path = experiment(trials=2, trial={
        "command": ["sh", "-c", f"echo loss=$RANK.5; {SAY}; "
                                "echo $SM_CURRENT_HOST $SM_HOSTS"],
        "resources": {"nodes": 2, "tasks": 4, "cpus": 8, "gpus": 4}})
    smtune.ok("run", path)
    trials = smtune.json("trials", "last")
    assert [trial["value"] for trial in trials] == [0.5, 0.5]
    for number in 1, 2:
        folder = smtune.store / f"runs/run/attempts/{number}-1"
        nodes, hosts = set(), set()
        for rank in range(4):
            words = (folder / f"rank-{rank}.log").read_text().splitlines()
            _, told, world, _, _, _, _, gpus, node = \
                LINE.match(words[1]).groups()
            assert (int(told), world) == (rank, "4")
            assert len(gpus.split(",")) == 2
            nodes.add(node)
            host, _, names = words[2].partition(" ")
            hosts.add(host)
            assert json.loads(names) == ["algo-1", "algo-2"]
        assert nodes == {"n1", "n2"}
        assert hosts == {"algo-1", "algo-2"}


@pytest.mark.parametrize("mode", ["job", "array"])
def test_ranks_and_gpus_are_divided_evenly(smtune, experiment, transport, mode):
    """Slurm alone would put seven ranks on the first node, and one on the
    other: LOCAL_RANK would exceed the four GPUs."""
    path = experiment(trials=1, executor={"mode": mode}, trial={
        "command": ["sh", "-c", "echo loss=$SLURM_NTASKS_PER_NODE; "
                                + SAY],
        "resources": {"nodes": 2, "tasks": 8, "gpus": 8}})
    smtune.ok("run", path)
    assert [trial["value"] for trial in smtune.json("trials", "last")] == [4]
    seats = seats_of(smtune.store / "runs/run/attempts/1-1", 8)
    assert [(local, share) for local, share, *_ in seats] == [
        (rank % 4, 4) for rank in range(8)]
    assert [node for *_, node in seats] == ["n1"] * 4 + ["n2"] * 4
    assert {gpus for _, _, gpus, _ in seats} == {"0,1,2,3"}


def test_ranks_of_a_trial_in_a_pilot(smtune, experiment, transport):
    """On its node as many CPUs are taken as there are ranks: two trials of four
    ranks fit at once, and each has GPUs of its own."""
    path = experiment(trials=3, executor={
        "mode": "pilot", "pilot": {"cpus": 8, "gpus": 4, "max": 1}}, trial={
            "command": ["sh", "-c", f"echo loss=$RANK.5; {SAY}"],
            "resources": {"tasks": 4, "gpus": 2, "visible_gpus": "rank"}})
    smtune.ok("run", path)
    assert [trial["value"] for trial in smtune.json("trials", "last")] == \
        [0.5] * 3
    jobs = set()
    for number in 1, 2, 3:
        folder = smtune.store / f"runs/run/attempts/{number}-1"
        jobs.add(json.loads((folder / "claim").read_text())["job"])
        seats = seats_of(folder, 4)
        assert {(local, share) for local, share, *_ in seats} == {(0, 1)}
        names = [gpus for _, _, gpus, _ in seats]
        assert names[0] == names[1] != names[2] == names[3]
    assert len(jobs) == 1
    smtune.ok("replay", "last")
    smtune.ok("fsck")


@pytest.mark.parametrize("nodes, tasks, gpus, seen", [
    (2, 8, 8, ["0", "1", "2", "3"] * 2), (2, 4, 8, ["0,1", "2,3"] * 2),
    (1, 4, 2, ["0", "0", "1", "1"])])
def test_each_rank_sees_its_own_gpus(smtune, experiment, transport, nodes,
                                     tasks, gpus, seen):
    smtune.ok("run", experiment(trials=1, trial={
        "command": ["sh", "-c", f"echo loss=1; {SAY}"],
        "resources": {"nodes": nodes, "tasks": tasks, "gpus": gpus,
                      "visible_gpus": "rank"}}))
    seats = seats_of(smtune.store / "runs/run/attempts/1-1", tasks)
    assert [names for _, _, names, _ in seats] == seen
    assert {(local, share) for local, share, *_ in seats} == {(0, 1)}


@pytest.mark.parametrize("mode", ["job", "array", "pilot"])
def test_gpus_of_a_type(smtune, experiment, transport, mode):
    smtune.ok("run", experiment(trials=3, executor={"mode": mode}, trial={
        "shell": "scontrol show job $SLURM_JOB_ID; "
                 "echo seen=$CUDA_VISIBLE_DEVICES; echo loss=1",
        "resources": {"gpus": {"fake": 2}}}))
    for number in 1, 2, 3:
        said = smtune.ok("logs", "run", number)
        assert re.search(r"TresPerNode=gres[:/]gpu:fake:[24]", said), said
        assert re.search(r"^seen=\d,\d$", said, re.M)


@pytest.mark.cluster("mig")
@pytest.mark.parametrize("mode", ["job", "pilot"])
def test_mig_devices_by_their_profile(smtune, experiment, transport, mode):
    """A node has two of them, and four GPUs: a pilot for six of either type
    would never start."""
    smtune.ok("run", experiment(trials=6, executor={"mode": mode}, trial={
        "shell": "echo seen=$CUDA_VISIBLE_DEVICES; echo loss=1",
        "resources": {"gpus": "a100_1g.5gb:1"}}))
    for number in range(1, 7):
        said = smtune.ok("logs", "run", number)
        assert re.search(r"^seen=\d$", said, re.M), said


def test_a_type_that_the_cluster_lacks(smtune, experiment, transport):
    smtune("run", experiment(trials=1, trial={
        "command": ["echo", "loss=1"], "resources": {"gpus": "a100:1"}}))
    [trial] = smtune.json("trials", "last")
    assert trial["cause"] == "launch_error"


def test_launch_divides_evenly_where_there_is_room(in_job):
    said = in_job(f"smtune launch -n 6 --tag -- sh -c '{SAY}'",
                  "--ntasks-per-node=8", tasks=16)
    assert sorted(line.split()[3] for line in said.splitlines()) == [
        f"local={local}/3" for local in (0, 0, 1, 1, 2, 2)]


def test_a_trial_whose_rank_fails(smtune, experiment):
    path = experiment(trials=1, trial={
        "command": ["sh", "-c", f"[ $RANK = 3 ] && exit 7; {WAIT}"],
        "resources": {"nodes": 2, "tasks": 4}})
    smtune("run", path)
    [trial] = smtune.json("trials", "last")
    assert trial["state"] == "failed"
    shown = smtune.json("show", "last", "1")
    assert "7" in json.dumps(shown["attempts"])


# Each rank saves its own part, rank 0 slowly.
SAVING = r"""
    part=$SMTUNE_CHECKPOINT_DIR/shard$RANK
    n=$(cat "$part" 2>/dev/null || echo 0)
    slow=0.1
    [ $RANK = 0 ] && slow=1.5
    trap 'echo "warned at $n"; sleep $slow; echo $n >"$part"; exit 85' USR2
    trap 'echo ended; exit 1' TERM
    echo "from $n"
    while [ "$n" -lt 60 ]; do
        n=$((n + 1))
        sleep 0.1
    done
"""


@pytest.mark.parametrize("transport, mode", [
    ("commands", "job"), ("commands", "array"), ("commands", "pilot"),
    ("rest", "job"), ("rest", "pilot")])
def test_after_the_warning_ranks_end_by_themselves(
        smtune, write, cluster, transport, mode):
    """One warning a rank, and nobody is ended because another one has saved:
    so no checkpoint is torn."""
    write("rank.sh", SAVING)
    path = write("w.yaml", json.dumps({
        "version": 1, "name": "w",
        "executor": {"name": "slurm", "poll": "1s", "mode": mode,
                     **cluster.options},
        "steps": {"long": {
            "command": "sh rank.sh",
            "resources": {"time": "7s", "grace": "1s", "tasks": 4,
                          **({} if mode == "pilot" else {"nodes": 2})},
            "continue": {"max": 9, "signal": "USR2@4s", "on": [85],
                         "ahead": 0}}}}))
    smtune.ok("run", path, timeout=120)
    attempts = smtune.json("show", "w", "long")["attempts"]
    ends = [(it["cause"], it["exit_code"]) for it in attempts]
    assert len(ends) >= 2
    assert ends == [("exit", 85)] * (len(ends) - 1) + [("ok", 0)]
    logs = {rank: [(smtune.store / f"runs/w/attempts/1-{n}/rank-{rank}.log")
                   .read_text() for n in range(1, len(ends) + 1)]
            for rank in range(4)}
    for of_rank in logs.values():
        assert [text.count("warned") for text in of_rank] == \
            [1] * (len(ends) - 1) + [0]
        assert "ended" not in "".join(of_rank)
        assert "from 0\n" not in "".join(of_rank[1:])
    smtune.ok("replay", "w")
    smtune.ok("fsck")


def test_the_time_limit_of_a_trial_of_several_nodes(smtune, experiment):
    path = experiment(trials=1, trial={
        "command": ["sh", "-c",
                    f"trap 'echo told $RANK; exit 0' TERM; {WAIT}"],
        "resources": {"nodes": 2, "time": "2s", "grace": "10s"}})
    smtune("run", path)
    folder = smtune.store / "runs/run/attempts/1-1"
    assert json.loads((folder / "exit").read_text())["cause"] == "timeout"
    for rank in range(2):
        assert f"told {rank}" in (folder / f"rank-{rank}.log").read_text()
