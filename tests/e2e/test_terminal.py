# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing that comes from a file, a trial or a store plays with the terminal:
every command, in every format. What reaches it are colours and the movements of
the panel."""

import csv
import json
import re
import unicodedata

import pytest

pytestmark = pytest.mark.sanitized

TURNS = "\u061c\u200e\u200f" + "".join(map(chr, range(0x202a, 0x202f))) + \
    "".join(map(chr, range(0x2066, 0x206a)))
# A title, a cleared screen, a colour as one character, and text backwards.
HOSTILE = "a\x1b[2J\x1b]0;t\x07\u009b31m\u202eb\u2066\x08c"
OURS = re.compile(r"\x1b\[[0-9;:]*m|\x1b\[\d+A|\x1b\[J|\x1b\[\?25[lh]")

EXPERIMENT = r"""
version: 1
name: exp
objective: loss
parameters:
  text: {type: categorical, values: ["a\e[2J\x9b31m\u202eb", "=1+1\u2066\a"]}
search: grid
budget: {parallel: 1}
trial:
  command: [python3, trial.py, "${{ text }}"]
"""
# The second trial fails, and its last line is why.
TRIAL = f"""
import json, os, sys, time
while os.path.exists("wait"):
    time.sleep(0.01)  # until the test removes it
