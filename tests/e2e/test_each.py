# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune each LINES -- COMMAND`: what it reads, what it makes of a command, and
what it prints. How its runs continue is in test_each_again.py."""

import json
import os
import re
import shutil
import signal
import subprocess

import pytest

from programs import wait_until

# Prints its arguments as a JSON list.
ARGV = ("--", "python3", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))")
HOSTILE = [
    "plain", "two words", " leading", "trailing ", "-rf", "--", "$(touch no)",
    "`touch no`", "a;touch no", "a|b&c>d<e", "it's", 'a"b', "a\\b", "\\n", "*",
    "?[x]", "~", "$HOME", "${HOME}", "${{ x }}", "$${{ x }}", "{}", "{{}}", "!!",
    "#x", "%s%n", "\u00e4\u6f22\U0001f600", "tab\there", "\x1b[31m", "\x7f",
    "=", "a=b", "'", '"', "null", "true", "1.10", "007", "1e5", "no: yes",
]


@pytest.fixture
def lines(smtune):
    """lines(item ...): the file `lines`, with one in each line."""
    def put(*items, name="lines", end="\n"):
        path = smtune.directory / name
        path.write_bytes(b"".join((item if isinstance(item, bytes)
                                   else item.encode()) + end.encode()
                                  for item in items))
        return path
    return put


def json_preview(smtune, *words):
    shown = smtune.ok("each", "-o", "json", "--dry-run", *words)
    return [row["command"] for row in json.loads(shown)]


def proved(smtune, run="last"):
    smtune.ok("replay", run)
    smtune.ok("fsck")


# ---- a whole run

@pytest.mark.quick
@pytest.mark.sanitized
def test_a_command_for_each_line(smtune, lines):
    lines("a b", "c")
    result = smtune("each", "lines", "-n", "it", "--", "echo", "got", "{}")
    assert result.returncode == 0
    assert sorted(result.stdout.splitlines()) == ["got a b", "got c"]
    assert result.stderr == "smtune: run 'it': 2 lines succeeded\n"
    assert [job["job"] for job in smtune.json("trials", "it")] == \
        ["each[0]", "each[1]"]
    assert smtune.ok("logs", "it", "2") == "got c\n"
    shown = smtune.json("show", "it", "1")
    assert shown["matrix"] == {"line": "a b"}
    assert shown["command"] == "echo got 'a b'"
    proved(smtune, "it")


def test_the_name_of_a_run(smtune, lines):
    lines("a")
    smtune.ok("each", "lines", "--", "/bin/echo")
    smtune.ok("each", "lines", "--shell", "--", "echo {} | cat")
    smtune.ok("each", "lines", "--", "env", "{}=b")
    (smtune.directory / "a").write_text("#!/bin/sh\n")
    (smtune.directory / "a").chmod(0o755)
    smtune.ok("each", "lines", "--", "./{}")
    names = [run["name"] for run in smtune.json("ls")]
    assert all(re.fullmatch(r"(echo|env|each)-[0-9a-f]{8}", name)
               for name in names)
    assert len(set(names)) == 4


@pytest.mark.parametrize("words, printed", [
    (["echo", "{}"], "echo a/b.tar.gz"),
    (["echo"], "echo a/b.tar.gz"),
    (["echo", "{.}", "{/}", "{//}", "{/.}"], "echo a/b.tar b.tar.gz a b.tar"),
    (["echo", "{#}/{}"], "echo 1/a/b.tar.gz"),
    (["echo", "{x}", "{print $1}", "\\{}"],
     "echo '{x}' '{print $1}' '{}' a/b.tar.gz"),
    (["echo", "${}", "$"], "echo '$a/b.tar.gz' '$'"),
    (["echo", "${{ line }}", "{}"], "echo '${{ line }}' a/b.tar.gz"),
    (["{}", "x"], "a/b.tar.gz x"),
])
def test_placeholders(smtune, lines, words, printed):
    lines("a/b.tar.gz")
    assert json_preview(smtune, "lines", "--", *words) == [printed]
    assert smtune.ok("each", "lines", "--dry-run", "--", *words) == \
        printed + "\n"
    assert not smtune.store.exists()


# ---- hostile texts

def test_words_are_as_they_are(smtune, lines):
    lines(*HOSTILE)
    out = smtune.ok("each", "lines", "-k", *ARGV, "{}", "x{}", "${}")
    assert [json.loads(line) for line in out.splitlines()] == \
        [[item, "x" + item, "$" + item] for item in HOSTILE]
    assert not (smtune.directory / "no").exists()
    proved(smtune)


def test_words_of_a_script_are_as_they_are(smtune, lines):
    lines(*HOSTILE)
    out = smtune.ok("each", "lines", "-k", "--shell", "--",
                    "printf '%s\\n' {} x{} | cat")
    assert out == "".join(f"{item}\nx{item}\n" for item in HOSTILE)
    assert not (smtune.directory / "no").exists()


def test_a_hostile_command(smtune, lines):
    """Its own words are as they are, too."""
    lines("1")
    words = [word for word in HOSTILE if "{}" not in word and word != "{{}}"]
    out = smtune.ok("each", "lines", *ARGV, *words)
    assert json.loads(out) == [*words, "1"]
    again = smtune.ok("show", "last", "--file")
    (smtune.directory / "again.yaml").write_text(again)
    smtune.ok("run", "-q", "again.yaml", "-n", "again")
    assert json.loads(smtune.ok("logs", "again", "1")) == [*words, "1"]


def test_a_placeholder_within_quotes_is_refused(smtune, lines):
    lines("1")
    result = smtune("each", "lines", "--shell", "--", 'echo "{}"')
    assert result.returncode == 3
    assert "inside double quotes" in result.stderr
    assert not smtune.store.exists()


def test_a_nul_ends_a_line(smtune, lines):
    items = ["a\nb", "c d", "\ne", "\r"]
    lines(*items, "", end="\0")
    result = smtune("each", "-0", "lines", "-k", *ARGV)
    assert [json.loads(line) for line in result.stdout.splitlines()] == \
        [[item] for item in items[:3]]
    assert "smtune: 2 blank lines are left out\n" in result.stderr


# ---- lines

@pytest.mark.parametrize("text, items, blank", [
    (b"a\r\nb\r\n", ["a", "b"], 0),
    (b"a\n\n \t\nb", ["a", "b"], 2),
    (b"\xef\xbb\xbfa\nb\xef\xbb\xbf", ["a", "b\ufeff"], 0),
    (b"a\rb\n", ["a\rb"], 0),
    (b"a\na\na\n", ["a", "a", "a"], 0),
    (b"\r\na\r\n\r\n", ["a"], 2),
])
def test_lines_of_a_file(smtune, text, items, blank):
    (smtune.directory / "lines").write_bytes(text)
    result = smtune("each", "lines", "-k", *ARGV)
    assert result.returncode == 0, result.stderr
    assert [json.loads(line) for line in result.stdout.splitlines()] == \
        [[item] for item in items]
    told = "are" if blank > 1 else "is"
    assert (f"{blank} blank line{'s' * (blank > 1)} {told} left out"
            in result.stderr) == (blank > 0)
    assert ("2 lines repeat an earlier one; each of them runs"
            in result.stderr) == (len(items) > len(set(items)))


def test_lines_of_standard_input(smtune):
    assert smtune.ok("each", "-", "-k", "--", "echo", input="b\na\n") == \
        "b\na\n"


@pytest.mark.parametrize("text", ["", "\n", " \r\n\t\n"])
def test_no_lines(smtune, text):
    (smtune.directory / "lines").write_text(text)
    result = smtune("each", "lines", "--", "touch", "made")
    assert result.returncode == 0
    assert result.stdout == ""
    assert result.stderr == "smtune: 'lines' has no lines: nothing to run\n"
    assert not smtune.store.exists()
    assert not (smtune.directory / "made").exists()


def test_no_lines_for_a_program(smtune, lines):
    lines()
    result = smtune("each", "-q", "-o", "json", "lines", "--", "true")
    assert json.loads(result.stdout) == {
        "run": None, "state": "succeeded", "reason": "no lines", "steps": [],
        "outputs": None}
    assert result.stderr == ""


def test_a_long_line(smtune, lines):
    long = "x" * 100000
    lines("a", long)
    out = smtune.ok("each", "lines", "-k", *ARGV)
    assert [json.loads(line) for line in out.splitlines()] == [["a"], [long]]


@pytest.mark.parametrize("line, words, message", [
    ("x" * 140000, [], "'lines': line 3: too long: 140000 bytes, and an "
     "argument has at most 130944 on Linux"),
    ('"' * 70000, [], "'lines': line 3: too long: 140002 bytes in JSON, and "
     "an argument has at most 130944 on Linux"),
    ("x" * 20000, ["{/}"], "'lines': line 3: too long: 20000 bytes, and a "
     "column, {/}, {//}, {.} and {/.} take at most 16384"),
    (b"a\xffb", [], "'lines': line 3: it is not UTF-8"),
    ("a\0b", [], "'lines': line 3: it contains a NUL byte (use -0 if NULs end "
     "the lines)"),
])
def test_a_line_that_is_no_argument(smtune, lines, line, words, message):
    lines("a", "", line, "b")
    result = smtune("each", "lines", "--", "touch", *words)
    assert result.returncode == 3
    assert result.stderr.startswith("smtune: " + message)
    assert not smtune.store.exists()
    assert not (smtune.directory / "a").exists()


def test_the_lines_of_a_pattern(smtune, lines):
    for name in ["b.txt", "a b.txt", "B.txt", "x\ny.txt", "c.csv"]:
        lines("a,b", name=name)
    out = smtune.ok("each", "*.txt", "-k", *ARGV, "{.}")
    assert [json.loads(line) for line in out.splitlines()] == \
        [["B"], ["a b"], ["b"], ["x\ny"]]
    lines("1", "2", name="[b].txt")
    assert smtune.ok("each", "[b].txt", "-k", "--", "echo") == "1\n2\n"
    result = smtune("each", "*.png", "--", "echo")
    assert result.returncode == 4
    assert result.stderr == "smtune: no path matches '*.png'\n"


# ---- tables

CSV = '\ufeffname,a b,path\r\n"x, ""y""",1.10,d/e.txt\r\n\r\n\u00e4,,"two\nlines"\r\n'


