#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How quick trials are on a cluster, beside what Slurm does by itself.

    tests/bench/slurm.py [--quick] [NAME...]

Brings up the cluster of tests/slurm/lab (four nodes of 16 CPUs on this
machine), so it wants root and Debian's packages. NAMEs: pilot, submit, restart,
requests; all where there is none. Each row has smtune and Slurm on the same
cluster in the same minute; exits 1 when a bar is missed. A job that Slurm puts
back by itself waits for as long as a credential lives, two minutes where the
administrator has not said (--quick: 5 seconds, which moves that bar). Nothing
else should run meanwhile; TMPDIR=/dev/shm leaves the disk out of it.
"""

import os
import pathlib
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from run import ROOT, SMTUNE, Table

sys.path.insert(0, str(ROOT / "tests/e2e"))
from waiting import wait_until  # noqa: E402

LAB = ROOT / "tests/slurm/lab"
SLOTS = 64

TRIALS = """\
version: 1
name: {name}
objective: {{metric: loss, goal: minimize}}
parameters: {{x: {{type: float, min: 0, max: 1}}}}
search: random
budget: {{trials: {trials}, parallel: {parallel}}}
trial:
  {command}
  resources: {{cpus: 1}}
executor: {{name: slurm, mode: {mode}, {more}}}
"""

ECHO = "command: /bin/echo loss=1"
# Who fails over to another node says when it begins.
BEGIN = 'echo "$SLURMD_NODENAME $(date +%s.%N)" >>{path}; exec sleep 600'


class Cluster:
    def __init__(self, folder, *words):
        self.folder = folder
        self.count = 0
        self.env = dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin",
                        XDG_RUNTIME_DIR=str(folder / "runtime"))
        (folder / "runtime").mkdir()
        for line in self.lab("up", *words).splitlines():
            name, value = line.split("=", 1)
            self.env[name] = value

    def lab(self, verb, *words):
        with tempfile.TemporaryFile("w+") as errors:  # daemons keep it
            result = subprocess.run(
                [LAB, verb, self.folder / "lab", *words], text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=errors)
            errors.seek(0)
            if result.returncode != 0:
                sys.exit(errors.read())
        return result.stdout

    def slurm(self, *words, **options):
        return subprocess.run(words, env=self.env, cwd=self.folder, text=True,
                              check=True, stdout=subprocess.PIPE,
                              **options).stdout

    def batch(self, script, *words):
        """Submits; the id of the job."""
        return int(self.slurm("sbatch", "--parsable", *words,
                              input=f"#!/bin/sh\n{script}\n"))

    def is_empty(self):
        return not self.slurm("squeue", "-h", "-o", "%i").strip()

    def partition(self, state):
        self.slurm("scontrol", "update", "PartitionName=batch",
                   f"State={state}")

    def smtune(self, mode, trials, parallel, command=ECHO, more="poll: 5s"):
        """Begins a run in a folder of its own: the process and the folder."""
        self.count += 1
        home = self.folder / f"run-{self.count}"
        home.mkdir()
        (home / "run.yaml").write_text(TRIALS.format(
            name=home.name, trials=trials, parallel=parallel, mode=mode,
            command=command, more=more))
        with open(home / "said", "w") as said:
            process = subprocess.Popen(
                [SMTUNE, "run", "run.yaml"], cwd=home, env=self.env,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        return process, home

    def finish(self, process, home):
        if process.wait() != 0:
            sys.exit((home / "said").read_text())

    def interrupt(self, process):
        """Ends a run whose jobs all wait; what it had is out of the queue."""
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.slurm("scancel", "-u", "root")
        wait_until(self.is_empty, 120, "an empty queue")


# -- Many short trials ------------------------------------------------------

def pilot_seconds(cluster, trials):
    """Of the whole command, and from the first start to the last end."""
    start = time.perf_counter()
    process, home = cluster.smtune("pilot", trials, SLOTS)
    cluster.finish(process, home)
    seconds = time.perf_counter() - start
    with sqlite3.connect(home / ".smtune/smtune.db") as database:
        first, last = database.execute(
            "SELECT min(started_ms), max(ended_ms) FROM attempt").fetchone()
    wait_until(cluster.is_empty, 120, "an empty queue")
    return seconds, (last - first) / 1000


def array_seconds(cluster, trials):
    start = time.perf_counter()
    job = cluster.batch("exec /bin/echo loss=1", f"--array=0-{trials - 1}",
                        "--output", f"{cluster.folder}/array/%a")
    wait_until(lambda: not cluster.slurm(
        "squeue", "-h", "-o", "%i", "-j", str(job)).strip(), 600, "the array",
        longest_pause=0.25)
    return time.perf_counter() - start


def bench_pilot(table, cluster, quick):
    trials = 200 if quick else 2000
    (cluster.folder / "array").mkdir()
    runs = [pilot_seconds(cluster, trials)]
    peer = array_seconds(cluster, trials)
    runs += [pilot_seconds(cluster, trials) for _ in range(2)]
    whole, inside = (statistics.median(run) for run in zip(*runs))
    bar = 1 if quick else 10
    for what, value in (("smtune run", whole), ("first to last", inside)):
        table.add(f"{trials} trials of /bin/echo, pilots: {what}", value, peer,
                  peer / value, f">= {bar}", peer / value >= bar, "s")


# -- Submission -------------------------------------------------------------

def submit_rate(cluster, jobs):
    process, home = cluster.smtune("job", jobs, jobs)

    def submitted():
        files = list(home.glob(".smtune/**/slurm/*/job"))
        return files if len(files) == jobs else None
    times = sorted(path.stat().st_mtime_ns
                   for path in wait_until(submitted, 120, "submissions"))
    cluster.interrupt(process)
    return (jobs - 1) / ((times[-1] - times[0]) / 1e9)


def sbatch_rate(cluster, jobs):
    script = cluster.folder / "script"
    script.write_text("#!/bin/sh\nexec /bin/echo loss=1\n")
    start = time.perf_counter()
    cluster.slurm("bash", "-c", f"for ((i = 0; i < {jobs}; i++)); do "
                  f"sbatch --parsable '{script}'; done")
    rate = jobs / (time.perf_counter() - start)
    cluster.slurm("scancel", "-u", "root")
    wait_until(cluster.is_empty, 120, "an empty queue")
    return rate


def bench_submit(table, cluster, quick):
    jobs = 50 if quick else 300
    cluster.partition("DOWN")  # they are taken, and wait
    pairs = [(submit_rate(cluster, jobs), sbatch_rate(cluster, jobs))
             for _ in range(3)]
    cluster.partition("UP")
    value, peer = (statistics.median(rates) for rates in zip(*pairs))
    table.add(f"{jobs} submissions of jobs, an sbatch loop", value, peer,
              value / peer, ">= 0.9", value / peer >= 0.9, "/s")


# -- A node that fails ------------------------------------------------------

def begins(path):
    """(node, wall clock in seconds) of each time it began."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [(line.split()[0], float(line.split()[1])) for line in lines]


