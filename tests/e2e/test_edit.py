# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune edit RUN [FILE]`: a run that has begun applies a corrected file."""

import json
import os
import signal

import pytest

import files
from programs import wait_until

WAITS = """
    while [ ! -e go ]; do sleep 0.1; done
    echo loss=1
    """


@pytest.fixture
def write_exp(experiment):
    """write_exp(key=value ...): the file of a run with 4 trials, one at a time,
    or its next version."""
    def put(*words, **keys):
        return experiment(*words, **{"trials": 4, "parallel": 1,
                                     "method": "tpe"} | keys)
    return put


@pytest.fixture
def lives(smtune, write_exp):
    """lives(key=value ...): a run whose trials wait for a file goes on."""
    def start(shell=WAITS, **keys):
        smtune.ok("run", write_exp(shell, **keys), "--detach")
        wait_until(lambda: running(smtune) > 0)
    return start


def running(smtune):
    return smtune.json("status", "exp")["trials"]["running"]


def changes(smtune, *words):
    """{key: (before, after)} of an edit that is done."""
    return {row["key"]: (row["before"], row["after"])
            for row in smtune.json("edit", *words)
            if row["refused"] is None}


def rows(smtune):
    return json.loads(smtune("edit", "exp", "-o", "json").stdout)


def proved(smtune, run="exp"):
    assert "differs" not in smtune.ok("replay", run)
    smtune.ok("fsck")


def end(smtune):
    (smtune.directory / "go").touch()
    smtune("wait", "exp")
    proved(smtune)
    return [row["value"] for row in smtune.json("trials", "exp")]


# ---- a run without an engine ----

@pytest.mark.sanitized
def test_failed_trials_run_again_with_the_corrected_command(smtune, write_exp):
    assert smtune("run", write_exp("exit 3")).returncode == 6
    before = [row["params"] for row in smtune.json("trials", "exp")]
    write_exp("echo loss=2")
    assert changes(smtune, "exp") == {
        "trial.shell": ("exit 3", "echo loss=2")}
    smtune.ok("retry", "exp", "--failed")
    trials = smtune.json("trials", "exp")
    assert [row["params"] for row in trials] == before
    assert [row["value"] for row in trials] == [2] * 4
    proved(smtune)


@pytest.mark.parametrize("method", ["auto", "bayesian", "sobol"])
def test_the_search_stays_planned_as_it_was(smtune, write_exp, method):
    """As after `resume --trials`."""
    smtune.ok("run", write_exp(method=method))
    smtune.ok("resume", "exp", "--trials", 9)
    resumed = [row["params"] for row in smtune.json("trials", "exp")]
    smtune.ok("rm", "exp")
    smtune.ok("run", write_exp(method=method))
    write_exp(method=method, trials=9, parallel=4)
    assert changes(smtune, "exp") == {"budget.trials": (4, 9),
                                      "budget.parallel": (1, 4)}
    shown = smtune.json("show", "exp")
    assert (shown["state"], shown["reason"]) == ("stopped",
                                                 "its file was edited")
    write_exp(method=method, trials=9, parallel=1)
    smtune.ok("edit", "exp")
    smtune.ok("resume", "exp")
    edited = [row["params"] for row in smtune.json("trials", "exp")]
    assert edited == resumed
    proved(smtune)


def test_the_last_word_about_the_budget_counts(smtune, write_exp):
    smtune.ok("run", write_exp())
    smtune.ok("resume", "exp", "--trials", 6)
    write_exp("echo loss=3")  # the file had 4, and still has
    smtune.ok("edit", "exp")
    smtune.ok("resume", "exp", "--trials", 7)
    write_exp("echo loss=3", trials=8)
    smtune.ok("edit", "exp")
    smtune.ok("resume", "exp")
    assert len(smtune.json("trials", "exp")) == 8
    proved(smtune)


