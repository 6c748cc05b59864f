/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `conda activate` is a function that `conda init` puts into the shells of a
 * terminal. It evaluates what the program prints, and so does this. The names
 * of environments belong to the installation that has them: each program that
 * is there is asked, in PATH first, until one knows the environment. Where none
 * does, the first one is asked again for its message. conda has one form of the
 * question, micromamba another, and mamba had the first until its version 2. A
 * folder that holds an environment needs no program: its variables are set
 * here, and its own scripts run.
 */
#include "orchestrator/wrap/conda.h"

const char conda_activation[] =
    "smtune_ask() { "
    "case ${1##*/} in "
    "conda) \"$1\" shell.posix activate \"$smtune_conda\";; "
    "*) \"$1\" shell activate \"$smtune_conda\" --shell bash 2>/dev/null || "
    "case ${1##*/} in "
    "mamba) \"$1\" shell.posix activate \"$smtune_conda\";; "
    "*) \"$1\" shell activate \"$smtune_conda\" --shell bash;; "
    "esac;; "
    "esac; }; "
    "smtune_list_conda() { "
    "local name folder; "
    "for name in conda mamba micromamba; do "
    "type -P \"$name\"; "
    "done; "
    "printf \"%s\\n\" \"$CONDA_EXE\" \"$MAMBA_EXE\"; "
    "for folder in \"$HOME\" /opt /usr/local; do "
    "for name in miniforge3 mambaforge miniconda3 anaconda3 conda miniforge "
    "miniconda anaconda; do "
    "printf \"%s\\n\" \"$folder/$name/bin/conda\"; "
    "done; "
    "done; "
    "printf \"%s\\n\" \"$HOME/.local/bin/micromamba\" "
    "\"$HOME/bin/micromamba\" \"$HOME/micromamba/bin/micromamba\"; }; "
    "smtune_enter() { "
    "local script; "
    "export CONDA_PREFIX=$smtune_conda CONDA_DEFAULT_ENV=$smtune_conda "
    "CONDA_SHLVL=1 PATH=$smtune_conda/bin:$PATH; "
    "for script in \"$smtune_conda\"/etc/conda/activate.d/*.sh; do "
    "[ ! -r \"$script\" ] || . \"$script\"; "
    "done; }; "
    "smtune_activate() { "
    "local program answer found=:; "
    "while read -r program; do "
    "case $found in *:\"$program\":*) continue;; esac; "
    "[ -x \"$program\" ] || continue; "
    "found+=$program:; "
    "if answer=$(smtune_ask \"$program\" </dev/null 2>/dev/null); then "
    "eval \"$answer\"; "
    "return 0; "
    "fi; "
    "done < <(smtune_list_conda); "
    "if [ -d \"$smtune_conda/conda-meta\" ]; then "
    "smtune_enter; "
    "return 0; "
    "fi; "
    "found=${found#:}; "
    "if [ -n \"$found\" ]; then "
    "smtune_ask \"${found%%:*}\" </dev/null >/dev/null; "
    "else "
    "echo \"conda, mamba and micromamba are neither in PATH nor in a usual "
    "place\" >&2; "
    "fi; "
    "return 1; }; ";
