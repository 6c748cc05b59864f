# SPDX-License-Identifier: GPL-3.0-or-later
"""smtrain as a program: learning, stopping, going on, and saying what is
wrong. Most tests train on the first images of Fashion-MNIST alone."""

import gzip
import os
import pathlib
import re
import shutil
import signal
import struct

import pytest

from checkpoints import newest, shard, state_of
from programs import ROOT, rest_of
from waiting import wait_until

FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
FLAGS = ("--width", 16, "--batch", 32)


def idx(path, dimensions, count, out):
    """The first `count` items of a compressed IDX file, uncompressed."""
    with gzip.open(path) as file:
        head = file.read(4 + 4 * dimensions)
        shape = struct.unpack(f">{dimensions}I", head[4:])
        size = 1
        for side in shape[1:]:
            size *= side
        out.write_bytes(head[:4] + struct.pack(f">{dimensions}I", count,
                                               *shape[1:])
                        + file.read(count * size))


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """A folder of 1,200 images to train (and hold out 200) and 300 to test."""
    folder = tmp_path_factory.mktemp("images")
    for prefix, count in (("train", 1200), ("t10k", 300)):
        for kind, dimensions in (("images-idx3", 3), ("labels-idx1", 1)):
            name = f"{prefix}-{kind}-ubyte"
            idx(FASHION / f"{name}.gz", dimensions, count, folder / name)
    return folder


@pytest.fixture
def smtrain(smtune, images):
    """smtrain("mlp", ...) on those images; a CompletedProcess."""
    def run(*words, data=images, **options):
        data = ("--data", data) if data else ()
        return smtune("mlp", *FLAGS, *data, *words, program="smtrain",
                      **options)
    return run


def lines_of(result, status=0):
    """What it printed, without the time it took."""
    assert result.returncode == status, result.stderr
    return re.sub(r" samples_per_s=\d+", "", result.stdout).splitlines()


def metric(line, name):
    return float(re.search(rf"\b{name}=(\S+)", line)[1])


@pytest.mark.quick
@pytest.mark.sanitized
def test_learns_real_images(smtune):
    result = smtune("mlp", "--limit", 10000, "--epochs", 2, program="smtrain")
    lines = lines_of(result)
    assert [metric(line, "epoch") for line in lines] == [1, 2]
    assert metric(lines[1], "val_error") < 0.25
    assert metric(lines[1], "train_loss") < metric(lines[0], "train_loss")
    assert result.stderr == ""


@pytest.mark.parametrize("flags", [
    ("--optimizer", "adam", "--lr", "0.003", "--weight-decay", "0.01"),
    ("--width", 64, "--depth", 3, "--dropout", "0.1", "--lr", "0.02"),
    ("--depth", 0, "--schedule", "cosine"),
], ids=["adam", "deep", "linear"])
def test_every_kind_of_model_learns(smtrain, flags):
    lines = lines_of(smtrain("--epochs", 8, *flags))
    assert len(lines) == 8
    assert metric(lines[-1], "val_error") < 0.35


def test_repeats_itself_bit_for_bit(smtrain, tmp_path):
    runs = [lines_of(smtrain("--epochs", 2, "--dropout", "0.2",
                             "--checkpoint-dir", tmp_path / name, *seed))
            for name, seed in (("a", ()), ("b", ()), ("c", ("--seed", 2)))]
    assert runs[0] == runs[1] != runs[2]
    states = [state_of(newest(tmp_path / name)) for name in "abc"]
    assert states[0] == states[1] != states[2]


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_goes_on_bit_for_bit(smtrain, tmp_path, optimizer):
    flags = ("--optimizer", optimizer, "--lr", "0.01", "--dropout", "0.2")
    whole = lines_of(smtrain("--epochs", 5, *flags, "--checkpoint-dir",
                             tmp_path / "whole"))
    env = {"SMTUNE_CHECKPOINT_DIR": str(tmp_path / "parts")}
    parts = lines_of(smtrain("--epochs", 2, *flags, env=env))
    second = smtrain("--epochs", 5, *flags, env=env)
    assert "resuming at epoch 3, batch 1" in second.stderr
    assert parts + lines_of(second) == whole
    assert (state_of(newest(tmp_path / "parts"))
            == state_of(newest(tmp_path / "whole")))


