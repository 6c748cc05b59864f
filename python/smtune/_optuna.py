# SPDX-License-Identifier: GPL-3.0-or-later
"""Studies of Optuna, from its SQLite file or its journal, without Optuna.

A study becomes an experiment: the parameters with the ranges that its trials
had, and the directions. Optuna defines parameters while a trial runs. A range
that changed becomes the one that holds all values. A parameter that some trials
lack gets a condition, if the choice of another parameter decides it; otherwise
the study cannot be an experiment by itself, and needs a file.
"""

import json
import math
import os
from typing import (Any, Dict, Iterable, List, Mapping, NamedTuple, Optional,
                    Sequence, Set, Tuple, Union)

from . import _program
from ._program import Error, File, Folder
from ._record import Run, load

_ENDED = ("COMPLETE", "FAIL", "PRUNED")
_JOURNAL_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_MAGIC = b"SQLite format 3\0"
_CREATE_STUDY, _DELETE_STUDY, _CREATE_TRIAL, _SET_PARAM, _SET_STATE = \
    0, 1, 4, 5, 6

Distribution = Mapping[str, Any]


class OptunaTrial(NamedTuple):
    """A trial of a study; values have Optuna's own types."""
    state: str
    values: List[float]
    params: Dict[str, Any]


class OptunaStudy(NamedTuple):
    """A study as an experiment, and its trials that have ended. Those that
    ended before they had all their parameters are left out."""
    name: str
    file: Dict[str, Any]
    trials: List[OptunaTrial]


class _Raw:
    """A study while it is read: parameters as Optuna stores them."""

    def __init__(self, name: str, directions: Sequence[str]) -> None:
        self.name = name
        self.directions = list(directions)
        self.trials: List[Dict[str, Any]] = []

    def add_trial(self, state: str) -> Dict[str, Any]:
        trial: Dict[str, Any] = {"state": state, "values": [], "params": {}}
        self.trials.append(trial)
        return trial


def read_optuna(path: Folder, study: Optional[str] = None) -> OptunaStudy:
    """A study of an SQLite file or a journal of Optuna, by its name. The name
    may be left out if the file has one study."""
    with open(path, "rb") as file:
        is_database = file.read(len(_MAGIC)) == _MAGIC
    found = (_read_database if is_database else _read_journal)(path)
    return _experiment(_choose(path, found, study))


def import_optuna(path: Folder, record: str, *, study: Optional[str] = None,
                  file: Optional[File] = None,
                  store: Optional[Folder] = None) -> Run:
    """Makes a run of a study. `file` is an experiment with the parameters and
    the objective, in place of what read_optuna() makes of the study."""
    found = read_optuna(path, study)
    rows = "".join(json.dumps(_row(trial)) + "\n" for trial in found.trials)
    with _program.on_disk(found.file if file is None else file) as space:
        _program.call("import", "-", "--as", "jsonl", "--file", space,
                      "--record", record, store=store, text=rows.encode())
    return load(record, store=store)


def _row(trial: OptunaTrial) -> Dict[str, Any]:
    """For `smtune import`, to which an infinite value is none."""
    return {"params": trial.params, "state": trial.state,
            "values": [value if math.isfinite(value) else None
                       for value in trial.values]}


def _choose(path: Folder, found: List[_Raw], name: Optional[str]) -> _Raw:
    names = ", ".join(repr(raw.name) for raw in found) or "none"
    for raw in found:
        if raw.name == name or (name is None and len(found) == 1):
            return raw
    wanted = (f"no study {name!r}" if name is not None
              else "several studies, or none: name one")
    raise Error(f"'{os.fspath(path)}': {wanted} (studies: {names})", 2)


# ---- reading ----

def _read_database(path: Folder) -> List[_Raw]:
    import sqlite3
    from contextlib import closing
    from urllib.parse import quote
    address = f"file:{quote(os.path.abspath(os.fspath(path)))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            return [_read_study(database, *row) for row in database.execute(
                "SELECT study_id, study_name FROM studies ORDER BY study_id")]
    except sqlite3.Error as error:
        raise Error(f"'{os.fspath(path)}' is not a store of Optuna: {error}",
                    2) from None


