/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cost of a training before it starts: memory a rank and stage, time a
 * step.
 *
 * Memory follows from the same plan that a training allocates by (run_plan), so
 * it is exact for the processor. Time is a lower bound by the roofline: matrix
 * products by the arithmetic that this machine reaches, updates by its memory.
 * Both are measured for a fraction of a second, and the fastest repetition
 * counts. What training/reducer.c keeps at a stage is repeated in
 * plan_memory(), so a change there needs one here.
 */
#include "training/train_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/json.h"
#include "training/train_run.h"
#include "training/util/stopwatch.h"

enum { OUTPUT_TABLE, OUTPUT_JSON };
enum { PROBE_SIDE = 384, PROBE_REPEATS = 12, COPY_COUNT = 1 << 22 };

static const char *const plan_outputs[] = {"table", "json", NULL};

const struct flag train_plan_flags[] = {
    {.name = "ranks",
     .type = FLAG_INT,
     .offset = offsetof(struct train_plan_options, ranks),
     .argument = "N",
     .initial = "1",
     .doc = "number of ranks",
     .min = 1,
     .max = RANKS_MAX},
    {.name = "output",
     .type = FLAG_CHOICE,
     .offset = offsetof(struct train_plan_options, output),
     .argument = "FORMAT",
     .initial = "table",
     .doc = "table or json; short: -o",
     .choices = plan_outputs},
    {.name = NULL},
};

static const char *const purposes[PLAN_PURPOSES] = {
    "parameters",  "gradients",  "partial_sums", "moments",
    "activations", "checkpoint", "samples"};

/* The fastest of some, as others use the machine, too. */
static int measure_machine(struct train_plan *plan, struct err *err)
{
    real *a = real_array(COPY_COUNT, err), *b = real_array(COPY_COUNT, err);
    double product_ms = INFINITY, copy_ms = INFINITY;
    const int n = PROBE_SIDE;

    for (int i = 0; a != NULL && b != NULL && i < PROBE_REPEATS; i++) {
        double start_ms = stopwatch_ms(), middle_ms;

        real_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, a, n, a,
                  n, 0, b, n);
        middle_ms = stopwatch_ms();
        memcpy(a, b, COPY_COUNT * sizeof(real));
        product_ms = fmin(product_ms, middle_ms - start_ms);
        copy_ms = fmin(copy_ms, stopwatch_ms() - middle_ms);
    }
    free(a);
    free(b);
    if (isinf(product_ms))
        return -1;
    plan->gemm_flops_s = 2.0 * n * n * n / product_ms * 1e3;
    plan->copy_bytes_s = 2.0 * COPY_COUNT * sizeof(real) / copy_ms * 1e3;
    return 0;
}

/* What stage 3 has at a time: two units, and the rest of their buckets. */
static size_t largest_pair(const struct params *params,
                           const struct buckets *buckets)
{
    size_t largest = 0;

    for (size_t i = 0; i < params->unit_count; i++) {
        size_t pair = params->units[i].count;

        if (i + 1 < params->unit_count)
            pair += params->units[i + 1].count;
        largest = pair > largest ? pair : largest;
    }
    largest += 2 * buckets->size;
    return largest < params->count ? largest : params->count;
}

static void plan_memory(struct train_plan *plan, const struct train_run *run)
{
    const struct train_options *options = run->options;
    const struct params *params = &run->model->params;
    uint64_t all = params->count, shard, pair;
    uint64_t moments = (uint64_t)optim_moment_count(options->optimizer);
    uint64_t saved = options->checkpoint_dir != NULL ? 1 + moments : 0;
    struct buckets buckets;

    buckets_init(&buckets, params->count, (size_t)(options->bucket_mb * 1e6), 0,
                 plan->ranks);
    shard = buckets_shard_count(&buckets);
    pair = largest_pair(params, &buckets);
    for (int stage = 0; stage < REDUCER_STAGES; stage++) {
        uint64_t sums = (uint64_t)reducer_sum_count(stage, run->shares.own);
        const uint64_t numbers[PLAN_PURPOSES] = {
            [PLAN_PARAMETERS] = stage < 3 ? all : shard + pair,
            [PLAN_GRADIENTS] = stage < 2 ? all : shard + pair,
            [PLAN_PARTIAL_SUMS] = stage < 2 ? sums * all : (sums - 1) * shard,
            [PLAN_MOMENTS] = moments * (stage < 1 ? all : shard),
            [PLAN_ACTIVATIONS] = run->model->activations.count,
            [PLAN_CHECKPOINT] = saved * shard};

        for (int i = 0; i < PLAN_PURPOSES; i++)
            plan->bytes[i][stage] = numbers[i] * sizeof(real);
        plan->bytes[PLAN_SAMPLES][stage] =
            run->max_samples * (run->data->input_bytes +
                                run->data->targets * sizeof(*run->targets));
    }
}

