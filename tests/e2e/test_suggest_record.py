# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask and tell with a run in the record: kept, continued, shown and proved."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from unittest.mock import ANY

import pytest

from sessions import SPACE, Client, Connected, serve
from waiting import wait_until

FILE = SPACE + "search: {method: tpe, seed: 5}\n    "
BOUNDED = FILE + "budget: {trials: 12}\n    "
SCHEDULED = """\
    version: 1
    objective: {metric: loss, goal: minimize}
    parameters:
      x: {type: float, min: 0, max: 1}
    search: {method: random, seed: 2}
    schedule: {method: asha, min: 1, max: 9, eta: 3}
    budget: {trials: 9}
    """


class Session(Client):
    def __init__(self, smtune, *words):
        self.process = smtune.start("suggest", "--stdio", "--record", "r",
                                    *words, stdin=subprocess.PIPE)
        super().__init__(self.process.stdin, self.process.stdout)

    def end(self):
        self.close()
        assert self.process.wait(30) == 0, self.process.stderr.read()


@pytest.fixture
def session(smtune, write):
    """session(text, word...): a session of the run r."""
    def start(text=FILE, *words):
        return Session(smtune, write("exp.yaml", text), *words)
    return start


def loss(params):
    return (params["x"] - 0.4) ** 2 + params.get("y", 3)


def check(smtune, run="r"):
    """The record holds together, and all that was chosen follows from it."""
    smtune.ok("fsck")
    answer = smtune.json("replay", run)
    assert answer["difference"] is None, answer
    assert answer["proved"] == answer["trials"]


def state(smtune):
    [row] = smtune.json("ls")
    return row["state"]


@pytest.mark.sanitized
@pytest.mark.quick
def test_a_session_is_a_run(smtune, session):
    s = session()
    told = {}
    for number in range(1, 16):
        [trial] = s.ask()
        assert trial["id"] == number
        s("observe", id=number, step=1, value=9)
        if number == 4:
            assert s("tell", id=number, state="failed") == {"ok": True}
        elif number == 5:
            assert s("tell", id=number, value=None) == {"ok": True}
        elif number == 6:
            assert s("tell", id=number, state="stopped", value=7) == \
                {"ok": True}
        elif number == 7:
            assert s("tell", id=number, state="cancelled") == {"ok": True}
        else:
            told[number] = loss(trial["params"])
            assert s("tell", id=number, value=told[number]) == {"ok": True}
    assert state(smtune) == "running"
    best = min(told, key=told.get)
    assert s("best")["id"] == best
    s.end()
    rows = smtune.json("trials", "r")
    assert {row["id"]: row["value"] for row in rows
            if row["state"] == "succeeded"} == told
    assert [row["state"] for row in rows[3:7]] == \
        ["failed", "failed", "stopped", "cancelled"]
    assert smtune.json("best", "r")["id"] == best
    assert state(smtune) == "stopped"
    check(smtune)
    for words in (["show", "r"], ["why", "r", "9"], ["status", "r"],
                  ["export", "r"], ["show", "r", "--file"]):
        assert smtune.ok(*words)


def test_a_session_continues(smtune, session):
    s = session()
    first = s.ask(3)
    s("tell", id=2, value=1.5)
    s.end()
    assert [row["state"] for row in smtune.json("trials", "r")] == \
        ["ready", "succeeded", "ready"]
    s = session()
    assert s("best")["id"] == 2
    assert s("tell", id=2, value=1)["error"] == \
        "trial 2 already has a result"
    assert s("why", id=3)["id"] == 3
    again = s.ask(3)
    assert [t["id"] for t in again] == [1, 3, 4]
    assert again[:2] == [first[0], first[2]]
    for trial in again:
        s("tell", id=trial["id"], value=loss(trial["params"]))
    s.end()
    check(smtune)
    assert len(smtune.json("trials", "r")) == 4


def test_a_session_continues_without_a_file(smtune, session):
    session().end()
    s = Session(smtune)
    assert s.ask()[0]["id"] == 1
    s.end()


def test_another_file_is_another_run(smtune, session, experiment):
    session().end()
    s = session(FILE.replace("seed: 5", "seed: 6"))
    assert s.process.wait(30) == 2
    assert "is not the file of run 'r'" in s.process.stderr.read()
    smtune.ok("run", experiment("echo loss=1", trials=1), "--name", "q")
    result = smtune("suggest", "--stdio", "--record", "q")
    assert result.returncode == 2
    assert "run 'q' starts its trials itself" in result.stderr
    result = smtune("resume", "r")
    assert result.returncode == 2
    assert "smtune suggest --stdio --record r" in result.stderr


