# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain over several ranks: the same numbers as one rank's, bit for bit, and
an end for all where one fails."""

import json
import pathlib
import re
import signal
import socket
import subprocess

import pytest

from checkpoints import newest, state_of
from programs import BUILD, rest_of
from test_smtrain import (FLAGS, images, lines_of, metric,  # noqa: F401
                          on_terminal_signals)
from waiting import wait_until

SMALL = ("--limit", 300, "--batch", 50, "--dropout", "0.2", "--depth", 2)


@pytest.fixture
def ranks(smtune, images):  # noqa: F811
    """ranks(n, ...): smtrain mlp as n ranks; a CompletedProcess."""
    def run(count, *words, **options):
        return smtune("launch", "-n", count, "--", BUILD / "smtrain",
                      "mlp", *FLAGS, "--data", images, *SMALL, *words,
                      **options)
    return run


@pytest.mark.sanitized
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_any_number_of_ranks_comes_to_the_same(ranks, tmp_path, optimizer):
    """Bit for bit, with dropout, and a last batch that does not divide."""
    seen = {}
    for count in (1, 2, 4):
        folder = tmp_path / f"{count}"
        lines = lines_of(ranks(count, "--optimizer", optimizer, "--lr", "0.01",
                               "--batch", 77, "--shares", 4, "--epochs", 2,
                               "--checkpoint-dir", folder))
        assert len(lines) == 2
        seen[count] = lines, state_of(newest(folder))
    assert seen[1] == seen[2] == seen[4]


@pytest.mark.parametrize("stage", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 2])
def test_every_stage_comes_to_the_same(ranks, tmp_path, count, stage):
    """Buckets that cut through layers, and a run that goes on in another
    stage with other ranks."""
    flags = ("--optimizer", "adam", "--lr", "0.002", "--shares", 4,
             "--bucket-mb", "0.02", "--width", 40, "--checkpoint-dir")
    whole = lines_of(ranks(1, *flags, tmp_path / "whole", "--epochs", 2))
    parts = lines_of(ranks(count, *flags, tmp_path / "parts", "--epochs", 1,
                           "--zero", stage))
    parts += lines_of(ranks(3 - count, *flags, tmp_path / "parts", "--epochs",
                            2, "--zero", 4 - stage))
    assert parts == whole
    assert (state_of(newest(tmp_path / "parts"))
            == state_of(newest(tmp_path / "whole")))


@pytest.mark.parametrize("stage", [2, 3])
@pytest.mark.parametrize("count,each", [(2, 3), (4, 2), (1, 5)])
def test_shares_are_added_up_in_the_shard(ranks, tmp_path, count, each, stage):
    """Where each is sent by itself, in the same order as the others."""
    flags = ("--optimizer", "adam", "--lr", "0.002", "--bucket-mb", "0.02",
             "--width", 40, "--epochs", 1, "--clip-norm", 1,
             "--checkpoint-dir")
    whole = lines_of(ranks(1, *flags, tmp_path / "whole", "--shares",
                           count * each))
    assert lines_of(ranks(count, *flags, tmp_path / "shards", "--accumulate",
                          each, "--zero", stage)) == whole
    assert (state_of(newest(tmp_path / "shards"))
            == state_of(newest(tmp_path / "whole")))


def test_gradients_are_clipped_alike(ranks):
    """Their norm is the same bits, whoever has which part of them."""
    flags = ("--epochs", 2, "--shares", 2, "--clip-norm", "0.3", "--bucket-mb",
             "0.02")
    whole = lines_of(ranks(1, *flags))
    assert whole != lines_of(ranks(1, *flags, "--clip-norm", 0))
    for stage in (0, 2):
        assert lines_of(ranks(2, *flags, "--zero", stage)) == whole


def test_a_line_of_metrics_every_few_steps(ranks, tmp_path):
    """From the first rank, of all of them; and as JSON."""
    file = tmp_path / "metrics.jsonl"
    flags = ("--epochs", 1, "--log-steps", 2, "--shares", 2)
    texts = [ranks(count, *flags, env={"SMTUNE_METRICS": str(file)}).stdout
             for count in (2, 1)]
    steps = [re.findall(r"^step=(\d+) loss=(\S+) grad_norm=(\S+) lr=(\S+) "
                        r"samples_per_s=\d+ compute_ms=[0-9.]+ "
                        r"exposed_comm_ms=[0-9.]+ input_ms=[0-9.]+$", text,
                        re.M) for text in texts]
    assert steps[0] == steps[1]
    assert [int(step[0]) for step in steps[0]] == [2, 4, 6]
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["step"] for row in rows] == [2, 4, 6] * 2
    assert rows[0]["loss"] == float(steps[0][0][1])
    assert rows[0]["exposed_comm_ms"] >= 0


def test_the_batch_grows_on_the_way(ranks, tmp_path):
    flags = ("--grow-every", 1, "--scale-lr", "linear", "--base-batch", 50,
             "--warmup", "0.5", "--log-steps", 1, "--checkpoint-dir")
    whole = ranks(2, *flags, tmp_path / "whole", "--epochs", 3).stdout
    rates = [float(rate) for rate in re.findall(r" lr=(\S+)", whole)]
    assert len(rates) == 6 + 3 + 2
    assert rates[0] < rates[5] == 0.05
    assert rates[6:] == [0.1] * 3 + [0.2] * 2
    for epochs in (1, 3):
        lines_of(ranks(1, *flags, tmp_path / "parts", "--epochs", epochs,
                       "--shares", 2))
    assert (state_of(newest(tmp_path / "parts"))
            == state_of(newest(tmp_path / "whole")))


def test_ranks_that_differ_are_named(smtune, images):  # noqa: F811
    result = smtune("launch", "-n", 3, "--", "sh", "-c",
                    f'exec {BUILD}/smtrain mlp --data {images} --width 16 '
                    '--seed $((RANK == 1))')
    assert lines_of(result, status=1) == []
    assert re.search(r"the flags or data of these ranks differ from "
                     r"rank 0 on host (\S+): 1 on host \1\n", result.stderr)


def test_ranks_compare_what_they_have(ranks):
    flags = ("--epochs", 1, "--check-every", 2)
    assert len(lines_of(ranks(2, *flags))) == 1
    assert len(lines_of(ranks(2, *flags, "--zero", 3))) == 1


def test_three_ranks_share_what_does_not_divide(ranks):
    flags = ("--epochs", 2, "--width", 17)
    assert (lines_of(ranks(3, *flags))
            == lines_of(ranks(3, *flags, "--zero", 3, "--bucket-mb", 0)))


def test_a_batch_is_computed_bit_by_bit(ranks):
    """Accumulated parts are shares like any others."""
    assert (lines_of(ranks(2, "--epochs", 1, "--accumulate", 2))
            == lines_of(ranks(1, "--epochs", 1, "--shares", 4)))


def test_learns_as_one_rank_does(ranks):
    """The batch is that of all ranks: only the last digits differ."""
    losses = [metric(lines_of(ranks(count, "--epochs", 3))[-1], "train_loss")
              for count in (1, 3)]
    assert abs(losses[0] - losses[1]) < 1e-3


def test_goes_on_with_other_ranks(ranks, tmp_path):
    flags = ("--checkpoint-dir", tmp_path / "parts", "--epochs")
    parts = lines_of(ranks(4, *flags, 1))
    parts += lines_of(ranks(2, *flags, 2))
    parts += lines_of(ranks(1, *flags, 3))
    whole = lines_of(ranks(4, "--epochs", 3, "--checkpoint-dir",
                           tmp_path / "whole"))
    assert parts == whole
    assert (state_of(newest(tmp_path / "parts"))
            == state_of(newest(tmp_path / "whole")))
    result = ranks(3, *flags, 4)
    assert lines_of(result, status=2) == []
    assert "of 4 shares; possible numbers of ranks: 1, 2, 4" in result.stderr
    result = ranks(2, *flags, 4, "--shares", 2)
    assert lines_of(result, status=1) == []
    assert "with shares=4, not shares=2" in result.stderr


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for two checkpoints of FLAGS, not for three."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs",
                       folder], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("a file system can be mounted by root alone")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.parametrize("count", [1, 2])
def test_a_full_disk_ends_all_and_spoils_nothing(ranks, small_disk, count):
    flags = ("--depth", 1, "--checkpoint-dir", small_disk / "run", "--epochs")
    result = ranks(count, *flags, 9)
    seen = len(lines_of(result, status=1))
    assert 3 <= seen < 9
    assert "shard-000" in result.stderr
    assert "No space left on device" in result.stderr
    with_room = ranks(count, *flags, 2)
    assert len(lines_of(with_room)) == 1
    assert "already has 2 epochs" in with_room.stderr


def test_more_ranks_than_samples(ranks):
    few = ("--limit", 3, "--batch", 2, "--epochs", 2, "--shares", 4)
    assert lines_of(ranks(4, *few)) == lines_of(ranks(1, *few))


def test_the_test_set_over_ranks(ranks, tmp_path):
    flags = ("--checkpoint-dir", tmp_path / "run")
    lines_of(ranks(2, "--epochs", 1, *flags))
    results = [lines_of(ranks(count, "--test", *flags)) for count in (1, 2)]
    assert len(results[0]) == 1 and results[0] == results[1]


def test_divergence_ends_all(ranks):
    result = ranks(2, "--lr", "1e10")
    (line,) = lines_of(result, status=1)
    assert line == "epoch=1 train_loss=nan val_loss=nan val_error=nan"
    assert "rank 0 on host" in result.stderr
    assert "training diverged: the loss of rank" in result.stderr


def test_a_rank_without_data_is_named(ranks, tmp_path):
    """No rank has any: the first to say so ends the others."""
    result = ranks(2, "--data", tmp_path / "nowhere")
    assert lines_of(result, status=1) == []
    assert re.search(r"rank [01] on host \S+, after start 0: cannot open '"
                     f"{tmp_path}/nowhere/train-images-idx3-ubyte'",
                     result.stderr), result.stderr


def test_a_signal_stops_all_at_the_same_step(smtune, ranks, images,  # noqa: F811
                                             tmp_path):
    flags = (*SMALL, "--batch", 5, "--checkpoint-dir", tmp_path / "run",
             "--epochs")
    process = smtune.start("launch", "-n", 2, "--", BUILD / "smtrain",
                           "mlp", *FLAGS, "--data", images, *flags, 100000)
    first = process.stdout.readline()
    process.send_signal(signal.SIGUSR1)
    out, errors = rest_of(process)
    assert process.returncode == 75, errors
    assert "saved a checkpoint" in errors
    epochs = len((first + out).splitlines()) + 2
    parts = lines_of(ranks(2, *flags, epochs))
    whole = lines_of(ranks(2, "--batch", 5, "--epochs", epochs,
                           "--checkpoint-dir", tmp_path / "whole"))
    assert whole[-len(parts):] == parts
    assert (state_of(newest(tmp_path / "run"))
            == state_of(newest(tmp_path / "whole")))


def catches(pid, number):
    """Whether the process has a handler for the signal."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    mask = int(re.search(r"^SigCgt:\s*(\w+)$", status, re.M)[1], 16)
    return mask >> (number - 1) & 1 == 1


