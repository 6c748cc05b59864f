# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune-shim in the foreground, as it runs inside batch jobs."""

import json
import os
import signal
import subprocess
import sys

import pytest

from programs import BUILD, wait_until

pytestmark = pytest.mark.sanitized


@pytest.fixture(params=["cgroup", "no_cgroup"])
def shim(request, smtune, tmp_path):
    """shim(words...): runs it for the attempt in tmp_path/attempt, with a
    control group where one can be made, and without."""
    directory = tmp_path / "attempt"
    directory.mkdir()
    how = ["--no-cgroup"] if request.param == "no_cgroup" else []

    def run(*words, options=("--attempt", 7), **kwargs):
        return smtune(*how, *options, directory, "--", *words,
                      program="smtune-shim", **kwargs)
    run.directory = directory
    run.start = lambda *words, options=("--attempt", 7): smtune.start(
        *how, *map(str, options), directory, "--", *words,
        program="smtune-shim")
    run.exit = lambda: json.loads((directory / "exit").read_text())
    run.claim = lambda: json.loads((directory / "claim").read_text())
    run.log = lambda: (directory / "log").read_text()
    return run


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in b"ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def await_log(shim, word):
    wait_until(lambda: (shim.directory / "log").exists() and word in shim.log(),
               what=f"'{word}' in the log")


def test_mirrors_success(shim):
    result = shim("echo", "loss=1")
    assert result.returncode == 0
    assert result.stdout == "" and result.stderr == ""
    assert shim.log() == "loss=1\n"
    end = shim.exit()
    assert end["attempt"] == 7 and end["cause"] == "ok"
    assert end["exit_code"] == 0 and end["signal"] == 0
    assert end["started_ms"] <= end["ended_ms"]


def test_claim_tells_who_runs(shim):
    shim("sh", "-c", "echo $$ $PPID")
    pid, parent = map(int, shim.log().split())
    claim = shim.claim()
    assert claim["attempt"] == 7
    assert claim["pid"] == pid and claim["shim_pid"] == parent
    assert claim["pid_start"] > 0 and claim["time_ms"] > 0
    with open("/proc/sys/kernel/random/boot_id") as file:
        assert claim["boot_id"] == file.read().strip()
    assert claim["host"] == os.uname().nodename


@pytest.mark.parametrize("memory", [4000, 8000])
def test_too_little_memory_to_execute_is_no_shortage_of_the_machine(
        shim, memory):
    """The machine had room for the process: only its own limit is in the
    way, which is there for the next attempt, too."""
    shim("true", options=("--attempt", 7, "--memory", memory))
    end = shim.exit()
    if end["cause"] != "ok":  # control groups with memory are not everywhere
        assert end["cause"] in ("launch_error", "oom")
        assert end["is_shortage"] == 0
    if "within" in end["text"]:
        assert "'true' within its memory limit of" in end["text"]


@pytest.mark.parametrize("status", [1, 75, 255])
def test_mirrors_exit_codes(shim, status):
    assert shim("sh", "-c", f"exit {status}").returncode == status
    assert shim.exit()["cause"] == "exit"
    assert shim.exit()["exit_code"] == status


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT,
                                    signal.SIGUSR1])
def test_mirrors_signals(shim, number):
    result = shim("sh", "-c", f"kill -{int(number)} $$")
    assert result.returncode == 128 + number
    assert shim.exit()["cause"] == "signal"
    assert shim.exit()["signal"] == number
    if number == signal.SIGKILL:
        assert "the sender is unknown" in shim.exit()["text"]
    else:
        assert signal.Signals(number).name in shim.exit()["text"]


def test_missing_program_is_a_launch_error(shim):
    result = shim("no-such-program")
    assert result.returncode == 126
    assert "no program 'no-such-program' in the PATH" in result.stderr
    assert shim.exit()["cause"] == "launch_error"
    assert "no-such-program" in shim.exit()["text"]


def test_missing_directory_is_an_error(smtune, tmp_path):
    result = smtune(tmp_path / "none", "--", "true", program="smtune-shim")
    assert result.returncode == 126
    assert f"{tmp_path}/none/claim" in result.stderr


@pytest.mark.parametrize("words", [[], ["directory"], ["--time", "soon"],
                                   ["--memory", "-1", "d", "true"],
                                   ["--colour", "d", "true"]])
def test_wrong_usage(smtune, words):
    result = smtune(*words, program="smtune-shim")
    assert result.returncode == 2
    assert "smtune-shim" in result.stderr


def test_help(smtune):
    assert "--agent FD" in smtune.ok("--help", program="smtune-shim")


