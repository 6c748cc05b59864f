# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache hits whose temporary outputs were removed: nothing runs again for a file
that no step needs, as users of Snakemake (issues 2328, 280, 1964) and Nextflow
(issue 3818) reported it of theirs."""

import pytest

from cache_flow import CHAIN, LACKS, flow, step
from files import experiment, workflow


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


def test_final_steps(flow):
    w = flow(step("a", "", True) + step("b", "a", False),
             always='{clean: {shell: "echo f >>log; cat ${{ a.out }}"}}')
    assert w.run() == "abf"
    assert w.run() == "af"
    w.prove("w-2")


def test_lists_and_groups(flow, write):
    """What a step needs by its place alone, through a group."""
    w = flow(f"""
    - {step("a", "", True)}
    - parallel:
        - {step("b", "", True).replace("b.in >", "a.out b.in >")}
        - {step("c", "a", True)}
    - {step("d", "bc", False)}
    """)
    assert w.run() == "abcd"
    assert w.run() == ""
    write("d.in", "changed")
    assert w.run() == "abcd"
    assert "and step 'b' may need it" in w.why("w-3", "a")
    w.prove("w-2", "w-3")


def test_folders_and_several_outputs(flow, write):
    w = flow("""
    a:
      shell: echo a >>log; mkdir -p t; cp a.in t/1; cp a.in u; cp a.in k
      outputs: {t: {path: t, temp: true}, u: {path: u, temp: true}, k: k}
      cache: {inputs: [a.in]}
    b:
      needs: a
      shell: echo b >>log; cat ${{ a.t }}/1 ${{ a.u }} ${{ a.k }} >b.out
      outputs: {out: b.out}
      cache: {inputs: [b.in]}
    """)
    assert w.run() == "ab"
    assert w.exists("t", "u", "k") == ["k"]
    assert w.run() == ""
    write("u", "a")  # the same as before, by somebody
    assert w.run() == ""
    assert w.exists("u") == []
    write("u", "another")
    assert w.run() == "a"
    write("k", "damaged")
    assert w.run() == "a"
    write("b.in", "changed")
    assert w.run() == "ab"
    w.prove("w-2", "w-3", "w-4", "w-5", "w-6")


@pytest.mark.parametrize("path", ["a.out", "a${{ round }}.out"])
def test_rounds(flow, write, path):
    w = flow(f"""
    a:
      shell: 'echo a >>log; cp a.in {path}'
      outputs: {{out: {{path: '{path}', temp: true}}}}
      cache: {{inputs: [a.in]}}
      repeat: {{max: 3}}
    """ + """
    b: {needs: a, shell: "echo b >>log; cat ${{ a.out }} >b.out",
        outputs: {out: b.out}, cache: {inputs: [b.in]}}
    """)
    assert w.run() == "aaab"
    assert w.exists("a.out", "a1.out", "a2.out", "a3.out") == []
    assert w.run() == ""
    write("b.in", "changed")
    # The first round makes what all have made, where that is one file.
    assert w.run() == ("ab" if path == "a.out" else "aaab")
    w.prove("w-2", "w-3")


def test_a_child_run_needs_it(flow, write):
    write("sub.yaml", workflow('s: {shell: "echo s >>log; cat ${{ data }}"}',
                               params={"data": "none"}))
    w = flow(step("a", "", True) + "sub: {needs: a, workflow: sub.yaml,"
             ' with: {data: "${{ a.out }}"}}')
    assert w.run() == "as"
    assert w.run() == "as"


def test_a_child_run_of_its_own(smtune, flow, write):
    write("sub.yaml", workflow(CHAIN, outputs="{o: c.out}"))
    w = flow('sub: {workflow: sub.yaml}\n'
             'use: {needs: sub, command: "cat ${{ sub.o }}"}')
    assert w.run() == "abc"
    assert w.run() == ""
    assert LACKS in w.why("w-2.sub", "a")
    w.prove("w-2", "w-2.sub")


def test_an_experiment_as_a_step(flow, write):
    """Its key is made of the content of the file that was removed."""
    write("tune.yaml", experiment(
        "cat ${{ data }} >read; echo t >>log; echo loss=${{ x }}", trials=2,
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


def test_runs_side_by_side(smtune, flow):
    w = flow(CHAIN)
    w.run()
    names = "one", "two", "three"
    runs = [smtune.start("run", "w.yaml", "--name", name) for name in names]
    for run in runs:
        assert run.wait() == 0, run.stderr.read()
    assert w.log() == ""
    w.prove(*names)


def test_names_with_a_hash_are_not_shown(smtune, flow):
    w = flow(CHAIN)
    w.run()
    w.run()
    for words in ("show", "w-2", "a"), ("show", "w-2"), ("trials", "w-2"):
        assert "#missing" not in smtune.ok(*words, "-o", "json")
