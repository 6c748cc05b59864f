# SPDX-License-Identifier: GPL-3.0-or-later
"""The search of an experiment, for a program that runs the trials itself.

A Study is a process of `smtune suggest --stdio`: one line of JSON for each
request, and one for each answer. Nothing is written to the store, unless the
study has the name of a run. Several threads may use a Study.

An interrupt can come between any two steps of a request. Then an answer may be
owed, the rest of a request may be unwritten, or the answer was read and is
lost. Nothing that this process could count is exact, so the next request first
sends a mark, an operation that does not exist, and reads up to the answer that
quotes it. Trials in the answers before are returned by the next ask().
"""

import json
import os
import subprocess
import tempfile
import threading
import weakref
from typing import (IO, Any, Callable, Dict, List, Mapping, Optional, Sequence,
                    Tuple, Type, Union)

from . import _program
from ._program import Error, File, Folder
from ._record import Trial
from ._value import Value, plain, step_number

_PATIENCE_S = 5.0  # with a search that does not end

Observe = Callable[["StudyTrial", float, Value], str]


class StudyTrial:
    """A trial that your program runs. `resource` is how far it may run, None:
    as far as it likes. A trial that continues is `resumed`, and starts from its
    checkpoint; a clone starts from that of its `parent`."""

    def __init__(self, answer: Mapping[str, Any],
                 observe: Optional[Observe] = None) -> None:
        self.id: int = answer["id"]
        self.params: Dict[str, Any] = answer["params"]
        self.resource: Optional[int] = answer.get("budget")
        self.resumed: bool = answer.get("resumed", False)
        self.parent: Optional[int] = answer.get("parent")
        self._observe = observe

    def observe(self, step: float, value: Value) -> str:
        """Reports a value on the way, and returns the decision of the schedule:
        "continue", "pause" or "stop"."""
        if self._observe is None:
            raise RuntimeError("this trial belongs to no study")
        return self._observe(self, step, value)

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_observe": None}

    def __repr__(self) -> str:
        return f"<trial {self.id} {self.params}>"


