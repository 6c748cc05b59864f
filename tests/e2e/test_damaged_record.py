# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune resume` of a run whose record holds what no engine wrote: one line
says what, nothing runs, and the record stays as it was."""

import shutil
import sqlite3

import pytest

from files import experiment, workflow

pytestmark = pytest.mark.sanitized

EXPERIMENT = experiment(
    "echo ran >>seen; echo loss=1; exit $((SMTUNE_JOB > 1))", name="it",
    trials=3, parallel=1)
SCHEDULED = experiment("""
    echo ran >>seen
    for epoch in 1 2 3; do echo epoch=$epoch loss=0.5; done
    """, name="it", trials=2, parallel=1,
    schedule="{method: threshold, upper: 1, resource: epochs, max: 3}")
WORKFLOW = workflow("""
    a:
      matrix: {p: [1, 2]}
      shell: "echo ran >>seen; echo loss=${{ p }}"
    b: {needs: a, shell: "echo ran >>seen; exit 1"}
    """, name="it")

FIRST = "(SELECT min(id) FROM job)"
LAST = "(SELECT max(id) FROM job)"
NOT_OVER = f"UPDATE job SET state = 'ready', ended_ms = NULL WHERE id = {LAST}"

ODD = "PRAGMA ignore_check_constraints = 1;"

DAMAGES = [
    (EXPERIMENT, f"{ODD} UPDATE job SET state = 'odd' WHERE id = {LAST}",
     "trial 3 has the unknown state 'odd'"),
    (EXPERIMENT, "INSERT INTO superseded_result VALUES"
     " (1, 99, 2, 'odd', '[]', '[]', 1)",
     "trial 2 has the unknown state 'odd'"),
    (SCHEDULED, f"{ODD} UPDATE observation SET decision = 'odd'",
     "trial 1 has the unknown decision 'odd'"),
    (SCHEDULED, "UPDATE observation SET \"values\" = '[]'",
     "trial 1 has an observation without values"),
    (WORKFLOW, f"{ODD} UPDATE job SET state = 'odd' WHERE id = {FIRST}",
     "trial 1 has the unknown state 'odd'"),
    (WORKFLOW, f"{ODD} UPDATE run_step SET state = 'odd' WHERE name = 'a'",
     "step 'a' has the unknown state 'odd'"),
    (EXPERIMENT, f"UPDATE param_value SET value = 'much' WHERE job_id = {LAST}",
     "trial 3 has a value of 'x' that the experiment file does not allow"),
    (WORKFLOW, "INSERT INTO run_step (run_id, idx, name, state)"
     " VALUES (1, 2, 'c', 'waiting')",
     "step 'c' is in the record, but not in the file of the run"),
    (WORKFLOW, f"UPDATE job SET step = 7 WHERE id = {LAST}",
     "job 3 in the record belongs to no step"),
    (WORKFLOW, f"UPDATE job SET step = -2 WHERE id = {LAST}",
     "job 3 in the record belongs to no step"),
    (WORKFLOW, f"UPDATE job SET copy = 99999999 WHERE id = {FIRST}",
     "job 1 in the record belongs to no copy"),
    (WORKFLOW, f"UPDATE job SET copy = -1 WHERE id = {FIRST}",
     "job 1 in the record belongs to no copy"),
    (WORKFLOW, f"UPDATE job SET copy = 5 WHERE id = {FIRST}",
     "step 'a' has 2 copies, but a job in the record belongs to copy 5"),
    (WORKFLOW, f"UPDATE job SET outputs = '{{' WHERE id = {FIRST}",
     "the record of step 'a': not valid JSON"),
    (WORKFLOW, f"UPDATE job SET rounds = '[' WHERE id = {FIRST}",
     "the record of step 'a': not valid JSON"),
    (WORKFLOW, f"UPDATE job SET rounds = '[' WHERE id = {LAST}; {NOT_OVER}",
     "the record of step 'b': not valid JSON"),
    (WORKFLOW, "UPDATE run_step SET matrix = '{' WHERE name = 'a'",
     "the record of step 'a': not valid JSON"),
]


def change(store, statements):
    """Past smtune, as no program of it would."""
    database = sqlite3.connect(store / "smtune.db")
    database.executescript(statements)
    database.close()


def dump(store):
    """What the run's steps and jobs are, and what their settings."""
    database = sqlite3.connect(store / "smtune.db")
    rows = [database.execute(f"SELECT * FROM {table}").fetchall()
            for table in ("job", "run_step", "param_value", "attempt")]
    database.close()
    return rows


