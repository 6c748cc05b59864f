# SPDX-License-Identifier: GPL-3.0-or-later
"""Files to run, each in the test's folder.

    smtune.ok("run", experiment("exit $((SMTUNE_JOB = 2))", trials=3))
    smtune.ok("run", workflow('a: {command: "true"}'))
"""

import pytest

import files


@pytest.fixture
def experiment(write):
    """experiment(shell, key=value ...): writes NAME.yaml, see files.experiment;
    its path."""
    def make(*words, name="exp", **keys):
        return write(f"{name}.yaml",
                     files.experiment(*words, name=name, **keys))
    return make


@pytest.fixture
def workflow(write):
    """workflow(steps, key=value ...): writes NAME.yaml, see files.workflow;
    its path."""
    def make(steps, name="flow", **sections):
        return write(f"{name}.yaml",
                     files.workflow(steps, name=name, **sections))
    return make
