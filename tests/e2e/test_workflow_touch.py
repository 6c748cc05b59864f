# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune run --touch`, and the traps of Snakemake's as its users reported
them (the numbers are those of its issues)."""

import pytest

from files import workflow

FILE = workflow("""
    a: {shell: "echo a >>log; echo rows=3 >stats; echo 1 >a", outputs: {a: a, rows: {value: stats}}}
    b: {needs: a, shell: "echo b >>log; cp ${{ a.a }} b", outputs: {b: b}}
    c: {needs: b, matrix: {n: [1, 2, 3]}, shell: "echo c${{ n }} >>log; cp ${{ b.b }} c${{ n }}", outputs: {c: "c${{ n }}"}}
    d: {needs: [c, a], shell: "echo d >>log; echo ${{ a.rows }} ${{ c.c }} >d", outputs: {d: d}}
    """, name="w")
MADE = ("a", "b", "c1", "c2", "c3", "d")


def log(smtune):
    path = smtune.directory / "log"
    return path.read_text().split() if path.exists() else []


def states(smtune, run="w"):
    return dict(smtune.query(
        "SELECT run_step.name, run_step.state FROM run_step JOIN run"
        f" ON run.id = run_id WHERE run.name = '{run}'"))


@pytest.fixture
def made(smtune, write):
    """The files, made by other means."""
    write("w.yaml", FILE)
    write("stats", "rows=3\n")
    for name in MADE:
        write(name, name)
    return smtune


@pytest.mark.quick
@pytest.mark.sanitized
def test_what_is_there_is_accepted(made):
    """No command runs, no file and no time changes, and the results are used:
    also by what follows from them later."""
    before = {name: (made.directory / name).stat() for name in MADE}
    made.ok("run", "w.yaml", "--touch")
    assert log(made) == []
    assert set(states(made).values()) == {"succeeded"}
    for name, stat in before.items():
        after = (made.directory / name).stat()
        assert (after.st_mtime_ns, after.st_size) == (stat.st_mtime_ns,
                                                      stat.st_size)
    assert "accepted as made (--touch)" in made.ok("why", "w", "b")
    made.ok("run", "w.yaml", "--from", "d")
    assert log(made) == ["d"]
    assert (made.directory / "d").read_text().startswith("3 ")
    made.ok("replay", "w")
    made.ok("fsck")


@pytest.mark.sanitized
def test_what_is_missing_is_named_and_runs_later(made):
    """#82, #1680: a missing file is an error with its name, and no command
    runs. #280: what is there is not made again."""
    for name in ("c2", "c3"):
        (made.directory / name).unlink()
    result = made("run", "w.yaml", "--touch")
    assert result.returncode == 1
    assert log(made) == []
    assert states(made) == {"a": "succeeded", "b": "succeeded", "c": "failed",
                            "d": "skipped"}
    for name in ("c2", "c3"):
        assert f"no such file: '{name}'" in result.stderr + made.ok(
            "why", "w", f"c[{int(name[1]) - 1}]") + made.ok(
                "show", "w", f"c[{int(name[1]) - 1}]")
    made.ok("run", "w.yaml", "--failed")
    assert sorted(log(made)) == ["c2", "c3", "d"]
    assert set(states(made).values()) == {"succeeded"}
    made.ok("replay", "w")
    made.ok("fsck")


def test_later_runs_have_cache_hits(smtune, write):
    """The purpose of it: an edit that does not matter costs nothing."""
    write("w.yaml", workflow("""
    a: {command: ./prog, outputs: {a: a}, cache: {inputs: [prog]}}
    b: {needs: a, shell: "echo b >>log; cp ${{ a.a }} b", outputs: {b: b}, cache: true}
    """, name="w"))
    write("prog", "#!/bin/sh\necho a >>log; echo 1 >a\n")
    (smtune.directory / "prog").chmod(0o755)
    smtune.ok("run", "w.yaml")
    write("prog", "#!/bin/sh\n# a comment\necho a >>log; echo 1 >a\n")
    smtune.ok("run", "w.yaml", "--touch")
    assert log(smtune) == ["a", "b"]
    smtune.ok("run", "w.yaml")
    assert log(smtune) == ["a", "b"]
    assert "cache hit" in smtune.ok("why", "w-3", "a")
    smtune.ok("replay", "w-2")
    smtune.ok("fsck")


def test_temporary_outputs_may_be_missing(smtune, write):
    """#1028: they were removed as they should be. What is there stays."""
    write("w.yaml", workflow("""
    a: {shell: "echo a >>log; touch mid other", outputs: {mid: {path: mid, temp: true}, o: {path: other, temp: true}}}
    b: {needs: a, shell: "echo b >>log; cp ${{ a.mid }} b", outputs: {b: b}}
    """, name="w"))
    write("b", "")
    write("other", "")
    smtune.ok("run", "w.yaml", "--touch")
    assert log(smtune) == []
    assert (smtune.directory / "other").exists()
    smtune.ok("replay", "w")
    (smtune.directory / "b").unlink()
    assert smtune("run", "w.yaml", "--touch", "--name", "v").returncode == 1
    result = smtune("retry", "v", "--failed")
    assert "temporary output of step 'a'" in result.stderr
    smtune.ok("retry", "v", "--force", "a")
    assert log(smtune) == ["a", "b"]
    smtune.ok("replay", "v")
    smtune.ok("fsck")


def test_a_child_run_is_touched_itself(smtune, write):
    write("inner.yaml", FILE.replace("name: w", "name: inner")
          + "outputs: {d: d.d}\n")
    write("w.yaml", workflow("""
    below: {workflow: inner.yaml}
    after: {needs: below, shell: "echo after >>log; cp ${{ below.d }} after", outputs: {after: after}}
    """, name="w"))
    write("stats", "rows=3\n")
    for name in MADE[:-1] + ("after",):
        write(name, name)
    assert smtune("run", "w.yaml", "--touch").returncode == 1
    assert log(smtune) == []
    smtune.ok("retry", "w", "--failed")
    assert log(smtune) == ["d", "after"]
    smtune.ok("replay", "w")
    smtune.ok("fsck")


def test_what_no_file_shows(smtune, write):
    """Each is named; a step without outputs counts as made."""
    write("tune.yaml", """version: 1
objective: x
parameters: {lr: [1, 2]}
trial: {command: "echo x=1"}
""")
    write("w.yaml", workflow("""
    tune: {experiment: tune.yaml}
    rounds: {repeat: {max: 2}, shell: "echo r >>log"}
    told: {shell: "echo told >>log; echo n=1 >>$SMTUNE_OUTPUTS", outputs: {n: }}
    plain: {shell: "echo plain >>log"}
    """, name="w"))
    assert smtune("run", "w.yaml", "--touch").returncode == 1
    assert log(smtune) == []
    assert states(smtune) == {"tune": "failed", "rounds": "failed",
                              "told": "failed", "plain": "succeeded"}
    assert "$SMTUNE_OUTPUTS" in smtune.ok("show", "w", "told")


def test_where_it_is_refused(smtune, write, experiment):
    write("w.yaml", FILE)
    for words in (("--from", "a"), ("--only", "a"), ("--failed",)):
        assert "exclude each other" in smtune("run", "w.yaml", "--touch",
                                              *words).stderr
    assert "only for workflows" in smtune("run", experiment(),
                                          "--touch").stderr
