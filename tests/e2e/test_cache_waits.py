# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache hits without their temporary outputs, when it is not known at once
whether a step needs these, and engines that are killed meanwhile."""

import pytest

from cache_flow import LACKS, X, flow, step
from files import workflow
from programs import wait_until

# It lasts until the file `end` is there, and decides nothing.
LONG = 'long: {shell: "while [ ! -e end ]; do sleep 0.1; done", timeout: 60s}\n'
# What x makes decides about d, and d about a.
WAITING = step("a", "", True) + X % "" + step("d", "ax", False)
MAKE = """
make: {matrix: {n: %s}, %s outputs: {m: {path: "m${{ n }}", temp: true}},
       shell: "echo ${{ n }} >>log; cp a.in m${{ n }}; test ! -e bad",
       cache: {inputs: ["in${{ n }}"]}}
use: {needs: make, shell: "echo u >>log; cat ${{ files(make.m) }} >u",
      cache: {inputs: [b.in]}, outputs: {u: u}}
"""


@pytest.mark.sanitized
def test_it_waits_for_steps_that_decide(smtune, flow, write):
    """What x makes decides about d, and d about a."""
    w = flow(WAITING)
    write("go", "")
    assert w.run() == "ad"
    plan = w.cached()
    assert not plan["a"]["is_known"] and plan["a"]["depends_on"] == ["x"]
    assert plan["d"]["depends_on"] == ["a", "x"]
    process = w.start()
    write("go", "")
    assert process.wait() == 0 and w.log() == ""
    assert LACKS in w.why("w-2", "a") and "cache hit" in w.why("w-2", "d")
    process = w.start()
    write("x.in", "changed")
    write("go", "")
    assert process.wait() == 0 and w.log() == "ad"
    assert "and step 'd' may need it" in w.why("w-3", "a")
    assert (smtune.directory / "d.out").read_text() == "achangedd"
    w.prove("w-2", "w-3")


def test_it_holds_no_slot_while_it_waits(flow, write):
    w = flow(WAITING, parallel=1)
    write("go", "")
    assert w.run() == "ad"
    assert w.run() == ""


def test_it_does_not_wait_for_steps_behind_it(flow, write):
    """x decides about d, but needs b, which needs a."""
    w = flow(step("a", "", True) + step("b", "a", False)
             + X % ", needs: b" + step("d", "ax", False))
    write("go", "")
    assert w.run() == "abd"
    assert w.run() == "a"
    assert "and step 'd' may need it" in w.why("w-2", "a")
    w.prove("w-2")


def test_it_does_not_wait_for_a_step_that_waits_for_its_place(flow, write):
    """The pool is full until one of both has ended."""
    w = flow(step("a", "", True, ", pool: p, priority: 2") + X % ", pool: p"
             + step("d", "ax", False), pools="{p: 1}")
    write("go", "")
    assert w.run() == "ad"
    assert w.run() == "a"
    assert "and a later step may need it" in w.why("w-2", "a")
    w.prove("w-2")


@pytest.mark.parametrize("pool", [", pool: p", ""])
def test_it_makes_way(flow, write, pool):
    """For a step on which it waits, though another one runs for long."""
    w = flow(step("a", "", True, ", pool: p, priority: 2") + X % pool
             + step("d", "ax", False) + LONG, pools="{p: 1}")
    write("go", "")
    write("end", "")
    assert w.run() == "ad"
    w.remove("end")
    process = w.start()
    write("go", "")
    wait_until(lambda: w.states("w-2").get("d") == "succeeded")
    write("end", "")
    assert process.wait() == 0
    assert w.log() == ("a" if pool else "")
    w.prove("w-2")


def test_copies_make_way_for_others(smtune, flow, write):
    """The fourth copy decides, and has no room beside those that wait."""
    w = flow(MAKE % ([1, 2, 3], "parallel: 2,") + LONG)
    for n in 1, 2, 3, 4:
        write(f"in{n}", "")
    write("end", "")
    assert w.run() == "123u"
    w.remove("end")
    w.define(MAKE % ([1, 2, 3, 4], "parallel: 2,") + LONG)
    process = smtune.start("run", "w.yaml")
    wait_until(lambda: w.states("w-2").get("use") == "succeeded")
    write("end", "")
    assert process.wait() == 0
    assert w.log() == "1234u"
    w.prove("w-2")


def test_a_final_step_decides(flow, write):
    w = flow(step("a", "", True) + X % "", always="""
    fin: {shell: "echo f >>log; cat ${{ a.out }} ${{ x.out }} >f.out",
          outputs: {out: f.out}, cache: true}
    """)
    write("go", "")
    assert w.run() == "af"
    plan = w.cached()["a"]
    assert not plan["is_known"] and plan["depends_on"] == ["x"]
    assert w.run() == ""
    process = w.start()
    write("x.in", "changed")
    write("go", "")
    assert process.wait() == 0
    assert w.log() == "af"
    w.prove("w-2", "w-3")


def test_a_source_that_is_removed_meanwhile(smtune, flow, write):
    w = flow(WAITING)
    write("go", "")
    w.run()
    process = w.start()
    w.await_held()
    smtune.ok("rm", "w")
    write("go", "")
    assert process.wait() == 0
    assert w.log() == "ad"
    w.prove("w-2")


def test_stopped_while_it_waits(smtune, flow, write):
    w = flow(WAITING)
    write("go", "")
    w.run()
    process = w.start()
    process.terminate()
    process.wait()
    write("go", "")
    smtune.ok("resume", "w-2")
    assert w.log() == ""
    process = w.start()
    smtune.ok("stop", "w-3", "--job", "a")
    write("go", "")
    assert process.wait() == 1
    assert w.states("w-3") == {"a": "failed", "x": "succeeded",
                               "d": "skipped"}
    w.prove("w-2", "w-3")


def test_paused_while_it_waits(smtune, flow, write):
    w = flow(WAITING)
    write("go", "")
    w.run()
    process = w.start()
    w.await_held()
    smtune.ok("pause", "w-2")
    write("go", "")
    wait_until(lambda: smtune.json("show", "w-2", "x")["state"] == "succeeded")
    smtune.ok("resume", "w-2")
    assert process.wait() == 0
    assert w.log() == ""
    w.prove("w-2")


def test_edited_while_it_waits(smtune, flow, write):
    w = flow(WAITING)
    write("go", "")
    w.run()
    process = w.start()
    w.await_held()
    write("edited.yaml", workflow(WAITING, name="w", time="1h"))
    smtune.ok("edit", "w-2", "edited.yaml")
    write("go", "")
    assert process.wait() == 0
    assert w.log() == ""
    process = w.start()
    w.await_held()
    write("edited.yaml", workflow(WAITING.replace("echo d", "echo  d"), name="w"))
    smtune.ok("edit", "w-3", "edited.yaml")
    write("go", "")
    assert process.wait() == 0
    assert w.log() == "ad"
    w.prove("w-2", "w-3")


def test_another_job_is_put_back_while_it_waits(smtune, flow, write):
    w = flow(WAITING + 'y: {shell: "echo y >>log; test -e good"}')
    write("go", "")
    write("good", "")
    w.run()
    w.remove("good")
    process = w.start()
    w.await_held()
    wait_until(lambda: w.states("w-2").get("y") == "failed")
    write("good", "")
    smtune.ok("retry", "w-2", "y")
    write("go", "")
    assert process.wait() == 0
    assert w.log() == "yy"
    w.prove("w-2")


def test_ended_by_their_step_while_they_wait(smtune, flow, write):
    """A retry of those that were not over may be a cache hit."""
    w = flow(MAKE % ([1, 2, 3], "fail_fast: kill,"))
    for n in 1, 2, 3:
        write(f"in{n}", "")
    assert w.run() == "123u"
    write("in3", "changed")
    write("bad", "")
    assert smtune("run", "w.yaml").returncode == 1
    assert [trial["state"] for trial in smtune.json("trials", "w-2")] == [
        "cancelled", "cancelled", "failed"]
    assert w.log() == "3"
    w.remove("bad")
    smtune.ok("retry", "w-2", "--failed")
    assert w.log() == "3"
    w.prove("w-2")


# ---- engines that are killed, and what changes meanwhile


@pytest.mark.sanitized
def test_engines_killed_while_it_waits(smtune, flow, write):
    w = flow(WAITING)
    write("go", "")
    w.run()
    process = w.start()
    for _ in range(3):
        w.await_held()
        process.kill()
        process.wait()
        assert w.states("w-2")["a"] == "active"
        process = w.start_logged("resume", "w-2")
    w.await_held()
    write("go", "")
    assert process.wait() == 0
    assert w.log() == ""
    assert LACKS in w.why("w-2", "a")
    w.prove("w-2")


def begin_and_kill(smtune, w):
    """The engine is killed when a is a hit, and b has not begun, since x has the
    pool. x goes on."""
    process = w.start()
    wait_until(lambda: w.states("w-2").get("a") == "succeeded")
    process.kill()
    process.wait()
    w.write("go", "")
    assert w.states("w-2")["b"] != "succeeded"


def killed(flow, write):
    w = flow(step("a", "", True) + X % ", pool: p"
             + step("b", "a", True, ", pool: p") + step("c", "b", False),
             pools="{p: 1}")
    write("go", "")
    assert w.run() == "abc"
    return w


@pytest.mark.sanitized
def test_an_engine_killed_in_between(smtune, flow, write):
    w = killed(flow, write)
    begin_and_kill(smtune, w)
    smtune.ok("resume", "w-2")
    assert w.log() == ""
    assert set(w.states("w-2").values()) == {"succeeded"}
    assert LACKS in w.why("w-2", "a") and LACKS in w.why("w-2", "b")
    w.prove("w-2")


def test_what_changes_in_between_is_an_error(smtune, flow, write):
    """b would run without the file of a, which was a hit: it does not, and the
    command in its message makes the file again."""
    w = killed(flow, write)
    begin_and_kill(smtune, w)
    write("c.in", "changed")
    assert smtune("resume", "w-2").returncode == 1
    assert w.log() == ""
    assert w.states("w-2") == {"a": "succeeded", "x": "succeeded",
                               "b": "failed", "c": "skipped"}
    assert ("a temporary output of step 'a' is missing (smtune retry w-2 "
            "--force a makes it again)") in " ".join(
                (smtune.ok("show", "w-2", "b") + w.why("w-2", "b")).split())
    w.prove("w-2")
    assert "temporary output of step 'a'" in smtune(
        "retry", "w-2", "--failed").stderr
    smtune.ok("retry", "w-2", "--force", "a")
    assert w.log() == "abc"
    assert (smtune.directory / "c.out").read_text() == "abchanged"
    assert w.exists("a.out", "b.out") == []
    w.prove("w-2")


def test_the_file_of_another_run_stays(smtune, flow, write):
    """What was missing when its step became a hit is not this run's."""
    w = flow(step("a", "", True) + X % "")
    write("go", "")
    w.run()
    process = w.start()
    wait_until(lambda: w.states("w-2").get("a") == "succeeded")
    write("a.out", "of another run")
    write("go", "")
    assert process.wait() == 0
    assert w.exists("a.out") == ["a.out"] and w.log() == ""
    assert smtune.query("SELECT count(*) FROM event JOIN run ON run.id = run_id"
                        " WHERE event = 'temps_removed' AND name = 'w-2'") == [
        (0,)]
    w.prove("w-2")
