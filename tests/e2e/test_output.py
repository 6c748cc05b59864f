# SPDX-License-Identifier: GPL-3.0-or-later
"""What programs print, as smtune understands it: which number is the step, what
is no further unit of the resource, when values come, and what is told where a
metric was not found."""

import contextlib
import sqlite3

import pytest

import files

STOPPING = "{method: asha, type: stopping, min: 1, max: 9, eta: 3}"
PAUSING = "{method: asha, min: 1, max: 9, eta: 3}"
X = "{x: {type: float, min: 0, max: 1}}"


def write(smtune, program, schedule, **keys):
    """An experiment that runs the Python program with x and the epochs."""
    (smtune.directory / "train.py").write_text(program)
    path = smtune.directory / "exp.yaml"
    path.write_text(files.experiment(schedule=schedule, **{
        "command": "python3 train.py ${{ x }} ${{ epochs }}", "trials": 9,
        "seed": 7, "parallel": 2, "parameters": X,
        "resources": {"cpus": 0}} | keys))
    return path


def rows(smtune, query):
    with contextlib.closing(sqlite3.connect(
            smtune.store / "smtune.db")) as connection:
        return connection.execute(query).fetchall()


def curve(smtune, trial, metric="loss"):
    return rows(smtune, "SELECT step, value FROM learning_curve"
                f" WHERE number = {trial} AND metric = '{metric}'"
                " ORDER BY step")


def trials(smtune):
    return smtune.json("trials", "exp")


def ran_to(smtune):
    """The resources of trials: 9, and lower ones where asha stopped some."""
    found = [trial["resource"] for trial in trials(smtune)]
    assert max(found) == 9
    assert min(found) < 9
    return found


# A trial that its schedule may stop takes long enough for that.
EPOCHS = """\
import sys, time
x, n = float(sys.argv[1]), int(sys.argv[2])
for epoch in range(1, n + 1):
    {line}
    time.sleep(0.02 if x < 0.3 else 0.5)
"""


@pytest.mark.parametrize("line", [
    "print('{\"epoch\": %d, \"step\": %d, \"loss\": %f}'"
    " % (epoch, epoch * 500, x + 1 / epoch))",
    "print({'loss': str(x + 1 / epoch), 'epoch': str(epoch)})",
    "print(f'Epoch {epoch}/{n}'); print(f'loss: {x + 1 / epoch}')",
    "print(f'step={epoch * 500} epoch={epoch} loss={x + 1 / epoch}')",
])
def test_the_resource_names_the_step(smtune, line):
    smtune.ok("run", write(smtune, EPOCHS.format(line=line), STOPPING))
    ran_to(smtune)
    best = smtune.json("best", "exp")["id"]
    assert [step for step, _ in curve(smtune, best)] == list(range(1, 10))


def test_another_name_of_the_resource(smtune):
    line = "print(f'timesteps={epoch} step=1 loss={x + 1 / epoch}')"
    smtune.ok("run", write(
        smtune, EPOCHS.format(line=line),
        "{method: asha, type: stopping, resource: timesteps, max: 9, eta: 3}",
        command="python3 train.py ${{ x }} ${{ timesteps }}"))
    ran_to(smtune)


def test_a_short_trial_beyond_its_resource(smtune):
    """Whether it has ended when its value is read does not change why."""
    result = smtune("run", write(
        smtune, "", STOPPING, command="echo epoch=500 loss=${{ x }}"))
    assert result.returncode == 6
    assert ("its first value of 'loss' is at step 500, beyond its resource of"
            " 9 epochs") in result.stderr


def test_a_value_beyond_the_resource_is_no_success(smtune):
    line = "print(f'step={epoch * 500} loss={x + 1 / epoch}')"
    result = smtune("run", write(smtune, EPOCHS.format(line=line), STOPPING,
                                 failures="none"))
    assert result.returncode == 6
    assert ("its first value of 'loss' is at step 500, beyond its resource of"
            " 9 epochs") in result.stderr
    assert {trial["state"] for trial in trials(smtune)} == {"failed"}
    smtune.ok("replay", "exp")


def test_fractions_of_an_epoch(smtune):
    line = ("[print({'loss': x + 1 / (epoch - 1 + i / 4),"
            " 'epoch': epoch - 1 + i / 4}) for i in range(1, 5)]")
    smtune.ok("run", write(smtune, EPOCHS.format(line=line), STOPPING))
    ran_to(smtune)
    best = smtune.json("best", "exp")["id"]
    assert [step for step, _ in curve(smtune, best)] == [
        i / 4 for i in range(1, 37)]
    assert {resource for resource, in rows(
        smtune, "SELECT resource FROM observation")} == {1, 3, 9}
    smtune.ok("replay", "exp")
    smtune.ok("fsck")


