# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune validate`, `smtune schema`, and the manual page of the format."""

import csv
import io
import json
import re
import resource
import subprocess

import pytest

pytestmark = pytest.mark.sanitized

GOOD = """\
version: 1
objective: loss
parameters:
  lr: {type: float, min: 1e-4, max: 1, scale: log}
trial:
  command: ./train --lr ${{ lr }}
"""
FINITE = GOOD.replace("{type: float, min: 1e-4, max: 1, scale: log}",
                      "{type: int, min: 1, max: 8}") + \
    'constraints: ["lr != 3"]\n'
BAD = GOOD.replace("scale", "sclae") + "nmae: x\n"


def test_says_that_a_file_is_right(smtune, write):
    write("good.yaml", GOOD)
    write("finite.yaml", FINITE)
    assert smtune.ok("validate", "good.yaml", "finite.yaml") == (
        "good.yaml: ok: 1 parameter, continuous search space, "
        "about 100% feasible\n"
        "finite.yaml: ok: 1 parameter, 7 settings\n")


def test_shows_what_is_wrong_and_starts_nothing(smtune, write):
    write("bad.yaml", BAD)
    write("good.yaml", GOOD)
    result = smtune("validate", "bad.yaml", "good.yaml")
    assert result.returncode == 3
    assert result.stdout.startswith("good.yaml: ok")
    assert result.stderr == (
        "bad.yaml:4:40: error: unknown key 'sclae' in parameter 'lr'\n"
        " 4 |   lr: {type: float, min: 1e-4, max: 1, sclae: log}\n"
        "   |                                        ^~~~~ "
        "did you mean 'scale'?\n"
        "bad.yaml:7:1: error: unknown key 'nmae'\n"
        " 7 | nmae: x\n"
        "   | ^~~~ did you mean 'name'?\n")
    assert not smtune.store.exists()


