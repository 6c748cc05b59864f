# SPDX-License-Identifier: GPL-3.0-or-later
"""Schedules, with real trials: what pauses and goes on, what is stopped, and
that a run that was cut off makes the same promotions."""

import contextlib
import signal
import sqlite3

import pytest

import files
from programs import wait_until

# A trial that goes on from its checkpoint, up to the resource it was given.
# Every epoch that it runs is a line of a file of its own.
TRAIN = """\
#!/bin/sh
# train X RESOURCE [PAUSE]
c=$SMTUNE_CHECKPOINT_DIR/epoch
n=0
[ -f $c ] && n=$(cat $c)
while [ $n -lt $2 ]; do
    n=$((n + 1))
    [ -z "$3" ] || sleep $3
    echo $n >>$EVIDENCE/$SMTUNE_JOB
    echo "epoch=$n loss=$(awk "BEGIN {print $1 + 1 / $n}")"
    echo $n >$c
done
"""

# One that keeps nothing, and notes when it is told to end.
RUN_ON = """\
#!/bin/sh
trap 'date +%s%N >$EVIDENCE/$SMTUNE_JOB.term; exit 0' TERM
n=0
while [ $n -lt 9 ]; do
    n=$((n + 1))
    echo "epoch=$n loss=$(awk "BEGIN {print $1 + 1 / $n}")"
    now=$(date +%s%N)
    [ -z "$now" ] || echo $now >$EVIDENCE/$SMTUNE_JOB.line
    if [ $n = $2 ]; then sleep 3 & wait; fi
done
"""


class Bench:
    """A folder with programs to be tuned, and what they left."""

    def __init__(self, smtune):
        self.smtune = smtune
        self.evidence = smtune.directory / "evidence"
        self.evidence.mkdir()
        smtune.env["EVIDENCE"] = str(self.evidence)
        for name, text in (("train", TRAIN), ("run_on", RUN_ON)):
            path = smtune.directory / name
            path.write_text(text)
            path.chmod(0o755)

    def write(self, schedule, **keys):
        path = self.smtune.directory / "exp.yaml"
        path.write_text(files.experiment(schedule=schedule, **{
            "command": "./train ${{ x }} ${{ epochs }}", "trials": 9, "seed": 7,
            "checkpoints": True, "resources": {"cpus": 0}} | keys))
        return path

    def epochs(self):
        """{trial: the epochs that it ran, in order}"""
        return {int(path.name): [int(n) for n in path.read_text().split()]
                for path in self.evidence.iterdir() if path.name.isdigit()}

    def rows(self, query):
        with contextlib.closing(sqlite3.connect(
                self.smtune.store / "smtune.db")) as connection:
            return connection.execute(query).fetchall()

    def promotions(self):
        return self.rows(
            "SELECT number, observation.resource, promoted_to FROM observation"
            " JOIN job ON job.id = job_id WHERE promoted IS NOT NULL"
            " ORDER BY promoted")


@pytest.fixture
def bench(smtune):
    return Bench(smtune)


ASHA = "{method: asha, resource: epochs, min: 1, max: 9, eta: 3}"


def states(smtune):
    return {trial["id"]: trial["state"] for trial in smtune.json("trials", "exp")}


@pytest.mark.sanitized
def test_promotions_go_on_from_checkpoints(smtune, bench):
    """Nobody runs an epoch twice; the best third goes on."""
    smtune.ok("run", bench.write(ASHA))
    epochs = bench.epochs()
    assert len(epochs) == 9
    assert all(ran == list(range(1, len(ran) + 1)) for ran in epochs.values())
    assert {len(ran) for ran in epochs.values()} <= {1, 3, 9}
    xs = {t["id"]: t["params"]["x"] for t in smtune.json("trials", "exp")}
    best = min(xs, key=xs.get)
    assert len(epochs[best]) == 9
    assert smtune.json("best", "exp")["id"] == best
    found = states(smtune)
    assert all(found[t] == ("succeeded" if len(ran) == 9 else "stopped")
               for t, ran in epochs.items())
    assert bench.rows("SELECT count(*) FROM run_rung") == [(3,)]


def test_hyperband(smtune, bench):
    smtune.ok("run", bench.write(
        "{method: hyperband, resource: epochs, max: 9, eta: 3}", trials=17))
    epochs = bench.epochs()
    assert sorted(len(ran) for ran in epochs.values()) == (
        [1] * 6 + [3] * 6 + [9] * 5)
    assert sum(map(len, epochs.values())) == 6 + 18 + 45


def test_a_maximised_metric(smtune, bench):
    smtune.ok("run", bench.write(ASHA,
                                 objective="{metric: loss, goal: maximize}"))
    xs = {t["id"]: t["params"]["x"] for t in smtune.json("trials", "exp")}
    epochs = bench.epochs()
    assert len(epochs[max(xs, key=xs.get)]) == 9
    assert len(epochs[min(xs, key=xs.get)]) == 1


def test_a_trial_that_lost_its_checkpoint(smtune, bench):
    """It starts again from nothing, and the run says so."""
    path = bench.write(ASHA, command=(
        "sh -c './train ${{ x }} ${{ epochs }}; "
        "rm -f $SMTUNE_CHECKPOINT_DIR/epoch'"))
    result = smtune("run", path)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("saved no checkpoint") == 1
    assert "saved no checkpoint at 1 epoch: " in result.stderr
    assert bench.rows("SELECT count(*) > 1 FROM attempt WHERE text LIKE"
                      " 'it started again from the beginning%'") == [(1,)]
    longest = max(bench.epochs().values(), key=len)
    assert longest == [1, *range(1, 4), *range(1, 10)]


