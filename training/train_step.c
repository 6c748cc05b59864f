/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>

#include "training/train_run.h"
#include "training/util/stopwatch.h"

/* A part of the batch of `count` samples in run->order + start: samples begin
 * to end of it, this rank's share number `own`. What it came to becomes the
 * share's tally. */
static int train_share(struct train_run *run, size_t start, size_t count,
                       int own, struct err *err)
{
    int share = shares_of(&run->shares, run->ranks.rank, own);
    size_t begin = shares_begin(&run->shares, share, count);
    size_t end = shares_begin(&run->shares, share + 1, count);
    struct train_tally *tally =
        &run->tallies[shares_place(&run->shares, share)];
    struct totals totals;
    struct batch batch;

    /* Where there is nothing to learn, all steps are done nevertheless: other
     * ranks take part in them. */
    if (begin == end) {
        struct totals unused;

        batch = run_gather(run, run->order + start, 1);
        *tally = (struct train_tally){.signal = *run->job->stop};
        return recorder_train(&run->recorder, run->model, &batch, own, &unused,
                              err);
    }
    batch = run_gather(run, run->order + start + begin, end - begin);
    batch.first = begin;
    batch.scale = 1 / (double)(count * run->data->targets);
    if (recorder_train(&run->recorder, run->model, &batch, own, &totals, err) !=
        0)
        return -1;
    *tally = (struct train_tally){totals.loss, totals.errors, *run->job->stop};
    return 0;
}

/* Every rank is at the same step. */
static bool is_due(int64_t every, uint64_t step)
{
    return every > 0 && (step + 1) % (uint64_t)every == 0;
}

/* Pascanu et al., "On the difficulty of training recurrent neural networks",
 * ICML 2013, algorithm 1. */
static int clip(struct train_run *run, double *scale, struct err *err)
{
    double most = run->options->clip_norm;
    double *norm = &run->meter.grad_norm;

    *scale = 1;
    if (most == 0 && !is_due(run->options->log_steps, run->at.step))
        return 0;
    if (reducer_norm(run->reducer, norm, err) != 0)
        return -1;
    if (most > 0 && *norm > most)
        *scale = most / *norm;
    return 0;
}

static int update(struct train_run *run, struct err *err)
{
    int spans = reducer_span_count(run->reducer);
    double length = 1 / (double)run->batches, scale;
    double epoch = (double)run->at.epoch + (double)run->at.batch * length;

    run->meter.lr =
        run->options->lr *
        lr_schedule_factor(&run->lr, epoch, length, (double)run->batch);
    if (clip(run, &scale, err) != 0)
        return -1;
    for (int i = 0; i < spans; i++) {
        struct optim_span span = reducer_span(run->reducer, i);

        if (optim_step(&run->optim, &span, run->meter.lr, scale, run->at.step,
                       err) != 0)
            return -1;
        reducer_publish(run->reducer, i);
    }
    return reducer_settle(run->reducer, err);
}

static void report_step(struct train_run *run)
{
    struct meter *meter = &run->meter;
    double now_ms = stopwatch_ms();
    double spent_ms = now_ms - meter->start_ms;
    double steps = (double)meter->steps;
    struct train_step report = {
        .step = run->at.step + 1,
        .loss = meter->loss / (double)(meter->samples * run->data->targets),
        .grad_norm = meter->grad_norm,
        .lr = meter->lr,
        .samples_per_s = (double)meter->samples * 1e3 / spent_ms,
        .input_ms = meter->input_ms / steps,
        .exposed_comm_ms = meter->exposed_comm_ms / steps};

    /* Clocks that are read apart: next to no computing can come out below 0. */
    report.compute_ms =
        fmax(0, spent_ms / steps - report.input_ms - report.exposed_comm_ms);
    if (run->ranks.rank == 0)
        run->job->on_step(run->job->user, &report);
    *meter = (struct meter){.start_ms = now_ms};
}

static int measured_sum(struct train_run *run, struct train_tally *sum,
                        int *bad, struct err *err)
{
    double start_ms = stopwatch_ms();
    int status = run_sum_tallies(run, sum, bad, err);

    run->meter.exposed_comm_ms += stopwatch_ms() - start_ms;
    return status;
}

int run_step(struct train_run *run, size_t start, size_t count,
             struct train_tally *sum, int *bad, struct err *err)
{
    const struct shares *shares = &run->shares;
    bool is_checked = is_due(run->options->check_every, run->at.step);

    if (is_checked)
        reducer_begin_digest(run->reducer);
    for (int i = 0; i < shares->own; i++) {
        reducer_begin_share(run->reducer, i);
        if (train_share(run, start, count, i, err) != 0)
            return -1;
    }
    if (reducer_settle(run->reducer, err) != 0 ||
        measured_sum(run, sum, bad, err) != 0)
        return -1;
    if (*bad >= 0)
        return 0;
    if ((is_checked && run_check(run, "parameters",
                                 reducer_end_digest(run->reducer), err) != 0) ||
        update(run, err) != 0)
        return -1;
    run->meter.exposed_comm_ms += reducer_take_waited_ms(run->reducer);
    run->meter.loss += sum->loss;
    run->meter.samples += count;
    run->meter.steps++;
    if (is_due(run->options->log_steps, run->at.step))
        report_step(run);
    return 0;
}
