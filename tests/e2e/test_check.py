# SPDX-License-Identifier: GPL-3.0-or-later
"""tests/check, with a stand-in for make."""

import re
import shutil
import subprocess

import pytest

from programs import ROOT

MAKE = """\
#!/bin/bash
echo "$*" >>"$OUT/said"
case $* in *"$CHANGES"*) eval "$CHANGE" ;; esac
case $* in *"$FAILS"*) echo 'x: 2 passed, 1 failed'; exit 2 ;; esac
case $* in
*check-build*) ;;
*check-e2e*) echo '3 passed, 1 skipped in 1.2s (0:00:01)' ;;
*) echo 'x: 2 passed, 0 failed' ;;
esac
"""


@pytest.fixture
def check(tmp_path):
    """check(word..., fails="..."): the lines that it printed; the calls of make
    are in check.said. It runs in a repository of its own, and `change` in it at
    the calls of make with the words `at`."""
    tree = tmp_path / "tree"
    (tree / "tests/lint").mkdir(parents=True)
    shutil.copy(ROOT / "tests/check", tree / "tests")
    (tree / "tests/lint/tidy").write_text("#!/bin/sh\necho 1a2b\n")
    (tree / "tests/lint/tidy").chmod(0o755)
    (tree / ".gitignore").write_text("build\n")
    (tmp_path / "make").write_text(MAKE)
    (tmp_path / "make").chmod(0o755)

    def git(*words):
        return subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@x", *words],
            cwd=tree, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "first")

    def run(*words, fails="nothing", at="nothing", change=""):
        result = subprocess.run(
            [tree / "tests/check", *words], capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin", "MAKE": str(tmp_path / "make"),
                 "OUT": str(tmp_path), "FAILS": fails, "CHANGES": at,
                 "CHANGE": change}, timeout=100)
        lines = result.stdout.splitlines()
        total = re.fullmatch(r"(\d+) passed, (\d+) failed", lines[-1])
        assert (result.returncode == 0) == (total[2] == "0"), result.stderr
        run.said = (tmp_path / "said").read_text().splitlines()
        (tmp_path / "said").unlink()
        run.stages = [line.split()[1] for line in lines
                      if line.startswith("== ") and "before" not in line]
        return lines
    run.git = git
    run.tree = tree
    return run


def test_stages_are_counted_and_the_last_line_is_the_sum(check):
    lines = check()
    assert check.stages[0] == "build"
    assert sorted(check.stages) == sorted(
        ["build", "san", "unit", "e2e", "sanitized", "slurm", "browser",
         "fault", "python", "trixie", "sim", "fuzz", "lint", "lint-test"])
    assert lines[-1] == "26 passed, 0 failed"
    assert any(re.match(r"e2e +3 passed +0 failed ", line) for line in lines)
    assert (check.tree / "build/check/total").read_text() == \
        "26 passed, 0 failed\n"


def test_a_stage_that_fails_stops_no_other(check):
    lines = check(fails="check-slurm SAMPLE=1")
    assert lines[-1] == "26 passed, 1 failed"
    assert len(check.said) == 14


def test_what_is_not_built_fails(check):
    lines = check(fails="check-build ON=san")
    assert lines[-1] == "28 passed, 1 failed"


def test_stages_that_need_a_build_come_after_it(check):
    check("all")
    build = next(i for i, line in enumerate(check.said)
                 if line.endswith("check-build ON=san"))
    for stage in ("check-unit", "fault", "check-fuzz", "check-slurm ON=san"):
        assert any(stage in line for line in check.said[build + 1:]), stage


def test_where_all_passed_is_remembered(check):
    assert "make check-all has never passed (tests/passed)" in check()
    assert "tests/passed is written: commit it" in check("all")
    text = (check.tree / "tests/passed").read_text()
    assert f"commit {check.git('rev-parse', 'HEAD')}" in text
    assert "tidy 1a2b\n" in text
    assert re.search(r"^slurm \d+ s$", text, re.M)
    check.git("add", "-A")
    check.git("commit", "-qm", "passed")
    assert any(re.fullmatch(r"make check-all passed 1 commit ago, on [-\d]+",
                            line) for line in check())


def test_what_is_no_commit_is_not_remembered(check):
    (check.tree / "tests/check").write_text(
        (check.tree / "tests/check").read_text() + "# changed\n")
    assert any("differs from its commit" in line for line in check("all"))
    assert not (check.tree / "tests/passed").exists()


def test_what_fails_is_not_remembered(check):
    check("all", fails="check-slurm")
    assert not (check.tree / "tests/passed").exists()


def test_all_goes_on_where_it_failed(check):
    lines = check("all", fails="check-slurm ON=san")
    total = int(lines[-1].split()[0])
    lines = check("all")
    assert check.stages == ["build", "slurm"]
    assert lines[-1] == f"{total} passed, 0 failed"
    assert "tests/passed is written: commit it" in lines
    check("all")
    assert len(check.stages) > 10


def test_all_goes_on_where_it_was_killed(check):
    check("all", fails="check-slurm ON=san")
    (check.tree / "build/check/fault.end").unlink()
    check("all")
    assert sorted(check.stages) == ["build", "fault", "slurm"]


def test_another_commit_is_checked_from_the_start(check):
    check("all", fails="check-slurm ON=san")
    (check.tree / "tests/check").write_text(
        (check.tree / "tests/check").read_text() + "# changed\n")
    check("all", fails="check-slurm ON=san")
    assert len(check.stages) > 10
    check.git("commit", "-qam", "second")
    check("all", fails="check-slurm ON=san")
    assert len(check.stages) > 10
    check(fails="check-slurm SAMPLE=1")
    check("all")
    assert len(check.stages) > 10


@pytest.mark.parametrize("change", [
    "echo '# changed' >>tests/lint/tidy",
    "echo '# changed' >>tests/lint/tidy;"
    " git -c user.name=x -c user.email=x@x commit -qam second"])
def test_a_tree_that_changes_meanwhile_has_not_passed(check, change):
    lines = check("all", at="check-e2e ON=san", change=change)
    assert any("has changed meanwhile" in line for line in lines)
    assert not (check.tree / "tests/passed").exists()
    check.git("checkout", "-q", "--", ".")
    check("all", fails="check-slurm ON=san", at="check-e2e ON=san",
          change=change)
    check.git("checkout", "-q", "--", ".")
    check("all")
    assert len(check.stages) > 10
    assert (check.tree / "tests/passed").exists()
