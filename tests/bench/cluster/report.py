#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables, and a picture, of what build/cluster wrote.

Mean time and resource until a search came within so much of the best of the
table, in mean epochs of one worker and in epochs of all. A search that gave up
counts with what it had spent by then: the mean is too small there, and the
column `found` says so.
"""

import argparse
import collections
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import plot  # noqa: E402 pylint: disable=wrong-import-position

NAMES = {
    "random": "random, all to the end",
    "median": "median (SageMaker's rule)",
    "median-vizier": "median (Vizier's rule)",
    "hyperband": "hyperband",
    "asha": "asha, promotion",
    "asha-stopping": "asha, stopping",
    "tpe": "tpe, all to the end",
    "bohb": "bohb",
    "asha+tpe": "asha, promotion, with tpe",
}
COLOURS = {"random": "#7a7a7a", "median": "#b8860b", "median-vizier": "#8f6fb5",
           "hyperband": "#2f7d4f", "asha": "#c0392b",
           "asha-stopping": "#2a6fb0"}


CLUSTER = "stragglers", "failures", "rows", "within"


def read(paths):
    """{kind of cluster and target: {(contender, workers): [run]}}"""
    sets = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for run in map(json.loads, file):
                cluster = tuple(run[name] for name in CLUSTER)
                sets[cluster][run["contender"], run["workers"]].append(run)
    return {cluster: dict(sorted(
        runs.items(), key=lambda item: (item[0][1],
                                        list(NAMES).index(item[0][0]))))
        for cluster, runs in sets.items()}


def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def mean(runs, what):
    return statistics.mean(run[what] for run in runs)


def print_table(cluster, runs):
    print("Stragglers {:g}, failures {:g}, {}% of the table, within {}%\n"
          .format(*cluster))
    print("| workers | schedule | found | time: median | mean (10 to 90 %) |"
          " resource | trials | against random |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|")
    for (contender, workers), some in runs.items():
        times = [run["time"] for run in some]
        random = runs.get(("random", workers))
        gain = (f"{mean(random, 'time') / mean(some, 'time'):.1f} x"
                if random else "")
        found = sum(run["found"] for run in some)
        print(f"| {workers} | {NAMES[contender]} | {found} of {len(some)} |"
              f" {statistics.median(times):,.0f} | {mean(some, 'time'):,.0f}"
              f" ({percentile(times, .1):,.0f} to {percentile(times, .9):,.0f})"
              f" | {mean(some, 'resource'):,.0f}"
              f" | {mean(some, 'trials'):,.0f} | {gain} |")
    print()


# ---- the picture ----

def draw_found(runs, workers):
    """How many searches had found it by when."""
    some = {c: sorted(run["time"] for run in found if run["found"])
            for (c, w), found in runs.items() if w == workers and c in COLOURS}
    counts = {c: len(runs[c, workers]) for c in some}
    times = [t for values in some.values() for t in values]
    panel = plot.Panel(80, 330, (390, 270), (min(times) * .8, max(times) * 1.25),
                  (0, 1), False)
    panel.axes(f"{workers} workers: searches that have found it",
               "time in mean epochs", "share",
               plot.decades(*panel.x_range), [(k / 4, f"{25 * k} %")
                                         for k in range(5)])
    for contender, values in some.items():
        points = [(panel.x_range[0], 0)]
        for i, t in enumerate(values):
            points += [(t, i / counts[contender]),
                       (t, (i + 1) / counts[contender])]
        points.append((panel.x_range[1], len(values) / counts[contender]))
        panel.line(points, f'stroke="{COLOURS[contender]}" stroke-width="2"')
    return panel


def draw_scaling(runs):
    """Mean time by the number of workers; dashed: if asha's gain was linear."""
    curves = collections.defaultdict(list)
    for (contender, workers), some in runs.items():
        if contender in COLOURS:
            curves[contender].append((workers, mean(some, "time")))
    times = [t for points in curves.values() for _, t in points]
    counts = sorted({w for points in curves.values() for w, _ in points})
    panel = plot.Panel(580, 330, (390, 270), (counts[0], counts[-1]),
                  (min(times) * .8, max(times) * 1.25), True)
    panel.axes("Mean time to find it", "workers", "time in mean epochs",
               [(w, w) for w in counts], plot.decades(*panel.y_range))
    for contender, points in curves.items():
        if contender == "asha":
            first = points[0][0] * points[0][1]
            last = min(counts[-1], first / panel.y_range[0])
            panel.line([(counts[0], first / counts[0]), (last, first / last)],
                       f'stroke="{COLOURS[contender]}" stroke-width="1"'
                       ' stroke-dasharray="3 4"')
        panel.line(points, f'stroke="{COLOURS[contender]}" stroke-width="2"')
        panel.dots(points, COLOURS[contender])
    return panel, list(curves)


def picture(runs):
    found = draw_found(runs, 25)
    scaling, contenders = draw_scaling(runs)
    legend = [plot.legend(70 + 300 * (i % 3), 395 + 20 * (i // 3),
                          COLOURS[contender], NAMES[contender])
              for i, contender in enumerate(contenders)]
    return plot.svg(1000, 430, found.parts + scaling.parts + legend)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("lines", nargs="+", help="files of build/cluster")
    parser.add_argument("--picture", help="an SVG file, of the first cluster")
    options = parser.parse_args()
    sets = read(options.lines)
    for cluster, runs in sets.items():
        print_table(cluster, runs)
    if options.picture:
        with open(options.picture, "w", encoding="utf-8") as file:
            file.write(picture(next(iter(sets.values()))))


if __name__ == "__main__":
    main()
