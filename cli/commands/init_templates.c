/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands/init_templates.h"

#include <stddef.h>

/* Each runs as it stands, so that the first thing anybody sees is a result. */

#define HEAD                                                                   \
    "# yaml-language-server: $schema=.smtune/experiment.schema.json\n"         \
    "# 'smtune schema' prints that file; smtune-experiment(5) lists the "      \
    "keys.\n"                                                                  \
    "version: 1\n"                                                             \
    "name: @NAME@\n"

static const char minimal[] =
    HEAD "objective: {metric: loss, goal: minimize}\n\n"
         "parameters:\n"
         "  x: {type: float, min: -5, max: 5}\n"
         "  y: {type: float, min: -5, max: 5}\n\n"
         "budget: {trials: 30}\n\n"
         "trial:\n"
         "  # Any command that prints loss=NUMBER.\n"
         "  shell: |\n"
         "    awk -v x=${{ x }} -v y=${{ y }} 'BEGIN {\n"
         "        print \"loss=\" (x - 1) ^ 2 + (y + 2) ^ 2 }'\n";

static const char python_yaml[] =
    HEAD "objective: {metric: val_loss, goal: minimize}\n\n"
         "parameters:\n"
         "  lr:        {type: float, min: 1e-4, max: 1, scale: "
         "log}\n"
         "  hidden:    {type: int, min: 8, max: 256, scale: log}\n"
         "  optimizer: {type: categorical, values: [sgd, adam]}\n"
         "  momentum:\n"
         "    {type: float, min: 0, max: 0.99, when: \"optimizer = "
         "'sgd'\"}\n"
         "  epochs:    {value: 5}\n\n"
         "search: {method: auto, seed: 1}\n"
         "budget: {trials: 20, parallel: 2}\n\n"
         "trial:\n"
         "  # If optimizer is not sgd, momentum has no value, and "
         "its option is\n"
         "  # omitted.\n"
         "  command: >\n"
         "    python3 train.py --lr ${{ lr }} --hidden ${{ hidden "
         "}}\n"
         "    --optimizer ${{ optimizer }} --momentum ${{ momentum "
         "}}\n"
         "    --epochs ${{ epochs }}\n"
         "  resources: {time: 10m}\n";

static const char python_train[] =
    "#!/usr/bin/env python3\n"
    "\"\"\"Put your own training here. smtune reads what it "
    "prints.\"\"\"\n"
    "import argparse\n"
    "import math\n\n"
    "parser = argparse.ArgumentParser()\n"
    "parser.add_argument(\"--lr\", type=float, default=0.01)\n"
    "parser.add_argument(\"--hidden\", type=int, default=64)\n"
    "parser.add_argument(\"--optimizer\", default=\"adam\")\n"
    "parser.add_argument(\"--momentum\", type=float, "
    "default=0.0)\n"
    "parser.add_argument(\"--epochs\", type=int, default=5)\n"
    "args = parser.parse_args()\n\n"
    "best_lr = 0.03 if args.optimizer == \"adam\" else 0.3 * "
    "(1 - args.momentum)\n"
    "for epoch in range(1, args.epochs + 1):\n"
    "    # Replace this by an epoch of training and a "
    "validation.\n"
    "    loss = 0.1 + math.log10(args.lr / best_lr) ** 2 / 4\n"
    "    loss += abs(math.log2(args.hidden / 100)) / 40 + 1 / "
    "(4 * epoch)\n"
    "    print(f\"epoch={epoch} val_loss={loss:.5f}\", "
    "flush=True)\n";

static const char sagemaker_yaml[] =
    HEAD "objective: {metric: val_accuracy, goal: maximize}\n\n"
         "parameters:\n"
         "  learning_rate: {type: float, min: 1e-4, max: 0.3, "
         "scale: log}\n"
         "  batch_size:    {type: ordinal, values: [32, 64, 128, "
         "256]}\n"
         "  epochs:        {value: 4}\n\n"
         "budget: {trials: 20, parallel: 2}\n\n"
         "trial:\n"
         "  # A script for SageMaker's containers runs unchanged: "
         "SM_HPS, SM_HP_*,\n"
         "  # SM_CHANNEL_*, SM_MODEL_DIR and the rest are set.\n"
         "  command: >\n"
         "    python3 train.py --learning_rate ${{ learning_rate "
         "}}\n"
         "    --batch_size ${{ batch_size }} --epochs ${{ epochs "
         "}}\n"
         "  # As in a training job's MetricDefinitions.\n"
         "  metrics: {val_accuracy: 'validation-accuracy: "
         "([0-9.]+);'}\n"
         "  channels: {training: .}\n"
         "  resources: {time: 10m}\n";

