# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that is disturbed, brought to its end all the same, and judged."""

import os
import pathlib
import signal
import sqlite3
import subprocess
import uuid

import checker
from waiting import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANITIZED = pathlib.Path(os.environ.get("SMTUNE_SAN", ROOT / "build/san"))
SHIPPED = pathlib.Path(os.environ.get("SMTUNE_SHIPPED", ROOT / "build"))

RUN = "drill"
# So quickly a drill strikes once it may.
SOON_S = 0.004

EXPERIMENT = """\
version: 1
name: {run}
executor: {executor}
objective: {{metric: loss, goal: minimize}}
parameters:
  x: {{type: float, min: 0, max: 1}}
search: {{method: {search}, seed: 7}}
budget: {{trials: {trials}, parallel: {parallel}, time: 1h}}
trial:
  command: {trial} ${{{{ x }}}}
  resources: {{cpus: 0, time: 2m}}
  retry: [{{match: ["exit:75"], max: 3, delay: 50ms}}]
"""

# What it prints comes before the line that says so.
TRIAL = """\
#!/bin/sh
f={evidence}/$SMTUNE_JOB
echo "start $$ $SMTUNE_ATTEMPT $SMTUNE_JOB $1" >>$f
{flaw}{pause}echo loss=$1
echo "end $$ $SMTUNE_ATTEMPT $SMTUNE_JOB $1" >>$f
"""