def test_json_for_programs(smtune, write):
    write("bad.yaml", BAD)
    write("finite.yaml", FINITE)
    result = smtune("validate", "bad.yaml", "finite.yaml", "-o", "json")
    assert result.returncode == 3
    assert result.stderr == ""
    bad, finite = json.loads(result.stdout)
    assert not bad["ok"]
    assert bad["error_count"] == 2
    assert bad["errors"][1] == {
        "line": 7, "column": 1, "length": 4, "text": "unknown key 'nmae'",
        "help": "did you mean 'name'?"}
    assert finite == {
        "file": "finite.yaml", "ok": True, "error_count": 0, "errors": [],
        "warnings": [], "parameters": 1, "settings": 8, "feasible": 7 / 8,
        "feasible_exact": True}
    lines = smtune("validate", "bad.yaml", "finite.yaml", "-o",
                   "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [bad, finite]
    rows = list(csv.DictReader(io.StringIO(
        smtune("validate", "bad.yaml", "finite.yaml", "-o", "csv").stdout)))
    assert [row["ok"] for row in rows] == ["false", "true"]
    assert [row["feasible"] for row in rows] == ["", "0.875"]


def test_warns_of_what_is_hardly_meant(smtune, write):
    write("odd.yaml", GOOD + """\
search: hyperband
schedule: {max: 27}
budget: {trials: 20, resource: 20, improvement: 0.1}
""")
    result = smtune("validate", "odd.yaml")
    assert result.returncode == 0
    assert result.stdout.startswith("odd.yaml: ok")
    assert (
        "odd.yaml:9:10: warning: 20 trials are too few for schedule "
        "'hyperband': its brackets need 49\n"
        " 9 | budget: {trials: 20, resource: 20, improvement: 0.1}\n"
        "   |          ^~~~~~\n") in result.stderr
    [found] = json.loads(smtune.ok("validate", "odd.yaml", "-o", "json"))
    assert found["ok"] and found["errors"] == []
    assert [warning["text"] for warning in found["warnings"]] == [
        "the command uses neither ${{ epochs }} nor SMTUNE_RESOURCE, so it "
        "cannot read its resource",
        "20 trials are too few for schedule 'hyperband': its brackets need "
        "49",
        "'budget.resource' 20 is less than the max of one trial, 27",
        "'budget.improvement' has no effect"]
    write("early.yaml", GOOD + "budget: {trials: 9, convergence: true}\n")
    assert "convergence needs 24 results, and the budget is 9" \
        in smtune("validate", "early.yaml").stderr
    write("even.yaml", GOOD.replace("${{ lr }}", "${{ lr }} ${{ epochs }}") +
          "search: hyperband\nschedule: {max: 27}\n")
    assert "warning" not in smtune("validate", "even.yaml").stderr


def warnings_of(smtune, write, text):
    write("meant.yaml", text)
    result = smtune("validate", "meant.yaml", "-o", "json")
    assert result.returncode == 0
    [found] = json.loads(result.stdout)
    return [(warning["line"], warning["column"], warning["text"],
             warning["help"]) for warning in found["warnings"]]


AS_OTHERS = [
    ("{{ lr }}", "{{ lr }}"), ("{lr}", "{lr}"), ("${lr}", "${lr}"),
    ("'{{lr}}'", "{{lr}}")]


@pytest.mark.parametrize("written, found", AS_OTHERS)
def test_warns_of_templates_as_others_write_them(smtune, write, written,
                                                 found):
    text = GOOD.replace("${{ lr }}", written)
    column = 25 + (written[0] == "'")
    assert warnings_of(smtune, write, text) == [
        (6, column, f"the program receives '{found}' literally",
         "did you mean '${{ lr }}'?")]


def test_templates_as_others_write_them_in_a_shell(smtune, write):
    text = GOOD.replace("command:", "shell:")
    assert warnings_of(smtune, write, text) == []
    # A shell may have a variable of that name.
    assert warnings_of(smtune, write, text + "    ${lr} '{x}' | tee log\n") == []
    assert [help for _, _, _, help in warnings_of(
        smtune, write, text.replace("--lr $", "{{lr}} --lr $"))] == [
            "did you mean '${{ lr }}'?"]


@pytest.mark.parametrize("word, found", [
    ("$HOME", "$HOME"), ("${HOME}", "${HOME}"), ("~/data", "~/data"),
    ("--data=~/x", "~/x"), ("$(id)", "$("), ("`id`", "`")])
def test_warns_of_what_no_shell_sees(smtune, write, word, found):
    column = 35 + word.index(found)
    warning = (6, column, f"the program receives '{found}' literally: no shell "
               "runs a command", "'shell' in place of 'command' has one")
    assert warnings_of(smtune, write, GOOD[:-1] + f" {word} x\n")[:1] == [
        warning]
    assert warnings_of(smtune, write, GOOD[:-1] + f" '{word} x'\n") == []


@pytest.mark.parametrize("value, found", [
    ("$HOME/cache", "$HOME"), ("~/data", "~/data"), ("{lr}", "{lr}"),
    ("a:~/b", "~/b")])
def test_warns_of_what_no_shell_sees_in_env(smtune, write, value, found):
    told = warnings_of(smtune, write, GOOD + f"  env: {{X: '{value}'}}\n")
    assert [text.split(" literally")[0] for _, _, text, _ in told] == [
        f"the program receives '{found}'"]
    assert [line for line, _, _, _ in told] == [7]


@pytest.mark.parametrize("key, found", [
    ("workdir: ~/w", "~/w"), ("workdir: $HOME/w", "$HOME"),
    ("channels: {train: ~/data}", "~/data"),
    ("files: [{path: ~/c.json, set: {a: 1}}]", "~/c.json")])
def test_a_path_that_no_shell_reads(smtune, write, key, found):
    (line, _, text, help), = warnings_of(smtune, write, GOOD + f"  {key}\n")
    assert (line, text, help) == (
        7, f"the path has '{found}' literally: no shell reads it",
        "write the whole path")


def test_a_script_in_a_list_has_a_shell(smtune, write):
    words = "[sh, -c, 'echo home=$HOME; echo loss=$1 | cat', x, '${{ lr }}']"
    text = GOOD.replace("./train --lr ${{ lr }}", words)
    assert warnings_of(smtune, write, text) == []
    assert warnings_of(smtune, write, text.replace("sh, -c", "/bin/bash, -ec")
                       ) == []
    assert len(warnings_of(smtune, write, text.replace("sh, -c", "run, -c"))
               ) == 1


@pytest.mark.parametrize("command, column, message", [
    ("./train ${{ lr }} | tee x", 30, "'|' needs a shell"),
    ("./train ${{ lr }} && x", 30, "'&&' needs a shell"),
    ("./train ${{ lr }} >x", 30, "'>' needs a shell"),
    ("./train ${{ lr }} 2>&1", 30, "'2>&' needs a shell"),
    ("./train ${{ lr }} &>x", 30, "'&>' needs a shell"),
    ("./train ${{ lr }}; x", 29, "';' needs a shell"),
    ("./train ${{ lr }} &", 30, "'&' needs a shell"),
    ("(./train ${{ lr }})", 12, "'(' needs a shell"),
    ("A=0 ./train ${{ lr }}", 12, "'A=0' is not a program"),
    ("~/train ${{ lr }}", 12, "'~/train' is not a path"),
    ("[A=0, ./train, '${{ lr }}']", 13, "'A=0' is not a program"),
])
def test_refuses_a_command_that_needs_a_shell(smtune, write, command, column,
                                              message):
    write("c.yaml", GOOD.replace("./train --lr ${{ lr }}", command))
    result = smtune("validate", "c.yaml")
    assert result.returncode == 3
    assert f"c.yaml:6:{column}: error: {message}" in result.stderr
    assert "'shell'" in result.stderr


@pytest.mark.parametrize("command", [
    "./train ${{ lr }} '|' \"&&\" \\; '>x' a|b x=a>b http://h/?a=1&b=2",
    "./train ${{ iif(lr > 1, '| a', '; b') }}",
    "[./train, '|', '>', '${{ lr }}']",
    "./a=b/train ${{ lr }}",
])
def test_an_operator_in_quotes_is_an_argument(smtune, write, command):
    write("c.yaml", GOOD.replace("./train --lr ${{ lr }}", json.dumps(command)
                                 if command[0] != "[" else command))
    smtune.ok("validate", "c.yaml")


def test_several_lines_are_one_command_or_a_script(smtune, write):
    one = GOOD.replace("command: ./train --lr ${{ lr }}", """\
command: |
    ./train
      --lr ${{ lr }}
    --x 1 \\
    y""")
    write("one.yaml", one)
    smtune.ok("validate", "one.yaml")
    write("many.yaml", one.replace("    --x 1", "    cd x"))
    result = smtune("validate", "many.yaml")
    assert result.returncode == 3
    assert ("many.yaml:9:5: error: the command has several lines, and no shell "
            "runs a command") in result.stderr


def test_warns_of_a_constraint_that_excludes_nothing(smtune, write):
    text = GOOD.replace("trial:", """\
  opt: {type: categorical, values: [sgd, adam]}
  n: {type: int, min: 1, max: 9, when: opt > 3}
constraints: ["n", "opt != 4", "lr > 0.5"]
trial:""") + "    ${{ opt }} ${{ n }}\n"
    told = warnings_of(smtune, write, text)
    assert [(line, column, text) for line, column, text, _ in told] == [
        (6, 40, "'opt > 3' compares a text with a number"),
        (7, 15, "the constraint is satisfied by all of 10000 random settings"),
        (7, 21, "'opt != 4' compares a text with a number")]
    assert told[0][3] == "write a value of 'opt', such as opt = 'sgd'"


@pytest.mark.parametrize("word", [
    "search.seed=2", "objective.goal=maximize", "executor.cpus=1",
    "parameters.width.value=3"])
def test_set_opens_short_forms(smtune, write, word):
    write("short.yaml", GOOD.replace("trial:", "  width: 2\ntrial:") +
          "    ${{ width }}\nsearch: random\nexecutor: local\n")
    plan = smtune.ok("plan", "short.yaml", "-n", "1", "--set", word)
    if word == "search.seed=2":
        assert "random, seed 2" in plan
    if word == "objective.goal=maximize":
        assert "maximize loss" in plan
    if word == "parameters.width.value=3":
        assert " 3\n" in plan


def test_warns_of_parameters_that_nothing_reads(smtune, write):
    two = GOOD.replace("trial:", "  width: {type: int, min: 1, max: 9}\n"
                       "  epochs: 5\ntrial:")
    unread = "the command does not use parameter 'width'"
    assert warnings_of(smtune, write, two) == [
        (5, 3, unread, "the program must read it from SMTUNE_PARAMS")]
    for reads in ("  env: {WIDTH: \"${{ width }}\"}\n",
                  "  env: {CONFIG: SMTUNE_PARAMS}\n",
                  "  channels: {data: \"data/${{ width }}\"}\n"):
        assert warnings_of(smtune, write, two + reads) == []
    conditional = two.replace("scale: log", "scale: log, when: width > 3")
    assert warnings_of(smtune, write, conditional) == []
    assert warnings_of(smtune, write, two.replace("--lr ${{ lr }}", "")) == [
        (8, 3, "the command uses none of the parameters",
         "write ${{ args }} for --NAME VALUE of all of them, or ${{ NAME }} "
         "for one value, unless the program reads SMTUNE_PARAMS or SM_HPS")]


def test_a_script_may_read_its_parameters_itself(smtune, write):
    text = GOOD.replace("./train --lr ${{ lr }}", "python3 ./train.py")
    scheduled = text + "  checkpoints: true\nschedule: {method: asha, max: 9}\n"
    script = write("train.py", "import smtune\n")
    assert len(warnings_of(smtune, write, text)) == 1
    assert len(warnings_of(smtune, write, scheduled)) == 2
    for reads in ("os.environ['SM_HPS']", "smtune.params(lr=1)",
                  "from smtune import params"):
        script.write_text(reads)
        assert warnings_of(smtune, write, text) == []
    script.write_text("smtune.params() smtune.resource()")
    assert warnings_of(smtune, write, scheduled) == []
    words = text.replace("python3 ./train.py", "[python3, train.py]")
    assert warnings_of(smtune, write, words) == []
    script.write_text("SM_HPS" + " " * (1 << 20))
    assert len(warnings_of(smtune, write, text)) == 1


def test_warns_of_a_condition_that_is_never_true(smtune, write):
    text = GOOD.replace("trial:", """\
  opt: {type: categorical, values: [sgd, adam]}
  beta: {type: float, min: 0, max: 1, when: "opt = 'adma'"}
  nesterov: {type: bool, when: opt = 'sgd' and lr > 1}
  momentum: {type: bool, when: opt = 'sgd'}
trial:""") + "    ${{ opt }} ${{ beta }} ${{ nesterov }} ${{ momentum }}\n"
    assert warnings_of(smtune, write, text) == [
        (6, 45, "parameter 'beta' is active in none of 10000 random settings",
         "did you mean 'adam'?"),
        (7, 32, "parameter 'nesterov' is active in none of 10000 random "
         "settings", None)]


def test_run_and_plan_warn_too(smtune, write):
    write("meant.yaml", GOOD.replace("./train --lr ${{ lr }}",
                                     "echo loss=1 {lr}") +
          "budget: {trials: 1}\n")
    warning = "meant.yaml:6:24: warning: the program receives '{lr}' literally"
    assert warning in smtune("plan", "meant.yaml").stderr
    assert warning in smtune("run", "meant.yaml").stderr
    assert "warning" not in smtune("run", "meant.yaml", "-q").stderr


def test_reads_standard_input(smtune):
    assert smtune.ok("validate", "-", input=GOOD).startswith("-: ok")
    result = smtune("validate", "-", input="")
    assert result.returncode == 3
    assert result.stderr == "-: error: the file is empty\n"


def test_missing_file_and_missing_operand(smtune):
    result = smtune("validate", "none.yaml")
    assert result.returncode == 4
    assert "none.yaml" in result.stderr
    assert smtune("validate").returncode == 2


def test_colours_on_a_terminal_alone(smtune, write):
    write("bad.yaml", BAD)
    status, shown = smtune.on_terminal("validate", "bad.yaml")
    assert status == 3
    assert "\x1b[31merror:" in shown
    assert "\x1b" not in smtune("validate", "bad.yaml").stderr


def quickly(smtune, *words):
    """Runs it in less than 10 s of the processor: the clock would count what
    else runs."""
    def used_s():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before_s = used_s()
    result = smtune(*words)
    assert used_s() - before_s < 10
    return result


def test_two_million_values_are_refused_at_once(smtune, write):
    values = ", ".join(map(str, range(2_000_000)))
    write("many.yaml", f"""\
version: 1
parameters:
  x: {{type: categorical, values: [{values}]}}
objective: loss
trial: {{command: "./train ${{{{ x }}}}"}}
""")
    result = quickly(smtune, "validate", "many.yaml")
    assert result.returncode == 3
    assert re.match(r"many.yaml:3:\d+: error: the list has more than 100000 "
                    r"values\n", result.stderr)
    assert len(result.stderr) < 1000


def test_a_repeated_value_among_many_is_found_at_once(smtune, write):
    values = ", ".join(map(str, [*range(99_998), 7, 6]))
    write("twice.yaml", f"""\
version: 1
parameters:
  x: {{type: categorical, values: [{values}]}}
objective: loss
trial: {{command: "./train ${{{{ x }}}}"}}
""")
    result = quickly(smtune, "validate", "twice.yaml")
    assert result.returncode == 3
    assert "duplicate value '6'" in result.stderr


@pytest.mark.parametrize("expression", [
    "printf('%.2147483647c', 'x')",
    "trim(printf('%16000s', 'z'), replace(printf('%8000s', ''), ' ', 'y') "
    "|| 'z')"])
def test_an_expression_cannot_run_for_seconds(smtune, write, expression):
    write("command.yaml", f"""\
        version: 1
        objective: loss
        parameters: {{x: {{type: int, min: 1, max: 2}}}}
        budget: {{trials: 1}}
        trial:
          command: ["echo", "${{{{ {expression} }}}}"]
        """)
    result = quickly(smtune, "plan", "command.yaml")
    assert re.search("add up to more than 16384|compares more than 2000000",
                     result.stdout + result.stderr)
    write("constraint.yaml", f"""\
        version: 1
        objective: loss
        parameters: {{x: {{type: float, min: 1, max: 2}}}}
        constraints: ["x < 2 or {expression} = 'x'"]
        trial: {{command: "./train ${{{{ x }}}}"}}
        """)
    quickly(smtune, "validate", "constraint.yaml")


def test_hostile_files_are_refused_at_once(smtune, write):
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n"
        for i in range(1, 12))
    write("deep.yaml", "[" * 65536)
    write("bomb.yaml", bomb)
    write("long.yaml", "# comment\n" * 3400000)
    result = smtune("validate", "deep.yaml", "bomb.yaml", "long.yaml",
                    timeout=10)
    assert result.returncode == 3
    for words in ("64 deep", "4000000 nodes", "33554432 bytes"):
        assert words in result.stderr
    assert len(result.stderr) < 3000


