# SPDX-License-Identifier: GPL-3.0-or-later
"""A run in the store, and its trials.

A Run reads each of its parts on first use and keeps it, also while the run goes
on; refresh() forgets them. Trials are rows of `smtune export --format jsonl`,
whose values have types. A table for pandas is `smtune export`, the CSV, which
is faster by half for 100,000 trials; the types of its parameters follow from
the first rows of the JSON.
"""

import json
import re
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Set, Tuple

from . import _program
from ._program import Error, Folder

if TYPE_CHECKING:
    import datetime

    import pandas

# By metric and trial: its points, a step and a value each.
Curves = Dict[str, Dict[int, List[Tuple[float, float]]]]

_SAMPLE_ROWS = 1000
_TIMES = ("started", "ended", "last_started")
# Texts of CSV that have an apostrophe in front, because a spreadsheet would run
# them as formulas.
_FORMULA = re.compile(r"'+[=+\-@\t\r]")
_PANDAS_MISSING = ("to_pandas() needs pandas, which is not installed: "
                   "python3 -m pip install pandas")


class RunFailed(Error):
    """A run ended as failed. `run` has its trials."""

    def __init__(self, message: str, run: "Run") -> None:
        super().__init__(message)
        self.run = run


class Trial:
    """A trial of a run. `row` has all that smtune prints about it."""

    __slots__ = ("row",)

    def __init__(self, row: Dict[str, Any]) -> None:
        self.row = row

    @property
    def id(self) -> int:
        """Its number in the run."""
        return int(self.row["id"])

    @property
    def state(self) -> str:
        return str(self.row.get("state", "succeeded"))

    @property
    def value(self) -> Optional[float]:
        """The value of the first objective; None: it has none."""
        values = self.values
        return values[0] if values else None

    @property
    def values(self) -> List[Optional[float]]:
        """The values of all objectives, in the order of the file."""
        if "values" in self.row:
            return [_real(value) for value in self.row["values"] or []]
        return [_real(self.row.get("value"))]

    @property
    def params(self) -> Dict[str, Any]:
        """Its active parameters."""
        return {name: value for name, value in self.row["params"].items()
                if value is not None}

    @property
    def metrics(self) -> Dict[str, Optional[float]]:
        """The last value of each metric but the objectives."""
        found = {**self.row.get("outcomes", {}), **self.row.get("metrics", {})}
        return {name: _real(value) for name, value in found.items()}

    @property
    def started(self) -> "Optional[datetime.datetime]":
        return _time(self.row.get("started"))

    @property
    def ended(self) -> "Optional[datetime.datetime]":
        return _time(self.row.get("ended"))

    @property
    def seconds(self) -> Optional[float]:
        """The time of all its attempts."""
        duration_ms = self.row.get("duration_ms")
        return None if duration_ms is None else duration_ms / 1000

    def __repr__(self) -> str:
        values = self.values
        shown = values if len(values) > 1 else self.value
        return f"<trial {self.id} {self.state} {shown} {self.params}>"


def _real(value: Any) -> Optional[float]:
    """A number of JSON, where nan and infinities are texts."""
    return None if value is None else float(value)


def _time(text: Optional[str]) -> "Optional[datetime.datetime]":
    import datetime
    if text is None:
        return None
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(
        tzinfo=datetime.timezone.utc)


def load(run: str, store: Optional[Folder] = None) -> "Run":
    """A run of the store: its name, its id, or "last"."""
    return Run(run, store)


