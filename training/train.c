/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/train.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/units.h"
#include "training/train_run.h"
#include "training/util/stopwatch.h"

static void run_clear(struct train_run *run)
{
    run_end_saving(run);
    checkpoint_unlock(run->lock);
    recorder_clear(&run->recorder);
    reducer_destroy(run->reducer);
    model_release(run->model);
    checkpoint_destroy(run->checkpoint);
    comm_destroy(run->comm);
    optim_clear(&run->optim);
    if (run->data != NULL)
        run->data->kind->close(run->data);
    buf_clear(&run->settings);
    buf_clear(&run->required);
    free(run->tallies);
    free(run->order);
    free(run->samples);
    if (run->backend != NULL) {
        run->backend->release(run->inputs);
        run->backend->release(run->targets);
        run->backend->release(run->step);
    }
}

static int choose_backend(struct train_run *run, struct err *err)
{
    struct buf notes = BUF_INIT;
    int status = -1;

    run->backend = backend_open(run->options->backend,
                                (enum precision)run->options->precision,
                                run->ranks.local_rank, &notes, err);
    if (run->backend != NULL)
        status = comm_use_backend(run->comm, run->backend, &notes, err);
    if (notes.length > 0)
        run_note(run, buf_text(&notes));
    buf_clear(&notes);
    return status;
}

/* Finds the other ranks, and where to compute. */
static int run_meet(struct train_run *run, const struct train_job *job,
                    struct err *err)
{
    struct comm_options options = {
        .name = comm_names[job->options->comm],
        .timeout_ms = job->options->comm_timeout_s * 1000,
        .is_for_devices = backend_may_be_device(job->options->backend)};

    run->job = job;
    run->options = job->options;
    if (ranks_read(&run->ranks, err) != 0)
        return -1;
    run->comm = comm_create(&run->ranks, &options, err);
    return run->comm != NULL ? choose_backend(run, err) : -1;
}

/* As many shares as the run began with. */
static int cut(struct train_run *run, struct err *err)
{
    int saved = 0;

    if (run->checkpoint != NULL)
        saved = (int)checkpoint_number(run->checkpoint, "shares");
    if (run_cut(run, saved, err) != 0)
        return -1;
    run->tallies = mem_array((size_t)run->shares.count, sizeof(*run->tallies));
    return 0;
}

/* Lines of its own, beside those of the flags. */
static void add_settings(struct train_run *run, const char *lines)
{
    buf_add_string(&run->settings, lines);
    buf_add_string(&run->required, lines);
}

/* Which tokens a text is cut into: who goes on needs the same ones, and who
 * samples has them from here. */
static void add_vocabulary(struct train_run *run)
{
    const struct data *data = run->data;
    char *line;

    if (data->merges == NULL)
        return;
    line = mem_printf(
        "vocabulary=%zu tokens (%08lx)\n", data->classes,
        crc32_z(0, (const Bytef *)data->merges, strlen(data->merges)));
    add_settings(run, line);
    free(line);
    buf_printf(&run->settings, "merges=%s\n", data->merges);
}

/* The model and its optimizer, for samples as those of the data. */
static int run_init(struct train_run *run, enum data_part part, struct err *err)
{
    const struct train_job *job = run->job;
    const struct train_options *options = job->options;
    struct optim_settings settings = {options->optimizer, options->momentum,
                                      options->weight_decay};
    struct reducer_options reduction = {.shares = run->shares.own,
                                        .stage = (int)options->zero,
                                        .bucket_bytes =
                                            (size_t)(options->bucket_mb * 1e6),
                                        .ranks = &run->ranks};

    if (run_plan(run, part, err) != 0)
        return -1;
    run->samples = mem_array(run->max_samples, sizeof(*run->samples));
    run->inputs =
        run->backend->allocate(run->max_samples * run->data->input_bytes, err);
    run->targets = run->backend->allocate(
        run->max_samples * run->data->targets * sizeof(*run->targets), err);
    run->step = run->backend->allocate(sizeof(*run->step), err);
    if (run->inputs == NULL || run->targets == NULL || run->step == NULL)
        return -1;
    run->model->params.spare = buckets_spare(run->ranks.size);
    if (model_allocate(run->model, err) != 0)
        return -1;
    if (run->checkpoint == NULL && job->kind->load != NULL &&
        job->kind->load(run->model, job->model_options, err) != 0)
        return -1;
    run->reducer =
        reducer_create(&run->model->params, run->comm, &reduction, err);
    if (run->reducer == NULL)
        return -1;
    recorder_init(&run->recorder, run->backend,
                  !options->no_cuda_graphs && reducer_is_alone(run->reducer));
    buf_printf(&run->settings, "model=%s\n%s", job->kind->name, job->settings);
    buf_printf(&run->required, "model=%s\n%s", job->kind->name, job->required);
    add_vocabulary(run);
    return optim_init(&run->optim, &settings, reducer_shard_count(run->reducer),
                      run->backend, err);
}

