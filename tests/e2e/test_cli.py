# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line itself: help, errors, colour, completion, pipes."""

import calendar
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "help"


def commands(smtune):
    """The names of the commands, as `smtune help` lists them."""
    overview = smtune.ok("help").split("\nOptions of every command")[0]
    return re.findall(r"^  ([a-z-]+)(?:  |$)", overview, re.MULTILINE)


def examples(smtune, command):
    text = smtune.ok("help", command)
    assert "\nExamples\n" in text, f"{command} has no examples"
    return text.split("\nExamples\n")[1].splitlines()


def words_of(example):
    """The words of each smtune command in a line of shell."""
    line = re.sub(r"\s+#.*", "", example.strip())
    for part in re.split(r"&&|\|\||[|;]", line):
        words = re.sub(r"\s*>\s*\S+", "", part).split()
        if words and words[0] == "smtune":
            yield [word.strip("'\"") for word in words[1:]]


def test_help_lists_commands_and_each_has_examples(smtune):
    names = commands(smtune)
    assert {"completion", "doctor", "help", "version", "wait"} <= set(names)
    for name in names:
        lines = examples(smtune, name)
        assert any(f"smtune {name}" in line for line in lines), name
        assert smtune.ok(name, "--help") == smtune.ok("help", name)
        assert all(len(line) < 80 for line in smtune.ok(
            "help", name).splitlines()), name


def test_every_example_is_accepted(smtune):
    """With --help nothing is done, but all options are parsed: those in
    front of a --, behind which stands another program."""
    seen = 0
    for name in commands(smtune):
        for example in examples(smtune, name):
            for words in words_of(example):
                own = words[:words.index("--")] if "--" in words else words
                assert smtune.ok(*own, "--help").startswith("usage: "), \
                    example
                seen += 1
    assert seen >= len(commands(smtune))


@pytest.mark.sanitized
def test_help_is_as_recorded(smtune):
    """UPDATE=1 records it anew."""
    if os.environ.get("UPDATE"):
        shutil.rmtree(GOLDEN, ignore_errors=True)
        GOLDEN.mkdir(parents=True)
        for name in commands(smtune):
            (GOLDEN / f"{name}.txt").write_text(smtune.ok("help", name))
        (GOLDEN / "overview.txt").write_text(smtune.ok("help"))
    recorded = {path.stem: path.read_text() for path in GOLDEN.iterdir()}
    shown = {name: smtune.ok("help", name) for name in commands(smtune)}
    shown["overview"] = smtune.ok("help")
    assert shown == recorded


@pytest.mark.sanitized
def test_the_manual_page_is_sound(smtune, tmp_path, root):
    page = (root / "man" / "smtune.1.in").read_text()
    page = page.replace("@COMMANDS@\n", smtune.ok("help", "--man"))
    path = tmp_path / "smtune.1"
    path.write_text(page.replace("@VERSION@", "0"))
    lint = subprocess.run(["mandoc", "-Tlint", "-Wwarning", path],
                          capture_output=True, text=True)
    assert lint.stdout + lint.stderr == ""
    for name in commands(smtune):
        name = name.replace("-", "\\-")
        assert f'.SS "smtune {name}"' in page


@pytest.mark.sanitized
@pytest.mark.parametrize("words, text", [
    (["hlep"], "unknown command 'hlep' (did you mean 'help'?)"),
    (["list"], "unknown command 'list' (did you mean 'ls'?)"),
    (["frobnicate"], "unknown command 'frobnicate' ('smtune help' lists them)"),
    (["--stroe", "x", "help"],
     "unknown option '--stroe' (did you mean '--store'?)"),
    (["wait", "x", "--timeuot", "1"],
     "unknown option '--timeuot' (did you mean '--timeout'?)"),
    (["wait"],
     "wait: missing argument RUN, a name, a number or 'last' "
     "(usage: smtune wait [OPTION...] RUN)"),
    (["why", "last"],
     "why: missing argument JOB (usage: smtune why [OPTION...] RUN JOB)"),
    (["tag"],
     "tag: missing argument RUN, a name, a number or 'last' "
     "(usage: smtune tag [OPTION...] RUN [JOB...])"),
    (["launch"],
     "launch: missing argument COMMAND "
     "(usage: smtune launch [OPTION...] -- COMMAND [ARGUMENT]...)"),
    (["version", "x"],
     "version: unexpected argument 'x' (usage: smtune version [OPTION...])"),
    (["version", "-o", "jsno"],
     "option '--output': unknown value 'jsno': expected one of table, json, "
     "jsonl, csv (did you mean 'json'?)"),
    (["version", "--color"], "option '--color': missing value (WHEN)"),
    (["wait", "x", "--timeout", "soon"],
     "option '--timeout': expected a duration such as 90s, 10m or 2h, got 'soon'"),
    (["completion", "bsh"], "unknown shell 'bsh': expected bash, zsh or "
     "fish (did you mean 'bash'?)"),
    (["\x1b[31mred"], r"unknown command '\x1b[31mred' ('smtune help' lists "
     "them)"),
])
def test_a_wrong_command_line_names_the_right_one(smtune, words, text):
    result = smtune(*words)
    assert result.returncode == 2
    assert result.stderr == f"smtune: {text}\n"
    assert result.stdout == ""


