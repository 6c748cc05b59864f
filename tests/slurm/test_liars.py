# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's commands, or slurmrestd, do not tell the truth: every trial ends,
once."""

import os
import shutil

import pytest

import rest_liar
from conftest import MODES, PATH
from drill import undisturbed
from programs import wait_until

TRIALS = 6

# What stands in each: `real` is the true program, `n` the number of the call,
# and `first N` is true for the first calls of it.
LIAR = """\
#!/bin/bash
echo >>{calls}
n=$(wc -l <{calls})
real() {{ {real} "$@"; }}
first() {{ [ "$n" -le "$1" ]; }}
fail() {{ echo "{name}: error: $2" >&2; exit "$1"; }}
{lie}
real "$@"
"""

TIMED_OUT = "Batch job submission failed: Socket timed out on send/recv " \
    "operation"
UNREACHABLE = "Unable to contact slurm controller (connect failure)"

LIES = {
    "sbatch is slow": {"sbatch": "sleep 1; real \"$@\"; sleep 2; exit"},
    "sbatch accepts and times out": {
        "sbatch": f'first 3 && {{ real "$@" >&2; fail 1 "{TIMED_OUT}"; }}'},
    "sbatch times out": {"sbatch": f'first 3 && fail 1 "{TIMED_OUT}"'},
    "sbatch accepts without a word": {
        "sbatch": 'first 3 && { real "$@" >/dev/null; exit 0; }'},
    "sbatch accepts and says nonsense": {
        "sbatch": 'first 3 && { real "$@" >/dev/null; '
                  'head -c 3000 /dev/urandom; exit 0; }'},
    "sbatch accepts and is cut short": {
        "sbatch": 'first 3 && { id=$(real "$@"); printf %s "${id:0:1}"; '
                  'exit 0; }'},
    "sbatch accepts and dies": {
        "sbatch": 'first 3 && { real "$@"; kill -9 $$; }'},
    "sbatch submits twice": {
        "sbatch": 'script=$(cat); real "$@" <<<"$script" >/dev/null; '
                  'real "$@" <<<"$script"; exit'},
    "sbatch is full": {
        "sbatch": 'first 2 && { echo "sbatch: error: AssocMaxSubmitJobLimit" '
                  '>&2; fail 1 "Batch job submission failed: Job violates '
                  'accounting/QOS policy (job submit limit)"; }'},
    "squeue is slow": {"squeue": "sleep 3"},
    "squeue says nothing": {"squeue": "first 5 && exit 0"},
    "squeue has an empty queue": {
        "squeue": "first 3 && { real \"$@\" | head -1; exit 0; }"},
    "squeue says nonsense": {
        "squeue": "first 5 && { head -c 3000 /dev/urandom; exit 0; }"},
    "squeue is cut short": {
        "squeue": "first 5 && { real \"$@\" | head -c -7; exit 0; }"},
    "squeue leaves rows out": {
        "squeue": "first 5 && { real \"$@\" | head -2; exit 0; }"},
    "squeue fails": {"squeue": f'first 5 && fail 1 "{UNREACHABLE}"'},
    "squeue fails with rows": {
        "squeue": f'first 5 && {{ real "$@"; fail 1 "{UNREACHABLE}"; }}'},
    "sacct says nonsense": {
        "sacct": "head -c 3000 /dev/urandom; exit 0",
        "squeue": "first 6 && { real \"$@\" | head -1; exit 0; }"},
    "sacct knows nothing": {
        "sacct": "real \"$@\" | head -1; exit 0",
        "squeue": "first 6 && { real \"$@\" | head -1; exit 0; }"},
    "nobody knows anything": {
        name: f'first 2 && fail 1 "{UNREACHABLE}"'
        for name in ("sbatch", "squeue", "sacct", "scontrol", "sinfo")},
}

# Now one, now another, by the number of the call.
WHIMS = {
    "sbatch": ["", 'real "$@" >&2; fail 1 "%s"' % TIMED_OUT,
               'fail 1 "%s"' % TIMED_OUT, 'real "$@" >/dev/null; exit 0',
               'script=$(cat); real "$@" <<<"$script" >&2; '
               'real "$@" <<<"$script"; exit',
               'real "$@"; kill -9 $$', "sleep 1"],
    "squeue": ["", "exit 0", 'real "$@" | head -1; exit 0',
               'real "$@" | head -c -9; exit 0', 'real "$@" | head -2; exit 0',
               'fail 1 "%s"' % UNREACHABLE, "sleep 1"],
    "sacct": ["", "exit 0", 'real "$@" | head -1; exit 0',
              'real "$@" | head -c -9; exit 0'],
    "scancel": ["", 'real "$@"; fail 140 "%s"' % TIMED_OUT,
                "exit 0", 'fail 8 "%s"' % UNREACHABLE],
    "sinfo": ["", "exit 0", 'fail 1 "%s"' % UNREACHABLE],
}
WHIM = """\
[ "$n" -gt 40 ] || case $(((n * 7 + {seed} + n / 3) % {count})) in
{cases}
esac"""

# Of what is told to end jobs.
CANCELS = {
    "scancel does it and fails": {
        "scancel": f'real "$@"; first 2 && fail 140 "{TIMED_OUT}"; exit 0'},
    "scancel does nothing": {"scancel": "first 2 && exit 0"},
    "scancel fails": {"scancel": f'first 2 && fail 8 "{UNREACHABLE}"'},
    "scancel is slow": {"scancel": "sleep 3"},
}


LIARS = {"commands": {**LIES, **CANCELS},
         "rest": {**rest_liar.LIES, **rest_liar.CANCELS}}
# A pilot that a lie hid until the run's end goes by itself, soon.
EXECUTOR = {"heartbeat": "1s", "pilot": {"idle": "4s"}}
# Those that have found mistakes in one mode or another.
WORST = ("sbatch accepts and times out", "squeue has an empty queue",
         "squeue leaves rows out", "sacct knows nothing",
         "scancel does nothing", *rest_liar.WORST)


def in_turn(**lies):
    """[(transport, lie, mode), ...]: the worst in all modes, the others in one
    each."""
    return [(transport, lie, mode) for transport, names in lies.items()
            for i, lie in enumerate(names) for mode in
            (MODES if lie in WORST else [MODES[i % len(MODES)]])]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return undisturbed(tmp_path_factory.mktemp("undisturbed"), trials=TRIALS)


class LyingCommands:
    """PATH, with liars first."""

    def __init__(self, folder, lies):
        self.folder = folder
        folder.mkdir()
        for name, lie in lies.items():
            program = folder / name
            program.write_text(LIAR.format(
                name=name, lie=lie, calls=folder / f"{name}.calls",
                real=shutil.which(name, path=PATH)))
            program.chmod(0o755)
        self.environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
        self.executor = EXECUTOR

    def count(self, name):
        """How often it was asked."""
        path = self.folder / f"{name}.calls"
        return len(path.read_text()) if path.exists() else 0

    def close(self):
        """Nothing of it runs."""


class LyingRest(rest_liar.Liar):
    environment = {}

    def __init__(self, url, lies):
        super().__init__(url, lies)
        self.executor = {**EXECUTOR, "url": self.url}


@pytest.fixture
def lied_to(tmp_path, cluster, transport):
    """lied_to(lies): a liar, with what one needs in its executor and its
    environment who is to believe it."""
    made = []

    def make(lies):
        made.append(LyingCommands(tmp_path / "liars", lies)
                    if transport == "commands" else
                    LyingRest(cluster.options["url"], lies))
        return made[-1]

    yield make
    for it in made:
        it.close()


@pytest.fixture
def lied_to_drill(drill, lied_to):
    """lied_to_drill(mode, lies): a drill, and the liar."""
    def make(mode, lies):
        liar = lied_to(lies)
        it = drill(mode=mode, trials=TRIALS, parallel=4,
                   executor=liar.executor)
        it.environment.update(liar.environment)
        return it, liar
    return make


@pytest.mark.parametrize("transport, lie, mode", in_turn(
    commands=LIES, rest=rest_liar.LIES))
def test_every_trial_ends_once(lied_to_drill, cluster, expected, transport,
                               lie, mode):
    it, _ = lied_to_drill(mode, LIARS[transport][lie])
    it.finish(expected, patience=150)
    cluster.wait_until_done(30)


def whims(seed):
    return {name: WHIM.format(seed=seed, count=len(lies), cases="\n".join(
        f"{i}) {lie or ':'} ;;" for i, lie in enumerate(lies)))
        for name, lies in WHIMS.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport, seed", [
    ("commands", 1), ("commands", 3), ("rest", 2)])
def test_they_have_whims(lied_to_drill, cluster, expected, transport, mode,
                         seed):
    it, _ = lied_to_drill(mode, whims(seed) if transport == "commands" else
                          rest_liar.whims(seed))
    it.finish(expected, patience=150)
    cluster.wait_until_done(60)


@pytest.mark.parametrize("transport, lie, mode", in_turn(
    commands=["sbatch accepts and times out",
              "sbatch accepts and is cut short", "sbatch submits twice",
              "sbatch is slow"],
    rest=["submit accepts and times out"]))
def test_an_engine_dies_of_it(lied_to_drill, cluster, expected, transport, lie,
                              mode):
    """It is killed in the middle, twice, and another takes up what it left."""
    lies = LIARS[transport][lie]
    it, liar = lied_to_drill(mode, lies)
    name, = lies
    for calls in (1, 2):
        engine = it.go_on()
        wait_until(lambda calls=calls: engine.poll() is not None or
                   liar.count(name) >= calls, 60)
        engine.kill()
        engine.wait()
        it.check_record()
    it.finish(expected, patience=150)
    cluster.wait_until_done(60)


@pytest.mark.parametrize("transport, lie, mode", in_turn(
    commands=CANCELS, rest=rest_liar.CANCELS))
def test_nothing_is_left_of_what_was_stopped(smtune, experiment, cluster,
                                             lied_to, transport, lie, mode):
    liar = lied_to(LIARS[transport][lie])
    path = experiment(trials=3, executor={**liar.executor, "mode": mode},
                      trial={"command": ["sleep", "1000"]})
    smtune.env.update(liar.environment)
    engine = smtune.start("run", path)
    wait_until(lambda: len(cluster.jobs("RUNNING")) >= 1, 60)
    smtune.ok("stop", "run", timeout=100)
    engine.wait(100)
    cluster.wait_until_done(60)
