# SPDX-License-Identifier: GPL-3.0-or-later
"""What people see of a workflow's run: status, show, trials, logs and the
others that read the record. The store is filled by tests/e2e/fill_workflow.c:
`prepare` is done, `tell` skipped, `late` waits; of `shard` one copy is done,
one failed, one runs and one waits; `tune` has a child run; `grow` is in its
second round."""

import contextlib
import csv
import io
import re
import signal
import sqlite3

import pytest

from programs import wait_until

STEPS = ["prepare", "tell", "shard", "tune", "grow", "late"]


@pytest.fixture
def night(smtune):
    smtune.ok(smtune.store, "night", program="tests/e2e/fill_workflow")
    for name in "night", "night.tune":
        (smtune.store / "runs" / name).mkdir(parents=True)
    return "night"


def sql(smtune, statement):
    with contextlib.closing(
            sqlite3.connect(smtune.store / "smtune.db")) as connection:
        connection.execute(statement)
        connection.commit()


def by_name(rows):
    return {row["name"]: row for row in rows}


def refused(smtune, *words, status=4):
    result = smtune(*words)
    assert (result.returncode, result.stdout) == (status, ""), words
    return result.stderr.removeprefix("smtune: ").strip()


# ---- status


@pytest.mark.sanitized
def test_status_has_a_line_for_each_step(smtune, night):
    status = smtune.json("status", night)
    assert status["state"] == "interrupted"
    assert status["step_counts"] == {
        "total": 6, "done": 2, "waiting": 1, "active": 0, "succeeded": 1,
        "failed": 0, "skipped": 1, "cached": 0, "interrupted": 3}
    steps = by_name(status["steps"])
    assert steps.keys() == set(STEPS)
    shard = steps["shard"]
    assert [shard[key] for key in ("state", "copies", "succeeded", "failed",
                                   "interrupted", "pending")] == [
        "interrupted", 4, 1, 1, 1, 1]
    assert shard["began"] == "2026-01-01T00:00:03.000Z"
    assert steps["tell"]["reason"] == "no step that it needs has failed"
    assert steps["tune"]["note"] == (
        "run night.tune: 3 of 3 trials finished, best 0.333333 (trial 3)")
    assert steps["prepare"]["copies"] == 1
    assert steps["late"]["copies"] is None


def test_status_counts_a_copy_by_its_last_round(smtune, night):
    grow = by_name(smtune.json("status", night)["steps"])["grow"]
    assert (grow["round"], grow["succeeded"], grow["interrupted"]) == (2, 0, 1)


def test_status_folds_copies_for_people(smtune, night):
    lines = smtune.ok("status", night).splitlines()
    assert "steps:  2 of 6 finished (3 interrupted, 1 succeeded, 1 skipped, " \
        "1 waiting)" in lines
    shard, = [line for line in lines if line.startswith("shard ")]
    assert shard.split()[1:8] == [
        "interrupted", "1/4", "succeeded,", "1", "failed,", "1", "interrupted"]


def test_status_lists_what_runs(smtune, night):
    running = smtune.json("status", night)["running_jobs"]
    assert {row["job"]: row["id"] for row in running} == {
        "shard[2]": 4, "tune": 6, "grow#2": 8}


def test_status_of_many_steps_shows_those_that_matter(smtune):
    smtune.ok(smtune.store, "many", 100, program="tests/e2e/fill_workflow")
    short = smtune.ok("status", "many").splitlines()
    assert "... 60 more" in short[-1] and "50 succeeded, 10 waiting" in short[-1]
    assert sum(line[1:2].isdigit() and " waiting" in line
               for line in short) == 40
    assert len(smtune.ok("status", "many", "--all").splitlines()) >= 100
    assert len(smtune.json("status", "many")["steps"]) == 100


@pytest.mark.parametrize("format,words", [
    ("text", ["shard", "1 of 4", "1 failed"]),
    ("mermaid", ["flowchart", "shard", "failed"]),
    ("dot", ["digraph", "shard"]),
    ("svg", ["<svg", "shard", "</svg>"]),
])
def test_status_draws_the_graph(smtune, night, format, words):
    drawn = smtune.ok("status", night, "--format", format)
    assert [word for word in words if word not in drawn] == []
    assert "is an experiment" in refused(
        smtune, "status", "night.tune", "--format", format, status=2)


# ---- show


