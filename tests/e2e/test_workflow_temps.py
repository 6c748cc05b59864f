# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs with `temp: true`, and the traps of Snakemake's temp() as its users
reported them (the numbers are those of its issues)."""

import json
import os
import signal

import pytest

from files import workflow
from programs import wait_until

# Two steps use what `make` made, one after the other; `log` has who ran.
FILE = workflow(r"""
    make: {shell: "echo make >>log; echo 1 >mid; mkdir -p tree/deep; touch tree/deep/x",
           outputs: {mid: {path: mid, temp: true}, tree: {path: tree, temp: true}}}
    one: {needs: make, shell: "echo one >>log; cat ${{ make.mid }} >first", outputs: {first: first}}
    two: {needs: one, shell: "echo two >>log; cat ${{ make.mid }} >second; test ! -e fail", outputs: {second: second}}
    """, name="w")


def exists(smtune, *names):
    return [name for name in names if (smtune.directory / name).exists()]


def log(smtune):
    return (smtune.directory / "log").read_text().split()


def removed(smtune, run="w"):
    """{step: [names]} by the record's events."""
    found = {}
    for name, detail in smtune.query(
            "SELECT run_step.name, event.detail FROM event"
            " JOIN run ON run.id = event.run_id"
            " JOIN job ON job.id = event.job_id"
            " JOIN run_step ON run_step.run_id = run.id AND idx = job.step"
            f" WHERE event = 'temps_removed' AND run.name = '{run}'"):
        found.setdefault(name, []).extend(
            os.path.basename(path) for path in json.loads(detail)["removed"])
    return found


def prove(smtune, run="w"):
    smtune.ok("replay", run)
    smtune.ok("fsck")


@pytest.mark.quick
@pytest.mark.sanitized
def test_removed_after_the_last_user(smtune, write):
    """#1732: more than one user. The second reads it from afar."""
    write("w.yaml", FILE)
    smtune.ok("run", "w.yaml")
    assert exists(smtune, "mid", "tree", "first", "second") == ["first",
                                                                "second"]
    assert removed(smtune) == {"make": ["mid", "tree"]}
    assert "temporary outputs were removed" in smtune.ok("why", "w", "make")
    prove(smtune)


def test_a_dry_run_removes_nothing(smtune, write):
    """#1542: files that are there before."""
    write("w.yaml", FILE)
    write("mid", "")
    smtune.ok("run", "w.yaml", "--dry-run")
    smtune.ok("plan", "w.yaml")
    assert exists(smtune, "mid") == ["mid"]


@pytest.mark.sanitized
def test_kept_for_a_retry(smtune, write):
    """A user has failed: the file stays, and goes after the retry."""
    write("w.yaml", FILE)
    write("fail", "")
    result = smtune("run", "w.yaml")
    assert result.returncode == 1
    assert "'make': its temporary outputs stay" in result.stderr
    assert exists(smtune, "mid", "tree") == ["mid", "tree"]
    assert removed(smtune) == {}
    (smtune.directory / "fail").unlink()
    smtune.ok("retry", "w", "--failed")
    assert exists(smtune, "mid", "tree") == []
    assert log(smtune) == ["make", "one", "two", "two"]
    prove(smtune)


def test_kept_while_a_step_before_a_user_may_run_again(smtune, write):
    """What may fail has failed; a retry of it would start the user again."""
    write("w.yaml", workflow("""
    make: {shell: "touch mid", outputs: {mid: {path: mid, temp: true}}}
    other: {may_fail: true, shell: "test -e ok"}
    use: {needs: [make, other], shell: "test -e ${{ make.mid }}"}
    """, name="w"))
    smtune.ok("run", "w.yaml")
    assert exists(smtune, "mid") == ["mid"]
    write("ok", "")
    smtune.ok("retry", "w", "--failed")
    assert exists(smtune, "mid") == []
    prove(smtune)