class Run:
    """A run in the store."""

    def __init__(self, run: str, store: Optional[Folder] = None) -> None:
        self._store = store
        self._parts: Dict[str, Any] = {
            "document": _program.call_json("show", run, store=store)}
        self._name: str = self._parts["document"]["name"]

    def refresh(self) -> "Run":
        """Forgets what was read, so that the next use reads it again."""
        self._parts.clear()
        return self

    @property
    def document(self) -> Dict[str, Any]:
        """All that `smtune show` prints about the run."""
        if "document" not in self._parts:
            self._parts["document"] = _program.call_json(
                "show", self._name, store=self._store)
        found: Dict[str, Any] = self._parts["document"]
        return found

    @property
    def name(self) -> str:
        return self._name

    @property
    def state(self) -> str:
        return str(self.document["state"])

    @property
    def reason(self) -> str:
        """Why it has this state."""
        return str(self.document["reason"] or "")

    @property
    def objectives(self) -> Dict[str, str]:
        """The goal of each objective, by its metric."""
        return dict(self._of_experiment("objectives"))

    def _of_experiment(self, key: str) -> Any:
        if self.document["kind"] != "experiment":
            raise Error(f"run '{self.name}' is a workflow: document has its "
                        "steps, and to_pandas() its jobs", 2)
        return self.document[key]

    # ---- trials ----

    @property
    def best(self) -> Optional[Trial]:
        """The best trial. None: no trial has succeeded and satisfied the
        constraints on metrics yet. With several objectives there is no single
        best trial, but the front."""
        if len(self.objectives) > 1:
            raise Error(f"run '{self.name}' has {len(self.objectives)} "
                        "objectives: use front", 2)
        found = self.front
        return found[0] if found else None

    @property
    def front(self) -> List[Trial]:
        """The Pareto front; with one objective the best trial alone."""
        if "front" not in self._parts:
            found: Any = []
            if self._of_experiment("trials")["succeeded"] > 0:
                found = self._read_best()
            self._parts["front"] = [Trial(row) for row in found]
        return list(self._parts["front"])

    def _read_best(self) -> Any:
        several = len(self.objectives) > 1
        # Trials can have succeeded and none satisfies the constraints.
        if not self.document.get("front" if several else "best"):
            return []
        found = _program.call_json("best", self.name, store=self._store)
        return found if several else [found]

    @property
    def trials(self) -> List[Trial]:
        """All trials in the order of their ids."""
        if "trials" not in self._parts:
            self._of_experiment("objectives")
            self._parts["trials"] = [Trial(row) for row in self._rows(
                "export", self.name, "--format", "jsonl")]
        return list(self._parts["trials"])

    def _rows(self, *words: object) -> List[Dict[str, Any]]:
        """Lines of JSON, parsed as one document: that is faster."""
        lines = _program.call(*words, store=self._store).rstrip(b"\n")
        found: List[Dict[str, Any]] = json.loads(
            b"[" + lines.replace(b"\n", b",") + b"]")
        return found

    @property
    def curves(self) -> Curves:
        """All values of all metrics: curves["loss"][17] is a list of (step,
        value) of trial 17."""
        if "curves" not in self._parts:
            self._parts["curves"] = self._read_curves()
        found: Curves = self._parts["curves"]
        return found

    def _read_curves(self) -> Curves:
        import csv
        self._of_experiment("objectives")
        text = _program.call("export", self.name, "--curves", store=self._store)
        rows = csv.reader(text.decode().splitlines())
        next(rows, None)
        found: Curves = {}
        for trial, metric, step, value, *_ in rows:
            trials = found.setdefault(_text(metric), {})
            points = trials.setdefault(int(trial), [])
            points.append((float(step), float(value)))
        return found

    @property
    def importance(self) -> Dict[str, float]:
        """The importance of each parameter for the first objective: its share
        of the variance. Empty, if there are too few results."""
        return self.importance_of(next(iter(self.objectives)))

    def importance_of(self, metric: str) -> Dict[str, float]:
        """The same for another objective."""
        if metric not in self.objectives:
            raise KeyError(f"no objective '{metric}' in run '{self.name}' (one "
                           f"of: {', '.join(self.objectives)})")
        return {row["param"]: row["importance"]
                for row in self._of_experiment("importance")
                if row["metric"] == metric}

    # ---- pandas ----

    def to_pandas(self, curves: bool = False) -> "pandas.DataFrame":
        """All trials as a table, with a column for each parameter and the last
        value of each metric; of a workflow all jobs. A parameter with the name
        of another column has `params.` in front. With `curves` one row for each
        value of each metric."""
        try:
            import pandas
        except ImportError:
            raise ImportError(_PANDAS_MISSING) from None
        if curves:
            self._of_experiment("objectives")
            return _Table(pandas).read(_program.command(
                "export", self.name, "--curves", store=self._store))
        sample = self._rows("trials", self.name, "-n", _SAMPLE_ROWS,
                            "-o", "jsonl")
        return _Table(pandas, sample).read(_program.command(
            "export", self.name, store=self._store))

    def __repr__(self) -> str:
        return f"<run '{self.name}' {self.state}: {self.reason}>"


