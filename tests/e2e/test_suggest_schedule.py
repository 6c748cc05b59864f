# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune suggest --stdio` with a schedule: which trials go on, and how far."""

import pytest

from test_suggest import session  # noqa: F401  a fixture

FILE = """\
    version: 1
    objective: {metric: loss, goal: minimize}
    parameters:
      x: {type: float, min: 0, max: 1}
    search: {method: random, seed: 5}
    schedule: {method: asha, min: 1, max: 27, eta: 3, type: promotion}
    budget: {trials: 27}
    """
HYPERBAND = "schedule={method: hyperband, max: 9}"
STOPPING = "schedule={method: asha, max: 27, type: stopping}"


def loss_at(x, step):
    return (x - 0.4) ** 2 + 1 / step


class Driver:
    """Runs the trials of a session, a few at a time, each one to its budget."""

    def __init__(self, s, sign=1, fails=(), by_tell=False):
        self.s = s
        self.sign = sign
        self.fails = fails  # trials that fail when they have gone on
        self.by_tell = by_tell
        self.used = {}  # by trial
        self.params = {}
        self.given_up = []
        self.told = {}

    def value(self, id, step):
        return self.sign * loss_at(self.params[id]["x"], step)

    def finish(self, id, step):
        value = self.value(id, step)
        answer = self.s("tell", id=id, value=value, budget=step)
        assert answer["ok"] is True
        if "decision" not in answer:
            self.told[id] = value

    def run(self, trial):
        """From where it was to its budget."""
        id, before = trial["id"], self.used.get(trial["id"], 0)
        assert trial["budget"] > before
        assert trial.get("resumed", False) is (before > 0)
        self.params[id] = trial["params"]
        self.used[id] = trial["budget"]
        if before > 0 and id in self.fails:
            assert self.s("tell", id=id, state="failed") == {"ok": True}
            return
        if not self.by_tell:
            for step in range(before + 1, trial["budget"] + 1):
                answer = self.s("observe", id=id, step=step,
                                value=self.value(id, step))
                if answer["decision"] == "pause":
                    assert step == trial["budget"]
                    return
                assert answer == {"decision": "continue"}
        self.finish(id, trial["budget"])

    def run_all(self, parallel=3):
        under_way = []
        while True:
            answer = self.s("ask", n=parallel - len(under_way))
            under_way += answer["trials"]
            self.given_up += answer.get("stopped", [])
            if answer.get("done"):
                assert not under_way
                return self
            assert under_way
            assert len(under_way) == parallel or answer["waiting"]
            self.run(under_way.pop(0))

    def rungs(self):
        counts = {}
        for used in self.used.values():
            counts[used] = counts.get(used, 0) + 1
        return counts