def test_an_ended_run_says_its_result_again(smtrain, tmp_path):
    flags = ("--checkpoint-dir", tmp_path / "run", "--epochs", 2)
    first = lines_of(smtrain(*flags))
    state = state_of(newest(tmp_path / "run"))
    for epochs in (2, 1):
        result = smtrain("--checkpoint-dir", tmp_path / "run", "--epochs",
                         epochs)
        assert lines_of(result) == first[-1:]
        assert "already has 2 epochs" in result.stderr
    assert state_of(newest(tmp_path / "run")) == state


SCHEDULES = {"constant": (), "cosine": ("--schedule", "cosine",
                                        "--horizon", 27)}


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_rungs_come_to_what_one_run_does(smtune, smtrain, images, tmp_path,
                                         optimizer, schedule):
    """3 epochs, then 9, then 27, stopped by SIGTERM in the middle of the
    last: bit for bit what 27 at once are."""
    flags = ("--optimizer", optimizer, "--lr", "0.005", "--dropout", "0.2",
             "--batch", 4, *SCHEDULES[schedule], "--checkpoint-dir")
    whole = lines_of(smtrain(*flags, tmp_path / "whole", "--epochs", 27))
    seen = []
    for epochs in (3, 9):
        rung = smtrain(*flags, tmp_path / "rungs",
                       env={"SMTUNE_RESOURCE": str(epochs)})
        seen += lines_of(rung)
        assert len(seen) == epochs
    process = smtune.start("mlp", *FLAGS, "--data", images, *flags,
                           tmp_path / "rungs", "--epochs", 27,
                           program="smtrain")
    out = process.stdout.readline()
    process.terminate()
    out += rest_of(process)[0]
    assert process.returncode == 75
    seen += re.sub(r" samples_per_s=\d+", "", out).splitlines()
    assert 10 <= len(seen) < 27
    last = smtrain(*flags, tmp_path / "rungs", "--epochs", 27)
    assert f"resuming at epoch {len(seen) + 1}, " in last.stderr
    assert seen + lines_of(last) == whole
    assert (state_of(newest(tmp_path / "rungs"))
            == state_of(newest(tmp_path / "whole")))


def test_the_end_of_a_schedule_stays_where_it_is(smtrain, tmp_path):
    flags = ("--schedule", "cosine", "--checkpoint-dir", tmp_path / "run",
             "--epochs")
    lines_of(smtrain(*flags, 1))
    result = smtrain(*flags, 2)
    assert lines_of(result, status=1) == []
    assert "saved with horizon=1, not horizon=2" in result.stderr
    result = smtrain(*flags, 3, "--horizon", 2)
    assert lines_of(result, status=2) == []
    assert "--epochs 3 is larger than --horizon 2" in result.stderr


def test_the_resource_is_how_many_epochs(smtrain):
    def epochs(resource, *flags):
        return len(lines_of(smtrain(*flags, env={
            "SMTUNE_RESOURCE": resource})))
    assert epochs("3") == 3
    assert epochs("3", "--epochs", 2) == epochs("3", "--epochs=2") == 2
    assert epochs("60000000", "--epochs", 1) == 1  # of something else
    assert epochs("") == 10
    result = smtrain(env={"SMTUNE_RESOURCE": "many"})
    assert lines_of(result, status=2) == []
    assert ("$SMTUNE_RESOURCE: --epochs: expected a whole number, got 'many'"
            in result.stderr)