def parent_of(pid):
    """(name, pid) of its parent, (None, 0) where there is none to be seen."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        parent = int(stat.rsplit(") ", 1)[1].split()[1])
        return pathlib.Path(f"/proc/{parent}/comm").read_text().strip(), parent
    except OSError:
        return None, 0


def kill_node(cluster, node):
    """As its power had gone: its daemons, which tell nobody, and its jobs."""
    cluster.lab("kill", node)
    conf = f"SLURM_CONF={cluster.env['SLURM_CONF']}".encode()
    jobs = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        if f"SLURMD_NODENAME={node}".encode() in words and conf in words:
            jobs.append(int(path.parent.name))
    daemons = {pid for name, pid in map(parent_of, jobs)
               if name == "slurmstepd"}
    for pid in [*daemons, *jobs]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def fail_over(cluster, path):
    """Seconds from DOWN to the next beginning."""
    node, _ = wait_until(lambda: begins(path), 120, "a start")[0]
    time.sleep(3)  # it is to be lost in the middle of its run
    kill_node(cluster, node)
    cluster.slurm("scontrol", "update", f"NodeName={node}", "State=DOWN",
                  "Reason=bench")
    down = time.time()
    again = wait_until(lambda: begins(path)[1:], 200, "another start")
    cluster.lab("start", node)
    cluster.slurm("scontrol", "update", f"NodeName={node}", "State=RESUME")
    return again[0][1] - down


def our_restart(cluster, mode):
    path = cluster.folder / f"begins-{mode}"
    process, _ = cluster.smtune(
        mode, 1, 1, f"shell: '{BEGIN.format(path=path)}'",
        "poll: 1s, heartbeat: 1s, silence: 5s")
    seconds = fail_over(cluster, path)
    process.terminate()
    cluster.interrupt(process)
    return seconds


def slurm_restart(cluster):
    path = cluster.folder / "begins-slurm"
    cluster.batch(BEGIN.format(path=path), "--requeue", "--output", "log")
    seconds = fail_over(cluster, path)
    cluster.slurm("scancel", "-u", "root")
    wait_until(cluster.is_empty, 120, "an empty queue")
    return seconds


def bench_restart(table, cluster, quick):
    ours = {mode: our_restart(cluster, mode) for mode in ("job", "pilot")}
    peer = slurm_restart(cluster)
    for mode, seconds in ours.items():
        table.add(f"from a node's end to the next start, {mode}", seconds,
                  peer, peer / seconds, "< 10 s", seconds < 10, "s")
    print(f"  (Slurm puts a job back for {5 if quick else 120} s here, as"
          " cred_expire says, and 1 s)")


# -- Requests ---------------------------------------------------------------

# What comes from nodes, from jobs that end, and from this program itself.
NOT_OURS = re.compile("NODE_REGISTRATION|EPILOG|COMPLETE|PING|STATS_INFO|ACCT|"
                      "ACCOUNTING|CONTROL_STATUS|PERSIST")


def count_requests(cluster):
    text = cluster.slurm("sdiag")
    text = text.split("by message type")[1].split("by user")[0]
    return sum(int(count) for name, count in
               re.findall(r"^\s*(\w+)\s.*?count:(\d+)", text, re.M)
               if not NOT_OURS.search(name))


def requests_a_minute(cluster, mode, trials, seconds):
    process, home = cluster.smtune(mode, trials, trials)

    def waiting():
        rows = cluster.slurm("squeue", "-h", "-r", "-o", "%i").split()
        return len(rows) >= (trials if mode == "array" else 1)
    wait_until(waiting, 300, "jobs in the queue", longest_pause=1)
    before = count_requests(cluster)
    time.sleep(seconds)  # in which they are counted
    count = count_requests(cluster) - before
    cluster.interrupt(process)
    return count * 60 / seconds


def bench_requests(table, cluster, quick):
    trials, seconds = (500, 20) if quick else (10_000, 90)
    cluster.partition("DOWN")
    for mode in ("array", "pilot"):
        value = requests_a_minute(cluster, mode, trials, seconds)
        table.add(f"requests a minute, {trials} trials wait: {mode}", value,
                  60, value / 60, "<= 60", value <= 60)
    cluster.partition("UP")


BENCHES = {"pilot": bench_pilot, "submit": bench_submit,
           "restart": bench_restart, "requests": bench_requests}


def main(words):
    quick = "--quick" in words
    names = [word for word in words if word != "--quick"] or list(BENCHES)
    if unknown := set(names) - set(BENCHES):
        sys.exit(f"unknown: {', '.join(unknown)} (one of {', '.join(BENCHES)})")
    if not SMTUNE.exists():
        sys.exit("no build/smtune: `make` builds it")
    os.environ.pop("SMTUNE_STORE", None)
    with tempfile.TemporaryDirectory(prefix="smtune-bench-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        cluster = Cluster(folder, "array=10001",
                          f"credit={5 if quick else 120}")
        table = Table()
        try:
            for name in names:
                BENCHES[name](table, cluster, quick)
        finally:
            cluster.lab("down")
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
