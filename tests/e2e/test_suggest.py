# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune suggest --stdio`: the search in the hands of another program."""

import json
import subprocess

import pytest

from sessions import SPACE, Client
from test_replay import METHODS

pytestmark = pytest.mark.sanitized

FILE = SPACE + "search: {seed: 5}\n    "


class Session(Client):
    """A process that is asked line by line, as a driver does it."""

    def __init__(self, smtune, *words):
        self.process = smtune.start("suggest", "--stdio", *words,
                                    stdin=subprocess.PIPE)
        super().__init__(self.process.stdin, self.process.stdout)

    def end(self):
        self.close()
        return self.process.wait(30)


@pytest.fixture
def session(smtune, write):
    """session(text, option...): a started session, ended with the test."""
    started = []

    def start(text=FILE, *words):
        started.append(Session(smtune, write("exp.yaml", text), *words))
        return started[-1]

    yield start
    for s in started:
        assert s.end() == 0


@pytest.mark.quick
def test_a_search_by_another_program(session):
    s = session()
    told = {}
    for _ in range(20):
        for trial in s.ask(3):
            params = trial["params"]
            assert 0 <= params["x"] <= 1
            assert ("y" in params) == (params["k"] == "b")
            loss = (params["x"] - 0.4) ** 2 + params.get("y", 3)
            told[trial["id"]] = (loss, params)
            assert s("observe", id=trial["id"], step=1, value=9) == \
                {"decision": "continue"}
            assert s("tell", id=trial["id"], value=loss) == {"ok": True}
    assert sorted(told) == list(range(1, 61))  # the budget is the driver's
    best = min(told, key=lambda id: told[id][0])
    assert s("best") == {"id": best, "value": told[best][0],
                         "params": told[best][1]}
    assert s("why", id=60)["id"] == 60
    assert s("why", id=60)["method"]


def test_it_asks_what_a_run_tries(smtune, session):
    text = FILE.replace("search: {seed: 5}", """\
search: {method: sobol, seed: 5}
    budget: {trials: 12, parallel: 3}
    trial: {command: echo loss=1}""")
    trials = session(text).ask(12)
    smtune.ok("run", "exp.yaml")
    rows = smtune.json("trials", "exp")
    assert [t["params"] for t in trials] == \
        [{k: v for k, v in row["params"].items() if v is not None}
         for row in rows]


def test_every_line_gets_an_answer_at_once(session):
    s = session()
    for line in ["garbage", "[]", "3", '"ask"', "{", '{"op":3}', "{}",
                 '{"op":"asc"}', '{"op":"ask","n":0}', '{"op":"ask","n":1e3}',
                 '{"op":"ask","n":999999999}', '{"op":"best"}',
                 '{"op":"tell"}', '{"op":"tell","id":"1"}',
                 '{"op":"tell","id":1,"value":1}', '{"op":"why","id":-4}',
                 '{"op":"ask","op":"ask"}', "[" * 100000, "\xff\x00\x01"]:
        s.send(line)
        answer = s.receive()
        assert list(answer) == ["error"] and answer["error"], line[:50]
    s.send("")
    s.send("  \t\r")
    assert s.ask()[0]["id"] == 1  # blank lines are nothing
    assert s("asc")["error"] == "unknown op 'asc' (did you mean 'ask'?)"


def test_a_result_comes_once_and_whole(session):
    s = session()
    s.ask(2)
    assert "error" in s("tell", id=3, value=1)
    assert "error" in s("tell", id=1)
    assert "error" in s("tell", id=1, value="much")
    assert "error" in s("tell", id=1, value=1, state="wel")
    assert "error" in s("tell", id=1, values=[1, 2])
    assert "error" in s("observe", id=1, step="a", value=1)
    assert s("tell", id=1, values=[1]) == {"ok": True}
    assert "already" in s("tell", id=1, value=0)["error"]
    assert "already" in s("observe", id=1, step=1, value=0)["error"]
    assert s("best")["value"] == 1


def test_what_is_no_number_is_a_failure(session):
    s = session()
    assert "error" in s("best")
    bad = [None, "nan", "NaN", "inf", "-Infinity", float("nan"),
           float("inf"), float("-inf")]
    for trial, value in zip(s.ask(len(bad)), bad):
        assert s("tell", id=trial["id"], value=value) == {"ok": True}
    for state in ("failed", "stopped", "cancelled"):
        assert s("tell", id=s.ask()[0]["id"], state=state) == {"ok": True}
    assert "error" in s("best")
    s.send('{"op":"tell","id":%d,"value":1e300,"note":"NaN"}'
           % s.ask()[0]["id"])
    assert s.receive() == {"ok": True}
    assert s("best")["value"] == 1e300


