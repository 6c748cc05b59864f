/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measuring a model on held-out data, and comparing ranks.
 *
 * All ranks evaluate the same number of batches, because in stage 3 of ZeRO
 * each pass gathers parameters from all of them. A rank whose share is smaller
 * evaluates one sample without counting it. Sums are formed in the order of
 * shares, so the result does not depend on the number of ranks. run_check()
 * finds ranks that were started with other flags or data, or whose parameters
 * have diverged.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "training/train_run.h"
#include "training/util/stopwatch.h"

struct batch run_gather(struct train_run *run, const uint32_t *samples,
                        size_t count)
{
    double start_ms = stopwatch_ms();

    run->data->kind->gather(run->data, samples, count, run->inputs,
                            run->targets);
    *run->step = run->at.step;
    run->meter.input_ms += stopwatch_ms() - start_ms;
    return (struct batch){.inputs = run->inputs,
                          .targets = run->targets,
                          .count = count,
                          .step = run->step};
}

int run_sum_tallies(struct train_run *run, struct train_tally *sum, int *bad,
                    struct err *err)
{
    size_t bytes = (size_t)run->shares.own * sizeof(*run->tallies);

    *sum = (struct train_tally){0};
    *bad = -1;
    if (reducer_settle(run->reducer, err) != 0 ||
        comm_all_gather(run->comm, run->tallies, bytes, err) != 0)
        return -1;
    for (int i = 0; i < run->shares.count; i++) {
        int place = shares_place(&run->shares, i);
        const struct train_tally *tally = &run->tallies[place];

        sum->loss += tally->loss;
        sum->errors += tally->errors;
        if (sum->signal == 0)
            sum->signal = tally->signal;
        if (*bad < 0 && !isfinite(tally->loss))
            *bad = place / run->shares.own;
    }
    return 0;
}

/* In as many batches as the largest share: other ranks take part in them. */
static int measure_share(struct train_run *run, size_t begin, size_t end,
                         size_t most, struct totals *totals, struct err *err)
{
    *totals = (struct totals){0};
    for (size_t done = 0; done < most; done += run->evaluate_samples) {
        size_t left = end - begin;
        size_t size =
            left < run->evaluate_samples ? left : run->evaluate_samples;
        struct totals unused = {0};
        struct batch batch;

        for (size_t i = 0; i < size; i++)
            run->samples[i] = (uint32_t)(begin + i);
        batch = run_gather(run, run->samples, size > 0 ? size : 1);
        if (model_evaluate(run->model, &batch, size > 0 ? totals : &unused,
                           err) != 0)
            return -1;
        begin += size;
    }
    return 0;
}

int run_measure(struct train_run *run, size_t first, double *loss,
                double *error, struct err *err)
{
    const struct shares *shares = &run->shares;
    size_t count = run->data->count - first;
    double targets = (double)(count * run->data->targets);
    struct train_tally sum;
    int bad;

    for (int i = 0; i < shares->own; i++) {
        int share = shares_of(shares, run->ranks.rank, i);
        size_t begin = first + shares_begin(shares, share, count);
        size_t end = first + shares_begin(shares, share + 1, count);
        struct totals totals;

        if (measure_share(run, begin, end, shares_most(shares, count), &totals,
                          err) != 0)
            return -1;
        run->tallies[shares_place(shares, share)] =
            (struct train_tally){totals.loss, totals.errors, 0};
    }
    if (run_sum_tallies(run, &sum, &bad, err) != 0)
        return -1;
    *loss = sum.loss / targets;
    *error = (double)sum.errors / targets;
    return 0;
}

/* Says which ranks have others than the first one. */
static int compare(const struct train_run *run, const char *what,
                   const uint32_t *digests, struct err *err)
{
    struct buf names = BUF_INIT;
    int status;

    for (int i = 1; i < run->ranks.size; i++) {
        if (digests[i] != digests[0])
            buf_printf(&names, "%s %d on host %s", names.length > 0 ? "," : "",
                       i, comm_host(run->comm, i));
    }
    if (names.length > 0)
        err_set(err, ERR_FAILED,
                "after %" PRIu64 " step%s the %s of these ranks differ from "
                "rank 0 on host %s:%s",
                run->at.step, units_plural((int64_t)run->at.step), what,
                comm_host(run->comm, 0), buf_text(&names));
    status = names.length > 0 ? -1 : 0;
    buf_clear(&names);
    return status;
}

int run_check(struct train_run *run, const char *what, uint32_t digest,
              struct err *err)
{
    uint32_t *digests = mem_array((size_t)run->ranks.size, sizeof(*digests));
    int status;

    digests[run->ranks.rank] = digest;
    status = comm_all_gather(run->comm, digests, sizeof(*digests), err);
    if (status == 0)
        status = compare(run, what, digests, err);
    free(digests);
    return status;
}
