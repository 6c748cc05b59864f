# SPDX-License-Identifier: GPL-3.0-or-later
"""Study.optimize(): asks, calls the function, reports what it returns.

One call at a time runs in the caller's own thread. Several run in workers,
threads or processes. The loop alone uses the study, so a fork never copies a
lock that another thread holds. A worker sends messages over a pipe:

    ("observe", step, value)            it waits for the decision
    ("value", numbers)                  the end, see _call()
    ("nothing", reason)
    ("error" or "caught", bytes, text, traceback)

However a call ends, its trial does not stay open. A process can end without a
message, or leave a child that holds its pipe, so the loop also looks at the
process itself. A thread leaves its end in a list and closes its pipe. An
exception comes from a process as bytes, because some exceptions can be pickled
and not be read again: those with arguments that they do not pass on.
"""

import logging
import math
import multiprocessing
import pickle
import signal
import threading
import traceback
from multiprocessing import connection
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, Union

from ._program import Error
from ._study import Observe, Study, StudyTrial
from ._value import MEANING, Value, plain, quoted, step_number

Function = Callable[[StudyTrial], Value]
Catch = Tuple[Type[BaseException], ...]
End = Tuple[str, Any]

_ERRORS = ("error", "caught")
_LOOK_S = 1.0  # between two looks at the processes

_log = logging.getLogger("smtune")


class Loop:
    """The state of one optimize()."""

    def __init__(self, study: Study, function: Function, trials: int,
                 catch: Catch) -> None:
        isinstance(None, catch)  # TypeError, if it has no classes
        self.study = study
        self.function = function
        self.left = trials  # that may begin
        self.catch = catch
        self.has_resource = False  # trials pause and continue
        self.error: Optional[BaseException] = None
        self.workers: List[_Worker] = []
        self.open: List[StudyTrial] = []  # asked for, and not over
        self.held: List[StudyTrial] = []  # of these, those that wait
        self.decisions: Dict[StudyTrial, str] = {}  # of calls that shall return

    def run(self, parallel: int, processes: Union[bool, str]) -> None:
        if parallel < 1:
            raise ValueError(f"parallel must be at least 1, not {parallel}")
        try:
            if parallel == 1 and not processes:
                self._run_here()
            else:
                self._run_workers(parallel, _context(processes))
        finally:
            for worker in self.workers:
                worker.kill()
            self._cancel_open()
        if self.error is not None:
            raise self.error

    def _next(self) -> Optional[StudyTrial]:
        """None: nothing starts now."""
        if self.error is not None or (self.left <= 0 and not self.has_resource):
            return None
        answer = self.study._ask({} if self.left > 0 else {"new": False})
        if not answer["trials"]:
            return None
        trial = StudyTrial(answer["trials"][0], self.observe)
        self.open.append(trial)
        self.left -= not trial.resumed
        self.has_resource |= trial.resource is not None
        return trial

    def observe(self, trial: StudyTrial, step: float, value: Value) -> str:
        decision = self.study.observe(trial, step, value)
        if decision != "continue":
            self.decisions[trial] = decision
        return decision

    # ---- the end of a call ----

    def _finish(self, trial: StudyTrial, end: End) -> None:
        kind, result = end
        if isinstance(result, KeyboardInterrupt):
            raise result
        decision = self.decisions.pop(trial, None)
        if kind in _ERRORS:
            self._fail(trial, decision, result, kind == "caught")
        elif kind == "nothing" and decision is None:
            self.study.tell(trial, state="failed")
            _log.warning("trial %d failed: %s", trial.id, result)
        elif decision != "pause":  # a paused trial needs no report
            self._tell(trial, decision, result if kind == "value" else None)
        self.open.remove(trial)

    def _tell(self, trial: StudyTrial, decision: Optional[str],
              value: Value) -> None:
        state = "stopped" if decision == "stop" else None
        try:
            self.study.tell(trial, value, state=state)
        except Error as error:  # it is not what the objectives need
            self._fail(trial, decision, error, False)

    def _fail(self, trial: StudyTrial, decision: Optional[str],
              error: BaseException, is_caught: bool) -> None:
        has_failed = decision != "pause"  # it can be resumed
        if has_failed:
            self.study.tell(trial, state="failed")
        is_caught = is_caught or isinstance(error, self.catch)
        if self.error is None and not is_caught:
            self.error = error
        else:
            _log.warning("trial %d%s: %s", trial.id,
                         " failed" if has_failed else "", _described(error))

    def _cancel_open(self) -> None:
        """After an interrupt, or where a worker could not start."""
        for trial in self.open:
            try:
                self.study.tell(trial, state="cancelled")
            except Error:
                pass  # it has a result, or is paused, or the search has ended

    # ---- in this thread ----

    def _run_here(self) -> None:
        while True:
            trial = self._next()
            if trial is None:
                return
            self._finish(trial, _call(self.function, trial, self.catch))

    # ---- in workers ----

    def _run_workers(self, parallel: int, context: Any) -> None:
        while True:
            while len(self.workers) + len(self.held) < parallel:
                trial = self._next()
                if trial is None:
                    break
                self.held.append(trial)
            self._start(context)
            if not self.workers:
                return
            ready = connection.wait([worker.pipe for worker in self.workers],
                                    context and _LOOK_S)
            for worker in list(self.workers):
                if worker.pipe in ready or worker.has_ended():
                    self._answer(worker)

    def _start(self, context: Any) -> None:
        """A paused trial can be resumed before its call has returned, which may
        still write the checkpoint: the next call waits for that."""
        running = {worker.trial.id for worker in self.workers}
        for trial in [held for held in self.held if held.id not in running]:
            worker = _Worker(context, self.function, trial, self.catch)
            self.workers.append(worker)
            self.held.remove(trial)
            worker.start()

    def _answer(self, worker: "_Worker") -> None:
        message = worker.receive()
        if message[0] == "observe":
            worker.decide(self.observe, *message[1:])
            return
        self.workers.remove(worker)
        worker.join()
        self._finish(worker.trial, (message[0], message[1]))