def test_a_claimed_directory_runs_nothing(shim):
    assert shim("sh", "-c", "exit 3").returncode == 3
    result = shim("sh", "-c", "touch ran")
    assert result.returncode == 0
    assert "claim" in result.stderr
    assert not (shim.directory.parent / "ran").exists()
    assert shim.exit()["exit_code"] == 3


def test_of_many_shims_exactly_one_runs(shim):
    processes = [shim.start("sh", "-c", "echo ran; sleep 0.1; exit 5")
                 for _ in range(8)]
    statuses = sorted(process.wait(30) for process in processes)
    assert statuses == [0] * 7 + [5]
    assert shim.log() == "ran\n"


def test_time_limit(shim):
    result = shim("sleep", "1000", options=("--time", 200))
    assert result.returncode == 128 + signal.SIGTERM
    assert shim.exit()["cause"] == "timeout"
    assert shim.exit()["text"] == "time limit of 200 ms reached"
    assert shim.exit()["ended_ms"] - shim.exit()["started_ms"] >= 200


def test_time_limit_kills_what_ignores_it(shim):
    result = shim("sh", "-c", "trap '' TERM; while :; do sleep 1000; done",
                  options=("--time", 300, "--grace", 100))
    assert result.returncode == 128 + signal.SIGKILL
    assert shim.exit()["cause"] == "timeout"
    assert "SIGTERM did not stop it within 100 ms" in shim.exit()["text"]


def test_memory_limit_counts_the_whole_tree(shim):
    # Three processes of 40 MB each, none over the limit by itself.
    eat = (f"{sys.executable} -c 'import time; x = b\"1\" * 40000000;"
           " time.sleep(1000)'")
    result = shim("sh", "-c", f"{eat} & {eat} & {eat} & wait",
                  options=("--memory", 100_000_000))
    assert result.returncode == 128 + signal.SIGKILL
    assert shim.exit()["cause"] == "oom"
    assert shim.exit()["max_rss_bytes"] > 90_000_000
    assert shim.exit()["text"].startswith("out of memory: ")


def test_shared_memory_counts_once(shim):
    script = ("import os, time\n"
              "x = b'1' * 60000000\n"
              "for _ in range(4):\n"
              "    if os.fork() == 0:\n"
              "        time.sleep(0.5)\n"
              "        os._exit(0)\n"
              "for _ in range(4): os.wait()\n")
    result = shim(sys.executable, "-c", script,
                  options=("--memory", 150_000_000))
    assert result.returncode == 0, shim.exit()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT,
                                    signal.SIGHUP])
def test_a_signal_to_the_shim_ends_the_attempt(shim, number):
    process = shim.start("sh", "-c", "trap 'echo told; exit 4' TERM; echo up;"
                         "while :; do sleep 0.1; done")
    await_log(shim, "up")
    process.send_signal(number)
    assert process.wait(30) == 4
    assert shim.log().endswith("told\n")
    assert shim.exit()["cause"] == "cancelled"


def test_stopped_processes_are_ended(shim):
    process = shim.start("sh", "-c", "sleep 1000 & kill -STOP $!; echo $!;"
                         "kill -STOP $$")
    wait_until(lambda: (shim.directory / "log").exists() and shim.log())
    process.terminate()
    assert process.wait(30) == 128 + signal.SIGTERM
    assert not lives(int(shim.log()))


def leftover(pid_file, how):
    """A Python program that hides from its parent, and notes its pid."""
    return ("import os, signal, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            f"{how}\n"
            f"with open('{pid_file}.tmp', 'w') as file:\n"
            "    file.write(str(os.getpid()))\n"
            f"os.rename('{pid_file}.tmp', '{pid_file}')\n"
            "time.sleep(1000)\n")


HIDINGS = {
    "ignores_term": "",
    "own_group": "os.setpgid(0, 0)",
    "own_session": "os.setsid()",
    "double_fork": "os.fork() and os._exit(0)\nos.setsid()\n"
                   "os.fork() and os._exit(0)",
    "closes_all": "os.fork() and os._exit(0)\nos.setsid()\n"
                  "os.fork() and os._exit(0)\nos.closerange(0, 1000)",
    "no_environment": "if 'SMTUNE_CLAIM' in os.environ:\n"
                      "    os.setsid()\n"
                      "    os.closerange(0, 1000)\n"
                      "    os.execve('/proc/self/exe', open("
                      "'/proc/self/cmdline').read().split('\\0')[:-1], {})",
}