def test_show_run_is_about_its_steps(smtune, night):
    run = smtune.json("show", night)
    assert (run["kind"], len(run["steps"])) == ("workflow", 6)
    assert "objectives" not in run and "best" not in run


def test_show_job_of_a_matrix(smtune, night):
    job = smtune.json("show", night, "shard[1]")
    assert (job["id"], job["job"], job["step"], job["copy"]) == (
        3, "shard[1]", "shard", 1)
    assert job["matrix"] == {"part": 0, "seed": 8}
    assert [(a["number"], a["cause"]) for a in job["attempts"]] == [
        (1, "exit"), (2, "exit")]
    assert smtune.json("show", night, 3) == job


def test_show_job_of_a_round_is_that_of_the_last(smtune, night):
    assert smtune.json("show", night, "grow")["rounds"] == {"batch": 64}
    first = smtune.json("show", night, "grow#1")
    assert (first["rounds"], first["outputs"]) == ({"batch": 32}, {"rows": 3})


def test_show_job_names_the_run_below_it(smtune, night):
    below, = smtune.json("show", night, "tune")["runs_below"]
    assert (below["name"], below["done"], below["jobs"]) == ("night.tune", 3, 3)


def test_show_step_lists_its_copies(smtune, night):
    step = smtune.json("show", night, "shard")
    assert step["matrix"] == {"part": [0, 1], "seed": [7, 8]}
    assert [job["job"] for job in step["jobs"]] == [
        f"shard[{copy}]" for copy in range(4)]
    assert smtune.json("show", night, "tell")["state"] == "skipped"
    assert "retry_at" not in smtune.ok("show", night, "prepare")


@pytest.mark.parametrize("name,status,text", [
    ("shrd", 4, "run 'night' has no step 'shrd' (did you mean 'shard'?)"),
    ("shard[4]", 4, "step 'shard' has no copy 4 (it has 4, from 0)"),
    ("shard[0]#2", 4, "step 'shard' does not repeat"),
    ("grow#3", 4, "step 'grow' has no round 3 (it has 2 so far)"),
    ("99", 4, "run 'night' has no job 99 (it has 8 so far)"),
    ("tell#1", 4, "step 'tell' has not started: it is skipped, no step that "
     "it needs has failed"),
    ("shard[", 2, "'shard[': expected the number or the name of a job (STEP, "
     "STEP[3], STEP#2 or STEP[3]#2)"),
])
def test_show_says_which_jobs_there_are(smtune, night, name, status, text):
    assert refused(smtune, "show", night, name, status=status) == text


# ---- trials, export


def test_trials_lists_jobs(smtune, night):
    rows = smtune.json("trials", night)
    assert [row["job"] for row in rows] == [
        "prepare", "shard[0]", "shard[1]", "shard[2]", "shard[3]", "tune",
        "grow#1", "grow#2"]
    assert rows[0]["outputs"] == {"rows": 3}
    assert (rows[7]["round"], rows[7]["rounds"]) == (2, {"batch": 64})
    failed, = smtune.json("trials", night, "--state", "failed")
    assert failed["job"] == "shard[1]"
    assert [row["copy"] for row in smtune.json(
        "trials", night, "--step", "shard", "-n", "3")] == [0, 1, 2]
    assert smtune.ok("trials", night).splitlines()[0].split() == [
        "id", "job", "state", "cause", "attempts", "started", "duration"]


def test_trials_refuses_what_a_workflow_has_not(smtune, night):
    assert "is a workflow" in refused(smtune, "trials", night, "--sort",
                                      "best", status=2)
    assert "did you mean 'shard'?" in refused(smtune, "trials", night,
                                              "--step", "shrd")
    assert "has no steps" in refused(smtune, "trials", "night.tune",
                                      "--step", "shard", status=2)


def test_export_writes_jobs(smtune, night):
    rows = list(csv.DictReader(io.StringIO(smtune.ok("export", night))))
    assert [row["step"] for row in rows][:2] == ["prepare", "shard"]
    assert rows[0]["outputs"] == '{"rows":3}'


# ---- logs


def test_logs_are_found_by_name(smtune, night):
    log = smtune.store / "runs/r/1/1/log"
    log.parent.mkdir(parents=True)
    log.write_text("hello\n")
    for name in "prepare", "shard[2]", "grow#1", "grow", 1:
        assert smtune.ok("logs", night, name) == "hello\n"
    assert smtune.ok("logs", night, "shard[1]") == "hello\nhello\n"


