# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of others that come first: what was taken away starts again, and goes
on from where it was."""

import pytest

from conftest import both
from programs import wait_until

# Goes on from its checkpoint; every epoch that it runs is a line of a file.
EPOCHS = """\
c=$SMTUNE_CHECKPOINT_DIR/epoch
n=0
[ -f $c ] && n=$(cat $c)
while [ $n -lt 40 ]; do
    n=$((n + 1))
    sleep 0.1
    echo $n >>epochs-$SMTUNE_JOB
    echo epoch=$n loss=$n
    echo $n >$c.new
    mv $c.new $c
done
"""


@both("job", "pilot")
@pytest.mark.parametrize("partition", ["batch", "scav"])
def test_preempted_trials_go_on(smtune, experiment, cluster, partition,
                                transport, mode):
    """`batch` has its jobs put back, `scav` has them ended."""
    engine = smtune.start("run", experiment(
        trials=2, executor={"mode": mode, "partition": partition,
                            "heartbeat": "1s", "silence": "5s"},
        trial={"shell": EPOCHS, "checkpoints": True,
               "resources": {"cpus": 1, "time": "2m"}}))
    files = [smtune.directory / f"epochs-{n}" for n in (1, 2)]
    wait_until(lambda: all(
        f.exists() and len(f.read_text().split()) > 3 for f in files))
    cluster.ok("sbatch", "-p", "high", "-N4", "--exclusive", "-o",
               "/dev/null", "--wrap", "sleep 2")
    wait_until(lambda: any(job["partition"] == "high" and
                           job["state"] == "RUNNING"
                           for job in cluster.jobs()))
    assert engine.wait(90) == 0, engine.stderr.read()
    rows = smtune.json("trials", "run")
    assert [row["state"] for row in rows] == ["succeeded"] * 2
    for row, file in zip(rows, files, strict=True):
        assert row["attempts"] == 2
        epochs = [int(line) for line in file.read_text().split()]
        again = next(i for i, (a, b) in enumerate(zip(epochs, epochs[1:]))
                     if b <= a) if epochs != sorted(set(epochs)) else None
        assert sorted(set(epochs)) == list(range(1, 41))
        assert again is None or epochs[again] - epochs[again + 1] <= 1
