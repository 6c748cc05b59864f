# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune each` on a cluster."""

import json

import pytest


@pytest.mark.parametrize("mode", ["pilot", "array"])
def test_a_command_for_each_line(smtune, cluster, mode):
    (smtune.directory / "lines").write_text(
        "".join(f"it's {i}\n" for i in range(6)))
    executor = {"name": "slurm", "poll": "1s", "heartbeat": "1s", "mode": mode,
                **cluster.options}
    result = smtune("each", "lines", "-k", "-n", "it", "--cpus", "1",
                    "--timeout", "1m", "--results", "out", "--set",
                    f"executor={json.dumps(executor)}", "--", "sh", "-c",
                    'test "$SLURM_JOB_ID" && echo "$0"', timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "".join(f"it's {i}\n" for i in range(6))
    assert (smtune.directory / "out/3.out").read_text() == "it's 2\n"
    smtune.ok("replay", "it")
    smtune.ok("fsck")
