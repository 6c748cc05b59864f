# SPDX-License-Identifier: GPL-3.0-or-later
"""Schedules on a simulated cluster, and the table of curves that it plays."""

import json
import math
import subprocess
import xml.etree.ElementTree

import pytest

from programs import BUILD, ROOT, SHIPPED

FOLDER = ROOT / "tests/bench/cluster"
TABLE = FOLDER / "curves.csv"
EPOCHS = 27


def cluster(*words, table=TABLE, status=0):
    result = subprocess.run([BUILD / "cluster", *map(str, words), table],
                            capture_output=True, text=True, timeout=300)
    assert result.returncode == status, result.stderr
    return result


def runs(*words):
    return [json.loads(line) for line in cluster(*words).stdout.splitlines()]


def rows():
    lines = [line for line in TABLE.read_text().splitlines()
             if not line.startswith("#")]
    names, *values = (line.split(",") for line in lines)
    return [dict(zip(names, row, strict=True)) for row in values]


@pytest.mark.sanitized
def test_table_is_whole_and_small():
    table = rows()
    assert len(table) >= 400
    assert TABLE.stat().st_size < 300_000
    for row in table:
        errors = [row[f"e{epoch + 1}"] for epoch in range(EPOCHS)]
        known = [int(error) for error in errors if error]
        assert errors[len(known):] == [""] * (EPOCHS - len(known))
        assert all(0 < error <= 2000 for error in known)
        assert float(row["epoch_ms"]) > 0
        assert (row["momentum"] == "") == (row["optimizer"] == "adam")


def test_table_can_be_made_again(tmp_path):
    """Four rows of it, and of each the first epochs: where the learning rate is
    high, later ones hang on the last bits of the arithmetic."""
    subprocess.run([FOLDER / "curves.py", "--rows", "4", "--smtrain",
                    SHIPPED / "smtrain", tmp_path / "four.csv"], check=True,
                   timeout=300)
    old = TABLE.read_text().splitlines()
    new = (tmp_path / "four.csv").read_text().splitlines()
    assert len(new) == len(old) - len(rows()) + 4
    for line, other in zip(new, old):
        assert line.split(",")[:8] == other.split(",")[:8]
        if line[0].isdigit():
            for a, b in zip(line.split(",")[9:13], other.split(",")[9:13],
                            strict=True):
                assert abs(int(a) - int(b)) <= 20


def test_one_worker_alone_spends_what_it_does():
    run, = runs("--contenders", "random", "--workers", 1, "--seeds", 1,
                "--stragglers", 0, "--failures", 0, "--start", 0, "--within",
                20)
    assert run["found"]
    assert run["attempts"] == run["trials"] and run["failed_attempts"] == 0
    assert EPOCHS * run["trials"] >= run["resource"] > (
        EPOCHS * run["full_trials"])
    assert math.isclose(run["busy"], 1)


def test_it_is_played_the_same_however_it_is_spread():
    words = ("--contenders", "asha,hyperband", "--workers", "1,7", "--seeds",
             3, "--within", 20)

    def in_order(lines):
        return sorted(json.dumps(line) for line in lines)
    alone = in_order(runs(*words))
    assert alone == in_order(runs(*words, "--jobs", 3))
    assert len(set(alone)) == 12


def test_failures_and_starts_cost():
    words = ("--contenders", "asha", "--seeds", 10, "--within", 5)
    calm, failing, slow = (
        sum(run["time"] for run in runs(*words, *more))
        for more in (("--failures", 0), ("--failures", 60),
                     ("--failures", 0, "--start", 300)))
    assert failing > 1.1 * calm and slow > 1.5 * calm


def test_asha_is_ahead():
    """At 25 workers, of random search and of hyperband."""
    time = {}
    for run in runs("--contenders", "random,asha,hyperband", "--seeds", 20,
                    "--most", 60000):
        time[run["contender"]] = time.get(run["contender"], 0) + run["time"]
    assert time["asha"] * 3 < time["random"]
    assert time["asha"] * 1.4 < time["hyperband"]


def test_each_seed_has_other_rows():
    targets = {run["target"] for run in runs(
        "--contenders", "asha", "--seeds", 8, "--rows", 20, "--within", 20)}
    assert len(targets) >= 4


def test_a_search_gives_up():
    run, = runs("--contenders", "random", "--seeds", 1, "--within", 0,
                "--most", 200)
    assert not run["found"]
    assert 200 <= run["resource"] < 200 + 25 * EPOCHS


@pytest.mark.parametrize("words, message", [
    (("--contenders", "asha,magic"), "no contender 'magic'"),
    (("--workers", "1,x"), "--workers: 'x' is no list"),
])
def test_names_are_checked(words, message):
    assert message in cluster(*words, status=2).stderr


def test_a_bad_table_is_named(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("# nothing\nlr\n0.1,sgd,0.5,wide\n")
    errors = cluster(table=path, status=3).stderr
    assert str(path) in errors and "line 3 is no curve" in errors


def test_report_and_picture(tmp_path):
    lines = tmp_path / "lines.jsonl"
    cluster("--contenders", "random,asha", "--workers", "5,25", "--seeds", 4,
            "--within", 20, "--out", lines)
    result = subprocess.run([FOLDER / "report.py", lines, "--picture",
                             tmp_path / "it.svg"], capture_output=True,
                            text=True, check=True)
    table = [line for line in result.stdout.splitlines() if "asha" in line]
    assert len(table) == 2 and all("4 of 4" in line for line in table)
    root = xml.etree.ElementTree.parse(tmp_path / "it.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
