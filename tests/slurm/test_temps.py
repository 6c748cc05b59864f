# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs with `temp: true` on a cluster: files that other nodes make and use,
and that the engine removes."""

import json
import os
import signal

from conftest import both
from programs import wait_until

STEPS = {
    "make": {"matrix": {"n": [1, 2]},
             "shell": "echo make >>log; echo ${{ n }} >m${{ n }}",
             "outputs": {"m": {"path": "m${{ n }}", "temp": True}}},
    "join": {"needs": "make",
             "shell": "echo join >>log; cat m1 m2 >all",
             "outputs": {"all": {"path": "all", "temp": True}}},
    "use": {"needs": "join",
            "shell": "touch begun; while [ ! -e go ]; do sleep 0.1; done\n"
                     "echo use >>log; sort ${{ join.all }} >out",
            "outputs": {"out": "out"}},
}


@both("job")
def test_a_chain_of_temporary_outputs(smtune, write, cluster, transport, mode):
    """They go when no step needs them, also behind an engine that was killed."""
    path = write("w.yaml", json.dumps({
        "version": 1, "name": "w",
        "executor": {"name": "slurm", "poll": "1s", "mode": mode,
                     **cluster.options},
        "steps": STEPS}))
    here = smtune.directory

    def there():
        return [n for n in ("m1", "m2", "all", "out") if (here / n).exists()]

    engine = smtune.start("run", path)
    wait_until(lambda: (here / "begun").exists(), 60)
    wait_until(lambda: there() == ["all"], 30)
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    write("go", "")
    smtune.ok("resume", "w", timeout=90)
    assert there() == ["out"]
    assert (here / "out").read_text() == "1\n2\n"
    assert sorted((here / "log").read_text().split()) == [
        "join", "make", "make", "use"]
    smtune.ok("replay", "w")
    smtune.ok("fsck")
