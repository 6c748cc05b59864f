# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of bash before a command, and a command that bash runs."""

import subprocess

import pytest

pytestmark = pytest.mark.sanitized


def log(smtune, run="exp", number=1):
    return smtune.ok("logs", run, number).splitlines()


def attempt(smtune, run="exp", number=1):
    return smtune.json("show", run, number)["attempts"][-1]


def test_setup__prepares_the_command(smtune, experiment, write, tmp_path):
    """Its variables and its folder; what it sources gets no arguments."""
    write("venv/bin/activate", "export VIRTUAL_ENV=/my/venv SEEN=$#\n")
    (tmp_path / "inner").mkdir()
    smtune.ok("run", experiment(
        command=["sh", "-c", "echo $VIRTUAL_ENV $SEEN \"$1\"; pwd; echo loss=1",
                 "x", "a  'b'"],
        trials=1, setup=["source venv/bin/activate", "[[ a == a ]]",
                         "cd inner"]))
    assert log(smtune)[:2] == ["/my/venv 0 a  'b'", str(tmp_path / "inner")]
    assert attempt(smtune)["cause"] == "ok"


@pytest.mark.parametrize("setup, status, line, said", [
    (["true", "module load cuda"], 127, "line 2 of setup failed with exit "
     "status 127: module load cuda", "module: command not found"),
    ("source /nope/activate", 1, "line 1 of setup failed with exit status 1: "
     "source /nope/activate", "/nope/activate: No such file"),
    ('"true\\nfalse\\necho not"', 1, "line 1 of setup failed", ""),
    (["exit 0"], 1, "line 1 of setup failed with exit status 1: exit 0", ""),
    (["echo of the line >&2; (exit 9)"], 9,
     "exit status 9: echo of the line >&2; (exit 9)", "of the line"),
])
def test_setup__a_line_that_fails_ends_the_attempt(
        smtune, experiment, setup, status, line, said):
    result = smtune("run", experiment("echo loss=1", trials=1, setup=setup,
                                      failures=1))
    assert result.returncode != 0
    ended = attempt(smtune)
    assert (ended["cause"], ended["exit_code"]) == ("setup_failed", status)
    assert line in ended["text"] and said in ended["text"]
    assert said in "\n".join(log(smtune))
    assert "loss=1" not in log(smtune) and "not" not in log(smtune)
    assert line in result.stderr + smtune.ok("why", "exp", 1)
    smtune.ok("replay", "exp")
    smtune.ok("fsck", "exp")


def test_setup__leaves_status_and_signals_to_the_command(smtune, experiment):
    smtune("run", experiment("exit 7", trials=1, setup=["true"]))
    ended = attempt(smtune)
    assert (ended["cause"], ended["exit_code"]) == ("exit", 7)
    smtune("run", experiment("kill -TERM $$", trials=1, setup=["true"]))
    assert attempt(smtune, "exp-2")["cause"] == "signal"


def test_setup__can_be_retried_by_its_cause(smtune, experiment, tmp_path):
    smtune.ok("run", experiment(
        "echo loss=1", trials=1, setup=["test -e made || { touch made; false; }"],
        retry="[{match: setup_failed, max: 1, delay: 0}]"))
    causes = [each["cause"] for each in smtune.json("show", "exp", 1)["attempts"]]
    assert causes == ["setup_failed", "ok"]


def test_setup__of_ranks(smtune, experiment):
    smtune.ok("run", experiment("echo rank $RANK $FROM; echo loss=1", trials=1,
                                setup=["export FROM=setup"],
                                resources={"tasks": 2}))
    assert "rank 0 setup" in "\n".join(log(smtune))


def test_setup__of_a_step_and_of_defaults(smtune, workflow):
    smtune.ok("run", workflow("""
        a: {command: [sh, -c, "echo $WHO"], setup: export WHO=own}
        b: {shell: echo $WHO}
        """, defaults={"setup": ["export WHO=all"]}))
    assert smtune.ok("logs", "last", "a") == "own\n"
    assert smtune.ok("logs", "last", "b") == "all\n"


