# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune run --from STEP` and `--only STEP`: a part of a workflow again."""

import pytest

from files import workflow

FILE = workflow("""
    a: {shell: "echo a ${{ n }} >> ran; echo x=3 > a.txt", outputs: {x: {value: a.txt}}}
    b: {needs: a, matrix: {i: [1, 2]}, success_if: 1, shell: "echo b ${{ i }} ${{ a.x }} >> ran; test ${{ i }} = 1"}
    c: {needs: b, shell: "echo c ${{ m }} ${{ b.succeeded }} >> ran"}
    d: {needs: c, shell: "echo d >> ran"}
    e: {shell: "echo e >> ran"}
    """, name="again", params={"n": 2, "m": 1})


@pytest.fixture
def again(smtune, write):
    """Has run the file once; runs it with options, gives what ran."""
    path = write("again.yaml", FILE)
    ran = smtune.directory / "ran"

    def run(*options, path=path):
        ran.unlink(missing_ok=True)
        result = smtune("run", path, *options)
        lines = ran.read_text().splitlines() if ran.exists() else []
        return result, sorted(lines)

    assert run()[0].returncode == 0
    return run


def proves_all(smtune, run):
    smtune.ok("replay", run)
    smtune.ok("fsck")


@pytest.mark.sanitized
def test_from_a_step_on_it_and_what_needs_it_runs(smtune, again):
    result, ran = again("--from", "c")
    assert result.returncode == 0, result.stderr
    assert ran == ["c 1 1", "d"]
    states = {job["job"]: job["state"] for job in smtune.json("trials",
                                                              "again-2")}
    assert states == {"a": "succeeded", "b[0]": "succeeded", "b[1]": "failed",
                      "c": "succeeded", "d": "succeeded", "e": "succeeded"}
    proves_all(smtune, "again-2")


def test_only_one_step_runs(smtune, again):
    result, ran = again("--only", "b")
    assert result.returncode == 0, result.stderr
    assert ran == ["b 1 3", "b 2 3"]
    states = {step["name"]: (step["state"], step["reason"])
              for step in smtune.json("status", "again-2")["steps"]}
    assert states["c"] == ("skipped", "not selected by --only")
    assert states["d"][0] == "skipped"
    assert states["e"][0] == "succeeded"
    proves_all(smtune, "again-2")


def test_what_changed_is_not_taken_over(smtune, again, write):
    assert again("--from", "c", "--set", "params.m=7")[1] == ["c 7 1", "d"]
    result, ran = again("--from", "c", "--set", "params.n=7")
    assert (result.returncode, ran) == (5, [])
    assert "step 'a' before 'c' has changed" in result.stderr
    path = write("again.yaml", FILE.replace("echo e", "echo E"))
    same = ("--set", "params.m=7")
    assert again("--from", "d", *same, path=path)[1] == ["E", "d"]
    path = write("again.yaml", FILE.replace("echo b", "echo B"))
    result, ran = again("--only", "c", *same, path=path)
    assert (result.returncode, ran) == (5, [])
    assert "step 'b' before 'c' has changed" in result.stderr


@pytest.mark.parametrize("options, status, says", [
    (["--from", "z"], 4, "unknown step 'z'"),
    (["--from", "a", "--only", "a"], 2, "exclude each other"),
    (["--from", "b", "--set", "name=other"], 4, "workflow 'other' has no run"),
])
def test_what_cannot_be(smtune, again, options, status, says):
    result, ran = again(*options)
    assert (result.returncode, ran) == (status, [])
    assert says in result.stderr


def test_a_step_that_is_forced_asks_no_cache(smtune, write):
    path = write("c.yaml", workflow("""
        a: {command: touch made, cache: true}
        b: {needs: a, command: touch too, cache: true}
        """, name="c"))

    def ran(*options):
        smtune.ok("run", path, "--name", f"r{len(smtune.json('ls'))}",
                  *options)
        return [len(smtune.json("show", "last", job)["attempts"])
                for job in ("a", "b")]

    smtune.ok("run", path)
    assert ran() == [0, 0]
    assert ran("--force", "b") == [0, 1]
    assert ran("--force", "a", "--force", "b") == [1, 1]
    assert ran() == [0, 0]
    result = smtune("run", path, "--force", "z")
    assert result.returncode == 3
    assert "unknown step 'z'" in result.stderr


FILES = """
    a: {shell: "mkdir -p d; echo 1 >d/a", outputs: {f: d/a}}
    b: {needs: a, shell: "cat ${{ a.f }} >d/b", outputs: {f: d/b}}
    c: {needs: b, shell: "cat ${{ b.f }}; echo c >>ran"}
    """


@pytest.mark.parametrize("word", ["--from", "--only"])
def test_files_that_are_gone_are_not_taken_over(smtune, workflow, word):
    path = workflow(FILES)
    smtune.ok("run", "-q", path)
    (smtune.directory / "d/a").unlink()
    assert smtune("run", path, word, "c").returncode == 0  # reads b's alone
    (smtune.directory / "d/b").unlink()
    result = smtune("run", path, word, "c")
    assert result.returncode == 5
    assert f"no such file: '{smtune.directory}/d/b', which step 'b' made" \
        in result.stderr
    assert "--from b makes it again" in result.stderr
    assert smtune("run", path, word, "b").returncode == 5
    assert smtune("run", path, "--from", "a").returncode == 0


def test_a_step_may_accept_that_its_file_is_gone(smtune, workflow):
    path = workflow(FILES.replace("b: {", "b: {allow_empty: true, ").replace(
        "cat ${{ b.f }}", "test ! -e ${{ b.f }}"))
    smtune("run", "-q", path)
    (smtune.directory / "d/b").unlink()
    result = smtune("run", path, "--from", "c")
    assert result.returncode == 0
    assert "warning: no such file:" in result.stderr
