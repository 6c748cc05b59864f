# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune prune: checkpoints of all but the best trials are removed."""

import pytest

SIX = "{x: {type: ordinal, values: [1, 2, 3, 4, 5, 6]}}"


@pytest.fixture
def six(experiment):
    """Six trials: the second has failed, the third left no checkpoint."""
    def make(objective="loss"):
        return experiment("""
            test $X != 3 && head -c 1000 /dev/zero > $SMTUNE_CHECKPOINT_DIR/state
            test $X != 2 && echo loss=$X size=$((($X - 4) * ($X - 4)))
            """, env={"X": "${{ x }}"}, objective=objective, parameters=SIX,
            search="grid", trials=None, parallel=1)
    return make


@pytest.fixture
def run(smtune, six):
    def start(*words):
        assert smtune("run", six(*words)).returncode == 0
    return start


def left(smtune, run="exp"):
    """The x of trials that have checkpoints."""
    trials = smtune.store / "runs" / run / "trials"
    return sorted(row["params"]["x"] for row in smtune.json("trials", run)
                  if (trials / str(row["id"]) / "ml/checkpoints/state"
                      ).exists())


@pytest.mark.sanitized
def test_the_best_and_the_failed_keep_theirs(smtune, run):
    run()
    assert smtune.json("prune", "exp") == [
        {"run": "exp", "kept": 2, "removed": 3, "bytes": 3000}]
    assert left(smtune) == [1, 2]
    assert smtune.json("prune", "exp")[0]["removed"] == 0
    assert len(smtune.json("trials", "exp")) == 6
    smtune.ok("fsck")
    smtune.ok("replay", "exp")


def test_more_can_be_kept(smtune, run):
    run()
    table = smtune.ok("prune", "exp", "--keep", 4, "--dry-run")
    assert table.split()[:7] == ["run", "kept", "removed", "freed",
                                 "exp", "4", "1"]
    assert left(smtune) == [1, 2, 4, 5, 6]
    smtune.ok("prune", "exp", "--keep", 4)
    assert left(smtune) == [1, 2, 4, 5]


def test_so_does_the_pareto_front(smtune, run):
    run("[loss, size]")
    assert [row["params"]["x"] for row in smtune.json("best", "exp")
            ] == [1, 3, 4]
    smtune.ok("prune", "exp")
    assert left(smtune) == [1, 2, 4]


def test_a_failed_trial_that_is_run_again_finds_its_own(smtune, run):
    run()
    smtune.ok("prune", "exp")
    smtune("retry", "exp", "--failed")
    assert left(smtune) == [1, 2]


def test_a_run_with_an_engine_is_left_alone(smtune, run):
    run()
    with smtune.as_engine_of("exp"):
        result = smtune("prune", "exp")
    assert result.returncode != 0
    assert "cannot prune run 'exp'" in result.stderr
    assert left(smtune) == [1, 2, 4, 5, 6]


@pytest.mark.parametrize("words, says", [
    (["exq"], "did you mean 'exp'"),
    (["exp", "--keep", 0], "'0'"),
    ([], "RUN"),
])
def test_refused(smtune, run, words, says):
    run()
    result = smtune("prune", *words)
    assert result.returncode in (2, 4) and says in result.stderr
    assert left(smtune) == [1, 2, 4, 5, 6]


def test_what_may_go_on_keeps_its_own_until_the_run_is_over(smtune, experiment,
                                                            write):
    path = experiment("""
        echo $X > $SMTUNE_CHECKPOINT_DIR/state
        echo epochs=${{ epochs }} loss=$X
        test ${{ trial }} != 3 || test ! -e stop || smtune stop exp
        """, env={"X": "${{ x }}"}, search="grid", trials=None, parallel=1,
        parameters=SIX,
        schedule="{method: asha, resource: epochs, min: 1, max: 4, eta: 2}")
    stop = write("stop", "")
    assert smtune("run", path).returncode != 0
    assert "paused" in smtune.states()
    smtune.ok("prune", "exp")
    assert len(left(smtune)) == len(smtune.states()) == 3
    stop.unlink()
    smtune.ok("resume", "exp")
    states = smtune.states()
    assert states.count("paused") + states.count("stopped") > 1
    smtune.ok("prune", "exp")
    assert left(smtune) == [1]
    smtune.ok("replay", "exp")


def test_of_a_workflow_those_below_it(smtune, six, workflow):
    six()
    smtune.ok("run", workflow("tune: {experiment: exp.yaml}", name="top"))
    assert [row["run"] for row in smtune.json("prune", "top")] == ["top.tune"]
    assert left(smtune, "top.tune") == [1, 2]