def test_setup__is_part_of_a_cached_step(smtune, workflow):
    """Another setup may make another result."""
    for setup, says in ("export A=1", "1\n"), ("export A=2", "2\n"):
        smtune.ok("run", workflow(f"""
            a: {{shell: echo $A, setup: {setup}, cache: true}}
            """))
        assert smtune.ok("logs", "last", "a") == says


def test_setup__of_slurm_has_no_effect_elsewhere(smtune, experiment):
    smtune.ok("run", experiment("echo loss=1", trials=1,
                                executor="{name: local, setup: [exit 1]}"))


def test_shell__bash_runs_the_command(smtune, experiment, workflow):
    smtune.ok("run", experiment(trials=1, trial="""
        {shell: bash, command: 'a=(one two); echo "${a[1]}"; echo loss=1'}"""))
    assert log(smtune)[0] == "two"
    result = smtune("run", experiment(
        trials=1, trial="{shell: bash, command: 'false | true; echo loss=1'}"))
    assert result.returncode != 0
    smtune.ok("run", experiment(
        trials=1, trial="{shell: sh, command: 'false | true; echo loss=1'}"))
    assert smtune.ok("best", "exp", "--command").startswith(
        "bash -eo pipefail -c ")
    smtune.ok("run", workflow("a: {shell: bash, command: 'echo a | cat'}"))
    assert smtune.ok("logs", "last", "a") == "a\n"


def test_shell__two_scripts_are_refused(smtune, experiment):
    result = smtune("validate", experiment(
        trial="{shell: echo a, command: echo b}"))
    assert result.returncode == 3
    assert "'trial' has both 'command' and 'shell'" in result.stderr
    assert "shell: bash" in result.stderr


PYTHON = """
            shell: |
              #!/usr/bin/env -S python3 -u
              import sys
              kind = "${{ kind }}"
              print(kind, len(sys.argv), f"loss={${{ lr }} ** 2}")"""


def test_shebang__names_the_program(smtune, experiment):
    """In another language than a shell's a value is plain text."""
    smtune.ok("run", experiment(
        trials=1, trial=PYTHON,
        parameters="{lr: {type: float, min: 2, max: 3}, "
                   "kind: {type: categorical, values: [b c, b d]}}"))
    assert log(smtune)[0].split()[0::2] == ["b", "1"]
    printed = smtune.ok("best", "exp", "--command")
    assert printed.startswith("/usr/bin/env '-S python3 -u' /dev/stdin <<")
    again = subprocess.run(["sh", "-c", printed], stdout=subprocess.PIPE,
                           text=True, check=True)
    assert again.stdout.split()[-1] == log(smtune)[0].split()[-1]
    smtune.ok("replay", "exp")


def test_shebang__of_a_shell_quotes_what_is_put_in(smtune, workflow):
    smtune.ok("run", workflow("""
        a:
          matrix: {name: ["it's", "$HOME"]}
          shell: |
            #!/bin/bash
            set -euo pipefail
            name=${{ name }}; x=("$name" two)
            echo "${x[0]}"
        """))
    assert [smtune.ok("logs", "last", f"a[{i}]") for i in (0, 1)] == \
        ["it's\n", "$HOME\n"]


def test_shebang__of_a_program_that_is_not_there(smtune, experiment):
    result = smtune("run", experiment(
        trials=1, failures=1, trial="{shell: '#!/usr/bin/pyhton3'}"))
    assert result.returncode != 0
    ended = attempt(smtune)
    assert ended["cause"] == "launch_error"
    assert "'/usr/bin/pyhton3'" in ended["text"]


@pytest.mark.parametrize("step, said", [
    ("{shell: '#!'}", "the first line '#!' names no program"),
    ("{shell: bash, command: '#!/bin/sh'}",
     "the script's first line names its program already"),
])
def test_shebang__wrong_ones_are_refused(smtune, workflow, step, said):
    result = smtune("validate", workflow(f"a: {step}"))
    assert result.returncode == 3
    assert said in result.stderr