hostile = {HOSTILE!r}
print(hostile)
print(json.dumps({{"loss": 1, "m\u202e\u009b": 2}}))
print(hostile, file=sys.stderr)
sys.exit(sys.argv[1].startswith("="))
"""


def harmless(shown):
    """What was shown, without colours; there is nothing else in it."""
    rest = OURS.sub("", shown)
    bad = {character for character in rest
           if unicodedata.category(character) == "Cc"
           and character not in "\r\n\t" or character in TURNS + "\ufffd"}
    assert not bad, (bad, rest)
    return rest


@pytest.fixture
def path(write):
    write("trial.py", TRIAL)
    return write("exp.yaml", EXPERIMENT)


@pytest.fixture
def run(smtune, path):
    smtune("run", path, "-q")
    assert smtune.states() == ["succeeded", "failed"]


def poison(smtune):
    """Whatever is text for people in the record is hostile."""
    for column in ("run.reason", "run.note", "run.comment", "job.comment",
                   "run.spec_path", "run.work_directory", "run.revision",
                   "attempt.text", "attempt.node", "attempt.handle"):
        table, name = column.split(".")
        smtune.query(f"UPDATE {table} SET {name} = {sql(HOSTILE)}")
    tags = sql(json.dumps([HOSTILE]))
    smtune.query(f"UPDATE run SET tags = {tags}")
    smtune.query(f"UPDATE job SET tags = {tags}")


def sql(text):
    return "'" + text.replace("'", "''") + "'"


def test_plan(smtune, path):
    status, shown = smtune.on_terminal("plan", path)
    assert status == 0
    assert r"a\x1b[2J\xc2\x9b31m\xe2\x80\xaeb" in harmless(shown)
    for words in (("-o", "json"), ("--trials", 1)):
        harmless(smtune.on_terminal("plan", path, *words)[1])


def test_errors_in_a_file(smtune, write):
    write("bad.yaml", EXPERIMENT.replace("type: categorical", '"\\e[2J": 1')
          .replace("name: exp", 'name: "\\u202e\\x9b"')
          + "# \u202e\n\u202e: 1\n")
    status, shown = smtune.on_terminal("validate", "bad.yaml")
    assert status == 3
    assert r"\xe2\x80\xae" in harmless(shown)
    harmless(smtune.on_terminal("validate", "bad.yaml", "-o", "json")[1])
    name = "x\x1b[2J\u202e.yaml"
    write(name, EXPERIMENT + "nmae: 1\n")
    status, shown = smtune.on_terminal("validate", name)
    assert r"x\x1b[2J\xe2\x80\xae.yaml:" in harmless(shown)
    harmless(smtune.on_terminal("validate", "no\x1b[2J.yaml")[1])


def test_run_and_attach(smtune, path, tmp_path):
    shown = harmless(smtune.on_terminal("run", path, columns=200)[1])
    assert r"\x1b[2J" in shown and r"\xe2\x80\xae" in shown
    (tmp_path / "wait").touch()

    def during(process, shown):
        if "running" in shown:
            (tmp_path / "wait").unlink(missing_ok=True)

    smtune.ok("run", path, "--name", "again", "--detach")
    shown = harmless(smtune.on_terminal("attach", "again", columns=200,
                                        during=during)[1])
    assert r"\x1b[2J" in shown


def test_try(smtune, path):
    shown = harmless(smtune.on_terminal("try", path)[1])
    assert r"a\x1b[2J\x1b]0;t\x07\xc2\x9b31m\xe2\x80\xaeb" in shown


@pytest.mark.parametrize("words", [
    "ls", "status exp", "show exp", "show exp 1", "show exp 2", "trials exp",
    "best exp", "best exp --command", "why exp 1", "why exp 2", "tag exp",
    "note exp", "export exp", "export exp --curves",
    "export exp --format jsonl", "fsck", "replay exp", "top", "nodes",
    "notify exp", "doctor", "logs exp 1",
    "ls -o json", "show exp -o json", "show exp 2 -o json", "trials exp -o csv",
    "trials exp -o json", "ls -o csv", "note exp -o csv", "why exp 1 -o json",
    "trials nobody", "trials exp --filter nobody"])
def test_commands_that_read(smtune, run, words):
    poison(smtune)
    harmless(smtune.on_terminal(*words.split())[1])


def test_names_of_a_store_that_somebody_else_filled(smtune, run):
    poison(smtune)
    smtune.query(f"UPDATE run SET name = {sql(HOSTILE)}")
    smtune.query(f"UPDATE run_param SET name = {sql(HOSTILE)}")
    for words in ("ls", "status last", "show last", "trials last", "best last",
                  "export last", "resume last", "attach last", "logs last 1",
                  "wait last", "stop last"):
        harmless(smtune.on_terminal(*words.split())[1])


def test_json_is_the_same_text(smtune, run):
    poison(smtune)
    _, shown = smtune.on_terminal("show", "exp", "-o", "json")
    assert json.loads(harmless(shown))["reason"] == HOSTILE


def test_a_pipe_has_the_bytes_of_csv(smtune, run):
    rows = list(csv.DictReader(smtune.ok("export", "exp").splitlines()))
    assert {row["text"] for row in rows} == {
        "a\x1b[2J\u009b31m\u202eb", "'=1+1\u2066\a"}
    smtune.on_terminal("export", "exp", "-o", "out.csv")
    assert (smtune.directory / "out.csv").read_text() == \
        smtune.ok("export", "exp")


@pytest.fixture
def log(smtune, run):
    return smtune.store / "runs/exp/attempts/1-1/log"


def test_logs_have_their_colours(smtune, log):
    text = "\x1b[1;31mred\x1b[0m\t10%\r20%\n" + HOSTILE + "\n\xe9\n"
    log.write_bytes(text.encode()[:-3] + b"\xff\n")
    _, shown = smtune.on_terminal("logs", "exp", 1)
    assert shown == ("\x1b[1;31mred\x1b[0m\t10%\r20%\r\n"
                     r"a\x1b[2J\x1b]0;t\x07\xc2\x9b31m\xe2\x80\xaeb"
                     r"\xe2\x81\xa6\x08c" "\r\n\\xff\r\n")
    _, shown = smtune.on_terminal("logs", "exp", 1, "-f")
    assert r"\x1b[2J" in harmless(shown)


def test_a_colour_ends_with_the_log(smtune, log):
    log.write_bytes(b"\x1b[31mred")
    assert smtune.on_terminal("logs", "exp", 1)[1] == "\x1b[31mred\x1b[0m"


def test_raw_logs(smtune, log):
    data = HOSTILE.encode() + b"\xff\n"
    log.write_bytes(data)
    _, shown = smtune.on_terminal("logs", "exp", 1, "--raw")
    assert shown == HOSTILE + "\ufffd\r\n"
    assert smtune("logs", "exp", 1, "--raw", text=False).stdout == data
    assert smtune("logs", "exp", 1, text=False).stdout == data
