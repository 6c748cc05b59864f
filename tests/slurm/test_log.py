# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine's log has each call to Slurm, with its answer and its time."""

import re

from programs import wait_until

CALL = re.compile(r"\S+ debug slurm run=run job=- call=(\d+) (.*)")
WANTED = {
    "commands": [
        (r"run sbatch .*--job-name=run\.1\.smt-",
         r"exit=0 took_ms=\d+ answer='\d+\\n'"),
        ("run squeue --me ", r"exit=0 took_ms=\d+ answer='.*smt-"),
        ("run sinfo ", r"exit=0 took_ms=\d+ answer='")],
    "rest": [
        (r"request POST http://127.0.0.1:\d+/slurm/v0.0.\d+/job/submit",
         r"http=200 took_ms=\d+ answer='.*\"job_id\": \d+"),
        (r"request GET http://127.0.0.1:\d+/slurm/v0.0.\d+/jobs",
         r"http=200 took_ms=\d+ answer='.* bytes\)")],
}


def read_calls(path):
    """[(what was asked, what came)]."""
    begun, ended = {}, {}
    for line in path.read_text().splitlines() if path.exists() else []:
        number, text = CALL.fullmatch(line).groups()
        (ended if text.startswith("ended ") else begun)[number] = text
    return [(begun[number], text) for number, text in ended.items()]


def has_all(calls, wanted):
    return all(any(re.match(asked, call[0]) and
                   re.match("ended " + came, call[1]) for call in calls)
               for asked, came in wanted)


def test_calls_and_answers(smtune, experiment, transport, cluster, tmp_path):
    go, log = tmp_path / "go", tmp_path / "log"
    engine = smtune.start("run", experiment(
        trials=1, executor={"mode": "job"}, trial={
            "env": {"API_TOKEN": "hunter2-in-env"},
            "shell": f"until [ -e {go} ]; do sleep 0.1; done; echo loss=1"}),
        env={"SMTUNE_LOG": "slurm=debug:log"})
    wait_until(lambda: has_all(read_calls(log), WANTED[transport]),
               what=f"the calls in {log.read_text() if log.exists() else log}")
    go.touch()
    assert engine.wait(60) == 0
    assert "hunter2" not in log.read_text()
    assert cluster.extra.get("SLURM_JWT", "hunter2") not in log.read_text()


def test_a_queue_is_a_reason(smtune, experiment, tmp_path):
    """Jobs that Slurm keeps in its queue are told from those that run."""
    log = tmp_path / "log"
    engine = smtune.start("run", experiment(
        budget={"trials": 1, "parallel": 1},
        executor={"mode": "job", "extra": ["--hold"]}),
        env={"SMTUNE_LOG": "debug:log"})
    wait_until(lambda: log.exists() and (
        "starts nothing: parallel=1 is reached; waiting in a queue: 1 (jobs 1)"
        in log.read_text()), what="the reason")
    smtune.ok("stop", "run")
    assert engine.wait(60) == 143
