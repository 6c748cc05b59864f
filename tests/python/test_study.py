# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask and tell: Study."""

import os
import signal
import threading
import time

import pytest

import smtune as package
from studies import BOUNDED, FILE, square


@pytest.mark.quick
def test_ask_and_tell(study):
    assert study.best is None and study.front == []
    first, second = study.ask(), study.ask()
    assert (first.id, second.id) == (1, 2) and 0 <= first.params["x"] <= 1
    assert (first.resource, first.resumed, first.parent) == (None, False, None)
    study.tell(second, 0.5)
    study.tell(first.id, 0.7)
    assert (study.best.id, study.best.value) == (2, 0.5)
    assert study.best.params == second.params
    assert [trial.id for trial in study.front] == [2]
    assert study.why(first)["method"] == "tpe"
    with pytest.raises(package.Error, match="trial 2 already has a result"):
        study.tell(second, 0.5)
    for value in (None, float("nan")):
        study.tell(study.ask(), value)
    study.tell(study.ask(), state="failed")
    assert study.best.id == 2
    for value in ("0.5", {"loss": 1}, {0.5}, [], [None], 1j, object()):
        with pytest.raises(TypeError, match="a value is a number, or a list"):
            study.tell(study.ask(), value)


def test_the_search_is_that_of_the_program(here, study, write):
    path = write("file.yaml", "version: 1\nobjective: loss\n"
                 "parameters: {x: {type: float, min: 0, max: 1}}\n")
    with package.Study(path, set={"search": FILE["search"]}) as other:
        for _ in range(10):
            trials = [study.ask(), other.ask()]
            assert trials[0].params == trials[1].params
            study.tell(trials[0], square(trials[0]))
            other.tell(trials[1], square(trials[1]))


def test_several_objectives_and_constraints(here):
    with package.Study({**FILE, "objective": [
            {"metric": "a", "goal": "minimize"},
            {"metric": "b", "goal": "maximize"}],
            "outcomes": [{"metric": "c", "max": 1}]}) as study:
        study.tell(study.ask(), [1, 2], constraints=[-1])
        study.tell(study.ask(), (2, 3), constraints=[-1])
        study.tell(study.ask(), [0, 9], constraints=[1])
        assert [trial.values for trial in study.front] == [[1, 2], [2, 3]]
        with pytest.raises(package.Error, match="use front"):
            assert study.best


def test_a_failure_needs_no_list(here):
    with package.Study({**FILE, "objective": ["a", "b"]}) as study:
        study.tell(study.ask(), None)
        study.tell(study.ask(), state="stopped")
        assert study.best is None and study.front == []


def test_nothing_that_satisfies_the_constraints_has_no_best(here):
    with package.Study(BOUNDED) as study:
        study.tell(study.ask(), 0.5, constraints=[1])
        assert study.best is None and study.front == []
        study.tell(study.ask(), 0.9, constraints=[0])
        assert study.best.id == 2


@pytest.mark.parametrize("library, words", [
    ("numpy", ["float32(0.5)", "array(0.5)", "array([0.5])", "float64(0.5)"]),
    ("torch", ["tensor(0.5)", "tensor([0.5], requires_grad=True)"])])
def test_numbers_of_libraries_are_values(study, library, words):
    made = pytest.importorskip(library)
    for word in words:
        study.tell(study.ask(), eval(f"made.{word}"))
        assert study.best.value == 0.5
    assert study.best.id == 1
    step = made.ones(1, dtype=made.int64)[0]
    assert study.observe(study.ask(), step, made.ones(1)[0]) == "continue"
    with pytest.raises(TypeError, match="a step is a number, not '1'"):
        study.observe(study.ask(), "1", 0.5)


def test_a_wrong_file_is_an_error_at_once(here):
    with pytest.raises(package.Error, match="missing key 'parameters'") as e:
        package.Study({"objective": "loss"})
    assert e.value.status == 3
    with pytest.raises(package.Error, match="No such file"):
        package.Study("nowhere.yaml")


