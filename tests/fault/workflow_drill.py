# SPDX-License-Identifier: GPL-3.0-or-later
"""A workflow that is disturbed, and judged by what its jobs themselves wrote
into one file, in the order in which they did:

    start PID ATTEMPT JOB
    end PID ATTEMPT JOB

where a JOB is STEP-COPY-ROUND."""

import collections
import contextlib
import json
import re
import sqlite3

import checker
from drill import RUN, Drill

WORKFLOW = """\
version: 1
name: {run}
params: {{bound: 1}}
parallel: 2
defaults:
  resources: {{cpus: 0, time: 2m}}
  retry: [{{match: ["exit:75"], max: 3, delay: 20ms}}]
steps:
  make:
    command: {job} make 0 0 3
    outputs: {outputs}
  part:
    needs: make
    matrix: {{k: [0, 1, 2]}}
    success_if: 2
    command: {job} part ${{{{ copy }}}} 0 ${{{{ make.v + k }}}}
    outputs: {outputs}
  odd:
    needs: make
    matrix: {{k: [0, 1]}}
    if: k = 1
    command: {job} odd ${{{{ copy }}}} 0 ${{{{ make.v + k }}}}
    outputs: {outputs}
  flaky:
    needs: make
    command: {job} flaky 0 0 7
    outputs: {outputs}
  grow:
    needs: part
    repeat: {{max: 2, values: {{b: {{first: 1, next: b * 2}}}}}}
    command: {job} grow 0 ${{{{ round }}}} ${{{{ part.sum_v * b }}}}
    outputs: {outputs}
  never: {{needs: part, if: part.failed > bound, command: {job} never 0 0 0}}
  last:
    needs: [grow, odd, flaky, never]
    when: always
    command: {job} last 0 0 ${{{{ grow.v }}}}
    outputs: {outputs}
"""

OUTPUTS = ('{v: {value: "out/${{ step }}-${{ copy }}-'
           '${{ coalesce(round, 0) }}"}}')

JOB = """\
#!/bin/sh
k=$1-$2-$3
echo "start $$ $SMTUNE_ATTEMPT $k" >>{evidence}/log
[ $1 != flaky ] || [ $SMTUNE_ATTEMPT_NUMBER -gt 1 ] || exit 75
{pause}mkdir -p out
echo v=$4 >out/$k.new
mv out/$k.new out/$k
echo "end $$ $SMTUNE_ATTEMPT $k" >>{evidence}/log
[ $k != part-1-0 ]
"""

NEEDS = {"make": [], "part": ["make"], "odd": ["make"], "flaky": ["make"],
         "grow": ["part"], "last": ["grow", "odd", "flaky"]}

# What each comes to: its state, and what it makes.
EXPECTED = {
    "make-0-0": ("succeeded", 3),
    "part-0-0": ("succeeded", 3),
    "part-1-0": ("failed", None),
    "part-2-0": ("succeeded", 5),
    "odd-0-0": ("skipped", None),
    "odd-1-0": ("succeeded", 4),
    "flaky-0-0": ("succeeded", 7),
    "grow-0-1": ("succeeded", 8),
    "grow-0-2": ("succeeded", 16),
    "last-0-0": ("succeeded", 16),
}
STEPS = {"make": "succeeded", "part": "succeeded", "odd": "succeeded",
         "flaky": "succeeded", "grow": "succeeded", "never": "skipped",
         "last": "succeeded"}
# One attempt starts its command, but of this one; unless its first, which asks
# for another, never came to that.
STARTS = {"flaky-0-0": (1, 2)}

Line = collections.namedtuple("Line", "word pid attempt job")


