# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune note` and `smtune tag`: what people add to runs and trials."""

import pytest


@pytest.fixture
def run(smtune, experiment):
    smtune.ok("run", experiment(trials=4))


@pytest.mark.sanitized
def test_notes_are_kept_shown_and_taken_away(smtune, run):
    assert smtune.json("note", "exp") == []
    smtune.ok("note", "exp", "-m", "the old data")
    smtune.ok("note", "exp", 3, "--message", "odd\n  curve")
    assert smtune.json("note", "exp") == [
        {"id": None, "job": None, "note": "the old data"},
        {"id": 3, "job": "trial 3", "note": "odd\n  curve"}]
    assert smtune.ok("note", "exp") == (
        "exp: the old data\ntrial 3:\n  odd\n    curve\n")
    assert smtune.ok("note", "exp", 3) == (
        "trial 3:\n  odd\n    curve\n")
    smtune.ok("note", "exp", 3, "-m", "better")
    smtune.ok("note", "exp", "--clear")
    assert smtune.ok("note", "exp") == "trial 3: better\n"
    smtune.ok("fsck")


def test_a_note_comes_from_standard_input(smtune, run):
    smtune.ok("note", "exp", 1, "-m", "-", input="from\na pipe\n\n")
    assert smtune.json("note", "exp", 1)[0]["note"] == "from\na pipe"
    long = smtune("note", "exp", "-m", "-", input="x" * 20000)
    assert long.returncode != 0 and "16384" in long.stderr


def test_tags_are_a_set(smtune, run):
    smtune.ok("tag", "exp", "--add", "baseline", "-a", "april")
    smtune.ok("tag", "exp", 2, 4, "--add", "good one")
    smtune.ok("tag", "exp", 4, "-a", "best", "-a", "good one")
    assert smtune.json("tag", "exp") == [
        {"id": None, "job": None, "tags": ["april", "baseline"]},
        {"id": 2, "job": "trial 2", "tags": ["good one"]},
        {"id": 4, "job": "trial 4", "tags": ["best", "good one"]}]
    assert "best, good one" in smtune.ok("tag", "exp")
    smtune.ok("tag", "exp", 2, 4, "--remove", "good one")
    assert smtune.json("tag", "exp", 4) == [
        {"id": 4, "job": "trial 4", "tags": ["best"]}]
    assert smtune.json("tag", "exp", 2) == []
    assert smtune.ok("tag", "exp", 2) == "no tags\n"
    smtune.ok("fsck")


def test_a_table_without_rows_says_so(smtune, run):
    assert smtune.ok("nodes") == "no excluded nodes\n"
    assert smtune.ok("ls", "--tag", "x") == "no runs\n"
    assert smtune.ok("trials", "exp", "--tag", "x") == "no trials\n"
    assert smtune.ok("trials", "exp", "--tag", "x", "-o", "json") == "[]\n"
    assert smtune.ok("enqueue", "exp") == "no setting was enqueued\n"


def test_lists_show_what_has_a_tag(smtune, run):
    smtune.ok("run", "exp.yaml", "--name", "other")
    smtune.ok("tag", "exp", "-a", "x")
    smtune.ok("tag", "exp", 1, 3, "-a", "y")
    assert [row["name"] for row in smtune.json("ls", "--tag", "x")] == ["exp"]
    assert smtune.json("ls", "--tag", "y") == []
    assert [row["id"] for row in smtune.json("trials", "exp", "--tag", "y")
            ] == [1, 3]
    assert smtune.json("trials", "other", "--tag", "y") == []


def test_jobs_of_a_workflow_have_names(smtune, workflow):
    smtune.ok("run", workflow("""
        a: {matrix: {k: [1, 2]}, command: "true"}
        b: {needs: a, command: "true"}
        """))
    smtune.ok("note", "flow", "a[1]", "-m", "the second")
    smtune.ok("tag", "flow", "b", "a[0]", "--add", "slow")
    assert [row["job"] for row in smtune.json("note", "flow")] == ["job a[1]"]
    assert sorted(row["job"] for row in smtune.json("tag", "flow")) == [
        "job a[0]", "job b"]
    assert [row["job"] for row in smtune.json("trials", "flow", "--tag",
                                              "slow", "--step", "b")] == ["b"]
    smtune.ok("fsck")


@pytest.mark.parametrize("words, says", [
    (["note", "exp", 9, "-m", "x"], "no trial 9"),
    (["note", "exp", "-m", "x", "--clear"], "exclude each other"),
    (["note", "exp", "-m", "a\x1bb"], "control characters"),
    (["tag", "exp", "-a", "a\tb"], "control characters"),
    (["tag", "exp", "-a", "x" * 65], "at most 64 bytes, not 65"),
    (["tag", "exp", 1, 2], "tags of one job, or of all"),
    (["note", "exq"], "exp"),
])
def test_refused(smtune, run, words, says):
    result = smtune(*words)
    assert result.returncode in (2, 4)
    assert says in result.stderr
    assert smtune.json("note", "exp") == smtune.json("tag", "exp") == []


def test_a_run_is_resumed_and_replayed_as_if_nothing_was_said(
        smtune, write, run):
    smtune.ok("note", "exp", "-m", "go on")
    smtune.ok("tag", "exp", 1, "-a", "seen")
    smtune.ok("retry", "exp", 1, "--force")
    smtune.ok("replay", "exp")
    smtune.ok("fsck")
    assert smtune.json("tag", "exp", 1)[0]["tags"] == ["seen"]