def test_a_checkpoint_is_adopted_with_other_settings(smtrain, tmp_path):
    """What may change is how it is trained, not what it is."""
    flags = ("--checkpoint-dir", tmp_path / "run", "--epochs")
    other = ("--lr", "0.01", "--momentum", "0.5", "--weight-decay", "0.001",
             "--dropout", "0.1", "--batch", 64)
    lines_of(smtrain(*flags, 2))
    assert "with dropout=0, not dropout=0.1" in smtrain(*flags, 3,
                                                        *other).stderr
    result = smtrain(*flags, 3, *other, "--adopt")
    assert len(lines_of(result)) == 1
    assert "resuming at epoch 3" in result.stderr
    assert len(lines_of(smtrain(*flags, 4, *other))) == 1  # it is its own now
    result = smtrain(*flags, 5, "--width", 17, "--adopt")
    assert lines_of(result, status=1) == []
    assert "with width=16, not width=17" in result.stderr


def test_an_epoch_begins_anew_with_another_batch(smtune, smtrain, images,
                                                 tmp_path):
    """What was trained of it in batches of the old size is no part of it."""
    flags = ("--lr", "0.001", "--checkpoint-dir", tmp_path / "run", "--epochs")
    process = smtune.start("mlp", *FLAGS, "--data", images, *flags, 100000,
                           "--batch", 1, program="smtrain")
    process.stdout.readline()
    process.terminate()
    out, errors = rest_of(process)
    assert process.returncode == 75, errors
    epochs = len(out.splitlines()) + 2
    result = smtrain(*flags, epochs, "--batch", 50, "--adopt")
    assert len(lines_of(result)) == 1
    assert f"resuming at epoch {epochs}, batch 1\n" in result.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR2],
                         ids=lambda number: number.name)
def test_a_signal_saves_and_asks_for_a_retry(smtune, smtrain, images, tmp_path,
                                             number):
    flags = ("--batch", 1, "--lr", "0.001", "--checkpoint-dir")
    # Small steps: it is most likely stopped in the middle of an epoch.
    process = smtune.start("mlp", *FLAGS, "--data", images, *flags,
                           tmp_path / "parts", "--epochs", 100000,
                           program="smtrain")
    seen = [process.stdout.readline(), process.stdout.readline()]
    process.send_signal(number)
    out, errors = rest_of(process)
    assert process.returncode == 75, errors
    assert "saved a checkpoint" in errors
    parts = lines_of(type("", (), {"returncode": 0, "stderr": "",
                                   "stdout": "".join(seen) + out}))
    epochs = len(parts) + 2
    parts += lines_of(smtrain(*flags, tmp_path / "parts", "--epochs", epochs))
    whole = lines_of(smtrain(*flags, tmp_path / "whole", "--epochs", epochs))
    assert parts == whole
    assert (state_of(newest(tmp_path / "parts"))
            == state_of(newest(tmp_path / "whole")))


def on_terminal_signals(action):
    """For preexec_fn: what the process does at first on a terminal's signals. A
    suite that runs in the background may have them ignored."""
    return lambda: [signal.signal(number, action)
                    for number in (signal.SIGINT, signal.SIGHUP)]


@pytest.mark.parametrize("number,name", [(signal.SIGINT, "Interrupt"),
                                         (signal.SIGHUP, "Hangup")])
def test_saves_when_its_terminal_interrupts_or_ends(smtune, images, tmp_path,
                                                    number, name):
    folder = tmp_path / "run"
    process = smtune.start(
        "mlp", *FLAGS, "--data", images, "--epochs", 100000, "--checkpoint-dir",
        folder, program="smtrain",
        preexec_fn=on_terminal_signals(signal.SIG_DFL))
    process.stdout.readline()
    process.send_signal(number)
    errors = rest_of(process)[1]
    assert process.returncode == 75, errors
    assert f"saved a checkpoint on {name}; start again to resume" in errors
    assert (newest(folder) / "manifest").exists()
    assert not (folder / "lock").exists()


