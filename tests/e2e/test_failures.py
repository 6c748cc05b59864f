# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that end because their trials fail."""

import pytest


def row(smtune):
    return next(r for r in smtune.json("ls") if r["name"] == "exp")


def proved(smtune):
    told = smtune.json("replay", "exp")
    return told["difference"] is None and told["decision"] is None


# `search="auto"`: random search prepares many trials ahead, which count.
BROKEN = "test -e mended || { echo no module named torch; exit 1; }; " \
         "echo loss=${{ x }}"


@pytest.mark.sanitized
def test_a_script_that_is_broken_ends_the_run(smtune, experiment):
    path = experiment(BROKEN, trials=40, search="auto")
    result = smtune("run", path)
    assert result.returncode == 1
    assert ("smtune: run 'exp': the first 10 trials all failed; trial 1 "
            "(exit): no module named torch\n") in result.stderr
    assert row(smtune)["state"] == "failed"
    assert 10 <= row(smtune)["trials"] <= 12
    assert proved(smtune)
    assert smtune("wait", "exp").returncode == 1
    again = smtune("resume", "exp")  # it has failed, and nothing has changed
    assert again.returncode == 1
    assert "the first 10 trials all failed" in again.stderr
    assert row(smtune)["trials"] <= 12
    assert proved(smtune)


def test_a_script_that_was_mended_goes_on(smtune, experiment):
    path = experiment(BROKEN, trials=30, parallel=1)
    result = smtune("run", path)
    assert result.returncode == 1
    assert "smtune retry exp --failed" in result.stderr
    (smtune.directory / "mended").touch()
    smtune.ok("retry", "exp", "--failed")
    assert (row(smtune)["state"], row(smtune)["trials"]) == ("succeeded", 30)
    states = {t["state"] for t in smtune.json("trials", "exp")}
    assert states <= {"succeeded", "stopped"}
    assert proved(smtune)
    smtune.ok("fsck")


def test_failures_are_counted_after_their_retries(smtune, experiment):
    path = experiment(
        "test $SMTUNE_JOB -le 4 || test $SMTUNE_ATTEMPT_NUMBER = 2 || exit 3; "
        "test $SMTUNE_JOB -le 6 || exit 4; echo loss=1", trials=40, parallel=1,
        search="auto", failures=3, retry="[{match: exit, max: 1, delay: 0s}]")
    result = smtune("run", path)
    assert result.returncode == 1
    assert ("smtune: run 'exp': too many failed trials "
            "(budget.failures); trial 7 (exit)") in result.stderr
    trials = smtune.json("trials", "exp")
    assert [t["state"] for t in trials[:9]] == ["succeeded"] * 6 + [
        "failed"] * 3
    assert len(trials) <= 10
    assert row(smtune)["state"] == "failed"
    assert proved(smtune)


def test_none_tries_all_whatever_fails(smtune, experiment):
    path = experiment("exit 1", trials=14, failures="none")
    result = smtune("run", path)
    assert result.returncode == 6
    assert row(smtune)["trials"] == 14
    assert_it_was_in_vain(smtune, result, "trial budget used up (14 of 14)",
                          "; trial 1 (exit)")


def assert_it_was_in_vain(smtune, result, why, words=""):
    """All say so: the run, its list, who waits, its record."""
    reason = f"no trial succeeded: {why}"
    assert f"smtune: run 'exp': {reason}{words}\n" in result.stderr
    assert result.stdout.startswith("run exp: failed after ")
    assert row(smtune)["state"] == "failed"
    status = smtune.json("status", "exp")
    assert (status["state"], status["reason"]) == ("failed", reason)
    assert smtune("wait", "exp").returncode == 6
    assert proved(smtune)
    smtune.ok("fsck")


def test_trials_that_are_stopped_by_the_time_are_no_success(smtune, experiment):
    result = smtune("run", experiment("sleep 600", trials=None, time="1s"))
    assert result.returncode == 6
    assert_it_was_in_vain(smtune, result, "time budget used up")


def test_a_finished_run_was_in_vain_no_more(smtune, experiment):
    path = experiment("test -e mended || exit 1; echo loss=1", trials=3,
                      parallel=1)
    assert smtune("run", path).returncode == 6
    (smtune.directory / "mended").touch()
    smtune.ok("retry", "exp", "2")
    assert row(smtune)["state"] == "succeeded"
    assert proved(smtune)


def test_a_limit_of_its_own_is_not_the_first_ten(smtune, experiment):
    path = experiment("exit 1", trials=14, parallel=1, failures=12,
                      search="auto")
    assert smtune("run", path).returncode == 1
    assert 12 <= row(smtune)["trials"] <= 13
    assert "until 12 trials failed" in smtune.ok("plan", path)


def test_what_failures_cannot_be(smtune, experiment):
    for value, text in (("0", "must be at least 1, not 0"),
                        ("nono", "cannot be 'nono'"),
                        ("1.5", "must be a whole number or text, not")):
        result = smtune("validate", experiment("exit 1", failures=value))
        assert result.returncode == 3
        assert text in result.stderr


def test_a_step_that_tries_again_begins_a_run_anew(smtune, experiment,
                                                   workflow):
    experiment('echo >>count; test $(wc -l <count) -gt 13 || exit 1; '
               'echo loss=1', trials=20, parallel=1)
    smtune.ok("run", workflow("""
        tune:
          experiment: exp.yaml
          retry: [{match: exit, max: 1, delay: 0s}]
        """))
    assert [(run["name"], run["state"]) for run in
            sorted(smtune.json("ls"), key=lambda run: run["id"])] == [
        ("flow", "succeeded"), ("flow.tune", "failed"),
        ("flow.tune-2", "succeeded")]
    assert smtune.json("trials", "flow")[0]["attempts"] == 2
