# SPDX-License-Identifier: GPL-3.0-or-later
"""The problems that search methods are measured on, and their programs."""

import json
import re
import subprocess
import xml.etree.ElementTree

import pytest

from programs import BUILD, ROOT

REGRET = BUILD / "regret"
PEER = ROOT / "tests/bench/regret/optuna_peer.py"
SCORE = ROOT / "tests/bench/regret/score.py"


def regret(*words, status=0, **options):
    result = subprocess.run([REGRET, *words], capture_output=True, text=True,
                            timeout=300, **options)
    assert result.returncode == status, result.stderr
    return result


def runs(*words):
    return [json.loads(line) for line in regret(*words).stdout.splitlines()]


def problems():
    """[(name, set, kind, dimension)]"""
    return [line.split() for line in regret("--list").stdout.splitlines()]


@pytest.mark.sanitized
def test_sets_are_large_spread_and_disjoint():
    listed = problems()
    names = [name for name, *_ in listed]
    assert len(set(names)) == len(names)
    in_set = {which: [p for p in listed if p[1] == which]
              for which in ("tune", "report")}
    assert len(in_set["report"]) >= 30 and len(in_set["tune"]) >= 12
    assert {int(p[3]) for p in in_set["report"]} >= {1, 2, 5, 10, 20, 30}
    kinds = {which: {p[2] for p in some} for which, some in in_set.items()}
    assert kinds["tune"] == kinds["report"]
    assert len(kinds["report"]) >= 10

    def functions(some):  # "noisy-ackley-3" is made of "ackley"
        return {p[0].rstrip("0123456789-").split("-")[-1] for p in some}
    assert not functions(in_set["tune"]) & functions(in_set["report"])


def test_page_says_which_problem_is_in_which_set():
    page = (ROOT / "docs/benchmarks.md").read_text()
    table = page[page.index("| kind | `report`"):].split("\n\n")[0]
    columns = [row.split("|")[2:4] for row in table.splitlines()[2:]]
    for name, which, *_ in problems():
        place = ("report", "tune").index(which)
        words = " ".join(row[place] for row in columns)
        assert re.search(rf"(?<![\w-]){name}(?![\w-])", words), name
    sizes = re.search(r"`report`, (\d+) problems.*`tune`, (\d+) ", table)
    assert [int(n) for n in sizes.groups()] == [
        sum(p[1] == which for p in problems()) for which in ("report", "tune")]


def test_no_random_point_beats_the_best_known_value():
    lines = runs("--set", "all", "--methods", "random", "--seeds", "2",
                 "--trials", "2000")
    assert len(lines) == 2 * len(problems())
    for line in lines:
        values = [v for v in line["regret"].values() if v is not None]
        assert values, line
        assert min(values) > -1e-6, line
        assert max(values) < 100, line


def test_optimum_is_no_special_place():
    """Another seed, another instance: the same points have other regrets."""
    lines = runs("--set", "all", "--methods", "sobol", "--seeds", "2",
                 "--trials", "10")
    regrets = {}
    for line in lines:
        regrets.setdefault(line["problem"], []).append(line["regret"]["10"])
    for problem, (first, second) in regrets.items():
        assert first is None or first != second, problem


@pytest.mark.parametrize("parallel", ["1", "8"])
def test_runs_are_the_same_however_they_are_spread(parallel):
    words = ("--set", "tune", "--methods", "random,sobol", "--seeds", "2",
             "--trials", "25", "--parallel", parallel)

    def comparable(lines):
        return sorted(json.dumps({**line, "seconds": 0}) for line in lines)
    alone = comparable(runs(*words))
    assert alone == comparable(runs(*words, "--jobs", "3"))
    assert len(alone) == 2 * 2 * sum(p[1] == "tune" for p in problems())


def test_names_are_checked():
    assert "no problem 'spere'" in regret("--problems", "spere",
                                          status=2).stderr
    assert "no method 'magic'" in regret("--methods", "magic",
                                         status=2).stderr


def test_serve_asks_for_what_is_active():
    requests = [{}, {"kernel": "linear"},
                {"kernel": "linear", "c": 1, "shrinking": True},
                {"kernel": "poly", "c": 1, "shrinking": True, "gamma": 0.1,
                 "degree": 3, "coef0": 0.5}]
    text = "".join(json.dumps({"params": r}) + "\n" for r in requests)
    first, *answers = map(json.loads, regret(
        "--serve", "tree-kernel", input=text).stdout.splitlines())
    assert first["params"][0]["values"] == ["linear", "rbf", "poly", "sigmoid"]
    assert answers[0] == {"need": "kernel"}
    assert answers[1] == {"need": "c"}
    for answer in answers[2:]:
        assert answer["state"] == "complete"
        assert answer["measure"] >= 0


def test_optuna_runs_on_the_same_problems(tmp_path):
    pytest.importorskip("optuna")
    path = tmp_path / "peer.jsonl"
    names = {"tree-kernel", "sums-alpine-5", "spring-3", "mixed-levy-6",
             "failing-zakharov-4", "training-adam"}
    command = [PEER, "--samplers", "random", "--problems", ",".join(names),
               "--seeds", "1", "--trials", "25", "--parallel", "3",
               "--regret", REGRET, "--out", path]
    for _ in range(2):  # the second finds nothing left to do
        subprocess.run(command, check=True, timeout=120)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["problem"] for line in lines} == names
    assert len(lines) == len(names)
    ours = runs("--problems", "spring-3", "--methods", "random", "--trials",
                "25", "--seeds", "1")
    assert set(lines[0]) == set(ours[0])
    assert set(lines[0]["regret"]) == set(ours[0]["regret"]) == {"10", "25"}


def test_score_places_methods(tmp_path):
    """A made-up method that is always at a hundredth of random search."""
    lines = runs("--problems", "sphere-30,ackley-5,hartmann-6", "--methods",
                 "random", "--seeds", "3")
    path = tmp_path / "runs.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            better = {**line, "method": "better", "regret": {
                budget: value / 100 for budget, value
                in line["regret"].items()}}
            print(json.dumps(line), json.dumps(better), sep="\n", file=file)
    picture = tmp_path / "it.svg"
    result = subprocess.run(
        [SCORE, "--problems", path, "--picture", picture],
        capture_output=True, text=True, check=True)
    blocks = result.stdout.split("\n\n")
    assert blocks[0] == "3 problems, 9 pairs of problem and seed"
    for block in blocks[1:5]:
        best, second = (row.split() for row in block.splitlines()[1:])
        assert best[0] == "better" and second[0] == "random"
        assert 0.75 < float(best[1]) < 0.95
        assert abs(float(second[1])) < 0.1
    assert "sphere-30" in blocks[5]
    words = [text.text for text in xml.etree.ElementTree.parse(
        picture).getroot().iter("{http://www.w3.org/2000/svg}text")]
    assert words[-2].startswith("better: 0.")
    assert words[-1].startswith("random: ")


def test_convergence_is_said_and_does_not_change_the_run():
    words = ("--problems", "beale-2,alpine-4", "--methods", "bayesian",
             "--seeds", "1", "--trials", "40")
    plain = {run["problem"]: run for run in runs(*words)}
    looked = {run["problem"]: run for run in runs(*words, "--convergence")}
    for problem, run in looked.items():
        assert run["regret"] == plain[problem]["regret"]
        assert "converged" not in plain[problem]
    assert 24 <= looked["beale-2"]["converged"]["trials"] <= 40
    assert looked["alpine-4"]["converged"] == {}
