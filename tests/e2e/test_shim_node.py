# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune-shim on a node of a cluster: orders, pulses, health and reserves."""

import json
import os
import re
import signal
import subprocess

import pytest

from programs import BUILD, wait_until

pytestmark = pytest.mark.sanitized

NODE = {"SLURMD_NODENAME": "n1", "SLURM_JOB_ID": "1234"}
QUICK = ("--heartbeat", 20, "--silence", 400)


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in b"ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Attempt:
    """An attempt's directory, and the shim that is started for it."""

    def __init__(self, smtune, directory, number=7):
        self.smtune, self.directory, self.number = smtune, directory, number
        directory.mkdir(parents=True, exist_ok=True)

    def order(self, *words, time=0, grace=10000, memory=0, gpus=0):
        subprocess.run([BUILD / "tests/e2e/speak", "order",
                        *map(str, (self.number, self.directory, 0, gpus, memory,
                                   time, grace, *words))], check=True)
        return self

    def run(self, *options, env=None):
        return self.smtune(*QUICK, "--order", self.directory, *options,
                           program="smtune-shim", env={**NODE, **(env or {})})

    def start(self, *options, quick=QUICK, **kwargs):
        return self.smtune.start(
            *quick, "--order", self.directory, *options,
            program="smtune-shim", env=NODE, **kwargs)

    def claim(self):
        return json.loads(self.read("claim"))

    def exit(self):
        return json.loads(self.read("exit"))

    def read(self, name):
        return (self.directory / name).read_text()

    def has(self, name):
        return (self.directory / name).exists()

    def await_log(self, word):
        wait_until(lambda: self.has("log") and word in self.read("log"),
                   what=f"'{word}' in the log")


@pytest.fixture
def attempt(smtune, tmp_path):
    return Attempt(smtune, tmp_path / "it's \"7\" $(touch hacked)")


def test_an_order_runs(attempt):
    result = attempt.order("sh", "-c", "echo x=$SM_X; exit 3").run()
    assert result.returncode == 3
    assert result.stdout == "" and result.stderr == ""
    assert attempt.read("log") == "x=1\n"
    assert attempt.exit()["attempt"] == 7
    assert attempt.exit()["cause"] == "exit"
    assert attempt.exit()["node"] == "n1"
    assert attempt.claim()["node"] == "n1" and attempt.claim()["job"] == 1234
    assert attempt.claim()["is_in_pilot"] == 0
    assert attempt.has("pulse")


def test_its_environment_is_the_nodes_and_its_own(attempt):
    attempt.order("env", "-0").run(env={
        "MODULE": "cuda", "SM_X": "9", "SM_OLD": "1", "SMTUNE_STEP": "outer",
        "CUDA_VISIBLE_DEVICES": "2"})
    env = dict(line.split("=", 1) for line in
               attempt.read("log").split("\0") if line)
    assert env["MODULE"] == "cuda" and env["CUDA_VISIBLE_DEVICES"] == "2"
    assert env["SM_X"] == "1" and env["SMTUNE_TRIAL"] == "t"
    assert "SM_OLD" not in env and "SMTUNE_STEP" not in env
    assert env["PATH"].startswith(f"{BUILD}:")
    assert env["SMTUNE_CLAIM"] == f"{attempt.directory}/claim"


def test_a_task_of_an_array_finds_its_order(smtune, attempt, tmp_path):
    attempt.order("echo", "here")
    tasks = tmp_path / "tasks"
    tasks.write_text(f"/nowhere\n{attempt.directory}\n/nowhere\n")

    def task(number):
        return smtune("--orders", tasks, program="smtune-shim",
                      env={**NODE, "SLURM_ARRAY_TASK_ID": str(number)})
    assert task(1).returncode == 0
    assert attempt.read("log") == "here\n"
    assert task(0).returncode == 123
    beyond = task(3)
    assert beyond.returncode == 123
    assert f"'{tasks}' has no line for task 3" in beyond.stderr


def test_a_missing_or_damaged_order_is_said(attempt):
    result = attempt.run()
    assert result.returncode == 123
    assert "/order" in result.stderr and "No such file" in result.stderr
    attempt.order("touch", "ran")
    order = attempt.directory / "order"
    order.write_bytes(order.read_bytes()[:-1])
    result = attempt.run()
    assert result.returncode == 123 and "is damaged" in result.stderr
    assert not attempt.has("claim")


def test_a_second_copy_does_nothing(attempt):
    attempt.order("sh", "-c", "echo ran; exit 4")
    assert attempt.run().returncode == 4
    result = attempt.run()
    assert result.returncode == 0 and result.stderr == ""
    assert attempt.read("log") == "ran\n"


