# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune-shim as a pilot: the agent of an allocation, spoken to by files."""

import json
import re
import subprocess

import pytest

from programs import wait_until

pytestmark = pytest.mark.sanitized

NODE = {"SLURMD_NODENAME": "n2", "SLURM_JOB_ID": "99"}
HOLD = "echo on; while [ ! -e done ]; do sleep 0.1; done"


class Engine:
    """One that speaks to the pilot, and writes down what that says."""

    def __init__(self, pilot, number):
        self.pilot, self.number = pilot, number
        self.heard = pilot.directory.with_name(f"heard.{number}")
        with open(self.heard, "w") as heard:
            self.process = pilot.smtune.start(
                "pilot", pilot.directory, number, program="tests/e2e/speak",
                stdin=subprocess.PIPE, stdout=heard)

    def say(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def start(self, number, command, cpus=1, gpus=0, time=0, grace=10000,
              memory=0):
        """The command, of a shell, is a file of the attempt's folder."""
        folder = self.pilot.folder(number)
        (folder / "command").write_text(command)
        self.say("start", number, folder, cpus, gpus, memory, time, grace,
                 "sh", "command")
        return folder

    def said(self):
        return self.heard.read_text().split("\n")[:-1]

    def ends(self):
        return {int(words[1]): words[2:] for words in map(str.split, self.said())
                if words[0] == "ended"}

    def await_word(self, pattern):
        wait_until(lambda: any(re.fullmatch(pattern, line)
                               for line in self.said()),
                   what=f"'{pattern}' in {self.said()}")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Pilot:
    def __init__(self, smtune, directory):
        self.smtune, self.directory = smtune, directory
        directory.mkdir()
        self.process = None
        self.engines = []

    def start(self, *options, env=None):
        self.process = self.again(*options, env=env)
        return self

    def again(self, *options, env=None):
        return self.smtune.start(
            "--pilot", self.directory, "--heartbeat", 20, "--silence", 600,
            *options, program="smtune-shim", env={**NODE, **(env or {})})

    def folder(self, number):
        folder = self.directory.with_name(f"a {number}")
        folder.mkdir(exist_ok=True)
        return folder

    def engine(self, number=1):
        engine = self.silent_engine(number)
        engine.await_word("ready .*")
        return engine

    def silent_engine(self, number):
        self.engines.append(Engine(self, number))
        return self.engines[-1]

    def await_end(self):
        assert self.process.wait(30) == 0, self.process.stderr.read()


@pytest.fixture
def pilot(smtune, tmp_path):
    pilot = Pilot(smtune, tmp_path / "smt-p 1")
    yield pilot
    for engine in pilot.engines:
        engine.kill()


def is_on(folder):
    log = folder / "log"
    return log.exists() and "on\n" in log.read_text()


def exit_of(folder):
    return json.loads((folder / "exit").read_text())


def test_it_runs_what_it_is_given(pilot):
    engine = pilot.start("--cpus", 2).engine()
    assert engine.said()[0] == "ready 2 0 n2"
    folders = [engine.start(n, f"echo $SM_X; exit {n % 2}")
               for n in range(1, 101)]
    wait_until(lambda: len(engine.ends()) == 100, what="100 ends")
    engine.say("drain")
    pilot.await_end()
    assert all(engine.ends()[n] == [("ok", "exit")[n % 2], "0"]
               for n in range(1, 101))
    assert {folder.joinpath("log").read_text() for folder in folders} == {
        "1\n"}
    end = exit_of(folders[0])
    assert end["attempt"] == 1 and end["node"] == "n2"
    claim = json.loads((folders[0] / "claim").read_text())
    assert claim["is_in_pilot"] == 1 and claim["node"] == "n2"
    assert claim["job"] == 99
    assert not (folders[0] / "pulse").exists()
    assert (pilot.directory / "pulse").exists()
    assert json.loads((pilot.directory / "claim").read_text())["pid"] == \
        pilot.process.pid


def test_it_packs_by_cpus(pilot):
    engine = pilot.start("--cpus", 3).engine()
    two, one, last = (engine.start(n + 1, HOLD, cpus=cpus)
                      for n, cpus in enumerate((2, 0, 1)))
    wait_until(lambda: is_on(two) and is_on(one), what="the first two")
    assert not (last / "claim").exists()
    (one / "done").touch()
    wait_until(lambda: is_on(last), what="the third")
    engine.await_word("ended 2 ok 0")
    (two / "done").touch()
    (last / "done").touch()
    engine.say("drain")
    pilot.await_end()


def test_it_shares_out_the_gpus_that_it_has(pilot):
    engine = pilot.start("--cpus", 8, "--gpus", 3, env={
        "CUDA_VISIBLE_DEVICES": "2,5,7"}).engine()
    folders = [engine.start(n + 1, "echo \"<$CUDA_VISIBLE_DEVICES>\"; " + HOLD,
                            gpus=gpus) for n, gpus in enumerate((1, 2, 0, 1))]
    wait_until(lambda: all(map(is_on, folders[:3])), what="three")
    assert not (folders[3] / "claim").exists()
    (folders[1] / "done").touch()
    wait_until(lambda: is_on(folders[3]), what="the fourth")
    first = [folder.joinpath("log").read_text().split("\n")[0]
             for folder in folders]
    assert first == ["<2>", "<5,7>", "<>", "<5>"]
    pilot.process.terminate()
    pilot.await_end()


def test_it_packs_by_memory(pilot):
    engine = pilot.start("--cpus", 8, "--memory", 100 << 20).engine()
    folders = [engine.start(n + 1, HOLD, memory=memory << 20)
               for n, memory in enumerate((60, 40, 30))]
    wait_until(lambda: all(map(is_on, folders[:2])), what="two")
    assert not (folders[2] / "claim").exists()
    (folders[1] / "done").touch()
    wait_until(lambda: is_on(folders[2]), what="the third")
    pilot.process.terminate()
    pilot.await_end()


def test_what_waits_and_what_runs_is_cancelled(pilot):
    engine = pilot.start("--cpus", 1).engine()
    running = engine.start(1, HOLD)
    waiting = engine.start(2, HOLD)
    wait_until(lambda: is_on(running), what="the first")
    engine.say("cancel", 2, "term")
    engine.await_word("ended 2 cancelled 0")
    engine.say("cancel", 1, "kill")
    engine.await_word("ended 1 cancelled 0")
    assert not (waiting / "claim").exists()
    engine.say("drain")
    pilot.await_end()


def test_what_was_given_before_the_drain_still_runs(pilot):
    engine = pilot.start("--cpus", 1).engine()
    first, second = engine.start(1, HOLD), engine.start(2, "echo on")
    engine.say("drain")
    wait_until(lambda: is_on(first), what="the first")
    (first / "done").touch()
    pilot.await_end()
    assert exit_of(second)["cause"] == "ok"


def test_without_work_it_ends(pilot):
    engine = pilot.start("--cpus", 1, "--idle", 1500).engine()
    folder = engine.start(1, HOLD)
    wait_until(lambda: is_on(folder), what="the first")
    with pytest.raises(subprocess.TimeoutExpired):
        pilot.process.wait(2)
    (folder / "done").touch()
    pilot.await_end()
    engine.await_word("drain")
    assert engine.ends() == {1: ["ok", "0"]}
    assert engine.said()[-1] == "drain"


def test_sigterm_ends_what_runs(pilot):
    """Who sent it, Slurm knows: until then it is cancelled."""
    engine = pilot.start("--cpus", 2).engine()
    saves = engine.start(1, "trap 'echo saved; exit 0' TERM; " + HOLD)
    deaf = engine.start(2, "trap '' TERM; " + HOLD, grace=100)
    never = engine.start(3, HOLD)
    wait_until(lambda: is_on(saves) and is_on(deaf), what="both")
    pilot.process.terminate()
    pilot.await_end()
    for folder, said in ((saves, [0, 0]), (deaf, [-1, 9])):
        end = exit_of(folder)
        assert end["cause"] == "cancelled" and end["is_displaced"] == 0
        assert [end["exit_code"], end["signal"]] == said
        assert "stopped the allocation" in end["text"]
    assert "saved\n" in (saves / "log").read_text()
    assert not (never / "claim").exists()
    wait_until(lambda: engine.ends() == {1: ["cancelled", "0"],
                                         2: ["cancelled", "0"]}, what="ends")
    assert "drain" in engine.said()


def test_before_its_time_is_over_it_displaces_what_runs(pilot):
    engine = pilot.start("--cpus", 1, "--left", 1500).engine()
    folder = engine.start(1, "trap '' TERM; " + HOLD, grace=400)
    wait_until(lambda: is_on(folder), what="the attempt")
    pilot.await_end()
    end = exit_of(folder)
    assert end["cause"] == "preempted" and end["is_displaced"] == 1
    assert end["signal"] == 9
    assert "time limit of its pilot reached" in end["text"]
    assert end["ended_ms"] - end["started_ms"] < 1500


def test_after_a_drain_of_its_own_nothing_begins(pilot):
    engine = pilot.start("--cpus", 2).engine()
    slow = engine.start(1, "trap 'sleep 0.3; exit 0' TERM; " + HOLD)
    wait_until(lambda: is_on(slow), what="the first")
    pilot.process.terminate()
    engine.await_word("drain")
    late = engine.start(2, "echo on")
    pilot.await_end()
    assert not (late / "claim").exists()


def test_the_next_engine_takes_it_over(pilot):
    first = pilot.start("--cpus", 1).engine(1)
    runs = first.start(1, HOLD)
    waits = first.start(2, "echo on")
    first.await_word("started 1 .*")
    first.kill()
    second = pilot.engine(2)
    pid = json.loads((runs / "claim").read_text())["pid"]
    assert second.said()[:2] == ["ready 1 0 n2", f"started 1 {pid}"]
    new = second.start(3, "echo on")
    (runs / "done").touch()
    second.await_word("ended 3 ok 0")
    assert second.ends()[1] == ["ok", "0"]
    assert is_on(new) and not (waits / "claim").exists()
    second.say("drain")
    pilot.await_end()


def test_it_finds_the_last_of_many_engines(pilot):
    engines = [pilot.silent_engine(number) for number in (1, 2, 3)]
    wait_until(lambda: (pilot.directory / "inbox.3").exists(), what="inbox.3")
    for engine in engines[:2]:
        engine.start(engine.number, "echo on")
        engine.kill()
    pilot.start("--cpus", 1)
    engines[2].await_word("ready .*")
    engines[2].start(3, "echo on")
    engines[2].await_word("ended 3 ok 0")
    assert not (pilot.directory / "outbox.1").exists()
    engines[2].say("drain")
    pilot.await_end()


def test_alone_it_goes_on_and_ends_when_nothing_is_left(pilot, tmp_path):
    life = tmp_path / "engine"
    life.mkdir()
    (life / "pulse").touch()
    engine = pilot.start("--cpus", 1, "--engine", life,
                         "--idle", 60000).engine()
    runs, waits = engine.start(1, HOLD), engine.start(2, "echo on")
    wait_until(lambda: is_on(runs), what="the first")
    engine.kill()
    with pytest.raises(subprocess.TimeoutExpired):
        pilot.process.wait(2)
    (runs / "done").touch()
    pilot.await_end()
    assert is_on(waits) and exit_of(runs)["cause"] == "ok"


def test_a_second_start_of_it_ends_at_once(pilot):
    engine = pilot.start("--cpus", 1).engine()
    again = pilot.again("--cpus", 1)
    assert again.wait(30) == 0
    assert again.stderr.read() == ""
    engine.say("drain")
    pilot.await_end()


def test_a_revoked_one_kills_what_it_runs(pilot):
    engine = pilot.start("--cpus", 2).engine()
    folders = [engine.start(n, "trap '' TERM; " + HOLD) for n in (1, 2)]
    wait_until(lambda: all(map(is_on, folders)), what="both")
    (pilot.directory / "revoked").touch()
    pilot.await_end()
    for folder in folders:
        assert exit_of(folder)["cause"] == "node_fail"


def test_one_whose_folder_is_gone_kills_what_it_runs(pilot):
    engine = pilot.start("--cpus", 1).engine()
    folder = engine.start(1, HOLD)
    wait_until(lambda: is_on(folder), what="the attempt")
    engine.kill()
    pilot.directory.rename(pilot.directory.with_name("away"))
    pilot.await_end()
    assert exit_of(folder)["cause"] == "node_fail"


def test_an_unfit_node_carries_no_pilot(pilot, tmp_path):
    healthy = tmp_path / "healthy"
    healthy.mkdir()
    pilot.start("--cpus", 1, "--healthy", healthy, "--health", "echo no; false")
    assert pilot.process.wait(30) == 124
    assert '"no"' in (pilot.directory / "unhealthy").read_text()
    assert not (pilot.directory / "claim").exists()


def test_what_cannot_start_is_told(pilot):
    engine = pilot.start("--cpus", 2).engine()
    folder = pilot.folder(1)
    engine.say("start", 1, folder, 1, 0, 0, 0, 0, "no-such-program", "x")
    engine.await_word("ended 1 launch_error 0")
    taken = pilot.folder(2)
    (taken / "claim").touch()
    engine.say("start", 2, taken, 1, 0, 0, 0, 0, "true", "x")
    engine.await_word("ended 2 .*")
    assert not (taken / "exit").exists()
    engine.say("drain")
    pilot.await_end()
