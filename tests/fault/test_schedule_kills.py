# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine that is killed in the middle of a bracket: the one that goes on
makes the same promotions, and no trial runs an epoch twice for it."""

import contextlib
import random
import sqlite3

import pytest

from drill import RUN, Drill

EXPERIMENT = """\
version: 1
name: {run}
objective: {{metric: loss, goal: minimize}}
parameters:
  x: {{type: float, min: 0, max: 1}}
search: {{method: random, seed: 5}}
schedule: {{{schedule}, resource: epochs, max: 9}}
budget: {{trials: 12, parallel: 1}}
trial:
  command: {trial} ${{{{ x }}}} ${{{{ epochs }}}}
  checkpoints: true
  resources: {{cpus: 0}}
"""

# Each epoch that it goes on to is a line of its file.
TRIAL = """\
#!/bin/sh
c=$SMTUNE_CHECKPOINT_DIR/epoch
n=0
[ -f $c ] && n=$(cat $c)
while [ $n -lt $2 ]; do
    n=$((n + 1))
    echo $n >>{evidence}/$SMTUNE_JOB
    echo "epoch=$n loss=$(awk "BEGIN {{print $1 + (1 - $1) / $n}}")"
    echo $n >$c.new
    mv $c.new $c
done
"""

SCHEDULES = ["method: asha, type: promotion, min: 1, eta: 3",
             "method: hyperband, min: 1, eta: 3",
             "method: pbt, min: 3, population: 4"]


class ScheduledDrill(Drill):
    def __init__(self, directory, schedule):
        super().__init__(directory)
        trial = self.directory / "trial"
        trial.write_text(TRIAL.format(evidence=self.evidence))
        (self.directory / "drill.yaml").write_text(EXPERIMENT.format(
            run=RUN, schedule=schedule, trial=trial))

    def check_record(self):
        said = self.last_said()
        assert "Sanitizer" not in said and "runtime error:" not in said, said

    def outcome(self):
        """Where each trial began, and what was decided of it, in order."""
        with contextlib.closing(sqlite3.connect(
                self.store / "smtune.db")) as database:
            return [database.execute(query).fetchall() for query in (
                "SELECT number, bracket, rung, first_resource, parent, state"
                " FROM job ORDER BY number",
                "SELECT number, o.told, o.resource, decision, promoted,"
                " promoted_to FROM observation AS o"
                " JOIN job ON job.id = job_id ORDER BY o.told")]

    def epochs(self):
        return {path.name: path.read_text().split()
                for path in self.evidence.iterdir()}

    def go_to_the_end(self):
        assert self.go_on().wait(60) == 0, self.last_said()
        self.check_record()
        self.check_store()
        assert self.start("replay", RUN).wait(60) == 0, self.last_said()
        assert "schedule steps verified" in self.last_said()


@pytest.fixture
def scheduled(tmp_path):
    made = []

    def make(schedule):
        made.append(ScheduledDrill(tmp_path / f"drill-{len(made)}", schedule))
        return made[-1]

    yield make
    for it in made:
        it.end_all()


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: s.split(",")[0])
def test_the_same_promotions_follow(scheduled, schedule):
    chance = random.Random(schedule)
    whole = scheduled(schedule)
    whole.go_to_the_end()
    assert any(promoted for *_, promoted, _ in whole.outcome()[1])
    for _ in range(4):
        it = scheduled(schedule)
        kills = 0
        for _ in range(3):
            point = chance.randrange(20, 300)
            kills += it.disturb(f"smtune:kill:change@{point}") == -9
        assert kills
        it.go_to_the_end()
        assert it.outcome() == whole.outcome()
        assert it.epochs() == whole.epochs()