def test_schema_is_json(smtune):
    schema = json.loads(smtune.ok("schema"))
    assert schema["required"] == ["version", "objective", "parameters",
                                  "trial"]
    methods = schema["properties"]["search"]["anyOf"][1]["enum"]
    assert {"auto", "random", "grid", "sobol"} <= set(methods)


def check_page(page, keys, write):
    """The page's text with the keys in it is right; its example."""
    text = page.read_text()
    full = write(page.stem, text.replace("@KEYS@\n", keys))
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", full],
                          capture_output=True, text=True, timeout=30)
    assert lint.stdout == ""
    example = re.search(r"^\.EX\n(.*?)^\.EE$", text, re.M | re.S)[1]
    for escape, letter in (("\\-", "-"), ("\\(aq", "'")):
        example = example.replace(escape, letter)
    write("example.yaml", example)


def test_manual_page_has_all_keys_and_a_valid_example(smtune, write, root):
    keys = smtune.ok("schema", "--man")
    for key in ("parameters.NAME.scale", "trial.retry[].backoff",
                "budget.no_improvement"):
        assert f"\\fB{key}\\fR" in keys
    check_page(root / "man/smtune-experiment.5.in", keys, write)
    assert "5 parameters" in smtune.ok("validate", "example.yaml")


def test_manual_page_of_workflows(smtune, write, root):
    keys = smtune.ok("schema", "workflow", "--man")
    for key in ("steps.NAME.needs", "steps.NAME.repeat.values.NAME.next",
                "on_failure", "pools"):
        assert f"\\fB{key}\\fR" in keys
    assert "on_failure.NAME.needs" not in keys
    check_page(root / "man/smtune-workflow.5.in", keys, write)
    assert smtune.ok("validate", "example.yaml") == \
        "example.yaml: ok: a workflow of 5 steps\n"