def test_leaves_ignored_what_it_was_started_to_ignore(smtune, images, tmp_path):
    """As by nohup: between two saves it has looked at signals."""
    folder = tmp_path / "run"

    def saved():
        return sorted(folder.glob("checkpoint-*"))[-1:]
    process = smtune.start(
        "mlp", *FLAGS, "--data", images, "--epochs", 100000, "--checkpoint-dir",
        folder, program="smtrain",
        preexec_fn=on_terminal_signals(signal.SIG_IGN))
    process.stdout.readline()
    for number in (signal.SIGINT, signal.SIGHUP):
        process.send_signal(number)
    for _ in range(3):  # the first may have been under way
        wait_until(lambda before=saved(): saved() > before)
    process.terminate()
    errors = rest_of(process)[1]
    assert process.returncode == 75, errors
    assert "saved a checkpoint on Terminated" in errors


def test_without_a_folder_a_signal_ends_it(smtune, images):
    process = smtune.start("mlp", *FLAGS, "--data", images, "--epochs", 100000,
                           program="smtrain")
    process.stdout.readline()
    process.terminate()
    assert process.wait(timeout=60) == -signal.SIGTERM


def test_killed_at_any_moment_it_goes_on(smtune, smtrain, images, tmp_path):
    """SIGKILL after two lines or more, five times over."""
    flags = ("--batch", 4, "--lr", "0.01", "--epochs", 20, "--checkpoint-dir")
    seen = {}
    for _ in range(5):
        process = smtune.start("mlp", *FLAGS, "--data", images, *flags,
                               tmp_path / "parts", program="smtrain")
        out = process.stdout.readline() + process.stdout.readline()
        process.kill()
        out += rest_of(process)[0]
        for line in out.splitlines(keepends=True):
            if line.endswith("\n"):
                seen[metric(line, "epoch")] = line
    last = smtrain(*flags, tmp_path / "parts")
    for line in last.stdout.splitlines(keepends=True):
        seen[metric(line, "epoch")] = line
    whole = lines_of(smtrain(*flags, tmp_path / "whole"))
    last.stdout = "".join(seen[epoch] for epoch in sorted(seen))
    assert lines_of(last) == whole
    assert (state_of(newest(tmp_path / "parts"))
            == state_of(newest(tmp_path / "whole")))
    assert len(list((tmp_path / "parts").iterdir())) == 2


def test_a_damaged_checkpoint_is_passed_over(smtrain, tmp_path):
    folder = tmp_path / "run"
    flags = ("--checkpoint-dir", folder, "--epochs")
    whole = lines_of(smtrain(*flags, 3))
    good = state_of(newest(folder))
    for find in (shard, lambda path: path / "manifest"):
        file = find(newest(folder))
        data = file.read_bytes()
        for damage in (data[:300], data[:-1], b"",
                       data[:200] + bytes([data[200] ^ 1]) + data[201:], None):
            if damage is None:
                file.unlink()
            else:
                file.write_bytes(damage)
            result = smtrain(*flags, 3)
            assert re.search(f"^smtrain: '{file}' .*: checkpoint skipped$",
                             result.stderr, re.M)
            assert lines_of(result) == whole[2:]
            assert state_of(newest(folder)) == good


def test_with_all_checkpoints_damaged_nothing_begins_anew(smtrain, tmp_path):
    folder = tmp_path / "run"
    flags = ("--checkpoint-dir", folder, "--epochs")
    whole = lines_of(smtrain(*flags, 3))
    for path in folder.iterdir():
        os.truncate(shard(path), 100)
    last = newest(folder)
    for words in ((), ("--quiet",), ("--test",)):
        result = smtrain(*flags, 4, *words)
        assert lines_of(result, status=1) == []
        assert (f"smtrain: no checkpoint in '{folder}' is usable: "
                f"'{shard(last)}' is cut short; " in result.stderr)
    assert len(list(folder.glob("*/shard-*"))) == 2
    for path in folder.glob("*/manifest"):
        path.unlink()  # as killed before it had saved anything
    assert lines_of(smtrain(*flags, 3)) == whole


