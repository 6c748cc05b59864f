#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the logs anew: run.sh PYTHON NAME...   (see ../README.md)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=$1
shift
unset PYTHONUNBUFFERED
for name; do
    work=$(mktemp -d)
    export CURVE="$here/../$name.points"
    case $name in
    caret) set -- Rscript caret_train.R ;;
    catboost) set -- "$python" catboost_fit.py ;;
    fastai) set -- "$python" fastai_fit.py ;;
    flax) set -- "$python" flax_loop.py ;;
    gensim) set -- "$python" gensim_word2vec.py ;;
    ignite) set -- "$python" ignite_loop.py ;;
    keras) set -- "$python" keras_fit.py 1 ;;
    keras-lines) set -- "$python" keras_fit.py 2 ;;
    lightgbm) set -- "$python" lightgbm_train.py ;;
    lightning) set -- "$python" lightning_print.py ;;
    pytorch) set -- "$python" pytorch.py ;;
    sklearn-boosting) set -- "$python" sklearn_boosting.py ;;
    sklearn-mlp) set -- "$python" sklearn_mlp.py ;;
    sb3) set -- "$python" sb3_ppo.py ;;
    skorch) set -- "$python" skorch_fit.py ;;
    spacy) set -- "$python" spacy_train.py ;;
    tqdm) set -- "$python" pytorch_tqdm.py ;;
    transformers) set -- "$python" transformers_trainer.py ;;
    xgboost) set -- "$python" xgboost_train.py ;;
    *) echo "run.sh: unknown log '$name'" >&2; exit 2 ;;
    esac
    cp "$here"/*.py "$here"/*.R "$work"
    (cd "$work" && PYTHONDONTWRITEBYTECODE=1 "$@") >"$here/../$name.log" 2>&1
    rm -rf "$work"
done
