# SPDX-License-Identifier: GPL-3.0-or-later
"""When a trial started, how long it took and what it used: of all attempts
together, as well as of the last one, in every view."""

import csv
import io
import json
import re
import struct

from dashboards import Dashboard
from programs import wait_until

RETRY = [{"match": "exit", "max": 1}]
SHELL = """
    [ $SMTUNE_ATTEMPT_NUMBER = 2 ] || { sleep 0.3; exit 1; }
    sleep 0.1; echo loss=1
    """
COUNTS = """\
    x=${{ x }} c=$SMTUNE_CHECKPOINT_DIR/n n=0
    [ -f $c ] && n=$(cat $c)
    while [ $n -lt $SMTUNE_RESOURCE ]; do
      n=$((n + 1))
      echo "epoch=$n loss=$((x * 100 / n))"
      echo $n >$c
    done
    """


def check(row, attempts):
    """The row of a trial or job has what its attempts come to."""
    took = [one["duration_ms"] for one in attempts]
    assert row["started"] == attempts[0]["started"]
    assert row["duration_ms"] == sum(took)
    assert row["last_started"] == attempts[-1]["started"]
    assert row["last_duration_ms"] == took[-1]


def columns(body):
    length = struct.unpack_from("<4sII", body)[2]
    header, at, table = json.loads(body[12:12 + length]), 12 + length, {}
    for column in header["columns"]:
        kind = {"u8": "B", "u16": "H", "u32": "I", "f64": "d"}[column["type"]]
        cells = struct.unpack_from(f"<{header['rows']}{kind}", body, at)
        at += -(-struct.calcsize(f"<{header['rows']}{kind}") // 8) * 8
        table[column["name"]] = cells
    return table


def test_trial_that_was_retried(smtune, experiment):
    printed = smtune("run", experiment(SHELL, trials=1, retry=RETRY)).stderr
    shown = smtune.json("show", "exp", 1)
    attempts = shown["attempts"]
    assert len(attempts) == 2
    assert attempts[0]["duration_ms"] >= 300
    assert attempts[1]["duration_ms"] >= 100
    # One after the other, whatever a loaded machine adds.
    assert (shown["duration_ms"]
            <= smtune.json("status", "exp")["duration_ms"])
    check(shown, attempts)
    row, = smtune.json("trials", "exp")
    check(row, attempts)
    row, = csv.DictReader(io.StringIO(smtune.ok("export", "exp")))
    assert int(row["duration_ms"]) == shown["duration_ms"]
    assert int(row["last_duration_ms"]) == shown["last_duration_ms"]
    assert row["started"] == shown["started"] < row["last_started"]
    # for people the last one where it is asked for
    assert "last started" not in smtune.ok("trials", "exp")
    assert "last started" in smtune.ok("trials", "exp", "--columns",
                                       "started,last_started")
    last = re.search(r"trial 1 succeeded  loss=1  (\d+) ms "
                     r"\(last attempt (\d+) ms\)", printed)
    assert [int(n) for n in last.groups()] == [
        shown["duration_ms"], shown["last_duration_ms"]]
    with Dashboard(smtune) as dashboard:
        table = columns(dashboard.get("/api/v1/runs/1/columns").body)
    assert table["duration"] == (shown["duration_ms"],)
    assert table["last_duration"] == (shown["last_duration_ms"],)
    assert table["last_started"][0] > table["started"][0]


def test_job_of_a_workflow_that_was_retried(smtune, workflow):
    smtune.ok("run", workflow("""\
        a:
          command: ["sh", "-c", "test $SMTUNE_ATTEMPT_NUMBER = 2 || { sleep 0.2; exit 1; }"]
          retry: [{match: exit, max: 1}]
        """))
    shown = smtune.json("show", "flow", "a")
    check(shown, shown["attempts"])
    row, = smtune.json("trials", "flow")
    check(row, shown["attempts"])
    assert row["duration_ms"] >= 200


def test_resource_of_all_attempts(smtune, experiment):
    """Three attempts, each from the checkpoint of the one before."""
    smtune.ok("run", experiment(
        COUNTS, trials=9, parallel=1, search="grid", checkpoints=True,
        parameters={"x": {"type": "ordinal", "values": list(range(1, 10))}},
        schedule="{method: asha, resource: epochs, min: 1, max: 9, eta: 3}"))
    shown = smtune.json("show", "exp", 1)
    assert [one["used"] for one in shown["attempts"]] == [1, 2, 6]
    assert (shown["resource"], shown["used"], shown["last_used"]) == (9, 9, 6)
    check(shown, shown["attempts"])
    trials = smtune.json("trials", "exp")
    assert [one["used"] for one in trials] == [9, 3, 3] + 6 * [1]
    assert [one["last_used"] for one in trials] == [6, 2, 2] + 6 * [1]
    assert sum(one["used"] for one in trials) == smtune.json(
        "show", "exp")["schedule"]["used"]
    # A trial that waited for its schedule did not run meanwhile.
    assert trials[8]["duration_ms"] == trials[8]["last_duration_ms"]
    with Dashboard(smtune) as dashboard:
        table = columns(dashboard.get("/api/v1/runs/1/columns").body)
    assert table["used"][:4] == (9, 3, 3, 1)
    assert table["last_used"][:4] == (6, 2, 2, 1)


def test_running_trial_without_an_end(smtune, experiment, tmp_path):
    """The time goes on."""
    process = smtune.start("run", experiment(
        "echo loss=1; while [ ! -e $GATE ]; do sleep 0.1; done", trials=1),
        env={"GATE": str(tmp_path / "gate")})
    wait_until(lambda: smtune("show", "exp", 1).returncode == 0 and
               (smtune.json("show", "exp", 1)["duration_ms"] or 0) > 0)
    shown = smtune.json("show", "exp", 1)
    assert shown["ended"] is None
    assert shown["last_duration_ms"] > 0
    (tmp_path / "gate").touch()
    assert process.wait(30) == 0
