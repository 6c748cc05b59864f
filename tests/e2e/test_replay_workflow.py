# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune replay` and `smtune fsck` of a workflow: all follows from its file."""

import json
import os
import signal
import sqlite3

import pytest

from files import workflow
from programs import wait_until

FILE = workflow("""
    prepare: {shell: "echo rows=3 > rows.env",
              outputs: {rows: {value: rows.env}}}
    shard:
      needs: prepare
      matrix: {part: [0, 1, 2], size: "${{ '[' || prepare.rows || ']' }}"}
      shell: "exit ${{ part = 1 }}"
      parallel: 2
      success_if: 2
    odd: {needs: prepare, matrix: {k: {range: [0, 4]}}, if: "k % 2",
          command: "true"}
    fails: {needs: shard, fail: "no ${{ shard.failed }}", may_fail: true}
    sorry: {needs: fails, when: any_failed, command: "true"}
    never: {needs: shard, if: "shard.failed > n", command: "true"}
    glad: {needs: never, command: "true"}
    again: {needs: odd, retry: [{match: [exit], max: 1, delay: 1ms}],
            shell: "[ -e again ] || { touch again; exit 1; }"}
    grow:
      repeat: {max: 5, until: "batch >= 8",
               values: {batch: {first: 2, next: "batch * 2"}}}
      shell: "echo seen=${{ batch }} > seen.env"
      outputs: {seen: {value: seen.env}}
    """, name="w", params={"n": 2})


@pytest.fixture
def sql(smtune):
    def execute(statement):
        with sqlite3.connect(smtune.store / "smtune.db") as connection:
            for trigger in "event_never_changes", "event_goes_with_its_run":
                connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
            return connection.execute(statement).rowcount
    return execute


@pytest.fixture
def run(smtune, write):
    smtune("run", write("w.yaml", FILE))
    assert smtune.json("ls")[0]["state"] == "succeeded"


@pytest.mark.sanitized
def test_it_is_proved(smtune, run):
    states = {step: state for step, state in sqlite3.connect(
        smtune.store / "smtune.db").execute("SELECT name, state FROM run_step")}
    assert states == {
        "prepare": "succeeded", "shard": "succeeded", "odd": "succeeded",
        "fails": "failed", "sorry": "succeeded", "never": "skipped",
        "glad": "skipped", "again": "succeeded", "grow": "succeeded"}
    told = smtune.json("replay", "w")
    assert told["step"] is None and told["decision"] is None
    # Seven began and ended, two were skipped; jobs began and ended; the run.
    assert told["steps"] == 2 * 7 + 2 + 2 * (1 + 3 + 5 + 3 + 3) + 1
    text = smtune.ok("replay", "w")
    assert f"all {told['steps']} step decisions verified" in text
    assert "decisions verified" in text
    smtune.ok("fsck")


# A change of the first such event, of 'prepare' where it is a job's that several
# have at a time, and what is said of it.
TAMPERED = [
    ("step_began", "copies", "7",
     "wrong number of copies: 1 by its file, but 7 recorded"),
    ("step_began", "step", "4", "it began, but 'prepare' begins next"),
    ("step_skipped", "step", "6", "but 'never' begins next"),
    ("created", "copy", "1", "but copy 0 of 'prepare' starts next"),
    ("created", "rounds", "'{}'", "the values of its first round differ"),
    ("skipped", "state", "'succeeded'", "its condition is false"),
    ("succeeded", "outputs", "'{}'", "axis 'size' of its matrix differs"),
    ("succeeded", "state", "'failed'", "but its copies give failed"),
    ("retry", "due_ms", "1", "its rule gives 1 ms"),
]


def test_what_does_not_follow_is_found(smtune, run, sql):
    prepare = " AND job_id = (SELECT id FROM job WHERE step = 0)"
    for event, key, value, said in TAMPERED:
        of = prepare if event == "succeeded" else ""
        first = f"(SELECT min(seq) FROM event WHERE event = '{event}'{of})"
        assert sql("CREATE TABLE kept AS SELECT * FROM event")
        assert sql(f"UPDATE event SET detail = json_set(detail, '$.{key}',"
                   f" {value}) WHERE seq = {first}") == 1
        result = smtune("replay", "w")
        assert result.returncode == 1
        assert said in result.stdout
        sql("DELETE FROM event")
        sql("INSERT INTO event SELECT * FROM kept")
        sql("DROP TABLE kept")
    assert sql("UPDATE event SET detail = json_set(detail, '$.rounds',"
               """ '{"batch":5}') WHERE detail LIKE '%"round":2%'""") == 1
    assert "values of this round differ" in smtune("replay", "w").stdout


