# SPDX-License-Identifier: GPL-3.0-or-later
"""Study.optimize(): the function in this process, in threads, in processes."""

import math
import os
import sys
import threading
import traceback
from dataclasses import dataclass

import pytest

import smtune as package
from studies import SCHEDULED, assert_all_have_ended, square

WORKERS = pytest.mark.parametrize("workers", [
    {}, {"parallel": 3}, {"processes": True}, {"parallel": 3,
                                               "processes": True}],
    ids=["here", "threads", "process", "processes"])


@pytest.mark.quick
@WORKERS
def test_optimize_calls_the_function_so_many_times(study, workers):
    study.optimize(square, 12, **workers)
    assert study.ask().id == 13
    assert study.best.value < 0.1


def test_a_function_runs_in_a_process_of_its_own(study):
    here = os.getpid()
    study.optimize(lambda trial: float(os.getpid() == here), 3, parallel=3,
                   processes=True)
    assert [trial.value for trial in study.front] == [0]
    study.optimize(lambda trial: float(os.getpid() == here), 3, parallel=3)
    assert study.best.value == 0


def test_a_method_to_start_processes(here, script):
    """Not in this process: one of multiprocessing's own stays with it."""
    done = script("""
        import smtune

        def square(trial):
            return trial.params["x"] ** 2

        if __name__ == "__main__":
            with smtune.Study({"objective": "loss", "parameters": {
                    "x": {"type": "float", "min": 0, "max": 1}}}) as study:
                study.optimize(square, 2, processes="spawn")
                assert study.best.value == study.best.params["x"] ** 2
        """)
    assert done.returncode == 0, done.stderr


def shown(error):
    return "".join(traceback.format_exception(type(error), error,
                                              error.__traceback__))


@WORKERS
def test_an_exception_ends_the_loop(study, workers):
    def fail(trial):
        raise ZeroDivisionError(f"in trial {trial.id}")
    with pytest.raises(ZeroDivisionError, match="in trial [123]") as caught:
        study.optimize(fail, 9, **workers)
    assert "in fail" in shown(caught.value)
    assert study.best is None and study.ask().id <= 4


@WORKERS
def test_an_exception_can_be_caught(study, workers):
    def fail(trial):
        return 1 / (trial.id % 2)
    study.optimize(fail, 6, catch=(ZeroDivisionError,), **workers)
    assert study.best.value == 1 and study.ask().id == 7


# ---- odd exceptions ----