WORKFLOW = """\
version: 1
params: {epochs: 3}
steps:
  prepare: {command: ./prepare, outputs: {rows: ~}}
  train: {needs: prepare, command: "./train ${{ prepare.rows }}"}
"""


def test_workflows_and_experiments_in_one_go(smtune, write):
    write("good.yaml", GOOD)
    write("flow.yaml", WORKFLOW)
    write("wrong.yaml", WORKFLOW.replace("prepare.rows", "prepare.row"))
    result = smtune("validate", "good.yaml", "flow.yaml", "wrong.yaml")
    assert result.returncode == 3
    assert "flow.yaml: ok: a workflow of 2 steps\n" in result.stdout
    assert "wrong.yaml:5:49: error: unknown output or metric: step " \
        "'prepare' has no 'row'" in result.stderr
    found = json.loads(smtune("validate", "flow.yaml", "-o", "json").stdout)
    assert found[0]["ok"] and found[0]["steps"] == 2


def test_schema_of_workflows(smtune):
    schema = json.loads(smtune.ok("schema", "workflow"))
    assert schema["required"] == ["version", "steps"]
    step = schema["properties"]["steps"]["anyOf"][0]["additionalProperties"]
    assert {"needs", "command", "matrix", "retry"} <= set(step["properties"])
    result = smtune("schema", "workflows")
    assert result.returncode == 2
    assert "workflow" in result.stderr


