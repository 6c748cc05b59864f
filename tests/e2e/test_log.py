# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of an engine: SMTUNE_LOG, --log, --log-level (base/log.h)."""

import re
import stat

import pytest

import files
from programs import wait_until

SAY = "echo loss=${{ x }}"
LINE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (?P<level>error|warning|info|debug)"
    r" (?P<part>engine|executor|slurm) run=(?P<run>\S+) job=(?P<job>\d+|-) "
    r"(?P<text>.*)")


def experiment(shell=SAY, **keys):
    return files.experiment(shell, **{"trials": 2, "parallel": 1} | keys)


class Log:
    def __init__(self, path):
        self.path = path

    def lines(self):
        if not self.path.exists():
            return []
        found = [LINE.fullmatch(line)
                 for line in self.path.read_text().splitlines()]
        assert all(found), self.path.read_text()
        return [match.groupdict() for match in found]

    def texts(self, **wanted):
        return [line["text"] for line in self.lines()
                if all(line[key] == value for key, value in wanted.items())]

    def reasons(self):
        """Why nothing started, in the order of the lines."""
        begin = "starts nothing: "
        return [text[len(begin):] for text in self.texts()
                if text.startswith(begin)]

    def wait_for_reason(self, words):
        return wait_until(
            lambda: [text for text in self.reasons() if words in text],
            what=f"{words!r} in {self.path}")[0]


@pytest.fixture
def log(tmp_path):
    return Log(tmp_path / "log")


@pytest.mark.sanitized
def test_without_a_level_there_is_no_log(smtune, write, tmp_path, log):
    result = smtune("run", write("exp.yaml", experiment()))
    assert result.returncode == 0 and "engine" not in result.stderr
    smtune.ok("run", "exp.yaml", "--log", "log", "--log-level", "off")
    smtune.ok("run", "exp.yaml", env={"SMTUNE_LOG": "off:log"})
    assert not log.path.exists()


def test_states_are_info(smtune, write, log):
    shell = "[ $SMTUNE_JOB$SMTUNE_ATTEMPT_NUMBER != 11 ] || exit 3; " + SAY
    write("exp.yaml", experiment(
        shell, retry="[{match: [exit], max: 2, delay: 20ms}]"))
    smtune.ok("run", "exp.yaml", "--log", "log")
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert {line["level"] for line in log.lines()} == {"info", "warning"}
    assert {line["run"] for line in log.lines()} == {"exp"}
    words = [text.split()[0] for text in log.texts(job="1")]
    assert words == ["suggested", "started", "retry", "due", "started",
                     "succeeded"]
    retry, = log.texts(level="warning")
    assert re.fullmatch(r"retry attempt=1 cause=exit exit=3 ran_ms=\d+ "
                        r"retry=1 rule=1 in_ms=20", retry)
    assert log.texts()[-1] == "run succeeded: trial budget used up (2 of 2)"


def test_levels_of_parts(smtune, write, log):
    write("exp.yaml", experiment(trials=1))
    env = {"SMTUNE_LOG": "executor=debug,engine=warning:log"}
    smtune.ok("run", "exp.yaml", env=env)
    assert {line["part"] for line in log.lines()} == {"executor"}
    handed, claim, end = log.texts(job="1")
    assert handed.startswith("handed over attempt=1 directory=/")
    assert re.match(r"claim read attempt=1 pid=\d+ ", claim)
    assert end.startswith("exit read attempt=1 cause=ok exit=0 ")


def test_options_override_the_variable(smtune, write, tmp_path, log):
    write("exp.yaml", experiment(trials=1))
    env = {"SMTUNE_LOG": "debug:other"}
    smtune.ok("run", "exp.yaml", "--log", "log", "--log-level", "warning",
              env=env)
    assert log.lines() == [] and not (tmp_path / "other").exists()
    smtune.ok("run", "exp.yaml", "--log-level", "info", env=env)
    assert Log(tmp_path / "other").texts(level="debug") == []
    result = smtune("run", "exp.yaml", "--log-level", "debug")
    assert " debug engine run=exp-3 job=- turn suggested=1 " in result.stderr


def test_unknown_words_are_refused(smtune, write, log):
    write("exp.yaml", experiment())
    result = smtune("run", "exp.yaml", env={"SMTUNE_LOG": "degub:log"})
    assert result.returncode == 2
    assert result.stderr == ("smtune: SMTUNE_LOG: unknown level 'degub' (did "
                             "you mean 'debug'?)\n")
    assert smtune("run", "exp.yaml", "--log-level", "x").returncode == 2
    assert not log.path.exists()


