# SPDX-License-Identifier: GPL-3.0-or-later
"""The Makefile on machines that lack things."""

import os
import subprocess

import pytest

from programs import ROOT


def make(*words, path=None):
    env = {**os.environ, "MAKEFLAGS": ""}
    if path:
        env["PATH"] = str(path)
    return subprocess.run(
        ["/usr/bin/make", "--no-print-directory", "-C", ROOT, *words],
        env=env, capture_output=True, text=True, timeout=120)


@pytest.fixture
def bare_path(tmp_path):
    """A PATH with no compiler, no pkg-config, no dpkg; and a fake apt-get."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "awk", "sed", "grep", "find", "mkdir", "echo", "cmp",
                 "id", "env"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    scripts = {"apt-get": 'echo "apt-get $*"', "sudo": 'exec "$@"'}
    for name, command in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{command}\n")
        (folder / name).chmod(0o755)
    return folder


def test_help_lists_targets_without_a_compiler(bare_path):
    result = make("help", path=bare_path)
    assert result.returncode == 0
    assert result.stderr == ""
    for target in ("quickstart", "check", "install", "bench", "check-e2e"):
        assert f"  make {target} " in result.stdout


def test_missing_libraries_are_told(bare_path, tmp_path):
    result = make("all", f"B={tmp_path}/b", f"S={tmp_path}/s", path=bare_path)
    assert result.returncode != 0
    assert "'make deps' installs them" in result.stdout


def test_deps_says_what_it_installs_and_installs_it(bare_path):
    result = make("deps", path=bare_path)
    assert result.returncode == 0, result.stderr
    said, update, install = result.stdout.splitlines()
    assert said.startswith("These Debian packages are missing")
    assert "libuv1-dev" in said and "gcc" in said.split()
    assert update == "apt-get -q update"
    assert install.startswith("apt-get -q -y --no-install-recommends install ")
    assert said.split(": ")[1] == install.split(" install ")[1]


def test_deps_is_quiet_where_all_is_there():
    result = make("deps-test")
    assert result.returncode == 0
    assert result.stdout == ""


@pytest.fixture
def check_cuda(bare_path, tmp_path):
    """check_cuda(test, NAME=command...): tests/cuda/run where these programs
    are there besides, and make builds that test."""
    def run(test, **programs):
        (tmp_path / "build" / "tests" / "unit").mkdir(parents=True)
        built = tmp_path / "build/tests/unit/test_cuda_ops"
        for name in ("bash", "cat"):
            (bare_path / name).symlink_to(f"/usr/bin/{name}")
        for name, command in {"built": test, **programs}.items():
            path = bare_path / name.replace("_", "-")
            path.write_text(f"#!/bin/sh\n{command}\n")
            path.chmod(0o755)
        built.symlink_to(bare_path / "built")
        return subprocess.run(
            [ROOT / "tests/cuda/run", tmp_path / "build"],
            env={"PATH": str(bare_path), "NVCC": "nvcc", "MAKE": "make"},
            capture_output=True, text=True, timeout=60)
    return run


GPU = {"nvidia_smi": 'echo "GPU 0: of some kind"', "make": "exit 0"}


def test_the_gpu_tests_are_skipped_without_a_gpu(check_cuda):
    result = check_cuda("exit 1", nvidia_smi="exit 9")
    assert result.returncode == 0
    assert result.stdout == ("check-cuda: skipped: nvidia-smi -L shows no "
                             "GPU\n")


def test_the_gpu_tests_go_on_under_compute_sanitizer(check_cuda):
    result = check_cuda("echo passed", **GPU,
                        compute_sanitizer='echo "with $2"; "$5"')
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("check-cuda: natively\npassed\n")
    assert result.stdout.count("passed") == 5
    for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
        assert f"with {tool}\n" in result.stdout


def test_what_compute_sanitizer_finds_fails(check_cuda):
    result = check_cuda("echo passed", **GPU,
                        compute_sanitizer='[ "$2" != racecheck ]')
    assert result.returncode == 1


def test_the_gpu_tests_fail_where_they_find_no_device(check_cuda):
    result = check_cuda('echo "no device (odd): on the processor"', **GPU)
    assert result.returncode == 1
    assert "the tests found no device" in result.stderr


def test_the_gpu_tests_without_compute_sanitizer(check_cuda):
    result = check_cuda("echo passed", **GPU)
    assert result.returncode == 0
    assert result.stdout.endswith(
        "passed\ncheck-cuda: skipped: the same under compute-sanitizer, which "
        "is not installed\n")