def test_of_many_copies_one_runs(attempt):
    attempt.order("sh", "-c", "echo ran; sleep 0.1; exit 5")
    copies = [attempt.start() for _ in range(6)]
    assert sorted(copy.wait(30) for copy in copies) == [0] * 5 + [5]
    assert attempt.read("log") == "ran\n"


def test_a_void_claim_starts_nothing(attempt):
    attempt.order("touch", "ran")
    (attempt.directory / "claim").write_text("")
    assert attempt.run().returncode == 0
    assert not attempt.has("log")


def test_what_is_revoked_before_it_began_never_does(attempt):
    attempt.order("touch", "ran")
    (attempt.directory / "revoked").touch()
    assert attempt.run().returncode == 0
    assert not attempt.has("claim") and not attempt.has("ran")


def test_its_pulse_is_heard_while_it_runs(attempt):
    shim = attempt.order("sleep", "100").start()
    pulse = attempt.directory / "pulse"
    wait_until(pulse.exists, what="a pulse")
    for _ in range(3):
        before = pulse.stat().st_mtime_ns
        wait_until(lambda: pulse.stat().st_mtime_ns != before, what="a beat")
    shim.send_signal(signal.SIGTERM)
    assert shim.wait(30) == 128 + signal.SIGTERM


def test_sigterm_ends_the_attempt_with_its_grace(attempt):
    shim = attempt.order("sh", "-c", "trap 'echo saved; exit 0' TERM; echo go; "
                         "while :; do sleep 0.1; done").start()
    attempt.await_log("go")
    shim.send_signal(signal.SIGTERM)
    assert shim.wait(30) == 128 + signal.SIGTERM
    assert attempt.read("log").endswith("saved\n")
    assert attempt.exit()["cause"] == "cancelled"


def test_sigterm_to_all_of_a_job_is_one_to_the_attempt(attempt):
    """Slurm signals the processes of a job one by one: the command may be dead
    before its shim knows why."""
    shim = attempt.order("sh", "-c", "echo go; exec sleep 100").start()
    attempt.await_log("go")
    os.kill(shim.pid, signal.SIGSTOP)
    os.kill(attempt.claim()["pid"], signal.SIGTERM)
    shim.send_signal(signal.SIGTERM)
    os.kill(shim.pid, signal.SIGCONT)
    assert shim.wait(30) == 128 + signal.SIGTERM
    assert attempt.exit()["cause"] == "cancelled"


def test_a_command_that_sigterm_ends_waits_for_the_shims_own(attempt):
    """However short it was, and though the shim hears late."""
    shim = attempt.order("sh", "-c", "echo go; exec sleep 100").start()
    attempt.await_log("go")
    pid = attempt.claim()["pid"]
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), what="its reaping")
    shim.send_signal(signal.SIGTERM)
    assert shim.wait(30) == 128 + signal.SIGTERM
    assert attempt.exit()["cause"] == "cancelled"


def test_an_end_that_comes_just_before_sigterm_is_no_end_of_its_own(attempt):
    """As a command does that saves when it is told to, and ends well."""
    shim = attempt.order("sh", "-c", "trap 'exit 0' TERM; sleep 1.1; echo go; "
                         "while :; do read line < fifo; done").start()
    os.mkfifo(attempt.directory / "fifo")
    attempt.await_log("go")
    pid = attempt.claim()["pid"]
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not lives(pid), what="the end of the command")
    shim.send_signal(signal.SIGTERM)
    assert shim.wait(30) == 128 + signal.SIGTERM
    assert attempt.exit()["cause"] == "cancelled"
    assert attempt.exit()["exit_code"] == 0


def test_what_is_revoked_is_killed(attempt):
    shim = attempt.order("sh", "-c", "trap '' TERM; echo go; "
                         "while :; do sleep 0.1; done").start()
    attempt.await_log("go")
    (attempt.directory / "revoked").touch()
    assert shim.wait(30) == 128 + signal.SIGKILL
    assert attempt.exit()["cause"] == "node_fail"
    assert "the trial continues elsewhere" in attempt.exit()["text"]
    assert not lives(attempt.claim()["pid"])


def test_no_command_lives_without_its_shim(attempt):
    shim = attempt.order("sh", "-c", "echo go; exec sleep 100").start()
    attempt.await_log("go")
    shim.kill()
    wait_until(lambda: not lives(attempt.claim()["pid"]), what="its end")


def test_without_a_pulse_it_is_killed(attempt):
    """Its directory is gone, as where a file system is unmounted."""
    shim = attempt.order("sh", "-c", "trap '' TERM; echo go; "
                         "while :; do sleep 0.1; done").start()
    attempt.await_log("go")
    wait_until(lambda: attempt.has("pulse"), what="a pulse")
    pid = attempt.claim()["pid"]
    away = attempt.directory.with_name("away")
    attempt.directory.rename(away)
    wait_until(lambda: not lives(pid), what="the end of the command")
    assert shim.wait(30) == 128 + signal.SIGKILL