def _read_study(database: Any, study: int, name: str) -> _Raw:
    raw = _Raw(name, [row[0] for row in database.execute(
        "SELECT direction FROM study_directions WHERE study_id = ? "
        "ORDER BY objective", (study,))])
    trials = {id: raw.add_trial(state) for id, state in database.execute(
        "SELECT trial_id, state FROM trials WHERE study_id = ? "
        "ORDER BY number", (study,))}
    for id, param, value, text in database.execute(
            "SELECT trial_id, param_name, param_value, distribution_json "
            "FROM trial_params ORDER BY param_id"):
        if id in trials:
            trials[id]["params"][param] = (value, json.loads(text))
    infinite = {"INF_POS": math.inf, "INF_NEG": -math.inf}
    for id, value, kind in database.execute(
            "SELECT trial_id, value, value_type FROM trial_values "
            "ORDER BY objective"):
        if id in trials:
            trials[id]["values"].append(infinite.get(kind, value))
    return raw


def _read_journal(path: Folder) -> List[_Raw]:
    studies: List[Optional[_Raw]] = []
    trials: List[Dict[str, Any]] = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                _follow(json.loads(line), studies, trials)
            except (ValueError, KeyError, IndexError, TypeError,
                    AttributeError):
                if not line.endswith("\n"):
                    break  # it was being written
                raise Error(f"'{os.fspath(path)}', line {number}: not a line "
                            "of a journal of Optuna", 2) from None
    return [raw for raw in studies if raw is not None]


def _follow(entry: Mapping[str, Any], studies: List[Optional[_Raw]],
            trials: List[Dict[str, Any]]) -> None:
    """One change. Ids are counts of what was created before."""
    code = entry["op_code"]
    if code == _CREATE_STUDY:
        directions = [("NOT_SET", "MINIMIZE", "MAXIMIZE")[direction]
                      for direction in entry["directions"]]
        studies.append(_Raw(entry["study_name"], directions))
    elif code == _DELETE_STUDY:
        studies[entry["study_id"]] = None
    elif code == _CREATE_TRIAL:
        raw = studies[entry["study_id"]]
        assert raw is not None
        trial = raw.add_trial(_JOURNAL_STATES[entry.get("state", 0)])
        for name, text in entry.get("distributions", {}).items():
            trial["params"][name] = (entry["params"][name], json.loads(text))
        if entry.get("values") or entry.get("value") is not None:
            trial["values"] = entry.get("values") or [entry["value"]]
        trials.append(trial)
    elif code == _SET_PARAM:
        trials[entry["trial_id"]]["params"][entry["param_name"]] = (
            entry["param_value_internal"], json.loads(entry["distribution"]))
    elif code == _SET_STATE:
        trial = trials[entry["trial_id"]]
        trial["state"] = _JOURNAL_STATES[entry["state"]]
        if entry["values"] is not None:
            trial["values"] = entry["values"]


# ---- the experiment ----

def _experiment(raw: _Raw) -> OptunaStudy:
    ended = [trial for trial in raw.trials if trial["state"] in _ENDED]
    kinds: Dict[str, List[Distribution]] = {}
    for trial in ended:
        for name, (_, distribution) in trial["params"].items():
            kinds.setdefault(name, []).append(distribution)
    trials = [OptunaTrial(trial["state"], trial["values"],
                          {name: _value(*part)
                           for name, part in trial["params"].items()})
              for trial in ended]
    params = {name: _parameter(name, found) for name, found in kinds.items()}
    conditions = {name: _condition(name, params, trials) for name in params}
    for name, condition in conditions.items():
        if condition is not None:
            params[name]["when"] = " or ".join(
                f"{condition.other} = {text}"
                for text in sorted(condition.choices))
    metrics = [f"value_{i}" for i in range(len(raw.directions))]
    if len(metrics) == 1:
        metrics = ["value"]
    file = {
        "objective": [
            {"metric": metric, "goal": "maximize" if direction == "MAXIMIZE"
             else "minimize"}
            for metric, direction in zip(metrics, raw.directions)],
        "parameters": params,
    }
    return OptunaStudy(raw.name, file, [
        trial for trial in trials if _is_whole(trial, conditions)])


