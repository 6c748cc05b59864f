# SPDX-License-Identifier: GPL-3.0-or-later
"""smtune show RUN --efficiency: asked for against used."""

import os

import pytest

import gpu_machine

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


# ---- GPUs ----

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")

GPUS = ("GPU-004f693d-767b-b215-b4a9-a18af0ffd643",
        "GPU-86fe97db-bf54-a056-4e8d-9b07e1a298e7")


@pytest.fixture
def nvidia_smi(smtune, tmp_path):
    """nvidia_smi([line, ...]): a program that notes how it was called and writes
    the lines again and again."""
    def put(lines, last="sleep 0.02"):
        text = "\n".join(f"echo '{line}'" for line in lines)
        gpu_machine.write_nvidia_smi(smtune, f"""\
#!/bin/sh
echo "$@" >>'{tmp_path}/called'
while true; do
{text}
{last}
done
""")
    return put


@pytest.fixture
def run_on_gpus(smtune, write):
    def make(commands, gpus=1, parallel=2):
        path = write("w.yaml", on_two_gpus(commands, gpus, parallel))
        result = gpu_machine.run_on_gpus(smtune, 2, "run", "-q", path)
        assert result.returncode == 0, result.stderr
        return smtune.json("show", "w", "--efficiency")
    return make


def on_two_gpus(commands, gpus, parallel):
    steps = "".join(f"""
  {name}:
    shell: "{command}"
    resources: {{gpus: {gpus}}}
""" for name, command in commands.items())
    return f"version: 1\nparallel: {parallel}\nsteps:{steps}"


@needs_root
def test_use_of_gpus(run_on_gpus, nvidia_smi, smtune, tmp_path):
    """Each attempt gets the figures of its own GPU, by one nvidia-smi."""
    nvidia_smi([f"0, {GPUS[0]}, 90, 12000", f"1, {GPUS[1]}, 0, 3"])
    found = run_on_gpus({
        "a": "sleep 1; echo $CUDA_VISIBLE_DEVICES >a",
        "b": "sleep 1; echo $CUDA_VISIBLE_DEVICES >b"})
    rows = {row["job"]: row for row in found["efficiency"]}
    of_gpu = {(tmp_path / name).read_text().strip(): rows[name]
              for name in rows}
    assert of_gpu["0"]["gpu_percent"] == pytest.approx(90, abs=0.2)
    assert of_gpu["0"]["gpu_memory_bytes"] == 12000 << 20
    assert of_gpu["1"]["gpu_percent"] == 0
    assert of_gpu["1"]["gpu_memory_bytes"] == 3 << 20
    assert found["gpu_percent"] == pytest.approx(45, abs=5)
    assert found["unknown"] is None
    smtune.ok("fsck", "w")
    smtune.ok("replay", "w")
    [call] = (tmp_path / "called").read_text().splitlines()
    assert call == ("--query-gpu=index,uuid,utilization.gpu,memory.used "
                    "--format=csv,noheader,nounits -l 5")


@needs_root
def test_several_gpus_of_one_trial(run_on_gpus, nvidia_smi):
    nvidia_smi([f"0, {GPUS[0]}, 100, 12000", f"1, {GPUS[1]}, 20, 80000"])
    found = run_on_gpus({"a": "sleep 1"}, gpus=2)
    [row] = found["efficiency"]
    assert row["gpus"] == 2
    assert row["gpu_percent"] == pytest.approx(60, abs=1)
    assert row["gpu_memory_bytes"] == 80000 << 20
    assert found["gpu_ms"] == pytest.approx(1.2 * row["longest_ms"], rel=0.03)


@needs_root
@pytest.mark.parametrize("lines", [
    ["No devices were found"],
    [f"0, {GPUS[0]}, [N/A], [N/A]", f"1, {GPUS[1]}, ERR!, ERR!"],
    [f"0, {GPUS[0]}, [Not Supported], [Not Supported]"] * 2,
    ["x" * 5000],
], ids=["none", "n/a", "not-supported", "long"])
def test_use_of_gpus_is_unknown(run_on_gpus, nvidia_smi, lines):
    nvidia_smi(lines)
    found = run_on_gpus({"a": "sleep 0.5"})
    [row] = found["efficiency"]
    assert row["gpu_percent"] is None and row["gpu_memory_bytes"] is None
    assert found["unknown"].startswith("the use of GPUs")


@needs_root
def test_memory_alone_with_mig(run_on_gpus, nvidia_smi):
    nvidia_smi([f"0, {GPUS[0]}, [N/A], 36537", f"1, {GPUS[1]}, [N/A], 36537"])
    found = run_on_gpus({"a": "sleep 0.5"})
    [row] = found["efficiency"]
    assert row["gpu_percent"] is None
    assert row["gpu_memory_bytes"] == 36537 << 20
    assert found["unknown"].startswith("the use of GPUs")


@needs_root
@pytest.mark.parametrize("end", ["exit 9", "sleep 1000"])
def test_nvidia_smi_that_fails_or_hangs_disturbs_nothing(
        run_on_gpus, nvidia_smi, smtune, tmp_path, end):
    nvidia_smi([], last=end)
    found = run_on_gpus({"a": "sleep 0.3", "b": "sleep 0.3", "c": "exit 0"},
                        parallel=1)
    assert found["jobs"] == 3
    assert (tmp_path / "called").read_text().count("\n") == 1
    assert not smtune.left_behind()


@needs_root
def test_trials_that_share_a_gpu(run_on_gpus, nvidia_smi):
    nvidia_smi([f"0, {GPUS[0]}, 90, 12000", f"1, {GPUS[1]}, 90, 12000"])
    found = run_on_gpus({"a": "sleep 0.3"}, gpus=0.5)
    assert found["efficiency"][0]["gpu_percent"] is None
    assert found["unknown"] == "the use of GPUs that trials share"
