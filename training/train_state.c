/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a training saves and restores: its parameters and moments as pieces, its
 * position, its settings.
 *
 * A piece is a range of one array, by its place in the whole model instead of
 * the rank that has it. So a checkpoint of 4 ranks resumes on 2 or 8, with any
 * stage of ZeRO. Before ZeRO's shards exist all ranks have everything, and each
 * saves an equal part. A resumed training continues with the same bits, unless
 * the user changes what may change: batch size, precision.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "training/train_run.h"

void run_note(const struct train_run *run, const char *text)
{
    if (run->ranks.rank == 0)
        run->job->on_note(run->job->user, text);
}

int run_lock_checkpoints(struct train_run *run, struct err *err)
{
    struct buf notes = BUF_INIT;
    int status = 0;

    if (run->ranks.rank == 0)
        status = checkpoint_lock(run->options->checkpoint_dir, &run->lock,
                                 &notes, err);
    if (notes.length > 0)
        run_note(run, buf_text(&notes));
    buf_clear(&notes);
    return status;
}

int run_open_checkpoint(struct train_run *run, struct err *err)
{
    struct buf notes = BUF_INIT;
    int status;

    run->place =
        (struct checkpoint_place){.directory = run->options->checkpoint_dir,
                                  .rank = run->ranks.rank,
                                  .size = run->ranks.size,
                                  .comm = run->comm};
    if (run->place.directory == NULL)
        return 0;
    status = checkpoint_open(&run->place, &run->checkpoint, &notes, err);
    if (notes.length > 0)
        run_note(run, buf_text(&notes));
    buf_clear(&notes);
    return status;
}

/* An epoch that is under way in batches of another size begins anew. */
static void fit_batch(struct train_run *run)
{
    if (checkpoint_number(run->checkpoint, "batch") ==
        (uint64_t)run->options->batch)
        return;
    run->at.batch = 0;
    run->at.loss_sum = 0;
}

/* Parameters and moments are fp32 in all of them. */
static void note_precision(const struct train_run *run)
{
    const char *now = precision_names[run->options->precision];
    const char *name = precision_names[PRECISION_FP32]; /* where none is said */
    size_t length = strlen(name);
    const char *saved = checkpoint_value(run->checkpoint, "precision", &length);
    char *text;

    name = saved != NULL ? saved : name;
    if (length == strlen(now) && memcmp(name, now, length) == 0)
        return;
    text = mem_printf(
        "resuming with --precision %s; the checkpoint was saved with %.*s\n",
        now, (int)length, name);
    run_note(run, text);
    free(text);
}

/* One span of what this rank keeps; of array 0 the parameters. */
static struct checkpoint_piece piece_of(const struct train_run *run,
                                        const struct optim_span *span,
                                        int array)
{
    size_t all = run->model->params.count;
    size_t left = span->place < all ? all - span->place : 0;

    return (struct checkpoint_piece){
        .array = array,
        .first = span->place,
        .count = span->count < left ? span->count : left,
        .data = array == 0 ? span->values
                           : run->optim.moments[array - 1] + span->first};
}

/* Where ranks have shards, what this one has of all arrays. */
static size_t take_shard(const struct train_run *run,
                         struct checkpoint_piece *pieces)
{
    size_t count = 0;

    for (int array = 0; array <= run->optim.moment_count; array++)
        for (int i = 0; i < reducer_span_count(run->reducer); i++) {
            struct optim_span span = reducer_span(run->reducer, i);

            pieces[count++] = piece_of(run, &span, array);
        }
    return count;
}

static void set_parts(struct train_run *run)
{
    run->parts =
        (struct checkpoint_parts){.settings = buf_text(&run->settings),
                                  .required = buf_text(&run->required),
                                  .params = &run->model->params,
                                  .moment_count = run->optim.moment_count,
                                  .pieces = run->pieces,
                                  .position = &run->at};
}

static struct checkpoint_piece *make_pieces(const struct train_run *run)
{
    size_t spans = (size_t)reducer_span_count(run->reducer);

    return mem_array(CHECKPOINT_ARRAYS_MAX * spans + 1,
                     sizeof(struct checkpoint_piece));
}

/* What this rank wants: what it keeps, and before stage 3 all parameters. */
static size_t wanted(const struct train_run *run,
                     struct checkpoint_piece *pieces)
{
    const struct params *params = &run->model->params;
    size_t count;

    if (run->options->zero == 0)
        return checkpoint_share(params, &run->optim, 0, 1, pieces);
    count = take_shard(run, pieces);
    if (run->options->zero < 3)
        pieces[count++] =
            (struct checkpoint_piece){0, 0, params->count, params->values};
    return count;
}

int run_restore(struct train_run *run, struct err *err)
{
    int status;

    if (run->checkpoint == NULL)
        return 0;
    run->pieces = make_pieces(run);
    set_parts(run);
    run->parts.piece_count = wanted(run, run->pieces);
    status = checkpoint_restore(run->checkpoint, &run->parts, err);
    if (status == 0) {
        fit_batch(run);
        note_precision(run);
    }
    checkpoint_destroy(run->checkpoint);
    run->checkpoint = NULL;
    free(run->pieces);
    run->pieces = NULL;
    return status;
}

/* Where all ranks have all of it, each saves a part. */
int run_begin_saving(struct train_run *run, struct err *err)
{
    if (run->place.directory == NULL)
        return 0;
    run->pieces = make_pieces(run);
    set_parts(run);
    run->parts.piece_count =
        run->options->zero > 0
            ? take_shard(run, run->pieces)
            : checkpoint_share(&run->model->params, &run->optim,
                               run->ranks.rank, run->ranks.size, run->pieces);
    run->saver = checkpoint_saver_create(&run->place, &run->parts, err);
    return run->saver != NULL ? 0 : -1;
}

int run_save(struct train_run *run, struct err *err)
{
    return run->saver != NULL ? checkpoint_save(run->saver, err) : 0;
}

int run_check_saver(struct train_run *run, struct err *err)
{
    return run->saver != NULL ? checkpoint_check(run->saver, err) : 0;
}

int run_finish_saving(struct train_run *run, struct err *err)
{
    return run->saver != NULL ? checkpoint_finish(run->saver, err) : 0;
}

void run_end_saving(struct train_run *run)
{
    checkpoint_saver_destroy(run->saver);
    free(run->pieces);
}

char *train_saved_settings(const char *directory, struct err *err)
{
    const struct checkpoint_place place = {.directory = directory, .size = 1};
    struct checkpoint *checkpoint;
    struct buf notes = BUF_INIT;
    char *settings = NULL;

    if (checkpoint_open(&place, &checkpoint, &notes, err) == 0) {
        if (checkpoint != NULL)
            settings = mem_copy_string(checkpoint_header(checkpoint));
        else
            err_set(err, ERR_NOT_FOUND, "no complete checkpoint in '%s'",
                    directory);
        checkpoint_destroy(checkpoint);
    }
    buf_clear(&notes);
    return settings;
}