def test_logs_say_which_copies_there_are(smtune, night):
    assert refused(smtune, "logs", night, "shard", status=2) == (
        "step 'shard' has 4 copies; select one: shard[0], shard[1], shard[2], "
        "shard[3]; shard[1] failed")
    assert refused(smtune, "logs", night, "shard[3]") == (
        "job shard[3] has not started yet")
    assert refused(smtune, "logs", night, "late").startswith(
        "step 'late' has not started: it is waiting")


# ---- the others


def test_best_says_where_to_look(smtune, night):
    assert refused(smtune, "best", night, status=2) == (
        "run 'night' is a workflow and has no best trial (show its steps: smtune "
        "status night; show the best trial of a child run: smtune best night.tune)")


# ---- why


def test_why_names_the_rule_that_gave_a_retry(smtune, night):
    why = smtune.json("why", night, "shard[1]")
    assert (why["state"], why["reason"]) == (
        "failed", "its last attempt ended with 'exit'")
    assert [(row["then"], row["line"]) for row in why["attempts"]] == [
        ("retry rule 2: retried", 13), ("no retry rule matches", None)]
    rules = {row["rule"]: row for row in why["rules"]}
    assert (rules["success_if"]["line"], rules["success_if"]["text"]) == (
        10, "3")


@pytest.mark.parametrize("name,state,reason", [
    ("prepare", "succeeded", "its last attempt succeeded"),
    ("shard[2]", "running", "its attempt 1 is running"),
    ("shard[3]", "ready", "it can start as soon as slots are free"),
    ("shard", "active", "1/4 succeeded, 1 failed, 1 running"),
    ("tell", "skipped", "no step that it needs has failed"),
])
def test_why_says_it_in_a_sentence(smtune, night, name, state, reason):
    with smtune.as_engine_of(night):
        why = smtune.json("why", night, name)
    assert (why["state"], why["reason"]) == (state, reason)


@pytest.mark.parametrize("name,state,reason", [
    ("prepare", "succeeded", "its last attempt succeeded"),
    ("shard[2]", "interrupted", "the engine crashed; attempt 1 has not "
     "started, and `smtune resume night` starts it"),
    ("shard[3]", "ready",
     "the engine crashed; `smtune resume night` continues it"),
    ("shard", "interrupted", "1/4 succeeded, 1 failed, 1 interrupted"),
    ("tell", "skipped", "no step that it needs has failed"),
])
def test_why_says_what_becomes_of_it_without_an_engine(smtune, night, name,
                                                       state, reason):
    why = smtune.json("why", night, name)
    assert (why["state"], why["reason"]) == (state, reason)


def test_why_names_the_nearest_step(smtune, night):
    assert "did you mean" in refused(smtune, "why", night, "prepar")


# ---- top


def read_until(process, words):
    for line in process.stdout:
        if line.split()[1:1 + len(words)] == words:
            return line
    raise AssertionError(f"no line '{words}'")


def test_top_prints_a_line_where_a_step_changes(smtune, night):
    with smtune.as_engine_of(night):
        top = smtune.start("top", night)
        read_until(top, ["night", "prepare", "succeeded"])
        read_until(top, ["night", "running"])
        sql(smtune, "UPDATE run_step SET state = 'failed', reason = "
            "'1 of 4 copies failed', ended_ms = began_ms + 61000 "
            "WHERE name = 'shard'")
        line = read_until(top, ["night", "shard", "failed"])
        assert "1m 01s" in line and "1 of 4 copies failed" in line
    read_until(top, ["night", "interrupted"])
    assert (top.stdout.read(), top.wait()) == ("", 0)


def test_top_shows_all_that_goes_on(smtune, night):
    assert smtune("top").stderr == (
        "smtune: no run is active (smtune ls lists all)\n")
    with smtune.as_engine_of(night):
        top = smtune.start("top")
        read_until(top, ["night", "running"])
        top.send_signal(signal.SIGINT)
        assert top.wait() == 130
    assert "night.tune" not in top.stdout.read()


def test_top_draws_a_page_that_fits(smtune, night):
    shown = []

    def stop(process, text):
        if "\033[?25h" in text and not shown:
            shown.append(text.split("\033[?25h")[0])
            process.send_signal(signal.SIGINT)

    with smtune.as_engine_of(night):
        status, _ = smtune.on_terminal("top", night, columns=60, lines=8,
                                       during=stop)
    assert status == 130
    page = shown[0]
    assert "2/6 steps" in page and "... 2 more" in page
    assert page.count("\n") == 7