def test_the_file_of_an_experiment_in_its_place_is_found(
        smtune, workflow, experiment, sql):
    smtune("run", workflow("a: {shell: exit 1}", name="w"))
    workflow("a: {shell: exit 0}", name="w")
    smtune.ok("edit", "w")
    smtune.ok("replay", "w")
    text = experiment().read_text().replace("'", "''")
    assert sql(f"UPDATE event SET detail = json_set(detail, '$.spec', '{text}')"
               " WHERE event = 'run_created'") == 1
    result = smtune("replay", "w")
    assert result.returncode == 1
    assert "the edited file has other steps" in result.stdout


def test_a_step_that_began_too_early_is_found(smtune, run, sql):
    sql("UPDATE event SET seq = -seq WHERE event = 'step_ended'")
    sql("UPDATE event SET seq = 100000 + -seq WHERE seq < 0")
    result = smtune("replay", "w", "-o", "json")
    assert result.returncode == 1
    step = json.loads(result.stdout)["step"]
    assert (step["step"], step["text"]) == (
        "shard", "it began, but 'prepare' has succeeded next")


def test_after_a_crash_it_goes_on_as_if_nothing_had_been(smtune, write):
    path = write("w.yaml", FILE.replace("exit $", "sleep 0.1; exit $"))
    process = smtune.start("run", path)
    wait_until(lambda: list((smtune.store / "runs/w/attempts").glob("3-1/*"))
               if smtune.store.exists() else False)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    smtune("resume", "w")
    assert smtune.json("ls")[0]["state"] == "succeeded"
    told = smtune.json("replay", "w")
    assert told["step"] is None and told["decision"] is None
    smtune.ok("fsck")


def test_the_links_of_a_chain_are_proved(smtune, workflow, sql):
    smtune("run", workflow("""
        long:
          timeout: 300ms
          continue: {max: 5}
          shell: |
            n=$(cat $SMTUNE_CHECKPOINT_DIR/n 2>/dev/null || echo 0)
            echo $((n + 1)) >$SMTUNE_CHECKPOINT_DIR/n
            [ $n -ge 2 ] || exec sleep 9
        """, name="w"))
    told = smtune.json("replay", "w")
    assert told["step"] is None and told["decision"] is None
    assert sql("UPDATE event SET event = 'retry' WHERE event = 'linked'") == 2
    assert "its end gives 'linked'" in smtune("replay", "w").stdout


def test_what_was_put_back_is_proved(smtune, workflow):
    smtune("run", workflow("""
        a: {shell: "echo v=$(ls ok* | wc -l) >a", outputs: {v: {value: a}}}
        b: {needs: a, matrix: {k: [0, 1, 2]},
            shell: "[ -e ok ] || [ ${{ k }} -ne 1 ]"}
        c: {needs: b, shell: "true"}
        d: {needs: a, matrix: {k: "${{ '[1,' || (a.v + 5) || ']' }}"},
            if: k < 6, command: "true"}
        e: {needs: b, when: any_failed, command: "true"}
        f: {needs: a, if: a.v > 0, command: "true"}
        """, name="w"))

    def steps():
        with sqlite3.connect(smtune.store / "smtune.db") as database:
            return {(step, copy): state for step, copy, state in
                    database.execute("SELECT step, copy, state FROM step")}

    assert steps()["e", 0] == "succeeded" and steps()["c", None] == "skipped"
    (smtune.directory / "ok").touch()
    for words in ["--failed"], ["a", "--force"]:
        smtune.ok("retry", "w", *words)
        smtune.ok("resume", "w")
        told = smtune.json("replay", "w")
        assert told["step"] is None and told["decision"] is None
        smtune.ok("fsck")
    assert steps() == {
        ("a", 0): "succeeded", ("b", 0): "succeeded", ("b", 1): "succeeded",
        ("b", 2): "succeeded", ("c", 0): "succeeded", ("d", 0): "succeeded",
        ("d", 1): "skipped", ("e", None): "skipped", ("f", 0): "succeeded"}
