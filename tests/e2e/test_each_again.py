# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune each`, called again: what is left runs, and nothing twice."""

import json
import re
import signal
from string import ascii_lowercase

import pytest

from programs import wait_until


@pytest.fixture
def lines(smtune):
    """lines(item ...): the file `lines`."""
    def put(*items):
        (smtune.directory / "lines").write_text(
            "".join(f"{item}\n" for item in items))
    return put


@pytest.fixture
def ran(smtune):
    """ran(): which lines ran, each as often as it did."""
    def read():
        path = smtune.directory / "ran"
        return sorted(path.read_text().split()) if path.exists() else []
    return read


def proved(smtune, run="last"):
    assert "differs" not in smtune.ok("replay", run)
    smtune.ok("fsck")


def runs(smtune):
    return [run["name"] for run in smtune.json("ls")]


# Lines that the file `bad` names fail.
SCRIPT = "echo {} >>ran; ! grep -qsx {} bad"


def each(smtune, *words, script=SCRIPT, **options):
    return smtune("each", "lines", "-k", *words, "--shell", "--",
                  script + "; s=$?; echo said {}; exit $s", **options)


@pytest.mark.quick
@pytest.mark.sanitized
def test_what_failed_runs_again(smtune, lines, ran):
    lines("a", "b", "c")
    (smtune.directory / "bad").write_text("a\nc\n")
    result = each(smtune, "-n", "it")
    assert result.returncode == 1
    assert result.stdout == "said a\nsaid b\nsaid c\n"
    told = result.stderr.splitlines()
    assert told[:3] == ["smtune: run 'it': 2 of 3 lines failed, 1 succeeded",
                        "  line 1 (exit): a", "  line 3 (exit): c"]
    assert re.match(r"  smtune logs it 1 +# the output of that line$", told[3])
    assert re.match(r"  smtune retry it --failed +# or the same command again$",
                    told[4])
    (smtune.directory / "bad").write_text("c\n")
    result = each(smtune, "-n", "it")
    assert result.returncode == 1
    assert result.stdout == "said a\nsaid c\n"
    assert "1 of 3 lines failed, 2 succeeded" in result.stderr
    (smtune.directory / "bad").unlink()
    assert each(smtune, "-n", "it").returncode == 0
    assert ran() == list("aabccc")
    result = each(smtune, "-n", "it")
    assert result.returncode == 0
    assert result.stdout == ""
    assert result.stderr == "smtune: run 'it' has succeeded: no line is left " \
        "(--new runs all of them again)\n"
    assert runs(smtune) == ["it"]
    proved(smtune)


def test_it_is_found_without_a_name(smtune, lines, ran):
    lines("a", "b")
    (smtune.directory / "bad").write_text("b\n")
    assert each(smtune).returncode == 1
    (smtune.directory / "bad").unlink()
    assert each(smtune).returncode == 0
    assert ran() == ["a", "b", "b"]
    assert len(runs(smtune)) == 1


@pytest.mark.parametrize("change", ["lines", "command", "folder", "order"])
def test_another_one_is_another_run(smtune, lines, ran, change):
    lines("a", "b")
    assert each(smtune).returncode == 0
    cwd, script = None, SCRIPT
    if change == "lines":
        lines("a", "b", "c")
    elif change == "order":
        lines("b", "a")
    elif change == "command":
        script = SCRIPT + " "
    else:
        cwd = smtune.directory / "below"
        cwd.mkdir()
        (cwd / "lines").write_text("a\nb\n")
    assert each(smtune, script=script, cwd=cwd).returncode == 0
    names = runs(smtune)
    assert len(set(names)) == 2
    if change == "folder":
        assert sorted((cwd / "ran").read_text().split()) == ["a", "b"]
    else:
        assert ran()[:4] == ["a", "a", "b", "b"]


