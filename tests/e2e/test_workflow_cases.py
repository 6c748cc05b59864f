# SPDX-License-Identifier: GPL-3.0-or-later
"""What a workflow's file means, as a table: workflow_cases.yaml.

A case is run by the fake executor, and what is expected is looked up in the
record:

    name      of the case
    workflow  the file; version, name, parallel and executor are put behind it
              where it does not say them
    script    how commands end: the fake executor's lines (fake_script.h)
    files     others in the workflow's folder: {path: text}
    before    whole commands to run first, such as an earlier run
    options   words behind `smtune run w.yaml`
    exit      its exit status; 0 where it is not said
    says      texts that its messages have; hides: that they have not
    steps     the state of each step that did not succeed: failed, skipped
    jobs      the state of each job that did not succeed
    causes    the causes of a job's attempts, one after another
    order     "a < b[1] < c": each is over before the next begins; a name
              without a number means all jobs of the step
    starts    the jobs in the order of their first starts, all of them
    together  {a: 2}: how many jobs of a step ran at once, at most; of all
    meets     [a, b]: some job of the one ran while one of the other did
    outputs   {job: {name: value}}: what came of a job
    reasons   {step: text that is in why it was skipped or failed}

Jobs have the names that people see: a step of many copies has a[0], a[1] and
so on, one that repeats a#1, a#2.
"""

import collections
import json
import pathlib
import re
import sqlite3

import pytest
import yaml

HERE = pathlib.Path(__file__).parent
KEYS = {"name", "workflow", "script", "files", "before", "options", "exit",
        "says", "hides", "steps", "jobs", "causes", "order", "starts",
        "together", "meets", "outputs", "reasons"}
REST = {"version": "1", "name": "w", "parallel": "8",
        "executor": "{name: fake, script: script.jsonl}"}
CASES = yaml.safe_load((HERE / "workflow_cases.yaml").read_text())
ENDED = {"succeeded", "failed", "skipped", "cancelled", "reused"}


class Record:
    """What the store says of the latest run."""

    def __init__(self, store):
        with sqlite3.connect(store / "smtune.db") as database:
            database.row_factory = sqlite3.Row

            def rows(query):
                return database.execute(
                    query + " (SELECT id FROM run WHERE parent_id IS NULL"
                    " ORDER BY id DESC LIMIT 1)").fetchall()
            steps = rows("SELECT * FROM run_step WHERE run_id =")
            jobs = rows("SELECT * FROM job WHERE run_id =")
            attempts = rows("SELECT attempt.* FROM attempt JOIN job"
                            " ON job.id = job_id WHERE run_id =")
            self.events = rows("SELECT * FROM event WHERE job_id IS NOT NULL"
                               " AND run_id =")
        self.steps = {row["name"]: row for row in steps}
        count = collections.Counter(row["step"] for row in jobs
                                    if row["copy"] > 0)
        self.jobs, self.names, self.step_of = {}, {}, {}
        for row in jobs:
            step = steps[row["step"]]
            name = step["name"]
            if step["matrix"] or count[row["step"]]:
                name += f"[{row['copy']}]"
            if row["round"] is not None:
                name += f"#{row['round']}"
            self.jobs[name] = row
            self.names[row["id"]] = name
            self.step_of[name] = step["name"]
        self.causes = collections.defaultdict(list)
        for row in sorted(attempts, key=lambda row: row["id"]):
            self.causes[self.names[row["job_id"]]].append(row["cause"])

    def wide(self, name):
        """The jobs that a name means."""
        if name == "all":
            return list(self.jobs)
        if name in self.jobs:
            return [name]
        return [job for job, step in self.step_of.items()
                if step == name or job.startswith(name + "#")]

    def first_started(self):
        """{job: when}, in the order of their first starts."""
        times = {}
        for row in self.events:
            if row["event"] == "attempt_starting":
                times.setdefault(self.names[row["job_id"]], row["seq"])
        return times

    def ended(self):
        """{job: when its last attempt was over}"""
        return {self.names[row["job_id"]]: row["seq"] for row in self.events
                if row["event"] in ENDED}

    def most_together(self, jobs):
        """How many of the jobs' attempts there were at once."""
        now, most = set(), 0
        for row in self.events:
            if self.names[row["job_id"]] not in jobs:
                continue
            if row["event"] == "attempt_running":
                now.add(row["attempt_id"])
            elif row["event"] == "attempt_ended":
                now.discard(row["attempt_id"])
            most = max(most, len(now))
        return most


def check_order(record, order):
    started, ended = record.first_started(), record.ended()
    names = [name.strip() for name in order.split("<")]
    for before, after in zip(names, names[1:]):
        assert record.wide(before) and record.wide(after), order
        assert (max(ended[job] for job in record.wide(before))
                < min(started.get(job, ended[job])
                      for job in record.wide(after))), \
            f"{before} is not over when {after} begins"


def check_states(record, case):
    states = {name: row["state"] for name, row in record.steps.items()
              if row["state"] != "succeeded"}
    # Of what a group waits for by a step that smtune made, nothing is told.
    states = {name: state for name, state in states.items()
              if not name.startswith("join.")}
    assert states == case.get("steps", {})
    jobs = {name: row["state"] for name, row in record.jobs.items()
            if row["state"] != "succeeded"}
    expected = case.get("jobs", {name: state
                                 for name, state in states.items()
                                 if name in record.jobs})
    assert jobs == expected


def check_rest(record, case):
    for job, causes in case.get("causes", {}).items():
        assert record.causes[job] == causes, job
    for order in case.get("order", []):
        check_order(record, order)
    if "starts" in case:
        assert list(record.first_started()) == case["starts"]
    for step, most in case.get("together", {}).items():
        # A machine that is busy may not start them all before one is over.
        assert min(most, 2) <= record.most_together(record.wide(step)) <= most
    for pair in case.get("meets", []):
        assert record.most_together([job for step in pair
                                     for job in record.wide(step)]) > 1
    for job, outputs in case.get("outputs", {}).items():
        given = json.loads(record.jobs[job]["outputs"] or "{}")
        given = {key: value for key, value in given.items()
                 if not key.startswith("#")}  # of the cache, no outputs
        assert given == outputs
    for step, text in case.get("reasons", {}).items():
        assert text in (record.steps[step]["reason"] or ""), \
            record.steps[step]["reason"]


def complete(text):
    for key, value in REST.items():
        if not re.search(rf"^{key}:", text, re.M):
            text += f"{key}: {value}\n"
    return text


@pytest.mark.sanitized
def test_the_table_is_large_and_no_name_is_there_twice():
    names = [case["name"] for case in CASES]
    assert len(names) >= 120
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_workflow(case, smtune, tmp_path):
    assert not set(case) - KEYS, "there is no such key of a case"
    (tmp_path / "w.yaml").write_text(complete(case["workflow"]))
    (tmp_path / "script.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in case.get("script", [])))
    for path, text in case.get("files", {}).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    for words in case.get("before", []):
        smtune(*words.split())
    result = smtune("run", "w.yaml", *case.get("options", "").split())
    said = result.stderr + result.stdout
    assert result.returncode == case.get("exit", 0), said
    for text in case.get("says", []):
        assert text in said
    for text in case.get("hides", []):
        assert text not in said
    if result.returncode in (2, 3):
        assert not smtune.store.exists() or "before" in case
        return
    record = Record(smtune.store)
    check_states(record, case)
    check_rest(record, case)
