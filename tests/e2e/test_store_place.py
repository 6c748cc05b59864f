# SPDX-License-Identifier: GPL-3.0-or-later
"""Which store a command uses: that of the nearest folder with a .smtune."""

import os

import pytest

pytestmark = pytest.mark.sanitized


@pytest.fixture
def project(tmp_path):
    """A folder with another one below it."""
    (tmp_path / "project" / "a" / "b").mkdir(parents=True)
    return tmp_path / "project"


def names(smtune, cwd, *options):
    return [row["name"] for row in smtune.json("ls", *options, cwd=cwd)]


def test_store_place__is_the_nearest_above(smtune, experiment, project):
    file = experiment("echo loss=1", trials=1)
    smtune.ok("run", file, cwd=project)
    below = project / "a" / "b"
    assert names(smtune, below) == ["exp"]
    smtune.ok("run", file, "--name", "second", cwd=below)
    assert not (below / ".smtune").exists()
    assert sorted(names(smtune, project)) == ["exp", "second"]


def test_store_place__a_folder_begins_a_store_of_its_own(
        smtune, experiment, project):
    file = experiment("echo loss=1", trials=1)
    smtune.ok("run", file, cwd=project)
    (project / "a" / ".smtune").mkdir()
    smtune.ok("run", file, "--name", "inner", cwd=project / "a" / "b")
    assert names(smtune, project / "a") == ["inner"]
    assert names(smtune, project) == ["exp"]


def test_store_place__init_marks_the_project(smtune, project):
    smtune.ok("init", cwd=project)
    below = project / "a" / "b"
    smtune.ok("run", project / "experiment.yaml", "--set", "budget.trials=1",
              cwd=below)
    assert (project / ".smtune" / "smtune.db").exists()
    assert not (below / ".smtune").exists()


def test_store_place__variable_and_option_decide_first(
        smtune, experiment, project):
    file = experiment("echo loss=1", trials=1)
    smtune.ok("run", file, cwd=project)
    other = project / "other"
    smtune.ok("run", file, env={"SMTUNE_STORE": str(other)}, cwd=project / "a")
    assert (other / "smtune.db").exists()
    assert names(smtune, project / "a", "--store", other) == ["exp"]


def test_store_place__none_above_is_here(smtune, experiment, project):
    smtune.ok("run", experiment("echo loss=1", trials=1), cwd=project / "a")
    assert (project / "a" / ".smtune" / "smtune.db").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to change an owner")
def test_store_place__passes_over_that_of_another_user(
        smtune, experiment, project):
    file = experiment("echo loss=1", trials=1)
    smtune.ok("run", file, cwd=project)
    os.chown(project / ".smtune", 12345, -1)
    smtune.ok("run", file, cwd=project / "a")
    assert (project / "a" / ".smtune" / "smtune.db").exists()
    assert names(smtune, project) == ["exp"]  # its own folder names it


def test_store_place__hints_work_where_they_are_printed(
        smtune, experiment, project):
    """The hint has no --store, for the default finds the same one."""
    smtune.ok("run", experiment("echo loss=1", trials=1), cwd=project)
    result = smtune("run", experiment("exit 3", trials=1), "--name", "bad",
                    cwd=project / "a")
    assert "smtune " in result.stderr and "--store" not in result.stderr