def helpers(attempt, shim):
    """The process that guards the pulse, and the one that touches it."""
    def pair():
        both = [pid for pid in attempt.smtune.left_behind() if pid != shim.pid]
        return both if len(both) == 2 else None
    one, other = wait_until(pair, what="two processes for the pulse")
    with open(f"/proc/{one}/stat") as file:
        parent = int(file.read().rpartition(")")[2].split()[1])
    return (other, one) if parent == other else (one, other)


def test_a_file_system_that_hangs_is_no_pulse(attempt):
    """The one that touches the pulse stands still; the shim does not."""
    shim = attempt.order("sh", "-c", "echo go; exec sleep 100").start()
    attempt.await_log("go")
    _, toucher = helpers(attempt, shim)
    os.kill(toucher, signal.SIGSTOP)
    assert shim.wait(30) > 128
    os.kill(toucher, signal.SIGCONT)
    assert attempt.exit()["cause"] == "node_fail"
    assert "no sign of life for 400 ms" in attempt.exit()["text"]


def test_a_shim_that_hangs_as_well_is_killed_with_what_it_runs(attempt):
    shim = attempt.order("sh", "-c", "setsid sh -c 'echo $$; exec sleep 100' & "
                         "echo go; exec sleep 100").start()
    attempt.await_log("go")
    wait_until(lambda: attempt.read("log").count("\n") == 2, what="both")
    child = int(re.search(r"\d+", attempt.read("log"))[0])
    _, toucher = helpers(attempt, shim)
    os.kill(shim.pid, signal.SIGSTOP)
    os.kill(toucher, signal.SIGSTOP)
    assert shim.wait(30) == -signal.SIGKILL
    os.kill(toucher, signal.SIGCONT)
    wait_until(lambda: not lives(attempt.claim()["pid"]) and not lives(child),
               what="the end of all")
    assert not attempt.has("exit")


def test_time_stopped_is_no_silence(attempt):
    """A job that Slurm suspends goes on when it is resumed."""
    ordered = attempt.order("sh", "-c", "echo go; read line < fifo")
    os.mkfifo(attempt.directory / "fifo")
    shim = ordered.start()
    attempt.await_log("go")
    everybody = {attempt.claim()["pid"], shim.pid, *helpers(attempt, shim)}
    assert len(everybody) == 4
    for pid in everybody:
        os.kill(pid, signal.SIGSTOP)
    with pytest.raises(subprocess.TimeoutExpired):
        shim.wait(0.8)
    for pid in everybody:
        os.kill(pid, signal.SIGCONT)
    with open(attempt.directory / "fifo", "w") as fifo:
        fifo.write("line\n")
    assert shim.wait(30) == 0


# -- Health -------------------------------------------------------------------

@pytest.fixture
def healthy(tmp_path):
    folder = tmp_path / "healthy"
    folder.mkdir()
    return folder


def test_a_node_is_checked_once(attempt, healthy):
    check = f"echo checked >>'{healthy}/log'"
    for number in (1, 2):
        other = Attempt(attempt.smtune, attempt.directory / str(number))
        result = other.order("true").run("--healthy", healthy,
                                         "--health", check)
        assert result.returncode == 0, result.stderr
    assert (healthy / "log").read_text() == "checked\n"
    assert (healthy / "n1").exists()
    assert not attempt.has("unhealthy")


def test_an_unhealthy_node_runs_nothing(attempt, healthy):
    check = "echo one; echo 'disk \"7\" is bad'; exit 9"
    attempt.order("touch", "ran")
    result = attempt.run("--healthy", healthy, "--health", check)
    assert result.returncode == 124
    assert "this node failed the health check" in result.stderr
    assert attempt.read("unhealthy") == (
        'the health check failed with status 9: "one disk "7" is bad"\n')
    assert not attempt.has("claim") and not attempt.has("log")
    assert not (healthy / "n1").exists()
    assert attempt.run("--healthy", healthy, "--health",
                       "true").returncode == 0
    assert attempt.has("exit")


def test_a_full_or_closed_disk_is_unhealthy(attempt, healthy):
    attempt.order("true")
    result = attempt.run("--healthy", healthy, env={"TMPDIR": "/nowhere/tmp"})
    assert result.returncode == 124
    assert "cannot write to '/nowhere/tmp'" in attempt.read("unhealthy")


def test_a_node_with_too_little_memory_is_unhealthy(attempt, healthy):
    attempt.order("true", memory=1 << 50)
    result = attempt.run("--healthy", healthy)
    assert result.returncode == 124
    assert re.fullmatch("needs 1.0 PiB of memory, this node has .* available\n",
                        attempt.read("unhealthy"))