def test_the_budget_ends_the_run(smtune, session):
    s = session(BOUNDED)
    trials = s.ask(20)
    assert len(trials) == 12
    assert s("ask") == {"trials": [], "waiting": True}
    for trial in trials:
        s("tell", id=trial["id"], value=loss(trial["params"]))
    assert s("ask") == {"trials": [], "done": True,
                        "reason": "trial budget used up (12 of 12)"}
    s.end()
    assert state(smtune) == "succeeded"
    check(smtune)
    s = session(BOUNDED, "--trials", "14")
    assert [t["id"] for t in s.ask(20)] == [13, 14]
    s.end()
    assert state(smtune) == "stopped"
    check(smtune)


def test_a_target_ends_the_run(smtune, session):
    s = session(BOUNDED.replace("12", "12, target: 0.5"))
    s.ask(3)
    s("tell", id=1, value=2)
    s("tell", id=2, value=0.25)
    assert s("ask")["done"]
    s.end()
    assert state(smtune) == "succeeded"
    assert smtune.states("r") == ["succeeded", "succeeded", "stopped"]
    check(smtune)


def test_results_of_other_settings_are_taken(smtune, session):
    s = session()
    s.ask()
    assert s("tell", params={"x": 0.25, "k": "a"}, value=0.5) == \
        {"ok": True, "id": 2}
    assert s("tell", params={"x": 0.5, "k": "b", "y": 4}, state="failed") == \
        {"ok": True, "id": 3}
    for params in ({"x": 0.25}, {"x": 2, "k": "a"}, {"x": 0.25, "k": "c"},
                   {"z": 1}, {"x": 0.25, "k": "a", "y": 4}, {}, 3):
        answer = s("tell", params=params, value=1)
        assert list(answer) == ["error"], params
    assert s("best") == {"id": 2, "value": 0.5,
                         "params": {"x": 0.25, "k": "a"}}
    assert s.ask()[0]["id"] == 4
    s.end()
    rows = smtune.json("trials", "r")
    assert rows[1]["params"] == {"x": 0.25, "k": "a", "y": None}
    assert smtune.states("r") == ["ready", "succeeded", "failed", "ready"]
    check(smtune)


def test_a_schedule_is_proved(smtune, session):
    s = session(SCHEDULED)
    reached = {}
    for turn in range(60):
        answer = s("ask", n=2)
        if answer.get("done"):
            break
        for trial in answer["trials"]:
            id, budget = trial["id"], trial["budget"]
            reached[id] = budget
            if turn == 3:  # the session is continued in the middle
                s.end()
                s = session(SCHEDULED)
                [trial] = s.ask()
                id, budget = trial["id"], trial["budget"]
            s("tell", id=id, value=trial["params"]["x"] / budget)
    assert s("ask")["done"]
    s.end()
    assert max(reached.values()) == 9
    assert set(smtune.states("r")) == {"succeeded", "stopped"}
    assert state(smtune) == "succeeded"
    check(smtune)


def test_a_schedule_stops_trials(smtune, session):
    s = session(SCHEDULED.replace("eta: 3", "eta: 3, type: stopping"))
    decisions = set()
    while not (answer := s("ask")).get("done"):
        [trial] = answer["trials"]
        value = trial["id"]  # each is worse than those before it
        for step in range(1, 10):
            decision = s("observe", id=trial["id"], step=step,
                         value=value)["decision"]
            decisions.add(decision)
            if decision != "continue":
                break
        s("tell", id=trial["id"], value=value,
          **({"state": "stopped"} if decision == "stop" else {}))
    assert decisions == {"continue", "stop"}
    s.end()
    assert set(smtune.states("r")) == {"succeeded", "stopped"}
    check(smtune)


def test_constraints_are_kept(smtune, session):
    s = session(FILE + "outcomes: [{metric: ms, max: 20}, "
                       "{metric: mb, min: 1, max: 2}]\n")
    s.ask(3)
    s("tell", id=1, value=1, constraints=[-5, -0.5, -0.5])
    s("tell", id=2, value=0.5, constraints=[5, -1, 0])
    s("tell", id=3, value=0.25, constraints=[-1, 0.5, -1.5])
    assert s("best")["id"] == 1
    s.end()
    rows = smtune.json("trials", "r")
    assert [row["feasible"] for row in rows] == [True, False, False]
    assert [row["outcomes"] for row in rows] == [
        {"ms": 15, "mb": 1.5}, {"ms": 25, "mb": 2}, {"ms": 19, "mb": 0.5}]
    check(smtune)


