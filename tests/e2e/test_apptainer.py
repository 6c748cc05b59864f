# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in the real Apptainer, in a folder with busybox as the image. `make
check-e2e DEBIAN=sid T=apptainer` has it on Debian sid; elsewhere these tests run
where it can."""

import os
import shutil
import subprocess

import pytest

from container_runtimes import attempt, log, signals

OPTIONS = ["--no-privs"]  # a root without all capabilities can have no others
# As an image of Docker has its variables, and behind them what Apptainer has in
# every image: after that it takes those of the caller.
ENVIRONMENT = {"10-docker2singularity.sh": 'export WHO="${WHO:-"image"}"\n'
                                           'export HERS="${HERS:-"image"}"\n',
               "99-base.sh": ""}


def make_box(box):
    """A whole system of one program."""
    for folder in ("bin", "proc", "sys", "dev", "tmp", "etc", "root", "home",
                   "var/tmp", ".singularity.d/env"):
        (box / folder).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), box / "bin/busybox")
    for name in ("sh", "sleep", "pwd", "ls", "cat", "id", "env"):
        (box / "bin" / name).symlink_to("busybox")
    for name in ("passwd", "group"):
        (box / "etc" / name).touch()
    for name, text in ENVIRONMENT.items():
        (box / ".singularity.d/env" / name).write_text(f"#!/bin/sh\n{text}")
        (box / ".singularity.d/env" / name).chmod(0o755)


@pytest.fixture
def box(tmp_path):
    """The keys of a container in it."""
    is_needed = os.environ.get("SMTUNE_DEBIAN") == "sid"
    if not is_needed and not (shutil.which("apptainer")
                              and shutil.which("busybox")):
        pytest.skip("no Apptainer or no busybox here")
    make_box(tmp_path / "box")
    tried = subprocess.run(
        ["apptainer", "exec", *OPTIONS, tmp_path / "box", "/bin/sh", "-c",
         "exit 0"], stderr=subprocess.PIPE, text=True, check=False)
    if tried.returncode != 0 and not is_needed:
        pytest.skip(f"Apptainer cannot run here: {tried.stderr}")
    assert tried.returncode == 0, tried.stderr
    return f"image: ./box, options: [{', '.join(OPTIONS)}]"


def test_apptainer__runs_the_steps_of_a_workflow(smtune, workflow, tmp_path,
                                                 box):
    box = f"container: {{{box}}}"
    smtune("run", workflow(f"""
        places:
          {box}
          shell: "pwd; ls -d $SMTUNE_DIR; echo $SMTUNE_JOB >$SMTUNE_DIR/made"
        code: {{{box}, shell: exit 7}}
        signal: {{{box}, shell: kill -SEGV $$}}
        nothing: {{{box}, command: no-such-program}}
        ranks: {{{box}, resources: {{tasks: 2}}, shell: echo rank $RANK}}
        once:
          {box}
          resources: {{time: 4s, grace: 20s}}
          continue: {{signal: USR2@2s, max: 1}}
          checkpoints: true
          shell: |
            trap 'echo warned' USR2
            trap 'echo term; end=1' TERM
            while [ -z "$end" ]; do sleep 0.1; done
            for i in 1 2 3 4 5; do sleep 0.1; done
        stays:
          {box}
          resources: {{time: 3s, grace: 100ms}}
          shell: "trap '' TERM; sleep 99 & sleep 98"
        """))
    assert log(smtune, "flow", "places")[0] == str(tmp_path)
    assert attempt(smtune, "flow", "code")["exit_code"] == 7
    assert attempt(smtune, "flow", "signal")["cause"] == "signal"
    assert attempt(smtune, "flow", "nothing")["cause"] == "setup_failed"
    assert log(smtune, "flow", "ranks") == ["rank 0"]
    assert signals(smtune, "once") == ["warned", "term"]
    assert attempt(smtune, "flow", "stays")["cause"] == "timeout"


def test_apptainer__runs_the_trials_of_an_experiment(smtune, experiment, write,
                                                     box):
    """With a mount of an odd name, and with variables of the file before the
    image's; once more from the command of the best trial."""
    write('odd, "name"/file', "42\n")
    smtune.ok("run", experiment(trials=3, parallel=3, trial=f"""
        shell: |
          echo $WHO $HERS $(cat /mnt/file)
          [ -e /etc/debian_version ] || echo in the box
          echo loss=${{{{ x }}}}
          echo $SMTUNE_JOB >$SMTUNE_DIR/made
        env: {{WHO: "it's the file"}}
        container: {{{box}, mounts: ['odd, "name":/mnt:ro']}}"""))
    said = ["it's the file image 42", "in the box"]
    for trial in 1, 2, 3:
        assert log(smtune, "exp", trial)[:2] == said
    command, again = smtune.best_again()
    assert "\napptainer exec --pwd " in command
    assert again[:2] == said
