# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune launch`: ranks that start, fail and end as one. That nothing outlives
them is checked after each test by its fixture."""

import array
import fcntl
import os
import signal
import subprocess
import termios
import time

import pytest

from programs import BUILD, processes_with, wait_until

SHELL = ("--", "sh", "-c")


def lines(text):
    return sorted(text.splitlines())


@pytest.mark.quick
@pytest.mark.sanitized
def test_each_rank_knows_its_place(smtune):
    out = smtune.ok("launch", "--tasks", 3, *SHELL,
                    "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE "
                    "$MASTER_ADDR:$MASTER_PORT")
    port = out.rpartition(":")[2].strip()
    assert 1024 <= int(port) <= 65535
    at = f"127.0.0.1:{port}"
    assert lines(out) == [f"0/3 0/3 {at}", f"[rank 1] 1/3 1/3 {at}",
                          f"[rank 2] 2/3 2/3 {at}"]


def test_each_rank_may_see_its_own_gpus(smtune):
    out = smtune.ok("launch", "-n", 2, "--split-gpus", *SHELL,
                    "echo $CUDA_VISIBLE_DEVICES $LOCAL_RANK/$LOCAL_WORLD_SIZE",
                    env={"CUDA_VISIBLE_DEVICES": "4,5,6,7"})
    assert lines(out) == ["4,5 0/1", "[rank 1] 6,7 0/1"]


def test_ranks_meet_at_the_address(smtune, write):
    write("meet.py", """
        import os, socket, time
        at = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        if rank == 0:
            server = socket.create_server(at)
            heard = {server.accept()[0].recv(9) for _ in range(size - 1)}
            print(sorted(heard))
        else:
            for _ in range(500):
                try:
                    socket.create_connection(at).sendall(b"%d" % rank)
                    break
                except ConnectionRefusedError:
                    time.sleep(0.02)
        """)
    assert smtune.ok("launch", "-n", 4, "--", "python3", "meet.py") == \
        "[b'1', b'2', b'3']\n"


def test_the_first_that_fails_ends_the_others(smtune):
    result = smtune("launch", "-n", 3, *SHELL, """
        if [ $RANK = 1 ]; then
            seq 100; echo; echo no data; printf 'half\\033[1m'; exit 3
        fi
        exec sleep 600""")
    assert result.returncode == 3
    last = ["[rank 1] %d" % n for n in range(94, 101)]
    told = result.stderr[result.stderr.index("smtune: rank 1"):].splitlines()
    assert told[:2] == [
        "smtune: rank 1 exited with status 3; the others were stopped because "
        "of it", "smtune: the last output of rank 1:"]
    assert told[2:] == last + ["[rank 1] ", "[rank 1] no data",
                               "[rank 1] half\\x1b[1m"]
    assert "[rank 1] no data\n" in result.stdout


def test_a_rank_that_is_killed(smtune):
    engine = smtune.start("launch", "-n", 3, *SHELL,
                          "echo $$ >rank$RANK; exec sleep 600")
    file = smtune.directory / "rank2"
    wait_until(lambda: file.exists() and file.read_text().endswith("\n"))
    os.kill(int(file.read_text()), signal.SIGKILL)
    out, err = engine.communicate(timeout=30)
    assert engine.returncode == 128 + signal.SIGKILL
    assert err == ("smtune: rank 2 was killed by signal 9, SIGKILL; the others "
                   "were stopped because of it\n")


STUBBORN = """
    trap '' TERM
    (setsid sh -c 'trap "" TERM; touch deep$RANK; exec sleep 600' &)
    while [ ! -e deep$RANK ]; do sleep 0.1; done
    echo $$ >rank$RANK
    if [ $RANK = 0 ]; then while [ ! -e rank1 ]; do sleep 0.1; done; exit 5; fi
    while :; do sleep 600; done"""


def test_what_ignores_sigterm_and_hides_is_killed(smtune):
    """A rank that ignores SIGTERM, and sessions below it of double forks."""
    start = time.monotonic()
    result = smtune("launch", "-n", 2, "--grace", "500ms", *SHELL, STUBBORN)
    assert result.returncode == 5
    assert 0.5 <= time.monotonic() - start < 20
    assert smtune.left_behind() == {}


def test_a_rank_that_is_stopped_is_ended(smtune):
    start = time.monotonic()
    result = smtune("launch", "-n", 2, *SHELL, """
        if [ $RANK = 1 ]; then touch up; kill -STOP $$; fi
        while [ ! -e up ]; do sleep 0.1; done; exit 4""")
    assert result.returncode == 4
    assert time.monotonic() - start < 20


def test_what_ranks_leave_behind_goes_with_the_last(smtune):
    out = smtune.ok("launch", "-n", 2, *SHELL, """
        (setsid sleep 600 &)
        if [ $RANK = 0 ]; then exit; fi
        sleep 0.3; echo late""")
    assert out == "[rank 1] late\n"
    assert smtune.left_behind() == {}


def test_who_hands_on_to_a_successor_goes_with_the_last_too(smtune):
    hand_on = BUILD / "tests/e2e/hand_on"
    for _ in range(10):
        smtune.ok("launch", "-n", 2, *SHELL, f"{hand_on} 60 & sleep 0.1")
        assert smtune.left_behind() == {}


def test_ranks_die_with_their_launcher(smtune):
    launcher = smtune.start("launch", "-n", 3, *SHELL,
                            "touch up$RANK; exec sleep 600")
    wait_until(lambda: len(list(smtune.directory.glob("up*"))) == 3)
    launcher.kill()
    launcher.wait()
    wait_until(lambda: not smtune.left_behind(), 10)


# ---- signals ----

SIGNALLED = """
    trap 'echo INT >>got$RANK' INT
    trap 'echo TERM >>got$RANK; exit 0' TERM
    trap 'echo USR1 >>got$RANK' USR1
    echo up >>got$RANK
    while :; do sleep 0.1; done"""


def got(smtune, rank):
    path = smtune.directory / f"got{rank}"
    return path.read_text().split() if path.exists() else []


def test_signals_are_passed_on_once(smtune):
    launcher = smtune.start("launch", "-n", 2, *SHELL, SIGNALLED)
    seen = ["up"]
    wait_until(lambda: [got(smtune, 0), got(smtune, 1)] == [seen] * 2)
    for number in (signal.SIGUSR1, signal.SIGINT, signal.SIGTERM):
        os.killpg(launcher.pid, number)
        seen = seen + [number.name[3:]]
        wait_until(lambda: [got(smtune, 0), got(smtune, 1)] == [seen] * 2)
    assert launcher.communicate(timeout=30)[0] == ""
    assert launcher.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM,
                                    signal.SIGHUP])
def test_ranks_that_die_of_it_give_its_status(smtune, number):
    launcher = smtune.start("launch", "-n", 2, "--", "python3", "-c", """
