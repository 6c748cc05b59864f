# SPDX-License-Identifier: GPL-3.0-or-later
"""tests/lint/recipes accepts the texts that package smtune and finds each place
where one of them disagrees with the version, the table of packages or the tree."""

import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VERSION = re.search(r"^VERSION +:= (.*)$", (ROOT / "Makefile").read_text(), re.M)[1]

# A text of packages, what is changed in it, and what the complaint says.
SPACK = "packaging/spack/spack_repo/smtune/packages/smtune/package.py"
RECIPES = [
    ("Makefile", f":= {VERSION}", ":= 99.2.0",
     f"packaging/debian/changelog: version {VERSION} is not 99.2.0"),
    ("packaging/packages", "pkg zlib ", "pkg zlib-ng ",
     "packaging/packages: 'zlib' is either no row here or none of PKGS"),
    ("packaging/packages", "zlib 1.2.9 ", "zlib 1.2.11",
     "packaging/rpm/smtune.spec: lacks 'pkgconfig(zlib) >= 1.2.11'"),
    ("packaging/debian/control", " libyaml-dev,\n", "",
     "packaging/debian/control: lacks 'libyaml-dev' (packaging/packages:"),
    ("packaging/rpm/smtune.spec", "(gsl) >= 2.5", "(gsl) >= 2.4",
     "smtune.spec: 'pkgconfig(gsl) >= 2.4' is not in packaging/packages"),
    ("packaging/rpm/smtune.spec", f"developers - {VERSION}-1", "developers - 0.0.9-1",
     f"packaging/rpm/smtune.spec: version 0.0.9 is not {VERSION}"),
    ("packaging/conda/recipe.yaml", "    - libcurl\n    - open", "    - open",
     "packaging/conda/recipe.yaml: lacks 'libcurl'"),
    ("packaging/conda/recipe.yaml", "_platform }} >=2.28", "_platform }} >=2.17",
     "packaging/conda/recipe.yaml: lacks 'sysroot_${{ target_platform }} >=2.28'"),
    (SPACK, f'version("{VERSION}")', "", f"{SPACK}: has no version"),
    (SPACK, '"pcre2@10.30:"', '"pcre2"', f"{SPACK}: lacks 'pcre2@10.30:'"),
    ("packaging/nix/package.nix", "  nettle,\n", "",
     "packaging/nix/package.nix: lacks 'nettle'"),
    ("packaging/nix/package.nix", "    nettle\n", "",
     "'nettle' is either no argument or no input"),
    ("packaging/nix/package.nix", f'version = "{VERSION}"', 'version = "0.1"',
     f"packaging/nix/package.nix: version 0.1 is not {VERSION}"),
    ("packaging/docker/Dockerfile", "cp -r packaging/debian", "cp -r packaging/deb",
     "packaging/docker/Dockerfile: there is no packaging/deb"),
    ("packaging/docker/Dockerfile", "dpkg-buildpackage -b -us -uc", "(dpkg",
     "packaging/docker/Dockerfile: sh: "),
    ("packaging/apptainer/smtune.def", "make dist\n", "make source\n",
     "packaging/apptainer/smtune.def: make has no goal 'source'"),
    ("CITATION.cff", "title: smtune\n", "titel: smtune\n", "unknown key 'titel'"),
    ("CITATION.cff", "title: smtune\n", "", "CITATION.cff: missing key 'title'"),
    ("CHANGES.md", f"## {VERSION} ", "## 99.2.0 ",
     f"CHANGES.md: version 99.2.0 is not {VERSION}"),
    ("docs/install.md", f"--version {VERSION}", "--version 0.0.9",
     f"docs/install.md: version 0.0.9 is not {VERSION}"),
    ("docs/install.md", f"module load smtune/{VERSION}", "module load smtune/0.0.9",
     f"docs/install.md: version 0.0.9 is not {VERSION}"),
    (".github/workflows/check.yml", "run: .ci/run", "run: make check",
     "check.yml: no step runs .ci/run"),
]


def run(root):
    return subprocess.run([HERE / "recipes", root], capture_output=True, text=True,
                          timeout=60)


@pytest.fixture(scope="session")
def recipes(tmp_path_factory):
    """What tests/lint/recipes reads of the real tree."""
    root = tmp_path_factory.mktemp("recipes")
    for name in ("packaging", ".github", ".ci", "dashboard/web/LICENSES", "Makefile",
                 "packages.mk", "training/training.mk", "dashboard/dashboard.mk",
                 "tests/tests.mk", "tests/bench/bench.mk", "tests/cuda/cuda.mk",
                 "CITATION.cff", "CHANGES.md", "LICENSE", "docs/install.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name)
        else:
            shutil.copy(ROOT / name, root / name)
    return root


def test_recipes_of_the_tree_pass(recipes):
    result = run(recipes)
    assert result.returncode == 0, result.stdout + result.stderr


def complaints_of(recipes, name, old, new):
    """What recipes prints with `new` in place of `old` in a file; without the
    file if `new` is None."""
    path = recipes / name
    text = path.read_text()
    assert old in text
    if new is None:
        path.unlink()
    else:
        path.write_text(text.replace(old, new, 1))
    result = run(recipes)
    path.write_text(text)
    assert result.returncode != 0
    return result.stderr


@pytest.mark.parametrize("name, old, new, complaint", RECIPES)
def test_recipe_that_disagrees_is_found(name, old, new, complaint, recipes):
    found = complaints_of(recipes, name, old, new)
    assert complaint in re.sub(r"(?m)^(\S+):\d+:", r"\1:", found)


def test_complaint_about_a_recipe_has_its_line(recipes):
    name = "packaging/debian/control"
    line = (recipes / name).read_text().split(" libyaml-dev,\n")[0].count("\n") + 2
    found = complaints_of(recipes, name, " libyaml-dev,\n",
                          " libyaml-dev,\n a-dev,\n")
    assert found == f"{name}:{line}: 'a-dev' is not in packaging/packages\n"


def test_recipe_that_is_removed_is_found(recipes):
    found = complaints_of(recipes, "packaging/rpm/smtune.spec", "", None)
    assert "packaging/rpm/smtune.spec:1: there is no such file\n" in found