def test_a_user_that_is_left_out(smtune, write):
    """Its own `if` says no: it needs nothing. One skipped for a failure may."""
    write("w.yaml", workflow("""
    make: {shell: "touch a b", outputs: {a: {path: a, temp: true}, b: b}}
    no: {needs: make, if: "1 > 2", command: "cat ${{ make.a }}"}
    """, name="w"))
    smtune.ok("run", "w.yaml")
    assert exists(smtune, "a", "b") == ["b"]
    write("x.yaml", workflow("""
    make: {shell: "touch a", outputs: {a: {path: a, temp: true}}}
    bad: {command: "false"}
    skipped: {needs: [make, bad], command: "cat ${{ make.a }}"}
    """, name="x"))
    assert smtune("run", "x.yaml").returncode == 1
    assert exists(smtune, "a") == ["a"]
    prove(smtune, "x")


def test_removed_early_and_at_the_end(smtune, write):
    """As soon as its user has ended, not at the run's end; and what no step
    uses goes, too (#1732)."""
    write("w.yaml", workflow("""
    make: {shell: "touch mid", outputs: {mid: {path: mid, temp: true}}}
    use: {needs: make, command: "test -e ${{ make.mid }}"}
    wait: {needs: use, shell: "while [ -e mid ]; do sleep 0.1; done; touch end",
           timeout: 30s, outputs: {end: {path: end, temp: true}}}
    """, name="w"))
    smtune.ok("run", "w.yaml")
    assert exists(smtune, "mid", "end") == []
    prove(smtune)


def test_a_group_waits_for_all(smtune, write):
    """Behind a group all of its items count, and what follows it."""
    write("w.yaml", """version: 1
name: w
steps:
  - parallel:
      - a: {shell: "touch a", outputs: {a: {path: a, temp: true}}}
      - b: {shell: "touch b", outputs: {b: {path: b, temp: true}}}
  - c: {shell: "cat a b"}
  - d: {shell: "test ! -e a; test ! -e b"}
""")
    smtune.ok("run", "w.yaml")
    prove(smtune)


def test_copies(smtune, write):
    """Those of all copies go when all copies of the user have ended; where one
    has failed, though that is enough, all stay for it."""
    write("w.yaml", workflow("""
    make: {matrix: {n: [1, 2, 3]}, shell: "touch m${{ n }}", outputs: {m: {path: "m${{ n }}", temp: true}}}
    use: {needs: make, matrix: {f: "${{ make.m }}"}, success_if: 2, fail_fast: false,
          shell: "case ${{ f }} in *3) test -e ok;; esac"}
    """, name="w"))
    smtune.ok("run", "w.yaml")
    assert exists(smtune, "m1", "m2", "m3") == ["m1", "m2", "m3"]
    write("ok", "")
    smtune.ok("retry", "w", "--failed")
    assert exists(smtune, "m1", "m2", "m3") == []
    assert sorted(removed(smtune)["make"]) == ["m1", "m2", "m3"]
    prove(smtune)


def test_what_stays_whatever_it_is_called(smtune, write):
    """#2164: a folder that holds what another step gave, also by a link; the
    folder of the run; a path that is an output twice."""
    write("w.yaml", workflow("""
    make:
      shell: mkdir -p par/child other twice; touch par/child/x other/y
      outputs: {par: {path: par, temp: true}, child: par/child,
                other: {path: other, temp: true}, all: {path: ".", temp: true},
                twice: {path: twice, temp: true}}
    use: {needs: make, shell: "ln -s other/y link; touch twice/z", outputs: {link: link, twice: twice}}
    """, name="w"))
    result = smtune("run", "w.yaml")
    assert result.returncode == 0
    assert exists(smtune, "par", "other", "link", "twice", "w.yaml") == [
        "par", "other", "link", "twice", "w.yaml"]
    assert "a temporary output stays" in result.stderr
    [(detail,)] = smtune.query(
        "SELECT detail FROM event WHERE event = 'temps_removed'")
    assert len(json.loads(detail)["kept"]) == 4
    prove(smtune)


def test_a_link_goes_alone(smtune, write):
    """Not what it leads to."""
    write("data/x", "")
    write("w.yaml", workflow("""
    make: {shell: "ln -s data tmp", outputs: {t: {path: tmp, temp: true}}}
    """, name="w"))
    smtune.ok("run", "w.yaml")
    assert exists(smtune, "tmp", "data/x") == ["data/x"]


