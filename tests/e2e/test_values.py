# SPDX-License-Identifier: GPL-3.0-or-later
"""What a trial is given: values of every kind, in groups, and in files."""

import json
import tomllib

import pytest
import yaml

pytestmark = pytest.mark.sanitized

SHOW = """\
import json, os, sys
print("ARGV", json.dumps(sys.argv[1:]))
print("PARAMS", open(os.environ["SMTUNE_PARAMS"]).read())
print("ENV", json.dumps({name: value for name, value in os.environ.items()
                         if name.startswith(("SM_HP_", "X_"))}))
print("loss=1")
"""


def told(smtune, run, trial):
    """What SHOW printed."""
    lines = smtune.ok("logs", run, str(trial)).splitlines()
    return {line.split(" ", 1)[0].lower(): json.loads(line.split(" ", 1)[1])
            for line in lines if line.split(" ")[0] in ("ARGV", "PARAMS", "ENV")}


def run(smtune, write, text, name="v"):
    write("show.py", SHOW)
    write(f"{name}.yaml", f"version: 1\nname: {name}\nobjective: loss\n" + text)
    result = smtune("run", f"{name}.yaml", "-q")
    assert result.returncode == 0, result.stderr
    return [told(smtune, name, row["id"])
            for row in smtune.json("trials", name)]


def test_lists_maps_and_null_are_values(smtune, write):
    seen = run(smtune, write, """\
parameters:
  layers: {type: categorical, values: [[64], [64, 32], null]}
  data: {value: {path: a b, sizes: [1, 2.0]}}
  shape: [3, 4]
search: grid
budget: {parallel: 1}
trial:
  command: >-
    python3 show.py --layers ${{ layers }} --data=${{ data }} ${{ shape }}
    x=${{ layers }}
  env: {X_LAYERS: "${{ layers }}"}
""")
    data = {"path": "a b", "sizes": [1, 2.0]}
    texts = {None: None, 1: "[64]", 2: "[64,32]"}
    for trial in seen:
        layers = trial["params"]["layers"]
        assert layers in ([64], [64, 32], None)
        text = texts[layers and len(layers)]
        some = text is not None
        assert trial["params"] == {"layers": layers, "data": data,
                                   "shape": [3, 4]}
        assert trial["argv"] == (
            some * ["--layers", text] +
            ['--data={"path":"a b","sizes":[1,2.0]}', "[3,4]"] +
            some * [f"x={text}"])
        assert trial["env"].get("X_LAYERS") == text
        assert trial["env"].get("SM_HP_LAYERS") == text
    assert {trial["env"].get("X_LAYERS") for trial in seen} == {
        "[64]", "[64,32]", None}
    smtune.ok("replay", "v")
    smtune.ok("fsck", "v")


def test_lists_and_null_can_be_enqueued(smtune, write):
    seen = run(smtune, write, """\
parameters:
  layers: {type: categorical, values: [[64], [64, 32], null]}
  x: {type: int, min: 1, max: 9}
enqueue: [{layers: null, x: 2}, {layers: [64, 32], x: 3}]
budget: {trials: 2, parallel: 1}
trial: {command: "python3 show.py ${{ args }}"}
""")
    assert [trial["params"] for trial in seen] == [
        {"layers": None, "x": 2}, {"layers": [64, 32], "x": 3}]
    assert [trial["argv"] for trial in seen] == [
        ["--x", "2"], ["--layers", "[64,32]", "--x", "3"]]
    result = smtune("run", "v.yaml", "--set", "enqueue=[{layers: [1]}]")
    assert result.returncode == 3
    assert "'[1]' is not a value of parameter 'layers'" in result.stderr
    assert "one of: [64], [64,32], null" in result.stderr