def test_a_folder_has_one_run_at_a_time(smtune, smtrain, images, tmp_path):
    folder = tmp_path / "run"
    process = smtune.start("mlp", *FLAGS, "--data", images, "--epochs", 100000,
                           "--checkpoint-dir", folder, program="smtrain")
    process.stdout.readline()
    result = smtrain("--checkpoint-dir", folder, "--epochs", 1, "--seed", 2)
    assert lines_of(result, status=1) == []
    assert (f"smtrain: another training uses '{folder}': wait until it ends"
            in result.stderr)
    process.kill()
    process.wait()
    lines_of(smtrain("--checkpoint-dir", folder, "--epochs", 1))
    assert not (folder / "lock").exists()


def test_a_checkpoint_of_another_version_is_refused(smtrain, tmp_path):
    old = tmp_path / "checkpoint-0000000000000032"
    old.write_bytes(b"smtrain checkpoint 1\n")
    result = smtrain("--checkpoint-dir", tmp_path)
    assert lines_of(result, status=1) == []
    assert (f"'{old}' was saved by an earlier version of smtrain"
            in result.stderr)
    assert old.read_bytes() == b"smtrain checkpoint 1\n"


def test_a_checkpoint_of_another_run_is_refused(smtrain, images, tmp_path):
    flags = ("--checkpoint-dir", tmp_path / "run", "--epochs", 1)
    lines_of(smtrain(*flags))
    for other, message in ((("--width", 17), "with width=16, not width=17"),
                           (("--lr", "0.06"), "with lr=0.05, not lr=0.06"),
                           (("--optimizer", "adam"), "with optimizer=sgd"),
                           (("--limit", 500), "with limit=0")):
        result = smtrain(*flags, *other)
        assert lines_of(result, status=1) == []
        assert message in result.stderr
    shutil.copytree(images, tmp_path / "other")
    labels = tmp_path / "other/train-labels-idx1-ubyte"
    labels.write_bytes(labels.read_bytes()[:-1] + b"\x03")
    result = smtrain(*flags, data=tmp_path / "other")
    assert lines_of(result, status=1) == []
    assert "data_crc32" in result.stderr


def test_the_test_set_is_measured_when_asked(smtrain, images, tmp_path):
    folder = tmp_path / "run"
    nothing = smtrain("--test", "--checkpoint-dir", folder)
    assert lines_of(nothing, status=1) == []
    assert f"no complete checkpoint in '{folder}'" in nothing.stderr
    train_only = tmp_path / "train"
    train_only.mkdir()
    for file in images.glob("train-*"):
        shutil.copy(file, train_only)
    lines_of(smtrain("--epochs", 4, "--checkpoint-dir", folder, "--width", 24,
                     data=train_only))
    # The flags of the model come from the checkpoint.
    result = smtrain("--test", "--checkpoint-dir", folder)
    (line,) = lines_of(result)
    assert re.fullmatch(r"test_loss=[0-9.]+ test_error=0\.[0-9]+", line)
    assert metric(line, "test_error") < 0.5
    result = smtrain("--test")
    assert lines_of(result, status=2) == []
    assert "--checkpoint-dir" in result.stderr


def test_divergence_is_told(smtrain, tmp_path):
    result = smtrain("--lr", "1e10", "--quiet", "--checkpoint-dir",
                     tmp_path / "run")
    (line,) = lines_of(result, status=1)
    assert line == "epoch=1 train_loss=nan val_loss=nan val_error=nan"
    assert "diverged" in result.stderr and "1e+10" in result.stderr
    assert not list((tmp_path / "run").iterdir())


def test_quiet_prints_the_last_epoch_alone(smtrain, tmp_path):
    flags = ("--quiet", "--checkpoint-dir", tmp_path / "run", "--epochs")
    for epochs in (2, 3):
        result = smtrain(*flags, epochs)
        (line,) = lines_of(result)
        assert metric(line, "epoch") == epochs
        assert result.stderr == ""