@pytest.mark.parametrize("change", ["lines", "command"])
def test_a_name_is_of_one_run(smtune, lines, ran, change):
    lines("a")
    assert each(smtune, "-n", "it").returncode == 0
    script = SCRIPT
    if change == "lines":
        lines("a", "b")
    else:
        script += " "
    result = each(smtune, "-n", "it", script=script)
    assert result.returncode == 5
    assert result.stderr == \
        "smtune: duplicate name 'it': that run has other lines, another " \
        "command, folder or user (choose another --name)\n"
    assert ran() == ["a"]


def test_a_name_of_another_workflow(smtune, lines, workflow):
    lines("a")
    smtune.ok("run", "-q", workflow('  b: {command: "true"}\n', name="it"),
              "--set", "steps.b.env.X=1")
    result = each(smtune, "-n", "it")
    assert result.returncode == 5
    assert result.stderr.startswith("smtune: duplicate name 'it': ")


def test_new_runs_all_again(smtune, lines, ran):
    lines("a", "b")
    assert each(smtune).returncode == 0
    assert each(smtune, "--new").returncode == 0
    assert ran() == ["a", "a", "b", "b"]
    first, second = sorted(runs(smtune))
    assert second == first + "-2"
    assert "has succeeded" in each(smtune).stderr
    result = each(smtune, "--new", "-n", first)
    assert result.returncode == 5
    assert "duplicate name" in result.stderr
    proved(smtune)


def test_resume_leaves_what_failed(smtune, lines, ran):
    lines("a", "b")
    (smtune.directory / "bad").write_text("a\n")
    assert each(smtune, "--resume").returncode == 1
    result = each(smtune, "--resume")
    assert result.returncode == 1
    assert "1 of 2 lines failed" in result.stderr
    assert ran() == ["a", "b"]


def test_fail_fast_leaves_the_rest_for_later(smtune, lines, ran):
    lines(*ascii_lowercase)
    (smtune.directory / "bad").write_text("b\n")
    result = each(smtune, "--fail-fast", "-j", "1")
    assert result.returncode == 1
    # What was handed to the executor by then still runs.
    assert ran()[:2] == ["a", "b"] and len(ran()) < 26
    (smtune.directory / "bad").unlink()
    assert each(smtune, "--fail-fast", "-j", "1").returncode == 0
    assert ran() == sorted(ascii_lowercase + "b")
    proved(smtune)


def test_retries(smtune, lines):
    lines("a", "b")
    script = "echo x >>tried-{}; test $(wc -l <tried-{}) -ge 3"
    result = each(smtune, "--retries", "2", "-n", "it", script=script)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "said a\nsaid b\n"  # of the last attempts alone
    assert [job["attempts"] for job in smtune.json("trials", "it")] == [3, 3]
    proved(smtune)


def test_too_few_retries(smtune, lines):
    lines("a")
    script = "echo x >>tried-{}; test $(wc -l <tried-{}) -ge 3"
    assert each(smtune, "--retries", "1", script=script).returncode == 1
    assert (smtune.directory / "tried-a").read_text() == "x\n" * 2


def test_a_command_that_takes_too_long(smtune, lines):
    lines("a")
    result = smtune("each", "lines", "--timeout", "200ms", "-n", "it", "--shell",
                    "--", ": {}; exec sleep 600")
    assert result.returncode == 1
    assert re.search(r"^  line 1 \(timeout.*\): a$", result.stderr, re.M)


def test_a_program_that_is_not_there(smtune, lines):
    """Each line fails by itself."""
    lines(*range(4))
    result = smtune("each", "lines", "-n", "it", "--", "no-such-program", "{}")
    assert result.returncode == 1
    assert re.search(r"^  line 1 \(launch_error: .*no-such-program.*\): 0$",
                     result.stderr, re.M)
    assert len(smtune.json("trials", "it", "--state", "failed")) == 4


