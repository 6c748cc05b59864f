# SPDX-License-Identifier: GPL-3.0-or-later
"""How tests run the programs, whatever they run them on."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import shlex
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
import uuid

import pytest

from waiting import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SMTUNE_BUILD", ROOT / "build/san"))
SHIPPED = pathlib.Path(os.environ.get("SMTUNE_SHIPPED", ROOT / "build"))
# What the make that runs the tests was given for the build.
MAKE = ["make", *(word for word in shlex.split(os.environ.get("SMTUNE_MAKE", ""))
                  if word.split("=")[0] in ("BUILD", "SANITIZED", "CC", "CFLAGS",
                                            "WERROR", "CUDA", "MPI"))]
# The `python3` of trials is ours, and no script that looks for one first.
PYTHON = pathlib.Path(sys.executable).parent


def open_files(pid):
    """What the process has open, as the kernel names it."""
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            yield os.readlink(f"/proc/{pid}/fd/{name}")
        except FileNotFoundError:
            pass


def processes_with(*markers):
    """The processes whose environment holds one of them: {pid: command}."""
    found = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry.name}/environ", "rb") as file:
                environment = file.read()
            if not any(marker in environment for marker in markers):
                continue
            with open(f"/proc/{entry.name}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(
                    errors="replace").strip()
            with open(f"/proc/{entry.name}/stat", "rb") as file:
                state = file.read().rpartition(b")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if state not in (b"Z", b"X"):
            found[int(entry.name)] = command
    return found


def rest_of(process):
    """What a process that was read by lines writes from there on to stdout,
    and to stderr. communicate() loses the lines that a pipe's buffer holds."""
    rest = process.stdout.read(), process.stderr.read()
    process.wait(timeout=60)
    return rest


def build_gpu_library(folder):
    """Builds what stands for NVIDIA's library (tests/nvml.c), which needs its
    hardware; environment variables with which programs find it."""
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libnvidia-ml.so.1",
                    ROOT / "tests/nvml.c"], check=True)
    return {"LD_LIBRARY_PATH": str(folder)}


def interpreter(version):
    """A Python of that version in PATH or of pyenv, or None."""
    roots = [os.environ.get("PYENV_ROOT", ""), pathlib.Path.home() / ".pyenv"]
    found = [path for root in roots if root
             for path in pathlib.Path(root).glob(
                 f"versions/{version}.*/bin/python{version}")]
    return shutil.which(f"python{version}") if not found else str(found[0])


class Smtune:
    """Runs build/san/smtune in the test's folder, on the test's store."""

    def __init__(self, directory):
        self.directory = directory
        self.store = directory / ".smtune"
        self.token = uuid.uuid4().hex
        self.env = {
            "PATH": f"{BUILD}:{PYTHON}:{os.environ['PATH']}",
            "HOME": str(directory),
            "SMTUNE_SITE_CONFIG": "",
            "XDG_RUNTIME_DIR": str(directory),  # slots of its own
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "SMTUNE_TEST": self.token,
            # Much memory kept from being used again is many new pages.
            "ASAN_OPTIONS": "abort_on_error=0:detect_stack_use_after_return=0"
                            ":quarantine_size_mb=4:malloc_context_size=8",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
        self.started = []
        self.before = []  # the words of a program that runs ours
        if "SMTUNE_DENIED" in os.environ:
            self.deny(os.environ["SMTUNE_DENIED"])

    def deny(self, error):
        """Younger system calls fail from now on: see tests/e2e/deny.c."""
        self.before = [BUILD / "tests/e2e/deny", "all", error]

    def environment(self, env=None):
        return {**self.env, **(env or {})}

    def __call__(self, *words, timeout=60, env=None, cwd=None, input="",
                 program="smtune", text=True):
        """Runs to its end; a CompletedProcess with text."""
        if not text and input == "":
            input = b""
        result = subprocess.run(
            [*self.before, BUILD / program, *map(str, words)],
            input=input, text=text,
            capture_output=True, timeout=timeout, cwd=cwd or self.directory,
            env=self.environment(env))
        errors = result.stderr if text else result.stderr.decode(
            errors="replace")
        assert "Sanitizer" not in errors and "runtime error:" not in errors, \
            errors
        return result

    def ok(self, *words, **options):
        """Runs, expects success, returns what it printed."""
        result = self(*words, **options)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def json(self, *words, **options):
        """Runs with -o json, expects success, returns the parsed output."""
        return json.loads(self.ok(*words, "-o", "json", **options))

    def states(self, run="exp"):
        """Those of the run's trials, by number."""
        return [trial["state"] for trial in self.json("trials", run)]

    def best_again(self):
        """(what `best --command` prints, the lines that it writes in bash)"""
        command = self.ok("best", "exp", "--command")
        again = subprocess.run(["bash", "-c", command], cwd=self.directory,
                               env=self.env, stdout=subprocess.PIPE, text=True,
                               check=True)
        return command, again.stdout.splitlines()

    def query(self, sql):
        """The rows that SQL gives of the store, or what it changes there."""
        with contextlib.closing(sqlite3.connect(
                self.store / "smtune.db", timeout=30)) as database, database:
            return database.execute(sql).fetchall()

    def start(self, *words, env=None, program="smtune", **options):
        """Starts in the background, in a process group of its own."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen(
            [*self.before, BUILD / program, *map(str, words)], text=True,
            cwd=self.directory, env=self.environment(env),
            start_new_session=True, **options)
        self.started.append(process)
        return process

    def on_terminal(self, *words, timeout=60, env=None, columns=80, lines=24,
                    during=None, program="smtune"):
        """Runs on a terminal of that size: (exit status, what it showed).
        during(process, shown_so_far) is called as output comes."""
        ours, theirs = pty.openpty()
        os.set_blocking(ours, False)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                    struct.pack("HHHH", lines, columns, 0, 0))
        env = {"TERM": "xterm-256color", **(env or {})}
        process = self.start(*words, env=env, stdin=theirs, stdout=theirs,
                             stderr=theirs, program=program)
        os.close(theirs)
        shown = bytearray()

        def ended():
            over = process.poll() is not None
            try:
                while True:
                    piece = os.read(ours, 65536)
                    if not piece:
                        break
                    shown.extend(piece)
            except OSError:
                pass
            if during and not over:
                during(process, shown.decode(errors="replace"))
            return over

        try:
            wait_until(ended, timeout, f"the end of {words}")
        finally:
            os.close(ours)
        return process.returncode, shown.decode(errors="replace")

    @contextlib.contextmanager
    def as_engine_of(self, run):
        """This process holds the run's engine lock meanwhile."""
        with open(self.store / "runs" / run / "engine.lock", "w") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            file.write(f"{os.getpid()}\n")
            file.flush()
            yield

    def left_behind(self):
        """Processes of this test: its engines and its trials."""
        return processes_with(self.token.encode(),
                              b"SMTUNE_DIR=" + bytes(self.directory))

    def kill_left_behind(self):
        """Kills them, and what they start meanwhile; says which."""
        killed = {}

        def all_gone():
            left = self.left_behind()
            killed.update(left)
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not left
        with contextlib.suppress(AssertionError):
            wait_until(all_gone, 5)
        return killed

    def end(self):
        """Ends what it started; a test fails that leaves a process. An engine
        ends a moment after `smtune wait`, which reads the record."""
        patience = 30 if all(p.poll() is not None for p in self.started) else 5
        try:
            wait_until(lambda: not self.left_behind(), patience)
        except AssertionError:
            pytest.fail(f"left running: {self.kill_left_behind()}")
        finally:
            self.close()

    def close(self):
        for process in self.started:
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