def test_columns_of_csv(smtune):
    (smtune.directory / "t.csv").write_text(CSV)
    result = smtune("each", "t.csv", "-k", *ARGV, "{name}", "{a b}", "{path/.}",
                    "{3//}", "{#}", "{2}")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        ['x, "y"', "1.10", "e", "d", "1", "1.10"],
        ["\u00e4", "", "two\nlines", ".", "2", ""]]
    assert "1 blank line is left out" in result.stderr
    out = smtune.ok("each", "t.csv", "-k", *ARGV, "{}")
    assert [json.loads(line) for line in out.splitlines()] == [
        ['"x, ""y""",1.10,d/e.txt'], ['\u00e4,,"two\nlines"']]
    proved(smtune)


def test_columns_without_names(smtune):
    assert smtune.ok("each", "-", "--as", "csv", "--", "echo", "{a}{3}",
                     input="a,,,\n1,2,3,4\n") == "13\n"


def test_columns_of_standard_input(smtune):
    assert smtune.ok("each", "-", "--as", "csv", "--", "echo", "{b}{a}",
                     input="a,b\n1,2\n") == "21\n"
    assert smtune.ok("each", "-", "--as", "tsv", "--", "echo", "{b}",
                     input='a\tb\n1\t"2"\n') == '"2"\n'