class WorkflowDrill(Drill):
    def __init__(self, directory, pause=0, store=None):
        super().__init__(directory, store=store)
        job = self.directory / "trial"
        job.write_text(JOB.format(evidence=self.evidence, pause=(
            f"sleep {pause}\n" if pause else "")))
        (self.directory / "drill.yaml").write_text(
            WORKFLOW.format(run=RUN, job=job, outputs=OUTPUTS))

    # -- The witnesses

    def evidence_lines(self):
        log = self.evidence / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [Line(w, int(p), int(a), j) for w, p, a, j in
                (line.split() for line in lines)]

    def ran(self):
        return len({line.job for line in self.evidence_lines()})

    def query(self, sql):
        with contextlib.closing(sqlite3.connect(
                self.store / "smtune.db")) as database:
            return database.execute(sql).fetchall()

    def jobs(self):
        """{job: (state, outputs)} of the record."""
        return {f"{step}-{copy}-{round or 0}": (state, outputs)
                for step, copy, round, state, outputs in self.query(
                    "SELECT step, copy, round, state, outputs FROM step"
                    " WHERE number IS NOT NULL")}

    # -- The judgements

    def check_record(self):
        said = self.last_said()
        assert "Sanitizer" not in said and "runtime error:" not in said, said
        record = checker.read_record(self.store, RUN)
        lines = self.evidence_lines()
        self.complain(self.check_attempts(record, lines) +
                      self.check_order(lines) + self.check_said(record, said))

    def check_attempts(self, record, lines):
        if record is None:
            return [f"{line.job} ran without a record" for line in lines]
        complaints = list(record.complaints)
        starts = collections.Counter(
            line.attempt for line in lines if line.word == "start")
        for line in lines:
            row = record.attempts.get(line.attempt)
            if row is None:
                complaints.append(f"an attempt of {line.job} ran without a "
                                  "record")
            elif row[4] and row[4] != line.pid:
                complaints.append(f"an attempt of {line.job} ran as process "
                                  f"{line.pid}, and is {row[4]} in the record")
        return complaints + [f"attempt {a} ran {n} times"
                             for a, n in starts.items() if n > 1]

    def check_order(self, lines):
        """Nothing starts before all copies and rounds of what it needs."""
        complaints, over = [], set()
        for line in lines:
            if line.word == "end":
                over.add(line.job)
                continue
            step = line.job.split("-")[0]
            if step not in NEEDS:
                complaints.append(f"{line.job} ran")
            complaints += [
                f"{line.job} started before {job} was over"
                for job, (state, _) in EXPECTED.items()
                if job.split("-")[0] in NEEDS.get(step, ()) and
                state != "skipped" and job not in over]
        return complaints

    def check_said(self, record, said):
        found = re.findall(r"^(\w+)(?:\[(\d+)\])?(?:#(\d+))?"
                           r" (succeeded|failed|skipped) .*\n", said, re.M)
        if record is None:
            return ["the run has gone from the record"] if found else []
        jobs = self.jobs()
        return [f"{step}-{copy}-{round} was said to have {state}"
                for step, copy, round, state in found
                if jobs.get(f"{step}-{copy or 0}-{round or 0}",
                            ("",))[0] != state]

    def check_end(self, is_strict):
        lines = self.evidence_lines()
        starts = collections.Counter(
            line.job for line in lines if line.word == "start")
        jobs = self.jobs()
        complaints = [f"there is no job {job}" for job in EXPECTED
                      if job not in jobs]
        for job, (state, outputs) in jobs.items():
            wanted, value = EXPECTED.get(job, ("not to be there", None))
            made = json.loads(outputs)["v"] if outputs else None
            ran = state != "skipped"
            if state != wanted:
                complaints.append(f"{job} is {state}, and should be {wanted}")
            if state == "succeeded" and made != value:
                complaints.append(f"{job} made {made}, and should {value}")
            if is_strict and starts[job] not in STARTS.get(job, (ran,)):
                complaints.append(f"{job} ran {starts[job]} times")
            if ran and not any(line == ("end", *line[1:3], job)
                               for line in lines):
                complaints.append(f"{job} never ran to its end")
            if state == "succeeded" and (
                    self.directory / "out" / job).read_text() != f"v={made}\n":
                complaints.append(f"{job}'s file does not say {made}")
        return complaints + [
            f"step {name} is {state}" for name, state in self.query(
                "SELECT name, state FROM run_step") if STEPS[name] != state]

    def finish(self, is_strict=True, patience=60):
        """Resumes the run without faults, to its end, and judges all."""
        engine = self.go_on()
        assert engine.wait(patience) == 0, self.last_said()
        self.check_record()
        self.complain(self.check_end(is_strict))
        self.check_processes()
        self.check_store()
        assert self.start("replay", RUN).wait(60) == 0, self.last_said()