class Drill:
    """A folder with an experiment, its store, and the trials' evidence.

    store: where the store is to lie, in the folder if not said. pause: what
    a trial sleeps, in seconds; 0: it does not. One whose sleep is ended ends. is_flaky: a trial's first
    attempt asks for another. executor: what the experiment says of it, with
    what it needs in the environment."""

    def __init__(self, directory, trials=4, parallel=2, search="random",
                 pause=0, is_flaky=False, store=None, executor="local",
                 environment=None, build=SHIPPED):
        self.build = build
        self.directory = pathlib.Path(directory)
        self.store = pathlib.Path(store or self.directory / "store")
        self.environment = environment or {}
        self.evidence = self.directory / "evidence"
        self.evidence.mkdir(parents=True)
        self.token = f"SMTUNE_DRILL={uuid.uuid4().hex}"
        self.said = ""
        self.engines = 0
        trial = self.directory / "trial"
        trial.write_text(TRIAL.format(
            evidence=self.evidence,
            pause=f"sleep {pause} || exit\n" if pause else "",
            flaw="[ $SMTUNE_ATTEMPT_NUMBER -gt 1 ] || exit 75\n"
            if is_flaky else ""))
        trial.chmod(0o755)
        (self.directory / "drill.yaml").write_text(EXPERIMENT.format(
            run=RUN, executor=executor, search=search, trials=trials,
            parallel=parallel, trial=trial))

    # -- Engines

    def _environment(self, fault):
        name, _, token = self.token.partition("=")
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.directory),
            "XDG_RUNTIME_DIR": str(self.directory),
            "LC_ALL": "C.UTF-8",
            "ASAN_OPTIONS": "detect_stack_use_after_return=0"
                            ":quarantine_size_mb=4:malloc_context_size=8",
            "SMTUNE_FAULT_LOG": str(self.directory / f"log-{self.engines}"),
            name: token,
            **self.environment,
        }
        if fault:
            env["SMTUNE_FAULT"] = fault
        return env

    def start(self, *words, fault=None):
        """Starts a program that writes to files, so that what it said is
        there whatever becomes of it."""
        self.engines += 1
        with open(self.directory / f"said-{self.engines}", "wb") as said:
            return subprocess.Popen(
                [self.build / "fault/smtune", "--store", self.store, *words],
                stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                cwd=self.directory, env=self._environment(fault))

    def go_on(self, fault=None):
        """Starts an engine on the run, which may have to be made first."""
        record = checker.read_record(self.store, RUN)
        if record is None:
            return self.start("run", "drill.yaml", fault=fault)
        return self.start("resume", RUN, fault=fault)

    def last_said(self):
        path = self.directory / f"said-{self.engines}"
        return path.read_text(errors="replace")

    def struck(self):
        """Which faults struck the last engine and its agents."""
        path = self.directory / f"log-{self.engines}"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if " struck " in line]

    def disturb(self, fault, patience=30, is_endless=False):
        """One engine, with faults, until it ends or is killed; its exit
        status. One that is still there after so many seconds has hung, or,
        where it may wait for better times, is killed."""
        engine = self.go_on(fault)
        try:
            status = engine.wait(patience)
        except subprocess.TimeoutExpired:
            engine.kill()
            status = engine.wait()
            assert is_endless, f"{fault}: it hangs\n{self.last_said()}"
        self.check_record()
        return status

    def ran(self):
        """How many trials have begun."""
        return len(list(self.evidence.iterdir()))

    def wait_for_trials(self, count, patience=30):
        try:
            wait_until(lambda: self.ran() >= count, patience,
                       longest_pause=SOON_S)
        except AssertionError:
            raise AssertionError(self.last_said()) from None

    def wait_while_alive(self, engine, condition):
        """Until the condition holds; whether the engine is there still."""
        wait_until(lambda: engine.poll() is not None or condition(), 120,
                   longest_pause=SOON_S)
        return engine.poll() is None

    # -- Judgements

    def budget(self):
        """Trials and milliseconds that the run was given; None: its file's."""
        with sqlite3.connect(f"file:{self.store}/smtune.db?mode=ro",
                             uri=True) as record:
            return record.execute(
                "SELECT budget_trials, budget_time_ms FROM run").fetchone()

    def check_record(self):
        """What was said so far stands in the record."""
        said = self.last_said()
        assert "Sanitizer" not in said and "runtime error:" not in said, said
        record = checker.read_record(self.store, RUN)
        self.complain(checker.check_acknowledged(
            record, checker.read_acknowledged(said)))
        self.complain(checker.check_attempts(
            record, checker.read_evidence(self.evidence)))

    def finish(self, expected, is_strict=True, patience=60):
        """Resumes the run without faults, to its end, and judges all."""
        engine = self.go_on()
        assert engine.wait(patience) == 0, self.last_said()
        self.check_record()
        self.complain(checker.check_end(
            checker.read_record(self.store, RUN),
            checker.read_evidence(self.evidence), expected, is_strict))
        self.check_processes()
        self.check_store()

    def check_store(self):
        """The engine's own opinion: its tables are what its events say."""
        assert self.start("fsck").wait(60) == 0, self.last_said()

    def check_processes(self, patience=10):
        complaints = []

        def none_left():
            complaints[:] = checker.check_processes(self.token)
            return not complaints
        try:
            wait_until(none_left, patience)
        except AssertionError:
            self.complain(complaints)

    def complain(self, complaints):
        if not complaints:
            return
        said = "".join(
            f"--- engine {n}\n" + (self.directory / f"said-{n}").read_text(
                errors="replace") for n in range(1, self.engines + 1))
        raise AssertionError("\n".join([*complaints, said]))

    # -- Processes

    def processes(self, command=""):
        """The pids of the drill's processes whose command has the word."""
        return [pid for pid, line in checker.processes_left(self.token)
                if command in line]

    def kill(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def end_all(self, command=""):
        """Kills what is left, and what that starts meanwhile; or only those
        whose command has the word."""
        def none_left():
            left = self.processes(command)
            for pid in left:
                self.kill(pid)
            return not left
        wait_until(none_left)


def undisturbed(directory, **options):
    """What each trial is given where nothing happens: {trial: value}."""
    drill = Drill(directory, **options)
    assert drill.go_on().wait(60) == 0, drill.last_said()
    return {trial: lines[0].value for trial, lines in
            checker.read_evidence(drill.evidence).items()}