def test_the_best_trials_command_is_the_one_that_it_ran(smtune, write_exp):
    """A trial ran by the file of its time, whatever the file is now."""
    smtune.ok("run", write_exp("echo loss=2 first"))
    for shell, trials, words in (("echo loss=3 second", 5, "loss=2 first"),
                                 ("echo loss=1 third", 6, "loss=1 third"),
                                 ("echo loss=4 fourth", 7, "loss=1 third")):
        write_exp(shell, trials=trials)
        smtune.ok("edit", "exp")
        smtune.ok("resume", "exp")
        assert words in smtune.ok("best", "exp", "--command")


def test_other_ends_of_the_budget(smtune, write_exp):
    """What ended the run by the file of then ends it no more."""
    smtune.ok("run", write_exp("echo loss=1",
                               budget="{trials: 9, parallel: 1, target: 5}"))
    assert len(smtune.json("trials", "exp")) == 1
    write_exp("echo loss=1", budget="{trials: 6, parallel: 1, target: 0.5}")
    smtune.ok("edit", "exp")
    assert smtune("resume", "exp").returncode == 6
    assert len(smtune.json("trials", "exp")) == 6
    assert smtune.json("show", "exp")["reason"].startswith("trial budget")
    proved(smtune)


@pytest.mark.parametrize("schedule", [
    "{method: asha, min: 1, max: 9, eta: 3, resource: epochs}",
    "{method: median, max: 9, resource: epochs}"])
def test_of_a_schedule(smtune, write_exp, schedule):
    loop = "for e in $(seq ${{ epochs }}); do echo epochs=$e loss=%s; done"
    smtune.ok("run", write_exp(loop % "${{ x }}", schedule=schedule, trials=6,
                               parallel=2))
    write_exp(loop % "1${{ x }}", schedule=schedule, trials=12, parallel=3)
    smtune.ok("edit", "exp")
    smtune.ok("resume", "exp")
    assert len(smtune.json("trials", "exp")) == 12
    proved(smtune)


def budget(**keys):
    return "{" + ", ".join(f"{key}: {keys[key]}" for key in keys) + "}"


def test_what_counts_as_an_improvement(smtune, write_exp):
    """By the budget of now, for earlier results, too."""
    shell = "echo loss=$((100 - SMTUNE_JOB))"
    limits = {"trials": 9, "parallel": 1, "no_improvement": 4}
    smtune.ok("run", write_exp(shell, budget=budget(improvement=0.5, **limits)))
    assert len(smtune.json("trials", "exp")) == 5
    write_exp(shell, budget=budget(improvement=0.001, **limits))
    smtune.ok("edit", "exp")
    smtune.ok("resume", "exp")
    assert len(smtune.json("trials", "exp")) == 9
    proved(smtune)
    write_exp(shell, budget=budget(improvement=0.5, **limits | {"trials": 12}))
    smtune.ok("edit", "exp")
    smtune.ok("resume", "exp")
    assert len(smtune.json("trials", "exp")) == 9
    assert "no improvement" in smtune.json("show", "exp")["reason"]
    proved(smtune)


def test_convergence_is_asked_from_now_on(smtune, write_exp):
    shell = "echo loss=1"
    limits = {"trials": 28, "parallel": 1}
    write = lambda **keys: write_exp(  # noqa: E731
        shell, method="random", budget=budget(**limits | keys))
    smtune.ok("run", write())
    write(convergence="true", trials=40)
    smtune.ok("edit", "exp")
    smtune.ok("resume", "exp")
    assert "converged" in smtune.json("show", "exp")["reason"]
    assert len(smtune.json("trials", "exp")) < 40
    proved(smtune)
    write(trials=40)
    smtune.ok("edit", "exp")
    smtune.ok("resume", "exp")
    assert len(smtune.json("trials", "exp")) == 40
    proved(smtune)