def test_a_closed_study_is_an_error(here, tmp_path):
    study = package.Study(FILE)
    study.close()
    study.close()
    with pytest.raises(package.Error, match="this study is closed"):
        study.ask()
    assert list(tmp_path.iterdir()) == []


def test_a_search_that_is_killed_is_an_error(here):
    study = package.Study(FILE)
    study._process.kill()
    with pytest.raises(package.Error):
        study.ask()


def test_a_study_that_is_forgotten_ends(here):
    study = package.Study(FILE)
    process = study._process
    del study
    assert process.wait(30) == 0


# ---- interrupts ----

def interrupt(study, name, is_late):
    """Its next call of the method raises KeyboardInterrupt, at its end or in
    place of the call."""
    method = getattr(study, name)

    def once(*words):
        delattr(study, name)
        if is_late:
            method(*words)
        raise KeyboardInterrupt
    setattr(study, name, once)


@pytest.mark.parametrize("name, is_late, next_ids", [
    ("_send", False, [2, 3]), ("_send", True, [2, 3]), ("_read", True, [3, 4])],
    ids=["nothing sent", "answer owed", "answer lost"])
def test_an_interrupt_shifts_no_answer(study, name, is_late, next_ids):
    first = study.ask()
    for _ in range(2):
        interrupt(study, name, is_late)
        with pytest.raises(KeyboardInterrupt):
            study.best
    assert study.best is None  # nothing is owed now
    interrupt(study, name, is_late)
    with pytest.raises(KeyboardInterrupt):
        study.ask()
    study.tell(first, 0.5)
    assert study.best.id == 1
    assert [study.ask().id for _ in range(2)] == next_ids


def test_an_interrupt_in_a_request_and_in_an_answer(study):
    study._is_behind = True
    study._process.stdin.write(b'{"op":"ask","n"')
    assert study.ask().id == 1
    study._is_behind = True
    study._send(b'{"op":"ask"}')
    study._process.stdout.read(9)
    assert study.best is None
    assert study.ask().id == 3


def test_interrupts_at_any_time(here, script):
    """By another signal: pytest has no say in the main thread of a script."""
    done = script("""
        import random, signal
        import smtune

        def interrupt(*_):
            if is_armed:
                raise KeyboardInterrupt

        is_armed, count, seen = False, 0, set()
        signal.signal(signal.SIGALRM, interrupt)
        with smtune.Study({"objective": "loss", "parameters": {
                "x": {"type": "float", "min": 0, "max": 1}}}) as study:
            while count < 200:
                signal.setitimer(signal.ITIMER_REAL,
                                 random.uniform(5e-6, 3e-4))
                trial = None
                try:
                    is_armed = True
                    trial = study.ask()
                    study.tell(trial, trial.id)
                    is_armed = False
                except KeyboardInterrupt:
                    is_armed = False
                    count += 1
                if trial is not None:
                    assert trial.id not in seen
                    assert study.why(trial)["id"] == trial.id
                    seen.add(trial.id)
            trial = study.ask()
            assert trial.id not in seen
            study.tell(trial, 0)
            assert study.best.id == trial.id
        """)
    assert done.returncode == 0, done.stderr


def test_a_fork_that_stays_does_not_delay_the_end(study, monkeypatch):
    monkeypatch.setattr("smtune._study._PATIENCE_S", 0.1)
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.close(theirs)
        os.read(ours, 1)  # until the test has ended
        os._exit(0)
    study.close()
    assert study._process.returncode == -signal.SIGKILL
    os.close(theirs)
    os.close(ours)
    os.wait()


def test_threads_share_a_study(study):
    def work():
        for _ in range(50):
            trial = study.ask()
            study.tell(trial, square(trial))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert study.ask().id == 201


def test_the_package_adds_little_to_the_search(here):
    """Less than 1 ms to an ask and a tell."""
    with package.Study({**FILE, "search": {"method": "random"}}) as study:
        def seconds(count=200):
            start = time.process_time()
            for _ in range(count):
                study.tell(study.ask(), 0.5)
            return (time.process_time() - start) / count
        assert min(seconds() for _ in range(5)) < 1e-3