def test_a_run_that_was_stopped(smtune, write):
    """#3742: nothing is left behind by a run that did not end in one go."""
    write("w.yaml", workflow("""
    make: {shell: "touch mid", outputs: {mid: {path: mid, temp: true}}}
    use: {needs: make, shell: "touch begun; while [ ! -e go ]; do sleep 0.1; done; test -e ${{ make.mid }}"}
    """, name="w"))
    process = smtune.start("run", "w.yaml")
    wait_until(lambda: exists(smtune, "begun"))
    process.send_signal(signal.SIGTERM)
    process.wait()
    assert exists(smtune, "mid") == ["mid"]
    write("go", "")
    smtune.ok("resume", "w")
    assert exists(smtune, "mid") == []
    prove(smtune)


def test_a_run_out_of_time(smtune, write):
    """Its steps that never began may yet be needed, by a retry."""
    write("w.yaml", workflow("""
    make: {shell: "touch mid", outputs: {mid: {path: mid, temp: true}}}
    long: {needs: make, shell: "test -e go || sleep 60"}
    use: {needs: long, shell: "test -e ${{ make.mid }}"}
    """, name="w", time="1500ms"))
    assert smtune("run", "w.yaml").returncode != 0
    assert exists(smtune, "mid") == ["mid"]
    write("go", "")
    smtune.ok("retry", "w", "--failed")
    assert exists(smtune, "mid") == []
    prove(smtune)


@pytest.mark.sanitized
def test_what_needs_it_again_is_refused(smtune, write):
    """#2732, #280: retry and edit of a user, alone, name the step before; with
    it, all run."""
    write("w.yaml", FILE)
    smtune.ok("run", "w.yaml")
    result = smtune("retry", "w", "--force", "two")
    assert result.returncode == 2
    assert ("step 'two' would run again without" in result.stderr
            and "temporary output of step 'make'" in result.stderr)
    write("w.yaml", FILE.replace("cat ${{ make.mid }} >second",
                                 "cat ${{ make.mid }} >>second"))
    assert "temporary output of step 'make'" in smtune("edit", "w").stderr
    smtune.ok("retry", "w", "--force", "make")
    assert log(smtune) == ["make", "one", "two"] * 2
    assert exists(smtune, "mid", "tree") == []
    assert removed(smtune)["make"] == ["mid", "tree"] * 2
    prove(smtune)


def test_an_edit_that_makes_it_again(smtune, write):
    """The step that makes the file begins anew behind the one that is edited."""
    text = workflow("""
    x: {shell: "echo x >>log; echo 1 >x", outputs: {x: x}}
    y: {needs: x, shell: "echo y >>log; cp ${{ x.x }} y", outputs: {y: {path: y, temp: true}}}
    z: {needs: y, shell: "echo z >>log; cp ${{ y.y }} z", outputs: {z: z}}
    """, name="w")
    write("w.yaml", text)
    smtune.ok("run", "w.yaml")
    write("w.yaml", text.replace("echo 1 >x", "echo 2 >x"))
    smtune.ok("edit", "w")
    smtune.ok("resume", "w")
    assert log(smtune) == ["x", "y", "z"] * 2
    assert (smtune.directory / "z").read_text() == "2\n"
    assert exists(smtune, "y") == []
    prove(smtune)


def test_a_part_of_it_again(smtune, write):
    """--from makes the file again, and prints that; --only refuses."""
    write("w.yaml", FILE)
    smtune.ok("run", "w.yaml")
    assert "no such file" in smtune("run", "w.yaml", "--only", "two").stderr
    result = smtune("run", "w.yaml", "--from", "two")
    assert result.returncode == 0
    assert "step 'make' runs again: its temporary output" in result.stderr
    assert log(smtune) == ["make", "one", "two", "make", "two"]
    assert exists(smtune, "mid", "tree") == []
    prove(smtune, "w-2")