def test_a_budget_of_the_resource_comes_and_goes(smtune, write_exp):
    keys = {"shell": "for e in $(seq ${{ epochs }}); do"
                     " echo epochs=$e loss=${{ x }}; done",
            "schedule": "{method: asha, min: 1, max: 9, eta: 3,"
                        " resource: epochs}"}
    def write(**limits):
        return write_exp(keys["shell"], schedule=keys["schedule"],
                         budget=budget(parallel=1, **limits))
    smtune.ok("run", write(trials=6))
    proved(smtune)
    write(trials=60, resource=120)
    smtune.ok("edit", "exp")
    smtune.ok("resume", "exp")
    assert smtune.json("show", "exp")["reason"].startswith("resource budget")
    count = len(smtune.json("trials", "exp"))
    assert 6 < count < 60
    proved(smtune)
    write(trials=count + 10)
    smtune.ok("edit", "exp")
    smtune.ok("resume", "exp")
    assert len(smtune.json("trials", "exp")) == count + 10
    proved(smtune)


RETRY = '[{match: ["exit:3"], max: %d, delay: 0s}]'
TRACE = "echo $SMTUNE_JOB >>trace; exit 3"


def test_retries_begin_anew(smtune, write_exp):
    """Those of the rules before do not count as those of now."""
    smtune("run", write_exp(TRACE, trials=1, retry=RETRY % 2))
    trace = smtune.directory / "trace"
    assert len(trace.read_text().split()) == 3
    write_exp(TRACE, trials=2, retry=RETRY % 1)
    smtune.ok("edit", "exp")
    smtune("resume", "exp")
    assert trace.read_text().split() == ["1"] * 3 + ["2"] * 2
    smtune("retry", "exp", "--failed")
    assert sorted(trace.read_text().split()[5:]) == ["1", "1", "2", "2"]
    proved(smtune)


SCALES = '[{match: ["exit:3"], max: 2, delay: 0s, scale: {time: %d}}]'


def test_what_is_shown_of_retries(smtune, write_exp):
    """By the rules of now: rules of an earlier file are numbered below them."""
    limits = {"trials": 1, "resources": {"time": "2s"}}
    last = "[ $SMTUNE_ATTEMPT -lt 6 ] || sleep 0.6; exit 3"
    smtune("run", write_exp(last, retry=SCALES % 2, **limits))
    write_exp(last, retry=SCALES % 3, **limits)
    smtune.ok("edit", "exp")
    smtune("retry", "exp", "--failed")
    [row] = smtune.json("show", "exp", "--efficiency")["efficiency"]
    assert row["attempts"] == 6 and 3 < row["time_percent"] < 20


def test_the_target_of_now_counts(smtune, write_exp):
    smtune.ok("run", write_exp("echo loss=5"))
    write_exp("echo loss=5", budget="{trials: 5, parallel: 1, target: 0.5}")
    smtune.ok("edit", "exp")
    assert smtune("resume", "exp").returncode == 6
    assert smtune("wait", "exp").returncode == 6
    write_exp("echo loss=5", trials=6)
    smtune.ok("edit", "exp")
    assert smtune("resume", "exp").returncode == 0
    assert smtune("wait", "exp").returncode == 0


def test_another_file(smtune, write_exp, write):
    smtune("run", write_exp("exit 3"))
    write("other/new.yaml", files.experiment("echo loss=4", trials=4,
                                             parallel=1, method="tpe"))
    smtune.ok("edit", "exp", "other/new.yaml")
    assert smtune.json("show", "exp")["file"].endswith("/other/new.yaml")
    (smtune.directory / "exp.yaml").unlink()
    smtune.ok("retry", "exp", "--failed")
    assert smtune.json("edit", "exp") == []
    proved(smtune)


def test_words_of_set(smtune, write_exp):
    """They hold on, unless others replace them."""
    smtune.ok("run", write_exp(), "--set", "budget.trials=2")
    write_exp(trials=9)
    result = smtune("edit", "exp")
    assert result.returncode == 0 and "no changes" in result.stdout
    assert "'budget.trials' stays as --set" in result.stderr
    assert changes(smtune, "exp", "--set", "budget.trials=5") == {
        "budget.trials": (2, 5)}
    smtune.ok("resume", "exp")
    assert len(smtune.json("trials", "exp")) == 5
    assert smtune.json("show", "exp")["overrides"] == \
        '["budget.trials=2","budget.trials=5"]'
    proved(smtune)