def test_parameters_may_be_in_groups(smtune, write):
    seen = run(smtune, write, """\
parameters:
  model:
    kind: {type: categorical, values: [cnn, mlp]}
    width: {type: int, min: 1, max: 2, when: "model.kind = 'cnn'"}
    drop: 0.5
  data: {batch: 32}
  "a.b": 1
search: grid
budget: {parallel: 1}
trial: {command: "python3 show.py ${{ overrides }} ${{ model.drop * 2 }}"}
""")
    assert len(seen) == 3
    for trial in seen:
        params = trial["params"]
        cnn = params["model.kind"] == "cnn"
        assert params["data.batch"] == 32 and params["a.b"] == 1
        assert ("model.width" in params) == cnn
        assert trial["argv"] == (
            [f"model.kind={params['model.kind']}"] +
            cnn * [f"model.width={params.get('model.width')}"] +
            ["model.drop=0.5", "data.batch=32", "a.b=1", "1.0"])
    plan = smtune.ok("plan", "v.yaml", "--set", "parameters.model.drop=0.25")
    assert "model.drop=0.25" in plan


@pytest.mark.parametrize("group, message", [
    ("{min: 0, max: 1}", "missing key 'type' in parameter 'g'"),
    ("{typ: float, mn: 0}", "unknown key 'typ' in parameter 'g'"),
    ("{low: 0, high: 1}", "unknown key 'low' in parameter 'g'"),
    ("{}", "missing key 'type' in parameter 'g'"),
    ("{a: {typ: int, min: 1, max: 2}}",
     "unknown key 'typ' in parameter 'g.a'"),
    ("{a: {b c: 1}}", "'g.a.b c' is not a valid name for a parameter"),
])
def test_a_group_is_no_misspelt_parameter(smtune, write, group, message):
    write("g.yaml", "version: 1\nobjective: loss\nparameters:\n"
          f"  g: {group}\n  x: {{type: int, min: 1, max: 2}}\n"
          "trial: {command: \"t ${{ x }}\"}\n")
    result = smtune("validate", "g.yaml")
    assert result.returncode == 3
    assert message in result.stderr
    assert "g.yaml:4:" in result.stderr


# ---- trial.files ----

BASE = """\
model: {lr: 0.5, kind: "${{ kind }}", momentum: "${{ momentum }}"}
note: "lr is ${{ lr }}"
list: [1, "${{ n }}"]
keep: {yes: "no"}
"""


def files_of(smtune, name, trial):
    return smtune.store / f"runs/{name}/trials/{trial}"


def test_files_have_the_values_of_their_trial(smtune, write):
    write("base.yaml", BASE)
    write("base.toml", "# kept\nlr = ${{ lr }}\n")
    write("note.txt", "n=${{ n }} at ${{ trial }}\n")
    run(smtune, write, """\
parameters:
  lr: {type: categorical, values: [0.00001, 2.0]}
  kind: {value: "true"}
  n: 3
  momentum: {type: float, min: 0, max: 1, when: lr > 5}
  layers: {value: [64, null]}
search: grid
budget: {parallel: 1}
trial:
  command: python3 show.py ${{ dir }}/sub/conf.yaml
  files:
    - path: sub/conf.yaml
      from: base.yaml
      set: {model.lr: "${{ lr }}", new.deep.key: [a, "${{ kind }}"],
            note2: "${{ n }} of ${{ lr }}", gone: "${{ momentum }}"}
    - {path: conf.json, set: {lr: "${{ lr }}", layers: "${{ layers }}"}}
    - path: conf.toml
      set: {lr: "${{ lr }}", opt.name: "${{ kind }}", opt.n: "${{ n }}",
            opt.in.flag: true, gone: "${{ momentum }}"}
    - {path: base.toml, from: base.toml}
    - {path: "note-${{ n }}.txt", from: note.txt}
""", "f")
    for row in smtune.json("trials", "f"):
        folder = files_of(smtune, "f", row["id"])
        lr = row["params"]["lr"]
        conf = yaml.safe_load((folder / "sub/conf.yaml").read_text())
        assert conf == {
            "model": {"lr": lr, "kind": "true"}, "note": conf["note"],
            "list": [1, 3], "keep": {"yes": "no"},
            "new": {"deep": {"key": ["a", "true"]}}, "note2": conf["note2"]}
        assert isinstance(conf["model"]["lr"], float)
        assert conf["note"] == f"lr is {lr}"
        assert json.loads((folder / "conf.json").read_text()) == {
            "lr": lr, "layers": [64, None]}
        assert tomllib.loads((folder / "conf.toml").read_text()) == {
            "lr": lr, "opt": {"name": "true", "n": 3, "in": {"flag": True}}}
        assert (folder / "base.toml").read_text() == f"# kept\nlr = {lr}\n"
        assert (folder / "note-3.txt").read_text() == \
            f"n=3 at {row['id']}\n"


