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
