# SPDX-License-Identifier: GPL-3.0-or-later
"""The package inside a trial, and where there is none."""

import json
import os
import signal
import time

import pytest

import smtune as package
from waiting import wait_until


@pytest.fixture
def metrics(here, tmp_path, monkeypatch):
    """metrics(): what report() has written, parsed."""
    path = tmp_path / "metrics.jsonl"
    monkeypatch.setenv("SMTUNE_METRICS", str(path))
    return lambda: [json.loads(line)
                    for line in path.read_text().splitlines()]


# ---- parameters and resources ----

@pytest.mark.quick
def test_without_a_trial_all_have_defaults(here, tmp_path):
    assert package.params() == {}
    assert package.params({"model.dim": 8}, lr=0.1) == {"model.dim": 8,
                                                        "lr": 0.1}
    assert package.resource() is None
    assert package.resource(9) == 9
    before = signal.getsignal(signal.SIGTERM)
    assert package.should_stop() is False
    assert signal.getsignal(signal.SIGTERM) == before
    assert package.checkpoint_dir("here/deep") == (tmp_path / "here/deep") \
        .relative_to(tmp_path)
    assert (tmp_path / "here/deep").is_dir()
    package.report(loss=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here"]


def test_parameters_are_those_of_the_trial(here, write, monkeypatch):
    monkeypatch.setenv("SM_HPS", '{"lr": 0.5}')
    assert package.params(lr=0.1, width=3) == {"lr": 0.5, "width": 3}
    monkeypatch.setenv("SMTUNE_PARAMS", str(write("p.json", '{"lr": 0.25}')))
    assert package.params(lr=0.1) == {"lr": 0.25}
    monkeypatch.setenv("SMTUNE_RESOURCE", "27")
    assert package.resource(9) == 27


@pytest.mark.quick
def test_a_trial_has_all_of_it(smtune, write):
    write("train.py", """
        import smtune
        p = smtune.params(extra=7)
        assert p["extra"] == 7 and p["layers"] in ([1, 2], None), p
        assert smtune.resource(99) == 99
        place = smtune.checkpoint_dir()
        assert place.is_absolute() and place.is_dir()
        for step in range(1, 4):
            smtune.report({"val/loss": p["x"] / step}, step=step, loss=p["x"])
        assert smtune.should_stop() is False
        """)
    write("exp.yaml", """
        version: 1
        name: exp
        objective: loss
        parameters:
          x: {type: float, min: 1, max: 2}
          layers: {type: categorical, values: [[1, 2], null]}
        budget: {trials: 4, parallel: 2}
        trial: {command: python3 train.py}
        """)
    smtune.ok("run", "exp.yaml")
    for trial in smtune.json("trials", "exp"):
        shown = {metric["name"]: metric for metric in smtune.json(
            "show", "exp", trial["id"])["metrics"]}
        x = trial["params"]["x"]
        assert shown["loss"]["value"] == x
        assert shown["val/loss"]["value"] == x / 3
        assert shown["val/loss"]["step"] == 3


# ---- report ----

def test_a_report_is_a_line(metrics):
    package.report(loss=0.25, step=3)
    package.report({"val/acc": 1}, top5=0.5)
    assert metrics() == [{"step": 3, "loss": 0.25}, {"val/acc": 1, "top5": 0.5}]


def test_values_that_are_no_plain_numbers(metrics, smtune):
    class Tensor:
        def __float__(self):
            return 0.5

    package.report(a=Tensor(), b=True, c=float("nan"), d=float("-inf"),
                   e=1e-300, f=2 ** 60)
    [line] = metrics()
    assert repr(line) == repr({"a": 0.5, "b": 1, "c": float("nan"),
                               "d": float("-inf"), "e": 1e-300, "f": 2 ** 60})


def test_smtune_reads_what_it_writes(smtune, experiment, write):
    write("train.py", """
        import smtune
        smtune.report({"größe": 2, "mAP50(B)": 0.5, "😀": 3}, step=2,
                      a=float("nan"), b=float("-inf"), loss=True)
        """)
    smtune.ok("run", experiment(command="python3 train.py", trials=1))
    shown = {metric["name"]: metric["value"]
             for metric in smtune.json("show", "exp", 1)["metrics"]}
    assert shown == {"loss": 1, "größe": 2, "mAP50(B)": 0.5, "😀": 3,
                     "a": "nan", "b": "-inf"}


def test_numbers_of_numpy(metrics):
    numpy = pytest.importorskip("numpy")
    package.report(step=numpy.int64(3), a=numpy.float32(0.5),
                   b=numpy.array([2.0]), c=numpy.float64(0.25))
    assert metrics() == [{"step": 3, "a": 0.5, "b": 2, "c": 0.25}]


@pytest.mark.parametrize("words, error, message", [
    ({}, ValueError, "needs a metric"),
    ({"step": 3}, ValueError, "needs a metric"),
    ({"loss": "high"}, TypeError, "'loss' must be a number, not 'high'"),
    ({"loss": None}, TypeError, "'loss' must be a number, not an object of "
     "type 'NoneType'"),
    ({"loss": [1, 2]}, TypeError, "type 'list'"),
    ({"step": "x", "loss": 1}, TypeError, "'step' must be a number"),
])
def test_a_wrong_report_is_an_error_also_without_a_trial(here, words, error,
                                                         message):
    with pytest.raises(error, match=message):
        package.report(**words)


@pytest.mark.parametrize("name, error", [
    ("", ValueError), ("x" * 129, ValueError), (" x", ValueError),
    ("a\nb", ValueError), (3, TypeError)])
def test_a_name_that_smtune_would_not_read_is_an_error(here, name, error):
    with pytest.raises(error, match="name"):
        package.report({name: 1})


def test_a_report_that_is_too_long_is_an_error(metrics):
    with pytest.raises(ValueError, match="too long"):
        package.report({f"metric{i:04}": 0.5 for i in range(4000)})


def test_a_full_disk_is_an_error(here, monkeypatch):
    monkeypatch.setenv("SMTUNE_METRICS", "/dev/full")
    with pytest.raises(OSError, match="No space left"):
        package.report(loss=1)


def test_only_rank_0_reports(metrics, monkeypatch):
    for rank in ("1", "0"):
        monkeypatch.setenv("RANK", rank)
        package.report(rank_was=int(rank))
    monkeypatch.delenv("RANK")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "2")
    package.report(rank_was=2)
    package.report(rank_was=3, any_rank=True)
    assert metrics() == [{"rank_was": 0}, {"rank_was": 3}]


