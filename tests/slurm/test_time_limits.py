# SPDX-License-Identifier: GPL-3.0-or-later
"""MaxWall of each kind that cuts the time of a job which names none of them:
of the QOS that its user has by default, of its partition's QOS, and of
associations. A job beyond it would wait for ever."""

import contextlib

import pytest

from programs import wait_until

USERS = "root,nobody"
LAB = ("where", "account=lab")


@pytest.fixture
def site(cluster):
    """site("modify", ..., undo=[...]): sacctmgr, until the test's end."""
    with contextlib.ExitStack() as stack:
        def change(*words, undo):
            # No association goes while slurmdbd has a job of it that runs.
            stack.callback(wait_until, lambda: cluster.run(
                "sacctmgr", "-iQ", *undo).returncode == 0, 20)
            cluster.ok("sacctmgr", "-iQ", *words)

        def partition_qos(name):
            stack.callback(cluster.ok, "scontrol", "update",
                           "partitionname=batch", "qos=")
            cluster.ok("scontrol", "update", "partitionname=batch",
                       f"qos={name}")

        change.partition_qos = partition_qos
        yield change
        # A QOS counts a job for ever that ends after its partition lost it.
        cluster.wait_until_done()


def limit(site, what, minutes, *where):
    """MaxWall of an entity, and none again at the end."""
    words = ("modify", *what, *where, "set")
    site(*words, f"MaxWall={minutes}", undo=[*words, "MaxWall=-1"])


def by_default_qos(site, cluster):
    words = ("modify", "user", USERS, *LAB, "set")
    limit(site, ("qos", "few"), 5)
    site(*words, "DefaultQOS=few", undo=[*words, "DefaultQOS=normal"])
    return "QOS 'few'"


def by_partition_qos(site, cluster):
    """It counts before the job's own QOS and the association, as long or short
    as they are."""
    limit(site, ("qos", "few"), 5)
    limit(site, ("qos", "normal"), 2)
    limit(site, ("user", USERS), 1, *LAB)
    site.partition_qos("few")
    return "QOS 'few'"


def by_qos_over_partition_qos(site, cluster):
    words = ("modify", "qos", "normal", "set")
    limit(site, ("qos", "few"), 2)
    limit(site, ("qos", "normal"), 5)
    site(*words, "Flags+=OverPartQOS", undo=[*words, "Flags-=OverPartQOS"])
    site.partition_qos("few")
    return "QOS 'normal'"


def by_user(site, cluster):
    """His own is longer than what all of the account have."""
    limit(site, ("account", "lab"), 2)
    limit(site, ("user", USERS), 5, *LAB)
    return "your association with account 'lab'"


def by_account(site, cluster):
    limit(site, ("account", "lab"), 5)
    return "your association with account 'lab'"


def by_cluster(site, cluster):
    limit(site, ("cluster", f"lab{cluster.port}"), 5)
    return "your association with account 'lab'"


def by_partition_of_user(site, cluster):
    limit(site, ("user", USERS), 2, *LAB)
    site("add", "user", USERS, "account=lab", "partition=batch",
         "qos=normal,few", "MaxWall=5",
         undo=["delete", "user", USERS, *LAB, "partition=batch"])
    return "your association with account 'lab'"


def place(transport):
    """The partition that it would be anyway: before Slurm 26.05 slurmrestd does
    not report which one that is."""
    return {"partition": "batch"} if transport == "rest" else {}


def minutes(job):
    """The limit of a job of squeue's that is less than an hour."""
    return int(job["limit"].split(":")[0])


@pytest.mark.cluster("accounting")
@pytest.mark.parametrize("limiter, mode", [
    (by_default_qos, "job"),
    (by_default_qos, "pilot"),
    (by_partition_qos, "job"),
    (by_partition_qos, "pilot"),
    (by_qos_over_partition_qos, "array"),
    (by_user, "job"),
    (by_account, "array"),
    (by_cluster, "pilot"),
    (by_partition_of_user, "job"),
], ids=lambda value: getattr(value, "__name__", value))
def test_times_are_cut(smtune, experiment, cluster, transport, site, limiter,
                       mode):
    """plan --script names the limit, and the job that is submitted starts."""
    name = limiter(site, cluster)
    path = experiment(
        trials=1, trial={"resources": {
            "time": "4m" if mode == "pilot" else "5m", "grace": "30s",
            "extra": ["--hold"]}},
        executor={"mode": mode, "pilot": {"time": "1h"}, **place(transport)})
    plan = smtune.ok("plan", path, "--script")
    assert " --time=5 " in plan
    assert f"# {name} allows at most 5m 00s: --time is cut to it." in plan
    engine = smtune.start("run", path)
    wait_until(lambda: cluster.ours(), 20)
    assert [minutes(job) for job in cluster.ours()] == [5]
    cluster.ok("scontrol", "release", cluster.ours()[0]["id"])
    assert engine.wait(60) == 0


@pytest.mark.cluster("accounting")
def test_a_pilot_that_is_too_short(smtune, experiment, cluster, transport,
                                   site):
    """The reason names what allows no more."""
    limit(site, ("account", "lab"), 5)
    path = experiment(trials=1, trial={"resources": {"time": "1h"}},
                      executor={"mode": "pilot"})
    assert smtune("run", path).returncode != 0
    assert "your association with account 'lab' allows at most 5m 00s" in \
        smtune.ok("show", "run", "1")


@pytest.mark.cluster("accounting")
def test_a_time_that_nobody_asks_for(smtune, experiment, cluster, transport,
                                     site):
    """The partition gives ten minutes, which the job may not have."""
    limit(site, ("account", "lab"), 5)
    path = experiment(trials=1, executor={"mode": "job", **place(transport)},
                      trial={"resources": {"extra": ["--hold"]}})
    plan = smtune.ok("plan", path, "--script")
    assert " --time=5 " in plan
    assert "allows at most 5m 00s: --time is set to it, because the " \
        "partition gives more." in plan
    engine = smtune.start("run", path)
    wait_until(lambda: cluster.ours(), 20)
    assert [minutes(job) for job in cluster.ours()] == [5]
    cluster.ok("scontrol", "release", cluster.ours()[0]["id"])
    assert engine.wait(60) == 0