def test_columns_of_json_lines(smtune, lines):
    lines('{"s": "a b", "n": 7, "r": 0.5, "b": true, "z": null, "l": [1, {}]}',
          "", '{"l": {"k": "v"}, "z": 1, "b": false, "r": -1, "n": 0, "s": ""}',
          name="t.jsonl")
    out = smtune.ok("each", "t.jsonl", "-k", *ARGV, "{s}", "{n}", "{r}", "{b}",
                    "{z}", "{l}")
    assert [json.loads(line) for line in out.splitlines()] == [
        ["a b", "7", "0.5", "true", "", "[1,{}]"],
        ["", "0", "-1", "false", "1", '{"k":"v"}']]
    out = smtune.ok("each", "t.jsonl", "-k", *ARGV, "{}")
    assert json.loads(json.loads(out.splitlines()[0])[0])["s"] == "a b"


def test_columns_are_words_of_a_script(smtune):
    (smtune.directory / "t.csv").write_text("HOME,x\n$(touch no),it's\n")
    assert smtune.ok("each", "t.csv", "--shell", "--",
                     "echo {x} {HOME} ${HOME}") == \
        f"it's $(touch no) {smtune.directory}\n"


@pytest.mark.parametrize("name, text, words, status, message", [
    ("t.csv", "a,b\n1,2\n3\n", ["{a}"], 3,
     "'t.csv': line 3: 1 cell, and the header has 2"),
    ("t.csv", 'a,b\n1,"2\n3,4\n', ["{a}"], 3,
     "'t.csv': line 2: a double quote that is not closed"),
    ("t.csv", 'a,b\n1,"2"3\n', ["{a}"], 3,
     "'t.csv': line 2: text behind the closing quote of a cell"),
    ("t.csv", "a,b,a\n", ["{a}"], 3, "'t.csv': line 1: duplicate column 'a'"),
    ("t.csv", "name,b\n1,2\n", ["{nmae}"], 2,
     "'t.csv' has no column 'nmae' (did you mean '{name}'?)"),
    ("t.csv", "a,b\n1,2\n", ["{other}"], 2,
     "'t.csv' has no column 'other' (write \\{other} for this text itself)"),
    ("t.csv", "a,b\n1,2\n", [], 2,
     "COMMAND uses no column of 't.csv' (columns: {a}, {b})"),
    ("t.jsonl", '{"a": 1}\n[1]\n', ["{a}"], 3,
     "'t.jsonl': line 2: it is not a JSON object"),
    ("t.jsonl", '\n[1]\n{"a": 1}\n', ["{a}"], 3,
     "'t.jsonl': line 2: it is not a JSON object"),
    ("t.jsonl", '{"a"\n', ["{a}"], 3, "'t.jsonl': line 1: not valid JSON"),
    ("t.csv", "a," * 10000 + "b\n1\n", ["{b}"], 3,
     "'t.csv': line 1: out of range: 10001 columns, more than 10000"),
    ("t.jsonl", '{"a": 1}\n{"a": \n', ["{a}"], 3,
     "'t.jsonl': line 2: not valid JSON"),
    ("t.jsonl", '{"a": 1}\n\n{"b": 1}\n', ["{a}"], 3,
     "'t.jsonl': line 3: no column 'a'"),
    ("t.csv", "a\n" + "x" * 20000 + "\n", ["{a}"], 3,
     "'t.csv': line 2: too long: 200"),
])
def test_a_table_that_does_not_fit(smtune, name, text, words, status, message):
    (smtune.directory / name).write_text(text)
    result = smtune("each", name, "--", "echo", *words)
    assert result.returncode == status
    assert result.stderr.startswith("smtune: " + message)
    assert not smtune.store.exists()


