# SPDX-License-Identifier: GPL-3.0-or-later
"""A workflow's jobs are put back by their user: what needs them runs again, and
nothing else does. And what becomes of steps when the run's time is over."""

import pytest

from programs import wait_until

FAILING = """\
    a: {shell: "echo a >>seen"}
    b:
      needs: a
      matrix: {x: [1, 2, 3]}
      shell: "echo b${{ x }} >>seen; test ${{ x }} -ne 2 || test -e mended"
    c: {needs: b, shell: "echo c >>seen"}
    d: {needs: a, shell: "echo d >>seen"}
"""
ALWAYS = '{z: {shell: "echo z >>seen"}}'


def seen(smtune):
    return sorted((smtune.directory / "seen").read_text().split())


def steps(smtune):
    return dict(smtune.query("SELECT name, state FROM run_step"))


def is_sound(smtune):
    smtune.ok("fsck")
    smtune.ok("replay", "flow")


@pytest.mark.sanitized
def test_what_failed_and_what_needs_it(smtune, workflow):
    workflow(FAILING, always=ALWAYS)
    assert smtune("run", "flow.yaml").returncode == 1
    assert steps(smtune) == {"a": "succeeded", "b": "failed", "c": "skipped",
                             "d": "succeeded", "z": "succeeded"}
    (smtune.directory / "mended").touch()
    smtune.ok("retry", "flow", "--failed")
    assert seen(smtune) == ["a", "b1", "b2", "b2", "b3", "c", "d", "z", "z"]
    assert set(steps(smtune).values()) == {"succeeded"}
    is_sound(smtune)
    assert smtune("retry", "flow", "--failed").returncode == 2


def test_one_that_succeeded(smtune, workflow):
    workflow(FAILING, always=ALWAYS)
    (smtune.directory / "mended").touch()
    smtune.ok("run", "flow.yaml")
    (smtune.directory / "seen").unlink()
    number, = (row[0] for row in smtune.query(
        "SELECT number FROM job WHERE step = 1 AND copy = 2"))
    smtune.ok("retry", "flow", number, "--force")
    assert seen(smtune) == ["b3", "c", "z"]
    is_sound(smtune)
    old, new = (row[0] for row in smtune.query(
        "SELECT number FROM job WHERE step = 2 ORDER BY number"))
    refused = smtune("retry", "flow", old, "--force")
    assert refused.returncode == 2
    assert f"job {new} replaced job {old}" in refused.stderr


def test_one_whose_step_was_skipped_since(smtune, workflow):
    """Its failure, too, is of an earlier time, and nobody means it."""
    workflow("""
        a: {shell: "echo a >>seen; test ! -e broken"}
        b: {needs: a, shell: "echo b >>seen; false"}
        """)
    assert smtune("run", "flow.yaml").returncode == 1
    (smtune.directory / "broken").touch()
    assert smtune("retry", "flow", "a", "--force").returncode == 1
    assert steps(smtune) == {"a": "failed", "b": "skipped"}
    refused = smtune("retry", "flow", "2")
    assert refused.returncode == 2
    assert "job 2 is from an earlier execution of step 'b', which is skipped" \
        " now: retry a step that it needs" in refused.stderr
    is_sound(smtune)
    (smtune.directory / "broken").unlink()
    assert smtune("retry", "flow", "a", "2").returncode == 1
    assert steps(smtune) == {"a": "succeeded", "b": "failed"}
    assert seen(smtune) == ["a", "a", "a", "b", "b"]
    is_sound(smtune)


def test_a_copy_that_was_left_out(smtune, workflow):
    workflow("""
        a: {matrix: {x: [1, 2]}, if: x = 2, shell: "echo ${{ x }} >>seen"}
        """)
    smtune.ok("run", "flow.yaml")
    refused = smtune("retry", "flow", "a[0]", "--force")
    assert refused.returncode == 2
    assert "job 1 was skipped: its `if` is false" in refused.stderr
    assert seen(smtune) == ["2"]
    is_sound(smtune)


def test_copies_put_back_keep_to_the_limit(smtune, workflow):
    """Also where an engine takes up what another one was told to put back."""
    workflow("""
        a:
          matrix: {x: [1, 2, 3, 4, 5, 6]}
          parallel: 2
          fail_fast: false
          shell: "test -e mended || exit 1; echo ${{ x }} >>seen;
            n=$(ls -d at-* 2>/dev/null | wc -l); mkdir at-${{ x }};
            test $n -lt 2 || echo too-many >>seen; sleep 0.3; rmdir at-${{ x }};
            until test -e go; do sleep 0.1; done"
        """, parallel=4, defaults="{resources: {cpus: 0}}")
    assert smtune("run", "flow.yaml").returncode == 1
    (smtune.directory / "mended").touch()
    run = smtune.start("retry", "flow", "--failed")
    wait_until(lambda: (smtune.directory / "seen").exists() and
               len(seen(smtune)) == 2)
    run.kill()
    run.wait()
    resumed = smtune.start("resume", "flow")
    (smtune.directory / "go").touch()
    assert resumed.wait(60) == 0
    assert seen(smtune) == ["1", "2", "3", "4", "5", "6"]
    is_sound(smtune)