def _is_whole(trial: OptunaTrial,
              conditions: Mapping[str, Optional["_Condition"]]) -> bool:
    """Whether it did not end before it had all its parameters."""
    return all(name in trial.params for name, condition in conditions.items()
               if condition is None or condition.holds(trial))


def _value(internal: float, distribution: Distribution) -> Any:
    """From the number that Optuna stores."""
    name, attributes = distribution["name"], distribution["attributes"]
    if name == "CategoricalDistribution":
        return _choice(attributes["choices"][int(internal)])
    return int(internal) if name.startswith("Int") else float(internal)


def _choice(value: Any) -> Union[str, int, float, bool]:
    return "None" if value is None else value


def _parameter(name: str, kinds: Iterable[Distribution]) -> Dict[str, Any]:
    """One that has all values of these distributions."""
    parts = [_one_parameter(kind) for kind in kinds]
    found = parts[0]
    for part in parts[1:]:
        if part == found:
            continue
        if part["type"] != found["type"]:
            raise Error(f"parameter {name!r} is of type {found['type']} in "
                        f"some trials, and of type {part['type']} in others "
                        "(pass a file with the parameters)", 2)
        found = _joined(found, part)
    if found["type"] == "categorical" and len(found["values"]) == 1:
        return {"value": found["values"][0]}
    if "min" in found and found["min"] == found["max"]:
        return {"value": found["min"]}
    return found


def _one_parameter(kind: Distribution) -> Dict[str, Any]:
    name, attributes = kind["name"], kind["attributes"]
    if name == "CategoricalDistribution":
        return {"type": "categorical",
                "values": [_choice(value) for value in attributes["choices"]]}
    found = {"type": "int" if name.startswith("Int") else "float",
             "min": attributes["low"], "max": attributes["high"]}
    step = attributes.get("step", attributes.get("q"))
    if attributes.get("log") or "Log" in name:
        found["scale"] = "log"
    elif step is not None and step != 1 or (step == 1 and
                                            found["type"] == "float"):
        found["step"] = step
    return found


def _joined(a: Dict[str, Any], b: Dict[str, Any]) -> Dict[str, Any]:
    if a["type"] == "categorical":
        more = [value for value in b["values"] if value not in a["values"]]
        return {**a, "values": a["values"] + more}
    found = {"type": a["type"], "min": min(a["min"], b["min"]),
             "max": max(a["max"], b["max"])}
    if a.get("scale") == b.get("scale") == "log":
        found["scale"] = "log"
    # a common grid would need a common start and step
    return found


class _Condition(NamedTuple):
    """A parameter is there with these choices of another one."""
    other: str
    choices: Set[str]

    def holds(self, trial: OptunaTrial) -> bool:
        return self.other in trial.params and \
            _literal(trial.params[self.other]) in self.choices


def _condition(name: str, params: Mapping[str, Any],
               trials: Sequence[OptunaTrial]) -> Optional[_Condition]:
    """When a parameter is there; None: always. Trials that failed or were
    pruned can lack more than their choices decide."""
    complete = [trial for trial in trials if trial.state == "COMPLETE"]
    if all(name in trial.params for trial in complete):
        return _deciding(name, params, trials)
    found = _deciding(name, params, complete)
    if found is None:
        raise Error(f"some trials lack parameter {name!r}, and no choice of "
                    "another parameter decides that (pass a file with the "
                    "parameters)", 2)
    return found


def _deciding(name: str, params: Mapping[str, Any],
              trials: Sequence[OptunaTrial]) -> Optional[_Condition]:
    """The choices of another parameter with which this one is there, if it is
    not there with some, and no choice is among both."""
    for other, param in params.items():
        if other == name or param.get("type") != "categorical" or any(
                name in trial.params and other not in trial.params
                for trial in trials):
            continue
        choices: Tuple[Set[str], Set[str]] = (set(), set())
        for trial in trials:
            if other in trial.params:
                choices[name in trial.params].add(
                    _literal(trial.params[other]))
        if choices[False] and not choices[False] & choices[True]:
            return _Condition(other, choices[True])
    return None


def _literal(value: Any) -> str:
    """In an expression."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)