# ---- why nothing starts ----

def test_parallel_and_the_budget(smtune, write, log):
    """Each trial runs until there is a file of its number."""
    shell = "while ! [ -e go$SMTUNE_JOB ]; do sleep 0.1; done; " + SAY
    write("exp.yaml", experiment(shell, trials=3, parallel=2))
    engine = smtune.start("run", "exp.yaml", env={"SMTUNE_LOG": "debug:log"})
    log.wait_for_reason("parallel=2 is reached; running: 2 (jobs ")
    write("go1", "")
    write("go2", "")
    log.wait_for_reason("the budget is used up by unfinished trials: "
                        "budget.trials=3 ended=2")
    write("go3", "")
    assert engine.wait(30) == 0


def test_a_retry_is_waited_for_and_a_pause_is_one_line(smtune, write, log):
    shell = "[ $SMTUNE_ATTEMPT_NUMBER != 1 ] || exit 3; " + SAY
    write("exp.yaml", experiment(
        shell, trials=1, retry="[{match: [exit], max: 1, delay: 60s}]"))
    engine = smtune.start("run", "exp.yaml", env={"SMTUNE_LOG": "debug:log"})
    reason = log.wait_for_reason("waiting for the time of a retry: job 1 in ")
    assert 50000 < int(re.search(r"in (\d+) ms", reason)[1]) <= 60000
    smtune.ok("pause", "exp")
    log.wait_for_reason("the run is paused")
    smtune.ok("status", "exp")
    smtune.ok("resume", "exp")
    wait_until(lambda: "resumed" in log.texts(), what="resumed")
    smtune.ok("stop", "exp")
    assert engine.wait(30) == 143
    assert len([text for text in log.reasons() if "paused" in text]) == 1
    assert "request op=pause" in log.texts()
    assert "stopping after signal 15" in log.texts()


def test_slots_and_who_holds_them(smtune, write, log, tmp_path):
    shell = "while ! [ -e go ]; do sleep 0.1; done; " + SAY
    write("exp.yaml", experiment(shell, parallel=2, resources={"cpus": 1},
                                 executor="{name: local, cpus: 1}"))
    first = smtune.start("run", "exp.yaml", env={"SMTUNE_LOG": "debug:log"})
    log.wait_for_reason("no free slot for job 2, which needs cpus=1 (of 1); "
                        "held by jobs: 1")
    other = Log(tmp_path / "other")
    second = smtune.start("run", "exp.yaml", "--name", "second",
                          env={"SMTUNE_LOG": "debug:other"})
    reason = other.wait_for_reason("handed over and not started: 1 (jobs 1)")
    assert re.search(r"cpus=1/1 gpus=\d+/\d+ taken by pids \d+$", reason)
    (tmp_path / "go").touch()
    assert first.wait(30) == 0 and second.wait(30) == 0


def test_a_schedule_waits_for_results(smtune, write, log):
    write("exp.yaml", experiment(
        "sleep 0.1; i=0; while [ $i -lt ${{ epoch }} ]; do i=$((i+1)); "
        "echo epoch=$i loss=${{ x }}; done", trials=9, parallel=8,
        schedule="{method: hyperband, resource: epoch, max: 4, eta: 2}"))
    smtune.ok("run", "exp.yaml", "--log", "log", "--log-level", "debug")
    assert any(text.startswith("the schedule waits for results: active=")
               for text in log.reasons()), log.reasons()


def test_a_search_that_has_no_more(smtune, write, log):
    shell = "until [ -e go ]; do sleep 0.1; done; " + SAY
    write("exp.yaml", experiment(
        shell, trials=9, parallel=4, method="grid",
        parameters="{x: {type: int, min: 1, max: 2}}"))
    engine = smtune.start("run", "exp.yaml", env={"SMTUNE_LOG": "debug:log"})
    log.wait_for_reason("the search has no more settings to suggest")
    write("go", "")
    assert engine.wait(30) == 0


