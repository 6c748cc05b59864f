# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask and tell: Study."""

import os
import threading
import time

import pytest

import smtune as package

FILE = {
    "objective": "loss",
    "parameters": {"x": {"type": "float", "min": 0, "max": 1}},
    "search": {"method": "tpe", "seed": 1},
}
SCHEDULED = {
    **FILE,
    "schedule": {"method": "asha", "resource": "epochs", "min": 1, "max": 9,
                 "eta": 3},
    "budget": {"trials": 9},
    "trial": {"command": "x ${{ epochs }}", "checkpoints": True},
}
WORKERS = pytest.mark.parametrize("workers", [
    {}, {"parallel": 3}, {"processes": True}, {"parallel": 3,
                                               "processes": True}],
    ids=["here", "threads", "process", "processes"])


@pytest.fixture
def study(here):
    with package.Study(FILE) as study:
        yield study


def square(trial):
    return (trial.params["x"] - 0.3) ** 2


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
    with pytest.raises(TypeError, match="a value is a number, not '0.5'"):
        study.tell(study.ask(), "0.5")


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


# ---- optimize ----

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


@WORKERS
def test_an_exception_ends_the_loop(study, workers):
    def fail(trial):
        raise ZeroDivisionError(f"in trial {trial.id}")
    with pytest.raises(ZeroDivisionError, match="in trial 1") as caught:
        study.optimize(fail, 9, **workers)
    if workers:
        assert "in fail" in str(caught.value.__cause__)
    assert study.best is None and study.ask().id <= 4


@WORKERS
def test_an_exception_can_be_caught(study, workers):
    def fail(trial):
        return 1 / (trial.id % 2)
    study.optimize(fail, 6, catch=(ZeroDivisionError,), **workers)
    assert study.best.value == 1 and study.ask().id == 7


def test_a_process_that_crashes_fails_its_trial(study):
    with pytest.raises(package.Error, match="trial 1: .* exit code 3"):
        study.optimize(lambda trial: os._exit(3), 3, processes=True)
    study.optimize(lambda trial: os._exit(3), 3, processes=True,
                   catch=(package.Error,))
    assert study.ask().id == 5


def test_what_cannot_be_sent_is_an_error(study):
    with pytest.raises(package.Error, match="cannot be sent"):
        study.optimize(lambda trial: threading.Lock(), 1, processes=True)

    class Local(Exception):
        pass

    def fail(trial):
        raise Local("of here")
    with pytest.raises(package.Error, match="Local: of here"):
        study.optimize(fail, 1, processes=True)


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


def test_an_interrupt_ends_the_processes(here, script):
    done = script("""
        import os, signal, time
        import smtune

        def wait(trial):
            if trial.id == 2:
                os.kill(os.getppid(), signal.SIGINT)
            time.sleep(1000)

        with smtune.Study({"objective": "loss", "parameters": {
                "x": {"type": "float", "min": 0, "max": 1}}}) as study:
            try:
                study.optimize(wait, 9, parallel=2, processes=True)
            except KeyboardInterrupt:
                print("interrupted")
        """)
    assert done.stdout == "interrupted\n", done.stderr


def test_the_package_adds_little_to_the_search(here):
    """Less than 1 ms to an ask and a tell."""
    with package.Study({**FILE, "search": {"method": "random"}}) as study:
        def seconds(count=200):
            start = time.process_time()
            for _ in range(count):
                study.tell(study.ask(), 0.5)
            return (time.process_time() - start) / count
        assert min(seconds() for _ in range(5)) < 1e-3
