# SPDX-License-Identifier: GPL-3.0-or-later
"""Study.optimize(): asks, calls the function, reports what it returns.

One call at a time runs in the caller's own thread. Several run in workers,
threads or processes, which send messages over a pipe each. The loop alone uses
the study, so a fork never copies a lock that another thread holds.

    ("observe", step, value)   the worker waits for the decision
    ("value", value)           the end: what the function returned
    ("error", error, text)     the end: an exception, and its traceback
"""

import multiprocessing
import threading
import traceback
from multiprocessing import connection
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple,
                    Type, Union)

from ._program import Error

if TYPE_CHECKING:
    from ._study import Observe, Study, StudyTrial, Value


class Loop:
    """The state of one optimize()."""

    def __init__(self, study: "Study",
                 function: "Callable[[StudyTrial], Value]", trials: int,
                 catch: Tuple[Type[BaseException], ...]) -> None:
        self.study = study
        self.function = function
        self.left = trials       # trials that may begin
        self.catch = catch
        self.has_resource = False  # trials pause and continue
        self.error: Optional[BaseException] = None
        self.workers: Dict[Any, _Worker] = {}  # by their pipe
        self.decisions: Dict[int, str] = {}    # of trials that are to return

    def run(self, parallel: int, processes: Union[bool, str]) -> None:
        if parallel < 1:
            raise ValueError(f"parallel must be at least 1, not {parallel}")
        try:
            if parallel == 1 and not processes:
                self._run_here()
            else:
                self._run_workers(parallel, _context(processes))
        finally:
            for worker in self.workers.values():
                worker.kill()
        if self.error is not None:
            raise self.error

    def _next(self) -> "Optional[StudyTrial]":
        """None: nothing starts now."""
        from ._study import StudyTrial
        if self.error is not None or (self.left <= 0 and not self.has_resource):
            return None
        answer = self.study._ask({} if self.left > 0 else {"new": False})
        if not answer["trials"]:
            return None
        trial = StudyTrial(answer["trials"][0], self.observe)
        self.left -= not trial.resumed
        self.has_resource |= trial.resource is not None
        return trial

    def observe(self, trial: "StudyTrial", step: float, value: "Value") -> str:
        decision = self.study.observe(trial, step, value)
        if decision != "continue":
            self.decisions[trial.id] = decision
        return decision

    def _finish(self, trial: "StudyTrial", value: "Value") -> None:
        """Reports the end of a call. A paused trial needs no report."""
        decision = self.decisions.pop(trial.id, None)
        if decision == "stop":
            self.study.tell(trial, value, state="stopped")
        elif decision is None:
            self.study.tell(trial, value)

    def _fail(self, trial: "StudyTrial", error: BaseException) -> None:
        self.decisions.pop(trial.id, None)
        self.study.tell(trial, state="failed")
        if not isinstance(error, self.catch) and self.error is None:
            self.error = error

    # ---- in this thread ----

    def _run_here(self) -> None:
        while True:
            trial = self._next()
            if trial is None:
                return
            try:
                value = self.function(trial)
            except Exception as error:
                self._fail(trial, error)
            else:
                self._finish(trial, value)

    # ---- in workers ----

    def _run_workers(self, parallel: int, context: Any) -> None:
        while True:
            while len(self.workers) < parallel:
                trial = self._next()
                if trial is None:
                    break
                worker = _Worker(context, self.function, trial)
                self.workers[worker.pipe] = worker
            if not self.workers:
                return
            for pipe in connection.wait(list(self.workers)):
                self._answer(self.workers[pipe])

    def _answer(self, worker: "_Worker") -> None:
        trial = worker.trial
        try:
            kind, *words = worker.pipe.recv()
        except EOFError:
            status = worker.join()
            kind, words = "error", [Error(
                f"trial {trial.id}: its process ended with exit code {status}"),
                ""]
        if kind == "observe":
            worker.decide(self.observe, *words)
            return
        del self.workers[worker.pipe]
        worker.join()
        if kind == "value":
            self._finish(trial, words[0])
        else:
            error, text = words
            if text:
                error.__cause__ = Error("in a worker:\n" + text)
            self._fail(trial, error)


def _context(processes: Union[bool, str]) -> Any:
    """None: threads."""
    if not processes:
        return None
    return multiprocessing.get_context(
        "fork" if processes is True else processes)


class _Worker:
    """A call of the function in a thread or a process."""

    def __init__(self, context: Any,
                 function: "Callable[[StudyTrial], Value]",
                 trial: "StudyTrial") -> None:
        self.trial = trial
        self.pipe, theirs = multiprocessing.Pipe()
        words = (theirs, function, trial)
        self.worker: Any = (
            threading.Thread(target=_work, args=words, daemon=True)
            if context is None else
            context.Process(target=_work, args=words, daemon=True))
        self.worker.start()
        if context is not None:
            theirs.close()

    def decide(self, observe: "Observe", step: float, value: "Value") -> None:
        """The decision, or the error of a wrong request."""
        try:
            answer: Any = observe(self.trial, step, value)
        except Error as error:
            answer = error
        self.pipe.send(answer)

    def join(self) -> Optional[int]:
        self.worker.join()
        self.pipe.close()
        return getattr(self.worker, "exitcode", None)

    def kill(self) -> None:
        """After an interrupt. A thread cannot be ended."""
        if not isinstance(self.worker, threading.Thread):
            self.worker.kill()
            self.worker.join()
        self.pipe.close()


def _work(pipe: Any, function: "Callable[[StudyTrial], Value]",
          trial: "StudyTrial") -> None:
    def observe(_: "StudyTrial", step: float, value: "Value") -> str:
        pipe.send(("observe", step, value))
        answer = pipe.recv()
        if isinstance(answer, Error):
            raise answer
        return str(answer)

    trial._observe = observe
    messages: List[Tuple[Any, ...]] = []
    try:
        messages.append(("value", function(trial)))
    except Exception as error:
        text = traceback.format_exc()
        messages.append(("error", error, text))
        messages.append(("error", Error(f"{type(error).__name__}: {error}"),
                         text))
    for message in messages:
        try:
            pipe.send(message)
            break
        except OSError:
            break  # the loop has ended
        except Exception as error:  # it cannot be pickled
            if message is messages[-1]:
                pipe.send(("error", Error(
                    f"the result of the function cannot be sent: {error}"), ""))
    pipe.close()