FILES = """\
version: 1
name: e
objective: loss
parameters: {x: {type: int, min: 1, max: 2}}
trial:
  command: echo loss=1
  files:
    - """


@pytest.mark.parametrize("file, message", [
    ("{path: c.yaml, set: {a: '${{ y }}'}}", "files: unknown name 'y'"),
    ("{path: c.txt}", "a text file requires 'from'"),
    ("{path: c.txt, from: a.txt, set: {a: 1}}",
     "'set' is not allowed in a text file"),
    ("{path: c.toml, from: a.toml, set: {a: [1, null]}}",
     "null is not allowed in a toml file"),
    ("{from: a.txt}", "missing key 'path'"),
    ("{path: c, format: jsn}", "'jsn'"),
])
def test_wrong_files_are_errors_of_the_file(smtune, write, file, message):
    write("e.yaml", FILES + file + "\n")
    result = smtune("validate", "e.yaml")
    assert result.returncode == 3
    assert message in result.stderr
    assert "e.yaml:8:" in result.stderr


@pytest.mark.parametrize("base, message", [
    (None, "base.yaml"),
    ("a: ${{ y }}\n", "unknown name 'y'"),
    ("- 1\n", "is not a map of keys"),
    ("a: [\n", "base.yaml"),
])
def test_a_wrong_template_file_is_an_error_before_the_run(smtune, write, base,
                                                          message):
    write("e.yaml", FILES + "{path: c.yaml, from: base.yaml}\n"
          "budget: {trials: 1}\n")
    if base is not None:
        write("base.yaml", base)
    for command in ("validate", "plan", "try", "run"):
        result = smtune(command, "e.yaml")
        assert result.returncode == 3
        assert "e.yaml:8:28: error: file 'c.yaml': " in result.stderr
        assert message in result.stderr
    assert not smtune.store.exists()


def test_a_template_file_that_is_gone_fails_the_trial(smtune, write):
    """It is read again for each attempt; the record needs it no more."""
    base = write("base.txt", "x=${{ x }}\n")
    write("e.yaml", FILES.replace("loss=1", "loss=1; rm -f base.txt")
          .replace("command", "shell") + "{path: c.txt, from: base.txt}\n"
          "budget: {trials: 2, parallel: 1}\nsearch: random\n")
    smtune("run", "e.yaml", "-q")
    assert not base.exists()
    states = [row["state"] for row in smtune.json("trials", "e")]
    assert states == ["succeeded", "failed"]
    assert "base.txt" in smtune.ok("show", "e", "2")
    smtune.ok("replay", "e")


AS_WRITTEN = """\
amp: no
"quoted": "no"
version: 1.10
lr: 1e-5
big: 12345678901234567890
time: 1:30
day: 2026-11-28
word: some words, [here]
folded: two
  lines
tag: !!str 5
nothing: ~
milestones: {10: 0.1, "20": 0.2, on: off}
list: [yes, 0x10, {a: n}]
"""


