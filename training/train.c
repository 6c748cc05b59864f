/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/train.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "training/checkpoint.h"
#include "training/data.h"
#include "training/lr_schedule.h"
#include "training/optim.h"

/*
 * All that a run computes is a function of its flags and of `position`: the
 * images' order of (seed, epoch), the random numbers of (seed, step). So the
 * parameters, the moments and the position are its whole state, and a run
 * that was stopped after any batch goes on as if nothing had happened.
 */

enum { HELD_OUT_SHARE = 6, EVALUATE_ROWS = 256 };

struct run {
    const struct train_job *job;
    const struct train_options *options;
    struct dataset data;
    size_t train_count;            /* the first images of data */
    size_t batches;                /* in an epoch */
    size_t held_out, held_count;   /* images held_out .. + held_count - 1 */
    struct buf settings, required; /* as of struct checkpoint_parts */
    int64_t horizon;               /* epochs */
    struct model *model;
    struct optim optim;
    struct position at;
    size_t max_rows;
    uint32_t *order; /* [train_count]: of this epoch */
    uint32_t *rows;  /* [max_rows]: of a batch that is only measured */
    uint8_t *labels; /* [max_rows]: of the batch */
};

static struct checkpoint_parts parts_of(struct run *run)
{
    return (struct checkpoint_parts){
        buf_text(&run->settings), buf_text(&run->required), &run->model->params,
        &run->optim, &run->at};
}

static void run_clear(struct run *run)
{
    if (run->model != NULL)
        run->job->kind->destroy(run->model);
    optim_clear(&run->optim);
    data_clear(&run->data);
    buf_clear(&run->settings);
    buf_clear(&run->required);
    free(run->order);
    free(run->rows);
    free(run->labels);
}

/* Lines of its own, beside those of the flags. */
static void add_settings(struct run *run, const char *lines)
{
    buf_add_string(&run->settings, lines);
    buf_add_string(&run->required, lines);
}

/* The model and its optimizer, for images of the size of the data's. */
static int run_init(struct run *run, const struct train_job *job,
                    const char *prefix, struct err *err)
{
    const struct train_options *options = job->options;
    struct optim_settings settings = {options->optimizer, options->momentum,
                                      options->weight_decay};
    struct model_shape shape = {.classes = DATA_CLASSES,
                                .seed = (uint64_t)options->seed};

    run->job = job;
    run->options = options;
    openblas_set_num_threads((int)options->threads);
    if (data_load(options->data, prefix, &run->data, err) != 0)
        return -1;
    run->max_rows = (size_t)options->batch > EVALUATE_ROWS
                        ? (size_t)options->batch
                        : EVALUATE_ROWS;
    run->rows = mem_array(run->max_rows, sizeof(*run->rows));
    run->labels = mem_array(run->max_rows, sizeof(*run->labels));
    shape.inputs = run->data.inputs;
    shape.max_rows = run->max_rows;
    run->model = job->kind->create(&shape, job->model_options, err);
    if (run->model == NULL)
        return -1;
    buf_printf(&run->settings, "model=%s\n%s", job->kind->name, job->settings);
    buf_printf(&run->required, "model=%s\n%s", job->kind->name, job->required);
    return optim_init(&run->optim, &settings, &run->model->params, err);
}

static int run_split(struct run *run, struct err *err)
{
    const struct dataset *data = &run->data;
    size_t batch = (size_t)run->options->batch;
    size_t limit = (size_t)run->options->limit;
    char *lines;

    run->held_count = data->count / HELD_OUT_SHARE;
    run->held_out = data->count - run->held_count;
    if (run->held_count == 0)
        return err_set(err, ERR_FILE, "%zu images are too few to hold some out",
                       data->count);
    run->train_count =
        limit > 0 && limit < run->held_out ? limit : run->held_out;
    run->batches = (run->train_count + batch - 1) / batch;
    run->order = mem_array(run->train_count, sizeof(*run->order));
    lines = mem_printf("images=%zu\nlabels_crc32=%08lx\n", data->count,
                       crc32_z(0, data->labels, data->count));
    add_settings(run, lines);
    free(lines);
    return 0;
}

