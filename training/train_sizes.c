/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many samples there are in a step, in a share of it, and at a time.
 *
 * The flags say how large a batch is, which may grow over the epochs. Memory is
 * planned once, for the largest number of samples that this rank computes at a
 * time: a share of the largest batch of the run, or of what it measures. There
 * may be fewer samples than a batch has, so the data limit both.
 */
#include <math.h>

#include "training/train_run.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Smith et al., "Don't decay the learning rate, increase the batch size",
 * ICLR 2018. */
static size_t batch_at(const struct train_options *options, int64_t epoch)
{
    int64_t times = options->grow_every > 0 ? epoch / options->grow_every : 0;
    double batch = (double)options->batch *
                   pow((double)options->grow_factor, (double)times);

    return (size_t)fmin(batch, TRAIN_BATCH_MAX);
}

void run_set_batch(struct train_run *run)
{
    run->batch = batch_at(run->options, run->at.epoch);
    run->batches = (run->train_count + run->batch - 1) / run->batch;
}

int run_cut(struct train_run *run, int saved, struct err *err)
{
    const struct train_options *options = run->options;
    int count = (int)options->shares;

    if (count == 0)
        count = saved;
    if (count == 0)
        count = run->ranks.size * (int)options->accumulate;
    return shares_init(&run->shares, count, run->ranks.size, options->zero >= 2,
                       err);
}

/* The most samples at a time, for these data. They hang on the shares and not
 * on the ranks, and where it measures not on the run's length either. */
static void set_sizes(struct train_run *run)
{
    const struct train_options *options = run->options;
    const struct data *data = run->data;
    size_t limit = (size_t)options->limit;
    size_t measured = data->held_out < data->count
                          ? data->count - data->held_out
                          : data->count;
    size_t largest = batch_at(options, options->epochs - 1);

    run->train_count =
        limit > 0 ? smaller(limit, data->held_out) : data->held_out;
    run->evaluate_samples = shares_most(&run->shares, (size_t)options->batch);
    if (run->evaluate_samples < EVALUATE_TARGETS / data->targets)
        run->evaluate_samples = EVALUATE_TARGETS / data->targets;
    run->evaluate_samples =
        smaller(run->evaluate_samples, shares_most(&run->shares, measured));
    run->max_samples =
        shares_most(&run->shares, smaller(largest, run->train_count));
    if (run->max_samples < run->evaluate_samples)
        run->max_samples = run->evaluate_samples;
}

int run_plan(struct train_run *run, enum data_part part, struct err *err)
{
    const struct train_job *job = run->job;
    const struct train_options *options = run->options;
    const struct data_kind *kind = job->kind->data;
    const char *path = data_path(kind, options->data, err);
    struct model_shape shape = {.seed = (uint64_t)options->seed};

    openblas_set_num_threads((int)options->threads);
    if (path != NULL)
        run->data = kind->open(path, part, job->model_options, err);
    if (run->data == NULL)
        return -1;
    set_sizes(run);
    shape.inputs = run->data->input_bytes;
    shape.targets = run->data->targets;
    shape.classes = run->data->classes;
    shape.max_samples = run->max_samples;
    run->model =
        model_plan(job->kind, run->backend, &shape, job->model_options, err);
    return run->model != NULL ? 0 : -1;
}