def test_top_is_for_people(smtune, night):
    assert "smtune status RUN -o json" in refused(
        smtune, "top", "-o", "json", status=2)
    assert "did you mean" in refused(smtune, "top", "nigth")


# ---- a run of an engine


@pytest.fixture
def ended(smtune, workflow):
    """A run that failed: job 3, train[1], at its second attempt."""
    assert smtune("run", workflow("""
        prepare:
          shell: echo rows=3 >> $SMTUNE_OUTPUTS
          outputs: {rows: null}
        train:
          needs: prepare
          matrix: {seed: [1, 2]}
          retry: [{match: [exit], max: 1, delay: 0s}]
          shell: echo seed ${{ seed }}; test ${{ seed }} = 1
        group: {needs: prepare, repeat: {max: 2}, command: echo again}
        late: {needs: [train, group], command: echo never}
        tell: {needs: train, when: any_failed, command: echo told}
        """, name="wf")).returncode == 1
    return "wf"


def test_a_run_as_it_ended(smtune, ended):
    status = smtune.json("status", ended)
    assert [step["name"] for step in status["steps"]] == [
        "prepare", "train", "group", "late", "tell"]
    steps = by_name(status["steps"])
    assert {name: step["state"] for name, step in steps.items()} == {
        "prepare": "succeeded", "train": "failed", "group": "succeeded",
        "late": "skipped", "tell": "succeeded"}
    assert (steps["train"]["succeeded"], steps["train"]["failed"]) == (1, 1)
    assert (steps["group"]["succeeded"], steps["group"]["round"]) == (1, 2)
    assert steps["late"]["reason"] == "'train' failed"
    assert smtune.ok("logs", ended, "train[0]") == "seed 1\n"
    assert smtune.ok("logs", ended, "group#1") == "again\n"
    assert smtune.json("show", ended, "prepare")["outputs"] == {"rows": 3}
    why = smtune.json("why", ended, "train[1]")
    assert [(row["then"], row["line"]) for row in why["attempts"]] == [
        ("retry rule 1: retried", 10),
        ("retry rule 1: no retries left", 10)]
    assert [need["name"] for need in why["needs"]] == ["prepare"]
    rules = {row["rule"]: (row["line"], row["text"])
             for row in smtune.json("why", ended, "tell")["rules"]}
    assert rules["when"] == (14, "any_failed")
    assert f"{smtune.directory}/wf.yaml:7" in smtune.ok("show", ended, "train")


EVERY_COMMAND = [
    (["attach", "RUN"], 1, "train"),
    (["backup", "b.db"], 0, ""),
    (["best", "RUN"], 2, "is a workflow"),
    (["best", "RUN", "--checkpoints"], 2, "is a workflow"),
    (["export", "RUN"], 0, "train"),
    (["fsck"], 0, "no inconsistencies"),
    (["logs", "RUN", "late"], 4, "skipped"),
    (["logs", "RUN", "late[0]"], 4, "skipped"),
    (["ls"], 0, "wf"),
    (["notify", "RUN"], 2, "no receivers"),
    (["pause", "RUN"], 0, "no engine"),
    (["show", "RUN"], 0, "'train' failed"),
    (["show", "RUN", "late"], 0, "'train' failed"),
    (["status", "RUN"], 0, "1/2 succeeded, 1 failed"),
    (["status", "RUN", "-o", "csv"], 0, "wf"),
    (["stop", "RUN"], 0, ""),
    (["top", "RUN"], 0, "wf train failed"),
    (["trials", "RUN"], 0, "train[1]"),
    (["trials", "RUN", "-o", "csv"], 0, "train[1]"),
    (["validate", "wf.yaml"], 0, "workflow"),
    (["wait", "RUN"], 1, "failed"),
    (["whatif", "RUN"], 2, "workflow"),
    (["why", "RUN", "train"], 0, "1 of 2"),
    (["rm", "RUN"], 0, ""),
]


def test_every_command_makes_sense_of_a_workflow(smtune, ended):
    wrong = []
    for words, status, text in EVERY_COMMAND:
        result = smtune(*[ended if word == "RUN" else word for word in words])
        shown = result.stdout + result.stderr
        nonsense = re.findall(r"\btrial \d|\(null\)|objective|\bnan\b", shown)
        if result.returncode != status or text not in shown or nonsense:
            wrong.append(f"{words}: {result.returncode} {nonsense}\n{shown}")
    assert not wrong, "\n".join(wrong)


