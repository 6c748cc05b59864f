# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's commands do not tell the truth: every trial ends, once."""

import os
import shutil

import pytest

from conftest import PATH
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
        "sbatch": 'first 4 && { echo "sbatch: error: AssocMaxSubmitJobLimit" '
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

# Of what is told to end jobs.
CANCELS = {
    "scancel does it and fails": 'real "$@"; first 2 && '
                                 f'fail 140 "{TIMED_OUT}"; exit 0',
    "scancel does nothing": "first 2 && exit 0",
    "scancel fails": f'first 2 && fail 8 "{UNREACHABLE}"',
    "scancel is slow": "sleep 3",
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return undisturbed(tmp_path_factory.mktemp("undisturbed"), trials=TRIALS)


@pytest.fixture
def lying(tmp_path):
    """lying({program: lie}): PATH, with liars first."""
    def make(lies):
        folder = tmp_path / "liars"
        folder.mkdir()
        for name, lie in lies.items():
            program = folder / name
            program.write_text(LIAR.format(
                name=name, lie=lie, calls=folder / f"{name}.calls",
                real=shutil.which(name, path=PATH)))
            program.chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"
    return make


@pytest.mark.parametrize("mode", ["job", "array", "pilot"])
@pytest.mark.parametrize("lie", LIES)
def test_every_trial_ends_once(drill, cluster, lying, expected, mode, lie):
    it = drill(mode=mode, trials=TRIALS, parallel=4)
    it.environment["PATH"] = lying(LIES[lie])
    it.finish(expected, is_strict=False, patience=150)
    wait_until(lambda: not cluster.jobs(), 30, "an empty queue")


@pytest.mark.parametrize("mode", ["job", "array", "pilot"])
@pytest.mark.parametrize("lie", CANCELS)
def test_nothing_is_left_of_what_was_stopped(smtune, experiment, cluster,
                                             lying, mode, lie):
    path = experiment(trials=3, executor={"mode": mode},
                      trial={"command": ["sleep", "1000"]})
    smtune.env["PATH"] = lying({"scancel": CANCELS[lie]})
    engine = smtune.start("run", path)
    wait_until(lambda: len(cluster.jobs("RUNNING")) >= 1, 60)
    smtune.ok("stop", "run", timeout=100)
    engine.wait(100)
    wait_until(lambda: not cluster.jobs(), 60, "an empty queue")