def test_a_signal_ends_the_session_well(smtune, session):
    s = session()
    s.ask(2)
    s.process.send_signal(signal.SIGTERM)
    assert s.process.wait(30) == 0
    assert state(smtune) == "stopped"
    assert smtune.states("r") == ["ready", "ready"]
    check(smtune)


def test_a_session_is_stopped_by_the_command(smtune, session):
    s = session()
    s.ask(2)
    result = smtune("stop", "r")
    assert result.returncode == 0
    assert "smtune suggest --stdio --record r" in result.stderr
    assert s.process.wait(30) == 0
    assert smtune.states("r") == ["ready", "ready"]
    s = session()
    s.ask(2)
    s.process.kill()
    s.process.wait()
    assert "To resume it: smtune suggest --stdio --record r" in \
        smtune("show", "r").stderr
    result = smtune("stop", "r")
    assert result.returncode == 0
    assert "smtune suggest --stdio --record r" in result.stderr
    assert state(smtune) == "stopped"
    assert smtune.states("r") == ["ready", "ready"]
    check(smtune)


def test_commands_change_a_run_with_a_session(smtune, session):
    s = session(BOUNDED)
    s.ask()
    smtune.ok("enqueue", "r", "x=0.125", "k=a")
    [trial] = s.ask()
    assert trial == {"id": 2, "params": {"x": 0.125, "k": "a"}}
    result = smtune("stop", "r", "--job", "1")
    assert result.returncode == 5
    assert "other programs run its trials now" in result.stderr
    s.end()
    smtune.ok("stop", "r", "--job", "1")
    smtune.ok("enqueue", "r", "x=0.375", "k=a")
    s = session(BOUNDED)
    wait_until(lambda: smtune.states("r") == ["cancelled", "ready"])
    assert s("tell", id=1, value=0)["error"] == "trial 1 already has a result"
    assert [t["id"] for t in s.ask(2)] == [2, 3]
    s("tell", id=3, value=0.5)
    assert s("best")["params"] == {"x": 0.375, "k": "a"}
    s.end()
    for words in (["retry", "r", "3", "--force"], ["edit", "r"]):
        result = smtune(*words)
        assert result.returncode == 2
        assert "smtune suggest --stdio --record r" in result.stderr
        assert "errors" not in result.stderr
    check(smtune)


def test_a_result_of_its_own_needs_room_in_the_budget(smtune, session):
    s = session(BOUNDED.replace("12", "3"))
    s.ask()
    smtune.ok("enqueue", "r", "x=0.125", "k=a")
    own = {"params": {"x": 0.25, "k": "a"}, "value": 0.5}
    assert s("tell", **own) == {"ok": True, "id": 3}
    assert "budget is used up" in s("tell", **own)["error"]
    s.end()
    assert smtune.states("r") == ["ready", "ready", "succeeded"]
    check(smtune)


@pytest.mark.quick
def test_no_result_is_lost_and_none_is_doubled(smtune, session):
    """Kills at any time: what was acknowledged is in the record, once."""
    told = {}
    for kill_at in (1, 2, 5, 8, 12, 3):
        s = session()
        requests = 0
        while True:
            answer = s("ask", n=2)
            sent = [(t["id"], t["params"]["x"]) for t in answer["trials"]]
            for id, value in sent:
                s.send(json.dumps({"op": "tell", "id": id, "value": value}))
            requests += 1
            if requests == kill_at:
                break
            for id, value in sent:
                assert s.receive() == {"ok": True}
                assert told.setdefault(id, value) == value
        s.process.kill()  # after some of these answers, or none
        for id, value in sent:
            if s.receive() == {"ok": True}:
                assert told.setdefault(id, value) == value
        s.process.wait()
    session().end()
    rows = {row["id"]: row["value"] for row in smtune.json("trials", "r")
            if row["state"] == "succeeded"}
    assert told.items() <= rows.items()
    assert len(rows) <= len(told) + 12  # answers that a kill overtook
    check(smtune)