class TwoWords(Exception):
    """It can be pickled, and not be read again."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class Locked(Exception):
    """It cannot be pickled."""

    def __init__(self):
        super().__init__("a lock")
        self.lock = threading.Lock()


class Speechless(Exception):
    def __str__(self):
        raise ValueError


@dataclass(frozen=True)
class Frozen(Exception):
    word: str


def local():
    class Local(Exception):
        pass
    return Local("of here")


ODD = pytest.mark.parametrize("make, text", [
    (lambda: TwoWords(1, 2), "TwoWords: 1 and 2"), (Locked, "Locked: a lock"),
    (Speechless, "Speechless"), (lambda: Frozen("x"), "Frozen: x"),
    (local, "Local: of here"), (GeneratorExit, "GeneratorExit")],
    ids=["words", "locked", "speechless", "frozen", "local", "base"])


@ODD
@WORKERS
def test_an_odd_exception_ends_the_loop(study, workers, make, text):
    def fail(trial):
        raise make()
    with pytest.raises(BaseException) as caught:
        study.optimize(fail, 9, **workers)
    assert text in shown(caught.value) and "in fail" in shown(caught.value)
    assert_all_have_ended(study)
    assert study.ask().id <= 5


@ODD
@WORKERS
def test_an_odd_exception_can_be_caught(study, workers, make, text, caplog):
    def fail(trial):
        raise make()
    caught = Exception if text.startswith("Local") else type(make())
    study.optimize(fail, 4, catch=(caught,), **workers)
    assert f"trial 4 failed: {text}" in caplog.text
    assert_all_have_ended(study)
    assert study.ask().id == 6


@WORKERS
def test_an_exit_ends_the_loop(study, workers):
    with pytest.raises(SystemExit) as caught:
        study.optimize(lambda trial: sys.exit(3), 9, **workers)
    assert caught.value.code == 3
    assert_all_have_ended(study)


@WORKERS
def test_an_interrupt_of_the_function_ends_the_loop(study, workers):
    def interrupt(trial):
        if trial.id > 1:
            threading.Event().wait()
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        study.optimize(interrupt, 9, catch=(BaseException,), **workers)
    assert_all_have_ended(study)
    assert study.ask().id <= 5


def test_a_process_that_crashes_fails_its_trial(study):
    with pytest.raises(package.Error, match="of trial 1 .* exit code 3"):
        study.optimize(lambda trial: os._exit(3), 3, processes=True)
    study.optimize(lambda trial: os._exit(3), 3, processes=True,
                   catch=(package.Error,))
    assert study.ask().id == 5
    with pytest.raises(package.Error, match="of trial 6 was killed by SIGKILL"):
        study.optimize(lambda trial: os.kill(os.getpid(), 9), 3, processes=True)


def test_a_process_that_leaves_a_child_behind(study):
    ours, theirs = os.pipe()

    def leave(trial):
        if os.fork() == 0:
            os.close(theirs)
            os.read(ours, 1)  # until the test has ended
        os._exit(4)
    try:
        with pytest.raises(package.Error, match="exit code 4"):
            study.optimize(leave, 3, processes=True)
    finally:
        os.close(theirs)
        os.close(ours)


def test_a_worker_that_cannot_start_leaves_no_trial_open(here, script):
    done = script("""
        import smtune

        if __name__ == "__main__":
            with smtune.Study({"objective": "loss", "parameters": {
                    "x": {"type": "float", "min": 0, "max": 1}}}) as study:
                try:
                    study.optimize(lambda trial: 1, 3, processes="spawn")
                except Exception as error:
                    assert "<lambda>" in str(error)
                study.tell(1, 0)
        """)
    assert "trial 1 already has a result" in done.stderr


# ---- results ----

@pytest.mark.parametrize("value, text", [
    (None, "None; a value is"), ("0.5", "'0.5'; a value is"),
    (math.nan, "nan"), ([math.inf], "[inf]"), ([], "[]; a value is"),
    ({"acc": 0.5}, "{'acc': 0.5}; a value is"), (1j, "1j; a value is"),
    (threading.Lock(), "<unlocked _thread.lock"), ("x" * 999, "'xxx")],
    ids=["none", "text", "nan", "inf", "empty", "dict", "complex", "object",
         "long"])
@WORKERS
def test_a_result_that_is_no_value_fails_its_trial(study, workers, value, text,
                                                   caplog):
    study.optimize(lambda trial: 0.5 if trial.id > 1 else value, 2, **workers)
    assert study.best.id == 2
    assert_all_have_ended(study)
    assert f"trial 1 failed: its function returned {text}" in caplog.text
    assert len(caplog.messages[0]) < 200


@WORKERS
def test_a_result_for_other_objectives_ends_the_loop(study, workers):
    with pytest.raises(package.Error, match="1 number, not 2"):
        study.optimize(lambda trial: [1, 2], 9, **workers)
    assert_all_have_ended(study)


@WORKERS
def test_a_wrong_value_on_the_way_is_an_error_of_the_function(study, workers):
    def train(trial):
        for step, value in ((1, "x"), ("x", 1), (1.5, 1)):
            with pytest.raises((TypeError, package.Error)):
                trial.observe(step, value)
        return 0.5
    study.optimize(train, 2, **workers)
    assert study.best.value == 0.5


# ---- schedules ----

@WORKERS
def test_a_schedule_decides_how_far_trials_run(here, workers):
    def train(trial):
        for epoch in range(1, trial.resource + 1):
            value = trial.params["x"] + 1 / epoch
            if trial.observe(epoch, value) != "continue":
                break
        return value
    with package.Study(SCHEDULED) as study:
        study.optimize(train, 9, **workers)
        assert study.best.value < 1 + 1 / 9
        assert study.ask() is None
        with pytest.raises(package.Error):
            study.observe(99, 1, 0.5)


@WORKERS
def test_a_trial_that_is_stopped_returns_anything(here, workers):
    def train(trial):
        for epoch in range(1, trial.resource + 1):
            if trial.observe(epoch, trial.params["x"]) != "continue":
                return None
        return trial.params["x"]
    with package.Study({**SCHEDULED, "schedule": {
            **SCHEDULED["schedule"], "type": "stopping"}}) as study:
        study.optimize(train, 9, **workers)
        assert study.best is not None
        for number in range(1, 10):
            with pytest.raises(package.Error, match="already has a result"):
                study.tell(number, 0)


@WORKERS
def test_an_exception_of_a_paused_trial_ends_the_loop(here, workers):
    def fail(trial):
        assert trial.observe(1, 0.5) == "pause"
        raise ZeroDivisionError
    with package.Study(SCHEDULED) as study, pytest.raises(ZeroDivisionError):
        study.optimize(fail, 9, **workers)


def test_a_resumed_trial_waits_for_its_last_call(here):
    """Which may still write its checkpoint."""
    running, at_once = set(), []

    def train(trial):
        if trial.id in running:
            at_once.append(trial.id)
        running.add(trial.id)
        for epoch in range(1, trial.resource + 1):
            if trial.observe(epoch, trial.params["x"]) != "continue":
                break
        threading.Event().wait(0.02)
        running.discard(trial.id)
        return trial.params["x"]
    with package.Study(SCHEDULED) as study:
        study.optimize(train, 9, parallel=3)
        assert study.ask() is None and not at_once


# ---- interrupts ----

@pytest.mark.parametrize("workers", [
    "", ", parallel=2", ", parallel=2, processes=True"],
    ids=["here", "threads", "processes"])
def test_an_interrupt_ends_the_loop(here, script, workers):
    done = script("""
        import os, signal, sys, threading
        import smtune

        main = os.getpid()

        def wait(trial):
            if trial.id == 2 or len(sys.argv) == 1:
                os.kill(main, signal.SIGINT)
            threading.Event().wait()

        with smtune.Study({"objective": "loss", "parameters": {
                "x": {"type": "float", "min": 0, "max": 1}}}) as study:
            try:
                study.optimize(wait, 9WORKERS)
            except KeyboardInterrupt:
                print("interrupted")
            for number in range(1, study.ask().id):
                try:
                    study.tell(number, 0)
                except smtune.Error as error:
                    print(error)
        """.replace("WORKERS", workers), *(["two"] if workers else []))
    assert done.stdout == "interrupted\n" + "".join(
        f"trial {number} already has a result\n"
        for number in range(1, 3 if workers else 2)), done.stderr


def test_an_interrupt_while_a_process_starts_is_not_lost(here, script):
    """Python only prints what a function raises that it calls at a fork."""
    done = script("""
        import os, signal
        import smtune

        main = os.getpid()
        os.register_at_fork(before=lambda: os.kill(main, signal.SIGINT))
        with smtune.Study({"objective": "loss", "parameters": {
                "x": {"type": "float", "min": 0, "max": 1}}}) as study:
            try:
                study.optimize(lambda trial: 0, 4, parallel=2, processes=True)
            except KeyboardInterrupt:
                print("interrupted")
        """)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