/* Williams et al., "Roofline", CACM 52, 2009: products are bound by
 * arithmetic, updates by memory. */
static void plan_time(struct train_plan *plan, const struct train_run *run)
{
    double moments = optim_moment_count(run->options->optimizer);
    double moved = (3 + 2 * moments) * (double)plan->parameters * sizeof(real);
    int stage = (int)run->options->zero;

    size_t batch = (size_t)run->options->batch;

    if (batch > run->train_count)
        batch = run->train_count;
    plan->flops = run->job->kind->flops(run->model, batch);
    plan->product_ms = plan->flops / plan->ranks / plan->gemm_flops_s * 1e3;
    plan->update_ms =
        moved / (stage > 0 ? plan->ranks : 1) / plan->copy_bytes_s * 1e3;
}

int train_plan_make(const struct train_job *job,
                    const struct train_plan_options *options,
                    struct train_plan *plan, struct err *err)
{
    struct train_run run = {.job = job,
                            .options = job->options,
                            .backend = &backend_cpu,
                            .ranks = {.size = (int)options->ranks}};
    int status = -1;

    memset(plan, 0, sizeof(*plan));
    if (strcmp(backend_names[run.options->backend], backend_cpu.name) != 0)
        return err_set(err, ERR_USAGE,
                       "plan supports only --backend cpu, not %s",
                       backend_names[run.options->backend]);
    if (run.options->precision != PRECISION_FP32)
        return err_set(err, ERR_USAGE,
                       "plan supports only --precision fp32, not %s",
                       precision_names[run.options->precision]);
    plan->ranks = run.ranks.size;
    if (run_cut(&run, 0, err) == 0 && run_plan(&run, DATA_TRAIN, err) == 0)
        status = measure_machine(plan, err);
    if (status == 0) {
        plan->shares = run.shares.count;
        plan->parameters = run.model->params.learnt;
        plan_memory(plan, &run);
        plan_time(plan, &run);
    }
    model_release(run.model);
    if (run.data != NULL)
        run.data->kind->close(run.data);
    return status;
}

static void print_row(const char *name, const uint64_t *bytes, struct buf *out)
{
    buf_printf(out, "%-14s", name);
    for (int stage = 0; stage < REDUCER_STAGES; stage++)
        buf_printf(out, " %11.2f", (double)bytes[stage] / 1e6);
    buf_add_char(out, '\n');
}

static void print_table(const struct train_plan *plan, struct buf *out)
{
    uint64_t total[REDUCER_STAGES] = {0};

    buf_printf(out,
               "parameters: %zu, ranks: %d, shares of a batch: %d\n\n"
               "MB per rank     --zero 0           1           2           3\n",
               plan->parameters, plan->ranks, plan->shares);
    for (int i = 0; i < PLAN_PURPOSES; i++) {
        print_row(purposes[i], plan->bytes[i], out);
        for (int stage = 0; stage < REDUCER_STAGES; stage++)
            total[stage] += plan->bytes[i][stage];
    }
    print_row("total", total, out);
    buf_printf(
        out,
        "\n"
        "One step: %.4g GFLOP in matrix products.\n"
        "This machine: %.1f GFLOP/s per rank, copies %.1f GB/s.\n"
        "Least time: %.3f ms for the products, %.3f ms for the update.\n",
        plan->flops / 1e9, plan->gemm_flops_s / 1e9, plan->copy_bytes_s / 1e9,
        plan->product_ms, plan->update_ms);
}

static json_t *memory_json(const struct train_plan *plan)
{
    json_t *memory = json_object();

    for (int i = 0; i < PLAN_PURPOSES; i++) {
        json_t *stages = json_array();

        for (int stage = 0; stage < REDUCER_STAGES; stage++)
            json_array_append_new(
                stages, json_integer((json_int_t)plan->bytes[i][stage]));
        json_object_set_new(memory, purposes[i], stages);
    }
    return memory;
}

static void print_json(const struct train_plan *plan, struct buf *out)
{
    json_t *json = json_pack(
        "{s:i, s:i, s:I, s:o, s:f, s:f, s:f, s:f, s:f}", "ranks", plan->ranks,
        "shares", plan->shares, "parameters", (json_int_t)plan->parameters,
        "bytes_by_zero_stage", memory_json(plan), "flops", plan->flops,
        "gemm_flops_s", plan->gemm_flops_s, "copy_bytes_s", plan->copy_bytes_s,
        "product_ms", plan->product_ms, "update_ms", plan->update_ms);

    json_print_pretty(json, out);
    json_decref(json);
}

void train_plan_print(const struct train_plan *plan,
                      const struct train_plan_options *options, struct buf *out)
{
    static void (*const print[])(const struct train_plan *, struct buf *) = {
        [OUTPUT_TABLE] = print_table, [OUTPUT_JSON] = print_json};

    print[options->output](plan, out);
}
