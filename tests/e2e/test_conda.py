# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in conda environments, by stand-ins for conda and micromamba that
print what the real ones do: lines for a shell to evaluate."""

import pytest

# The question of each program, before and behind the name of the environment.
QUESTIONS = {
    "conda": ("shell.posix activate", ""),
    "micromamba": ("shell activate", " --shell bash"),
    "mamba": ("shell.posix activate", ""),  # version 1; version 2 is micromamba
}


@pytest.fixture
def conda(smtune, write, tmp_path):
    """conda(NAME, ENVIRONMENT, folder): a program that has one environment."""
    smtune.env["PATH"] = f"{tmp_path}/bin:{smtune.env['PATH']}"

    def make(name, environment, folder="bin"):
        before, behind = QUESTIONS[name]
        write(f"{environment}/bin/tool", f"#!/bin/sh\necho of {environment}\n",
              mode=0o755)
        write(f"{environment}/etc/conda/activate.d/a.sh",
              f"export SCRIPT='script of {environment}'\n")
        write(f"{environment}/conda-meta/history", "")
        write(f"{folder}/{name}", f"""\
            #!/bin/sh
            case "$*" in
            "{before} {environment}{behind}"|\
"{before} {tmp_path}/{environment}{behind}")
                echo "export PATH='{tmp_path}/{environment}/bin:$PATH'"
                echo "export CONDA_PREFIX='{tmp_path}/{environment}'"
                echo '. "{tmp_path}/{environment}/etc/conda/activate.d/a.sh"'
                ;;
            --version) echo "{name} 1.2.3" ;;
            *) echo "no environment: $*" >&2; exit 1 ;;
            esac
            """, mode=0o755)
    return make


def lines(smtune, job="a", run="last"):
    return smtune.ok("logs", run, job).splitlines()


@pytest.mark.parametrize("name", QUESTIONS)
def test_conda__activates_by_name(smtune, workflow, conda, name):
    conda(name, "my")
    smtune.ok("run", workflow("""
        a: {conda: my, setup: export WHO=setup, shell: "tool; echo $SCRIPT; \
echo $CONDA_PREFIX $WHO"}
        """))
    assert lines(smtune) == ["of my", "script of my",
                             f"{smtune.directory}/my setup"]
    assert f"{name} 1.2.3" in smtune.ok("doctor")
    smtune.ok("fsck", "last")


def test_conda__asks_each_program_until_one_has_it(smtune, workflow, conda):
    """Also in the usual places, and after a line of setup that loads one."""
    conda("conda", "one")
    conda("micromamba", "two")
    conda("conda", "three", "miniforge3/bin")
    conda("conda", "four", "module")
    smtune.ok("run", workflow(f"""
        one: {{conda: one, command: tool}}
        two: {{conda: two, command: tool}}
        three: {{conda: three, command: tool}}
        four: {{conda: four, command: tool,
                setup: "export PATH={smtune.directory}/module:$PATH"}}
        """))
    for name in "one", "two", "three", "four":
        assert lines(smtune, name) == [f"of {name}"]


def test_conda__a_folder_needs_no_program(smtune, experiment, conda, tmp_path):
    conda("conda", "my", "elsewhere")
    smtune.ok("run", experiment(
        "tool; echo $SCRIPT; echo $CONDA_PREFIX; echo loss=1", trials=1,
        conda="./my"))
    assert lines(smtune, 1)[:3] == ["of my", "script of my", f"{tmp_path}/my"]
    assert "conda     ./my\n" in smtune.ok("plan", tmp_path / "exp.yaml")
    assert smtune.json("plan", tmp_path / "exp.yaml")["conda"] == "./my"
    smtune.ok("replay", "exp")


@pytest.mark.parametrize("command", [
    {"shell": "tool; echo $SCRIPT; echo loss=1"},
    {"command": "bash -c 'tool; echo $SCRIPT; echo loss=1'"},
])
def test_conda__the_best_trials_command_runs_in_it(smtune, experiment, conda,
                                                   command):
    conda("micromamba", "my")
    smtune.ok("run", experiment(trials=1, conda="my", **command))
    _, again = smtune.best_again()
    assert again == lines(smtune, 1) == ["of my", "script of my", "loss=1"]


def test_conda__of_an_environment_that_is_not_there(smtune, workflow, conda):
    conda("conda", "my")
    result = smtune("run", workflow("a: {conda: you, command: x}"))
    assert result.returncode == 1
    ended = smtune.json("show", "last", "a")["attempts"][-1]
    assert ended["cause"] == "setup_failed"
    assert ended["text"] == "cannot activate the conda environment 'you' " \
        "(no environment: shell.posix activate you)"


def test_conda__a_line_of_setup_that_fails_comes_first(smtune, workflow, conda):
    conda("conda", "my")
    smtune("run", workflow("a: {conda: my, setup: 'false', command: tool}"))
    ended = smtune.json("show", "last", "a")["attempts"][-1]
    assert ended["text"] == "line 1 of setup failed with exit status 1: false"


def test_conda__status_and_signals_are_the_commands(smtune, workflow, conda):
    conda("conda", "my")
    smtune("run", workflow("""
        code: {conda: my, shell: exit 7}
        signal: {conda: my, shell: kill -TERM $$}
        ranks: {conda: my, shell: tool, resources: {tasks: 2}}
        """))
    ends = {name: smtune.json("show", "last", name)["attempts"][-1]
            for name in ("code", "signal", "ranks")}
    assert ends["code"]["exit_code"] == 7
    assert ends["signal"]["cause"] == "signal"
    assert lines(smtune, "ranks") == ["of my"]


def test_conda__depends_on_a_parameter(smtune, experiment, conda):
    conda("conda", "one")
    conda("micromamba", "two")
    smtune.ok("run", experiment(
        "tool; echo loss=1", trials=2, method="grid", conda="'${{ env }}'",
        parameters="{env: {type: categorical, values: [one, two]}}"))
    assert {lines(smtune, 1)[0], lines(smtune, 2)[0]} == {"of one", "of two"}


def test_conda__is_part_of_a_cached_step(smtune, workflow, conda):
    conda("conda", "one")
    conda("micromamba", "two")
    for name in "one", "two", "one":
        path = workflow(f"a: {{conda: {name}, command: tool, cache: true}}")
        smtune.ok("run", path)
        said = smtune("logs", "last", "a")
        assert said.stdout == f"of {name}\n" or "cache hit" in said.stderr
    assert "cache hit" in said.stderr
