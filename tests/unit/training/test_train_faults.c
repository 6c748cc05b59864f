/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "tests/unit/training/world.h"
#include "training/models/mlp.h"
#include "training/train.h"

/* What becomes of a training when something happens on one rank alone, in the
 * middle of a step: all end within seconds, and say which rank and where. */

enum { BAD_RANK = 1, BAD_STEP = 3, SOON_MS = 30 * 1000 };

static const struct way {
    const char *comm;
    int size;
} ways[] = {{"shm", 2}, {"shm", 4}, {"tcp", 2}, {"tcp", 4}};

static struct data *open_noise(UNUSED const char *path, enum data_part part,
                               UNUSED const void *model_options,
                               UNUSED struct err *err);

static void close_noise(struct data *data)
{
    free(data);
}

static void gather_noise(const struct data *data, const uint32_t *samples,
                         size_t count, void *inputs, uint16_t *targets)
{
    uint8_t *bytes = inputs;

    for (size_t i = 0; i < count; i++) {
        targets[i] = (uint16_t)(samples[i] % data->classes);
        for (size_t k = 0; k < data->input_bytes; k++)
            bytes[i * data->input_bytes + k] =
                (uint8_t)((samples[i] + k) * 2654435761U >> 24);
    }
}

static const struct data_kind noise = {.name = "noise",
                                       .default_path = "/",
                                       .open = open_noise,
                                       .close = close_noise,
                                       .gather = gather_noise};

static struct data *open_noise(UNUSED const char *path,
                               UNUSED enum data_part part,
                               UNUSED const void *model_options,
                               UNUSED struct err *err)
{
    struct data *data = calloc(1, sizeof(*data));

    *data = (struct data){.kind = &noise,
                          .count = 72,
                          .held_out = 64,
                          .input_bytes = 16,
                          .targets = 1,
                          .classes = 4};
    return data;
}

/* Whether this is the rank and the step in which it happens. */
static bool is_here(const struct batch *batch)
{
    const char *rank = getenv("RANK");

    return rank != NULL && strcmp(rank, "1") == 0 && *batch->step == BAD_STEP;
}

static struct matrix forward_to_nan(struct model *model,
                                    const struct batch *batch, bool is_training)
{
    struct matrix logits = model_mlp.forward(model, batch, is_training);

    if (is_here(batch))
        logits.data[0] = (real)NAN;
    return logits;
}

/* What the sanitizers would make of the signal is not asked for. */
static struct matrix forward_to_death(struct model *model,
                                      const struct batch *batch,
                                      bool is_training)
{
    if (is_here(batch)) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    return model_mlp.forward(model, batch, is_training);
}

/* Hooks around those of the reducer. */
struct flip {
    const struct params *params;
    const struct params_hooks *hooks;
};

static void enter_and_flip(void *user, int unit, enum pass pass)
{
    const struct flip *flip = user;
    real *number = &flip->params->values[flip->params->units[unit].offset];
    uint32_t bits;

    flip->hooks->enter(flip->hooks->user, unit, pass);
    if (pass != PASS_FORWARD || unit != 1)
        return;
    memcpy(&bits, number, sizeof(bits));
    bits ^= 1U << 3;
    memcpy(number, &bits, sizeof(bits));
}

static void leave(void *user, int unit, enum pass pass)
{
    const struct flip *flip = user;

    flip->hooks->leave(flip->hooks->user, unit, pass);
}

static struct matrix forward_with_a_flip(struct model *model,
                                         const struct batch *batch,
                                         bool is_training)
{
    struct flip flip = {&model->params, model->params.hooks};
    const struct params_hooks hooks = {enter_and_flip, leave, &flip};
    struct matrix logits;

    if (is_here(batch))
        model->params.hooks = &hooks;
    logits = model_mlp.forward(model, batch, is_training);
    model->params.hooks = flip.hooks;
    return logits;
}

typedef struct matrix forward_fn(struct model *model, const struct batch *batch,
                                 bool is_training);

static void ignore_report(UNUSED void *user,
                          UNUSED const struct train_report *report)
{
}

static void ignore_note(UNUSED void *user, UNUSED const char *lines)
{
}

/* What happens, and in which stage of ZeRO. */
struct fault {
    forward_fn *forward;
    int64_t stage;
};