def test_what_failed_before_its_step_waited_again_is_not_meant(smtune,
                                                               workflow):
    workflow("""
        a: {shell: "echo a >>seen; until test -e go; do sleep 0.1; done"}
        b: {needs: a, shell: "echo b >>seen; test -e mended"}
        slow: {shell: "until test -e end; do sleep 0.1; done"}
        """)
    go = smtune.directory / "go"
    go.touch()
    run = smtune.start("run", "flow.yaml")
    wait_until(lambda: (smtune.directory / "seen").exists() and
               steps(smtune)["b"] == "failed")
    go.unlink()
    smtune.ok("retry", "flow", "a", "--force")
    wait_until(lambda: seen(smtune) == ["a", "a", "b"])
    refused = smtune("retry", "flow", "--failed")
    assert refused.returncode == 2
    assert "nothing has failed" in refused.stderr
    (smtune.directory / "mended").touch()
    go.touch()
    wait_until(lambda: steps(smtune)["b"] == "succeeded")
    (smtune.directory / "end").touch()
    assert run.wait(30) == 0
    assert seen(smtune) == ["a", "a", "b", "b"]
    is_sound(smtune)


def test_while_it_runs(smtune, workflow):
    workflow(FAILING + '    slow: {needs: a, shell: "until test -e go; do '
             'sleep 0.01; done"}', always=ALWAYS)
    run = smtune.start("run", "flow.yaml")
    wait_until(lambda: (smtune.directory / "seen").exists() and
               steps(smtune).get("c") == "skipped")
    (smtune.directory / "mended").touch()
    smtune.ok("retry", "flow", "--failed")
    wait_until(lambda: steps(smtune)["c"] == "succeeded")
    (smtune.directory / "go").touch()
    assert run.wait(30) == 0
    assert seen(smtune) == ["a", "b1", "b2", "b2", "b3", "c", "d", "z"]
    is_sound(smtune)


def test_time_that_is_over_ends_all_steps(smtune, workflow):
    workflow("""
        a: {command: sleep 60}
        b: {needs: a, command: "true"}
        c: {matrix: {x: [1, 2, 3]}, parallel: 1, command: sleep 60}
        """, time="1s")
    assert smtune("run", "flow.yaml").returncode == 1
    assert steps(smtune) == {"a": "failed", "b": "skipped", "c": "failed"}
    assert smtune.query("SELECT count(*) FROM job WHERE step = 2") == [(1,)]
    is_sound(smtune)


def test_copies_that_time_left_start_once_one_is_put_back(smtune, workflow):
    workflow("""
        c: {matrix: {x: [1, 2, 3]}, parallel: 1, success_if: 1,
            shell: "test -e mended && echo c${{ x }} >>seen || sleep 60"}
        """, time="1s")
    assert smtune("run", "flow.yaml").returncode == 1
    (smtune.directory / "mended").touch()
    smtune.ok("retry", "flow", 1)
    assert seen(smtune) == ["c1", "c2", "c3"]
    is_sound(smtune)


def test_what_its_time_stopped_counts_as_failed(smtune, workflow):
    workflow("""
        a: {shell: "test -e mended || sleep 60"}
        b: {needs: a, command: "true"}
        """, time="1s")
    assert smtune("run", "flow.yaml").returncode == 1
    (smtune.directory / "mended").touch()
    smtune.ok("retry", "flow", "--failed")
    assert steps(smtune) == {"a": "succeeded", "b": "succeeded"}
    shown = smtune.json("show", "flow")
    assert (shown["state"], shown["reason"]) == (
        "succeeded", "all steps have finished")
    is_sound(smtune)


def test_outputs_are_those_of_the_last_time(smtune, workflow):
    workflow("""
        a: {shell: "true"}
        c: {needs: a, shell: "! test -e broken && echo v=7 >$SMTUNE_OUTPUTS",
            outputs: {v: null}, may_fail: true}
        """, outputs="{value: c.v}")
    assert smtune.json("run", "flow.yaml")["outputs"] == {"value": 7}
    (smtune.directory / "broken").touch()
    number, = (row[0] for row in smtune.query(
        "SELECT number FROM job WHERE step = 0"))
    again = smtune.json("retry", "flow", number, "--force")
    assert steps(smtune) == {"a": "succeeded", "c": "failed"}
    assert again["outputs"] == {"value": None}
    is_sound(smtune)