# ---- usage

@pytest.mark.parametrize("words, message", [
    (["lines"], "each: missing argument COMMAND"),
    (["lines", "--"], "each: missing argument COMMAND"),
    ([], "each: missing argument LINES"),
    (["--", "echo"], "each: missing argument LINES before --"),
    (["lines", "echo", "{}"], "each: unexpected argument 'echo' (write -- before "
     "COMMAND, and a pattern of files in quotes)"),
    (["lines", "other", "--", "echo"], "each: unexpected argument 'other'"),
    (["lines", "--", "echo {}"], "'echo {}' is one word, and no shell splits it"),
    (["-0", "lines", "--as", "csv", "--", "echo"], "-0 is for lines"),
    (["*", "--as", "csv", "--", "echo"], "--as csv is for a file, and '*' is a "
     "pattern of files"),
    (["lines", "--new", "-r", "--", "echo"], "--new and --resume exclude"),
    (["lines", "-n", "../x", "--", "echo"], "'../x' is not a valid name"),
    (["lines", "--jobs", "0", "--", "echo"], "option '--jobs'"),
    (["lines", "--as", "xml", "--", "echo"], "option '--as': unknown value"),
])
def test_usage(smtune, lines, words, message):
    lines("a")
    result = smtune("each", *words)
    assert result.returncode == 2
    assert result.stderr.startswith("smtune: " + message)
    assert not smtune.store.exists()


