# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune show RUN --efficiency: asked for against used."""

import pytest

WORK = "python3 -c 'x = bytearray(60 << 20); [i for i in range(3000000)]'"


@pytest.fixture
def run(smtune, write):
    def make(text):
        smtune("run", "-q", write("w.yaml", "version: 1\n" + text))
        return smtune.json("show", "w", "--efficiency")
    return make


def test_what_jobs_asked_for_and_used(run, smtune):
    found = run(f"""
steps:
  a:
    matrix: {{i: [1, 2]}}
    shell: "{WORK}"
    resources: {{cpus: 2, memory: 256M, time: 1m}}
  b: {{shell: "true"}}
""")
    rows = {row["job"]: row for row in found["efficiency"]}
    assert list(rows) == ["a[0]", "a[1]", "b"]
    for name in ("a[0]", "a[1]"):
        row = rows[name]
        assert row["cpus"] == 2 and row["memory_bytes"] == 256 << 20
        assert row["time_limit_ms"] == 60000 and row["attempts"] == 1
        assert 60 << 20 < row["max_rss_bytes"] < 256 << 20
        assert row["memory_percent"] == pytest.approx(
            row["max_rss_bytes"] * 100 / (256 << 20), abs=0.06)
        assert row["cpu_percent"] == pytest.approx(
            row["cpu_ms"] * 50 / row["longest_ms"], abs=0.06)
        assert row["gpus"] is None and row["gpu_percent"] is None
    assert rows["b"]["cpus"] is None and rows["b"]["cpu_percent"] is None
    assert found["jobs"] == found["attempts"] == 3
    assert found["cpu_ms"] == sum(row["cpu_ms"] for row in rows.values())
    assert found["unknown"] is None
    one = smtune.json("show", "w", "a[1]", "--efficiency")
    assert one["efficiency"] == [rows["a[1]"]] and one["jobs"] == 1
    assert "memory %" in smtune.ok("show", "w", "--efficiency")


def test_a_retry_asks_for_more(run):
    """Each attempt is compared with what it asked for itself."""
    found = run("""
steps:
  a:
    shell: "test $SMTUNE_ATTEMPT -gt 1 || exit 3; sleep 0.2"
    resources: {memory: 64M, time: 1m}
    retry: [{match: ["exit:3"], max: 1, delay: 0s, scale: {memory: 2}}]
""")
    [row] = found["efficiency"]
    assert row["attempts"] == 2
    assert row["memory_bytes"] == 64 << 20
    assert 0 < row["memory_percent"] < 100


def test_trials_and_what_is_unknown(smtune, write):
    smtune.ok("run", "-q", write("e.yaml", """
version: 1
executor: {name: fake, gpus: 4}
objective: {metric: loss, goal: minimize}
parameters: {x: {type: float, min: 0, max: 1}}
budget: {trials: 2}
trial: {command: "true", resources: {cpus: 1, gpus: 1}}
"""))
    found = smtune.json("show", "e", "--efficiency")
    assert [row["job"] for row in found["efficiency"]] == ["1", "2"]
    assert all(row["gpus"] == 1 and row["gpu_percent"] is None
               for row in found["efficiency"])
    assert found["unknown"].startswith("the use of GPUs")
