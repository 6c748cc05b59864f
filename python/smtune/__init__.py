# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune from Python.

Inside a trial: params(), report(), resource(), should_stop(), checkpoint_dir().
Elsewhere: run() starts a run, load() reads one from the store, Study uses the
search for trials of your own, and import_optuna() makes a run of a study.
docs/python.md shows each of them.

Only what a trial needs is imported at once. The rest is imported on first use,
because a trial imports this package in each of its processes.
"""

from typing import TYPE_CHECKING, List

from ._trial import checkpoint_dir, params, report, resource, should_stop

if TYPE_CHECKING:
    from ._optuna import import_optuna, read_optuna
    from ._program import Error, ProgramNotFound
    from ._record import Run, RunFailed, Trial, load
    from ._running import run
    from ._study import Study, StudyTrial
    __version__: str

__all__ = ["Error", "ProgramNotFound", "Run", "RunFailed", "Study",
           "StudyTrial", "Trial", "checkpoint_dir", "import_optuna", "load",
           "params", "read_optuna", "report", "resource", "run", "should_stop"]

if not TYPE_CHECKING:
    _HOMES = {"Error": "_program", "ProgramNotFound": "_program",
              "Run": "_record", "RunFailed": "_record", "Trial": "_record",
              "load": "_record", "run": "_running", "Study": "_study",
              "StudyTrial": "_study", "import_optuna": "_optuna",
              "read_optuna": "_optuna"}

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version
            return version("smtune")
        if name not in _HOMES:
            raise AttributeError(f"module 'smtune' has no attribute '{name}'")
        from importlib import import_module
        found = getattr(import_module(f"smtune.{_HOMES[name]}"), name)
        globals()[name] = found
        return found


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
