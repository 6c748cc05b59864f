# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for tests on a real cluster (tests/slurm/lab).

    def test_something(smtune, experiment, transport):
        smtune.ok("run", experiment(trials=8, executor={"mode": "array"}))
        assert len(smtune.json("trials", "last")) == 8

Clusters are started when a test first asks for one, and serve all tests of a
worker. Each test has to leave its own as it found it: no job, no process. What
it did to daemons and nodes is put right for it.

A test with the fixture `transport` runs by Slurm's commands and through
slurmrestd; @both("job") by the commands in all modes, and through slurmrestd in
these. @pytest.mark.cluster("accounting", "age=2") asks for a cluster that was
made with these words. All clusters get those of SMTUNE_LAB besides: `make
check-slurm LAB=auth DEBIAN=sid` runs everything with Slurm's own authentication.
"""

import functools
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import pytest

from drill import Drill
from mounts import own_mounts
from programs import BUILD, PYTHON, ROOT, wait_until

LAB = ROOT / "tests/slurm/lab"
MODES = ("job", "array", "pilot")
NODES = ("n1", "n2", "n3", "n4")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "slurmdbd",
            "slurmrestd", "mariadbd", "setpriv")


def missing():
    """Why there can be no cluster, or None."""
    if os.geteuid() != 0:
        return "only root can start a cluster"
    try:
        socket.gethostbyname(socket.gethostname())
    except OSError:
        return f"the machine's own name, {socket.gethostname()}, has no address"
    absent = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if absent:
        return f"there is no {', '.join(absent)}: `make deps-test` installs it"
    return None


def pytest_collection_modifyitems(items):
    if reason := missing():
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter):
    if reason := missing():
        terminalreporter.write_line(
            f"SLURM IS NOT TESTED HERE: {reason}", red=True, bold=True)


class Cluster:
    """A lab. It is where its `env` is in the environment."""

    def __init__(self, words):
        self.words = frozenset(words)
        self.directory = pathlib.Path(tempfile.mkdtemp(
            prefix="lab-", dir=os.environ.get("SMTUNE_TEST_FOLDER")))
        self.directory.chmod(0o755)
        said = self.lab("up", *words).splitlines()
        self.env = dict(line.split("=", 1) for line in said)
        self.port = int(self.env.pop("LAB_PORT"))

    def lab(self, verb, *words):
        """lab("kill", "n1"): what tests/slurm/lab says."""
        with tempfile.TemporaryFile("w+") as errors:  # daemons keep it
            result = subprocess.run(
                [LAB, verb, self.directory, *words], text=True, timeout=100,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=errors)
            errors.seek(0)
            assert result.returncode == 0, errors.read()
        return result.stdout

    def run(self, *words, timeout=30, **options):
        """A command of Slurm's, to its end."""
        return subprocess.run(
            list(map(str, words)), text=True, timeout=timeout,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**os.environ, **self.env}, **options)

    def ok(self, *words, **options):
        result = self.run(*words, **options)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def jobs(self, *states):
        """[{id, name, state, reason, nodes, ...}] of what is queued or runs,
        or is in one of the states; an array's tasks each."""
        fields = {"id": "%A", "array": "%F", "task": "%K", "name": "%j",
                  "state": "%T", "reason": "%r", "nodes": "%N", "user": "%u",
                  "partition": "%P", "cpus": "%C", "limit": "%l",
                  "comment": "%k"}
        words = ["-t", ",".join(states)] if states else []
        said = self.ok("squeue", "-har", "-o", "|".join(fields.values()),
                       *words)
        return [dict(zip(fields, line.split("|"))) for line in
                said.splitlines()]

    def node(self, name):
        """The state of a node: "IDLE", "DOWN+DRAIN", ..."""
        said = self.ok("scontrol", "-o", "show", "node", name)
        return dict(word.partition("=")[::2] for word in said.split())["State"]

    def set_node(self, name, state):
        reason = ["reason=test"] if state in ("down", "drain", "fail") else []
        self.ok("scontrol", "update", f"nodename={name}", f"state={state}",
                *reason)

    def token(self, user="root"):
        said = self.ok("scontrol", "token", "lifespan=86400",
                       f"username={user}")
        return said.strip().partition("=")[2]

    def dead(self):
        """The daemons that were started and are no more."""
        return self.lab("dead").split()

    def ours(self):
        """The jobs that are smtune's. Others may be in the queue: a controller
        that was killed starts again what had been cancelled."""
        return [job for job in self.jobs()
                if job["name"].rpartition(".")[2].startswith("smt-")]

    def wait_until_done(self, seconds=30):
        """Until no job of smtune's is left in the queue."""
        try:
            wait_until(lambda: not self.ours(), seconds)
        except AssertionError:
            left = self.ours()
            assert not left, f"left in the queue after {seconds} s: {left}"

    def end_jobs(self):
        """Takes away what is left in the queue, and says what of it is
        smtune's."""
        try:
            wait_until(lambda: not self.jobs(), 10)
            return []
        except AssertionError:
            left, ours = self.jobs(), self.ours()
        self.ok("scancel", "-f", "-s", "KILL", "-t", "RUNNING", "--me")
        self.ok("scancel", *{job["id"] for job in left})
        wait_until(lambda: not self.jobs(), 30, "an empty queue")
        return ours

    def mend(self):
        """Daemons run, nodes are idle; what was left in the queue."""
        self.lab("mend")
        left = self.end_jobs()
        try:
            wait_until(lambda: all([self.is_idle(n) for n in NODES]))
        except AssertionError:
            pytest.fail(self.nodes_and_logs())
        return left

    def nodes_and_logs(self):
        """What there is to say of nodes that do not become idle."""
        said = self.run("sinfo", "-hNpbatch", "-o%N is %T, %E").stdout
        for name in ["slurmctld", *filter(lambda n: not self.is_idle(n), NODES)]:
            lines = (self.directory / "log" / name).read_text().splitlines(True)
            said += f"The end of {name}'s log:\n{''.join(lines[-20:])}"
        return said

    def is_idle(self, name):
        """Asks for it where it is not. That is refused for a node that came
        back by itself meanwhile."""
        state = self.node(name)
        if {"DOWN", "DRAIN"} & set(state.replace("*", "").split("+")):
            self.run("scontrol", "update", f"nodename={name}", "state=resume")
        return state == "IDLE"