@pytest.mark.parametrize("how", HIDINGS)
def test_nothing_is_left_behind(shim, tmp_path, how):
    pid_file = tmp_path / "pid"
    script = leftover(pid_file, HIDINGS[how])
    (tmp_path / "hide.py").write_text(script)
    result = shim("sh", "-c", f"{sys.executable} {tmp_path}/hide.py &"
                  f"until [ -e {pid_file} ]; do sleep 0.1; done")
    assert result.returncode == 0
    assert not lives(int(pid_file.read_text()))


def test_a_bomb_of_processes_is_ended(shim, smtune):
    # Each sleeper starts its successor in a session of its own, then ends.
    script = ("import os, time\n"
              "end = time.time() + 20\n"
              "while time.time() < end:\n"
              "    if os.fork() == 0:\n"
              "        os.setsid()\n"
              "        time.sleep(0.003)\n"
              "    else:\n"
              "        os._exit(0)\n")
    result = shim("sh", "-c", f"{sys.executable} -c '{script}' & sleep 0.2")
    assert result.returncode == 0
    assert not smtune.left_behind()


def test_processes_that_never_rest_are_ended(shim, smtune):
    hand_on = BUILD / "tests/e2e/hand_on"
    result = shim("sh", "-c", f"{hand_on} 60 & setsid {hand_on} 60 & sleep 0.1")
    assert result.returncode == 0
    assert not smtune.left_behind()


def test_a_bomb_of_processes_is_ended_by_its_time_limit(shim, smtune):
    # The command itself starts them, each in a session of its own, and each
    # starts another; all of them ignore SIGTERM.
    script = ("import os, signal, time\n"
              "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
              "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
              "end = time.time() + 20\n"
              "first = os.getpid()\n"
              "while time.time() < end:\n"
              "    time.sleep(0.02)\n"
              "    if os.fork() == 0:\n"
              "        os.setsid()\n"
              "    elif os.getpid() != first:\n"
              "        os._exit(0)\n")
    result = shim(sys.executable, "-c", script,
                  options=("--time", 300, "--grace", 100))
    assert result.returncode == 128 + signal.SIGKILL
    assert shim.exit()["cause"] == "timeout"
    assert not smtune.left_behind()


def test_a_tracer_does_not_hide_the_end_of_the_command(shim, smtune):
    # A traced process that is dead is shown to its tracer first, who does not
    # care here.
    script = ("import ctypes, os, signal, time\n"
              "libc = ctypes.CDLL(None)\n"
              "libc.prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)\n"
              "if os.fork() == 0:\n"
              "    os.setsid()\n"
              "    if libc.ptrace(0x4206, os.getppid(), 0, 0) == 0:\n"
              "        os.write(1, b'traced')\n"
              "    signal.pause()\n"
              "signal.pause()\n")
    result = shim(sys.executable, "-c", script,
                  options=("--time", 1000, "--grace", 100))
    if shim.log() != "traced":
        pytest.skip("tracing is not allowed here")
    assert result.returncode > 128
    assert shim.exit()["cause"] == "timeout"
    assert not smtune.left_behind()


def test_stopped_and_hidden_processes_are_ended_by_a_time_limit(shim, smtune):
    result = shim("sh", "-c", "setsid sh -c 'kill -STOP $$' & (sleep 300 &);"
                  "sleep 300", options=("--time", 300))
    assert result.returncode == 128 + signal.SIGTERM
    assert shim.exit()["cause"] == "timeout"
    assert not smtune.left_behind()


def test_output_is_kept_as_it_is(shim):
    script = "import os\nos.write(1, bytes(range(256)) * 4000)\nos.write(2, b'!')"
    assert shim(sys.executable, "-c", script).returncode == 0
    assert (shim.directory / "log").read_bytes() == \
        bytes(range(256)) * 4000 + b"!"


def test_arguments_are_kept_as_they_are(shim):
    words = ["", "a b", "*", "$(touch pwned)", "'", "\n", "é", "x" * 100000]
    assert shim(sys.executable, "-c", "import sys; print(sys.argv[1:])",
                *words).returncode == 0
    assert eval(shim.log()) == words


def test_killed_shim_leaves_a_claim_and_no_exit(shim):
    process = shim.start("sh", "-c", "echo up; exec sleep 1000")
    await_log(shim, "up")
    process.kill()
    process.wait()
    pid = shim.claim()["pid"]
    assert lives(pid)
    held = subprocess.run(["flock", "-n", shim.directory / "claim", "true"])
    assert held.returncode == 1
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not lives(pid))
    subprocess.run(["flock", "-n", shim.directory / "claim", "true"],
                   check=True)
    assert not (shim.directory / "exit").exists()


def test_agent_wants_a_socket(smtune):
    for number in (0, 99):
        result = smtune("--agent", number, program="smtune-shim")
        assert result.returncode == 1
        assert f"descriptor {number} is not a socket" in result.stderr