def test_retry_takes_jobs_by_name(smtune, ended):
    result = smtune("retry", ended, "train")
    assert (result.returncode, "1 job runs again" in result.stderr) == (
        1, True), result.stderr
    assert len(smtune.json("show", ended, "train[1]")["attempts"]) == 4
    assert len(smtune.json("show", ended, "train[0]")["attempts"]) == 1
    assert "no copy of step" not in smtune("retry", ended, "train[1]").stderr
    assert "did you mean 'train'?" in refused(smtune, "retry", ended, "trian")
    assert "succeeded" in refused(smtune, "retry", ended, "train[0]", status=2)


def test_why_tells_of_links_and_conditions(smtune, workflow):
    smtune("run", workflow("""
        long:
          timeout: 300ms
          resources: {grace: 1s}
          continue: {max: 5}
          shell: >-
            n=$(cat $SMTUNE_CHECKPOINT_DIR/n || echo 0);
            echo $((n + 1)) >$SMTUNE_CHECKPOINT_DIR/n;
            test $n -ge 1 || sleep 30
        stuck: {timeout: 300ms, continue: {max: 5}, command: sleep 30}
        some:
          matrix: {seed: [1, 2]}
          if: seed = 1
          command: echo ${{ seed }}
        """, name="links"))
    first, last = smtune.json("why", "links", "long")["attempts"]
    assert (first["cause"], first["then"], first["line"]) == (
        "timeout", "link 1 of 5", 7)
    assert (last["cause"], last["then"]) == ("ok", None)
    assert first["checkpoint"] != last["checkpoint"]
    assert smtune.json("why", "links", "stuck")["attempts"][-1][
        "then"] == ("no more links: two links without progress "
                    "(no checkpoint was saved)")
    why = smtune.json("why", "links", "some[1]")
    assert (why["state"], why["reason"]) == (
        "skipped", "its condition was false")
    assert {"rule": "if", "line": 15, "text": "seed = 1"} in why["rules"]
    assert smtune.json("show", "links", "some[0]")["command"] == "echo 1"
    assert smtune.json("show", "links", "some[1]")["command"] == (
        "echo ${{ seed }}")
    assert refused(smtune, "logs", "links", "some[1]") == (
        "job some[1] was not run")


def test_show_has_the_command_that_was_run(smtune, workflow):
    path = workflow("""
        first: {command: echo n=4, metrics: [n]}
        many:
          needs: first
          matrix: {part: [a, b c]}
          command: "echo ${{ part }} ${{ first.n }} ${{ copies }} ${{ dir }}"
        turns:
          shell: "echo ${{ word }} ${{ size }} ${{ round }}"
          repeat: {max: 2, values: {size: {first: 3, next: size * 2}}}
        """, params={"word": "it's"})
    smtune.ok("run", path, "-q")

    def command(job):
        return smtune.json("show", "flow", job)["command"]

    assert command("first") == "echo n=4"
    number = smtune.json("show", "flow", "many[1]")["id"]
    assert command("many[1]") == (
        f"echo 'b c' 4 2 {smtune.store}/runs/flow/trials/{number}")
    assert command("turns#2") == "echo 'it'\\''s' '6' '2'"
    assert command("many") == (
        "echo ${{ part }} ${{ first.n }} ${{ copies }} ${{ dir }}")
    assert "command:" in smtune.ok("show", "flow", "first")


def test_attach_shows_the_steps_of_a_live_run(smtune, workflow):
    gate = smtune.directory / "gate"
    smtune.ok("run", "--detach", workflow(f"""
        first: {{command: 'true'}}
        wait: {{needs: first, shell: 'until test -e {gate}; do sleep 0.1; done'}}
        last: {{needs: wait, matrix: {{a: [1, 2]}}, command: 'true'}}
        """, name="live"))
    wait_until(lambda: by_name(smtune.json("status", "live")["steps"])[
        "wait"]["running"] == 1)

    def open_gate(process, shown):
        if "1/3 steps" in shown and "wait" in shown:
            gate.touch()

    status, shown = smtune.on_terminal("attach", "live", columns=100,
                                       during=open_gate)
    assert status == 0
    assert "run " in shown and "3 steps" in shown
    assert by_name(smtune.json("status", "live")["steps"])["last"][
        "succeeded"] == 2