def test_a_yaml_file_keeps_what_it_does_not_set(smtune, write):
    """A program that reads YAML 1.1 reads the same as from the base."""
    write("base.yaml", AS_WRITTEN)
    run(smtune, write, """\
parameters: {x: 0.5}
budget: {trials: 1}
trial:
  command: python3 show.py
  files:
    - path: c.yaml
      from: base.yaml
      set: {milestones.10: "${{ x }}", added: "no"}
""", "w")
    conf = yaml.safe_load((files_of(smtune, "w", 1) / "c.yaml").read_text())
    base = yaml.safe_load(AS_WRITTEN)
    assert base["amp"] is False and base["time"] == 90
    base["milestones"][10] = 0.5
    base["milestones"]["on"] = base["milestones"].pop(True)
    assert conf == base | {"added": "no"}
    text = (files_of(smtune, "w", 1) / "c.yaml").read_text()
    assert "version: 1.10\n" in text and "lr: 1e-5\n" in text
    assert "big: 12345678901234567890\n" in text


CONFIG = """\
# seed: of everything
seed = 1  # int
name = 'a # b'
clip = +inf
start = 1979-05-27 07:32:00Z

[model]
layers = [
  64,  # first
  32,
]
kind = \"\"\"
two
lines\"\"\"
opt = { name = "sgd", lr = 1e-3 }

[[data]]
path = "a"

[[data]]
path = "b"
"""


def test_a_toml_file_changes_where_it_is_set(smtune, write):
    write("base.toml", CONFIG)
    run(smtune, write, """\
parameters:
  lr: {type: categorical, values: [0.00001, 2.0]}
  word: {value: "a \\"b\\" \\\\ # \\u007f é"}
  deep: {type: float, min: 0, max: 1, when: lr > 5}
search: grid
budget: {parallel: 1}
trial:
  command: python3 show.py
  files:
    - path: c.toml
      from: base.toml
      set: {seed: "${{ trial }}", clip: -.inf, model.layers.1: "${{ lr }}",
            model.kind: "${{ word }}", model.opt.lr: "${{ lr }}",
            model.opt.nesterov: true, data.1.path: "x${{ lr }}",
            data.0.shuffle.on: false, model.note: [1, {a b: .nan}],
            run.out.dir: "${{ dir }}", start: "${{ deep }}", gone: "${{ deep }}"}
""", "t")
    rows = smtune.json("trials", "t")
    assert len(rows) == 2
    for row in rows:
        folder = files_of(smtune, "t", row["id"])
        lr = row["params"]["lr"]
        text = (folder / "c.toml").read_text()
        conf = tomllib.loads(text)
        assert str(conf["model"]["note"].pop()["a b"]) == "nan"
        assert conf == {
            "seed": row["id"], "name": "a # b", "clip": float("-inf"),
            "model": {"layers": [64, lr], "note": [1],
                      "kind": 'a "b" \\ # \x7f é',
                      "opt": {"name": "sgd", "lr": lr, "nesterov": True}},
            "data": [{"path": "a", "shuffle": {"on": False}},
                     {"path": f"x{lr}"}],
            "run": {"out": {"dir": str(folder)}}}
        kept = [line for line in CONFIG.splitlines()
                if "start" not in line and "#" in line]
        assert [line for line in text.splitlines() if "#" in line and
                "u007f" not in line] == [
            line.replace("seed = 1", f"seed = {row['id']}") for line in kept]


@pytest.mark.parametrize("key, message", [
    ("model", "'model': '{}', line 7, column 1: 'model' is a table here"),
    ("data.path", "line 17, column 1: 'data' is an array here"),
    ("data.2.path", "line 20, column 1: 'data' has no item 2 (2 items)"),
    ("seed.x", "line 2, column 8: 'seed' is a value here, not a table"),
])
def test_what_a_toml_file_cannot_take_is_an_error(smtune, write, key, message):
    base = write("base.toml", CONFIG)
    write("e.yaml", FILES + "{path: c.toml, from: base.toml, set: {"
          + key + ": 1}}\nbudget: {trials: 1}\n")
    result = smtune("run", "e.yaml")
    assert result.returncode != 0
    assert message.format(base) in result.stderr