def gpus(folder, *lines, status=0):
    """A nvidia-smi that says so, in front of the PATH."""
    program = folder / "nvidia-smi"
    program.write_text("#!/bin/sh\ncat <<'EOF'\n" + "\n".join(lines) +
                       f"\nEOF\nexit {status}\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize("lines, status, said", [
    (["0, 0", "1, [N/A]"], 0, None),
    (["0, 0"], 0, "needs 2 GPUs, nvidia-smi lists 1"),
    (["0, 0", "1, 17"], 0, "GPU 1 has uncorrected memory errors: 17"),
    (["0, 0", "1, [GPU is lost]"], 0, '"1, [GPU is lost]"'),
    (["Unable to determine the device handle"], 15, "status 15"),
])
def test_gpus_are_looked_at(attempt, healthy, tmp_path, lines, status, said):
    attempt.order("true", gpus=2)
    result = attempt.run("--healthy", healthy,
                         env=gpus(tmp_path, *lines, status=status))
    assert result.returncode == (124 if said else 0), result.stderr
    if said:
        assert said in attempt.read("unhealthy")


@pytest.mark.parametrize("devices, said", [
    (2, None), (0, "needs 2 GPUs, nvidia-smi lists 1")])
def test_mig_devices_are_gpus(attempt, healthy, tmp_path, devices, said):
    """The query lists their GPU alone."""
    attempt.order("true", gpus=2)
    env = gpus(tmp_path, "0, [N/A]")
    listed = ["GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6)"] + [
        f"  MIG 3g.20gb     Device  {number}: (UUID: MIG-c6d4f1e{number})"
        for number in range(devices)]
    program = tmp_path / "nvidia-smi"
    program.write_text(
        '#!/bin/sh\n[ "$*" = -L ] || exec cat <<END\n0, [N/A]\nEND\n'
        "cat <<END\n" + "\n".join(listed) + "\nEND\n")
    result = attempt.run("--healthy", healthy, env=env)
    assert result.returncode == (124 if said else 0), result.stderr
    if said:
        assert said in attempt.read("unhealthy")


# -- Reserves -----------------------------------------------------------------

@pytest.fixture
def chain(smtune, tmp_path):
    """An attempt, its reserve, and the folder with the engine's pulse."""
    engine = tmp_path / "engine"
    engine.mkdir()
    first = Attempt(smtune, tmp_path / "1-1", 7)
    reserve = Attempt(smtune, tmp_path / "1-2", -1)
    reserve.order("echo", "went on")
    reserve.begin = lambda silence=300: reserve.start(
        "--reserve-of", first.directory, "--engine", engine,
        quick=("--heartbeat", 20, "--silence", silence))
    return first, reserve, engine


def test_a_reserve_goes_on_after_a_time_limit(chain):
    first, reserve, _ = chain
    assert first.order("sleep", "100", time=50).run().returncode == 143
    assert reserve.begin().wait(30) == 0
    assert reserve.read("log") == "went on\n"
    assert reserve.claim()["attempt"] == -1 and reserve.exit()["attempt"] == -1


def test_a_reserve_goes_on_after_an_end_unseen(chain):
    first, reserve, _ = chain
    shim = first.order("sh", "-c", "echo go; exec sleep 100").start()
    first.await_log("go")
    shim.kill()
    shim.wait()
    assert reserve.begin().wait(30) == 0
    assert reserve.read("log") == "went on\n"


@pytest.mark.parametrize("end", ["true", "false", None])
def test_a_chain_that_is_over_needs_no_reserve(chain, end):
    first, reserve, _ = chain
    if end:
        first.order(end).run()
    assert reserve.begin().wait(30) == 0
    assert not reserve.has("claim") and not reserve.has("log")


def test_a_reserve_waits_for_the_word_of_a_living_engine(chain):
    first, reserve, engine = chain
    first.order("sleep", "100", time=50).run()
    (engine / "pulse").touch()
    shim = reserve.begin(silence=60000)
    with pytest.raises(subprocess.TimeoutExpired):
        shim.wait(0.5)
    reserve.number = 8
    reserve.order("echo", "told to")
    (reserve.directory / "go").touch()
    assert shim.wait(30) == 0
    assert reserve.read("log") == "told to\n"
    assert reserve.exit()["attempt"] == 8


def test_a_reserve_whose_claim_is_void_ends(chain):
    first, reserve, _ = chain
    first.order("sleep", "100", time=50).run()
    shim = reserve.begin(silence=60000)
    (reserve.directory / "claim").touch()
    assert shim.wait(30) == 0
    assert not reserve.has("log")
