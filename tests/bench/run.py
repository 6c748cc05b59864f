#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed and memory as ratios: smtune beside a peer, in turns, medians.

    tests/bench/run.py [--quick] [PROGRAM...]

PROGRAMs are the built tests/bench/bench_*.c; each prints lines of five fields
between tabs: name, value, peer, bar, unit. A bar as 1.5x is one on the ratio; a
peer of - means that the bar is the peer. Less is better, but where the unit is
/s. Exits 1 when a bar is missed. The build is the release one, build/, and
nothing else should run meanwhile. SMTUNE_BENCH_TRIALS (100000) is how many
trials the long run has: with 1000000 it takes some ten minutes.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import scale
import workflows
from measure import (BUILD, ROOT, SMTUNE, Table, in_turns, rate, run,
                     spawn_rate)

ECHO = """\
version: 1
name: {name}
objective: {{metric: loss, goal: minimize}}
parameters: {{x: {{type: float, min: 0, max: 1}}}}
search: random
budget: {{trials: {trials}, parallel: {parallel}}}
trial:
  command: {command}
  resources: {{cpus: 0}}
executor: {executor}
"""


def first_byte_s(command, cwd):
    """Seconds until the command says its first byte."""
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL) as process:
        first = process.stdout.read(1)
        seconds = time.perf_counter() - start
        process.stdout.read()
    if not first or process.returncode != 0:
        sys.exit(f"{command}: said nothing, or failed")
    return seconds


# How many at once, who else starts them, and the bar for the ratio. GNU
# parallel is so slow that a tenth of the trials tells enough of it.
ECHO_PEERS = (
    (2, ["xargs", "-P2", "-n1", "/bin/echo"], 1, 1),
    (8, ["xargs", "-P8", "-n1", "/bin/echo"], 1, 1),
    (2, ["parallel", "-j2", "/bin/echo"], 10, 10),
)


def bench_echo(table, folder, trials, times):
    count = 0

    def ours(parallel):
        nonlocal count
        count += 1
        path = folder / "echo.yaml"
        path.write_text(ECHO.format(
            name=f"echo-{count}", trials=trials, parallel=parallel,
            executor="local", command="/bin/echo loss=1"))
        return trials / run("run", str(path), cwd=folder)[0]

    def peer(command, jobs):
        return rate(jobs, command, folder, "loss=1\n" * jobs)

    for parallel, command, part, bar in ECHO_PEERS:
        if not shutil.which(command[0]):
            continue
        value, other, limit = in_turns(
            times, lambda: ours(parallel),
            lambda: peer(command, trials // part),
            lambda: spawn_rate(trials, parallel, "/bin/echo", "loss=1"))
        ratio = value / other
        table.add(f"{trials} trials of /bin/echo, {command[0]} {command[1]}",
                  value, other, ratio, f">= {bar}", ratio >= bar, "/s")
        table.add_limit(limit, other)


def bench_memory(table, folder, trials):
    path = folder / "many.yaml"
    path.write_text(ECHO.format(name="many", trials=trials, parallel=2,
                                executor="fake", command="fake"))
    seconds, rss_bytes = run("run", str(path), cwd=folder)
    mib = rss_bytes / 2**20
    table.add(f"engine memory, {trials} finished trials", mib, 64, mib / 64,
              "< 64 MiB", mib < 64, "MiB")
    print(f"  ({trials} fake trials in {seconds:.1f} s)")


def bench_trials(table, folder, trials, times):
    ours = [SMTUNE, "trials", "many"]
    commands = [lambda: 1000 * first_byte_s(ours, folder)]
    if shutil.which("sqlite3"):
        query = "select * from trial"
        peer = ["sqlite3", "-readonly", ".smtune/smtune.db", query]
        commands.append(lambda: 1000 * first_byte_s(peer, folder))
    value, *rest = in_turns(times, *commands)
    peer = rest[0] if rest else None
    table.add(f"first row of {trials} trials, sqlite3", value, peer,
              value / peer if peer else None, "< 100 ms", value < 100, "ms")


def bench_programs(table, programs):
    env = {**os.environ, "SMTUNE_SHIM": str(BUILD / "smtune-shim")}
    for program in programs:
        lines = subprocess.run([program], stdout=subprocess.PIPE, text=True,
                               check=True, cwd=ROOT, env=env
                               ).stdout.splitlines()
        for line in lines:
            name, value, peer, bar, unit = line.split("\t")
            value = float(value)
            peer = None if peer == "-" else float(peer)
            of_ratio = bar.endswith("x")
            bar = float(bar.rstrip("x"))
            ratio = value / (peer or bar)
            judged = ratio if of_ratio else value
            more = unit == "/s"
            text = f"{'>=' if more else '<'} {bar:g}"
            table.add(name, value, peer, ratio,
                      text if of_ratio else f"{text} {unit}",
                      judged >= bar if more else judged < bar, unit)


def bench_all(table, folder, programs, quick):
    def make(name):
        (folder / name).mkdir()
        return folder / name

    bench_echo(table, make("echo"), 100 if quick else 2000, 1 if quick else 5)
    for cgroup in ("auto", "off"):
        scale.bench_alive(table, make(f"alive-{cgroup}"),
                          50 if quick else 3000, cgroup)
    steps = make("steps")
    workflows.bench_make(table, steps, 2 if quick else 100, 1 if quick else 3)
    workflows.bench_snakemake(table, steps, 1 if quick else 10)
    workflows.bench_plan(table, steps, 1000)
    bench_programs(table, programs)
    long = make("long")
    many = 1000 if quick else int(
        os.environ.get("SMTUNE_BENCH_TRIALS", 100_000))
    bench_memory(table, long, many)
    bench_trials(table, long, many, 3 if quick else 9)
    scale.bench_rate(table, long)
    scale.bench_resume(table, long, many)


def main(words):
    quick = "--quick" in words
    programs = [word for word in words if word != "--quick"]
    if not SMTUNE.exists():
        sys.exit("no build/smtune: `make` builds it")
    table = Table()
    os.environ.pop("SMTUNE_STORE", None)
    # One folder for all, as a file system may be slow for minutes after many
    # files were removed.
    with tempfile.TemporaryDirectory(prefix="smtune-bench-") as name:
        bench_all(table, pathlib.Path(name), programs, quick)
    print(f"{table.missed} missed" if table.missed else "every bar is met")
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
