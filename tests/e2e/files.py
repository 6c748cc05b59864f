# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of experiment files and workflow files, of which a test gives what
differs from the default.

    experiment()                                   6 trials, loss=x
    experiment("exit 3", trials=1, method="tpe")   a shell script, one trial
    experiment(command="./train", objective="{metric: loss, goal: maximize}")
    workflow('''
        a: {command: "true"}
        b: {needs: a, command: "false"}
        ''', parallel=4)

A string is YAML, numbers, lists and dictionaries become YAML, and None leaves
a key out. Only `shell` and `command` are strings as they are.
"""

import json
import textwrap

# Keys of sections that are given without their section: no two are the same.
KEYS = {
    "search": "method seed points lr_adapt duplicates",
    "budget": "trials parallel time target no_improvement improvement"
              " convergence resource failures",
    "trial": "command shell metrics env workdir setup resources pool pools retry"
             " checkpoints channels tty container conda env_from",
}
SECTION = {key: section for section, keys in KEYS.items()
           for key in keys.split()}
# Parameters of which one is no number.
X_AND_K = ("{x: {type: float, min: 0, max: 1},"
           " k: {type: categorical, values: [a, b]}}")


def yaml(value):
    if isinstance(value, str):
        return textwrap.dedent(value).strip("\n")
    return json.dumps(value, ensure_ascii=False)


def script(text):
    return json.dumps(text if isinstance(text, list) else yaml(text),
                      ensure_ascii=False)


def flow(keys):
    """{"a": 1, "b": None} as {a: 1}; None where nothing is left."""
    pairs = [f"{key}: {yaml(value)}" for key, value in keys.items()
             if value is not None]
    return "{%s}" % ", ".join(pairs) if pairs else None


def block(sections):
    """One section after the other, of a line or indented below its key."""
    texts = [(key, yaml(value)) for key, value in sections.items()
             if value is not None]
    return "version: 1\n" + "".join(
        f"{key}:\n{textwrap.indent(text, '  ')}\n"
        if "\n" in text or key == "steps" else f"{key}: {text}\n"
        for key, text in texts)


def experiment(shell=None, **keys):
    """Trials that run the shell script, or the command that prints loss=x."""
    parts = {"search": {"method": "random", "seed": 3},
             "budget": {"trials": 6, "parallel": 2}, "trial": {}}
    sections = {}
    if shell is not None:
        keys["shell"] = script(shell)
    else:
        keys["command"] = script(keys.get("command", "echo loss=${{ x }}"))
    for key, value in keys.items():
        parts.get(SECTION.get(key), sections)[key] = value
    return block({"name": "exp", "objective": "loss",
                  "parameters": "{x: {type: float, min: 0, max: 1}}",
                  **{name: flow(part) for name, part in parts.items()},
                  **sections})


def counting_from(first):
    """experiment()'s, of trials whose first epoch is 0 or 1; trial 1 has the
    whole resource, 3 epochs."""
    return {"shell": """\
        x=${{ x }} n=FIRST
        while [ $n -lt $((SMTUNE_RESOURCE + FIRST)) ]; do
          echo "epoch=$n loss=$((x * 10 - n))"; n=$((n + 1))
        done
        """.replace("FIRST", str(first)),
            "search": "grid", "trials": 3, "parallel": 1,
            "parameters": {"x": {"type": "ordinal", "values": [1, 2, 3]}},
            "schedule": "{method: asha, resource: epochs, min: 1, max: 3,"
                        " eta: 3}"}


def workflow(steps, name="flow", **sections):
    return block({"name": name, **sections, "steps": steps})