static void be_rank(const struct world *world)
{
    char rank[16], size[16], port[16];

    snprintf(rank, sizeof(rank), "%d", world->rank);
    snprintf(size, sizeof(size), "%d", world->size);
    snprintf(port, sizeof(port), "%d", world->port);
    setenv("RANK", rank, 1);
    setenv("WORLD_SIZE", size, 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", port, 1);
}

static void train_until_it_happens(struct world *world, struct err *err)
{
    const struct fault *fault = world->user;
    const volatile sig_atomic_t stop = 0;
    struct model_kind kind = model_mlp;
    struct mlp_options model_options;
    struct train_options options;
    const struct flag_set sets[] = {{kind.flags, &model_options, NULL},
                                    {train_flags, &options, NULL}};
    const struct train_job job = {.kind = &kind,
                                  .model_options = &model_options,
                                  .options = &options,
                                  .settings = "",
                                  .required = "",
                                  .stop = &stop,
                                  .on_epoch = ignore_report,
                                  .on_note = ignore_note};

    be_rank(world);
    kind.data = &noise;
    kind.forward = fault->forward;
    flags_reset(sets, ARRAY_LEN(sets));
    model_options.width = 128;
    model_options.depth = 2;
    options.batch = 16;
    options.bucket_mb = 0.02;
    options.epochs = 1000000;
    options.check_every = 1;
    options.zero = fault->stage;
    options.comm = 0;
    while (strcmp(comm_names[options.comm], world->kind) != 0)
        options.comm++;
    if (train_run(&job, err) == 0)
        err_set(err, ERR_FAILED, "nothing has happened");
}

static void assert_says(const struct world *world, int rank, const char *words)
{
    const char *text = world->ends[rank].text;

    if (!world->ends[rank].is_done || strstr(text, words) == NULL)
        fail_msg("%s, %d ranks: rank %d says '%s', not '%s'", world->kind,
                 world->size, rank, text, words);
}

/* The same with this host's name between. */
static void assert_names(const struct world *world, int rank,
                         const char *before, const char *after)
{
    char host[RANKS_HOST_MAX], words[ERR_TEXT_MAX];

    gethostname(host, sizeof(host));
    snprintf(words, sizeof(words), "%s%s%s", before, host, after);
    assert_says(world, rank, words);
}

/* In all ways, one after the other: that they end soon is what counts. */
static void try_fault(const struct fault *fault,
                      void (*check)(const struct world *world))
{
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct world world = {
            .kind = ways[i].comm, .size = ways[i].size, .user = fault};
        int64_t start_ms = clock_monotonic_ms();

        world_fork(&world, train_until_it_happens);
        world_wait(&world);
        assert_true(clock_monotonic_ms() - start_ms < SOON_MS);
        check(&world);
        world_clear(&world);
    }
}

static void check_nan(const struct world *world)
{
    for (int i = 0; i < world->size; i++) {
        assert_names(world, i, "training diverged: the loss of rank 1 on host ",
                     " is not finite in epoch 1, batch 4;");
        assert_names(world, i, " on host ", ", after barrier ");
    }
}

static void test_train_faults__a_loss_that_is_no_number_on_one_rank(
    void **state)
{
    (void)state;
    try_fault(&(struct fault){forward_to_nan, 0}, check_nan);
    try_fault(&(struct fault){forward_to_nan, 3}, check_nan);
}

/* Those that learn it from others add "rank 2 on host b failed: ". */
static void check_death(const struct world *world)
{
    for (int i = 0; i < world->size; i++) {
        if (i == BAD_RANK) {
            assert_false(world->ends[i].is_done);
            continue;
        }
        assert_names(world, i, " on host ", ": all-reduce ");
        assert_says(world, i, ", bucket 0: ");
        assert_names(world, i, "rank 1 on host ", " crashed or exited");
    }
}

static void test_train_faults__a_fatal_signal_on_one_rank(void **state)
{
    (void)state;
    try_fault(&(struct fault){forward_to_death, 0}, check_death);
}

static void check_flip(const struct world *world)
{
    for (int i = 0; i < world->size; i++)
        assert_names(world, i,
                     "after 3 steps the parameters of these ranks differ "
                     "from rank 0 on host ",
                     ": 1 on host ");
}

static void test_train_faults__a_number_that_changes_by_itself(void **state)
{
    (void)state;
    for (int64_t stage = 0; stage <= 3; stage++)
        try_fault(&(struct fault){forward_with_a_flip, stage}, check_flip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_train_faults__a_loss_that_is_no_number_on_one_rank),
        cmocka_unit_test(test_train_faults__a_fatal_signal_on_one_rank),
        cmocka_unit_test(test_train_faults__a_number_that_changes_by_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