def test_large_workflows_are_read_in_no_time(smtune, write):
    write("large.yaml", "version: 1\nsteps:\n" + "".join(
        f"  s{i}: {{needs: [s{max(0, i - 7)}, s{i // 2}], "
        f"command: \"x ${{{{ s{i // 4}.state }}}}\"}}\n" if i else
        "  s0: {command: x}\n" for i in range(20000)))
    assert "20000 steps" in smtune.ok("validate", "large.yaml", timeout=30)


def test_warns_of_commands_of_steps(smtune, write):
    write("flow.yaml", """\
version: 1
params: {lr: 1}
steps:
  a: {command: "echo {{ lr }} $X", metrics: [loss], env: {X: "{lr}"}}
  b: {needs: a, shell: "a && b >c {a.loss} {dir} ${lr}"}
  c: {matrix: {part: [1, 2]}, command: [echo, "{part}", "{dir}"]}
""")
    result = smtune("validate", "flow.yaml")
    assert result.returncode == 0
    assert result.stdout == "flow.yaml: ok: a workflow of 3 steps\n"
    assert re.findall(r"flow\.yaml:(\d+:\d+): warning: the program receives "
                      r"('.*?') literally", result.stderr) == [
        ("4:22", "'{{ lr }}'"), ("4:31", "'$X'"), ("4:63", "'{lr}'"),
        ("5:35", "'{a.loss}'"), ("6:48", "'{part}'")]
    told = json.loads(smtune.ok("validate", "flow.yaml", "-o", "json"))
    assert len(told[0]["warnings"]) == 5
    assert "'{part}' literally" in smtune("plan", "flow.yaml").stderr