static void run_split(struct train_run *run)
{
    const struct data *data = run->data;
    char *lines;

    run->order = mem_array(run->train_count, sizeof(*run->order));
    lines = mem_printf("samples=%zu\ndata_crc32=%08" PRIx32 "\n", data->count,
                       data->digest);
    add_settings(run, lines);
    free(lines);
    buf_printf(&run->settings, "precision=%s\n",
               precision_names[run->options->precision]);
    lines = mem_printf("shares=%d\n", run->shares.count);
    buf_add_string(&run->settings, lines);
    if (!run->options->adopt)
        buf_add_string(&run->required, lines);
    free(lines);
}

/* Where a schedule has an end, a run that goes on needs the same one. */
static int run_set_schedule(struct train_run *run, struct err *err)
{
    const struct train_options *options = run->options;
    int64_t horizon = options->horizon > 0 ? options->horizon : options->epochs;
    char *line;

    run->lr = (struct lr_schedule){.schedule = options->schedule,
                                   .end = (double)horizon,
                                   .warmup = options->warmup,
                                   .decay_every = options->decay_every,
                                   .decay_factor = options->decay_factor,
                                   .decay_share = options->decay_share,
                                   .scaling = options->scale_lr,
                                   .base_batch = (double)options->base_batch};
    if (!lr_schedule_has_end(options->schedule))
        return 0;
    if (options->epochs > horizon)
        return err_set(err, ERR_USAGE,
                       "--epochs %" PRId64 " is larger than --horizon %" PRId64
                       ", the end of the schedule",
                       options->epochs, horizon);
    if (options->warmup >= (double)horizon)
        return err_set(err, ERR_USAGE,
                       "--warmup %g is not shorter than the schedule, which "
                       "ends at epoch %" PRId64,
                       options->warmup, horizon);
    line = mem_printf("horizon=%" PRId64 "\n", horizon);
    add_settings(run, line);
    free(line);
    return 0;
}

static void report(const struct train_run *run,
                   const struct train_report *report)
{
    if (run->ranks.rank == 0)
        run->job->on_epoch(run->job->user, report);
}

/* rank: whose samples it was, or -1. The ranks end together: the first that
 * ends has the others killed, and rank 0 has to print its line before. */
static int diverged(struct train_run *run, int rank, struct err *err)
{
    const struct train_report none = {run->at.epoch + 1, NAN, NAN, NAN, 0, 0};
    struct buf whose = BUF_INIT;
    struct err late = {0};
    int status;

    report(run, &none);
    if (run->ranks.size > 1)
        (void)comm_barrier(run->comm, &late);
    if (rank >= 0 && run->ranks.size > 1)
        buf_printf(&whose, " of rank %d on host %s", rank,
                   comm_host(run->comm, rank));
    status = err_set(
        err, ERR_FAILED,
        "training diverged: the loss%s is not finite in epoch %" PRId64
        ", batch %" PRId64 "; try a smaller --lr than %g",
        buf_text(&whose), run->at.epoch + 1, run->at.batch, run->options->lr);
    buf_clear(&whose);
    return status;
}

/* The rest of the epoch that is under way. 0, -1, or the signal with which a
 * rank was told to stop. */
static int train_epoch(struct train_run *run, struct err *err)
{
    run_set_batch(run);
    run->meter = (struct meter){.start_ms = stopwatch_ms()};
    data_shuffle(run->order, run->train_count, (uint64_t)run->options->seed,
                 (uint64_t)run->at.epoch);
    while ((size_t)run->at.batch < run->batches) {
        size_t start = (size_t)run->at.batch * run->batch;
        size_t left = run->train_count - start;
        struct train_tally sum;
        int bad;

        if (run_step(run, start, left < run->batch ? left : run->batch, &sum,
                     &bad, err) != 0)
            return -1;
        run->at.batch++;
        if (bad >= 0)
            return diverged(run, bad, err);
        run->at.step++;
        run->at.loss_sum += sum.loss;
        if (run_check_saver(run, err) != 0)
            return -1;
        if (sum.signal != 0)
            return run_save(run, err) != 0 ? -1 : (int)sum.signal;
    }
    return 0;
}