def test_what_is_shown(smtune, write_exp):
    smtune.ok("run", write_exp())
    write_exp(trials=6, env={"A": "b"})
    shown = smtune.ok("edit", "exp", "--dry-run")
    assert [line.split() for line in shown.splitlines()] == [
        ["key", "before", "after"], ["budget.trials", "4", "6"],
        ["trial.env.A", "-", "***"]]
    shown = smtune.json("edit", "exp", "--dry-run")
    assert shown[1] == {"key": "trial.env.A", "before": None, "after": "***",
                        "refused": None}
    assert "edited" not in str(smtune.query("SELECT event FROM event"))
    result = smtune("edit", "exp")
    assert "run 'exp': 2 keys changed (continue: smtune resume exp" in \
        result.stderr
    assert smtune.ok("edit", "exp") == "no changes\n"


def test_how_it_is_written_is_no_change(smtune, write):
    path = write("exp.yaml", """\
        version: 1
        name: exp
        objective: loss
        parameters: {x: {type: float, min: 1e-3, max: 1}}
        search: random
        budget: {trials: 2}
        trial: {command: "echo loss=${{ x }}"}
        """)
    smtune.ok("run", path)
    path.write_text("""\
# a comment
budget: {trials: 2}
version: 1
trial:
  command: echo loss=${{ x }}
name: exp
parameters:
  x: {min: 0.001, max: 1, type: float}
objective: "loss"
search: {method: random}
""")
    assert smtune.json("edit", "exp") == []


# ---- a live run ----

@pytest.mark.sanitized
def test_a_live_run_applies_it(smtune, write_exp, lives):
    lives(trials=3)
    write_exp("echo loss=2", trials=5, env={"A": 1})
    result = smtune("edit", "exp")
    assert result.returncode == 0
    assert "jobs that run keep the command they started with" in result.stderr
    smtune.ok("enqueue", "exp", "x=0.5")
    assert end(smtune) == [1, 2, 2, 2, 2]
    events = [event for event, in smtune.query(
        "SELECT event FROM event WHERE job_id IS NULL ORDER BY seq")]
    assert events.count("edited") == 1
    assert smtune.query("SELECT count(*) FROM attempt") == [(5,)]


def test_many_edits_of_a_live_run(smtune, write_exp, lives):
    lives(trials=12, parallel=3)
    for i in range(6):
        write_exp(f"echo loss={i}; sleep 0.05", trials=13 + i, parallel=1 + i % 3,
                  resources={"cpus": i % 2})
        smtune.ok("edit", "exp")
    assert end(smtune)[3:] == [5] * 15


def test_a_paused_run_stays_paused(smtune, write_exp, lives):
    lives()
    smtune.ok("pause", "exp")
    write_exp("echo loss=2")
    smtune.ok("edit", "exp")
    (smtune.directory / "go").touch()
    wait_until(lambda: running(smtune) == 0)
    assert smtune.json("status", "exp")["state"] == "paused"
    smtune.ok("resume", "exp")
    assert end(smtune) == [1, 2, 2, 2]


def test_whoever_watches_sees_it_through(smtune, write_exp, lives):
    lives(trials=2)
    watcher = smtune.start("attach", "exp")
    write_exp("echo loss=2", trials=3)
    smtune.ok("edit", "exp")
    assert end(smtune) == [1, 2, 2]
    assert watcher.wait(20) == 0


def test_after_a_kill(smtune, write_exp, lives):
    lives(trials=2)
    write_exp("echo loss=2", trials=3)
    smtune.ok("edit", "exp")
    os.kill(smtune.json("status", "exp")["engine_pid"], signal.SIGKILL)
    wait_until(lambda: smtune.json("status", "exp")["state"] == "interrupted")
    smtune.ok("resume", "exp", "--detach")
    assert end(smtune) == [1, 2, 2]


# ---- what is refused ----