def test_a_trial_without_steps_counts_on(smtune, bench):
    """Where no line says a step, that of a promoted trial's first is behind
    its checkpoint's."""
    smtune.ok("run", bench.write(ASHA, command=(
        "sh -c './train ${{ x }} ${{ epochs }} | sed s/epoch=[0-9]*//'")))
    best = smtune.json("best", "exp")["id"]
    steps = [step for step, in bench.rows(
        "SELECT metric.step FROM metric JOIN job ON job.id = job_id"
        f" WHERE number = {best} ORDER BY metric.step")]
    assert steps == list(range(1, 10))


def test_a_trial_that_does_not_end_is_told_to(smtune, bench):
    """Whatever it was given, it goes for 9 epochs, and rests at its rung."""
    path = bench.write(ASHA, command="./train ${{ x }} 9 0.2")
    smtune.ok("run", path)
    epochs = bench.epochs()
    assert min(len(ran) for ran in epochs.values()) < 9
    assert bench.rows("SELECT DISTINCT resource FROM observation"
                      " ORDER BY resource") == [(1,), (3,), (9,)]
    assert bench.rows("SELECT max(metric.step) FROM metric"
                      " JOIN job ON job.id = job_id"
                      " WHERE state = 'stopped' AND metric.step > 3") == [(None,)]


def test_stopped_within_a_second_of_the_line(smtune, bench):
    """All rest for a while after their third epoch: those that lose are told
    to end within a second of its line."""
    path = bench.write("{method: asha, min: 1, max: 9, eta: 3}", trials=12,
                       command="./run_on ${{ x }} 3", checkpoints=None)
    smtune.ok("run", path)
    found = states(smtune)
    stopped = [t for t, state in found.items() if state == "stopped"]
    assert stopped
    for trial in stopped:
        line, term = (int((bench.evidence / f"{trial}.{name}").read_text())
                      for name in ("line", "term"))
        assert (term - line) / 1e9 < 1
    reasons = bench.rows("SELECT reason FROM observation"
                         " WHERE decision = 'stop'")
    assert len(reasons) == len(stopped) and all(text for text, in reasons)


def test_killed_in_the_middle_of_a_bracket(smtune, bench):
    """Whatever the kills, the same trials are promoted."""
    path = bench.write(ASHA, trials=12, parallel=1,
                       command="./train ${{ x }} ${{ epochs }} 0.02")
    smtune.ok("run", path, "--name", "whole")
    whole = bench.promotions()
    assert len(whole) > 3
    for file in bench.evidence.iterdir():
        file.unlink()
    smtune.ok("rm", "whole")
    engine = smtune.start("run", path)
    for count in (3, 6, 9):
        wait_until(lambda: len(bench.epochs()) >= count)
        engine.kill()
        engine.wait()
        engine = smtune.start("resume", "exp")
    assert engine.wait(60) == 0, engine.stderr.read()
    assert bench.promotions() == whole
    assert all(ran == list(range(1, len(ran) + 1))
               for ran in bench.epochs().values())
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_interrupted_and_resumed(smtune, bench):
    path = bench.write(ASHA, command="./train ${{ x }} ${{ epochs }} 0.02")
    engine = smtune.start("run", path)
    wait_until(lambda: len(bench.epochs()) >= 4)
    engine.send_signal(signal.SIGTERM)
    engine.wait(30)
    assert "paused" in states(smtune).values()
    smtune.ok("resume", "exp")
    assert "paused" not in states(smtune).values()
    smtune.ok("replay", "exp")


def test_a_resource_budget(smtune, bench):
    """No attempt begins that would not fit."""
    smtune.ok("run", bench.write(ASHA, trials=50, resource=30))
    epochs = bench.epochs()
    assert 20 <= sum(map(len, epochs.values())) <= 30
    assert max(map(len, epochs.values())) == 9


def test_clones_begin_at_their_parents_checkpoint(smtune, bench):
    smtune.ok("run", bench.write(
        "{method: pbt, min: 2, max: 8, population: 4, quantile: 0.25}",
        trials=20))
    parents = dict(bench.rows("SELECT number, parent FROM job"
                              " WHERE parent IS NOT NULL"))
    epochs = bench.epochs()
    assert parents
    for child, parent in parents.items():
        assert epochs[child][0] > 1
        assert epochs[child] == list(range(epochs[child][0],
                                           epochs[child][-1] + 1))
        assert epochs[parent][0] == 1 or parent in parents
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_a_stopped_trial_that_is_put_back(smtune, bench):
    """It runs to the end, outside the schedule."""
    smtune.ok("run", bench.write(ASHA))
    stopped = min(t for t, s in states(smtune).items() if s == "stopped")
    smtune.ok("retry", "exp", str(stopped))
    smtune.ok("resume", "exp")
    assert states(smtune)[stopped] == "succeeded"
    assert bench.epochs()[stopped] == list(range(1, 10))
    smtune.ok("replay", "exp")


def test_failures_are_not_promoted(smtune, bench):
    path = bench.write(ASHA, trials=12, command=(
        "sh -c '[ $SMTUNE_JOB -gt 4 ] || exit 3; "
        "exec ./train ${{ x }} ${{ epochs }}'"))
    smtune.ok("run", path)
    found = states(smtune)
    assert [found[t] for t in range(1, 5)] == ["failed"] * 4
    assert not any(t < 5 for t, *_ in bench.promotions())