@pytest.mark.sanitized
@pytest.mark.parametrize("by_tell", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_asha_to_the_end(session, sign, by_tell):
    text = FILE if sign > 0 else FILE.replace("minimize", "maximize")
    s = session(text)
    d = Driver(s, sign=sign, by_tell=by_tell).run_all()
    assert sorted(d.used) == list(range(1, 28))
    at = d.rungs()
    assert set(at) == {1, 3, 9, 27}
    assert sum(at.values()) == 27
    # whoever went further did not do so by chance
    errors = {id: abs(p["x"] - 0.4) for id, p in d.params.items()}
    best = min(errors, key=errors.get)
    assert d.used[best] == 27
    assert s("best")["id"] == best
    assert sorted(d.given_up) == \
        sorted(id for id, used in d.used.items() if used < 27)
    assert s("ask") == {"trials": [], "done": True}
    assert "already" in s("tell", id=d.given_up[0], value=0)["error"]


def test_hyperband_to_the_end(session):
    d = Driver(session(FILE, "--set", HYPERBAND,
                       "--set", "budget={trials: 17}"))
    d.run_all()
    # R = 9, eta = 3: 9, 3, 1 from 1 on; 5, 1 from 3 on; 3 at 9
    assert d.rungs() == {1: 6, 3: 6, 9: 5}


def test_trials_that_fail_on_their_way(session):
    s = session(FILE)
    d = Driver(s, fails=range(1, 28, 2)).run_all()
    assert sorted(d.used) == list(range(1, 28))
    assert all(id % 2 == 0 for id in d.told)
    assert s("best")["id"] in d.told


@pytest.mark.parametrize("method", ["tpe", "bayesian", "auto"])
def test_searches_that_learn_from_it(session, method):
    s = session(FILE, "--set", f"search={{method: {method}, seed: 2}}",
                "--set", "budget={trials: 40}")
    d = Driver(s).run_all()
    errors = [abs(d.params[id]["x"] - 0.4) for id in d.told]
    assert min(errors) < 0.01
    notes = [s("why", id=id).get("note", "") for id in range(20, 41)]
    assert any("as of resource" in note for note in notes)


def test_stopping(session):
    s = session(FILE, "--set", STOPPING)
    stopped = 0
    for _ in range(30):
        answer = s("ask")
        if answer.get("done"):
            break
        trial, = answer["trials"]
        assert trial["budget"] == 27
        for step in range(1, 28):
            value = loss_at(trial["params"]["x"], step)
            answer = s("observe", id=trial["id"], step=step, value=value)
            if answer["decision"] == "stop":
                assert answer["reason"]
                assert s("tell", id=trial["id"], state="stopped",
                         value=value) == {"ok": True}
                stopped += 1
                break
        else:
            assert s("tell", id=trial["id"], value=value) == {"ok": True}
    assert answer == {"trials": [], "done": True}
    assert 10 < stopped < 27
    assert s("best")["value"] < 0.1


def test_the_best_value_counts_where_the_file_says_so(session):
    text = FILE.replace("goal: minimize", "goal: minimize, value: best")
    decisions = []
    for text in (FILE, text):
        s = session(text, "--set", "schedule.min=3")
        for trial, values in zip(s.ask(3), ([5, 1, 9], [4, 4, 4], [8, 8, 8])):
            for step, value in enumerate(values, 1):
                s("observe", id=trial["id"], step=step, value=value)
        trial, = s.ask(1)
        decisions.append((trial["id"], trial["budget"], trial["resumed"]))
    assert decisions == [(2, 9, True), (1, 9, True)]


def test_a_wrong_line_changes_nothing(session):
    s = session(FILE)
    ids = [t["id"] for t in s.ask(3)]
    for wrong in ({"step": 0, "value": 1}, {"step": -1, "value": 1},
                  {"step": "1", "value": 1}, {"step": 1}, {"value": 1},
                  {"step": 1, "value": "much"}, {"step": 1, "values": [1, 2]},
                  {"step": 1, "value": 1, "constraints": [0]},
                  {"step": 2 ** 80, "value": 1}):
        assert "error" in s("observe", id=1, **wrong), wrong
    assert "error" in s("tell", id=1, value=1, budget=0)
    assert "error" in s("tell", id=1, value=1, budget="3")
    assert "error" in s("ask", n=1, new=1)
    assert "error" in s("observe", id=4, step=1, value=1)
    for id in ids:
        assert s("observe", id=id, step=1, value=id)["decision"] == "pause"
    for wrong in (s("observe", id=1, step=2, value=1),
                  s("tell", id=1, value=1), s("tell", id=1, state="failed")):
        assert "is paused" in wrong["error"]
    trial, = s.ask()
    assert (trial["id"], trial["budget"], trial["resumed"]) == (1, 3, True)
    assert "was assigned 3" in s("tell", id=1, value=1, budget=2)["error"]
    assert s("tell", id=1, value=1, budget=27) == {"ok": True}  # all at once
    assert s("best")["id"] == 1


def test_what_is_no_number_on_the_way(session):
    s = session(FILE)
    ids = [t["id"] for t in s.ask(4)]
    assert s("observe", id=1, step=1, value=None)["decision"] == "pause"
    assert s("tell", id=2, value="nan") == {"ok": True}  # a failure
    for id in ids[2:]:
        s("observe", id=id, step=1, value=id)
    trial, = s.ask()
    assert (trial["id"], trial["resumed"]) == (3, True)
    assert "already" in s("tell", id=2, value=1)["error"]


def test_no_new_trials(session):
    """A driver whose time is up lets what runs come to its end."""
    s = session(FILE, "--set", "budget={time: 1h}")
    ids = [t["id"] for t in s.ask(4)]
    assert s("ask", n=2, new=False) == {"trials": [], "waiting": True}
    for id in ids:
        s("tell", id=id, value=id)
    seen = []
    while True:
        answer = s("ask", n=1, new=False)
        if answer.get("done"):
            break
        trial, = answer["trials"]
        seen.append((trial["id"], trial["budget"]))
        s("tell", id=trial["id"], value=0)
    assert seen == [(1, 3), (1, 9), (1, 27)]
    assert sorted(answer["stopped"]) == [2, 3, 4]
    assert len(s.ask(1)) == 1


def test_several_objectives(session):
    text = FILE.replace(
        "{metric: loss, goal: minimize}",
        "[{metric: loss}, {metric: speed, goal: maximize}]")
    s = session(text, "--set", "schedule.metric=speed")
    for trial, values in zip(s.ask(3), ([1, 5], [2, 9], [3, 1])):
        assert s("observe", id=trial["id"], step=1,
                 values=values)["decision"] == "pause"
    assert s.ask(1)[0]["id"] == 2
    for trial, speed in zip(s.ask(2), (1, 50)):  # the one that decides
        s("observe", id=trial["id"], step=1, value=speed)
    assert s("tell", id=2, values=[1, 1])["decision"] == "pause"
    trial, = s.ask(1)
    assert (trial["id"], trial["resumed"]) == (5, True)


def test_pbt_begins_clones_where_others_are(session):
    s = session(FILE, "--set",
                "schedule={method: pbt, min: 1, max: 3, population: 4}",
                "--set", "budget={trials: 40}")
    d = Driver(s, by_tell=True)
    clones = {}
    while True:
        answer = s("ask", n=9)
        d.given_up += answer.get("stopped", [])
        if answer.get("done"):
            break
        for trial in answer["trials"]:
            if "parent" in trial:
                clones[trial["id"]] = trial["parent"]
                d.used[trial["id"]] = trial["budget"] - 1
                trial["resumed"] = True
            d.run(trial)
    assert clones and min(clones) > 4 and set(clones.values()) <= set(d.used)
    assert s("why", id=min(clones))["parent"] == clones[min(clones)]
    assert {d.used[id] for id in d.told} == {3}


def test_a_finite_space_that_is_used_up(session):
    d = Driver(session("""\
    version: 1
    objective: {metric: loss}
    parameters: {x: {type: int, min: 1, max: 7}}
    search: {method: grid, points: 7}
    schedule: {method: asha, max: 9, type: promotion}
    """))
    d.run_all()
    assert sorted(d.params[id]["x"] for id in d.used) == list(range(1, 8))
    assert 9 in d.rungs()


def test_without_a_schedule_nothing_of_this_matters(session):
    s = session(FILE.replace("    schedule", "    # schedule"))
    trial, = s.ask()
    assert set(trial) == {"id", "params"}
    assert s("observe", id=1, step=-3, value=1) == {"decision": "continue"}
    assert s("tell", id=1, value=1, budget=-7) == {"ok": True}