@pytest.mark.parametrize("format", ["yaml", "json"])
def test_set_goes_into_lists_and_keeps_infinities(smtune, write, format):
    write("base.yaml", "a: [1, {b: 2}, 3]\nempty:\nbig: .inf\n")
    setting = "a.1.b: 5, a.2: six, empty.c: 7"
    if format == "json":
        setting += ", big: 1"
    run(smtune, write, f"""\
parameters: {{x: {{type: float, min: 0, max: 1, when: "0"}}}}
budget: {{trials: 1}}
trial:
  command: python3 show.py
  files:
    - path: c.{format}
      from: base.yaml
      set: {{{setting}, gone.x: "${{{{ x }}}}"}}
""", "l")
    text = (files_of(smtune, "l", 1) / f"c.{format}").read_text()
    conf = yaml.safe_load(text)
    assert conf == {"a": [1, {"b": 5}, "six"], "empty": {"c": 7},
                    "big": 1 if format == "json" else float("inf")}


@pytest.mark.parametrize("base, key, message", [
    ("a: [1, 2]\n", "a.2", "'a.2': no item '2' in the list (2 items)"),
    ("a: [1, 2]\n", "a.b.c", "'a.b.c': no item 'b' in the list (2 items)"),
    ("a: 1\n", "a.b", "'a.b': no key 'b' in a value that is not a map"),
    ("a: {b: .nan}\n", "c", "'b': JSON has no inf and no nan"),
])
def test_what_a_tree_cannot_take_is_an_error(smtune, write, base, key,
                                             message):
    write("base.yaml", base)
    write("e.yaml", FILES + "{path: c.json, from: base.yaml, set: {"
          + key + ": 1}}\nbudget: {trials: 1}\n")
    result = smtune("run", "e.yaml")
    assert result.returncode != 0
    assert message in result.stderr


def test_json_with_surrogate_pairs_is_read_everywhere(smtune, write):
    """As Python's json.dumps() writes it: files, --set, metrics, outputs."""
    face = "\U0001f600"
    write("train.py", f"""\
import json, sys
print("ARGV", json.dumps(sys.argv[1:]))
print(json.dumps({{"loss": 1, "{face}": 2}}))
""")
    file = {"version": 1, "name": "j", "objective": "loss",
            "parameters": {"mood": {"type": "categorical",
                                    "values": [face, face + "b"]},
                           "k": "old"},
            "search": "grid", "budget": {"parallel": 1},
            "trial": {"command": ["python3", "train.py", "${{ mood }}",
                                  "${{ k }}"]}}
    text = json.dumps(file)
    assert "\\ud83d\\ude00" in text
    write("j.json", text)
    smtune.ok("run", "j.json", "-q", "--set",
              f"parameters.k={json.dumps(face)}")
    rows = smtune.json("trials", "j")
    assert sorted(row["params"]["mood"] for row in rows) == [face, face + "b"]
    for row in rows:
        assert row["params"]["k"] == face
        assert row["metrics"][face] == 2
        assert told(smtune, "j", row["id"])["argv"] == [
            row["params"]["mood"], face]
    write("w.json", json.dumps({
        "version": 1, "name": "w", "params": {"p": face}, "steps": {
            "make": {"command": ["sh", "-c", 'echo "$1" >"$SMTUNE_OUTPUTS"',
                                 "sh", json.dumps({"mood": face})],
                     "outputs": {"mood": None}},
            "use": {"needs": "make", "command": "echo ${{ make.mood }} ${{ p }}"}}}))
    smtune.ok("run", "w.json", "-q")
    assert smtune.ok("logs", "w", "use") == f"{face} {face}\n"


def test_half_of_a_surrogate_pair_is_an_error(smtune, write):
    write("half.json", '{"version": 1, "name": "\\ud83d"}')
    result = smtune("validate", "half.json")
    assert result.returncode == 3
    assert "half.json:1:27: error: an escape that is no character" in \
        result.stderr