def test_a_second_interrupt_ends_a_rank_that_waits(smtune, images,  # noqa: F811
                                                   tmp_path):
    started = start_two(smtune, images, "--checkpoint-dir", tmp_path / "run",
                        preexec_fn=on_terminal_signals(signal.SIG_DFL))
    started[0].stdout.readline()
    started[1].send_signal(signal.SIGSTOP)
    started[0].send_signal(signal.SIGINT)
    wait_until(lambda: not catches(started[0].pid, signal.SIGINT))
    started[0].send_signal(signal.SIGINT)
    assert started[0].wait(timeout=60) == -signal.SIGINT
    started[1].kill()


def test_a_unit_that_is_used_twice(smtune, tmp_path):
    """The table of tokens of gpt: it is there first and last."""
    (tmp_path / "text").write_text("in the beginning was the word. " * 60)
    states = []
    for count, stage in ((1, 0), (2, 3), (2, 1)):
        folder = tmp_path / f"{count}-{stage}"
        lines_of(smtune("launch", "-n", count, "--", BUILD / "smtrain", "gpt",
                        "--data", tmp_path / "text", "--layers", 2, "--width",
                        16, "--context", 16, "--batch", 8, "--shares", 2,
                        "--epochs", 1, "--bucket-mb", "0.01", "--zero", stage,
                        "--checkpoint-dir", folder))
        states.append(state_of(newest(folder)))
    assert states[0] == states[1] == states[2]


def start_two(smtune, images, *words, **options):  # noqa: F811
    """Two ranks that nobody but the test ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return [smtune.start("mlp", *FLAGS, "--data", images, "--epochs", 100000,
                         *words, program="smtrain",
                         env={"RANK": str(rank), "WORLD_SIZE": "2",
                              "MASTER_ADDR": "127.0.0.1",
                              "MASTER_PORT": str(port)}, **options)
            for rank in (0, 1)]


def test_the_others_of_a_killed_rank_end(smtune, images):  # noqa: F811
    """In the middle of training, by themselves."""
    started = start_two(smtune, images)
    started[0].stdout.readline()
    started[1].kill()
    errors = started[0].communicate(timeout=60)[1]
    started[1].communicate()
    assert started[0].returncode == 1
    assert re.search(r"^smtrain: rank 0 on host \S+: .*rank 1 on host", errors)