@functools.cache
def version():
    """(22, 5), of the Slurm that is first in PATH."""
    said = subprocess.run(["slurmctld", "-V"], env={**os.environ, "PATH": PATH},
                          check=True, capture_output=True, text=True).stdout
    return tuple(map(int, said.split()[1].split(".")[:2]))


@functools.cache
def take_run():
    """A /run of this worker's own, where Slurm's own authentication has its
    sockets, at names that nothing changes."""
    own_mounts()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)


class Clusters:
    """Those that are up, by the words that they were made with."""

    def __init__(self):
        self.made = {}

    def get(self, words):
        words = frozenset(words) | set(filter(
            None, os.environ.get("SMTUNE_LAB", "").split(",")))
        if words not in self.made:
            self.make_room(words)
            self.made[words] = Cluster(words)
        return self.made[words]

    def make_room(self, words):
        """For what is there once only."""
        if "auth" in words:
            take_run()
        for it in list(self.made.values()):
            if it.words & words & {"auth", "cgroup"}:
                self.end(it)

    def end(self, it):
        del self.made[it.words]
        it.lab("down")
        shutil.rmtree(it.directory)


@pytest.fixture(scope="session")
def clusters():
    those = Clusters()
    yield those
    for it in list(those.made.values()):
        those.end(it)


@pytest.fixture(params=["commands", "rest"])
def transport(request):
    return request.param


def both(*rest):
    """A decorator: all modes by Slurm's commands, these through slurmrestd."""
    ways = [("commands", mode) for mode in MODES]
    return pytest.mark.parametrize("transport, mode", ways + [
        ("rest", mode) for mode in rest])


@pytest.fixture
def cluster(request, clusters):
    marker = request.node.get_closest_marker("cluster")
    words = set(marker.args if marker else ())
    is_rest = ("transport" in request.fixturenames and
               request.getfixturevalue("transport") == "rest")
    it = clusters.get(words | ({"rest"} if is_rest else set()))
    it.options = {}
    it.extra = {}
    if is_rest:
        it.options = {"transport": "rest",
                      "url": f"http://127.0.0.1:{it.port + 2}"}
        it.extra = {"SLURM_JWT": it.token()}
    yield it
    try:
        left = it.mend()
    except BaseException:  # the next test is to have a sound one
        clusters.end(it)
        raise
    if "cgroup" in it.words:  # another run may wait for them
        clusters.end(it)
    if left:
        pytest.fail(f"left in the queue: {left}")


@pytest.fixture
def smtune(cluster, smtune):
    """On the test's cluster, which is there before it and after it, with the
    Slurm that is first in PATH."""
    smtune.env.update(cluster.env, **cluster.extra,
                      PATH=f"{BUILD}:{os.environ['PATH']}:{PYTHON}")
    return smtune


@pytest.fixture
def experiment(write, cluster):
    """experiment(trials=4, executor={...}, trial={...}, ...): a file of an
    experiment on the test's cluster. Its trials say loss=x."""
    def make(name="run", trials=4, executor=None, trial=None, **keys):
        trial = trial or {}
        if "shell" not in trial:
            trial = {"command": ["echo", "loss=${{ x }}"], **trial}
        return write(f"{name}.yaml", json.dumps({
            "version": 1,
            "name": name,
            "executor": {"name": "slurm", "poll": "1s", **cluster.options,
                         **(executor or {})},
            "objective": {"metric": "loss", "goal": "minimize"},
            "parameters": {"x": {"type": "float", "min": 0, "max": 1}},
            "search": {"method": "random", "seed": 7},
            "budget": {"trials": trials},
            "trial": trial,
            **keys}))
    return make


@pytest.fixture
def drill(tmp_path, cluster):
    """drill(trials=4, mode="job", ...): a drill of tests/fault on the test's
    cluster. Nothing of it outlives the test."""
    made = []

    def make(mode="job", executor=None, **options):
        where = tmp_path / f"drill-{len(made)}"
        keys = {"name": "slurm", "mode": mode, "poll": "1s",
                **cluster.options, **(executor or {})}
        made.append(Drill(where, executor=json.dumps(keys),
                          environment={**cluster.env, **cluster.extra},
                          **options))
        return made[-1]

    yield make
    for it in made:
        it.end_all()