KEPT = [
    ("parameters.x.max", {"parameters": "{x: {type: float, min: 0, max: 2}}"}),
    ("search.seed", {"seed": 8}),
    ("objective", {"objective": "{metric: loss, goal: maximize}"}),
    ("schedule.method",
     {"schedule": "{method: median, max: 3, resource: epochs}"}),
    ("constraints", {"constraints": '["x < 0.5"]'}),
    ("enqueue", {"enqueue": "[{x: 0.5}]"}),
    ("trial.checkpoints", {"checkpoints": True}),
]


def refused(smtune, says, status=2):
    before = smtune.query("SELECT * FROM run"), smtune.query(
        "SELECT count(*) FROM event")
    result = smtune("edit", "exp")
    assert result.returncode == status and says in result.stderr
    assert before == (smtune.query("SELECT * FROM run"), smtune.query(
        "SELECT count(*) FROM event"))
    return result


@pytest.mark.parametrize("key, words", KEPT, ids=[key for key, _ in KEPT])
def test_what_the_search_depends_on(smtune, write_exp, key, words):
    smtune.ok("run", write_exp())
    write_exp(**words)
    result = refused(smtune, f"'{key}")
    assert "cannot change: " in result.stderr and key in result.stdout
    assert any(row["refused"] for row in rows(smtune))


def test_the_order_of_parameters(smtune, write_exp):
    smtune.ok("run", write_exp(parameters=files.X_AND_K))
    write_exp(parameters="{k: {type: categorical, values: [a, b]},"
                         " x: {type: float, min: 0, max: 1}}")
    refused(smtune, "'parameters' cannot change: the search depends on it")


def test_refused_by_a_live_run(smtune, write_exp, lives):
    lives(parallel=2)
    wait_until(lambda: running(smtune) == 2)
    write_exp(WAITS, parallel=2, trials=1)
    refused(smtune, "at least 2 trials, not 1: 2 have already")
    write_exp(WAITS, parallel=2, executor="{name: fake}")
    refused(smtune, "'executor.name' cannot change while 2 jobs run", 5)
    write_exp(WAITS, parallel=2, notify='[{url: "http://localhost:1/",'
              ' secret_env: NOT_THERE}]')
    refused(smtune, "missing environment variable 'NOT_THERE'")
    assert end(smtune) == [1] * 4


def test_a_wrong_file_or_none(smtune, write_exp, workflow):
    smtune.ok("run", write_exp())
    write_exp(trials="many")
    refused(smtune, "exp.yaml:", 3)
    (smtune.directory / "exp.yaml").unlink()
    refused(smtune, "exp.yaml", 4)
    path = workflow('a: {command: "true"}')
    result = smtune("edit", "exp", path)
    assert result.returncode == 2
    assert "the file is a workflow, and the run is of an experiment" in \
        result.stderr
    assert smtune("edit", "none").returncode == 4


# ---- retry and resume warn ----

@pytest.mark.parametrize("words", [("resume",), ("retry", "--failed")])
def test_a_file_that_differs_is_named(smtune, write_exp, words):
    smtune("run", write_exp("exit 3"))
    command, *rest = words
    quiet = smtune(command, "exp", *rest)
    assert "differs from run" not in quiet.stderr
    write_exp("echo loss=1", trials=5)
    result = smtune(command, "exp", *rest)
    assert ("exp.yaml differs from run 'exp' in 'budget.trials', 'trial.shell';"
            " the run continues as it was (apply the file: smtune edit exp)") in \
        result.stderr
    assert smtune.states() == ["failed"] * 4
    write_exp(trials="many")
    assert "exp.yaml has errors now" in smtune(command, "exp", *rest).stderr
    (smtune.directory / "exp.yaml").unlink()
    assert "exp.yaml" not in smtune(command, "exp", *rest).stderr


# ---- a workflow ----

STEPS = """
    prep: {shell: "echo prep >>trace"}
    fit:
      needs: prep
      matrix: {n: {range: [1, 4]}}
      shell: "echo fit ${{ n }} >>trace; test ${{ n }} -lt 4 || test -e go"
      resources: {time: 1h}
    side: {shell: "echo side >>trace"}
    end: {needs: fit, shell: "echo end >>trace"}
    """


