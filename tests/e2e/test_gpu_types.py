# SPDX-License-Identifier: GPL-3.0-or-later
"""`gpus: gtx1060:2`: GPUs of a type on this machine, by what nvidia-smi lists."""

import os

import pytest

from gpu_machine import run_on_gpus, write_nvidia_smi

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")

# Of a machine in a report (YoRyan/nuxhash, pull request 10), and how the manual
# of nvidia-smi has it asked for.
NVIDIA_SMI = """\
#!/bin/sh
[ "$*" = "--query-gpu=index,uuid,name --format=csv,noheader" ] || exit 2
echo listed >>listed
cat <<END
0, GPU-f3da2e71-6e43-729a-e3ae-f731ed96d50c, GeForce GTX 1060 6GB
1, GPU-15ea7bf9-1a0e-2d7f-9c62-c28e5ca1aaf1, GeForce GTX 1080 Ti
2, GPU-3dc4f2b0-6e1b-c088-c342-4367c334795a, GeForce GTX 1060 6GB
3, GPU-03ddeff3-19c4-6676-d02d-6942bd80630d, GeForce GTX 1060 6GB
4, GPU-ff3318a7-f0dd-dc57-1fb8-cc95ba35c56e, GeForce GTX 1060 6GB
END
"""
SEEN = "sleep 0.1; echo gpus $CUDA_VISIBLE_DEVICES; echo loss=1"
ITS = "(its GPUs: 4 GeForce GTX 1060 6GB, 1 GeForce GTX 1080 Ti)"


@pytest.fixture
def on_gpus(smtune):
    """Runs smtune on that machine; the result."""
    write_nvidia_smi(smtune, NVIDIA_SMI)
    for name in "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER":
        smtune.env.pop(name, None)

    def run(*words):
        return run_on_gpus(smtune, 5, *words)
    return run


def given(smtune, run, job):
    line, = [line for line in smtune.ok("logs", run, job).splitlines()
             if line.startswith("gpus ")]
    return set(line.removeprefix("gpus ").split(","))


@pytest.mark.sanitized
@pytest.mark.parametrize("gpus, seen", [
    ("gtx1060:2", {"0", "2", "3", "4"}), ("{GTX-1060: 4}", {"0", "2", "3", "4"}),
    ("1080_ti:1", {"1"})])
def test_trials_get_gpus_of_the_type(smtune, experiment, on_gpus, tmp_path,
                                     gpus, seen):
    result = on_gpus("run", experiment(
        SEEN, trials=4, parallel=4, resources=f"{{gpus: {gpus}}}"))
    assert result.returncode == 0, result.stderr
    count = int(gpus.strip("}").split(":")[1])
    for trial in range(1, 5):
        assert len(given(smtune, "exp", trial)) == count
        assert given(smtune, "exp", trial) <= seen
    # Before the first trial, for validate's warnings, and for the executor.
    assert len((tmp_path / "listed").read_text().split()) <= 3
    smtune.ok("replay", "exp")


def test_two_types_do_not_wait_for_each_other(smtune, workflow, on_gpus,
                                              tmp_path):
    """The first steps hold all of one type, and others of it wait."""
    result = on_gpus("run", workflow(f"""
        hold:
          matrix: {{i: {{range: [0, 5]}}}}
          resources: {{gpus: "1060:4"}}
          shell: "until [ -e other ]; do sleep 0.1; done; {SEEN}"
        other:
          resources: {{gpus: "1080:1"}}
          shell: "touch other; {SEEN}"
        """, parallel=8))
    assert result.returncode == 0, result.stderr
    assert given(smtune, "flow", "other") == {"1"}
    assert given(smtune, "flow", "hold[4]") == {"0", "2", "3", "4"}
    smtune.ok("fsck", "flow")


@pytest.mark.parametrize("gpus, said", [
    ("a100:1", f"needs 1 GPU of type 'a100', this machine has 0 {ITS}"),
    ("1080:2", f"needs 2 GPUs of type '1080', this machine has 1 {ITS}")])
def test_what_is_not_there_is_refused_before_the_first_trial(
        smtune, experiment, workflow, on_gpus, gpus, said):
    path = experiment(SEEN, trials=1, resources=f"{{gpus: {gpus}}}")
    assert f"gpus: {said}" in on_gpus("run", path).stderr
    result = on_gpus("validate", path)
    assert result.returncode == 0 and f"warning: gpus: {said}" in result.stderr
    path = workflow(f"a: {{command: x, resources: {{gpus: {gpus}}}}}")
    assert f"step 'a': gpus: {said}" in on_gpus("run", path).stderr
    assert f"warning: gpus: {said}" in on_gpus("validate", path).stderr
    assert smtune.json("trials", "exp") == []


