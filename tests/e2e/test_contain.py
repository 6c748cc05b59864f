# SPDX-License-Identifier: GPL-3.0-or-later
"""A test run leaves nothing behind, however it ends (tests/contain)."""

import os
import signal
import subprocess
import tempfile
import uuid

import pytest

from programs import ROOT, processes_with, wait_until

CONTAIN = ROOT / "tests/contain"

# A daemon that has left its session, a child, and a test that never ends.
RUN = """\
setsid sh -c 'while :; do sleep 1; done' </dev/null >/dev/null 2>&1 &
sleep 1000 &
mkdir "$SMTUNE_TEST_FOLDER/lab"
echo "$SMTUNE_TEST_FOLDER"
wait
"""


class Run:
    """The folders are made in one of their own: any other run that begins
    removes those that were left beside its own."""

    def __init__(self, temporary, *before, words=("bash", "-c", RUN)):
        self.marker = f"CONTAINED={uuid.uuid4().hex}"
        name, _, value = self.marker.partition("=")
        env = {**os.environ, name: value, "TMPDIR": temporary}
        env.pop("SMTUNE_TEST_FOLDER", None)
        self.process = subprocess.Popen(
            [*before, CONTAIN, *words], env=env, stdout=subprocess.PIPE,
            text=True, start_new_session=True)

    def survivors(self):
        return processes_with(self.marker.encode())


@pytest.fixture
def start():
    runs = []
    with tempfile.TemporaryDirectory() as temporary:
        os.chmod(temporary, 0o1777)

        def make(*before, **options):
            runs.append(Run(temporary, *before, **options))
            return runs[-1]
        make.temporary = temporary
        yield make
        for run in runs:
            run.process.kill()
            wait_until(lambda run=run: not run.survivors(),
                       what="the end of all")
            run.process.wait()
            run.process.stdout.close()


def test_ends_as_the_command_does(start):
    for words, status in [(["true"], 0), (["sh", "-c", "exit 7"], 7),
                          (["sh", "-c", "kill -9 $$"], 137),
                          (["/nowhere"], 127)]:
        assert start(words=words).process.wait(20) == status


NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


@pytest.mark.parametrize("user", ["root", "nobody"])
@pytest.mark.parametrize("how", ["INT", "TERM", "HUP", "KILL", "parent"])
def test_nothing_survives(start, how, user):
    before = []
    if user == "nobody":
        if os.geteuid() != 0 or how == "KILL":
            pytest.skip("only root has namespaces")
        if not os.access(ROOT.parent, os.X_OK) or not os.stat(
                ROOT).st_mode & 0o005:
            pytest.skip("nobody cannot read the tests")
        before = NOBODY
    if how == "parent":
        before = ["sh", "-c", '"$@"; :', "sh", *before]
    run = start(*before)
    folder = run.process.stdout.readline().strip()
    assert os.path.isdir(f"{folder}/lab")
    wait_until(lambda: len(run.survivors()) >= 4, what="all of them")
    if how == "parent" or how == "KILL":
        run.process.kill()
    elif how == "INT" and user == "nobody":
        os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does
    else:
        run.process.send_signal(getattr(signal, f"SIG{how}"))
    run.process.wait(20)
    wait_until(lambda: not run.survivors(), what="the end of all")
    if how == "KILL":
        assert os.path.isdir(folder)
        assert start(words=["true"]).process.wait(20) == 0
    wait_until(lambda: not os.path.exists(folder), what="no folder")


def test_folders_of_those_that_live_stay(start):
    run = start()
    folder = run.process.stdout.readline().strip()
    assert start(words=["true"]).process.wait(20) == 0
    assert os.path.isdir(f"{folder}/lab")
    assert folder.startswith(start.temporary)


def test_those_that_start_at_once_have_a_folder_each(start):
    """None takes another's new folder for one that was left."""
    runs = [start(words=["sh", "-c", '[ -d "$SMTUNE_TEST_FOLDER" ] && '
                         'echo "$SMTUNE_TEST_FOLDER"']) for _ in range(40)]
    folders = {run.process.communicate(timeout=60)[0] for run in runs}
    assert all(run.process.returncode == 0 for run in runs)
    assert len(folders) == len(runs)


def test_one_inside_another_runs_the_command_as_it_is(start):
    inner = f'[ "$SMTUNE_TEST_FOLDER" = "$({CONTAIN} sh -c ' \
            '\'echo $SMTUNE_TEST_FOLDER\')" ]'
    assert start(words=["sh", "-c", inner]).process.wait(20) == 0
