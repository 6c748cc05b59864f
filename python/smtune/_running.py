# SPDX-License-Identifier: GPL-3.0-or-later
"""A run from Python, with its progress.

`smtune run` is a process of its own in a session of its own, so an interrupt
reaches Python alone. Each one is passed on: the first starts no new trials, the
second stops those that run, as Ctrl-C does in a terminal. If Python ends, the
run goes on.

A terminal shows the progress that smtune draws itself. Elsewhere smtune prints
a line for each trial. A notebook has no terminal, but its output can replace a
line, so the lines of trials take turns in one place there.
"""

import json
import re
import signal
import subprocess
import sys
import tempfile
from typing import IO, Any, List, Mapping, Optional, TextIO, Union

from . import _program
from ._program import Error, File, Folder
from ._record import Run, RunFailed

_INTERRUPTED = {128 + signal.SIGINT, 128 + signal.SIGTERM}
_NO_TARGET = 6
# What the next line may replace: "trial 5 succeeded ... (new best; 5/6)".
_PASSING = re.compile(r"trial \d+ (?!failed).*\d+/\d+\)$|\.\.\. and \d+ more ")
_KEPT_LINES = 50


def run(file: File, *, name: Optional[str] = None,
        store: Optional[Folder] = None, set: Optional[Mapping[str, Any]] = None,
        resume: bool = False, progress: bool = True) -> Run:
    """Runs an experiment or a workflow to its end.

    `file` is the path of a file, or a dict with the same keys. `set` changes
    values: {"budget.trials": 20}. `resume` continues the run of that name, if
    there is one, and returns it, if it has ended. An interrupt (Ctrl-C) starts
    no new trials, a second one stops those that run, and then KeyboardInterrupt
    is raised. RunFailed, if the run fails; Error with all messages, if the file
    is wrong.
    """
    text = _program.file_text(file) if isinstance(file, Mapping) else None
    words: List[object] = ["run", "-" if isinstance(file, Mapping) else file,
                           "-o", "json", *_program.settings(set)]
    words += ["--name", name] if name is not None else []
    words += ["--resume"] if resume else []
    words += [] if progress else ["--quiet"]
    running = _Running(_program.command(*words, store=store), text)
    return running.result(Run(running.finish(), store))


class _Running:
    """The process of a run."""

    def __init__(self, command: List[str], text: Optional[str]) -> None:
        self.is_terminal = _is_terminal()
        self.lines: List[str] = []  # the last ones of its messages
        self.interrupts = 0
        self.status = 0
        self.out: IO[bytes] = tempfile.TemporaryFile()
        with tempfile.TemporaryFile() as file:
            file.write((text or "").encode())
            file.seek(0)
            self.process = subprocess.Popen(
                command, stdin=file, stdout=self.out, start_new_session=True,
                stderr=None if self.is_terminal else subprocess.PIPE)

    def finish(self) -> str:
        """Waits for its end. The name of the run."""
        self.status = self._wait()
        out = _program.drain(self.out)
        self.out.close()
        if self.interrupts > 0:
            raise KeyboardInterrupt
        name = _run_name(out)
        if name is None:
            _program.fail(self.status, out, "\n".join(self.lines).encode())
        return name

    def result(self, run: Run) -> Run:
        """The run, or the error that its end is."""
        if run.state == "failed":
            raise RunFailed(f"run '{run.name}': {run.reason}", run)
        if self.status not in (0, _NO_TARGET, *_INTERRUPTED):
            raise Error(f"run '{run.name}': smtune ended with exit status "
                        f"{self.status}", self.status)
        return run

    def _wait(self) -> int:
        printer = _Printer()
        while True:
            try:
                if self.process.stderr is not None:
                    self._show(self.process.stderr, printer)
                status = self.process.wait()
                printer.end()
                return 128 - status if status < 0 else status
            except KeyboardInterrupt:
                self.interrupts += 1
                self.process.send_signal(signal.SIGINT)

    def _show(self, stream: IO[bytes], printer: "_Printer") -> None:
        for line in stream:
            text = line.decode(errors="replace").rstrip("\n")
            self.lines = [*self.lines[-_KEPT_LINES:], text]
            printer.show(text)


def _run_name(out: bytes) -> Optional[str]:
    """The run of the document that `smtune run` prints; None: there is none."""
    try:
        name = json.loads(out).get("run")
    except (ValueError, AttributeError):
        return None
    return None if name is None else str(name)


def _is_terminal() -> bool:
    """Whether the messages of a process appear where those of Python do."""
    try:
        return sys.stderr is not None and sys.stderr.isatty() and \
            sys.stderr.fileno() == 2
    except (OSError, ValueError, AttributeError):
        return False


class _Printer:
    """Prints lines of progress, in a notebook each in place of the last."""

    def __init__(self) -> None:
        self.in_place = type(sys.stdout).__module__.startswith("ipykernel")
        stream: Union[TextIO, Any] = sys.stdout if self.in_place else sys.stderr
        self.stream = stream
        self.width = 0  # of the line that the next one replaces

    def show(self, text: str) -> None:
        if self.stream is None:
            return
        is_passing = self.in_place and _PASSING.match(text) is not None
        start = "\r" if self.width > 0 else ""
        self.stream.write(start + text.ljust(self.width)
                          + ("" if is_passing else "\n"))
        self.width = len(text) if is_passing else 0
        self.stream.flush()

    def end(self) -> None:
        if self.width > 0:
            self.stream.write("\n")
            self.width = 0
