# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune doctor` on a cluster: what it is, and what one job tells."""

import pytest


def url_of(cluster):
    url = cluster.options.get("url")
    return ["--url", url] if url else []


def rows(smtune, *words):
    found = {}
    for row in smtune.json("doctor", *words):
        found.setdefault(row["check"], []).append(row)
    return found


def test_it_tells_of_the_cluster(smtune, cluster, transport):
    found = rows(smtune, *url_of(cluster))
    (slurm,) = found["Slurm"]
    assert slurm["state"] == "ok"
    assert cluster.ok("sinfo", "--version").split()[1] in slurm["found"]
    assert "no accounting" in slurm["found"]
    shown = {row["found"].split(":")[0].split()[0]: row
             for row in found["partition"]}
    assert set(shown) == set(
        cluster.ok("sinfo", "-h", "-o", "%R").split())
    assert all(row["state"] == "ok" for row in shown.values())
    if "default" in found:  # slurmrestd of Slurm 24.05 to 25.11
        assert transport == "rest" and "not reported" in \
            found["default"][0]["found"]
        shown["batch"]["found"] += " (default)"
    default, = (row for row in shown.values() if "(default)" in row["found"])
    cpus = cluster.ok("sinfo", "-h", "-N", "-n", "n1", "-o", "%c").split()[0]
    assert f"4 nodes of {cpus} CPUs" in default["found"]
    if transport == "commands":
        (limits,) = found["job limits"]
        config = dict(line.replace(" ", "").split("=", 1)
                      for line in cluster.ok("scontrol", "show",
                                             "config").splitlines()
                      if "= " in line)
        assert f"{int(config['MaxArraySize']) - 1} tasks" in limits["found"]
        assert f"{config['MaxJobCount']} jobs" in limits["found"]


@pytest.mark.cluster("accounting")
def test_it_sees_an_accounting(smtune, cluster, transport):
    (slurm,) = rows(smtune, *url_of(cluster))["Slurm"]
    assert "with accounting" in slurm["found"]


def test_one_job_tells_of_a_node(smtune, cluster, transport, tmp_path):
    smtune.store.mkdir()
    found = rows(smtune, "--probe", *url_of(cluster))
    assert found["probe start"][0]["found"].startswith(
        "smtune-shim started on n")
    assert str(smtune.store) in found["probe files"][0]["found"]
    assert found["probe clock"][0]["found"].startswith("the same time")
    assert found["probe locks"][0]["found"] == \
        "O_EXCL holds across machines, flock too"
    assert {found[name][0]["state"] for name in found
            if name.startswith("probe")} == {"ok"}
    assert list(smtune.store.iterdir()) == []


def test_a_job_that_is_not_taken(smtune, cluster, transport):
    result = smtune("doctor", "--probe", "--partition", "nowhere",
                    *url_of(cluster))
    assert result.returncode == 1
    assert "Slurm rejected the job" in result.stdout
    assert "nvalid partition name" in result.stdout


def test_a_controller_that_is_not_there(smtune, cluster, transport):
    # Killed, it would come back with jobs that it ended in the last seconds.
    cluster.lab("stop", "slurmctld")
    result = smtune("doctor", *url_of(cluster))
    assert "no answer" in result.stdout
    assert result.returncode == (1 if transport == "rest" else 0)
    assert smtune("doctor", "--probe", *url_of(cluster)).returncode == 1


@pytest.mark.cluster("rest")
def test_a_folder_that_the_job_cannot_see(smtune, cluster):
    """Through a unix socket jobs are those of slurmrestd's own user."""
    smtune.store.mkdir(mode=0o700)
    result = smtune("doctor", "--probe", "--url",
                    f"unix:{cluster.directory}/rest/socket")
    assert result.returncode == 1
    assert "none of its files is visible here" in result.stdout
    assert "must be on a file system that all nodes share" in result.stdout
    assert list(smtune.store.iterdir()) == []


def test_without_slurm_nothing_is_said_of_it(smtune, cluster):
    shown = smtune.ok("doctor", env={"PATH": "/nowhere"})
    assert "Slurm" not in shown