@pytest.mark.sanitized
def test_no_command_is_a_mistake_that_helps(smtune):
    result = smtune()
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == smtune.ok("--help") == smtune.ok("help")


@pytest.mark.sanitized
def test_options_may_stand_before_the_command(smtune):
    assert smtune.json("version") == json.loads(
        smtune.ok("-o", "json", "version"))
    assert smtune.ok("--version") == smtune.ok("version")
    assert smtune.ok("wait", "--version") == smtune.ok("version")


def test_a_version_has_an_age(smtune, root):
    """It is that of the sources, whenever they were built."""
    date = int(subprocess.run([root / "packaging/source-date"], text=True,
                              capture_output=True, check=True).stdout)
    result = smtune.json("version", "--check")
    assert result["version"] == smtune.json("version")["version"]
    # The program may be of an earlier commit.
    assert result["date"] <= time.strftime("%Y-%m-%d", time.gmtime(date))
    built = calendar.timegm(time.strptime(result["date"], "%Y-%m-%d"))
    assert result["age_days"] in (int(time.time() - built) // 86400 - 1,
                                  int(time.time() - built) // 86400)
    assert smtune.ok("version", "--check") == (
        f"smtune {result['version']} of {result['date']}: {result['age_days']} "
        f"day{'s' * (result['age_days'] != 1)} old\n")


@pytest.mark.sanitized
def test_the_environment_sets_the_format(smtune):
    env = {"SMTUNE_OUTPUT": "json"}
    assert json.loads(smtune.ok("version", env=env))["version"]
    assert smtune.ok("version", "-o", "table", env=env).startswith("smtune ")
    result = smtune("version", env={"SMTUNE_OUTPUT": "xml"})
    assert result.returncode == 2
    assert "SMTUNE_OUTPUT: unknown value 'xml': expected table" in result.stderr


@pytest.mark.sanitized
def test_errors_are_json_where_results_are(smtune):
    for words in (["wait", "x", "-o", "json"], ["-o", "jsonl", "wait", "x"]):
        result = smtune(*words)
        assert result.returncode == 4
        error = json.loads(result.stderr)
        assert error["status"] == 4
        assert ".smtune" in error["error"]


@pytest.mark.sanitized
@pytest.mark.parametrize("words, env, colour", [
    ([], {}, True),
    ([], {"NO_COLOR": "1"}, False),
    ([], {"NO_COLOR": ""}, True),
    ([], {"TERM": "dumb"}, False),
    (["--color", "never"], {"CLICOLOR_FORCE": "1"}, False),
    (["--color", "always"], {"NO_COLOR": "1", "TERM": "dumb"}, True),
])
def test_colour_on_a_terminal(smtune, words, env, colour):
    _, shown = smtune.on_terminal("doctor", *words, env=env)
    assert ("\x1b[" in shown) == colour


@pytest.mark.sanitized
@pytest.mark.parametrize("words, env, colour", [
    ([], {}, False),
    ([], {"CLICOLOR_FORCE": "1"}, True),
    ([], {"CLICOLOR_FORCE": "0"}, False),
    ([], {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
    (["--color", "always"], {}, True),
])
def test_colour_in_a_pipe(smtune, words, env, colour):
    env = {"TERM": "xterm", **env}
    assert ("\x1b[" in smtune.ok("doctor", *words, env=env)) == colour


@pytest.mark.sanitized
def test_doctor_says_what_is_wrong(smtune, build, tmp_path):
    rows = {row["check"]: row for row in smtune.json("doctor")}
    assert rows["shim"]["state"] == "ok"
    assert rows["CPUs"]["found"].startswith(
        str(len(os.sched_getaffinity(0))))
    assert rows["cgroups"]["state"] == "ok"
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(build / "smtune", alone)
    result = subprocess.run([alone / "smtune", "doctor"], text=True,
                            capture_output=True, env=smtune.environment())
    assert result.returncode == 1
    assert re.search(r"^fail  shim .*missing\n +fix: ", result.stdout,
                     re.MULTILINE)


@pytest.mark.sanitized
def test_doctor_finds_a_damaged_store(smtune):
    smtune.store.mkdir()
    (smtune.store / "smtune.db").write_bytes(b"not a database" * 1000)
    result = smtune("doctor")
    assert result.returncode == 1
    assert re.search(r"^fail  store ", result.stdout, re.MULTILINE)


# ---- pipes and files that take no more ----

def run_with_stdout(smtune, build, stdout, *words):
    return subprocess.run([build / "smtune", *words], stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=30,
                          env=smtune.environment(), cwd=smtune.directory)


@pytest.mark.sanitized
@pytest.mark.parametrize("words", [
    ["help", "--man"], ["doctor", "-o", "csv"], ["doctor"],
    ["completion", "zsh"]])
def test_a_reader_that_left_is_no_error(smtune, build, words):
    ours, theirs = os.pipe()
    os.close(ours)
    result = run_with_stdout(smtune, build, theirs, *words)
    os.close(theirs)
    assert result.stderr == ""
    assert result.returncode == 141


@pytest.mark.sanitized
@pytest.mark.parametrize("words", [
    ["help", "--man"], ["doctor", "-o", "csv"], ["version"]])
def test_a_full_disk_is_an_error(smtune, build, words):
    with open("/dev/full", "w") as full:
        result = run_with_stdout(smtune, build, full, *words)
    assert result.returncode == 1
    assert re.fullmatch("smtune: cannot write to standard output"
                        "(: No space left on device)?\n", result.stderr)


@pytest.mark.sanitized
def test_closed_descriptors_are_no_danger(smtune, build):
    result = subprocess.run(
        ["bash", "-c", f"exec '{build}/smtune' doctor <&- >&- 2>&-"],
        env=smtune.environment(), cwd=smtune.directory, timeout=30)
    assert result.returncode == 0


# ---- completion ----

def complete(smtune, tmp_path, line):
    """What bash offers at the end of the line."""
    script = tmp_path / "smtune.bash"
    script.write_text(smtune.ok("completion", "bash"))
    words = [word for word in re.split(r"( |=)", line) if word != " "]
    if line.endswith((" ", "=")):
        words = [word for word in words if word] + [""]
    code = f"""
        source '{script}'
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _smtune
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    shown = subprocess.run(["bash", "--norc", "-c", code, "bash", *words],
                           env=smtune.environment(), cwd=smtune.directory,
                           text=True, capture_output=True, timeout=30)
    assert shown.stderr == ""
    return shown.stdout.split()


@pytest.mark.sanitized
def test_bash_completes(smtune, tmp_path):
    names = commands(smtune)
    assert complete(smtune, tmp_path, "smtune ") == names
    assert complete(smtune, tmp_path, "smtune compl") == ["completion"]
    assert complete(smtune, tmp_path, "smtune help doc") == ["doctor"]
    assert complete(smtune, tmp_path, "smtune -o json --store x doc") == [
        "doctor"]
    assert complete(smtune, tmp_path, "smtune wait --t") == ["--timeout"]
    assert complete(smtune, tmp_path, "smtune wait --output j") == [
        "json", "jsonl"]
    assert complete(smtune, tmp_path, "smtune wait --output=c") == ["csv"]
    assert complete(smtune, tmp_path, "smtune --color=") == [
        "auto", "always", "never"]
    assert complete(smtune, tmp_path, "smtune completion ") == [
        "bash", "zsh", "fish"]
    assert complete(smtune, tmp_path, "smtune wait ") == []
    (smtune.directory / "folder").mkdir()
    assert complete(smtune, tmp_path, "smtune --store fol") == ["folder"]


@pytest.mark.sanitized
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_parse(smtune, tmp_path, shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not here")
    script = tmp_path / "script"
    script.write_text(smtune.ok("completion", shell))
    subprocess.run([shell, "-n", script], check=True)
