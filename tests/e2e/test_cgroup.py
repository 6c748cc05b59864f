# SPDX-License-Identifier: GPL-3.0-or-later
"""Trials in control groups, and without them."""

import glob
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import pytest

import files
from programs import BUILD, wait_until

NOBODY = 65534


@pytest.fixture(params=["auto", "off"])
def experiment(request, experiment):
    """With control groups and without."""
    def make(*words, use=request.param, **keys):
        return experiment(*words, **{"trials": 1} | keys,
                          executor={"name": "local", "cgroup": use})
    make.use = request.param
    return make


def powers(smtune):
    rows = {row["check"]: row["found"] for row in smtune.json("doctor")}
    return rows["cgroups"]


def attempt(smtune, run="exp", trial=1):
    return smtune.json("show", run, trial)["attempts"][-1]


def leftovers():
    """The groups of processes that are dead. The processes of another test
    run, in a namespace of its own, are not seen here; their groups have 0 for
    each, and are not counted."""
    found = []
    for path in glob.glob("/sys/fs/cgroup/**/smtune-*", recursive=True):
        match = re.fullmatch(r"smtune-(\d+)-\d+-\w+", os.path.basename(path))
        if not match or os.path.exists(f"/proc/{match[1]}"):
            continue
        try:
            with open(f"{path}/cgroup.procs") as file:
                if "0" not in file.read().split():
                    found.append(path)
        except OSError:     # it has gone meanwhile
            pass
    return found


@pytest.mark.sanitized
def test_memory_limit_and_its_evidence(smtune, experiment):
    path = experiment(f"""\
        echo loss=1
        {sys.executable} -c "
        import time
        x = bytearray(b'1') * (200 << 20)
        time.sleep(300)"
        """, resources={"memory": "64M"})
    smtune("run", path)
    end = attempt(smtune)
    assert end["cause"] == "oom"
    if experiment.use == "auto" and "memory" in powers(smtune):
        assert re.fullmatch("out of memory: the kernel killed [12] process(es)?"
                            " at the limit of 64.0 MiB", end["text"])
    else:
        assert re.fullmatch("out of memory: its processes used [0-9.]+ MiB, "
                            "with a limit of 64.0 MiB", end["text"])


def test_a_kill_from_outside_is_not_explained(smtune, experiment):
    path = experiment("echo loss=1; kill -9 $$", resources={"memory": "64M"})
    smtune("run", path)
    end = attempt(smtune)
    assert end["cause"] == "signal"
    assert end["text"].startswith("killed by SIGKILL; smtune did not send it, "
                                  "and the sender is unknown")


def test_cpus_are_capped(smtune, experiment):
    # Three processes that would use three CPUs, or all there are.
    spin = "import time; end = time.time() + 2\nwhile time.time() < end: pass"
    (smtune.directory / "spin.py").write_text(spin)
    path = experiment(f"""\
        for i in 1 2 3; do {sys.executable} {smtune.directory}/spin.py & done
        wait
        echo loss=1
        """, resources={"cpus": 1})
    smtune.ok("run", path)
    if experiment.use == "auto" and "CPU" in powers(smtune):
        assert attempt(smtune)["cpu_ms"] < 2800


def test_no_group_is_left(smtune, experiment):
    before = set(leftovers())
    path = experiment("(setsid sleep 300 &); sleep 0.3; echo loss=1", trials=4,
                      resources={"cpus": 1, "memory": "64M"})
    smtune.ok("run", path)
    wait_until(lambda: not smtune.left_behind(), 10, "an empty house")
    # One of another test run is empty for a moment.
    wait_until(lambda: set(leftovers()) <= before, what="the end of the groups")


def test_everything_killed_but_the_trials(smtune, experiment):
    """Engine and agent die; the trial's daemon has left no trace of itself but
    its control group, or, without one, the claim that it holds."""
    close = "os.closerange(3, 1000)" if experiment.use == "auto" and \
        powers(smtune) != "none" else ""
    pid_file = smtune.directory / "hidden"
    (smtune.directory / "hide.py").write_text(f"""
import os, signal, time
if 'SMTUNE_CLAIM' in os.environ:
    if os.fork():
        os._exit(0)
    os.setsid()
    {close}
    os.execve('{sys.executable}', ['{sys.executable}', __file__], {{}})
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open('{pid_file}.tmp', 'w') as file:
    file.write(str(os.getpid()))
os.rename('{pid_file}.tmp', '{pid_file}')
time.sleep(1000)
""")
    path = experiment(f"""\
        {sys.executable} {smtune.directory}/hide.py
        until [ -e {pid_file} ]; do sleep 0.1; done
        echo up; sleep 300
        """, resources={"grace": "0.2s"})
    before = set(leftovers())
    engine = smtune.start("run", path)
    wait_until(pid_file.exists)
    agent = [pid for pid, command in smtune.left_behind().items()
             if "smtune-shim" in command]
    assert len(agent) == 1
    engine.kill()
    engine.wait()
    os.kill(agent[0], signal.SIGKILL)
    hidden = int(pid_file.read_text())
    assert os.path.exists(f"/proc/{hidden}")
    smtune.ok("stop", "exp")
    wait_until(lambda: not smtune.left_behind(), 10, "an empty house")
    wait_until(lambda: not os.path.exists(f"/proc/{hidden}"), 10, "its end")
    assert smtune.json("status", "exp")["state"] == "stopped"
    smtune.ok("run", experiment(command="echo loss=1"), "--name", "next")
    wait_until(lambda: set(leftovers()) <= before, 10, "no group left")


@pytest.fixture
def nobodys_home():
    """A folder that nobody owns, whom pytest's own would not let in."""
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, NOBODY, NOBODY)
        yield pathlib.Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be nobody")
def test_an_ordinary_user_needs_no_groups(smtune, nobodys_home):
    home = nobodys_home
    (home / "exp.yaml").write_text(files.experiment(f"""\
        echo loss=1
        setsid sleep 300 &
        if [ $SMTUNE_JOB = 1 ]; then
            exec {sys.executable} eat.py
        fi
        """, trials=2, resources={"memory": "64M"}))
    (home / "eat.py").write_text("import time\n"
                                 "x = bytearray(b'1') * (200 << 20)\n"
                                 "time.sleep(300)\n")

    def run(*words):
        return subprocess.run(
            ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
             "--clear-groups", BUILD / "smtune", *words], cwd=home, text=True,
            capture_output=True, timeout=60,
            env={**smtune.environment(), "HOME": str(home),
                 "XDG_RUNTIME_DIR": str(home)})
    assert "cgroups      none" in run("doctor").stdout
    result = run("run", "exp.yaml")
    assert result.returncode == 0, result.stderr
    shown = run("trials", "exp", "-o", "jsonl").stdout
    assert '"oom"' in shown and '"succeeded"' in shown
    wait_until(lambda: not smtune.left_behind(), 10, "an empty house")