import os, signal, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
open("up" + os.environ["RANK"], "w")
time.sleep(600)""")
    wait_until(lambda: len(list(smtune.directory.glob("up*"))) == 2)
    launcher.send_signal(number)
    assert launcher.communicate(timeout=30) == ("", "")
    assert launcher.returncode == 128 + number


def test_the_third_kills(smtune):
    launcher = smtune.start("launch", "-n", 2, *SHELL, SIGNALLED)
    wait_until(lambda: got(smtune, 0) and got(smtune, 1))
    for n in range(3):
        launcher.send_signal(signal.SIGINT)
        if n < 2:
            wait_until(lambda: got(smtune, 1).count("INT") == n + 1)
    assert launcher.wait(10) == 130


def test_a_terminal_is_rank_0s_and_ctrl_c_comes_once(smtune):
    typed = []

    def during(process, shown):
        if "ready" in shown and not typed:
            typed.append(1)
            os.killpg(process.pid, signal.SIGINT)

    status, shown = smtune.on_terminal("launch", "-n", 2, *SHELL, """
        trap 'echo got it; exit 9' INT
        test -t 0 && echo terminal; test -t 1 && echo screen
        sleep 0.3; echo ready; while :; do sleep 0.1; done""", during=during)
    assert status == 9
    assert shown.count("got it") == 2
    assert shown.count("terminal") == 1 and shown.count("screen") == 1
    assert "[rank 1] got it" in shown


# ---- what they write and read ----

def test_logs_by_rank(smtune):
    result = smtune("launch", "-n", 3, "--logs", "a/b", *SHELL,
                    "echo out $RANK; sleep 0.1; printf 'err %s' $RANK >&2")
    assert (result.returncode, result.stdout, result.stderr) == \
        (0, "out 0\n", "err 0")
    for rank in range(3):
        path = smtune.directory / f"a/b/rank-{rank}.log"
        assert path.read_text() == f"out {rank}\nerr {rank}"
    result = smtune("launch", "-n", 3, "--logs", "a/b", *SHELL,
                    "test $RANK = 2 || exec sleep 60; echo why; exit 8")
    assert result.returncode == 8
    assert result.stderr.endswith("output of rank 2:\n[rank 2] why\n")


def test_tags(smtune):
    out = smtune.ok("launch", "-n", 2, "--tag", *SHELL,
                    "printf 'a\\n\\nb\\rc\\r\\n'; printf $RANK",
                    text=False).decode()
    for rank in range(2):
        tag = f"[rank {rank}] "
        mine = [line for line in out.split("\n") if line.startswith(tag)]
        assert mine == [f"{tag}a", tag, f"{tag}b\r{tag}c\r", f"{tag}{rank}"]


def test_one_rank_alone_is_as_without_launch(smtune):
    result = smtune("launch", "-n", 1, *SHELL, "printf a; printf b >&2; cat",
                    input="typed")
    assert (result.stdout, result.stderr) == ("atyped", "b")


def test_input_is_for_rank_0(smtune):
    out = smtune.ok("launch", "-n", 2, "--tag", *SHELL, "cat; echo end",
                    input="typed\n")
    assert lines(out) == ["[rank 0] end", "[rank 0] typed", "[rank 1] end"]


def test_any_bytes_and_long_lines(smtune):
    program = ("import os, sys; r = os.environ['RANK'].encode();"
               "sys.stdout.buffer.write(bytes(range(256)) * 4 + b'\\n'"
               " + r * 200000 + b'\\n' + r * 9)")
    result = smtune("launch", "-n", 3, "--", "python3", "-c", program,
                    text=False)
    assert result.returncode == 0
    for rank in (1, 2):
        assert result.stdout.count(b"%d" % rank * 60000) == 3
        assert b"[rank %d] " % rank + b"%d" % rank * 9 + b"\n" in result.stdout


def test_much_output_of_many_ranks_is_whole(smtune):
    out = smtune.ok("launch", "-n", 20, "--tag", "--", "seq", 5000)
    seen = {}
    for line in out.splitlines():
        tag, _, number = line.partition("] ")
        seen.setdefault(tag, []).append(int(number))
    assert len(seen) == 20
    assert all(numbers == list(range(1, 5001)) for numbers in seen.values())


def start_with_a_reader_that_stalls(smtune, *command):
    launcher = smtune.start("launch", "-n", 2, "--tag", "--", *command)
    unread = array.array("i", [0])

    def is_full():
        fcntl.ioctl(launcher.stdout, termios.FIONREAD, unread)
        return unread[0] > 60000

    wait_until(is_full)
    return launcher


def test_a_reader_that_stalls_holds_up_no_signal(smtune):
    launcher = start_with_a_reader_that_stalls(smtune, "yes")
    launcher.send_signal(signal.SIGINT)
    wait_until(lambda: len(smtune.left_behind()) == 1)
    launcher.send_signal(signal.SIGINT)
    assert launcher.wait(10) == 130


def test_a_reader_that_stalls_holds_up_no_end_after_two_signals(smtune):
    launcher = start_with_a_reader_that_stalls(
        smtune, "sh", "-c", "trap '' INT; exec yes")
    launcher.send_signal(signal.SIGINT)
    launcher.send_signal(signal.SIGTERM)
    assert launcher.wait(10) == 128 + signal.SIGTERM


def test_a_reader_that_goes_ends_them(smtune):
    launcher = smtune.start("launch", "-n", 2, "--tag", "--", "yes")
    assert launcher.stdout.readline().endswith("y\n")
    launcher.stdout.close()
    assert launcher.wait(10) == 128 + signal.SIGPIPE


def test_a_full_disk_costs_the_log_alone(smtune):
    with open("/dev/full", "w") as full:
        launcher = smtune.start("launch", "-n", 2, "--tag", *SHELL,
                                "seq 1000; seq 1000", stdout=full)
        assert launcher.wait(30) == 0
    (smtune.directory / "d").mkdir()
    (smtune.directory / "d/rank-0.log").symlink_to("/dev/full")
    result = smtune("launch", "-n", 2, "--logs", "d", "--", "seq", 3)
    assert (result.returncode, result.stdout) == (0, "1\n2\n3\n")
    assert result.stderr == ("smtune: cannot write 'd/rank-0.log': No space "
                             "left on device\n")


# ---- what is wrong ----

def test_what_cannot_start(smtune, write):
    write("data", "x", mode=0o644)
    for name, status in (("no-such-program", 127), ("./data", 126)):
        result = smtune("launch", "-n", 2, "--", name)
        assert result.returncode == status
        assert result.stderr.startswith(
            f"smtune: rank 0 could not start: cannot execute '{name}': ")
    write("script", "echo $RANK $1", mode=0o755)
    assert smtune.ok("launch", "-n", 1, "--", "./script", "it") == "0 it\n"


@pytest.mark.parametrize("words, status, told", [
    (["--", "true"], 2, "missing option --tasks"),
    (["--tasks", "0", "--", "true"], 2, "at least 1"),
    (["--tasks", "5000", "--", "true"], 2, "5000 is out of range: at most 1024"),
    (["--tasks", "2", "--grace", "soon", "--", "true"], 2, "got 'soon'"),
    (["--tasks", "2"], 2, "COMMAND"),
    (["--tasks", "2", "--logs", "/dev/null/x", "--", "true"], 1, "/dev/null"),
])
def test_wrong_words(smtune, words, status, told):
    result = smtune("launch", *words)
    assert result.returncode == status
    assert told in result.stderr


def test_no_descriptors_left(smtune):
    result = subprocess.run(
        ["prlimit", "--nofile=40", "smtune", "launch", "-n", "64", "--",
         "sleep", "60"], env=smtune.environment(), cwd=smtune.directory,
        capture_output=True, text=True, timeout=60)
    assert result.returncode == 126
    assert "could not start: cannot make a pipe: Too many open files" in \
        result.stderr


# ---- inside a trial ----

def attempt(smtune):
    return smtune.json("show", "exp", 1)["attempts"][-1]


def metrics(smtune):
    return {m["name"]: m for m in smtune.json("show", "exp", 1)["metrics"]}


def test_metrics_of_a_trial_with_ranks_count_once(smtune, experiment):
    path = experiment("""
        for i in 1 2 3; do echo "rank=$RANK loss=$((RANK * -100 + i))"; done
        smtune report acc=$RANK
        echo "said on stderr=$RANK" >&2
        """, objective="{metric: loss, value: best}", trials=1,
        resources="{tasks: 4, cpus: 2}")
    smtune.ok("run", path)
    found = metrics(smtune)
    assert found["loss"]["points"] == 3 and found["loss"]["value"] == 3
    assert smtune.json("best", "exp")["value"] == 1
    assert found["acc"]["points"] == 1 and found["acc"]["value"] == 0
    log = smtune.ok("logs", "exp", 1)
    assert "rank=0 loss=3" in log and "rank=1" not in log
    assert "rank=3 loss=-299" in smtune.ok("logs", "exp", 1, "--rank", 3)
    assert smtune.ok("logs", "exp", 1, "--rank", 0) == log
    wrong = smtune("logs", "exp", 1, "--rank", 4)
    assert (wrong.returncode, wrong.stderr) == \
        (4, "smtune: trial 1 has no rank 4\n")
    directory = smtune.store / attempt(smtune)["directory"]
    for rank in range(4):
        text = (directory / f"rank-{rank}.log").read_text()
        assert f"rank={rank} loss=" in text and text.count("loss=") == 3


def test_a_rank_that_fails_fails_the_trial(smtune, experiment):
    path = experiment(
        command=["sh", "-c", "if [ $RANK = 2 ]; then echo loss=-9; "
                 "echo NCCL timeout; exit 21; fi; echo loss=1; exec sleep 600"],
        trials=1, resources="{tasks: 3}", retry='[{match: "log:NCCL timeout"}]')
    assert smtune("run", path).returncode == 6
    ends = smtune.json("show", "exp", 1)["attempts"]
    assert [end["exit_code"] for end in ends] == [21, 21]
    assert "rank 2 exited with status 21" in smtune.ok("logs", "exp", 1)
    assert metrics(smtune).get("loss", {"value": 1})["value"] == 1


def test_ranks_of_a_trial_go_with_their_launcher(smtune, experiment):
    path = experiment("(setsid sleep 600 &) ; touch up$RANK; sleep 600",
                      trials=1, resources="{tasks: 2}")
    engine = smtune.start("run", path)
    wait_until(lambda: len(list(smtune.directory.glob("up*"))) == 2)
    launchers = [pid for pid, command in smtune.left_behind().items()
                 if "smtune launch --tasks=2" in command]
    assert len(launchers) == 1
    os.kill(launchers[0], signal.SIGKILL)
    assert engine.wait(30) == 6
    assert attempt(smtune)["cause"] == "signal"
    assert not processes_with(b"SMTUNE_DIR=" + bytes(smtune.directory))


def test_a_trial_with_ranks_is_ended_by_its_grace(smtune, experiment):
    """The ranks get the trial's own grace period, and no rank outlives it."""
    path = experiment("""
        trap 'touch term$RANK; sleep 0.5; touch saved$RANK; exit 0' TERM
        touch up$RANK; while :; do sleep 0.1; done
        """, trials=1, resources="{tasks: 2, grace: 20s}")
    engine = smtune.start("run", path)
    wait_until(lambda: len(list(smtune.directory.glob("up*"))) == 2)
    engine.send_signal(signal.SIGTERM)
    assert engine.wait(30) == 143
    assert len(list(smtune.directory.glob("saved*"))) == 2
    assert not processes_with(b"SMTUNE_DIR=" + bytes(smtune.directory))
