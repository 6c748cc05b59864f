# SPDX-License-Identifier: GPL-3.0-or-later
"""The rates of smtune and of others, and the table that compares them."""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
SMTUNE = BUILD / "smtune"


class Table:
    """Prints a row a measurement; remembers what missed its bar."""

    def __init__(self):
        self.missed = 0
        self.row("what", "smtune", "peer", "ratio", "bar", "")

    @staticmethod
    def row(*cells):
        widths = (44, 14, 14, 7, 12, 5)
        first = cells[0].ljust(widths[0])
        rest = (c.rjust(w) for c, w in zip(cells[1:], widths[1:]))
        print(first, *rest, flush=True)

    def add(self, name, value, peer, ratio, bar, good, unit=""):
        def text(number):
            return "-" if number is None else f"{number:.4g} {unit}".strip()
        self.row(name, text(value), text(peer),
                 "-" if ratio is None else f"{ratio:.2f}", bar,
                 "pass" if good else "MISS")
        self.missed += not good

    def add_limit(self, value, peer):
        """Below a row: the rate of processes that are started, and nothing
        else, so what the ratio could be at the most."""
        self.row("  processes alone, with no record of them",
                 f"{value:.4g} /s", f"{peer:.4g} /s", f"{value / peer:.2f}",
                 "", "")


def run(*words, cwd, **options):
    """Runs smtune; (seconds, largest resident set in bytes)."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [SMTUNE, *words], cwd=cwd, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
    errors = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode != 0:
        sys.exit(f"smtune {' '.join(words)}: {process.returncode}\n{errors}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def rate(count, command, cwd, words=""):
    """How many of `count` the command does in a second; words are its input."""
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, input=words, text=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=True)
    return count / (time.perf_counter() - start)


def spawn_rate(count, parallel, *command):
    """Of the command's processes alone, so many at once, with no record."""
    return rate(count, [BUILD / "spawn", str(count), str(parallel), *command],
                ROOT)


def in_turns(times, *functions):
    """Runs the functions in turn, that many times; their medians."""
    results = [[] for _ in functions]
    for _ in range(times):
        for function, result in zip(functions, results):
            result.append(function())
    return [statistics.median(result) for result in results]