static void report_epoch(const struct train_run *run, double samples_per_s)
{
    const struct position *at = &run->at;
    struct train_report numbers = {at->epoch,     at->train_loss,
                                   at->val_loss,  at->val_error,
                                   samples_per_s, run->data->bytes_per_target};

    report(run, &numbers);
}

/* Reports before it saves: a run that is killed between the two repeats an
 * epoch, and none goes unreported. */
static int finish_epoch(struct train_run *run, double samples_per_s,
                        struct err *err)
{
    struct position *at = &run->at;

    at->train_loss =
        at->loss_sum / (double)(run->train_count * run->data->targets);
    if (run_measure(run, run->data->held_out, &at->val_loss, &at->val_error,
                    err) != 0)
        return -1;
    if (!isfinite(at->val_loss))
        return diverged(run, -1, err);
    at->epoch++;
    at->batch = 0;
    at->loss_sum = 0;
    report_epoch(run, samples_per_s);
    return run_save(run, err);
}

static double trained_samples(const struct train_run *run, int64_t from_batch)
{
    size_t before = (size_t)from_batch * run->batch;

    return before < run->train_count ? (double)(run->train_count - before) : 0;
}

static int run_epochs(struct train_run *run, struct err *err)
{
    if (run->at.epoch >= run->options->epochs)
        report_epoch(run, 0);
    while (run->at.epoch < run->options->epochs) {
        int64_t start_ms = clock_monotonic_ms(), from_batch = run->at.batch;
        int end = train_epoch(run, err);
        int64_t spent_ms = clock_monotonic_ms() - start_ms;

        if (end != 0)
            return end;
        if (finish_epoch(run,
                         trained_samples(run, from_batch) * 1000 /
                             (double)(spent_ms > 0 ? spent_ms : 1),
                         err) != 0)
            return -1;
    }
    return 0;
}

static void note_position(const struct train_run *run)
{
    struct buf text = BUF_INIT;

    if (run->at.epoch < run->options->epochs)
        buf_printf(&text, "resuming at epoch %" PRId64 ", batch %" PRId64 "\n",
                   run->at.epoch + 1, run->at.batch + 1);
    else
        buf_printf(&text, "the checkpoint already has %" PRId64 " epoch%s\n",
                   run->at.epoch, units_plural(run->at.epoch));
    run_note(run, buf_text(&text));
    buf_clear(&text);
}

/* In stage 3 of ZeRO nobody has the parameters before they are used. */
static int check_alike(struct train_run *run, struct err *err)
{
    uint32_t settings = (uint32_t)crc32_z(0, (const Bytef *)run->settings.data,
                                          run->settings.length);

    if (run_check(run, "flags or data", settings, err) != 0)
        return -1;
    reducer_begin_digest(run->reducer);
    return run_check(run, "parameters", reducer_end_digest(run->reducer), err);
}

static int run_prepare(struct train_run *run, struct err *err)
{
    const char *directory = run->options->checkpoint_dir;

    if (directory != NULL && (fs_make_trial_directories(directory, err) != 0 ||
                              run_lock_checkpoints(run, err) != 0))
        return -1;
    if (run_open_checkpoint(run, err) != 0 || cut(run, err) != 0 ||
        run_init(run, DATA_TRAIN, err) != 0)
        return -1;
    run_split(run);
    if (run_set_schedule(run, err) != 0 || run_restore(run, err) != 0 ||
        check_alike(run, err) != 0)
        return -1;
    return run_begin_saving(run, err);
}

int train_run(const struct train_job *job, struct err *err)
{
    struct train_run run = {0};
    int end = -1;

    if (run_meet(&run, job, err) == 0 && run_prepare(&run, err) == 0) {
        if (run.at.step > 0)
            note_position(&run);
        end = run_epochs(&run, err);
        if (end >= 0 && run_finish_saving(&run, err) != 0)
            end = -1;
    }
    if (end < 0 && run.comm != NULL)
        comm_give_up(run.comm, err);
    run_clear(&run);
    return end;
}

int train_test(const struct train_job *job, struct train_result *result,
               struct err *err)
{
    struct train_run run = {0};
    int status = -1;

    if (run_meet(&run, job, err) == 0 && run_open_checkpoint(&run, err) == 0 &&
        cut(&run, err) == 0 && run_init(&run, DATA_TEST, err) == 0 &&
        run_restore(&run, err) == 0)
        status = run_measure(&run, 0, &result->loss, &result->error, err);
    if (status == 0) {
        result->bytes_per_target = run.data->bytes_per_target;
        status = run.ranks.rank == 0;
    } else if (run.comm != NULL) {
        comm_give_up(run.comm, err);
    }
    run_clear(&run);
    return status;
}