@pytest.mark.parametrize("before, warns", [
    ("", False), ("\n", True), ("  \n \n", True), ("echo 1\n", False)])
def test_warns_of_a_program_in_a_later_line(smtune, write, before, warns):
    write("flow.yaml", f"""\
version: 1
steps:
  a: {{shell: {json.dumps(before + "#!/bin/bash" + chr(10) + "x")}}}
""")
    result = smtune("validate", "flow.yaml")
    assert result.returncode == 0
    assert ("so it does not name its program" in result.stderr) == warns


@pytest.mark.parametrize("word", ["jobs", "tasks", "stages", "rules"])
def test_steps_by_another_word_are_one_error(smtune, write, word):
    write("flow.yaml", f"version: 1\n{word}:\n  - {{command: a}}\n")
    result = smtune("validate", "flow.yaml")
    assert result.returncode == 3
    assert result.stderr.splitlines()[0] == (
        "flow.yaml:2:1: error: a workflow has its jobs under 'steps', not "
        f"under '{word}'")
    assert result.stderr.count("error:") == 1
    assert "for example steps: [" in result.stderr


def test_warns_of_scripts_that_lie_beside_the_file(smtune, write):
    """Commands start in the current folder, wherever the file lies."""
    write("sub/train.py", "")
    write("sub/exp.yaml", GOOD.replace("./train", "python3 train.py no.py"))
    write("sub/flow.yaml", """\
version: 1
steps:
  a: {shell: "python3 train.py <train.py"}
  b: {shell: "cd sub; python3 train.py"}
  c: {command: [python3, train.py]}
""")
    text = (f"warning: commands start in '{smtune.directory}', which contains "
            "no 'train.py'\n")
    result = smtune("validate", "sub/exp.yaml", "sub/flow.yaml")
    assert [line for line in result.stderr.splitlines(True)
            if "warning" in line] == [
        f"sub/exp.yaml:6:20: {text}", f"sub/flow.yaml:3:23: {text}",
        f"sub/flow.yaml:5:26: {text}"]
    assert f"start it from '{smtune.directory}/sub'" in result.stderr
    assert text in smtune("run", "sub/exp.yaml", "--set",
                          "budget.trials=1").stderr
    write("train.py", "")
    assert "warning" not in smtune("validate", "sub/exp.yaml").stderr