def test_processes_and_threads_report_whole_lines(script, tmp_path):
    path = tmp_path / "metrics.jsonl"
    done = script("""
        import os, threading
        import smtune

        def work(number):
            for step in range(500):
                smtune.report(step=step, who=number, value=step / 7)

        smtune.report(who=-1)
        for number in range(4):
            if os.fork() == 0:
                threads = [threading.Thread(target=work, args=[number * 2 + i])
                           for i in range(2)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                os._exit(0)
        assert [os.wait()[1] for _ in range(4)] == [0] * 4
        """, env={"SMTUNE_METRICS": path})
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for number in range(8):
        assert [line["step"] for line in lines if line["who"] == number] == \
            list(range(500))
    assert len(lines) == 8 * 500 + 1


def test_a_fork_finds_its_own_rank_and_file(script, tmp_path):
    done = script("""
        import os
        import smtune
        smtune.report(a=1)
        if os.fork() == 0:
            os.environ["SMTUNE_METRICS"] = "other.jsonl"
            smtune.report(b=2)
            os._exit(0)
        assert os.wait()[1] == 0
        smtune.report(a=3)
        """, env={"SMTUNE_METRICS": tmp_path / "m.jsonl"})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.jsonl").read_text() == '{"a":1}\n{"a":3}\n'
    assert (tmp_path / "other.jsonl").read_text() == '{"b":2}\n'


