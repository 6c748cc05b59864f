# SPDX-License-Identifier: GPL-3.0-or-later
"""The drills of trials, on a workflow: however it is disturbed, each copy runs
to its end once a round, nothing starts before what it needs, and what came of
it is what would have come of it."""

import random
import signal
import sqlite3

import pytest

import checker
from drill import RUN
from test_power_cuts import cut_power, disk  # noqa: F401
from workflow_drill import WorkflowDrill

PARTS = 4
STRIDE = 7      # of the points at which trials are killed, too


@pytest.fixture
def workflow(tmp_path):
    """workflow(pause=0, ...): a fresh WorkflowDrill."""
    made = []

    def make(**options):
        made.append(WorkflowDrill(tmp_path / f"drill-{len(made)}", **options))
        return made[-1]

    yield make
    for it in made:
        it.end_all()


@pytest.mark.parametrize("part", range(PARTS))
def test_engine_killed_at_every_few_changes(workflow, part):
    struck, n = True, 1 + part * STRIDE
    while struck:
        fault = f"smtune:kill:change@{n}"
        it = workflow()
        it.disturb(fault)
        struck = it.struck()
        print(fault, struck)
        it.finish()
        n += PARTS * STRIDE
    assert n > 100


@pytest.mark.parametrize("seed", range(2))
def test_killed_while_it_recovers(workflow, seed):
    chance = random.Random(seed)
    it = workflow()
    for _ in range(6):
        it.disturb(f"smtune:kill:change@{chance.randrange(20, 90)}")
    it.finish()


@pytest.mark.parametrize("seed", range(2))
def test_engine_and_agent_killed(workflow, seed):
    chance = random.Random(seed)
    it = workflow()
    for _ in range(3):
        it.disturb(f"smtune:kill:change@{chance.randrange(30, 200)},"
                   f"smtune-shim:kill:change@{chance.randrange(2, 25)}")
    it.finish(is_strict=False)


@pytest.mark.quick
def test_stopped_and_resumed(workflow):
    """Once what runs comes to its end, twice it is ended, to run again."""
    it = workflow(pause=0.2)
    for jobs, signals in (1, 1), (3, 2), (6, 1):
        engine = it.go_on()
        it.wait_for_trials(jobs)
        for _ in range(signals):
            engine.send_signal(signal.SIGINT)
        assert engine.wait(30) == 130
        it.check_record()
    it.finish(is_strict=False)


@pytest.mark.parametrize("options", [[], ["--now"]], ids=["drained", "now"])
def test_paused_and_resumed(workflow, options):
    it = workflow(pause=0.2)
    engine = it.go_on()
    it.wait_for_trials(2)
    assert it.start("pause", "drill", *options).wait(30) == 0, it.last_said()
    it.check_record()
    assert it.start("resume", "drill").wait(30) == 0, it.last_said()
    assert engine.wait(30) == 0
    it.finish(is_strict=False)


@pytest.mark.parametrize("error", ["ENOSPC:write", "EIO:fsync", "EIO:commit",
                                   "EMFILE:open"])
def test_engine_is_denied(workflow, error):
    for n in 3, 20, 40, 60:
        it = workflow()
        it.disturb(f"smtune:{error}@{n}")
        it.finish()


def test_power_cuts(workflow, disk):  # noqa: F811
    chance = random.Random(1)
    it = workflow(pause=0.1, store=disk.folder / "store")
    for _ in range(3):
        engine = it.go_on()
        it.wait_for_trials(min(it.ran() + chance.randrange(1, 4), 9))
        cut_power(it, disk, engine)
        it.check_record()
    it.finish(is_strict=False)


BELOW = """\
version: 1
name: tune
objective: {{metric: loss, goal: minimize}}
parameters: {{x: {{type: float, min: 0, max: 1}}}}
search: {{method: random, seed: 1}}
budget: {{trials: 9, parallel: 1}}
trial:
  shell: echo $SMTUNE_JOB >>{evidence}/trials; sleep 0.05; echo loss=${{{{ x }}}}
"""

ABOVE = """\
version: 1
name: drill
steps:
  make: {command: "true"}
  tune: {needs: make, experiment: tune.yaml}
  use: {needs: tune, shell: "echo v=${{ tune.best_x }} >best",
        outputs: {v: {value: best}}}
"""


def test_a_run_below_goes_on(workflow):
    """The engine of the workflow is killed, not that of the experiment which it
    has started: that goes on by itself, and is found again."""
    it = workflow()
    trials = it.evidence / "trials"
    (it.directory / "tune.yaml").write_text(
        BELOW.format(evidence=it.evidence))
    (it.directory / "drill.yaml").write_text(ABOVE)

    def ran():
        return len(trials.read_text().split()) if trials.exists() else 0

    for count in 1, 3, 6:
        engine = it.go_on()
        assert it.wait_while_alive(engine, lambda: ran() >= count), \
            it.last_said()
        engine.kill()
        engine.wait()
    assert it.go_on().wait(60) == 0, it.last_said()
    assert sorted(trials.read_text().split()) == list("123456789")
    (best,), = it.query("SELECT min(value) FROM trial")
    assert (it.directory / "best").read_text() == f"v={best}\n"
    it.check_processes()
    it.check_store()
    for run in "drill", "drill.tune":
        assert it.start("replay", run).wait(60) == 0, it.last_said()


def test_what_went_wrong_would_be_seen(workflow):
    it = workflow()
    it.finish()
    log, lines = it.evidence / "log", it.evidence_lines()
    whole = log.read_text()

    def write(lines):
        log.write_text("".join(" ".join(map(str, line)) + "\n"
                               for line in lines))

    def complaints():
        found = it.evidence_lines()
        record = checker.read_record(it.store, RUN)
        return "\n".join(it.check_attempts(record, found) +
                         it.check_order(found) + it.check_end(True))

    assert complaints() == ""
    write(lines[::-1])
    assert "started before" in complaints()
    write(lines[:2] + lines)
    assert "attempt 1 ran 2 times" in complaints()
    write(lines[:-1])
    assert "last-0-0 never ran to its end" in complaints()
    write([line._replace(attempt=77) for line in lines])
    assert "ran without a record" in complaints()
    log.write_text(whole)
    (it.directory / "out/part-2-0").write_text("v=6\n")
    assert "part-2-0's file does not say 5" in complaints()
    with sqlite3.connect(it.store / "smtune.db") as database:
        database.execute("UPDATE job SET state = 'failed' WHERE number = 1")
        database.execute("UPDATE job SET outputs = '{\"v\":1}'")
        database.execute("UPDATE run_step SET state = 'failed'")
    assert "make-0-0 is failed" in complaints()
    assert "last-0-0 made 1" in complaints()
    assert "step never is failed" in complaints()
