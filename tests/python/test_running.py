# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting runs: run(), its progress, interrupts."""

import json
import signal
import sys

import pytest

import smtune as package
from programs import rest_of
from waiting import wait_until

FILE = {
    "name": "exp",
    "objective": "loss",
    "parameters": {"x": {"type": "float", "min": 0, "max": 1}},
    "search": {"method": "random", "seed": 1},
    "budget": {"trials": 3},
    "trial": {"shell": "echo loss=${{ x }}"},
}


@pytest.mark.quick
def test_a_dict_is_a_file(here, capfd):
    run = package.run(FILE)
    assert (run.name, run.state, len(run.trials)) == ("exp", "succeeded", 3)
    assert run.best.value == min(trial.value for trial in run.trials)
    captured = capfd.readouterr()
    assert captured.out == ""
    # Trials run side by side: they end in any order.
    assert sorted(line.split()[:3] for line in captured.err.splitlines()) == [
        ["trial", str(number), "succeeded"] for number in (1, 2, 3)]


def test_a_file_with_changes(here, experiment, tmp_path, capfd):
    path = experiment("echo loss=${{ x }} k=${{ k }}", trials=5,
                      parameters="{x: {type: float, min: 0, max: 1}, k: 1}")
    run = package.run(path, name="other", store=tmp_path / "store",
                      set={"budget.trials": 2, "parameters.k": "it's 1"},
                      progress=False)
    assert (run.name, len(run.trials)) == ("other", 2)
    assert run.trials[0].params["k"] == "it's 1"
    assert capfd.readouterr().err == ""
    assert (tmp_path / "store/smtune.db").exists()


def test_values_that_json_does_not_have(here, tmp_path):
    numpy = pytest.importorskip("numpy")
    run = package.run({
        **FILE,
        "parameters": {"x": {"type": "ordinal",
                             "values": numpy.array([1, 2, 3])},
                       "k": {"type": "int", "min": numpy.int64(1), "max": 5}},
        "trial": {"shell": FILE["trial"]["shell"], "workdir": tmp_path},
    }, progress=False)
    assert run.best.value in (1, 2, 3)
    with pytest.raises(TypeError, match="cannot be a value in an experiment"):
        package.run({**FILE, "name": object()})
    with pytest.raises(ValueError, match="JSON"):
        package.run({**FILE, "budget": {"trials": float("nan")}})


def test_a_wrong_file_is_an_error_with_all_messages(here):
    with pytest.raises(package.Error) as caught:
        package.run({**FILE, "nme": "x", "budget": {"trials": -1}})
    assert caught.value.status == 3
    assert "unknown key 'nme'" in str(caught.value)
    assert "trials" in str(caught.value)
    with pytest.raises(package.Error, match="No such file") as caught:
        package.run("nowhere.yaml")
    assert caught.value.status == 4


def test_a_run_that_fails_is_an_error_with_the_run(here):
    with pytest.raises(package.RunFailed, match="no trial succeeded") as caught:
        package.run({**FILE, "trial": {"shell": "exit 1"}})
    assert [trial.state for trial in caught.value.run.trials] == ["failed"] * 3


def test_a_target_that_was_not_reached_is_no_error(here):
    run = package.run({**FILE, "budget": {"trials": 2, "target": -1}},
                      progress=False)
    assert run.state == "succeeded"


def test_a_name_that_is_in_use(here):
    package.run(FILE, progress=False)
    with pytest.raises(package.Error, match="duplicate name 'exp'") as caught:
        package.run(FILE, name="exp")
    assert caught.value.status == 5
    for name in ("exp", None):
        run = package.run(FILE, name=name, resume=True, progress=False)
        assert (run.name, len(run.trials)) == ("exp", 3)
    assert len(here.json("ls")) == 1


def test_the_last_run_of_the_file_is_resumed(here):
    for resume in (False, False, True):
        run = package.run(FILE, resume=resume, progress=False)
    assert (run.name, run.state) == ("exp-2", "succeeded")


INTERRUPTED = """
    import sys
    import smtune
    try:
        smtune.run("exp.yaml")
    except KeyboardInterrupt:
        print(smtune.load("exp").state)
        sys.exit(7)
    """


def test_an_interrupt_reaches_the_run(smtune, experiment, write, tmp_path):
    write("script.py", INTERRUPTED)
    experiment("touch ${{ trial }}; while [ ! -e go ]; do sleep 0.01; done;"
               " echo loss=1", trials=100)
    process = smtune.start("script.py", program=sys.executable)
    wait_until((tmp_path / "1").exists)
    process.send_signal(signal.SIGINT)
    line = process.stderr.readline()
    while "Ctrl-C stops them" not in line:
        line = process.stderr.readline()
    (tmp_path / "go").touch()
    out, err = rest_of(process)
    assert (process.returncode, out) == (7, "stopped\n"), err
    assert len(smtune.json("trials", "exp")) < 100


def test_a_terminal_shows_what_smtune_draws(smtune, write):
    write("experiment.yaml", json.dumps({"version": 1, **FILE}))
    write("script.py", """
        import smtune
        print(smtune.run("experiment.yaml").state)
        """)
    status, shown = smtune.on_terminal("script.py", program=sys.executable)
    assert status == 0
    assert "\\x1b[" in repr(shown) and "succeeded" in shown


class Notebook:
    """The output of a cell."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


Notebook.__module__ = "ipykernel.iostream"


def test_a_notebook_shows_one_line(here, monkeypatch):
    cell = Notebook()
    monkeypatch.setattr(sys, "stdout", cell)
    run = package.run(FILE)
    assert run.state == "succeeded"
    assert cell.text.endswith("\n") and cell.text.count("\n") == 1
    assert cell.text.count("\r") == 2
    lines = cell.text.rstrip("\n").split("\r")
    assert all(line.startswith("trial ") for line in lines)
    assert len(lines[-1]) >= len(lines[-2].rstrip())