/* Where a schedule has an end, a run that goes on needs the same one. */
static int run_set_horizon(struct run *run, struct err *err)
{
    const struct train_options *options = run->options;
    char *line;

    run->horizon = options->horizon > 0 ? options->horizon : options->epochs;
    if (!lr_schedule_has_end(options->schedule))
        return 0;
    if (options->epochs > run->horizon)
        return err_set(err, ERR_USAGE,
                       "--epochs %" PRId64 " is past --horizon %" PRId64
                       ", the end of the schedule",
                       options->epochs, run->horizon);
    line = mem_printf("horizon=%" PRId64 "\n", run->horizon);
    add_settings(run, line);
    free(line);
    return 0;
}

static void note(const struct run *run, const char *text)
{
    run->job->on_note(run->job->user, text);
}

/* An epoch that is under way in batches of another size begins anew. */
static void fit_batch(struct run *run, const char *header)
{
    char *line = mem_printf("\nbatch=%" PRId64 "\n", run->options->batch);

    if (strstr(header, line) == NULL) {
        run->at.batch = 0;
        run->at.loss_sum = 0;
    }
    free(line);
}

/* Goes on from the newest checkpoint; 0 also when there is none. */
static int run_restore(struct run *run, struct err *err)
{
    struct checkpoint_parts parts = parts_of(run);
    struct checkpoint *checkpoint = NULL;
    struct buf notes = BUF_INIT;
    int status =
        checkpoint_open(run->options->checkpoint_dir, &checkpoint, &notes, err);

    if (notes.length > 0)
        note(run, buf_text(&notes));
    buf_clear(&notes);
    if (checkpoint != NULL) {
        status = checkpoint_restore(checkpoint, &parts, err);
        if (status == 0)
            fit_batch(run, checkpoint_header(checkpoint));
        checkpoint_destroy(checkpoint);
    }
    return status;
}

static int run_save(struct run *run, struct err *err)
{
    struct checkpoint_parts parts = parts_of(run);

    if (run->options->checkpoint_dir == NULL)
        return 0;
    return checkpoint_save(run->options->checkpoint_dir, &parts, err);
}

/* Labels are gathered so that a batch's lie together. */
static struct batch gather(struct run *run, const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run->labels[i] = run->data.labels[rows[i]];
    return (struct batch){run->data.images, rows, run->labels, count,
                          run->at.step};
}

/* Mean loss and share of errors on `count` images from `first` on. */
static void measure(struct run *run, size_t first, size_t count, double *loss,
                    double *error)
{
    size_t errors = 0;
    double sum = 0;

    for (size_t done = 0; done < count;) {
        size_t size =
            count - done < run->max_rows ? count - done : run->max_rows;
        struct batch batch;

        for (size_t i = 0; i < size; i++)
            run->rows[i] = (uint32_t)(first + done + i);
        batch = gather(run, run->rows, size);
        sum += run->job->kind->evaluate(run->model, &batch, &errors);
        done += size;
    }
    *loss = sum / (double)count;
    *error = (double)errors / (double)count;
}

static int diverged(struct run *run, struct err *err)
{
    struct train_report report = {run->at.epoch + 1, NAN, NAN, NAN, 0};

    run->job->on_epoch(run->job->user, &report);
    return err_set(err, ERR_FAILED,
                   "training diverged: the loss is not finite in epoch %" PRId64
                   ", batch %" PRId64 "; try a smaller --lr than %g",
                   run->at.epoch + 1, run->at.batch, run->options->lr);
}

/* The rest of the epoch that is under way. An enum train_end or -1. */
static int train_epoch(struct run *run, struct err *err)
{
    const struct train_options *options = run->options;
    size_t size = (size_t)options->batch;
    uint64_t total_steps = (uint64_t)run->horizon * run->batches;

    data_shuffle(run->order, run->train_count, (uint64_t)options->seed,
                 (uint64_t)run->at.epoch);
    while ((size_t)run->at.batch < run->batches) {
        size_t start = (size_t)run->at.batch * size;
        size_t left = run->train_count - start;
        struct batch batch =
            gather(run, run->order + start, left < size ? left : size);
        double loss = run->job->kind->train(run->model, &batch);
        double factor =
            lr_schedule_factor(options->schedule, run->at.step, total_steps);

        run->at.batch++;
        if (!isfinite(loss))
            return diverged(run, err);
        optim_step(&run->optim, &run->model->params, options->lr * factor,
                   run->at.step);
        run->at.step++;
        run->at.loss_sum += loss;
        if (*run->job->stop != 0)
            return run_save(run, err) != 0 ? -1 : TRAIN_STOPPED;
    }
    return TRAIN_DONE;
}

