# SPDX-License-Identifier: GPL-3.0-or-later
"""A workflow of steps with `cache` that log their names, run again and again."""

import pytest

from files import workflow
from programs import wait_until


def step(name, reads, temp, more=""):
    """Writes what it reads, and the file NAME.in, into NAME.out."""
    files = " ".join("${{ %s.out }}" % read for read in reads)
    needs = f"needs: [{', '.join(reads)}], " if reads else ""
    return (f'{name}: {{{needs}shell: "echo {name} >>log;'
            f' cat {files} {name}.in >{name}.out",'
            f' outputs: {{out: {{path: {name}.out, temp: {str(temp).lower()}}}}},'
            f' cache: {{inputs: [{name}.in]}}{more}}}\n')


CHAIN = step("a", "", True) + step("b", "a", True) + step("c", "b", False)
# It has no cache.
X = ('x: {shell: "touch begun; while [ ! -e go ]; do sleep 0.1; done;'
     ' cat x.in >x.out", outputs: {out: x.out}, timeout: 60s%s}\n')
LACKS = "its temporary output is missing, and no step needs it"


class Flow:
    """A workflow w, the log of the steps that ran, and its runs."""

    def __init__(self, smtune, write, steps, **sections):
        self.smtune, self.write = smtune, write
        for name in "abcdx":
            write(f"{name}.in", name)
        self.define(steps, **sections)

    def define(self, steps, **sections):
        self.write("w.yaml", workflow(steps, name="w", **sections))

    def exists(self, *names):
        return [name for name in names
                if (self.smtune.directory / name).exists()]

    def log(self):
        """The steps that ran since it was asked last."""
        path = self.smtune.directory / "log"
        steps = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return "".join(sorted(steps))

    def run(self, *words):
        self.smtune.ok("run", "w.yaml", *words)
        return self.log()

    def remove(self, *names):
        for name in names:
            (self.smtune.directory / name).unlink(missing_ok=True)

    def start(self, *words):
        """A run that has got as far as its step x."""
        self.remove("go", "begun")
        process = self.start_logged("run", "w.yaml", *words)
        wait_until(lambda: self.exists("begun"))
        return process

    def start_logged(self, *words):
        self.remove("engine.log")
        return self.smtune.start(
            *words, env={"SMTUNE_LOG": "info:engine.log"})

    def await_held(self):
        """Until a job waits for what becomes of the steps behind it."""
        path = self.smtune.directory / "engine.log"
        wait_until(lambda: path.exists()
                   and "waits until it is clear" in path.read_text())

    def why(self, run, job):
        return " ".join(self.smtune.ok("why", run, job).split())

    def plan(self):
        return " ".join(self.smtune.ok("plan", "w.yaml").split())

    def cached(self):
        """What the plan has of each step with a cache."""
        return {step["name"]: step["cached"]
                for step in self.smtune.json("plan", "w.yaml")["steps"]
                if step["cached"] is not None}

    def states(self, run):
        return dict(self.smtune.query(
            "SELECT run_step.name, run_step.state FROM run_step JOIN run"
            f" ON run.id = run_id WHERE run.name = '{run}'"))

    def prove(self, *runs):
        for run in runs:
            self.smtune.ok("replay", run)
        self.smtune.ok("fsck")


@pytest.fixture
def flow(smtune, write):
    def make(steps, **sections):
        return Flow(smtune, write, steps, **sections)

    return make