def _call(function: Function, trial: StudyTrial, catch: Catch) -> End:
    """Calls the function. Its end is ("value", numbers), ("nothing", why it is
    no value), or ("error" or "caught", exception)."""
    try:
        value = function(trial)
    except BaseException as error:  # also of sys.exit()
        return "caught" if isinstance(error, catch) else "error", error
    try:
        numbers = plain(value)
    except TypeError:
        numbers = None
    if numbers is None:
        return "nothing", f"its function returned {quoted(value)}; {MEANING}"
    parts = numbers if isinstance(numbers, list) else [numbers]
    if not all(map(math.isfinite, parts)):
        return "nothing", f"its function returned {quoted(value)}"
    return "value", numbers


def _context(processes: Union[bool, str]) -> Any:
    """None: threads."""
    if not processes:
        return None
    return multiprocessing.get_context(
        "fork" if processes is True else processes)


class _Worker:
    """A call of the function in a thread or a process."""

    def __init__(self, context: Any, function: Function, trial: StudyTrial,
                 catch: Catch) -> None:
        self.trial = trial
        self.pipe, self.theirs = multiprocessing.Pipe()
        self.is_thread = context is None
        self.ends: List[End] = [  # of a thread: the last one
            ("error", Error(f"the thread of trial {trial.id} ended"))]
        words = (self.theirs, function, trial, catch)
        self.mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self.worker: Any = (
            threading.Thread(target=_work_in_thread, args=(*words, self.ends),
                             daemon=True) if self.is_thread else
            context.Process(target=_work_in_process, args=(*words, self.mask),
                            daemon=True))

    def start(self) -> None:
        """An interrupt during a fork waits: Python runs functions of modules
        then, and only prints what they raise."""
        if self.is_thread:
            self.worker.start()
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.worker.start()
            self.theirs.close()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)

    def has_ended(self) -> bool:
        """Whether it is a process that has exited."""
        return not self.is_thread and self.worker.exitcode is not None

    def receive(self) -> Tuple[Any, ...]:
        """Its next message; the last one is the end of its call."""
        try:
            if self.pipe.poll():
                kind, *words = self.pipe.recv()
                return (kind, _exception(*words)) if kind in _ERRORS else \
                    (kind, *words)
        except (EOFError, OSError):
            pass
        if self.is_thread:
            return self.ends[-1]
        self.worker.join()
        return "error", Error(f"the process of trial {self.trial.id} "
                              f"{_how_it_ended(self.worker.exitcode)}")

    def decide(self, observe: Observe, step: float, value: Value) -> None:
        """The decision, or the error of a wrong request."""
        try:
            answer: Any = observe(self.trial, step, value)
        except Error as error:
            answer = error
        try:
            self.pipe.send(answer)
        except OSError:
            pass  # it was killed: its end is the next message

    def join(self) -> None:
        self.worker.join()
        self.pipe.close()

    def kill(self) -> None:
        """After an interrupt. A thread cannot be ended."""
        if not self.is_thread and self.worker.pid is not None:
            self.worker.kill()
            self.worker.join()
        self.pipe.close()


def _described(error: BaseException) -> str:
    """An exception as the last line of its traceback."""
    try:
        text = str(error)
    except Exception:
        text = "its text cannot be made"
    if type(error) is Error:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _exception(pickled: bytes, text: str, lines: str) -> BaseException:
    """The exception of a process, or one with its text."""
    error: object = None
    try:
        error = pickle.loads(pickled)
    except Exception:
        pass
    if not isinstance(error, BaseException):
        error = Error(text)
    # Not error.__cause__ = ...: those of frozen data classes refuse that.
    BaseException.__setattr__(error, "__cause__",
                              Error("in a worker:\n" + lines))
    return error


# ---- inside a worker ----

def _work_in_thread(pipe: Any, function: Function, trial: StudyTrial,
                    catch: Catch, ends: List[End]) -> None:
    try:
        trial._observe = _observer(pipe)
        ends.append(_call(function, trial, catch))
    finally:
        pipe.close()  # wakes the loop


def _work_in_process(pipe: Any, function: Function, trial: StudyTrial,
                     catch: Catch, mask: Any) -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    trial._observe = _observer(pipe)
    message: Tuple[Any, ...] = _call(function, trial, catch)
    if isinstance(message[1], BaseException):
        message = (message[0], *_packed(message[1]))
    try:
        pipe.send(message)
    except OSError:
        pass  # the loop has ended
    pipe.close()


def _packed(error: BaseException) -> Tuple[bytes, str, str]:
    """The words for _exception()."""
    text = lines = _described(error)
    pickled = b""
    try:
        lines = "".join(traceback.format_exception(
            type(error), error, error.__traceback__))
        pickled = pickle.dumps(error)
    except Exception:
        pass
    return pickled, text, lines


def _observer(pipe: Any) -> Observe:
    def observe(_: StudyTrial, step: float, value: Value) -> str:
        pipe.send(("observe", step_number(step), plain(value)))
        answer = pipe.recv()
        if isinstance(answer, Error):
            raise answer
        return str(answer)
    return observe
