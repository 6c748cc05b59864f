/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "orchestrator/spec/experiment/goal_warn.h"

#include <ctype.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/text.h"

/* Words of names of metrics, in lower case. `time`, `score`, `rate` and the
 * like are in neither list, since both goals are usual for them. */
static const char *const to_maximize[] = {
    "acc",  "accuracy", "auc",    "auroc",   "auprc",     "f1",   "precision",
    "map",  "recall",   "r2",     "iou",     "miou",      "dice", "bleu",
    "psnr", "rouge",    "reward", "rewards", "ssim",      "ndcg", "mrr",
    "mcc",  "kappa",    "top1",   "top5",    "throughput"};
static const char *const to_minimize[] = {
    "loss", "losses",       "error", "err",        "errors",  "mse",
    "rmse", "perplexity",   "mae",   "mape",       "nll",     "ppl",
    "wer",  "crossentropy", "cer",   "fid",        "logloss", "latency",
    "bce",  "regret",       "bpc",   "divergence", "brier"};

/* Where a word ends: at what is no letter or digit, and before a capital
 * behind a small letter (valLoss). */
static size_t word_length(const char *word)
{
    size_t length = 0;

    while (isalnum((unsigned char)word[length]) &&
           !(length > 1 && isupper((unsigned char)word[length]) &&
             islower((unsigned char)word[length - 1])))
        length++;
    return length;
}

bool goal_is_unlikely(const char *metric, bool maximize)
{
    bool is_gain = false, is_cost = false;

    while (*metric != '\0') {
        size_t length = word_length(metric);

        is_gain |= text_is_word_among(metric, length, to_maximize,
                                      ARRAY_LEN(to_maximize));
        is_cost |= text_is_word_among(metric, length, to_minimize,
                                      ARRAY_LEN(to_minimize));
        metric += length > 0 ? length : 1;
    }
    return maximize ? is_cost && !is_gain : is_gain && !is_cost;
}