def test_steps_pools_and_needs(smtune, workflow, write, log):
    """`first` and `many` run until there is a file of their name."""
    workflow("""
        first: {shell: "until [ -e first ]; do sleep 0.1; done"}
        load:
          matrix: {part: [1, 2]}
          pools: {disk: 2}
          shell: "until [ -e load ]; do sleep 0.1; done"
        many:
          needs: [first]
          matrix: {i: [1, 2]}
          parallel: 1
          shell: "until [ -e many ]; do sleep 0.1; done"
        """, name="wf", parallel=4, pools={"disk": 2})
    engine = smtune.start("run", "wf.yaml", env={"SMTUNE_LOG": "debug:log"})
    log.wait_for_reason(
        "no step can start a job; step 'first': 1 started, 0 of 1 ended; "
        "step 'load': 1 started, 0 of 2 ended: pool 'disk' is full (2 of 2 "
        "taken, a copy needs 2); step 'many' needs 'first' (active)")
    write("first", "")
    log.wait_for_reason("step 'many': 1 started, 0 of 2 ended: its "
                        "parallel=1 is reached")
    write("load", "")
    write("many", "")
    assert engine.wait(30) == 0
    assert "step=many state=succeeded" in log.texts(level="info")
    assert log.texts(job="1")[0] == "created step=first"


# ---- what is not in it ----

def test_secrets_are_masked(smtune, write, log):
    """A launch error quotes the command's path, and the path has the secret."""
    write("exp.yaml", experiment(
        None, trials=1,
        command=["/opt/quiet-place/hunter2-in-env/jwt-of-mine/prog",
                 "--password", "sw0rdfish"],
        env={"API_TOKEN": "hunter2-in-env", "PLACE": "/opt/quiet-place"},
        notify=[{"url": "http://me:open-sesame@127.0.0.1:9/hook/T0K",
                 "events": ["succeeded"]}]))
    smtune("run", "exp.yaml", "--set", "budget.trials=1",
           env={"SMTUNE_LOG": "debug:log", "MY_JWT": "jwt-of-mine"})
    said = log.path.read_text()
    for secret in ("hunter2", "quiet-place", "open-sesame", "T0K",
                   "jwt-of-mine", "sw0rdfish"):
        assert secret not in said, said
    assert "<env.PLACE>/<env.API_TOKEN>/<MY_JWT>/prog" in said


def test_terminal_escapes_are_escaped(smtune, write, log):
    write("exp.yaml", experiment(None, trials=1, command=["/no/\x1b[31mred"]))
    smtune("run", "exp.yaml", "--log", "log")
    said = log.path.read_bytes()
    assert b"\\x1b[31mred" in said and b"\x1b" not in said


# ---- where it goes ----

def test_detached_and_resumed_runs_append(smtune, write, log):
    shell = "[ -e go ] || exec sleep 60; " + SAY
    write("exp.yaml", experiment(shell, trials=1))
    env = {"SMTUNE_LOG": "info:log"}
    smtune.ok("run", "exp.yaml", "--detach", env=env)
    wait_until(lambda: "started attempt=1" in log.texts(), what="the start")
    smtune.ok("stop", "exp")
    write("go", "")
    smtune.ok("resume", "exp", "--detach", env=env)
    smtune.ok("wait", "exp")
    assert [text for text in log.texts() if text.startswith("engine")] != []
    assert len(log.texts(job="-", level="info")) >= 6
    assert log.texts()[-1].startswith("run succeeded")
    assert "stopping after signal 15" in log.texts()


def test_child_runs_share_the_file(smtune, workflow, write, log):
    write("exp.yaml", experiment(trials=1))
    workflow("tune: {experiment: exp.yaml}", name="wf")
    smtune.ok("run", "wf.yaml", env={"SMTUNE_LOG": f"info:{log.path}"})
    assert {line["run"] for line in log.lines()} >= {"wf"}
    assert len({line["run"] for line in log.lines()}) == 2


def test_a_log_that_cannot_be_written_harms_nothing(smtune, write):
    write("exp.yaml", experiment())
    for path, why in (("/dev/full", "No space left on device"),
                      ("/no/where", "No such file or directory")):
        result = smtune("run", "exp.yaml", env={"SMTUNE_LOG": f"debug:{path}"})
        assert result.returncode == 0
        said = f"cannot write the log {path}: {why}"
        assert result.stderr.count(said) == 1


def test_no_panel_is_drawn_over_a_log(smtune, write):
    write("exp.yaml", experiment())
    status, shown = smtune.on_terminal("run", "exp.yaml", "--log-level", "info")
    assert status == 0
    assert " info engine run=exp job=1 succeeded " in shown
    assert "\x1b[K" not in shown and "\x1b[J" not in shown