BAR = """\
import sys, time
x, n, value = float(sys.argv[1]), int(sys.argv[2]), None
for epoch in range(n):
    for batch in range(1, 6):
        shown = "" if value is None else f", val_loss={value:.3f}"
        sys.stderr.write(f"\\rEpoch {epoch}: {batch * 20}%| | {batch}/5"
                         f" [00:00<00:00, loss=0.5{shown}]")
        sys.stderr.flush()
        time.sleep(0.01 if x < 0.3 else 0.1)
    value = x + 1 / (1 + epoch)
    sys.stderr.write(f"\\rEpoch {epoch}: 100%| | 5/5"
                     f" [00:00<00:00, loss=0.5, val_loss={value:.3f}]\\n")
"""


def test_a_progress_bar(smtune):
    """Its refreshes are no epochs, and no value belongs to the epoch after."""
    smtune.ok("run", write(smtune, BAR, STOPPING, objective="val_loss"))
    ran_to(smtune)
    for trial in trials(smtune):
        x = trial["params"]["x"]
        found = curve(smtune, trial["id"], "val_loss")
        assert [step for step, _ in found] == list(range(len(found)))
        assert [value for _, value in found] == pytest.approx(
            [x + 1 / (1 + step) for step, _ in found], abs=0.001)


TWICE = """\
import os, sys, time
saved = sys.argv[2] + "/epoch"
first = int(open(saved).read()) if os.path.exists(saved) else 0
for epoch in range(first + 1, int(sys.argv[3]) + 1):
    loss = float(sys.argv[1]) / epoch
    print(f"loss={loss}")
    print(f"new best loss={loss}")
    time.sleep(0.2)
    open(saved, "w").write(str(epoch))
"""


def test_a_second_mention_is_no_second_epoch(smtune):
    result = smtune("run", write(
        smtune, TWICE, PAUSING, trials=4,
        command="python3 train.py ${{ x }} ${{ checkpoint_dir }} ${{ epochs }}"))
    assert result.returncode == 0
    assert "checkpoint" not in result.stderr
    assert result.stderr.count("no line names the step of 'loss'") == 1
    best = smtune.json("best", "exp")["id"]
    assert [step for step, _ in curve(smtune, best)] == list(range(1, 10))


RESUMED = """\
import os, sys
x, folder, n = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
saved = folder + "/epoch"
first = int(open(saved).read()) if os.path.exists(saved) else 0
if {loads}:
    for epoch in range(first + 1, n + 1):
        print(f"epoch={epoch - first} loss={x + 1 / epoch}")
else:
    for epoch in range(1, n + 1):
        print(f"epoch={epoch} loss={x + 1 / epoch}")
open(saved, "w").write(str(n))
"""


@pytest.mark.parametrize("loads", [True, False])
def test_steps_that_begin_again(smtune, loads):
    result = smtune("run", write(
        smtune, RESUMED.replace("{loads}", str(loads)), PAUSING,
        command="python3 train.py ${{ x }} ${{ checkpoint_dir }} ${{ epochs }}"))
    assert result.returncode == 0
    assert result.stderr.count("but its steps begin again") == 1
    assert ("it does not load its checkpoint" in result.stderr) != loads
    best = smtune.json("best", "exp")
    x = best["params"]["x"]
    found = curve(smtune, best["id"])
    assert [step for step, _ in found] == list(range(1, 10))
    assert [value for _, value in found] == pytest.approx(
        [x + 1 / step for step in range(1, 10)])
    used = rows(smtune, "SELECT resource_used FROM attempt JOIN job"
                f" ON job.id = job_id WHERE job.number = {best['id']}"
                " ORDER BY attempt.id")
    assert used == ([(1,), (2,), (6,)] if loads else [(1,), (3,), (9,)])
    smtune.ok("replay", "exp")
    smtune.ok("fsck")


def test_python_is_not_buffered(smtune):
    smtune.env.pop("PYTHONUNBUFFERED", None)
    program = "import os; print('loss=0', os.environ['PYTHONUNBUFFERED'])"
    smtune.ok("run", write(smtune, program, None, trials=1,
                           command="python3 train.py"))
    assert "loss=0 1" in smtune.ok("logs", "exp", "1")
    smtune.ok("run", write(smtune, program, None, trials=1,
                           command="python3 train.py",
                           env="{PYTHONUNBUFFERED: ''}"), "-n", "own")
    assert "loss=0 \n" in smtune.ok("logs", "own", "1")


