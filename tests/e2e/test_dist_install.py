# SPDX-License-Identifier: GPL-3.0-or-later
"""The script that installs an archive (packaging/install), from a folder with
archives of which the only program is a script."""

import hashlib
import os
import platform
import subprocess

import pytest

ARCH = platform.machine()


def archive_of(version):
    return f"smtune-{version}-linux-{ARCH}.tar.xz"


@pytest.fixture
def releases(tmp_path):
    """A folder with archives of two versions, and their sums."""
    folder = tmp_path / "releases"
    folder.mkdir()
    for version in ("0.9.0", "0.10.0"):
        tree = tmp_path / f"smtune-{version}-linux-{ARCH}"
        for name in ("smtune", "smtune-shim", "smtrain"):
            path = tree / "bin" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#!/bin/sh\necho {name} {version}\n")
            path.chmod(0o755)
        (tree / "share/man/man1").mkdir(parents=True)
        (tree / "share/man/man1/smtune.1").write_text(version)
        subprocess.run(["tar", "-C", tmp_path, "-cJf", folder / archive_of(version),
                        tree.name], check=True)
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
                   for path in sorted(folder.iterdir()))
    (folder / "SHA256SUMS").write_text(sums)
    return folder


@pytest.fixture
def install(root, tmp_path, releases):
    """Runs the script with the prefix tmp_path/"my home"/.local."""
    home = tmp_path / "my home"
    home.mkdir()

    def run(*words, releases=releases):
        return subprocess.run(
            [root / "packaging/install", "--from", releases, *words],
            env={**os.environ, "HOME": str(home)}, capture_output=True, text=True,
            timeout=60)
    run.prefix = home / ".local"
    return run


def version_of(prefix):
    return subprocess.run([prefix / "bin/smtune"], capture_output=True, text=True,
                          check=True).stdout.split()[1]


def test_dist_install__the_newest_comes_first_and_an_older_one_again(install):
    prefix = install.prefix
    result = install()
    assert result.returncode == 0, result.stderr
    assert f"smtune 0.10.0 is in {prefix}/bin\nAdd it to PATH" in result.stdout
    assert version_of(prefix) == "0.10.0"
    assert (prefix / "share/man/man1/smtune.1").read_text() == "0.10.0"
    assert install("--version", "0.9.0").returncode == 0
    assert version_of(prefix) == "0.9.0"
    # Both are there now: no archive is needed.
    result = install("--version", "0.10.0", releases="/nonexistent")
    assert result.returncode == 0, result.stderr
    assert version_of(prefix) == "0.10.0"
    assert sorted(path.name for path in (prefix / "share/smtune").iterdir()) == \
        ["0.10.0", "0.9.0"]


@pytest.mark.parametrize("words, message", [
    ((), "has the SHA-256"),
    (("--version", "0.10.0", "--sha256", "0" * 64), f"instead of {'0' * 64}"),
    (("--version", "1.0"), f"SHA256SUMS has no {archive_of('1.0')}"),
    (("--prefx", "/x"), "unknown option '--prefx'"),
    (("--prefix",), "--prefix needs a value"),
])
def test_dist_install__nothing_is_left_of_what_is_refused(install, releases, words,
                                                          message):
    with open(releases / archive_of("0.10.0"), "ab") as file:
        file.write(b"x")
    result = install(*words)
    assert result.returncode == 1
    assert message in result.stderr
    assert not (install.prefix / "bin").exists()
    assert list(install.prefix.glob("share/smtune/*")) == []


def test_dist_install__files_of_others_are_kept(install):
    own = install.prefix / "bin/smtune"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    result = install()
    assert result.returncode == 1
    assert f"{own} is not a link of this script; remove it first" in result.stderr
    assert own.read_text() == "mine"