@pytest.mark.parametrize("name, goal, warns", [
    ("val_accuracy", "minimize", True), ("val_accuracy", "maximize", False),
    ("loss", "maximize", True), ("loss", "minimize", False)])
def test_warns_of_an_unlikely_goal(smtune, write, name, goal, warns):
    path = write("goal.yaml", f"""\
        version: 1
        name: goal
        objective: {{metric: {name}, goal: {goal}}}
        parameters: {{x: {{type: float, min: 0, max: 1}}}}
        budget: {{trials: 1}}
        trial: {{command: "echo {name}=${{{{ x }}}}"}}
        """)
    result = smtune("validate", path)
    assert result.returncode == 0
    assert ("its name makes that unlikely" in result.stderr) == warns


@pytest.mark.parametrize("written", ["maximize accuracy",
                                     "{metric: maximize accuracy}"])
def test_refuses_a_goal_in_the_name_of_a_metric(smtune, write, written):
    path = write("a.yaml", GOOD.replace("loss", written))
    result = smtune("validate", path)
    assert result.returncode == 3
    assert "'maximize accuracy' has a goal in the name of a metric" in \
        result.stderr
    assert "write {metric: accuracy, goal: maximize}" in result.stderr
    smtune.ok("validate", write("b.yaml", GOOD.replace("loss", "maximize")))