@pytest.mark.parametrize("text", [EXPERIMENT, SCHEDULED, WORKFLOW],
                         ids=["experiment", "scheduled", "workflow"])
def test_what_cannot_be_is_said(smtune, text):
    (smtune.directory / "it.yaml").write_text(text)
    assert smtune("run", "it.yaml").returncode in (0, 1)
    change(smtune.store, "UPDATE run SET state = 'running', ended_ms = NULL")
    sound = smtune.directory / "sound.db"
    shutil.copy(smtune.store / "smtune.db", sound)
    seen = (smtune.directory / "seen").read_text()
    for of, damage, message in DAMAGES:
        if of != text:
            continue
        shutil.copy(sound, smtune.store / "smtune.db")
        change(smtune.store, damage)
        before = dump(smtune.store)
        resumed = smtune("resume", "it")
        errors = [line for line in resumed.stderr.splitlines()
                  if line.startswith("smtune: ")]
        assert resumed.returncode == 1, damage + resumed.stderr
        assert len(errors) == 1 and message in errors[0], damage + resumed.stderr
        assert (smtune.directory / "seen").read_text() == seen, damage
        assert dump(smtune.store) == before, damage


RETRY = experiment("echo ran >>seen; echo loss=1; exit 1", name="it", trials=1,
                   parallel=1, retry="[{match: ['exit:1'], max: 1, delay: 0}]")
AGAIN = ("UPDATE run SET state = 'running', ended_ms = NULL;"
         "UPDATE job SET state = 'ready', ended_ms = NULL, told = NULL;")


@pytest.mark.parametrize("rules, attempts", [
    ("UPDATE attempt SET rule = 0", 3),   # it was used once, as it may be
    ("UPDATE attempt SET rule = 9", 4),   # the file has no such rule
])
def test_rules_count_as_often_as_they_may(smtune, rules, attempts):
    (smtune.directory / "it.yaml").write_text(RETRY)
    assert smtune("run", "it.yaml").returncode == 6
    assert (smtune.directory / "seen").read_text() == 2 * "ran\n"
    change(smtune.store, AGAIN + rules)
    assert smtune("resume", "it").returncode == 6
    assert (smtune.directory / "seen").read_text() == attempts * "ran\n"


def test_an_attempt_without_a_place_is_not_lost(smtune):
    """Its folder can neither be looked into nor made: what became of it is
    not known."""
    (smtune.directory / "it.yaml").write_text(RETRY)
    smtune("run", "it.yaml")
    change(smtune.store, AGAIN +
           "UPDATE job SET state = 'running';"
           "UPDATE attempt SET state = 'running', cause = NULL, ended_ms = NULL"
           " WHERE number = 2")
    folder = smtune.store / "runs" / "it" / "attempts" / "1-2"
    folder.rename(folder.with_name("elsewhere"))
    folder.touch()
    before = dump(smtune.store)
    resumed = smtune("resume", "it")
    assert resumed.returncode == 1, resumed.stderr
    assert "cannot make the directory" in resumed.stderr
    assert dump(smtune.store) == before
    folder.unlink()
    folder.with_name("elsewhere").rename(folder)
    assert smtune("resume", "it").returncode == 6
    assert (smtune.directory / "seen").read_text() == 2 * "ran\n"


def test_a_step_that_failed_without_jobs_has_failed(smtune):
    """Its matrix could not be read, say."""
    (smtune.directory / "it.yaml").write_text(WORKFLOW)
    assert smtune("run", "it.yaml").returncode == 1
    change(smtune.store, "UPDATE run SET state = 'running', ended_ms = NULL;"
           f"DELETE FROM attempt WHERE job_id = {LAST};"
           f"DELETE FROM job WHERE id = {LAST}")
    assert smtune("resume", "it").returncode == 1
    assert (smtune.directory / "seen").read_text() == 3 * "ran\n"
    assert smtune.query("SELECT state FROM run") == [("failed",)]