def test_the_executors_gpus_are_the_first_ones(smtune, experiment, on_gpus):
    path = experiment(SEEN, trials=1, resources="{gpus: gtx1060:2}",
                      executor="{name: local, gpus: 2}")
    assert "needs 2 GPUs of type 'gtx1060', this machine has 1 " \
        "(its GPUs: 1 GeForce GTX 1060 6GB, 1 GeForce GTX 1080 Ti)" in \
        on_gpus("run", path).stderr


def test_the_environments_gpus_are_found_by_their_names(smtune, experiment,
                                                        on_gpus):
    smtune.env["CUDA_VISIBLE_DEVICES"] = "GPU-15ea7bf9,3,4"
    result = on_gpus("run", experiment(
        SEEN, trials=1, resources="{gpus: 1080:1}"))
    assert result.returncode == 0, result.stderr
    assert given(smtune, "exp", 1) == {"GPU-15ea7bf9"}


MIG = """\
#!/bin/sh
[ "$*" = -L ] || exit 2
cat <<END
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)
  MIG 1g.5gb      Device  1: (UUID: MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb)
  MIG 1g.5gb      Device  2: (UUID: MIG-2c3e53a4-0b4e-5b5a-8b5c-4ef8ea2bb6c9)
END
"""
SMALL = {"MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb",
         "MIG-2c3e53a4-0b4e-5b5a-8b5c-4ef8ea2bb6c9"}
LARGE = {"MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f"}


@pytest.fixture
def on_mig(smtune, on_gpus):
    """The same with the MIG devices of its first GPU."""
    write_nvidia_smi(smtune, MIG)
    smtune.env["CUDA_VISIBLE_DEVICES"] = ",".join(sorted(SMALL | LARGE))
    return on_gpus


@pytest.mark.parametrize("gpus, seen", [
    ("1g.5gb:1", SMALL), ("{a100_1g.5gb: 2}", SMALL), ("3g.20gb:1", LARGE),
    ("2", SMALL | LARGE)])
def test_trials_get_mig_devices_of_the_profile(smtune, experiment, on_mig,
                                               gpus, seen):
    result = on_mig("run", experiment(
        SEEN, trials=4, parallel=4, resources=f"{{gpus: {gpus}}}"))
    assert result.returncode == 0, result.stderr
    count = int(gpus.strip("}").split(":")[-1])
    for trial in range(1, 5):
        assert len(given(smtune, "exp", trial)) == count
        assert given(smtune, "exp", trial) <= seen


def test_each_rank_has_a_mig_device_of_its_own(smtune, experiment, on_mig):
    """A process of CUDA uses only the first one that it sees."""
    result = on_mig("run", experiment(
        "echo gpus $CUDA_VISIBLE_DEVICES; echo local $LOCAL_RANK; echo loss=1",
        trials=1, resources="{gpus: 1g.5gb:2, tasks: 2}"))
    assert result.returncode == 0, result.stderr
    folder = smtune.store / "runs/exp/attempts/1-1"
    said = smtune.ok("logs", "exp", 1) + (folder / "rank-1.log").read_text()
    assert {line.split()[-1] for line in said.splitlines()
            if "gpus MIG" in line} == SMALL
    assert said.count("local 0") == 2


def test_a_whole_gpu_is_no_mig_device(experiment, on_mig):
    result = on_mig("run", experiment(SEEN, trials=1,
                                      resources="{gpus: a100:1}"))
    assert "needs 1 GPU of type 'a100', this machine has 0 (its GPUs: 2 " \
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb, 1 NVIDIA A100-SXM4-40GB MIG " \
        "3g.20gb)" in result.stderr


def test_without_the_types_nothing_starts(smtune, experiment, on_gpus,
                                          tmp_path):
    path = experiment(SEEN, trials=1, resources="{gpus: gtx1060:2}")
    smtune.env["CUDA_DEVICE_ORDER"] = "FASTEST_FIRST"
    assert "need CUDA_DEVICE_ORDER=PCI_BUS_ID, not 'FASTEST_FIRST'" in \
        on_gpus("run", path).stderr
    del smtune.env["CUDA_DEVICE_ORDER"]
    program = tmp_path / "bin/nvidia-smi"
    program.write_text("#!/bin/sh\necho NVIDIA-SMI has failed; exit 9\n")
    assert "did not list the types of GPUs: \"NVIDIA-SMI has failed\"" in \
        on_gpus("run", path).stderr
    program.unlink()
    assert "no program 'nvidia-smi' in PATH" in on_gpus("run", path).stderr


def test_a_machine_without_gpus_says_so(smtune, experiment):
    path = experiment(SEEN, trials=1, resources="{gpus: a100:1}")
    result = run_on_gpus(smtune, 0, "run", path)
    assert "needs 1 GPU of type 'a100', this machine has 0 (its GPUs: none)" in \
        result.stderr