def test_a_chain_of_them_again(smtune, write):
    """What makes it again needs one that was removed, in turn."""
    write("w.yaml", workflow("""
    a: {shell: "echo a >>log; touch a", outputs: {a: {path: a, temp: true}}}
    b: {needs: a, shell: "echo b >>log; cp ${{ a.a }} b", outputs: {b: {path: b, temp: true}}}
    c: {needs: b, shell: "echo c >>log; cp ${{ b.b }} c", outputs: {c: c}}
    d: {needs: c, shell: "echo d >>log; cat ${{ c.c }}"}
    """, name="w"))
    smtune.ok("run", "w.yaml")
    smtune.ok("run", "w.yaml", "--from", "d")
    assert log(smtune) == ["a", "b", "c", "d", "d"]
    smtune.ok("run", "w.yaml", "--from", "c")
    assert log(smtune)[5:] == ["a", "b", "c", "d"]
    assert exists(smtune, "a", "b", "c") == ["c"]


def test_a_cached_step_runs_again_where_it_is_needed(smtune, write):
    """test_cache_temps.py has more."""
    write("w.yaml", workflow("""
    make: {shell: "echo make >>log; echo 1 >mid", cache: true, outputs: {mid: {path: mid, temp: true}}}
    use: {needs: make, shell: "echo use >>log; cp ${{ make.mid }} out", cache: true, outputs: {out: out}}
    """, name="w"))
    smtune.ok("run", "w.yaml")
    smtune.ok("run", "w.yaml")
    assert log(smtune) == ["make", "use"]
    smtune.ok("run", "w.yaml", "--force", "use")
    assert log(smtune) == ["make", "use"] * 2
    why = " ".join(smtune.ok("why", "w-3", "make").split())
    assert "the temporary output of job 1 of run 'w' is missing" in why
    assert exists(smtune, "mid") == []
    prove(smtune, "w-2")
    prove(smtune, "w-3")


def test_shared_with_a_run_that_runs(smtune, write):
    """A cache hit of another run: the run that ends last removes it."""
    write("a.yaml", workflow("""
    make: {shell: "echo make >>log; echo 1 >mid", cache: true, outputs: {mid: {path: mid, temp: true}}}
    use: {needs: make, shell: "touch begun; while [ ! -e go ]; do sleep 0.1; done; test -e ${{ make.mid }}", timeout: 60s}
    """, name="a"))
    write("b.yaml", workflow("""
    make: {shell: "echo make >>log; echo 1 >mid", cache: true, outputs: {mid: {path: mid, temp: true}}}
    use: {needs: make, shell: "test -e ${{ make.mid }}"}
    """, name="b"))
    process = smtune.start("run", "a.yaml")
    wait_until(lambda: exists(smtune, "begun"))
    smtune.ok("run", "b.yaml")
    assert log(smtune) == ["make"]
    assert exists(smtune, "mid") == ["mid"]
    write("go", "")
    assert process.wait() == 0
    assert exists(smtune, "mid") == []
    prove(smtune, "a")
    prove(smtune, "b")


def test_killed_between_the_file_and_the_record(smtune, write):
    """The next engine finds it due again."""
    write("w.yaml", FILE)
    smtune.ok("run", "w.yaml")
    assert removed(smtune) == {"make": ["mid", "tree"]}
    write("v.yaml", FILE.replace("name: w", "name: v"))
    write("fail", "")
    assert smtune("run", "v.yaml").returncode == 1
    (smtune.directory / "mid").unlink()
    (smtune.directory / "fail").unlink()
    result = smtune("retry", "v", "--failed")
    assert "temporary output of step 'make'" in result.stderr
    smtune.ok("retry", "v", "--force", "make")
    prove(smtune, "v")


def test_mistakes_in_the_file(smtune, write):
    write("w.yaml", """version: 1
steps:
  a: {command: "true", outputs: {x: {path: x, temp: true}, y: {value: f, temp: true},
      z: {path: z, key: k}, w: {key: k}}}
outputs: {x: a.x}
""")
    result = smtune("validate", "w.yaml")
    assert result.returncode == 3
    for text in ("key 'temp' is only for an output with 'path'",
                 "output 'z' has both 'path' and 'key'",
                 "missing key: output 'w' has no file",
                 "output 'x' of step 'a' is temporary"):
        assert text in result.stderr