def test_nothing_is_called_at_forks_where_no_signal_is_handled(script):
    """Python only prints an interrupt that comes in such a function."""
    done = script("""
        import os
        import threading, random, logging, multiprocessing.util
        calls = []
        os.register_at_fork = lambda **functions: calls.extend(functions)
        import smtune
        assert calls == ["after_in_child"], calls
        """)
    assert done.returncode == 0, done.stderr


# ---- should_stop ----

STOPPING = """
    import os, signal, time
    import smtune
    smtune.should_stop()
    place = smtune.checkpoint_dir() / "epoch"
    epoch = int(place.read_text()) if place.exists() else 0
    while epoch < 1000000 and not smtune.should_stop():
        epoch += 1
        smtune.report(epoch=epoch, loss=1 / epoch)
        if (smtune.checkpoint_dir() / "enough").exists():
            break
        time.sleep(0.01)
    place.write_text(str(epoch))
    """


def test_a_trial_saves_when_it_is_to_stop(smtune, write, experiment):
    write("train.py", STOPPING)
    path = experiment(command="python3 train.py", trials=1, checkpoints=True,
                      objective="{metric: loss, goal: minimize}")
    engine = smtune.start("run", path)
    place = smtune.store / "runs/exp/trials/1/ml/checkpoints"
    wait_until(lambda: smtune("show", "exp", "1", "-o", "json").returncode == 0
               and smtune.json("show", "exp", 1).get("metrics"))
    smtune.ok("stop", "exp")
    engine.wait(60)
    saved = int((place / "epoch").read_text())
    assert saved > 0
    (place / "enough").touch()
    smtune.ok("resume", "exp")
    [metric] = smtune.json("show", "exp", 1)["metrics"]
    assert metric["step"] == saved + 1


def test_the_first_call_handles_signals_once(script):
    done = script("""
        import os, signal
        import smtune
        seen = []
        signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
        assert not smtune.should_stop(signal.SIGUSR2)
        os.kill(os.getpid(), signal.SIGUSR2)
        assert smtune.should_stop(signal.SIGUSR2) and seen == []
        os.kill(os.getpid(), signal.SIGTERM)
        assert seen == [signal.SIGTERM]
        """, env={"SMTUNE_JOB": "1"})
    assert done.returncode == 0, done.stderr


def test_a_pool_of_workers_can_be_terminated(script):
    done = script("""
        import multiprocessing, time
        import smtune

        def work(number):
            time.sleep(1000)

        if __name__ == "__main__":
            smtune.should_stop()
            context = multiprocessing.get_context("fork")
            with context.Pool(2) as pool:
                pool.map_async(work, [1, 2])
            assert not smtune.should_stop()
            print("ended")
        """, env={"SMTUNE_JOB": "1"})
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr


def test_another_thread_installs_nothing(script):
    done = script("""
        import signal, threading
        import smtune
        found = []
        thread = threading.Thread(
            target=lambda: found.append(smtune.should_stop()))
        thread.start()
        thread.join()
        assert found == [False]
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        """, env={"SMTUNE_JOB": "1"})
    assert done.returncode == 0, done.stderr


# ---- speed ----

def test_report_takes_microseconds(metrics):
    def seconds(count=2000):
        start = time.process_time()
        for step in range(count):
            package.report(step=step, loss=0.123456789, accuracy=0.9)
        return (time.process_time() - start) / count
    assert min(seconds() for _ in range(5)) < 20e-6


def test_the_import_takes_milliseconds(script):
    def seconds():
        return float(script("""
            import time
            start = time.process_time()
            import smtune
            smtune.report
            print(time.process_time() - start)
            """).stdout)
    assert min(seconds() for _ in range(3)) < 30e-3


def test_all_names_are_there():
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'reports'"):
        assert package.reports
    assert os.path.exists(os.path.join(os.path.dirname(package.__file__),
                                       "py.typed"))