class Study:
    """The search of an experiment: the path of its file, or a dict with the
    same keys. The file needs no `trial`.

    With `record`, the trials are those of the run with that name in the store:
    a new one, or one that a study has begun, which continues. smtune answers a
    result after it is in the record. The budget of the file ends the run, and
    `trials` changes that budget. A run that continues needs no file.

    With `socket`, the study is a client of `smtune serve-search`, which has the
    file and the run: several programs share one search."""

    def __init__(self, file: Optional[File] = None, *,
                 record: Optional[str] = None, trials: Optional[int] = None,
                 socket: Optional[Folder] = None,
                 store: Optional[Folder] = None,
                 set: Optional[Mapping[str, Any]] = None) -> None:
        others = (file, record, trials, store, set)
        if socket is not None and any(other is not None for other in others):
            raise TypeError(
                "with a socket, the server has the file and the run")
        if file is None and record is None and socket is None:
            raise TypeError("a study needs a file, or the name of a run")
        # Until Python 3.10 an interrupt at the end of a `with` leaves a lock
        # locked: the same thread can then go on.
        self._lock = threading.RLock()
        self._is_behind = False  # an answer may be owed
        self._marks = 0
        self._missed: List[Dict[str, Any]] = []  # trials that no ask() returned
        self._err: IO[bytes] = tempfile.TemporaryFile()
        self._process: Optional["subprocess.Popen[bytes]"] = None
        if socket is not None:
            self._open(*_connect(socket))
            self._exchange({"op": "best"})
            return
        words: List[Any] = []
        if record is not None:
            words += ["--record", record]
        if trials is not None:
            words += ["--trials", trials]
        with _program.on_disk(file) as path:
            if path is not None:
                words.append(path)
            self._process = subprocess.Popen(
                _program.command("suggest", "--stdio", *words,
                                 *_program.settings(set), store=store),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._err, start_new_session=True)
            assert self._process.stdin and self._process.stdout
            self._open(self._process.stdin, self._process.stdout)
            self._exchange({"op": "best"})  # it has read the file then

    def _open(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests, self._answers = requests, answers
        self._end = weakref.finalize(self, _end, self._process,
                                     (requests, answers, self._err))

    # ---- requests ----

    def _exchange(self, request: Dict[str, Any]) -> Dict[str, Any]:
        with self._lock:
            if not self._end.alive:
                raise Error("this study is closed", 2)
            try:
                if self._is_behind:
                    self._catch_up()
                if request["op"] == "ask" and self._missed:
                    return {"trials": [self._missed.pop(0)]}
                line = json.dumps(request).encode()
                self._is_behind = True
                self._send(line)
                line = self._read()
                self._is_behind = False
            except ConnectionError:
                line = b""
            if line:
                found: Dict[str, Any] = json.loads(line)
                return found
            status = self._process.wait() if self._process else 1
            message = (_program.drain(self._err) if self._process
                       else b"the server of the search has ended")
            self._end()
        _program.fail(status, b"", message)

    def _catch_up(self) -> None:
        """Reads what is owed. The newline ends half a request; an empty line
        has no answer."""
        self._marks += 1
        mark = f"mark-{self._marks}"
        self._send(b"\n" + json.dumps({"op": mark}).encode())
        while True:
            line = self._read()
            try:
                found = json.loads(line or "{}")
            except ValueError:  # its first half was read and is lost
                continue
            self._missed += found.get("trials", [])
            if not line or mark in found.get("error", ""):
                break
        self._is_behind = False

    def _send(self, line: bytes) -> None:
        self._requests.write(line + b"\n")
        self._requests.flush()

    def _read(self) -> bytes:
        """A line; b"", if the process has ended."""
        line = self._answers.readline()
        return line if line.endswith(b"\n") else b""

    def _request(self, request: Dict[str, Any]) -> Dict[str, Any]:
        answer = self._exchange(request)
        if "error" in answer:
            raise Error(answer["error"], 2)
        return answer

    def ask(self) -> Optional[StudyTrial]:
        """The next trial. None: there is nothing to start now, because the
        search needs the results of other trials first, or is complete."""
        trials = self._ask({})["trials"]
        return StudyTrial(trials[0], self.observe) if trials else None

    def _ask(self, more: Dict[str, Any]) -> Dict[str, Any]:
        return self._request({"op": "ask", "n": 1, **more})

    def tell(self, trial: Union[StudyTrial, int, Mapping[str, Any]],
             value: Value = None, *, state: Optional[str] = None,
             constraints: Optional[Sequence[float]] = None,
             resource: Optional[int] = None) -> Optional[str]:
        """Reports the result of a trial: a value for each objective, in the
        direction of the objective. None or nan is a failure; `state` is
        "succeeded", "failed", "stopped" or "cancelled". With constraints on
        metrics, each number in `constraints` must not exceed 0. Returns the
        decision of a schedule, if the trial is not at its end.

        A dict of parameters in place of a trial is a result that the study did
        not ask for: it becomes a trial, and the search learns from it."""
        if value is None and state in (None, "succeeded"):
            state = "failed"
        request: Dict[str, Any] = {"op": "tell"}
        if isinstance(trial, Mapping):
            request["params"] = _program.plain_setting(trial)
        else:
            request["id"] = _id(trial)
        if value is not None:
            request.update(_values(value))
        if state is not None:
            request["state"] = state
        if constraints is not None:
            request["constraints"] = [float(part) for part in constraints]
        if resource is not None:
            request["budget"] = resource
        decision: Optional[str] = self._request(request).get("decision")
        return decision

    def observe(self, trial: Union[StudyTrial, int], step: float,
                value: Value) -> str:
        """Reports a value of a trial on its way, and returns the decision of
        the schedule: "continue", "pause" or "stop"."""
        return str(self._request({
            "op": "observe", "id": _id(trial), "step": step_number(step),
            **_values(value)})["decision"])

    @property
    def best(self) -> Optional[Trial]:
        """The best trial so far. None: no trial has succeeded and satisfied
        the constraints on metrics yet. With several objectives use front."""
        answer = self._exchange({"op": "best"})
        if "front" in answer:
            raise Error("this study has several objectives: use front", 2)
        return None if "error" in answer else Trial(answer)

    @property
    def front(self) -> List[Trial]:
        """The Pareto front so far; with one objective the best trial alone."""
        answer = self._exchange({"op": "best"})
        if "error" in answer:
            return []
        return [Trial(row) for row in answer.get("front", [answer])]

    def why(self, trial: Union[StudyTrial, int]) -> Dict[str, Any]:
        """The search method of a trial, and its reason."""
        return self._request({"op": "why", "id": _id(trial)})

    # ---- the loop ----

    def optimize(self, function: Callable[[StudyTrial], Value], trials: int, *,
                 parallel: int = 1, processes: Union[bool, str] = False,
                 catch: Tuple[Type[BaseException], ...] = ()) -> None:
        """Calls the function with each trial, until so many trials have begun
        and all have ended, or nothing is left to try.

        The function returns the value, one for each objective. `parallel` calls
        run at once: in threads, or with `processes` each in a process of its
        own, which is a fork, or started by the method that `processes` names
        (see multiprocessing).

        An exception fails the trial. It ends the loop, unless `catch` has its
        class: the others running end first, and then it is raised. A result
        that is no finite number fails the trial, and the loop continues; the
        logger "smtune" has the result. KeyboardInterrupt ends the loop at once
        and kills the processes; the trials that were running count as never
        asked for.

        With a schedule the function runs up to `trial.resource`, and returns
        when observe() does not return "continue".
        """
        from . import _loop
        _loop.Loop(self, function, trials, catch).run(parallel, processes)

    def close(self) -> None:
        """Ends the process of the search, or the connection to it."""
        with self._lock:
            self._end()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _connect(path: Folder) -> Tuple[IO[bytes], IO[bytes]]:
    import socket
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(os.fspath(path))
        return link.makefile("wb"), link.makefile("rb")
    except OSError as error:
        raise Error(f"cannot connect to '{os.fspath(path)}': "
                    f"{error.strerror or error}") from None
    finally:
        link.close()  # the files keep it open


def _end(process: "Optional[subprocess.Popen[bytes]]",
         streams: Sequence[IO[bytes]]) -> None:
    """The end of the input is the end of the search."""
    for stream in streams:
        try:
            stream.close()
        except ConnectionError:
            pass
    if process is None:
        return
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:  # a fork of this process has its input
        process.kill()
        process.wait()


def _id(trial: Union[StudyTrial, int]) -> int:
    return trial.id if isinstance(trial, StudyTrial) else trial


def _values(value: Value) -> Dict[str, Any]:
    numbers = plain(value)
    return {"values" if isinstance(numbers, list) else "value": numbers}