def test_limits_may_change(smtune, lines, ran):
    lines("a", "b")
    (smtune.directory / "bad").write_text("b\n")
    assert each(smtune, "-n", "it", "-j", "1").returncode == 1
    (smtune.directory / "bad").write_text("a\n")
    result = each(smtune, "-n", "it", "-j", "2", "--retries", "1", "--timeout",
                  "1m", "--set", "steps.each.env.X=1")
    assert result.returncode == 5  # its environment is a part of a command
    result = each(smtune, "-n", "it", "-j", "2", "--retries", "1", "--timeout",
                  "1m")
    assert result.returncode == 0, result.stderr
    text = smtune.ok("show", "it", "--file")
    assert "parallel: 2\n" in text
    assert "max: 1\n" in text
    assert "time: \"60000ms\"\n" in text
    assert ran() == ["a", "b", "b"]
    proved(smtune)


def test_an_option_replaces_a_word_of_set(smtune, lines, ran):
    lines("a", "b")
    (smtune.directory / "bad").write_text("b\n")
    assert each(smtune, "-n", "it", "--set", "parallel=1").returncode == 1
    (smtune.directory / "bad").unlink()
    result = each(smtune, "-n", "it", "-j", "2")
    assert result.returncode == 0, result.stderr
    shown = smtune.json("show", "it", "--file")
    assert "parallel: 2\n" in shown["file"]
    assert shown["set"] == []
    assert ran() == ["a", "b", "b"]
    proved(smtune)


def test_other_values_of_set_are_another_run(smtune, lines, ran):
    lines("a")
    for value in (1, 2, 1):
        result = each(smtune, "--set", f"steps.each.env.X={value}")
        assert result.returncode == 0, result.stderr
    assert "has succeeded" in result.stderr
    assert ran() == ["a", "a"]
    assert len(runs(smtune)) == 2


# ---- stopped and killed

WAITS = "echo {} >>ran; until test -e go; do sleep 0.1; done"


def start(smtune, *words, script=WAITS):
    return smtune.start("each", "lines", *words, "--shell", "--", script)


def test_stopped_by_a_signal(smtune, lines, ran):
    lines(*range(8))
    run = start(smtune, "-j", "2", "-n", "it")
    wait_until(lambda: len(ran()) == 2)
    run.send_signal(signal.SIGINT)
    (smtune.directory / "go").touch()
    out, err = run.communicate(timeout=60)
    assert run.returncode == 128 + signal.SIGINT
    assert "run 'it' was stopped: " in err
    done = len(ran())
    assert done < 8
    result = smtune("each", "lines", "-j", "2", "-n", "it", "--shell", "--",
                    WAITS)
    assert result.returncode == 0, result.stderr
    assert ran() == sorted(map(str, range(8)))
    proved(smtune)


def test_smtune_resume_goes_on_with_it(smtune, lines, ran):
    lines(*range(4))
    run = start(smtune, "-j", "2", "-n", "it")
    wait_until(lambda: len(ran()) == 2)
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=60)
    assert run.returncode == 128 + signal.SIGTERM
    (smtune.directory / "go").touch()
    smtune.ok("resume", "it")
    assert sorted(set(ran())) == sorted(map(str, range(4)))
    assert smtune.json("ls")[0]["state"] == "succeeded"
    proved(smtune)


def test_a_line_that_its_user_ended_runs_again(smtune, lines, ran):
    lines("a", "b")
    run = start(smtune, "-j", "2", "-n", "it")
    wait_until(lambda: ran() == ["a", "b"])
    smtune.ok("stop", "it", "--job", 2)
    wait_until(lambda: smtune.json("trials", "it", "--state", "cancelled"))
    (smtune.directory / "go").touch()
    out, err = run.communicate(timeout=60)
    assert run.returncode == 1
    assert "run 'it': 1 of 2 lines succeeded\n" in err
    result = smtune("each", "lines", "-j", "2", "-n", "it", "--shell", "--",
                    WAITS)
    assert result.returncode == 0, result.stderr
    assert ran() == ["a", "b", "b"]
    proved(smtune)