@pytest.mark.parametrize("words, message", [
    (["--memory", "lots"], "memory"),
    (["--jobs", "100000"], "parallel"),
    (["--executor", "slrum"], "slrum"),
    (["--set", "steps.each.retyr=[]"], "retyr"),
    (["--set", "steps.each.matrix.line=[1]"], "--set cannot"),
    (["--set", "steps.each.matrix.seed=[1, 2]"], "--set cannot"),
    (["--set", "steps.more={command: echo}"], "--set cannot"),
])
def test_an_option_with_a_value_that_does_not_fit(smtune, lines, words, message):
    lines("a")
    result = smtune("each", "lines", *words, "--", "echo")
    assert result.returncode == 3
    assert message in result.stderr
    assert not smtune.store.exists()


def test_no_such_file(smtune):
    result = smtune("each", "nowhere", "--", "echo")
    assert result.returncode == 4
    assert result.stderr == \
        "smtune: cannot open 'nowhere': No such file or directory\n"


# ---- output

def test_output_in_the_order_of_the_lines(smtune, lines):
    """The first line ends last."""
    lines("1", "2", "3")
    script = """
        if [ {} = 1 ]; then
          until test -e done-2 -a -e done-3; do sleep 0.1; done
        fi
        echo begin {}; touch done-{}; echo end {} >&2
        """
    out = smtune.ok("each", "lines", "-j", "2", "--shell", "-k", "--", script)
    assert out == "".join(f"begin {i}\nend {i}\n" for i in "123")
    for name in ("done-2", "done-3"):
        (smtune.directory / name).unlink()
    out = smtune.ok("each", "lines", "-j", "2", "--shell", "--new", "--", script)
    said = out.splitlines()
    assert sorted(zip(said[::2], said[1::2])) == [
        (f"begin {i}", f"end {i}") for i in "123"]


def test_results(smtune, lines):
    lines("a", "b")
    found = smtune.directory / "out/deep"
    found.mkdir(parents=True)
    (found / ".1.out.part").write_text("of a process that was killed")
    smtune.ok("each", "lines", "--results", "out/deep", "--shell", "--",
              "echo {}; echo {} >&2; printf x")
    assert {path.name: path.read_text() for path in found.iterdir()} == {
        "1.out": "a\na\nx", "2.out": "b\nb\nx"}


def test_results_on_another_file_system(smtune, lines):
    other = f"/dev/shm/smtune-{smtune.token}"
    if os.stat("/dev/shm").st_dev == os.stat(smtune.directory).st_dev:
        pytest.skip("one file system")
    lines("a", "b")
    try:
        smtune.ok("each", "lines", "--results", other, "--", "echo")
        assert sorted(os.listdir(other)) == ["1.out", "2.out"]
        with open(f"{other}/2.out") as file:
            assert file.read() == "b\n"
    finally:
        shutil.rmtree(other, ignore_errors=True)


def test_results_that_have_no_folder(smtune, lines):
    lines("a")
    (smtune.directory / "out").write_text("")
    result = smtune("each", "lines", "--results", "out", "--", "touch")
    assert result.returncode == 1
    assert "'out'" in result.stderr or "/out'" in result.stderr
    assert not smtune.store.exists()
    assert not (smtune.directory / "a").exists()


def test_results_that_cannot_be_written(smtune, lines):
    """The run is complete all the same."""
    lines("a")
    (smtune.directory / "out/1.out").mkdir(parents=True)
    result = smtune("each", "lines", "--results", "out", "--", "echo")
    assert result.returncode == 1
    assert "cannot write '" in result.stderr
    assert smtune.json("ls")[0]["state"] == "succeeded"


