# SPDX-License-Identifier: GPL-3.0-or-later
"""How quick a workflow is, where its steps do nothing: against make and
snakemake on the equal file, and how long a large one takes to read.

Layers of steps, each behind all of the layer before. Make and snakemake get a
target between the layers, as smtune makes itself one.
"""

import shutil
import subprocess
import sys
import time

from measure import SMTUNE, in_turns, rate, run, spawn_rate

WIDTH = 100
HEAD = """\
version: 1
parallel: 2
defaults: {resources: {cpus: 0}}
steps:
"""


def write_workflow(path, layers):
    with open(path, "w") as file:
        file.write(HEAD)
        for layer in range(layers):
            file.write("- parallel:\n")
            for i in range(WIDTH):
                file.write(f"  - s{layer}_{i}: {{command: /bin/true}}\n")


def write_makefile(path, layers):
    with open(path, "w") as file:
        file.write(f".PHONY: all\nall: after{layers - 1}\n")
        for layer in range(layers):
            steps = " ".join(f"s{layer}_{i}" for i in range(WIDTH))
            before = f"after{layer - 1}" if layer else ""
            file.write(f".PHONY: after{layer} {steps}\n"
                       f"after{layer}: {steps}\n"
                       f"{steps}: {before}\n\t@/bin/true\n")


def write_snakefile(path, layers):
    path.write_text(f"""\
rule all:
    input: "after{layers - 1}"
rule after:
    input: lambda w: [f"s{{w.layer}}_{{i}}" for i in range({WIDTH})]
    output: touch("after{{layer,[0-9]+}}")
rule step:
    input: lambda w: [f"after{{int(w.layer) - 1}}"] if w.layer != "0" else []
    output: touch("s{{layer,[0-9]+}}_{{i}}")
    shell: "/bin/true"
""")


def smtune_rate(folder, layers):
    path = folder / f"layers-{layers}.yaml"
    write_workflow(path, layers)
    return layers * WIDTH / run("run", str(path), cwd=folder)[0]


def bench_make(table, folder, layers, times):
    makefile = folder / f"layers-{layers}.mk"
    write_makefile(makefile, layers)
    command = ["make", "-j2", "-s", "-f", str(makefile)]
    ours, peer = in_turns(
        times, lambda: smtune_rate(folder, layers),
        lambda: rate(layers * WIDTH, command, folder))
    table.add(f"{layers * WIDTH} steps of /bin/true, make -j2", ours, peer,
              ours / peer, ">= 0.5", ours / peer >= 0.5, "/s")


def bench_snakemake(table, folder, layers):
    if not shutil.which("snakemake"):
        print("  NO SNAKEMAKE HERE (apt-get install snakemake): not compared",
              flush=True)
        return
    below = folder / "snakemake"
    below.mkdir()
    write_snakefile(below / "Snakefile", layers)
    steps = layers * WIDTH
    ours = sorted(smtune_rate(folder, layers) for _ in range(3))[1]
    peer = rate(steps, ["snakemake", "-j2", "--quiet", "all"], below)
    table.add(f"{steps} steps of /bin/true, snakemake -j2", ours, peer,
              ours / peer, ">= 50", ours / peer >= 50, "/s")
    table.add_limit(spawn_rate(steps, 2, "/bin/true"), peer)


def bench_plan(table, folder, layers):
    path = folder / "large.yaml"
    write_workflow(path, layers)
    for command in ("validate", "plan"):
        start = time.perf_counter()
        result = subprocess.run([SMTUNE, command, str(path)], cwd=folder,
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)
        seconds = time.perf_counter() - start
        if result.returncode != 0:
            sys.exit(f"smtune {command}: {result.stderr}")
        table.add(f"smtune {command} of {layers * WIDTH} steps", seconds, 2,
                  seconds / 2, "< 2 s", seconds < 2, "s")
