# SPDX-License-Identifier: GPL-3.0-or-later
"""`make install` and `make uninstall`, into a folder of the test's own."""

import pathlib
import subprocess

import pytest

from programs import MAKE, SHIPPED

# One after the other: they share a build folder.
pytestmark = pytest.mark.xdist_group("make")


@pytest.fixture
def make(root):
    def run_make(*words):
        result = subprocess.run([*MAKE, "-C", root, *words], text=True,
                                capture_output=True, timeout=170)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout
    return run_make


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")
            if not path.is_dir()}


def test_install_and_uninstall(make, tmp_path):
    make("install", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    files = files_below(tmp_path)
    assert {
        "usr/bin/smtune",
        "usr/bin/smtune-shim",
        "usr/bin/smtrain",
        "usr/share/man/man1/smtune.1",
        "usr/share/man/man1/smtrain.1",
        "usr/share/man/man5/smtune-experiment.5",
        "usr/share/man/man5/smtune-config.5",
        "usr/share/man/man5/smtune-workflow.5",
        "usr/share/bash-completion/completions/smtune",
        "usr/share/zsh/site-functions/_smtune",
        "usr/share/fish/vendor_completions.d/smtune.fish",
        "usr/share/doc/smtune/README.md",
        "usr/share/doc/smtune/LICENSE",
        "usr/share/doc/smtune/index.md",
        "usr/share/doc/smtune/decisions/01-claim-files.md",
        "usr/share/doc/smtune/examples/quickstart.yaml",
    } <= files
    make("uninstall", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    assert files_below(tmp_path) == set()


# Debian has both, and they exclude each other: environment-modules, and Lmod.
MODULES = [pathlib.Path("/usr/share") / name / "init/bash"
           for name in ("modules", "lmod/lmod")]


def test_module_file_finds_the_programs_beside_it(make, tmp_path):
    """Also after the folder was moved."""
    init = next(filter(pathlib.Path.exists, MODULES), None)
    if not init:
        pytest.skip("there is no environment-modules and no Lmod")
    make("install", f"PREFIX={tmp_path}/first")
    (tmp_path / "first").rename(tmp_path / "moved")
    result = subprocess.run(
        ["bash", "--norc", "-c", f"""
            . {init} && module use {tmp_path}/moved/share/modulefiles &&
            module load smtune && command -v smtune && smtune version &&
            module unload smtune && ! command -v smtune"""],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}, text=True,
        capture_output=True, timeout=60)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == f"{tmp_path}/moved/bin/smtune"
    version, = (tmp_path / "moved/share/modulefiles/smtune").iterdir()
    assert lines[1].split() == ["smtune", version.name]
    assert len(lines) == 2


def test_directories_can_be_chosen(make, tmp_path):
    make("install", f"PREFIX={tmp_path}/p", f"bindir={tmp_path}/b",
         f"mandir={tmp_path}/m")
    assert (tmp_path / "b/smtune").exists()
    assert (tmp_path / "m/man1/smtune.1").exists()
    assert not (tmp_path / "p/bin").exists()
    # Its programs are not where it would look for them.
    assert not (tmp_path / "p/share/modulefiles").exists()


def test_installed_program_runs_trials(make, smtune, experiment, tmp_path):
    make("install", f"PREFIX={tmp_path}/p")
    path = experiment(name="installed", trials=2)
    result = subprocess.run(
        [tmp_path / "p/bin/smtune", "run", path], cwd=tmp_path, text=True,
        env=smtune.environment({"PATH": "/usr/bin:/bin"}),
        capture_output=True, timeout=60)
    assert result.returncode == 0, result.stderr
    rows = smtune.json("trials", "installed")
    assert [row["state"] for row in rows] == ["succeeded"] * 2


def test_manual_pages_have_no_mistakes(make):
    make("all")
    pages = sorted((SHIPPED / "man").iterdir())
    assert len(pages) >= 3
    result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages],
                            capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr
