# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions for a program inside a trial.

smtune describes a trial to its program by environment variables
(docs/environment.md). Outside of a trial these are not set: the functions then
return their defaults and have no other effect, so that a program also runs by
itself.

report() is called in the loop of a training. It keeps the file of
SMTUNE_METRICS open and appends each line with one write(2), so lines of several
threads and processes never mix. A forked process opens the file anew.
"""

import os
import sys
import threading
from types import FrameType
from typing import (TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Set,
                    SupportsFloat, TypeVar, Union, overload)

if TYPE_CHECKING:
    import pathlib

Number = Union[int, float, SupportsFloat]
Default = TypeVar("Default")

# The limits of smtune, which reads no longer line and no longer name.
_LINE_MAX = 1 << 16
_NAME_MAX = 128


# ---- parameters and resources ----

def params(defaults: Optional[Mapping[str, Any]] = None, /,
           **more: Any) -> Dict[str, Any]:
    """The values of the trial's parameters by name.

    `defaults` and keywords are values for parameters that the trial does not
    have: inactive ones, and all of them outside of a trial. A name with a dot
    needs the mapping: params({"model.dim": 8}, lr=0.1).
    """
    import json
    values = {**(defaults or {}), **more}
    path = os.environ.get("SMTUNE_PARAMS")
    if path:
        with open(path, encoding="utf-8") as file:
            values.update(json.load(file))
    elif os.environ.get("SM_HPS"):
        values.update(json.loads(os.environ["SM_HPS"]))
    return values


@overload
def resource() -> Optional[int]: ...
@overload
def resource(default: Default) -> Union[int, Default]: ...


def resource(default: object = None) -> object:
    """The resource up to which a trial of a schedule may run, such as the
    number of the last epoch. `default` without a schedule."""
    text = os.environ.get("SMTUNE_RESOURCE")
    return int(text) if text else default


def checkpoint_dir(
        default: "Union[str, os.PathLike[str]]" = "checkpoints",
) -> "pathlib.Path":
    """The folder for checkpoints, the same for every attempt of the trial.
    Outside of a trial it is `default`. The folder exists."""
    import pathlib
    path = pathlib.Path(os.environ.get("SMTUNE_CHECKPOINT_DIR") or default)
    path.mkdir(parents=True, exist_ok=True)
    return path


# ---- metrics ----

_names: Set[str] = set()      # those that were checked
_path: Optional[str] = None   # of the open file; None: not known yet
_descriptor = -1              # -1: there is no file
_opening = threading.Lock()
_encode: Optional[Callable[[object], str]] = None


def report(metrics: Optional[Mapping[str, Number]] = None, /, *,
           step: Optional[Number] = None, any_rank: bool = False,
           **more: Number) -> None:
    """Reports metrics: report(step=3, loss=0.2), report({"val/loss": 0.3}).

    A value is a number, or an object that float() accepts, such as a tensor
    with one element. Without a step, each report of a metric is one step after
    its last. If the program has several ranks, only rank 0 reports, unless
    `any_rank` is true. Outside of a trial nothing is written.
    """
    values: Dict[str, Union[int, float]] = {}
    if step is not None:
        values["step"] = _number("step", step)
    if metrics is not None:
        _add(values, metrics)
    _add(values, more)
    if len(values) == (step is not None):
        raise ValueError("report() needs a metric, such as loss=0.2")
    path = os.environ.get("SMTUNE_METRICS")
    if path and (any_rank or _rank() == 0):
        _append(path, (_encoder()(values) + "\n").encode())


def _add(values: Dict[str, Union[int, float]],
         metrics: Mapping[str, Number]) -> None:
    for name, value in metrics.items():
        if name not in _names:
            _check_name(name)
        kind = type(value)
        values[name] = (value if kind is float or kind is int  # type: ignore
                        else _number(name, value))


def _check_name(name: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of a metric is a text, not {name!r}")
    if not 0 < len(name.encode()) <= _NAME_MAX or name != name.strip(" ") or \
            any(letter < " " or letter == "\x7f" for letter in name):
        raise ValueError(
            f"{name!r} is not a valid name for a metric (1 to {_NAME_MAX} "
            "bytes, without control characters and outer blanks)")
    _names.add(name)


def _number(name: str, value: Number) -> Union[int, float]:
    if isinstance(value, int):  # also a bool, which is no number in JSON
        return int(value)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"'{name}' must be a number, not {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"'{name}' must be a number, not an object of type "
                        f"'{type(value).__name__}' ({error})") from None


def _encoder() -> Callable[[object], str]:
    global _encode
    if _encode is None:
        import json
        _encode = json.JSONEncoder(ensure_ascii=False, check_circular=False,
                                   separators=(",", ":")).encode
    return _encode


def _rank() -> int:
    for name in ("RANK", "OMPI_COMM_WORLD_RANK"):
        text = os.environ.get(name)
        if text and text.isdigit():
            return int(text)
    # Processes that torch.multiprocessing started have no variable.
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and \
            distributed.is_initialized():
        return int(distributed.get_rank())
    return 0


def _append(path: str, line: bytes) -> None:
    if len(line) > _LINE_MAX:
        raise ValueError(f"a report of {len(line)} bytes is too long (at most "
                         f"{_LINE_MAX}): report fewer metrics at once")
    written = os.write(_descriptor if path == _path else _open(path), line)
    if written != len(line):
        import errno
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


def _open(path: str) -> int:
    global _path, _descriptor
    with _opening:
        if path != _path:
            if _descriptor >= 0:
                os.close(_descriptor)
            _path, _descriptor = None, -1
            _descriptor = os.open(
                path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            _path = path
        return _descriptor


# ---- a request to stop ----

_stop = False
_previous: Dict[int, Any] = {}  # handlers from before ours, by signal


def should_stop(*signals: int) -> bool:
    """Whether smtune asked this trial to stop: save a checkpoint and exit.

    smtune sends SIGTERM, and SIGKILL after the grace period (`grace` in
    `resources`). The first call, in the main thread, installs a handler for
    SIGTERM and for the given signals, such as the warning signal of a chain.
    The handler calls an earlier handler as well. Outside of a trial nothing is
    installed, and the answer is False.
    """
    import signal
    if not _stop and os.environ.get("SMTUNE_JOB"):
        for number in (signal.SIGTERM, *signals):
            if number not in _previous:
                _handle(number)
    return _stop


def _handle(number: int) -> None:
    import signal
    previous = signal.getsignal(number)
    # A handler of C cannot be put back; other threads cannot install one.
    if previous is not None and \
            threading.current_thread() is threading.main_thread():
        _guard_forks()
        signal.signal(number, _on_signal)
        _previous[number] = previous


def _on_signal(number: int, frame: Optional[FrameType]) -> None:
    global _stop
    _stop = True
    previous = _previous.get(number)
    if callable(previous):
        previous(number, frame)


# ---- forks ----

# A child reports for itself, and SIGTERM ends it: a pool of workers relies on
# that. A signal that comes before the child has its own handlers would be lost,
# so they are blocked until then. A program without handlers has no function of
# ours at its forks: an interrupt there would be lost, as Python only prints it.

_masks = threading.local()  # of a thread that forks
_is_guarded = False  # a child keeps the functions, too


def _guard_forks() -> None:
    global _is_guarded
    if not _is_guarded:
        _is_guarded = True
        os.register_at_fork(before=_before_fork, after_in_parent=_after_fork)


def _before_fork() -> None:
    if _previous:
        import signal
        _masks.old = signal.pthread_sigmask(signal.SIG_BLOCK, _previous)


def _after_fork() -> None:
    old = _masks.__dict__.pop("old", None)
    if old is not None:
        import signal
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def _after_fork_in_child() -> None:
    global _path, _descriptor, _opening
    if _descriptor >= 0:
        os.close(_descriptor)
    _path, _descriptor, _opening = None, -1, threading.Lock()
    if _previous:
        import signal
        for number, previous in _previous.items():
            signal.signal(number, previous)
        _previous.clear()
    _after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)