@pytest.fixture
def failed(smtune, workflow):
    """The text of a workflow that has failed in one copy of a step."""
    path = workflow(STEPS)
    assert smtune("run", path).returncode == 1
    return path


def traced(smtune):
    path = smtune.directory / "trace"
    lines = path.read_text().splitlines()
    path.write_text("")
    return sorted(lines)


FIRST = ["fit 1", "fit 2", "fit 3", "fit 4", "prep", "side"]


def test_steps_that_did_not_change_keep_their_results(smtune, failed):
    assert traced(smtune) == FIRST
    failed.write_text(failed.read_text().replace("|| test -e go", "|| true")
                      .replace("time: 1h", "time: 2h"))
    result = smtune("edit", "flow", "--dry-run")
    assert "steps.fit.shell" in result.stdout
    smtune.ok("edit", "flow")
    smtune.ok("retry", "flow", "--failed")
    # Copies of the step whose command differs ran again, all others did not.
    assert traced(smtune) == ["end", "fit 1", "fit 2", "fit 3", "fit 4"]
    proved(smtune, "flow")


def test_resources_alone_repeat_nothing(smtune, failed):
    traced(smtune)
    failed.write_text(failed.read_text().replace("time: 1h", "time: 2h"))
    assert changes(smtune, "flow") == {
        "steps.fit.resources.time": ("1h", "2h")}
    (smtune.directory / "go").touch()
    smtune.ok("run", failed, "--failed")
    assert traced(smtune) == ["end", "fit 4"]
    proved(smtune, "flow")


def test_a_changed_step_runs_again_with_all_behind_it(smtune, failed):
    (smtune.directory / "go").touch()
    smtune.ok("retry", "flow", "--failed")
    traced(smtune)
    failed.write_text(failed.read_text().replace("echo prep", "echo prep2"))
    result = smtune("edit", "flow")
    assert "1 job runs again" in result.stderr
    assert smtune.json("show", "flow")["state"] == "stopped"
    smtune.ok("resume", "flow")
    assert traced(smtune) == ["end", "fit 1", "fit 2", "fit 3", "fit 4",
                              "prep2"]
    proved(smtune, "flow")


def test_a_live_workflow(smtune, workflow):
    path = workflow("""
        prep: {shell: "echo prep >>trace"}
        wait: {needs: prep, shell: "while [ ! -e go ]; do sleep 0.1; done"}
        end: {needs: wait, shell: "echo end >>trace"}
        side: {shell: "echo side >>trace"}
        """)
    smtune.ok("run", path, "--detach")
    wait_until(lambda: smtune.query(
        "SELECT count(*) FROM attempt WHERE state = 'running'"
        " AND job_id = (SELECT max(id) FROM job)") == [(1,)])
    wait_until(lambda: len((smtune.directory / "trace").read_text().split()) == 2)
    text = path.read_text()
    path.write_text(text.replace("echo prep", "echo prep2"))
    result = smtune("edit", "flow")
    assert result.returncode == 2
    assert "step 'wait' is running" in result.stderr
    path.write_text(text.replace("echo end", "echo end2").replace(
        "echo side", "echo side2"))
    assert "1 job runs again" in smtune("edit", "flow").stderr
    (smtune.directory / "go").touch()
    assert smtune("wait", "flow").returncode == 0
    assert traced(smtune) == ["end2", "prep", "side", "side2"]
    proved(smtune, "flow")


@pytest.mark.parametrize("before, after, key", [
    ("  end:", "  last:", "steps"),
    ("  side:", "  more: {command: 'true'}\n  side:", "steps"),
])
def test_the_order_of_steps_is_kept(smtune, failed, before, after, key):
    text = failed.read_text()
    assert before in text
    failed.write_text(text.replace(before, after))
    result = smtune("edit", "flow")
    assert result.returncode == 2
    assert f"'{key}" in result.stderr and "cannot change" in result.stderr
    assert "smtune run FILE --from STEP" in result.stderr