@pytest.mark.quick
def test_several_clients_share_a_search(smtune, write, tmp_path):
    path = tmp_path / "s"
    file = write("exp.yaml", FILE)
    server = serve(smtune, file, "--record", "r", path=path)
    a, b = Connected(path), Connected(path)
    [first], [second] = a.ask(), b.ask()
    assert (first["id"], second["id"]) == (1, 2)
    assert b("tell", id=1, value=0)["error"] == \
        "another client runs trial 1, until it disconnects"
    a.close()
    wait_until(lambda: smtune.states("r")[0] == "ready")
    [again] = b.ask()
    assert again == first
    assert b("tell", id=1, value=0.5) == {"ok": True}
    server.kill()
    server.wait()
    b.close()
    server = serve(smtune, "--record", "r", path=path)
    c = Connected(path)
    assert c("tell", id=2, value=0.75) == {"ok": True}  # nobody runs it
    assert c("best")["id"] == 1
    taken = smtune("serve-search", file, "--socket", path, "--record", "q")
    assert taken.returncode == 5, taken.stderr
    assert "another process listens on" in taken.stderr
    c.close()
    server.terminate()
    assert server.wait(30) == 0
    assert not os.path.exists(path)
    assert smtune.states("r") == ["succeeded", "succeeded"]
    check(smtune)


def test_a_client_sends_what_it_likes(smtune, write, tmp_path):
    """Long lines, half lines and no end of requests harm nobody else."""
    path = tmp_path / "s"
    server = serve(smtune, write("exp.yaml", FILE), "--record", "r", path=path)
    rude, other = Connected(path), Connected(path)
    rude.send("x" * (2 << 20))
    assert rude.receive() == {
        "error": "line too long: more than 1048576 bytes"}
    rude.send("[" * 100000)
    assert "error" in rude.receive()
    rude.send('{"op":"ask","n":10001}')
    assert "out of range" in rude.receive()["error"]
    [trial] = rude.ask()
    rude.out.write('{"op":"tell","id":1,"value":0.')  # it dies meanwhile
    rude.close()
    wait_until(lambda: smtune.states("r") == ["ready"])
    deaf = Connected(path)
    deaf.socket.settimeout(0.1)
    with pytest.raises(OSError):  # it takes no answers, so nothing is read
        deaf.socket.sendall(b'{"op":"best"}\n' * 1_000_000)
    assert other.ask() == [trial]
    half = Connected(path)
    half.send('{"op":"ask"}\n{"op":"best"}')
    half.socket.shutdown(socket.SHUT_WR)
    assert [half.receive(), half.receive(), half.receive()] == [
        {"trials": [{"id": 2, "params": ANY}]},
        {"error": "no trial has succeeded yet"}, None]
    wait_until(lambda: smtune.states("r") == ["running", "ready"])
    server.terminate()
    assert server.wait(30) == 0
    check(smtune)


class Crowd:
    """Clients in threads, which go on with another server after each kill."""

    def __init__(self, path, wanted):
        self.path, self.wanted = path, wanted
        self.told = {}  # what was acknowledged
        self.wrong = []
        self.lock = threading.Lock()

    def is_over(self):
        return len(self.told) >= self.wanted or bool(self.wrong)

    def work(self):
        while not self.is_over():
            try:
                client = Connected(self.path)
            except OSError:
                time.sleep(0.01)  # a server begins: nothing tells when
                continue
            with contextlib.suppress(OSError, TypeError):  # it was killed
                while not self.is_over():
                    self.tell_one(client)
            client.socket.close()

    def tell_one(self, client):
        [trial] = client.ask()
        id, value = trial["id"], trial["params"]["x"]
        answer = client("tell", id=id, value=value)
        with self.lock:
            if answer == {"ok": True}:
                if self.told.setdefault(id, value) != value:
                    self.wrong.append((id, value, self.told[id]))
            elif answer is not None:
                self.wrong.append(answer)


@pytest.mark.parametrize("wanted, kills", [(150, 4), (10000, 40)])
def test_eight_clients_and_kills_lose_nothing(smtune, write, tmp_path, wanted,
                                              kills):
    path = tmp_path / "s"
    words = [write("exp.yaml", FILE.replace("tpe", "random")), "--record", "r"]
    crowd = Crowd(path, wanted)
    server = serve(smtune, *words, path=path)
    threads = [threading.Thread(target=crowd.work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for kill in range(kills):
        due = wanted * (kill + 1) // (kills + 1)
        wait_until(lambda: len(crowd.told) >= due or crowd.wrong, 300,
                   longest_pause=0.001)
        server.kill()
        server.wait()
        server = serve(smtune, *words, path=path)
    for thread in threads:
        thread.join()
    server.terminate()
    assert server.wait(30) == 0
    assert not crowd.wrong
    rows = {row["id"]: row["value"] for row in smtune.json("trials", "r")
            if row["state"] == "succeeded"}
    assert crowd.told.items() <= rows.items()
    assert len(rows) <= len(crowd.told) + 8 * (kills + 1)
    check(smtune)
