# SPDX-License-Identifier: GPL-3.0-or-later
"""The package as a whole: types, versions of Python, installation."""

import ast
import re
import shutil
import subprocess
import sys

import pytest

from programs import BUILD, ROOT, interpreter

PACKAGE = ROOT / "python/smtune"
SOURCES = sorted([*PACKAGE.glob("*.py"), ROOT / "python/setup.py"])
VERSIONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"]


@pytest.mark.quick
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_source_is_of_python_3_8(path):
    text = path.read_text()
    ast.parse(text, feature_version=(3, 8))
    lines = text.splitlines()
    assert lines[0] == "# SPDX-License-Identifier: GPL-3.0-or-later"
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 400


@pytest.mark.parametrize("version", ["3.8", "3.11"])
def test_the_types_are_strict(version):
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml",
         "--python-version", version, "smtune"], cwd=ROOT / "python",
        capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_of_python(version, smtune, script, write):
    """Of those on this machine, runs all parts in a run of its own."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version}")
    write("train.py", """
        import smtune
        x = smtune.params(y=1)["x"]
        for step in range(1, smtune.resource(3) + 1):
            smtune.report(step=step, loss=x / step)
            assert not smtune.should_stop()
        assert smtune.checkpoint_dir().is_dir()
        """)
    done = script("""
        import sys
        import smtune
        file = {"name": "exp", "objective": "loss",
                "parameters": {"x": {"type": "float", "min": 1, "max": 2}},
                "budget": {"trials": 2},
                "trial": {"command": [sys.executable, "train.py"]}}
        smtune.run(file, progress=False)
        run = smtune.load("exp")
        assert run.best.value == run.best.params["x"] / 3
        assert len(run.curves["loss"][1]) == 3 and run.importance == {}
        with smtune.Study(file) as study:
            study.optimize(lambda trial: trial.params["x"], 3)
            study.optimize(lambda trial: trial.params["x"], 4, parallel=2,
                           processes=True)
            assert study.ask().id == 8
        print("%d.%d" % sys.version_info[:2])
        """, python=python)
    assert (done.returncode, done.stdout) == (0, version + "\n"), done.stderr


def test_the_package_can_be_installed(smtune, tmp_path):
    """As a wheel, without a network, from a copy: building leaves files."""
    pytest.importorskip("setuptools")
    pytest.importorskip("pip")
    shutil.copytree(ROOT / "python", tmp_path / "clone/python",
                    ignore=shutil.ignore_patterns("__pycache__", "build"))
    shutil.copy(ROOT / "Makefile", tmp_path / "clone")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-index",
         "--no-deps", "--no-build-isolation", "--no-warn-script-location",
         "--target", tmp_path / "site", tmp_path / "clone/python"],
        env=smtune.environment({"PIP_NO_INPUT": "1"}),
        capture_output=True, text=True)
    if re.search(r"No module named '?wheel|invalid command 'bdist_wheel'",
                 done.stderr):
        pytest.skip("setuptools cannot build wheels here")
    assert done.returncode == 0, done.stderr
    installed = {path.name for path in (tmp_path / "site/smtune").iterdir()}
    assert installed >= {"py.typed", *(path.name for path in
                                       PACKAGE.glob("*.py"))}
    version = subprocess.run(
        [sys.executable, "-c", "import smtune; print(smtune.__version__)"],
        env=smtune.environment({"PYTHONPATH": str(tmp_path / "site")}),
        capture_output=True, text=True, check=True).stdout
    assert version.strip() == smtune.ok("version").split()[1]


@pytest.mark.parametrize("site, programs", [
    ("env/lib/python3.9/site-packages", "env/bin"), ("target", "target/bin")])
def test_the_program_of_the_wheel_comes_first(smtune, tmp_path, script, site,
                                              programs):
    """Where pip puts both: with an environment, and with --target."""
    shutil.copytree(PACKAGE, tmp_path / site / "smtune")
    (tmp_path / programs).mkdir(parents=True)
    (tmp_path / programs / "smtune").symlink_to(BUILD / "smtune")
    text = "import smtune._program\nprint(smtune._program.find())"
    for env, place in (({"PYTHONPATH": str(tmp_path / site)},
                        tmp_path / programs), ({}, BUILD)):
        done = script(text, env=env)
        assert done.stdout == f"{place / 'smtune'}\n", done.stderr