def corrected(smtune, path, *changed):
    """The run has applied the file with these replacements. What ran then."""
    traced(smtune)
    text = path.read_text()
    for before, after in changed:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text)
    result = smtune("edit", "flow")
    assert result.returncode == 0, result.stderr
    proved(smtune, "flow")
    resumed = smtune("resume", "flow")
    proved(smtune, "flow")
    assert smtune.json("edit", "flow") == []
    return resumed.returncode, traced(smtune)


def test_another_matrix(smtune, failed):
    """Copies are numbered by it: all of them run again, in the step alone."""
    assert corrected(smtune, failed, ("range: [1, 4]", "range: [2, 3]")) == (
        0, ["end", "fit 2", "fit 3"])
    assert smtune.query("SELECT DISTINCT state FROM run_step") == [
        ("succeeded",)]


def test_other_needs(smtune, failed):
    assert corrected(smtune, failed,
                     ("end: {needs: fit", "end: {needs: [prep, side]")) == (
                         1, ["end"])


def test_what_needs_it_now_waits_for_it(smtune, failed):
    """Its jobs run again in the new order."""
    (smtune.directory / "go").touch()
    smtune.ok("retry", "flow", "--failed")
    code, ran = corrected(smtune, failed,
                          ("side: {shell", "side: {needs: end, shell"))
    assert (code, ran) == (0, ["side"])
    code, ran = corrected(smtune, failed,
                          ("prep: {shell", "prep: {needs: [], if: '1 > 2',"
                                           " shell"))
    assert code == 0 and ran == []
    assert smtune.query("SELECT DISTINCT state FROM run_step") == [
        ("skipped",)]


def test_conditions_are_asked_again(smtune, failed):
    code, ran = corrected(smtune, failed,
                          ("end: {needs: fit", "end: {needs: fit, when: always"))
    assert (code, ran) == (1, ["end"])
    code, ran = corrected(smtune, failed, ("side: {shell",
                                           "side: {if: '1 > 2', shell"))
    assert ran == []
    code, ran = corrected(smtune, failed, ("1 > 2", "2 > 1"))
    assert ran == ["side"]


@pytest.mark.parametrize("key", ["may_fail: true", "success_if: 0.7"])
def test_how_a_step_ended_is_asked_again(smtune, failed, key):
    """Without a job of it that runs again."""
    assert corrected(smtune, failed, ("    resources:", f"    {key}\n"
                                      "    resources:")) == (0, ["end"])


def test_limits_repeat_nothing(smtune, failed):
    assert corrected(
        smtune, failed,
        ("    resources: {time: 1h}",
         "    parallel: 1\n    pool: disk\n    priority: 3\n"
         "    cache: true\n    fail_fast: kill"),
        ("version: 1", "version: 1\npools: {disk: 2}"))[1] == []
    (smtune.directory / "go").touch()
    smtune.ok("retry", "flow", "--failed")
    assert traced(smtune) == ["end", "fit 4"]
    proved(smtune, "flow")


def test_outputs_are_read_by_the_new_file(smtune, workflow):
    path = workflow("""
        make: {shell: "echo make >>trace; echo v=3 >o.txt"}
        use: {needs: make, shell: "echo use >>trace"}
        side: {shell: "echo side >>trace"}
        """)
    smtune.ok("run", path)
    text = path.read_text()
    assert corrected(
        smtune, path, ("make: {", "make: {outputs: {v: {value: o.txt}}, "),
        ("use >>trace", "use ${{ make.v }} >>trace")) == (
            0, ["make", "use 3"])
    path.write_text(text.replace("echo make", "echo again"))
    assert "steps.make.outputs" in smtune.ok("edit", "flow")
    smtune.ok("resume", "flow")
    assert traced(smtune) == ["again", "use"]
    proved(smtune, "flow")


def test_outputs_of_the_workflow(smtune, workflow):
    path = workflow('make: {shell: "echo x"}')
    smtune.ok("run", path)
    path.write_text(path.read_text() + "outputs: {s: make.state}\n")
    smtune.ok("edit", "flow")
    assert smtune.json("edit", "flow") == []
    proved(smtune, "flow")