static void report_epoch(const struct run *run, double images_per_s)
{
    const struct position *at = &run->at;
    struct train_report report = {at->epoch, at->train_loss, at->val_loss,
                                  at->val_error, images_per_s};

    run->job->on_epoch(run->job->user, &report);
}

/* Reports before it saves: a run that is killed between the two repeats an
 * epoch, and none goes unreported. */
static int finish_epoch(struct run *run, double images_per_s, struct err *err)
{
    struct position *at = &run->at;

    at->train_loss = at->loss_sum / (double)run->train_count;
    measure(run, run->held_out, run->held_count, &at->val_loss, &at->val_error);
    if (!isfinite(at->val_loss))
        return diverged(run, err);
    at->epoch++;
    at->batch = 0;
    at->loss_sum = 0;
    report_epoch(run, images_per_s);
    return run_save(run, err);
}

static double trained_images(const struct run *run, int64_t from_batch)
{
    size_t before = (size_t)(from_batch * run->options->batch);

    return before < run->train_count ? (double)(run->train_count - before) : 0;
}

static int run_epochs(struct run *run, struct err *err)
{
    if (run->at.epoch >= run->options->epochs)
        report_epoch(run, 0);
    while (run->at.epoch < run->options->epochs) {
        int64_t start_ms = clock_monotonic_ms(), from_batch = run->at.batch;
        int end = train_epoch(run, err);
        int64_t spent_ms = clock_monotonic_ms() - start_ms;

        if (end != TRAIN_DONE)
            return end;
        if (finish_epoch(run,
                         trained_images(run, from_batch) * 1000 /
                             (double)(spent_ms > 0 ? spent_ms : 1),
                         err) != 0)
            return -1;
    }
    return TRAIN_DONE;
}

static void note_position(const struct run *run)
{
    struct buf text = BUF_INIT;

    if (run->at.epoch < run->options->epochs)
        buf_printf(&text, "going on at epoch %" PRId64 ", batch %" PRId64 "\n",
                   run->at.epoch + 1, run->at.batch + 1);
    else
        buf_printf(&text, "the checkpoint has %" PRId64 " epochs already\n",
                   run->at.epoch);
    note(run, buf_text(&text));
    buf_clear(&text);
}

int train_run(const struct train_job *job, struct err *err)
{
    const char *directory = job->options->checkpoint_dir;
    struct run run = {0};
    int end = -1;

    if (run_init(&run, job, "train", err) != 0 || run_split(&run, err) != 0 ||
        run_set_horizon(&run, err) != 0)
        goto out;
    if (directory != NULL && (fs_make_directories(directory, err) != 0 ||
                              run_restore(&run, err) != 0))
        goto out;
    if (run.at.step > 0)
        note_position(&run);
    end = run_epochs(&run, err);
out:
    run_clear(&run);
    return end;
}

char *train_saved_settings(const char *directory, struct err *err)
{
    struct checkpoint *checkpoint;
    struct buf notes = BUF_INIT;
    char *settings = NULL;

    if (checkpoint_open(directory, &checkpoint, &notes, err) == 0) {
        if (checkpoint != NULL)
            settings = mem_copy_string(checkpoint_header(checkpoint));
        else
            err_set(err, ERR_NOT_FOUND, "there is no whole checkpoint in '%s'",
                    directory);
        checkpoint_destroy(checkpoint);
    }
    buf_clear(&notes);
    return settings;
}

int train_test(const struct train_job *job, double *loss, double *error,
               struct err *err)
{
    struct run run = {0};
    int status = -1;

    if (run_init(&run, job, "t10k", err) == 0 && run_restore(&run, err) == 0) {
        measure(&run, 0, run.data.count, loss, error);
        status = 0;
    }
    run_clear(&run);
    return status;
}