class _Table:
    """CSV of smtune as a pandas table. CSV has no types: a parameter is a text
    if it is one in the sample. Parameters are known by their place, because one
    can have the name of another column."""

    def __init__(self, pandas: Any,
                 sample: Optional[List[Dict[str, Any]]] = None) -> None:
        self.pandas = pandas
        self.kinds: Dict[str, Set[type]] = {}  # by parameter, in their order
        self.seen: Dict[str, Set[str]] = {}  # texts, by parameter
        self.texts: Dict[str, str] = {}  # parameters that have some, by column
        for row in sample or []:
            for name, value in (row.get("params") or {}).items():
                kinds = self.kinds.setdefault(name, set())
                if value is not None:
                    kinds.add(type(value))
                if isinstance(value, str):
                    self.seen.setdefault(name, set()).add(value)

    def read(self, command: List[str]) -> "pandas.DataFrame":
        with tempfile.TemporaryFile() as err, subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=err) as process:
            assert process.stdout is not None
            frame = self._parse(process.stdout)
            if process.wait() != 0:
                _program.fail(process.returncode, b"", _program.drain(err))
        for name in frame.columns:
            if not self.pandas.api.types.is_numeric_dtype(frame[name]):
                frame[name] = frame[name].map(_text, na_action="ignore")
        for name, param in self.texts.items():
            if len(self.kinds[param]) > 1:
                seen = self.seen[param]
                frame[name] = frame[name].map(
                    lambda text, seen=seen: text if text in seen
                    else _typed(text), na_action="ignore")
        for name in _TIMES:
            if name in frame.columns:
                frame[name] = self.pandas.to_datetime(
                    frame[name], utc=True, format="%Y-%m-%dT%H:%M:%S.%f%z")
        return frame

    def _parse(self, stream: Any) -> Any:
        import csv
        line = stream.readline().decode()
        header = _distinct([_text(name)
                            for name in next(csv.reader([line]), [])])
        self.texts = self._find_texts(header)
        empty = {name: [""] if name in self.texts or name == "state"
                 else ["", "nan"] for name in header}
        return self.pandas.read_csv(
            stream, names=header, header=None, encoding="utf-8",
            dtype=dict.fromkeys(self.texts, object), keep_default_na=False,
            na_values=empty, low_memory=False, float_precision="round_trip")

    def _find_texts(self, header: List[str]) -> Dict[str, str]:
        """Parameters end where the times begin. The column of one that is named
        `started` is `params.started`."""
        if not self.kinds or not header:
            return {}
        end = header.index("started")
        columns = header[end - len(self.kinds):end]
        return {column: param for column, param in zip(columns, self.kinds)
                if param in self.seen}


def _distinct(names: List[str]) -> List[str]:
    """Equal names get a number: pandas wants them distinct."""
    found: List[str] = []
    for name in names:
        count, new = 1, name
        while new in found:
            count, new = count + 1, f"{name}.{count}"
        found.append(new)
    return found


def _text(cell: Any) -> Any:
    """A cell of CSV without the apostrophe in front of a formula."""
    return cell[1:] if isinstance(cell, str) and _FORMULA.match(cell) else cell


def _typed(text: str) -> Any:
    """A value that the sample does not have as a text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
