# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a trial as plain numbers, also those of NumPy and PyTorch."""

import operator
from collections.abc import Mapping, Set
from typing import Any, List, Sequence, Union

Value = Union[float, Sequence[float], None]

MEANING = ("a value is a number, or a list with one number for each objective")
_QUOTED_MAX = 80


def plain(value: Value) -> Union[float, List[float], None]:
    """The value as a float, or a list of them: an array with one dimension is a
    list, also where it has one number. TypeError, if it is no value."""
    if value is None:
        return None
    try:
        return _number(value) if _is_number(value) else _numbers(value)
    except Exception:  # of an object that has float() and cannot do it
        raise TypeError(f"{MEANING}, not {quoted(value)}") from None


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not getattr(value, "ndim", 0)


def _number(value: Any) -> float:
    if not _is_number(value) or isinstance(value, (str, bytes)):
        raise TypeError
    return float(value)


def _numbers(value: Any) -> List[float]:
    # The order of a dict or a set is not that of the objectives.
    if isinstance(value, (str, bytes, bytearray, Mapping, Set)):
        raise TypeError
    found = [_number(part) for part in value]
    if not found:
        raise TypeError
    return found


def step_number(step: Any) -> Union[int, float]:
    """A step as a number of Python."""
    try:
        return operator.index(step)
    except TypeError:  # not an integer
        pass
    try:
        number = _number(step)
    except Exception:
        raise TypeError(f"a step is a number, not {quoted(step)}") from None
    return int(number) if number.is_integer() else number


def quoted(value: object) -> str:
    """The value for a message: one short line, also if repr() fails."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"an object of type '{type(value).__name__}'"
    if len(text) > _QUOTED_MAX:
        text = text[:_QUOTED_MAX - 3] + "..."
    return text