def test_one_engine_at_a_time(smtune, lines, ran):
    lines("a")
    run = start(smtune, "-n", "it")
    wait_until(ran)
    result = smtune("each", "lines", "-n", "it", "--shell", "--", WAITS)
    assert result.returncode == 5
    assert result.stderr == "smtune: run 'it' of these lines is running (show " \
        "it: smtune attach it)\n"
    (smtune.directory / "go").touch()
    assert run.wait(60) == 0
    assert ran() == ["a"]


@pytest.mark.parametrize("words", [(), ("--results", "out")])
def test_killed_engines_lose_nothing_and_double_nothing(smtune, lines, ran,
                                                        words):
    """Commands outlive an engine; the next one adopts them."""
    count = 60
    lines(*range(count))
    command = ("each", "lines", "-j", "4", "-n", "it", "-k", *words, "--shell",
               "--", "echo {} >>ran; sleep 0.05; echo said {}")
    for part in (10, 25, 40):
        run = smtune.start(*command)
        wait_until(lambda: len(ran()) >= part or run.poll() is not None)
        run.kill()
        run.wait()
    result = smtune(*command)
    assert result.returncode == 0, result.stderr
    assert ran() == sorted(map(str, range(count)))
    said = [int(line.split()[1]) for line in result.stdout.splitlines()]
    assert said == sorted(set(said))
    for i in range(count):
        assert smtune.ok("logs", "it", i + 1) == f"said {i}\n"
    if words:
        found = smtune.directory / "out"
        assert {path.name: path.read_text() for path in found.iterdir()} == {
            f"{i + 1}.out": f"said {i}\n" for i in range(count)}
    proved(smtune)


def test_killed_before_its_row_was_written(smtune, lines, ran):
    """The file of the lines is there, and the run is not."""
    lines("a", "b")
    assert each(smtune, "-n", "it").returncode == 0
    (kept,) = (smtune.store / "runs/it").glob("lines-*.jsonl")
    text = kept.read_text()
    smtune.ok("rm", "it")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text)
    assert each(smtune, "-n", "it").returncode == 0
    assert ran() == ["a", "a", "b", "b"]


# ---- in the background

def test_detached(smtune, lines, ran):
    lines("a", "b")
    result = each(smtune, "--detach", "-n", "it", "--results", "out")
    assert result.returncode == 0, result.stderr
    assert "run 'it' continues in the background" in result.stdout
    smtune.ok("wait", "it")
    found = smtune.directory / "out"
    wait_until(lambda: found.exists() and len(list(found.iterdir())) == 2)
    assert ran() == ["a", "b"]
    assert "said" not in (smtune.store / "runs/it/engine.log").read_text()


def test_detached_from_standard_input(smtune, ran):
    told = json.loads(smtune.ok(
        "each", "-", "--detach", "-o", "json", "--shell", "--",
        "echo {} >>ran", input="a\nb\n"))
    smtune.ok("wait", told["run"])
    assert ran() == ["a", "b"]


# ---- results of a run that is over

def test_results_may_be_asked_for_later(smtune, lines):
    lines("a", "b")
    (smtune.directory / "bad").write_text("b\n")
    assert each(smtune, "-n", "it").returncode == 1
    (smtune.directory / "bad").unlink()
    assert each(smtune, "-n", "it", "--results", "one").returncode == 0
    result = each(smtune, "-n", "it", "--results", "two")
    assert result.returncode == 0
    assert "no line is left" in result.stderr
    for name in ("one", "two"):
        found = smtune.directory / name
        assert {path.name: path.read_text() for path in found.iterdir()} == {
            "1.out": "said a\n", "2.out": "said b\n"}


def test_a_run_that_is_over_for_a_program(smtune, lines):
    lines("a")
    assert each(smtune, "-n", "it").returncode == 0
    told = json.loads(each(smtune, "-n", "it", "-o", "json").stdout)
    assert (told["run"], told["state"]) == ("it", "succeeded")