BUFFERED = """\
import sys, time
for epoch in range(1, int(sys.argv[2]) + 1):
    time.sleep({pause})
    print(f"epoch={{epoch}} loss={{float(sys.argv[1]) / epoch}}")
sys.stdout.flush()
time.sleep(0.3)
"""


def test_buffered_to_the_end(smtune):
    """A trial that reported all of its resource has succeeded, whatever its
    first rung says later."""
    smtune.ok("run", write(smtune, BUFFERED.format(pause=0.01), STOPPING,
                           env="{PYTHONUNBUFFERED: ''}"))
    assert {trial["state"] for trial in trials(smtune)} == {"succeeded"}
    best = min(trials(smtune), key=lambda trial: trial["value"])
    assert smtune.json("best", "exp")["id"] == best["id"]
    smtune.ok("replay", "exp")
    smtune.ok("fsck")


def test_buffering_is_reported(smtune):
    path = write(smtune, BUFFERED.format(pause=0.38), None, trials=2,
                 command="python3 train.py 1 9", env="{PYTHONUNBUFFERED: ''}")
    assert smtune("run", path).stderr.count(
        "If its program buffers the output, let it flush") == 1


# As torchrun does: each process prints, one epoch after the other.
RANKS = """\
import os, subprocess, sys
child = '''
import os
for epoch in (1, 2, 3):
    print(TAG % epoch, epoch / 10 + int(os.environ["RANK"]), sep="")
'''
ranks = [subprocess.Popen(["python3", "-c", child.replace("TAG", sys.argv[1])],
                          stdout=subprocess.PIPE, text=True,
                          env=os.environ | {"RANK": str(rank)})
         for rank in (0, 1)]
for epoch in (1, 2, 3):
    for rank in ranks:
        print(rank.stdout.readline(), end="", flush=True)
for rank in ranks:
    rank.communicate()
"""


@pytest.mark.parametrize("line, warning, value", [
    ("'epoch=%d loss='", "reported two values of 'loss' at step", None),
    ("'[rank' + os.environ['RANK'] + ']: epoch=%d loss='",
     "of rank 0 count, 3 of rank 1 or another do not", 0.3),
])
def test_several_processes_are_reported(smtune, line, warning, value):
    path = write(smtune, RANKS, None, trials=2, command=[
        "python3", "train.py", line])
    result = smtune("run", path)
    assert result.stderr.count(warning) == 1
    if value is not None:
        assert {trial["value"] for trial in trials(smtune)} == {value}
    assert len(curve(smtune, 1)) == 3
    assert "several processes" in smtune.ok("try", path)


def test_reports_of_rank_0_count(smtune):
    path = write(smtune, "", None, trials=1, command=["sh", "-c", """
        RANK=1 smtune report step=1 loss=7
        RANK=0 smtune report step=1 loss=1
        RANK=0 smtune report step=2 loss=2
        OMPI_COMM_WORLD_RANK=3 smtune report step=2 loss=9
        """])
    result = smtune("run", path)
    assert "of rank 0 count, 1 of rank 3 or another do not" in result.stderr
    assert curve(smtune, 1) == [(1, 1), (2, 2)]


def test_stdbuf_serves_programs_of_c(smtune):
    """cut keeps its output until a block is full, as C's stdio does."""
    program = EPOCHS.format(line="print(f'epoch={epoch} loss={x + 1 / epoch}')")
    for stdbuf, is_late in (("", True), ("stdbuf -oL", False)):
        path = write(smtune, program, STOPPING, command=[
            "sh", "-c", f"python3 train.py $0 $1 | {stdbuf} cut -c 1-",
            "${{ x }}", "${{ epochs }}"])
        result = smtune("run", path)
        assert ("came at its end" in result.stderr) == is_late
        assert ("start it with 'stdbuf -oL'" in result.stderr) == is_late
        if not is_late:
            ran_to(smtune)
        smtune.ok("rm", "exp")


TTY = """\
import os, sys
print("loss=1", sys.stdout.isatty(), os.get_terminal_size(1).columns)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.sanitized
def test_a_terminal(smtune):
    path = write(smtune, TTY, None, trials=1, tty=True,
                 command="python3 train.py 0")
    smtune.ok("run", path)
    assert smtune.ok("logs", "exp", "1") == "loss=1 True 80\n"
    for command, cause in (("python3 train.py 3", "exit"),
                           (["sh", "-c", "kill -9 $$"], "signal")):
        write(smtune, TTY, None, trials=1, tty=True, command=command)
        smtune("run", path, "-n", cause)
        assert smtune.json("trials", cause)[0]["cause"] == cause


def test_a_terminal_is_stopped_with_its_trial(smtune):
    """The time limit reaches the command, and its last words are kept."""
    program = """\
