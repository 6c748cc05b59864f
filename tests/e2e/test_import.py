# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune import`: results of other tools as a run."""

import json

import pytest

from sessions import SPACE

FILE = SPACE + """\
search: {method: tpe, seed: 5}
    budget: {trials: 2}
    """
CSV = """\
number,loss,params_x,params_k,params_y,state,host
0,0.5,0.25,a,,COMPLETE,n1
1,,0.5,b,3,FAIL,n1
2,nan,0.5,b,4,COMPLETE,n2
3,0.75,1e-3,b,9,PRUNED,n2
4,,0.125,a,,RUNNING,n2
"""


def check(smtune, run="old"):
    smtune.ok("fsck")
    answer = smtune.json("replay", run)
    assert answer["difference"] is None, answer


@pytest.mark.sanitized
@pytest.mark.quick
def test_a_table_becomes_a_run(smtune, write):
    file, table = write("exp.yaml", FILE), write("old.csv", CSV)
    result = smtune("import", table, "--file", file, "--record", "old")
    assert result.returncode == 0, result.stderr
    assert "run 'old': 4 results imported, 1 row without a result left out" \
        in result.stderr
    rows = smtune.json("trials", "old")
    assert [row["state"] for row in rows] == \
        ["succeeded", "failed", "failed", "stopped"]
    assert rows[0]["params"] == {"x": 0.25, "k": "a", "y": None}
    assert (rows[0]["value"], rows[3]["value"]) == (0.5, 0.75)
    check(smtune)


def test_a_run_begins_with_it(smtune, write, experiment):
    smtune.ok("import", write("old.csv", CSV), "--file",
              write("exp.yaml", FILE), "--record", "old")
    again = write("again.yaml", FILE + "warm_start: old\n    "
                  "trial: {command: echo loss=$SMTUNE_PARAM_X}\n")
    text = smtune("run", again)
    assert "of run 'old'" in text.stderr


def test_what_export_writes_can_be_imported(smtune, experiment):
    path = experiment("echo loss=${{ x }}", trials=4)
    smtune.ok("run", path)
    smtune.ok("export", "exp", "--format", "jsonl", "-o", "rows.jsonl")
    smtune.ok("export", "exp", "-o", "rows.csv")
    smtune.ok("import", "rows.jsonl", "--file", path, "--record", "a")
    smtune.ok("import", "rows.csv", "--file", path, "--record", "b")
    smtune.ok("import", "rows.csv", "--record", "b")

    def results(run):
        return [(row["params"], row["value"], row["state"])
                for row in smtune.json("trials", run)]
    assert results("a") == results("exp")
    assert results("b") == 2 * results("exp")
    check(smtune, "b")


@pytest.mark.parametrize("row, message", [
    ("9,0.5,2,a,,COMPLETE,", "line 7: "),
    ("9,0.5,0.5,c,,COMPLETE,", "line 7: "),
    ("9,low,0.5,a,,COMPLETE,", "line 7: type mismatch"),
    ("9,0.5,0.5,,,COMPLETE,", "line 7: \"params\" lacks a parameter"),
    ("9,0.5,0.5,a,,COMPLETE", "line 7: 6 cells, and the header has 7"),
    ("9,0.5,0.5,a,,COMPLETE,,", "line 7: 8 cells, and the header has 7"),
])
def test_a_wrong_row_imports_nothing(smtune, write, row, message):
    table = write("old.csv", CSV + row + "\n")
    result = smtune("import", table, "--file", write("exp.yaml", FILE),
                    "--record", "old")
    assert result.returncode == 3, result.stderr
    assert message in result.stderr
    assert not (smtune.store / "smtune.db").exists()


def test_constraints_are_imported(smtune, write):
    rows = [{"params": {"x": 0.5, "k": "a"}, "values": [1],
             "outcomes": {"ms": 25}},
            {"params": {"x": 0.25, "k": "a"}, "value": 2,
             "outcomes": {"ms": 15}}]
    smtune.ok("import", write("old.jsonl", "".join(
        json.dumps(row) + "\n" for row in rows)), "--record", "old", "--file",
        write("exp.yaml", FILE + "outcomes: [{metric: ms, max: 20}]\n"))
    assert [row["outcomes"]["ms"] for row in smtune.json("trials", "old")] == \
        [25, 15]
    assert smtune.json("best", "old")["id"] == 2
    check(smtune)


def test_rows_come_from_standard_input(smtune, write):
    rows = '{"params": {"x": 0.5, "k": "a"}, "values": [1]}\n\n' \
        '{"x": 0.25, "k": "a", "state": "PRUNED"}'
    smtune.ok("import", "-", "--as", "jsonl", "--record", "old", "--file",
              write("exp.yaml", FILE), input=rows)
    assert smtune.states("old") == ["succeeded", "stopped"]
    check(smtune)


def test_nothing_is_set_without_a_file(smtune, write):
    table = write("old.csv", CSV)
    smtune.ok("import", table, "--file", write("exp.yaml", FILE), "--record",
              "old")
    result = smtune("import", table, "--record", "old", "--set", "search=grid")
    assert result.returncode == 2
    assert "--set changes a file, and there is no FILE" in result.stderr


@pytest.mark.parametrize("text, message", [
    ("x loss\n", "neither .csv, .tsv nor .jsonl"),
    ("SQLite format 3\0", "smtune.import_optuna("),
    ('{"op_code": 0, "study_name": "a"}\n', "smtune.import_optuna("),
])
def test_it_names_what_it_cannot_read(smtune, write, text, message):
    result = smtune("import", write("old.db", text), "--record", "old",
                    "--file", write("exp.yaml", FILE))
    assert result.returncode == 2
    assert message in result.stderr