@pytest.mark.parametrize("words, message", [
    ((), "missing MODEL"),
    (("mpl",), "unknown model 'mpl'; did you mean 'mlp'?"),
    (("resnet",), "unknown model 'resnet'; --help lists all models"),
    (("mlp", "--widht", "3"), "did you mean '--width'?"),
    (("mlp", "--lr"), "--lr: missing value"),
    (("mlp", "--lr", "fast"), "expected a finite number, got 'fast'"),
    (("mlp", "--optimizer", "adamw"), "did you mean 'adam'?"),
    (("mlp", "3"), "'3' is not a flag"),
    (("mlp", "--depth", "33"), "33 is out of range 0..32"),
])
def test_wrong_words_are_named(smtune, words, message):
    result = smtune(*words, program="smtrain")
    assert result.returncode == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.startswith("smtrain: ")
    assert result.stderr.count("\n") == 1


def test_a_model_too_large_is_refused(smtrain):
    result = smtrain("--width", 65536, "--depth", 32)
    assert lines_of(result, status=2) == []
    assert "too large" in result.stderr


def test_missing_or_damaged_data_is_named(smtrain, images, tmp_path):
    result = smtrain(data=tmp_path / "nowhere")
    assert lines_of(result, status=1) == []
    assert f"{tmp_path}/nowhere/train-images-idx3-ubyte" in result.stderr
    shutil.copytree(images, tmp_path / "short")
    file = tmp_path / "short/train-images-idx3-ubyte"
    os.truncate(file, file.stat().st_size - 1)
    result = smtrain(data=tmp_path / "short")
    assert lines_of(result, status=1) == []
    assert "cut short" in result.stderr


def test_where_nothing_can_be_written(smtune, smtrain, images, tmp_path):
    (tmp_path / "file").write_text("")
    result = smtrain("--checkpoint-dir", tmp_path / "file/run")
    assert lines_of(result, status=1) == []
    assert "cannot make the directory" in result.stderr
    with open("/dev/full", "w") as full:
        process = smtune.start("mlp", *FLAGS, "--data", images, "--epochs", 1,
                               program="smtrain", stdout=full)
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 1
    assert "cannot write to standard output" in errors


def test_help_is_as_it_was(smtune):
    golden = (ROOT / "tests/golden/smtrain-mlp-help.txt").read_text()
    assert smtune.ok("mlp", "--help", program="smtrain") == golden
    assert max(map(len, golden.splitlines())) <= 80
    assert "mlp" in smtune.ok("--help", program="smtrain")
    assert smtune.ok("--version", program="smtrain").startswith("smtrain ")


def test_threads_of_the_matrix_library(smtrain):
    assert metric(lines_of(smtrain("--threads", 2, "--epochs", 4))[-1],
                  "val_error") < 0.5


def test_takes_better_kernels_than_the_library_chose(smtune, images):
    """On a processor that OpenBLAS does not know it starts itself again:
    the process stays the same."""
    process = smtune.start("mlp", *FLAGS, "--data", images, "--epochs", 100000,
                           program="smtrain", env={"OPENBLAS_VERBOSE": "2"})
    process.stdout.readline()
    kernels = process.stderr.readline()
    environment = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes()
    process.terminate()
    process.wait()
    unknown = (kernels == "Core: Prescott\n"
               and " avx2 " in pathlib.Path("/proc/cpuinfo").read_text())
    assert (b"OPENBLAS_CORETYPE=" in environment) == unknown


def test_the_manual_page_has_every_flag(smtune):
    page = (ROOT / "man/smtrain.1").read_text()
    listed = re.findall(r"^  --(\S+)", smtune.ok("mlp", "--help",
                                                 program="smtrain"), re.M)
    assert len(listed) > 10
    for flag in listed:
        assert f"\n.It Fl Fl {flag}" in page, flag