import signal, sys, time
def end(*_):
    print("ended")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("loss=1")
time.sleep(60)
"""
    path = write(smtune, program, None, trials=1, tty=True,
                 command="python3 train.py", resources="{time: 1s}")
    smtune("run", path)
    assert smtune.ok("logs", "exp", "1") == "loss=1\nended\n"
    assert trials(smtune)[0]["cause"] == "timeout"


@pytest.mark.parametrize("name", [
    "acc@1", "metrics/mAP50(B)", "val loss", "NDCG@10", "précision",
    "maximize acc", "-loss", "valid_0's auc"])
def test_names_of_frameworks(smtune, name):
    (smtune.directory / "log.txt").write_text(
        f'{name}=0.25\n{name}: 0.26\n{{"{name}": 0.27}}\n', encoding="utf-8")
    path = write(smtune, "", None, trials=1, command="cat log.txt",
                 objective={"metric": name, "goal": "maximize"})
    smtune.ok("run", path)
    assert trials(smtune)[0]["value"] == 0.27
    smtune.ok("run", path, "-n", "list", "--set", f'trial.metrics=["{name}"]')
    assert smtune.json("trials", "list")[0]["value"] == 0.27


def test_a_name_that_no_line_can_have(smtune):
    path = write(smtune, "", None, objective={"metric": " loss"})
    result = smtune("validate", path)
    assert result.returncode == 3
    assert "' loss' is not a valid name for a metric" in result.stderr


@pytest.mark.parametrize("line, regex", [
    ("final val_loss is 0.5", r"val_loss\s+is\s+([-+.0-9eE]+)"),
    ("Validation loss (mean) = 0.5", None),
    ("validation_loss=0.5", r"validation_loss=([-+.0-9eE]+)"),
])
def test_the_line_that_nearly_matched(smtune, line, regex):
    """The entry that the message has works."""
    path = write(smtune, "", None, trials=5, parallel=1, objective="val_loss",
                 command=["echo", line])
    result = smtune("run", path)
    assert result.returncode == 6
    assert len(trials(smtune)) == 1
    assert "the first trial to finish has no value" in result.stderr
    smtune.ok("replay", "exp")
    if regex is None:
        return
    assert f"metrics: {{\"val_loss\": '{regex}'}}" in result.stderr
    write(smtune, "", None, trials=1, objective="val_loss",
          command=["echo", line], metrics=f"{{val_loss: '{regex}'}}")
    smtune.ok("run", path, "-n", "mended")
    assert smtune.json("trials", "mended")[0]["value"] == 0.5


def test_failures_alone_decide_where_they_are_set(smtune):
    path = write(smtune, "", None, trials=4, parallel=1, failures="none",
                 command="echo nothing")
    assert smtune("run", path).returncode == 6
    assert len(trials(smtune)) == 4


def test_a_first_trial_without_value_can_be_retried(smtune):
    mended = smtune.directory / "mended"
    path = write(smtune, "", None, trials=3, parallel=1,
                 command=["sh", "-c", "if [ -e mended ]; then echo loss=1; fi"])
    assert smtune("run", path).returncode == 6
    mended.touch()
    smtune.ok("retry", "exp", "--failed")
    assert [trial["state"] for trial in trials(smtune)] == ["succeeded"] * 3
    smtune.ok("replay", "exp")
    smtune.ok("fsck")


def test_a_long_curve_is_thinned_and_says_so(smtune):
    """What the record leaves out is reported; the value that counts is the
    last one, and so is that of the curve."""
    path = write(smtune, "for i in range(12000): print(f'step={i + 1}"
                 " loss={20000 - i}')", None, trials=1,
                 command="python3 train.py")
    result = smtune("run", path)
    assert ("trial 1 reported 12000 values of 'loss': the record keeps 10000"
            " at most") in result.stderr
    found = curve(smtune, 1)
    assert (found[0], found[-1]) == ((1, 20000), (12000, 8001))
    assert 5000 <= len(found) <= 10000
    assert trials(smtune)[0]["value"] == 8001


def test_objectives_have_a_place_among_many_metrics(smtune):
    path = write(smtune, "for i in range(1203): print(f'AP_{i}=0.1')\n"
                 "for i in (1, 2): print(f'epoch={i} mAP=0.{i}')", None,
                 trials=1, command="python3 train.py", objective="mAP")
    result = smtune("run", path)
    assert "trial 1 reported more than 1000 metrics: 204 values" \
        in result.stderr
    assert trials(smtune)[0]["value"] == 0.2
    assert len(curve(smtune, 1, "mAP")) == 2