def test_maximize_and_several_objectives(session):
    s = session(FILE.replace("minimize", "maximize"))
    for trial, value in zip(s.ask(3), (0.5, 0.75, -2)):
        s("tell", id=trial["id"], value=value)
    assert (s("best")["id"], s("best")["value"]) == (2, 0.75)
    s = session(FILE.replace(
        "{metric: loss, goal: minimize}",
        "[{metric: loss}, {metric: speed, goal: maximize}]"))
    for trial, values in zip(s.ask(4), ([1, 1], [2, 3], [2, 2], [0, 0])):
        assert s("tell", id=trial["id"], values=values) == {"ok": True}
    assert [(t["id"], t["values"]) for t in s("best")["front"]] == \
        [(1, [1, 1]), (2, [2, 3]), (4, [0, 0])]


def test_the_end_of_a_grid(session):
    s = session(FILE, "--set", "search={method: grid, points: 2}")
    answer = s("ask", n=100)
    assert answer["exhausted"] is True
    assert len(answer["trials"]) == 2 * (1 + 9)  # an int has all values
    assert s("ask") == {"trials": [], "exhausted": True}


def test_long_lines(session):
    s = session()
    s.send('{"op":"ask","x":"' + "y" * (1 << 20) + '"}')
    assert "1048576" in s.receive()["error"]
    assert s.ask()[0]["id"] == 1


def test_input_that_comes_in_pieces_or_all_at_once(smtune, session):
    s = session()
    lines = "".join('{"op":"ask"}\n{"op":"tell","id":%d,"value":%d}\n'
                    % (i, 2000 - i) for i in range(1, 2001))
    out = smtune.ok("suggest", "--stdio", "exp.yaml", "--set", "search=random",
                    input=lines + '{"op":"best"}').splitlines()
    assert len(out) == 4001
    assert json.loads(out[-1])["id"] == 2000
    for c in '{"op":"ask"}':
        s.process.stdin.write(c)
        s.process.stdin.flush()
    s.send("")
    assert s.receive()["trials"][0]["id"] == 1


def test_wrong_use(smtune, write):
    path = write("exp.yaml", FILE)
    assert smtune("suggest", path).returncode == 2
    assert smtune("suggest", "--stdio", "-").returncode == 2
    assert smtune("suggest", "--stdio", "none.yaml").returncode == 4
    bad = smtune("suggest", "--stdio",
                 write("bad.yaml", FILE.replace("max: 1}", "max: 0}")))
    assert bad.returncode == 3
    assert "bad.yaml:4:" in bad.stderr
    assert not smtune.store.exists()


def test_a_reader_that_goes_away(smtune, write):
    path = write("exp.yaml", FILE)
    process = smtune.start("suggest", "--stdio", path, stdin=subprocess.PIPE)
    process.stdout.close()
    process.stdin.write('{"op":"ask"}\n')
    process.stdin.flush()
    assert process.wait(30) == 141


def test_constraints_on_metrics(session):
    s = session(FILE + "outcomes: [{metric: ms, min: 1, max: 5}, size]\n")
    first, second, third, fourth = (t["id"] for t in s.ask(4))
    assert "3 numbers" in s("tell", id=first, value=1,
                            constraints=[0])["error"]
    assert "constraints" in s("tell", id=first, value=1)["error"]
    assert s("tell", id=first, value=1, constraints=[-4, 0.5, 0]) == \
        {"ok": True}
    assert "satisfied the constraints" in s("best")["error"]
    assert s("tell", id=second, value=2, constraints=[0, 0, None]) == \
        {"ok": True}
    assert "error" in s("best")
    s("tell", id=third, value=3, constraints=[-1, -2, -3])
    assert s("best")["id"] == third
    assert s("tell", id=fourth, state="failed") == {"ok": True}


def test_constraints_that_are_not_there(session):
    s = session()
    answer = s("tell", id=s.ask()[0]["id"], value=1, constraints=[0])
    assert "no constraints" in answer["error"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_lent(session, method):
    s = session(FILE, "--set", f"search={{method: {method}, points: 9}}")
    waiting = []
    for i in range(1, 41):
        waiting += s.ask()
        if len(waiting) == 5:
            trial = waiting.pop(i % 3)
            value = None if i % 7 == 0 else trial["params"]["x"]
            assert s("tell", id=trial["id"], value=value) == {"ok": True}
    assert 0 <= s("best")["value"] <= 1
    why = s("why", id=40)
    assert why["method"]
    if method in ("tpe", "bayesian"):
        assert why["known"] > 25 and why["unfinished"] == 4 and why["step"]
