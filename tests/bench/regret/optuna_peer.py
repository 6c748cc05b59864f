#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs Optuna's samplers on regret's problems, and writes the same lines.

    tests/bench/regret/optuna_peer.py --samplers tpe,gp --set report --seeds 3
                                      --out FILE

Every problem is evaluated by `build/regret --serve`, with the same instances,
noise and order of ending. Parameters are suggested define-by-run: those that
are always there first, then whichever the ones before make active. What breaks
a known constraint is told as pruned and costs no trial, up to 100 times; an
outcome constraint is Optuna's own; a trial that fails is told as failed. An
ordinal is an int, its place in the list. Runs that FILE holds already are not
run again.
"""

import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import optuna  # noqa: E402 pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHECKPOINTS = (10, 25, 50, 100, 200, 400, 1000, 2000)
TRIES = 100


def gp(seed):
    import torch
    torch.set_num_threads(1)
    return optuna.samplers.GPSampler(seed=seed)


SAMPLERS = {
    "random": lambda seed: optuna.samplers.RandomSampler(seed=seed),
    "qmc": lambda seed: optuna.samplers.QMCSampler(seed=seed),
    "tpe": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "tpe-mv": lambda seed: optuna.samplers.TPESampler(
        seed=seed, multivariate=True, group=True),
    "tpe-uni": lambda seed: optuna.samplers.TPESampler(
        seed=seed, multivariate=False),
    "gp": gp,
    "cmaes": lambda seed: optuna.samplers.CmaEsSampler(seed=seed),
}


def suggest_number(trial, param):
    name, low, high = param["name"], param["min"], param["max"]
    is_int = param["kind"] == "int"
    step = param["step"] or (1 if is_int else None)
    if is_int:
        low, high, step = int(low), int(high), int(step)
    suggest = trial.suggest_int if is_int else trial.suggest_float
    if param["scale"] == "log":
        return suggest(name, low, high, log=True)
    if param["scale"] == "reverse_log":
        return 1 - trial.suggest_float(name, 1 - high, 1 - low, log=True)
    if param["scale"] == "logit":
        at = trial.suggest_float(name, math.log(low / (1 - low)),
                                 math.log(high / (1 - high)))
        return 1 / (1 + math.exp(-at))
    return suggest(name, low, high, step=step)


def suggest(trial, param):
    name, kind = param["name"], param["kind"]
    if kind in ("float", "int"):
        return suggest_number(trial, param)
    if kind == "ordinal":
        values = param["values"]
        return values[trial.suggest_int(name, 0, len(values) - 1)]
    if kind == "const":
        return param["values"][0]
    values = [False, True] if kind == "bool" else param["values"]
    return trial.suggest_categorical(name, values)


class Problem:
    """A problem's instance, behind `build/regret --serve`."""

    def __init__(self, regret, name, seed):
        self.process = subprocess.Popen(
            [regret, "--serve", name, "--first-seed", str(seed)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.about = json.loads(self.process.stdout.readline())
        self.params = {p["name"]: p for p in self.about["params"]}

    def evaluate(self, params):
        print(json.dumps({"params": params}), file=self.process.stdin,
              flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Run:
    """One sampler's run on one instance."""

    def __init__(self, sampler, problem):
        self.study = optuna.create_study(sampler=sampler)
        self.problem = problem
        self.seconds = 0

    def suggest(self):
        """(trial, answer), once; the clock runs while Optuna thinks."""
        start = time.perf_counter()
        trial = self.study.ask()
        params = {name: suggest(trial, param)
                  for name, param in self.problem.params.items()
                  if not param["conditional"]}
        self.seconds += time.perf_counter() - start
        while True:
            answer = self.problem.evaluate(params)
            if "need" not in answer:
                return trial, answer
            start = time.perf_counter()
            param = self.problem.params[answer["need"]]
            params[param["name"]] = suggest(trial, param)
            self.seconds += time.perf_counter() - start

    def ask(self):
        for _ in range(TRIES):
            trial, answer = self.suggest()
            if answer["state"] != "infeasible":
                break
            self.study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        return trial, answer

    def tell(self, trial, answer):
        start = time.perf_counter()
        if answer["state"] == "complete":
            for i, value in enumerate(answer["outcomes"]):
                trial.set_constraint(f"c{i}", value)
            self.study.tell(trial, answer["value"])
        elif answer["state"] == "failed":
            self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
        self.seconds += time.perf_counter() - start


class Incumbent:
    """The regret of the trial that a user would pick, as in run.c."""

    def __init__(self):
        self.value = math.inf
        self.regret = None

    def see(self, answer):
        if (answer["state"] == "complete" and answer["value"] < self.value
                and all(o <= 0 for o in answer["outcomes"])):
            self.value = answer["value"]
            self.regret = answer["measure"]


def run_one(name, sampler, seed, options):
    problem = Problem(options.regret, name, seed)
    run = Run(SAMPLERS[sampler](seed), problem)
    order = random.Random(seed)
    pending, regret = [], {}
    incumbent = Incumbent()
    finished = asked = 0
    while finished < options.trials:
        while asked < options.trials and len(pending) < options.parallel:
            pending.append(run.ask())
            asked += 1
        trial, answer = pending.pop(order.randrange(len(pending)))
        run.tell(trial, answer)
        incumbent.see(answer)
        finished += 1
        if finished in CHECKPOINTS:
            regret[str(finished)] = incumbent.regret
    problem.close()
    about = problem.about
    return {"problem": name, "kind": about["kind"], "set": about["set"],
            "method": f"optuna-{sampler}", "used": f"optuna-{sampler}",
            "seed": seed, "trials": options.trials,
            "parallel": options.parallel, "regret": regret,
            "seconds": run.seconds}


def key_of(line):
    return line["problem"], line["method"], line["seed"], line["parallel"]


def list_problems(options):
    lines = subprocess.run([options.regret, "--list"], capture_output=True,
                           text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    if options.problems:
        return [r[0] for r in rows if r[0] in options.problems.split(",")]
    return [r[0] for r in rows if options.set in ("all", r[1])]


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samplers", default="tpe",
                        help=f"of {', '.join(SAMPLERS)} (tpe)")
    parser.add_argument("--set", default="tune",
                        choices=("tune", "report", "all"))
    parser.add_argument("--problems", help="these alone, commas between")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--regret", default=ROOT / "build/regret",
                        help="the program (build/regret)")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    unknown = set(options.samplers.split(",")) - set(SAMPLERS)
    if unknown:
        parser.error(f"no sampler {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse_options()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path = pathlib.Path(options.out)
    done = set()
    if path.exists():
        done = {key_of(json.loads(line))
                for line in path.read_text(encoding="utf-8").splitlines()}
    with open(path, "a", encoding="utf-8") as out:
        for seed in range(options.first_seed,
                          options.first_seed + options.seeds):
            for name in list_problems(options):
                for sampler in options.samplers.split(","):
                    key = name, f"optuna-{sampler}", seed, options.parallel
                    if key not in done:
                        line = run_one(name, sampler, seed, options)
                        print(json.dumps(line), file=out, flush=True)


if __name__ == "__main__":
    sys.exit(main())
