# SPDX-License-Identifier: GPL-3.0-or-later
"""What README.md and docs/ show is true.

A fenced block is taken up by the comment on the line above it:

    <!-- file: NAME -->     its text becomes the file NAME, for later blocks
    <!-- run -->            each `$ ` line is run and must succeed; the lines
                            below it are what it prints, where `...` on a line
                            stands for anything and alone for any lines
    <!-- run: 3 -->         as before, and they must exit with 3
    <!-- not run: WHY -->   an example that a test cannot run

`<!-- needs python: PACKAGE... -->` anywhere in a page gives its commands these
packages of PyPI. They are installed below build/ once; without a network the
page is skipped. `<!-- needs package: smtune -->` gives them the package of
python/. `<!-- needs module: NAME -->` skips the page where the Python
of the tests cannot import NAME, and makes that Python the page's `python3`.

Every console and sh block needs one of these. Every yaml block that holds a
whole file (has `version:`) must be valid, and so must examples/*.yaml.
"""

import re
import subprocess
import sys

import pytest

from programs import ROOT
from pypi import python_packages

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md",
                *ROOT.glob("docs/**/*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
BLOCK = re.compile(r"^(?:<!-- (?P<note>[^\n]*) -->\n)?```(?P<kind>\w*)\n"
                   r"(?P<text>.*?)^```$", re.M | re.S)


class Block:
    def __init__(self, match, page_text):
        self.note = match["note"] or ""
        self.kind = match["kind"]
        self.text = match["text"]
        self.line = page_text.count("\n", 0, match.start()) + 1


def blocks(page):
    text = page.read_text()
    return [Block(match, text) for match in BLOCK.finditer(text)]


def commands(text):
    """(command, lines shown below it) of a console block."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and line.startswith("> "):
            command, shown = found.pop()
            found.append((command + "\n" + line[2:], shown))
        else:
            found[-1][1].append(line)
    return found


def pattern(lines):
    """A regular expression for the output that the lines stand for."""
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*")
        else:
            pieces = map(re.escape, line.rstrip().split("..."))
            parts.append(r".*".join(pieces) + r"[ \t]*\n")
    return "".join(parts)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_of_page(page, smtune, tmp_path):
    needs = re.search(r"^<!-- needs python: (.*) -->$", page.read_text(), re.M)
    if needs:
        smtune.env["PYTHONPATH"] = str(python_packages(needs[1].split()))
    if re.search(r"^<!-- needs package: smtune -->$", page.read_text(), re.M):
        smtune.env["PYTHONPATH"] = str(ROOT / "python")
    module = re.search(r"^<!-- needs module: (.*) -->$", page.read_text(), re.M)
    if module:
        pytest.importorskip(module[1])
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/python3").symlink_to(sys.executable)
        smtune.env["PATH"] = f"{tmp_path}/bin:{smtune.env['PATH']}"
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.note.startswith("file: "):
            path = tmp_path / block.note[6:].strip()
            path.write_text(block.text)
            if block.text.startswith("#!"):
                path.chmod(0o755)
        elif re.fullmatch(r"run(: \d+)?", block.note):
            status = int(block.note[5:] or 0)
            for command, shown in commands(block.text):
                result = run_command(command, smtune, tmp_path)
                told = f"{where}: {command}\n{result.stdout}"
                assert result.returncode == status, told
                assert not shown or re.fullmatch(pattern(shown),
                                                 result.stdout), told
        elif block.kind in ("console", "sh"):
            assert block.note.startswith("not run: "), \
                f"{where}: mark the block as run or not run"


def run_command(command, smtune, folder):
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=smtune.environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=120)


EXPERIMENTS = [
    pytest.param(page, block.text, id=f"{page.name}:{block.line}")
    for page in PAGES for block in blocks(page)
    if block.kind == "yaml" and re.search(r"^version:", block.text, re.M)]


@pytest.mark.parametrize("page, text", EXPERIMENTS)
def test_file_in_page_is_valid(page, text, smtune, tmp_path):
    for block in blocks(page):
        if block.note.startswith("file: "):
            (tmp_path / block.note[6:].strip()).write_text(block.text)
    (tmp_path / "page.yaml").write_text(text)
    smtune.ok("validate", "page.yaml")


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.yaml")),
                         ids=lambda path: path.name)
def test_example_is_valid(path, smtune):
    smtune.ok("validate", path)


def anchors(page):
    """What a link to a heading of a page may have behind its '#'."""
    found = set()
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        plain = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", ""))
        found.add(plain.strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, heading = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        assert not heading or heading in anchors(there), target


def test_every_page_is_in_the_index():
    index = (ROOT / "docs/index.md").read_text()
    linked = {(ROOT / "docs" / target.partition("#")[0]).resolve()
              for target in re.findall(r"\]\(([^)\s]+)\)", index)}
    for page in ROOT.glob("docs/**/*.md"):
        assert page.name == "index.md" or page in linked, page.name