def test_a_live_workflow_with_other_steps(smtune, workflow):
    """A step that runs cannot begin again; what waits, or is over, can."""
    path = workflow("""
        prep: {shell: "echo prep >>trace"}
        wait: {needs: prep, shell: "while [ ! -e go ]; do sleep 0.1; done"}
        end: {needs: wait, matrix: {i: [1]}, shell: "echo end ${{ i }} >>trace"}
        side: {shell: "echo side >>trace"}
        """)
    smtune.ok("run", path, "--detach")
    wait_until(lambda: smtune.query(
        "SELECT count(*) FROM attempt JOIN job ON job.id = job_id"
        " WHERE attempt.state = 'running' AND step = 1") == [(1,)])
    wait_until(lambda: len((smtune.directory / "trace").read_text().split()) == 2)
    text = path.read_text()
    for before, after in [("wait: {", "wait: {matrix: {n: [1, 2]}, "),
                          ("prep: {", "prep: {if: '1 > 0', ")]:
        path.write_text(text.replace(before, after))
        for words in [("--dry-run",), ()]:
            result = smtune("edit", "flow", *words)
            assert result.returncode == 2
            assert "step 'wait' is running, and the edit would make it wait " \
                "again" in result.stderr
    path.write_text(text.replace("i: [1]", "i: [1, 2], k: [x]")
                    .replace("side: {", "side: {needs: end, parallel: 3, "))
    assert "1 step begins again" in smtune("edit", "flow").stderr
    (smtune.directory / "go").touch()
    assert smtune("wait", "flow").returncode == 0
    assert traced(smtune) == ["end 1", "end 2", "prep", "side", "side"]
    proved(smtune, "flow")


def test_a_job_that_is_not_over_is_stopped_first(smtune, workflow):
    path = workflow("""
        wait: {shell: "while [ ! -e go ]; do sleep 0.1; done"}
        end: {needs: wait, shell: "echo end >>trace"}
        """)
    smtune.ok("run", path, "--detach")
    wait_until(lambda: smtune.query(
        "SELECT state FROM attempt") == [("running",)])
    smtune.ok("stop", "flow")
    path.write_text(path.read_text().replace("wait: {", "wait: {copies: 2, "))
    result = smtune("edit", "flow")
    assert "smtune stop RUN --job JOB" in result.stderr, result.stderr
    smtune.ok("stop", "flow", "--job", 1)
    smtune("resume", "flow")
    smtune.ok("edit", "flow")
    (smtune.directory / "go").touch()
    smtune.ok("resume", "flow")
    assert traced(smtune) == ["end"]
    proved(smtune, "flow")


def test_why_has_lines_of_the_file_of_now(smtune, workflow):
    path = workflow("""
        fit:
          shell: "exit 3"
          retry: [{match: ["exit:3"], max: 1, delay: 0s}]
        """)
    smtune("run", path)
    [first, _] = smtune.json("why", "flow", "fit")["attempts"]
    assert first["then"] == "retry rule 1: retried"
    path.write_text("# a line\n# two\n" + path.read_text().replace(
        "max: 1", "max: 2"))
    smtune.ok("edit", "flow")
    smtune("retry", "flow", "--failed")
    why = smtune.json("why", "flow", "fit")["attempts"]
    assert [(row["then"], row["line"]) for row in why] == [
        ("a retry rule of an earlier file: retried", None),
        ("a retry rule of an earlier file: retried", None),
        ("retry rule 1: retried", first["line"] + 2),
        ("retry rule 1: retried", first["line"] + 2),
        ("retry rule 1: no retries left", first["line"] + 2)]


def test_a_comment_is_no_other_file(smtune, failed):
    failed.write_text("# a comment\n" + failed.read_text())
    (smtune.directory / "go").touch()
    smtune.ok("run", failed, "--failed")
    assert smtune.json("ls")[0]["name"] == "flow"