def test_a_reader_that_does_not_read_delays_no_command(smtune, lines):
    lines(*map(str, range(20)))
    run = smtune.start("each", "lines", "-n", "it", "--shell", "--",
                       "head -c 50000 /dev/zero; touch done-{}")
    wait_until(lambda: len(list(smtune.directory.glob("done-*"))) == 20)
    wait_until(lambda: smtune.json("ls")[0]["state"] == "succeeded")
    assert run.poll() is None
    out, _ = run.communicate(timeout=60)
    assert out == "\0" * 20 * 50000
    assert run.returncode == 0


def test_a_reader_that_leaves_ends_no_run(smtune, lines):
    lines(*map(str, range(10)))
    command = ["bash", "-o", "pipefail", "-c",
               "smtune each lines -q -n it --shell -- "
               "'head -c 200000 /dev/zero; touch done-{}' | head -c 1 >got"]
    result = subprocess.run(command, cwd=smtune.directory, env=smtune.env,
                            stdin=subprocess.DEVNULL, capture_output=True)
    assert result.returncode == 128 + signal.SIGPIPE
    assert result.stderr == b""
    assert len(list(smtune.directory.glob("done-*"))) == 10
    assert smtune.json("ls")[0]["state"] == "succeeded"


def test_a_command_that_makes_a_pipe_of_its_log(smtune, lines):
    lines("a")
    smtune.ok("each", "lines", "-n", "it", "--shell", "--",
              ": {}; log=.smtune/runs/it/attempts/1-1/log; rm $log; "
              "mkfifo $log")


def test_output_for_a_program(smtune, lines):
    lines("a", "b")
    said = smtune("each", "-o", "json", "lines", "-n", "it", "--shell", "--",
                  "echo {}; test {} = a")
    assert said.returncode == 1
    told = json.loads(said.stdout)
    assert told["run"] == "it"
    assert told["state"] == "failed"
    assert [(step["name"], step["copies"], step["succeeded"], step["failed"])
            for step in told["steps"]] == [("each", 2, 1, 1)]


def test_each_line_is_a_script(smtune, lines):
    lines("echo 'a  b' | tr a-z A-Z", "exit 3")
    result = smtune("each", "lines", "--shell", "-k")
    assert result.stdout == "A  B\n"
    assert result.returncode == 1
    assert "  line 2 (exit): exit 3\n" in result.stderr


def test_its_workflow_is_a_file(smtune, lines):
    lines("a", "b")
    smtune.ok("each", "lines", "-j", "3", "--retries", "2", "--timeout", "90s",
              "--memory", "1G", "--cpus", "1", "--", "echo")
    text = smtune.ok("show", "last", "--file")
    (smtune.directory / "again.yaml").write_text(text)
    assert "ok: a workflow of 1 step" in smtune.ok("validate", "again.yaml")
    assert "parallel: 3\n" in text
    assert re.search(r"lines: \"/.*/runs/echo-\w+/lines-\w{16}\.jsonl\"", text)
    smtune.ok("run", "-q", "again.yaml")
    assert smtune.ok("logs", "last", "2") == "b\n"


def test_a_terminal_has_no_panel_among_the_output(smtune, lines):
    lines("a", "b")
    status, shown = smtune.on_terminal("each", "lines", "-k", "--", "echo", "+{}")
    assert status == 0
    assert shown.replace("\r", "").splitlines()[:2] == ["+a", "+b"]
    assert "2 lines succeeded" in shown


def test_a_terminal_gets_the_colours_of_the_output(smtune, lines):
    lines(r"a\033[31mb\033[2J\377")
    words = ["each", "lines", "-k", "--", "printf"]
    _, shown = smtune.on_terminal(*words, "{}\\n")
    assert shown.replace("\r", "").startswith(
        "a\x1b[31mb\\x1b[2J\\xff\n\x1b[0m")
    result = smtune(*words, "x{}", text=False)
    assert result.stdout == b"xa\x1b[31mb\x1b[2J\xff"


def test_disk_of_many_lines(smtune, lines):
    """100,000 lines have 2 GB."""
    count = 1000
    lines(*(f"{i:05} {'x' * 100}" for i in range(count)))
    smtune.ok("each", "lines", "--", "echo", timeout=120)
    used = sum(os.lstat(os.path.join(folder, name)).st_blocks * 512
               for folder, folders, files in os.walk(smtune.store)
               for name in folders + files)
    assert used / count < 2e9 / 100_000