static const char sagemaker_train[] =
    "#!/usr/bin/env python3\n"
    "\"\"\"A training script as SageMaker's containers start "
    "it.\"\"\"\n"
    "import argparse\n"
    "import json\n"
    "import math\n"
    "import os\n\n"
    "parser = argparse.ArgumentParser()\n"
    "parser.add_argument(\"--learning_rate\", type=float)\n"
    "parser.add_argument(\"--batch_size\", type=int)\n"
    "parser.add_argument(\"--epochs\", type=int)\n"
    "parser.add_argument(\"--model-dir\", "
    "default=os.environ[\"SM_MODEL_DIR\"])\n"
    "parser.add_argument(\"--training\", "
    "default=os.environ[\"SM_CHANNEL_TRAINING\"])\n"
    "args = parser.parse_args()\n\n"
    "for epoch in range(1, args.epochs + 1):\n"
    "    # Replace this by an epoch of training on the files "
    "in args.training.\n"
    "    off = math.log10(args.learning_rate * 32 / "
    "args.batch_size / 0.01)\n"
    "    accuracy = 0.95 * math.exp(-off ** 2 / 8) * (1 - 0.5 "
    "** epoch)\n"
    "    print(f\"epoch {epoch}: validation-accuracy: "
    "{accuracy:.5f};\", flush=True)\n\n"
    "with open(os.path.join(args.model_dir, \"model.json\"), "
    "\"w\") as file:\n"
    "    json.dump(vars(args), file)\n";

static const char grid[] = HEAD
    "objective: {metric: seconds, goal: minimize}\n"
    "\n"
    "# Every combination once: 2 x 3 x 2 trials. A continuous parameter gets\n"
    "# `points` values.\n"
    "search: {method: grid, points: 3}\n"
    "parameters:\n"
    "  layout:  {type: categorical, values: [rows, columns]}\n"
    "  threads: {type: ordinal, values: [1, 2, 4]}\n"
    "  prefetch: {type: bool}\n"
    "\n"
    "trial:\n"
    "  shell: |\n"
    "    awk -v layout=${{ layout }} -v threads=${{ threads }} \\\n"
    "        -v prefetch=${{ prefetch }} 'BEGIN {\n"
    "        s = 8 / threads + 0.2 * threads\n"
    "        if (layout == \"columns\") s *= 1.5\n"
    "        if (prefetch == \"true\") s *= 0.9\n"
    "        print \"seconds=\" s }'\n";

static const char quickstart[] =
    HEAD "# The trainer that comes with smtune, on Fashion-MNIST "
         "(Debian: apt\n"
         "# install dataset-fashion-mnist).\n"
         "# Each trial prints `val_error=...` after every epoch; "
         "the last one counts.\n"
         "objective: {metric: val_error, goal: minimize}\n\n"
         "parameters:\n"
         "  lr:        {type: float, min: 1e-3, max: 0.1, scale: "
         "log}\n"
         "  optimizer: {type: categorical, values: [sgd, adam]}\n"
         "  momentum:  {type: float, min: 0.5, max: 0.95, when: "
         "\"optimizer = 'sgd'\"}\n"
         "  width:     {type: int, min: 64, max: 256, scale: log}\n"
         "  depth:     {type: int, min: 1, max: 2}\n"
         "  batch:     {type: ordinal, values: [64, 128, 256]}\n"
         "  epochs:    {value: 10}\n\n"
         "search: {method: sobol, seed: 1}\n"
         "budget: {trials: 24, parallel: 2}\n\n"
         "trial:\n"
         "  # If momentum has no value, its flag is omitted.\n"
         "  command: >-\n"
         "    smtrain mlp --lr ${{ lr }} --optimizer ${{ optimizer "
         "}} --momentum ${{ momentum }}\n"
         "    --width ${{ width }} --depth ${{ depth }} --batch ${{ "
         "batch }}\n"
         "    --epochs ${{ epochs }} --schedule cosine\n"
         "  env: {OPENBLAS_NUM_THREADS: 1}\n"
         "  resources: {cpus: 1, time: 10m}\n";

const struct init_template init_templates[] = {
    {"minimal",
     "two numbers and a formula: the shortest file that runs",
     {{"experiment.yaml", minimal}}},
    {"python",
     "a training script with options, in Python",
     {{"experiment.yaml", python_yaml}, {"train.py", python_train}}},
    {"sagemaker",
     "a script written for Amazon SageMaker, unchanged",
     {{"experiment.yaml", sagemaker_yaml}, {"train.py", sagemaker_train}}},
    {"grid", "every combination of a few values", {{"experiment.yaml", grid}}},
    {"quickstart",
     "the bundled trainer on Fashion-MNIST",
     {{"experiment.yaml", quickstart}}},
    {.name = NULL},
};
