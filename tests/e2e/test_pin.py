# SPDX-License-Identifier: GPL-3.0-or-later
"""`pin: true`: trials and ranks on CPUs of their own."""

import os

import pytest

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2,
                                reason="needs two CPUs")
CPUS = "cpus=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)"
# Prints once both run, so that neither can have the CPU of the other's past.
TOGETHER = f"""
: >began-$SMTUNE_JOB
until [ $(ls began-* | wc -l) = 2 ]; do sleep 0.1; done
{CPUS}
echo loss=1 on=$cpus.
"""


def printed(text):
    return text.partition("on=")[2].partition(".")[0]


@pytest.mark.sanitized
def test_trials_run_on_cpus_of_their_own(smtune, experiment):
    path = experiment(TOGETHER, trials=2, parallel=2,
                      resources="{cpus: 1, pin: true}", executor="{cpus: 2}")
    smtune.ok("run", path)
    seen = {printed(smtune.ok("logs", "exp", n)) for n in (1, 2)}
    assert len(seen) == 2 and all(cpu.isdigit() for cpu in seen)


def test_a_trial_without_it_may_run_anywhere(smtune, experiment):
    smtune.ok("run", experiment(f"{CPUS}\necho loss=1 on=$cpus.", trials=1,
                                resources="{cpus: 1}"))
    assert not printed(smtune.ok("logs", "exp", 1)).isdigit()


def test_ranks_share_the_cpus_of_their_trial(smtune, experiment):
    smtune.ok("run", experiment(
        f"{CPUS}\necho loss=1 on=$cpus.", trials=1, executor="{cpus: 2}",
        resources="{tasks: 2, cpus: 2, pin: true}"))
    seen = {printed(smtune.ok("logs", "exp", 1, "--rank", rank))
            for rank in (0, 1)}
    assert len(seen) == 2 and all(cpu.isdigit() for cpu in seen)


def test_more_cpus_than_there_are_cannot_be_pinned(smtune, experiment):
    smtune("run", experiment("echo loss=1", trials=1,
                             resources="{cpus: 1, pin: true}",
                             executor="{cpus: 4000}"))
    assert "cannot pin: the executor has 4000 CPUs" in \
        smtune.ok("show", "exp", 1)
