# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls that fail: once, and from then on.

The engine may end with one line that says why, or wait for better times; the
record stays sound, and when the fault is gone `smtune resume` brings the run
to the end that it would have had."""

import pytest

import checker
from drill import RUN

SIZE = {"trials": 3, "parallel": 2}

ERRORS = ["ENOSPC:write", "EIO:write", "EIO:fsync", "EIO:truncate",
          "EIO:read", "short:read", "short:write", "EMFILE:open", "EIO:rename",
          "EIO:remove", "ENOSPC:mkdir", "EAGAIN:spawn",
          "EIO:commit", "ENOMEM:malloc"]


def points():
    """1 to 4, and then each a quarter beyond the last."""
    n = 1
    while True:
        yield n
        n += max(1, n // 4)


def judge_end(it, fault, status):
    said = it.last_said()
    if status == -6:
        assert "ENOMEM" in fault and "out of memory" in said, said
    elif status == 3:   # nothing has begun yet
        assert "ENOMEM" in fault and "out of memory" in said, said
    else:
        assert status in (0, 1, 6, -9), f"{fault}: status {status}\n{said}"
    if status == 1:
        errors = [line for line in said.splitlines()
                  if line.startswith("smtune: ")]
        assert len(errors) == 1, f"{fault}\n{said}"


def fail_at_each(drill, expected, program, error, reach):
    for n in points():
        fault = f"{program}:{error}@{n}{reach}"
        it = drill(**SIZE)
        status = it.disturb(fault, patience=1 if reach == "+" else 30,
                            is_endless=reach == "+")
        struck = it.struck()
        print(fault, "status", status, struck)
        judge_end(it, fault, status)
        if program == "smtune-shim":    # the next engine's is denied nothing
            it.end_all(program)
        it.finish(expected(**SIZE), is_strict=program == "smtune")
        if not struck:
            return


@pytest.mark.parametrize("reach", ["", "+"], ids=["once", "ever"])
@pytest.mark.parametrize("error", ERRORS)
def test_engine_is_denied(sanitized_drill, expected, error, reach):
    fail_at_each(sanitized_drill, expected, "smtune", error, reach)


@pytest.mark.parametrize("error", ["EMFILE:open", "EIO:read", "ENOSPC:write",
                                   "EIO:fsync", "EAGAIN:spawn"])
def test_recovery_is_denied(sanitized_drill, expected, error):
    """The engine that takes up running trials is denied something for good:
    it may not take for lost what it cannot see."""
    for n in points():
        fault = f"smtune:{error}@{n}+"
        it = sanitized_drill(**SIZE, pause=0.2)
        engine = it.go_on()
        it.wait_for_trials(2)
        engine.kill()
        engine.wait()
        status = it.disturb(fault, patience=1, is_endless=True)
        struck = it.struck()
        print(fault, "status", status, struck)
        judge_end(it, fault, status)
        it.finish(expected(**SIZE))
        if not struck:
            return


def test_a_retry_rule_is_denied_the_log(sanitized_drill):
    """What cannot be read now is no log without the words."""
    for n in points():
        it = sanitized_drill(**SIZE)
        experiment = it.directory / "drill.yaml"
        experiment.write_text(experiment.read_text().replace(
            "exit:75", "log:try again"))
        trial = (it.directory / "trial").read_text()
        (it.directory / "trial").write_text(trial.replace(
            "echo loss", "[ $SMTUNE_ATTEMPT_NUMBER = 1 ] && echo try again &&"
            " exit 1\necho loss"))
        it.disturb(f"smtune:EMFILE:open@{n}")
        struck = it.struck()
        assert it.go_on().wait(60) == 0, it.last_said()
        record = checker.read_record(it.store, RUN)
        assert set(record.jobs.values()) == {("succeeded", "ok")}, struck
        if not struck:
            return


@pytest.mark.parametrize("reach", ["", "..20"], ids=["once", "a while"])
@pytest.mark.parametrize("error", ["ENOSPC:write", "EIO:rename", "EMFILE:open",
                                   "EAGAIN:spawn", "EIO:send", "short:send"])
def test_agent_is_denied(sanitized_drill, expected, error, reach):
    fail_at_each(sanitized_drill, expected, "smtune-shim", error, reach)
