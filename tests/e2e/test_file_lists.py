# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists too long for a command: ${{ files(...) }}, with real programs."""

import os

import pytest

from files import workflow

pytestmark = pytest.mark.sanitized


def lines(smtune, name):
    return (smtune.directory / name).read_text().splitlines()


@pytest.mark.quick
def test_lists_of_copies_and_patterns(smtune, write):
    """Copies, a matrix, a pattern, one path and a list of values."""
    for name in ("a b.csv", "c.csv", "[d].csv"):
        write(name, name + "\n")
    write("w.yaml", workflow(r"""
    part:
      matrix: {n: {range: [1, 3]}}
      shell: echo ${{ n }} >'p '${{ copy }}
      outputs: {file: "p ${{ copy }}"}
    list:
      shell: "echo 'names=[\"x\", null, 7]' >>\"$SMTUNE_OUTPUTS\"; touch one"
      outputs: {names: , one: one, odd: "[d].csv"}
    use:
      needs: [part, list]
      env: {ONE: "${{ files(list.one) }}"}
      shell: |
        xargs -d '\n' cat <${{ files(part.file) }} >sum
        cat ${{ files('*.csv') }} >globbed
        cat ${{ files(list.names) }} >names
        cat "$ONE" ${{ files(list.odd) }} >one
    null:
      needs: part
      command: [sh, -c, 'xargs -0 cat <"$1" >nul; tr "\0" ";" <"$1" >raw', sh,
                "${{ files0(part.file) }}"]
    words:
      needs: part
      command: wc -c --files0-from=${{ files0(part.file) }}
    """, name="w"))
    smtune.ok("run", "w.yaml")
    folder = str(smtune.directory)
    assert lines(smtune, "sum") == ["1", "2", "3"]
    assert lines(smtune, "nul") == ["1", "2", "3"]
    assert lines(smtune, "raw") == [
        "".join(f"{folder}/p {i};" for i in range(3))]
    assert lines(smtune, "globbed") == [
        f"{folder}/{name}" for name in ("[d].csv", "a b.csv", "c.csv")]
    assert lines(smtune, "names") == ["x", "7"]
    assert lines(smtune, "one") == [f"{folder}/one", f"{folder}/[d].csv"]
    assert smtune.ok("logs", "w", "words").splitlines()[-1].split() == [
        "6", "total"]
    assert "/lists/" in smtune.ok("show", "w", "words")
    smtune.ok("replay", "w")
    smtune.ok("fsck")


def test_more_than_a_command_may_have(smtune, write):
    """300,000 bytes of one word are more than the kernel takes."""
    write("w.yaml", workflow("""
    list:
      shell: "python3 -c 'import json; print(\\"all=\\" + json.dumps([\\"n\\" * 90 + str(i) for i in range(4000)]))' >>$SMTUNE_OUTPUTS"
      outputs: {all: }
    good: {needs: list, shell: "wc -l <${{ files(list.all) }} >count"}
    bad: {needs: list, may_fail: true, command: "echo ${{ list.all }}"}
    """, name="w"))
    smtune.ok("run", "w.yaml")
    assert lines(smtune, "count") == ["4000"]
    [bad] = smtune.json("trials", "w", "--step", "bad")
    assert bad["state"] == "failed"


def test_what_cannot_be_listed(smtune, write):
    """Each fails its step alone, with a sentence."""
    write("w.yaml", workflow(r"""
    bad:
      shell: printf x >"$(printf 'a\nb')"
      matrix: {n: [1]}
      outputs: {file: "a\nb"}
    lines: {needs: bad, command: "cat ${{ files(bad.file) }}"}
    nuls: {needs: bad, shell: "xargs -0 cat <${{ files0(bad.file) }} >ok"}
    none: {command: "cat ${{ files('*.nothing') }}"}
    empty: {allow_empty: true, shell: "wc -c <${{ files('*.nothing') }} >zero"}
    """, name="w"))
    assert smtune("run", "w.yaml").returncode == 1
    assert lines(smtune, "ok") == ["x"]
    assert lines(smtune, "zero") == ["0"]
    assert "use files0()" in smtune.ok("show", "w", "lines")
    assert "no path in '*.nothing'" in smtune.ok("show", "w", "none")


def test_places(smtune, write):
    """Only where an attempt's own folder is known."""
    write("w.yaml", workflow("""
    a: {command: "true", outputs: {x: out}}
    b: {needs: a, command: "true", outputs: {y: "${{ files(a.x) }}"}}
    """, name="w"))
    result = smtune("validate", "w.yaml")
    assert result.returncode == 3
    assert "only allowed in 'command', 'shell' and 'env'" in result.stderr
    write("e.yaml", "version: 1\nparameters: {lr: [1, 2]}\nobjective: x\n"
          "trial: {command: \"./x ${{ files(lr) }}\"}\n")
    result = smtune("validate", "e.yaml")
    assert result.returncode == 3
    assert "steps of a workflow" in result.stderr


def test_a_cached_step_sees_contents_and_names(smtune, write):
    """The list of names and what is in the files are in the key."""
    write("in", "1\n")
    write("w.yaml", workflow("""
    part:
      matrix: {n: [1, 2]}
      shell: cat in >part-${{ n }}
      outputs: {file: "part-${{ n }}"}
    sum:
      needs: part
      shell: echo ran >>log; xargs cat <${{ files(part.file) }} >sum
      outputs: {sum: sum}
      cache: true
    """, name="w"))
    log = smtune.directory / "log"
    for text, count in (("1\n", 1), ("1\n", 1), ("2\n", 2)):
        write("in", text)
        smtune.ok("run", "w.yaml")
        assert log.read_text().count("ran") == count
    assert os.path.getsize(smtune.directory / "sum") == 4
