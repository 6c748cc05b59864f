#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of what regret and optuna_peer.py measured.

    tests/bench/regret/score.py [OPTION...] [LABEL=]FILE...

Each FILE holds a line a run. With LABEL=, its methods are called LABEL:METHOD,
so that two versions of a method can be compared. Runs with more than one trial
pending are called METHOD/N.

Only pairs of problem and seed that every method was run on count. Two figures
are taken of a pair, after 25, 50, 100 and 200 trials:

rank    among the methods, 1 is the best, equal ones share.
score   log((R + e) / (r + e)) / log((R + e) / e), at least -1, with r the
        method's regret, R the median regret of random search on that problem
        after as many trials, and e = R / 100. 0 is as good as random search,
        1 the best value there is; dividing random search's regret by 10 gives
        0.5, by 100 0.85. Nothing feasible found yet is a regret of 10.

Both are averaged over seeds, then over problems. Intervals are 95%, from
drawing the problems, and of each the seeds, again with replacement.
"""

import argparse
import collections
import json
import math
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import plot  # noqa: E402 pylint: disable=wrong-import-position

BUDGETS = ("25", "50", "100", "200")
NOTHING_FOUND = 10  # a regret; the median random point has 1
LEAST_BASE = 1e-4   # regret of random search counts as at least this
RESAMPLES = 400
COLOURS = ("#c0392b", "#2a6fb0", "#2f7d4f", "#b8860b", "#8f6fb5", "#7a7a7a",
           "#4f9da6", "#a05a2c")


def read_runs(files):
    """{(problem, seed): {method: line}} of all lines, later ones replacing."""
    runs = collections.defaultdict(dict)
    for name in files:
        label, _, path = name.rpartition("=")
        with open(path, encoding="utf-8") as file:
            for text in file:
                line = json.loads(text)
                method = line["method"]
                if line.get("parallel", 1) > 1:
                    method += f"/{line['parallel']}"
                if label:
                    method = f"{label}:{method}"
                runs[line["problem"], line["seed"]][method] = line
    return runs


def regret_of(line, budget):
    regret = line["regret"].get(budget)
    return NOTHING_FOUND if regret is None else max(regret, 0)


def random_bases(runs, baseline, budgets):
    """{(problem, budget): R}"""
    values = collections.defaultdict(list)
    for (problem, _), methods in runs.items():
        if baseline in methods:
            for budget in budgets:
                values[problem, budget].append(
                    regret_of(methods[baseline], budget))
    return {key: max(statistics.median(some), LEAST_BASE)
            for key, some in values.items()}


def score(regret, base):
    e = base / 100
    value = math.log((base + e) / (regret + e)) / math.log((base + e) / e)
    return max(value, -1)


def ranks(values):
    """1 for the smallest; equal ones get the mean of their places."""
    return [sum(other < value for other in values)
            + (sum(other == value for other in values) + 1) / 2
            for value in values]


def figures(runs, methods, bases, budgets):
    """{problem: [one row a seed: scores, then ranks, a budget after another,
    of all methods]}"""
    rows = collections.defaultdict(list)
    for (problem, _), lines in sorted(runs.items()):
        row = []
        for budget in budgets:
            values = [regret_of(lines[m], budget) for m in methods]
            row += [score(v, bases[problem, budget]) for v in values]
            row += ranks(values)
        rows[problem].append(row)
    return rows


def mean_rows(rows):
    return [sum(column) / len(rows) for column in zip(*rows)]


def resampled(rows, generator):
    """Means of drawing problems, and seeds of each, with replacement."""
    problems = list(rows)
    return [mean_rows([mean_rows(generator.choices(rows[p], k=len(rows[p])))
                       for p in generator.choices(problems, k=len(problems))])
            for _ in range(RESAMPLES)]


def interval(values):
    values = sorted(values)
    return (values[int(0.025 * len(values))],
            values[int(0.975 * len(values)) - 1])


def common_runs(runs, methods):
    return {key: lines for key, lines in runs.items()
            if all(m in lines for m in methods)}


def print_summary(means, draws, methods, budgets, versus):
    width = max(len(m) for m in methods)
    base = methods.index(versus) if versus else None
    for b, budget in enumerate(budgets):
        first = 2 * b * len(methods)
        more = f"            less that of {versus}" if versus else ""
        print(f"\nafter {budget} trials".ljust(width + 1)
              + "   score  [95%]            rank  [95%]" + more)
        order = sorted(range(len(methods)), key=lambda m: -means[first + m])
        for m in order:
            i, k = first + m, first + len(methods) + m
            low, high = interval([d[i] for d in draws])
            rank_low, rank_high = interval([d[k] for d in draws])
            text = (f"{methods[m]:{width}}  {means[i]:6.3f}  "
                    f"[{low:6.3f},{high:6.3f}]  {means[k]:5.2f}  "
                    f"[{rank_low:5.2f},{rank_high:5.2f}]")
            if versus:
                low, high = interval([d[i] - d[first + base] for d in draws])
                text += (f"  {means[i] - means[first + base]:+6.3f}  "
                         f"[{low:+6.3f},{high:+6.3f}]")
            print(text)


def print_problems(rows, runs, methods, budgets):
    """The scores of each problem after the last budget."""
    first = 2 * (len(budgets) - 1) * len(methods)
    kinds = {key[0]: next(iter(lines.values()))["kind"]
             for key, lines in runs.items()}
    width = max(len(p) for p in rows)
    print(f"\nscore after {budgets[-1]} trials".ljust(width + 15),
          *(f"{m[-12:]:>12}" for m in methods))
    for problem in sorted(rows, key=lambda p: (kinds[p], p)):
        values = mean_rows(rows[problem])[first:first + len(methods)]
        print(f"{kinds[problem]:13} {problem:{width}}",
              *(f"{v:12.3f}" for v in values))


def print_seconds(runs, methods):
    print("\nmean seconds a run in asking and telling")
    for m in methods:
        mean = statistics.mean(lines[m]["seconds"] for lines in runs.values())
        print(f"{m}  {mean:.3g}")


def picture(means, draws, methods, budgets):
    """Scores by the number of trials, with their intervals."""
    trials = [int(b) for b in budgets]
    panel = plot.Panel(80, 330, (520, 270), (trials[0] * .9, trials[-1] * 1.1),
                       (min(0, *means), 1), False)
    panel.axes("What a search has found, by trials", "trials",
               "score (random search 0, best value 1)",
               [(n, n) for n in trials], [(k / 4, k / 4) for k in range(5)])
    first = {m: [2 * b * len(methods) + i for b in range(len(budgets))]
             for i, m in enumerate(methods)}
    order = sorted(methods, key=lambda m: -means[first[m][-1]])
    for i, method in enumerate(order):
        colour = COLOURS[i % len(COLOURS)]
        points = [(n, means[k]) for n, k in zip(trials, first[method])]
        for n, k in zip(trials, first[method]):
            panel.line([(n, end) for end in interval([d[k] for d in draws])],
                       f'stroke="{colour}" stroke-width="1"')
        panel.line(points, f'stroke="{colour}" stroke-width="2"')
        panel.dots(points, colour)
        panel.parts.append(plot.legend(
            625, 80 + 22 * i, colour, f"{method}: {points[-1][1]:.2f}"))
    return plot.svg(800, 380, panel.parts)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="[LABEL=]FILE")
    parser.add_argument("--methods", help="these alone, with commas between")
    parser.add_argument("--without", default="", help="leave these out")
    parser.add_argument("--baseline", default="random",
                        help="the method of which R is taken (random)")
    parser.add_argument("--versus", help="also show differences from it")
    parser.add_argument("--problems", action="store_true",
                        help="also a table of the problems")
    parser.add_argument("--picture", help="an SVG file, of the scores")
    options = parser.parse_args()
    runs = read_runs(options.files)
    present = {m for lines in runs.values() for m in lines}
    methods = (options.methods.split(",") if options.methods else
               sorted(present - set(options.without.split(","))))
    wanted = methods + [options.baseline] + [options.versus] * bool(
        options.versus)
    for method in wanted:
        if method not in present:
            sys.exit(f"score: there are no runs of '{method}', but of "
                     f"{', '.join(sorted(present))}")
    if options.versus and options.versus not in methods:
        methods.append(options.versus)
    common = common_runs(runs, methods)
    if not common:
        sys.exit("score: no problem and seed was run with all the methods")
    budgets = [b for b in BUDGETS
               if all(b in lines[m]["regret"]
                      for lines in common.values() for m in methods)]
    bases = random_bases(runs, options.baseline, budgets)
    common = {key: lines for key, lines in common.items()
              if (key[0], budgets[0]) in bases}
    rows = figures(common, methods, bases, budgets)
    print(f"{len(rows)} problems, {len(common)} pairs of problem and seed")
    means = mean_rows([mean_rows(some) for some in rows.values()])
    draws = resampled(rows, random.Random(1))
    print_summary(means, draws, methods, budgets, options.versus)
    if options.problems:
        print_problems(rows, common, methods, budgets)
    print_seconds(common, methods)
    if options.picture:
        pathlib.Path(options.picture).write_text(
            picture(means, draws, methods, budgets), encoding="utf-8")


if __name__ == "__main__":
    main()
