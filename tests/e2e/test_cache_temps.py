# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache hits whose temporary outputs were removed: nothing runs again for a file
that no step needs, as users of Snakemake (issues 2328, 280, 1964) and Nextflow
(issue 3818) reported it of theirs."""

import pytest

from files import experiment, workflow
from programs import wait_until


def step(name, reads, temp, more=""):
    """Writes what it reads, and the file NAME.in, into NAME.out."""
    files = " ".join("${{ %s.out }}" % read for read in reads)
    needs = f"needs: [{', '.join(reads)}], " if reads else ""
    return (f'{name}: {{{needs}shell: "echo {name} >>log;'
            f' cat {files} {name}.in >{name}.out",'
            f' outputs: {{out: {{path: {name}.out, temp: {str(temp).lower()}}}}},'
            f' cache: {{inputs: [{name}.in]}}{more}}}\n')


CHAIN = step("a", "", True) + step("b", "a", True) + step("c", "b", False)
# It has no cache.
X = ('x: {shell: "touch begun; while [ ! -e go ]; do sleep 0.05; done;'
     ' cat x.in >x.out", outputs: {out: x.out}, timeout: 60s%s}\n')
LACKS = "its temporary output is missing, and no step needs it"


class Flow:
    """A workflow w, the log of the steps that ran, and its runs."""

    def __init__(self, smtune, write, steps, **sections):
        self.smtune, self.write = smtune, write
        for name in "abcdx":
            write(f"{name}.in", name)
        self.define(steps, **sections)

    def define(self, steps, **sections):
        self.write("w.yaml", workflow(steps, name="w", **sections))

    def exists(self, *names):
        return [name for name in names
                if (self.smtune.directory / name).exists()]

    def log(self):
        """The steps that ran since it was asked last."""
        path = self.smtune.directory / "log"
        steps = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return "".join(sorted(steps))

    def run(self, *words):
        self.smtune.ok("run", "w.yaml", *words)
        return self.log()

    def start(self, *words):
        """A run that has got as far as its step x."""
        (self.smtune.directory / "go").unlink(missing_ok=True)
        (self.smtune.directory / "begun").unlink(missing_ok=True)
        process = self.smtune.start("run", "w.yaml", *words)
        wait_until(lambda: self.exists("begun"))
        return process

    def why(self, run, job):
        return " ".join(self.smtune.ok("why", run, job).split())

    def plan(self):
        return " ".join(self.smtune.ok("plan", "w.yaml").split())

    def cached(self):
        """What the plan has of each step with a cache."""
        return {step["name"]: step["cached"]
                for step in self.smtune.json("plan", "w.yaml")["steps"]
                if step["cached"] is not None}

    def states(self, run):
        return dict(self.smtune.query(
            "SELECT run_step.name, run_step.state FROM run_step JOIN run"
            f" ON run.id = run_id WHERE run.name = '{run}'"))

    def prove(self, *runs):
        for run in runs:
            self.smtune.ok("replay", run)
        self.smtune.ok("fsck")


@pytest.fixture
def flow(smtune, write):
    def make(steps, **sections):
        return Flow(smtune, write, steps, **sections)

    return make


@pytest.mark.quick
@pytest.mark.sanitized
def test_a_chain_of_them(smtune, flow):
    w = flow(CHAIN + 'last: {needs: c, command: "cat ${{ c.out }}"}')
    assert w.run() == "abc"
    assert w.exists("a.out", "b.out", "c.out") == ["c.out"]
    plan = w.plan()
    for job in 1, 2:
        assert f"cache hit: job {job} of run 'w'; {LACKS}" in plan
    assert "cache hit: job 3 of run 'w' " in plan
    assert "3 of 3 steps with a cache are hits" in plan
    assert " ".join(smtune.ok("run", "w.yaml", "--dry-run").split()) == plan
    assert {name: (step["jobs"][0]["state"],
                   step["jobs"][0]["lacks_temporary_outputs"])
            for name, step in w.cached().items()} == {
        "a": ("hit", True), "b": ("hit", True), "c": ("hit", False)}
    result = smtune("run", "w.yaml")
    assert result.returncode == 0 and "temporary" not in result.stderr
    assert w.log() == ""
    assert w.exists("a.out", "b.out", "c.out") == ["c.out"]
    assert LACKS in w.why("w-2", "a") and LACKS in w.why("w-2", "b")
    assert "since job 1 of run w" in w.why("w-2", "a")
    assert LACKS not in w.why("w-2", "c")
    shown = smtune.json("show", "w-2")
    assert shown["step_counts"]["cached"] == 3
    assert [line["cached"] for line in shown["steps"]] == [1, 1, 1, 0]
    assert set(w.states("w-2").values()) == {"succeeded"}
    assert "#" not in str(smtune.json("show", "w-2", "a")["outputs"])
    assert w.run() == ""
    w.prove("w", "w-2", "w-3")


@pytest.mark.sanitized
def test_what_runs_makes_them_again(smtune, flow, write):
    """And with it all that makes what was removed; as soon as a later step has
    the same inputs as before, it is a hit."""
    w = flow(CHAIN)
    w.run()
    write("c.in", "changed")
    plan = w.plan()
    assert ("the temporary output of job 1 of run 'w' is missing, and step 'b' "
            "may need it") in plan
    assert plan.count("cache: depends on a") == 2
    assert w.run() == "abc"
    assert (smtune.directory / "c.out").read_text() == "abchanged"
    assert ("cache miss: the temporary output of job 1 of run 'w' is missing, "
            "and step 'b' may need it") in w.why("w-2", "a")
    assert "and step 'c' may need it" in w.why("w-2", "b")
    assert "changed since job 3 of run 'w': input 'c.in'" in w.why("w-2", "c")
    assert w.exists("a.out", "b.out") == []
    assert w.run() == ""
    write("b.in", "changed")
    assert w.run() == "abc"
    write("a.in", "changed")
    assert w.run() == "abc"
    (smtune.directory / "c.out").write_text("damaged")
    assert w.run() == "abc"
    assert w.run("--force", "c") == "abc"
    assert w.run("--force", "a") == "a"
    w.prove(*["w"] + [f"w-{i}" for i in range(2, 9)])


def test_a_diamond(flow, write):
    """One consumer runs: the file is made again, and the other stays a hit."""
    w = flow(step("a", "", True) + step("b", "a", False)
             + step("c", "a", False) + step("d", "bc", False))
    assert w.run() == "abcd"
    assert w.run() == ""
    write("c.in", "changed")
    assert w.run() == "acd"
    assert "and step 'c' may need it" in w.why("w-3", "a")
    assert w.run() == ""
    write("d.in", "changed")
    assert w.run() == "d"
    assert LACKS in w.why("w-5", "a")
    w.prove("w-2", "w-3", "w-5")


def test_one_in_the_middle(flow, write):
    w = flow(step("a", "", False) + step("b", "a", True)
             + step("c", "b", False))
    assert w.run() == "abc"
    assert w.run() == ""
    write("c.in", "changed")
    assert w.run() == "bc"
    assert "cache hit" in w.why("w-3", "a")
    w.prove("w-2", "w-3")


def test_copies(flow, write):
    """All copies of a step are needed by each step that may use one."""
    make = """
    make: {matrix: {n: %s}, shell: "echo ${{ n }} >>log; cp a.in m${{ n }}",
           outputs: {m: {path: "m${{ n }}", temp: true}}, cache: {inputs: [a.in]}}
    use: {needs: make, shell: "echo u >>log; cat ${{ files(make.m) }} >u",
          cache: {inputs: [b.in]}, outputs: {u: u}}
    """
    w = flow(make % [1, 2, 3], parallel=2)
    assert w.run() == "123u"
    assert w.run() == ""
    write("b.in", "changed")
    assert w.run() == "123u"
    w.define(make % [1, 2, 3, 4], parallel=2)
    assert w.run() == "1234u"
    assert w.run() == ""
    w.prove("w-2", "w-3", "w-4", "w-5")


def test_a_step_without_a_cache_needs_it(flow):
    w = flow(step("a", "", True)
             + 'use: {needs: a, shell: "echo u >>log; cat a.out"}')
    assert w.run() == "au"
    assert w.run() == "au"
    assert "and step 'use' may need it" in w.why("w-2", "a")


def test_a_step_that_is_left_out_needs_nothing(flow):
    w = flow(step("a", "", True)
             + 'use: {needs: a, if: "1 > 2", command: "cat ${{ a.out }}"}')
    assert w.run() == "a"
    assert w.run() == ""
    w.prove("w-2")


def test_a_child_run_needs_it(flow, write):
    write("sub.yaml", workflow('s: {shell: "echo s >>log; cat ${{ data }}"}',
                               params={"data": "none"}))
    w = flow(step("a", "", True) + "sub: {needs: a, workflow: sub.yaml,"
             ' with: {data: "${{ a.out }}"}}')
    assert w.run() == "as"
    assert w.run() == "as"


def test_an_experiment_as_a_step(flow, write):
    """Its key is made of the content of the file that was removed."""
    write("tune.yaml", experiment(
        "cat ${{ data }}; echo t >>log; echo loss=${{ x }}", trials=2,
        parallel=1, parameters={"x": {"type": "float", "min": 0, "max": 1},
                                "data": "none"}))
    tune = ('tune: {needs: a, experiment: tune.yaml, cache: {inputs: [c.in]},'
            ' with: {data: "${{ a.out }}"}}\n')
    w = flow(step("a", "", True) + tune)
    assert w.run() == "att"
    assert w.run() == ""
    assert LACKS in w.why("w-2", "a")
    write("c.in", "changed")
    assert w.run() == "att"
    write("a.in", "changed")
    assert w.run() == "att"
    w.prove("w-2", "w-3")


# ---- when it is not known at once


@pytest.mark.sanitized
def test_it_waits_for_steps_that_decide(smtune, flow, write):
    """What x makes decides about d, and d about a."""
    w = flow(step("a", "", True) + X % "" + step("d", "ax", False))
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
    w = flow(step("a", "", True) + X % "" + step("d", "ax", False), parallel=1)
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


def test_stopped_while_it_waits(smtune, flow, write):
    w = flow(step("a", "", True) + X % "" + step("d", "ax", False))
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


# ---- engines that are killed, and what changes meanwhile


def begin_and_kill(smtune, w):
    """The engine is killed when a is a hit, and b has not begun: x has the only
    slot. x goes on."""
    process = w.start()
    wait_until(lambda: w.states("w-2").get("a") == "succeeded")
    process.kill()
    process.wait()
    w.write("go", "")
    assert w.states("w-2")["b"] != "succeeded"


def killed(flow, write):
    w = flow(step("a", "", True, ", priority: 9") + X % ", priority: 5"
             + step("b", "a", True) + step("c", "b", False), parallel=1)
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


# ---- parts of it again


def test_touched(smtune, flow, write):
    """The content of a file that was removed is that of the last result, so that
    what was touched is a hit later."""
    w = flow(CHAIN)
    w.run()
    write("a.in", "an edit that does not matter")
    assert w.run("--touch") == ""
    assert set(w.states("w-2").values()) == {"succeeded"}
    assert w.run() == ""
    assert "since job 1 of run w-2" in w.why("w-3", "a")
    assert LACKS in w.why("w-3", "a") and LACKS in w.why("w-3", "b")
    write("c.in", "changed")
    assert w.run() == "abc"
    w.prove("w-2", "w-3", "w-4")


def test_from_a_step(smtune, flow, write):
    w = flow(CHAIN)
    w.run()
    result = smtune("run", "w.yaml", "--from", "c")
    assert result.returncode == 0 and w.log() == ""
    for name in "ab":
        assert (f"the result of step '{name}' is not reused: its temporary "
                f"output") in result.stderr
    write("c.in", "changed")
    assert w.run("--from", "c") == "abc"
    w.prove("w-2", "w-3")


def test_a_retry_runs_a_hit(smtune, flow):
    """It is no hit again, and its result is one for later runs."""
    w = flow(step("a", "", False))
    w.run()
    assert w.run() == ""
    smtune.ok("retry", "w-2", "--force", "a")
    assert w.log() == "a"
    assert "cache miss: a retry runs it again" in w.why("w-2", "a")
    assert w.run() == ""
    assert "since job 1 of run w-2" in w.why("w-3", "a")
    w.prove("w-2", "w-3")
