# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder in which a command starts, and where relative paths start."""

import pytest

pytestmark = pytest.mark.sanitized


@pytest.fixture
def project(write, tmp_path):
    """A file in a folder, and another folder to start smtune in; the store is
    above both."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".smtune").mkdir()

    def put(text):
        return write("project/file.yaml", text)
    return put


def log(smtune, run="exp", number=1):
    return smtune.ok("logs", run, number).splitlines()


def test_workdir__is_where_smtune_started_by_default(
        smtune, experiment, project, tmp_path):
    file = experiment("pwd; echo loss=1", trials=1).read_text()
    smtune.ok("run", project(file), cwd=tmp_path / "elsewhere")
    smtune.ok("resume", "exp", "--trials", 2)
    assert log(smtune)[0] == log(smtune, number=2)[0] == str(
        tmp_path / "elsewhere")


@pytest.mark.parametrize("workdir, folder", [
    ("..", ""), ("sub/x", "project/sub/x"),
    ("${{ file_dir }}/sub", "project/sub"),
    ("${{ dir }}", ".smtune/runs/exp/trials/1"),
    ("${{ '/' }}", "/"),
])
def test_workdir__starts_at_the_folder_of_the_file(
        smtune, experiment, project, tmp_path, workdir, folder):
    (tmp_path / "project/sub/x").mkdir(parents=True)
    file = experiment("pwd; echo loss=1", trials=1,
                      workdir=f'"{workdir}"').read_text()
    smtune.ok("run", project(file), cwd=tmp_path / "elsewhere")
    assert log(smtune)[0] == str((tmp_path / folder).resolve())


def test_workdir__command_and_file_dir(smtune, experiment, project, write,
                                       tmp_path):
    write("project/bin/run.sh", "#!/bin/sh\necho $1; echo loss=1\n", 0o755)
    file = experiment(command="./run.sh ${{ file_dir }}", trials=1,
                      workdir="bin").read_text()
    smtune.ok("run", project(file), cwd=tmp_path / "elsewhere")
    assert log(smtune)[0] == str(tmp_path / "project")
    shown = smtune.ok("best", "exp", "--command")
    assert shown == (f"cd {tmp_path}/project/bin && ./run.sh "
                     f"{tmp_path}/project\n")


def test_workdir__standard_input_has_the_current_folder(
        smtune, experiment, tmp_path):
    file = experiment("echo ${{ file_dir }}; pwd; echo loss=1",
                      trials=1).read_text()
    smtune.ok("run", "-", input=file, cwd=tmp_path)
    assert log(smtune)[:2] == [".", str(tmp_path)]


def test_workdir__that_does_not_exist_fails_the_trial(
        smtune, experiment):
    smtune("run", experiment("echo loss=1", trials=1, workdir="missing"))
    attempt = smtune.json("show", "exp", 1)["attempts"][0]
    assert attempt["cause"] == "launch_error"
    assert f"{smtune.directory}/missing" in attempt["text"]


def test_workdir__outputs_and_inputs_of_a_step(smtune, workflow, tmp_path):
    """They belong to the folder of the command."""
    for name in "one", "two":
        (tmp_path / name).mkdir()
        (tmp_path / name / "in").write_text(name)
    file = workflow("""
        a:
          matrix: {name: [one, two]}
          workdir: "${{ name }}"
          shell: "cat in >out"
          cache: {inputs: [in]}
          outputs: {file: out, text: {value: out}}
        b: {needs: a, command: ["echo", "${{ a.file }}"]}
        """.replace(", text: {value: out}", ""))
    smtune.ok("run", file)
    assert (tmp_path / "two" / "out").read_text() == "two"
    assert f"{tmp_path}/one/out" in smtune.ok("logs", "last", "b")
    (tmp_path / "two" / "in").write_text("changed")
    smtune.ok("run", file)
    rows = smtune.json("status", "last")["steps"]
    assert [step["state"] for step in rows] == ["succeeded"] * 2
    assert (tmp_path / "two" / "out").read_text() == "changed"


def test_workdir__validate_refuses_what_is_no_path(smtune, experiment):
    result = smtune("validate", experiment("true", workdir='""'))
    assert result.returncode == 3 and "workdir" in result.stderr
    result = smtune("validate", experiment("true", workdir='"${{ lr }}"'))
    assert result.returncode == 3 and "lr" in result.stderr
    result = smtune("validate", experiment("true", trial="{cwd: a, shell: b}"))
    assert "workdir" in result.stderr
