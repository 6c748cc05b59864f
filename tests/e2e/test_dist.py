# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make dist-bin` and `make wheel` do without a network (packaging/dist): the
downloads come from mirrors in a folder, and the archive has a script for a
program. tests/dist tests the real ones."""

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile

import pytest

PATH = "pool/main/d/demo/demo_1-1.dsc"


@pytest.fixture
def fetch(root, tmp_path):
    """Fetches `demo` by a pin with that SHA-256, from mirrors none, a and b."""
    def run(sum, mirrors=("none", "a", "b")):
        (tmp_path / "pins").write_text(f"# name | path | SHA-256\n"
                                       f"demo | {PATH} | {sum}\n")
        return subprocess.run(
            [root / "packaging/dist/fetch", "demo", tmp_path / "demo"],
            env={**os.environ, "DIST_CACHE": str(tmp_path / "cache"),
                 "DIST_PINS": str(tmp_path / "pins"), "DIST_MIRRORS": " ".join(
                     name if ":" in name else f"file://{tmp_path}/{name}"
                     for name in mirrors)},
            capture_output=True, text=True, timeout=60)
    return run


def put(folder, path, data):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(data)


def test_dist__a_download_with_another_sum_is_refused(fetch, tmp_path):
    put(tmp_path / "a", PATH, b"Source: demo\n")
    result = fetch("0" * 64)
    found = hashlib.sha256(b"Source: demo\n").hexdigest()
    assert result.returncode == 1
    assert f"{PATH} has the SHA-256 {found}, and " in result.stderr
    assert list((tmp_path / "cache").iterdir()) == []
    assert not (tmp_path / "demo").exists()


def test_dist__what_no_mirror_has_is_named(fetch):
    result = fetch("0" * 64)
    assert result.returncode == 1
    assert f"no mirror has {PATH} (DIST_MIRRORS: file://" in result.stderr


def test_dist__without_a_network_it_is_not_tested(fetch):
    """77 ends `make check-dist` with success and a line."""
    result = fetch("0" * 64, mirrors=("http://127.0.0.1:1",))
    assert result.returncode == 77
    assert "no mirror can be reached (DIST_MIRRORS: http" in result.stderr


def test_dist__files_are_compared_with_the_dsc(fetch, tmp_path):
    """Its files are those of two mirrors, and one of them is not as it was."""
    tar = tmp_path / "demo_1.tar"
    (tmp_path / "demo-1/debian").mkdir(parents=True)
    (tmp_path / "demo-1" / "README").write_text("demo\n")
    subprocess.run(["tar", "-C", tmp_path, "-czf", f"{tar}.gz", "demo-1"],
                   check=True)
    data = (tmp_path / "demo_1.tar.gz").read_bytes()
    lines = "".join(
        f"{name}:\n {kind(data).hexdigest()} {len(data)} demo_1.tar.gz\n"
        for name, kind in (("Checksums-Sha1", hashlib.sha1),
                           ("Checksums-Sha256", hashlib.sha256),
                           ("Files", hashlib.md5)))
    dsc = (f"Format: 3.0 (native)\nSource: demo\nBinary: demo\n"
           f"Architecture: any\nVersion: 1\nMaintainer: A <a@b.org>\n"
           f"{lines}").encode()
    put(tmp_path / "a", PATH, dsc)
    put(tmp_path / "b", "pool/main/d/demo/demo_1.tar.gz", data)
    result = fetch(hashlib.sha256(dsc).hexdigest())
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "demo" / "README").read_text() == "demo\n"

    (tmp_path / "cache" / "demo_1.tar.gz").write_bytes(data[:-1] + b"x")
    result = fetch(hashlib.sha256(dsc).hexdigest())
    assert result.returncode == 1
    assert "dpkg-source refuses" in result.stderr
    assert "checksum" in result.stderr


def test_dist__without_qemu_nothing_is_tested_for_arm(root, tmp_path):
    """77 ends `make check-arm` with success and a line."""
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    result = subprocess.run(
        [root / "tests/arm", "archive", "wheel", "folder"], env={"PATH": str(tmp_path)},
        capture_output=True, text=True, timeout=60)
    assert result.returncode == 77
    assert result.stderr == "arm: there is no qemu-aarch64 (package qemu-user-static)\n"


@pytest.fixture
def wheel(root, tmp_path):
    """Makes the wheel of an archive with one program and one library."""
    pytest.importorskip("setuptools")
    pytest.importorskip("wheel")
    pytest.importorskip("pip")
    archive = tmp_path / "smtune-0.1.0-linux-x86_64.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        for name, text in (("README", "read me"), ("bin/smtune", "#!/bin/sh\n"),
                           ("libexec/smtune/libcurl.so.4", "ELF")):
            info = tarfile.TarInfo(f"smtune-0.1.0-linux-x86_64/{name}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))

    def make(folder):
        path = folder / "smtune-0.1.0-py3-none-manylinux_2_28_x86_64.whl"
        folder.mkdir()
        subprocess.run(
            [sys.executable, root / "packaging/dist/wheel", archive, path],
            check=True, timeout=100)
        return path
    return make


def test_dist__a_wheel_has_the_programs(wheel, tmp_path):
    path = wheel(tmp_path / "a")
    assert path.read_bytes() == wheel(tmp_path / "b").read_bytes()
    # pip compares the files with those of RECORD, and the tag with this machine.
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps",
         "--target", tmp_path / "site", path], check=True, timeout=100)
    site = tmp_path / "site"
    assert os.access(site / "bin/smtune", os.X_OK)
    assert (site / "libexec/smtune/libcurl.so.4").read_text() == "ELF"
    assert (site / "smtune/__init__.py").exists()
    assert not list(site.rglob("README"))


def test_dist__the_date_is_that_of_the_sources(root, tmp_path):
    """Of the commit; of CHANGES.md in a copy without git, also within another
    repository; or SOURCE_DATE_EPOCH."""
    tree = tmp_path / "outer" / "smtune"
    (tree / "packaging").mkdir(parents=True)
    shutil.copy(root / "packaging/source-date", tree / "packaging")
    (tree / "CHANGES.md").write_text("none\n")
    os.utime(tree / "CHANGES.md", (1000, 1000))

    def date(**env):
        return int(subprocess.run(
            [tree / "packaging/source-date"], env={"PATH": os.environ["PATH"], **env},
            capture_output=True, text=True, check=True).stdout)

    def commit(folder, when):
        for words in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b",
                                       "commit", "-q", "--allow-empty", "-m", "x"]):
            subprocess.run(["git", *words], cwd=folder, check=True,
                           env={**os.environ, "GIT_COMMITTER_DATE": f"@{when} +0000",
                                "GIT_AUTHOR_DATE": f"@{when} +0000"})

    assert date() == 1000
    commit(tmp_path / "outer", 2000)
    assert date() == 1000
    commit(tree, 3000)
    assert date() == 3000
    assert date(SOURCE_DATE_EPOCH="4000") == 4000
