/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program smtrain: arguments, help, signals, exit statuses. Training itself
 * is training/train.c; tables name the models (training/models/models.c) and
 * other tools (training/tools.c).
 *
 * A signal is only noted, in the one global that C gives a handler. The loop of
 * training looks at it between steps, saves a checkpoint and returns, and the
 * process exits with EXIT_RETRY. The tuner then starts it again instead of
 * counting a failure.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/metrics/metrics.h"
#include "base/text.h"
#include "training/ops/blas.h"
#include "training/tools.h"
#include "training/train.h"
#include "training/train_plan.h"

enum { EXIT_USAGE = 2, EXIT_RETRY = 75, MAX_NAMES = 32, MAX_WORDS = 16 };

static const char PLAN[] = "plan";

/* Not a signalfd: the threads that OpenBLAS starts before main() would take
 * the signals. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int signal_number)
{
    stop_signal = signal_number;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "smtrain: %s\n", err->text);
    return err->kind == ERR_USAGE ? EXIT_USAGE : EXIT_FAILURE;
}

/* Whatever was printed must have arrived. */
static int finish_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fputs("smtrain: cannot write to standard output\n", stderr);
    return EXIT_FAILURE;
}

static const struct model_kind *find_model(const char *name)
{
    for (size_t i = 0; models[i] != NULL; i++)
        if (strcmp(models[i]->name, name) == 0)
            return models[i];
    return NULL;
}

static const struct tool *find_tool(const char *name)
{
    for (size_t i = 0; tools[i] != NULL; i++)
        if (strcmp(tools[i]->name, name) == 0)
            return tools[i];
    return NULL;
}

static void name_nearest(const char *name, struct err *err)
{
    const char *names[MAX_NAMES];
    const char *nearest;
    size_t count = 0;

    for (size_t i = 0; models[i] != NULL; i++)
        names[count++] = models[i]->name;
    for (size_t i = 0; tools[i] != NULL; i++)
        names[count++] = tools[i]->name;
    names[count++] = PLAN;
    nearest = text_nearest(name, names, count);
    err_set(err, ERR_USAGE, "unknown model '%s'%s%s%s", name,
            nearest != NULL ? "; did you mean '" : "; --help lists all models",
            nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

static void print_help(void)
{
    puts("usage: smtrain MODEL [FLAG...]\n\n"
         "Trains a model. Models:");
    for (size_t i = 0; models[i] != NULL; i++)
        printf("  %-11s %s\n", models[i]->name, models[i]->summary);
    puts("\n"
         "Other commands:\n"
         "  plan        predict the memory and time of a training");
    for (size_t i = 0; tools[i] != NULL; i++)
        printf("  %-11s %s\n", tools[i]->name, tools[i]->summary);
    puts("\n"
         "`smtrain MODEL --help` lists the flags of a model.\n"
         "`smtrain --version` prints the version.");
}

static void print_model_help(const struct model_kind *kind,
                             const struct flag_set *sets)
{
    struct buf out = BUF_INIT;

    flags_print_help(&sets[0], 1, &out);
    printf("usage: smtrain %s [FLAG...]\n\n"
           "%s\n"
           "Model:\n"
           "%s",
           kind->name, kind->about, buf_text(&out));
    buf_truncate(&out, 0);
    flags_print_help(&sets[1], 1, &out);
    printf("\nTraining:\n%s\nExamples:\n%s", buf_text(&out), kind->examples);
    buf_clear(&out);
}

static void on_epoch(void *user, const struct train_report *report)
{
    const struct train_options *options = user;

    if (options->quiet && report->epoch < options->epochs &&
        isfinite(report->val_error))
        return;
    printf("epoch=%" PRId64 " train_loss=%.5f val_loss=%.5f val_error=%.4f "
           "samples_per_s=%.0f",
           report->epoch, report->train_loss, report->val_loss,
           report->val_error, report->samples_per_s);
    if (report->bytes_per_target > 0)
        printf(" val_nats_per_byte=%.5f",
               report->val_loss / report->bytes_per_target);
    putchar('\n');
    fflush(stdout);
}

/* For the tuner, in a file of its own; one that cannot be written to is no
 * reason to end. */
static void append_metrics(char *line)
{
    const char *path = getenv("SMTUNE_METRICS");
    FILE *file = path != NULL && *path != '\0' ? fopen(path, "ae") : NULL;
    struct buf out = BUF_INIT;
    char *words[MAX_WORDS];
    size_t count = 0;

    for (char *rest = line, *word;
         count < MAX_WORDS && (word = strsep(&rest, " \n")) != NULL;)
        if (*word != '\0')
            words[count++] = word;
    if (file != NULL && metric_report_line(words, count, &out, NULL) == 0)
        fputs(buf_text(&out), file);
    if (file != NULL)
        fclose(file);
    buf_clear(&out);
}

static void on_step(UNUSED void *user, const struct train_step *report)
{
    char *line = mem_printf(
        "step=%" PRIu64 " loss=%.6g grad_norm=%.6g lr=%.6g samples_per_s=%.0f "
        "compute_ms=%.3f exposed_comm_ms=%.3f input_ms=%.3f\n",
        report->step, report->loss, report->grad_norm, report->lr,
        report->samples_per_s, report->compute_ms, report->exposed_comm_ms,
        report->input_ms);

    fputs(line, stdout);
    fflush(stdout);
    append_metrics(line);
    free(line);
}

static void on_note(void *user, const char *lines)
{
    const struct train_options *options = user;
    size_t length;

    if (options->quiet)
        return;
    for (; *lines != '\0'; lines += length) {
        length = strcspn(lines, "\n") + 1;
        fprintf(stderr, "smtrain: %.*s", (int)length, lines);
    }
}

/* A second Ctrl-C ends the process at once. Who starts it may have it ignore
 * the end of a terminal and Ctrl-C there, as nohup and shells do. */
static void note_signals(void)
{
    static const struct {
        int number, flags;
        bool stays_ignored;
    } signals[] = {{SIGHUP, SA_RESTART, true},
                   {SIGINT, SA_RESTART | SA_RESETHAND, true},
                   {SIGTERM, SA_RESTART, false},
                   {SIGUSR1, SA_RESTART, false},
                   {SIGUSR2, SA_RESTART, false}};

    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        const struct sigaction action = {.sa_handler = on_signal,
                                         .sa_flags = signals[i].flags};
        struct sigaction before;

        sigaction(signals[i].number, NULL, &before);
        if (!signals[i].stays_ignored || before.sa_handler != SIG_IGN)
            sigaction(signals[i].number, &action, NULL);
    }
}

static int train(const struct train_job *job)
{
    struct err err;
    int end;

    /* Where nothing can be saved, a signal does what it always does. */
    if (job->options->checkpoint_dir != NULL)
        note_signals();
    end = train_run(job, &err);
    if (end < 0)
        return fail(&err);
    if (end == 0)
        return EXIT_SUCCESS;
    fprintf(stderr,
            "smtrain: saved a checkpoint on %s; start again to resume\n",
            strsignal(end));
    return EXIT_RETRY;
}

static void print_test(const struct train_result *result)
{
    printf("test_loss=%.6f test_error=%.4f", result->loss, result->error);
    if (result->bytes_per_target > 0)
        printf(" test_nats_per_byte=%.6f",
               result->loss / result->bytes_per_target);
    putchar('\n');
}

static int test(struct train_job *job, const struct flag_set *sets)
{
    const char *directory = job->options->checkpoint_dir;
    struct buf kept = BUF_INIT;
    char *settings;
    struct train_result result = {0};
    struct err err;
    int status;

    if (directory == NULL) {
        err_set(&err, ERR_USAGE, "--test requires --checkpoint-dir");
        return fail(&err);
    }
    settings = train_saved_settings(directory, &err);
    if (settings == NULL)
        return fail(&err);
    status = flags_restore_kept(sets, 2, settings, &err);
    free(settings);
    flags_print_kept(sets, 2, &kept);
    job->settings = job->required = buf_text(&kept);
    if (status == 0)
        status = train_test(job, &result, &err);
    buf_clear(&kept);
    if (status < 0)
        return fail(&err);
    if (status > 0)
        print_test(&result);
    return EXIT_SUCCESS;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return true;
    return false;
}

/* sets[own]: the model's. */
static int parse(const struct model_kind *kind, const struct flag_set *sets,
                 size_t count, size_t own, int argc, char **argv,
                 struct err *err)
{
    if (flags_parse(sets, count, argc, argv, err) != 0)
        return -1;
    return kind->complete == NULL
               ? 0
               : kind->complete(sets[own].options, argc, argv, err);
}

static int run_model(const struct model_kind *kind, int argc, char **argv)
{
    struct train_options options = {0};
    void *model_options = mem_zero(kind->options_size);
    const struct flag_set sets[] = {{kind->flags, model_options, NULL},
                                    {train_flags, &options, kind->defaults}};
    struct buf kept = BUF_INIT, fixed = BUF_INIT;
    struct train_job job = {.kind = kind,
                            .model_options = model_options,
                            .options = &options,
                            .stop = &stop_signal,
                            .on_epoch = on_epoch,
                            .on_step = on_step,
                            .on_note = on_note,
                            .user = &options};
    struct err err;
    int status;

    flags_reset(sets, ARRAY_LEN(sets));
    if (wants_help(argc, argv)) {
        print_model_help(kind, sets);
        status = EXIT_SUCCESS;
    } else if (parse(kind, sets, ARRAY_LEN(sets), 0, argc, argv, &err) != 0) {
        status = fail(&err);
    } else if (options.test) {
        status = test(&job, sets);
    } else {
        flags_print_kept(sets, ARRAY_LEN(sets), &kept);
        flags_print_fixed(sets, ARRAY_LEN(sets), &fixed);
        job.settings = buf_text(&kept);
        job.required = buf_text(options.adopt ? &fixed : &kept);
        status = train(&job);
    }
    buf_clear(&fixed);
    buf_clear(&kept);
    free(model_options);
    return finish_output(status);
}

static void print_tool_help(const struct tool *tool, const struct flag_set *set)
{
    struct buf out = BUF_INIT;

    flags_print_help(set, 1, &out);
    printf("usage: smtrain %s [FLAG...]\n\n%s\nFlags:\n%s\nExamples:\n%s",
           tool->name, tool->about, buf_text(&out), tool->examples);
    buf_clear(&out);
}

static int run_tool(const struct tool *tool, int argc, char **argv)
{
    void *options = mem_zero(tool->options_size);
    const struct flag_set set = {tool->flags, options, NULL};
    struct buf out = BUF_INIT;
    struct err err;
    int status = EXIT_SUCCESS;

    flags_reset(&set, 1);
    if (wants_help(argc, argv))
        print_tool_help(tool, &set);
    else if (flags_parse(&set, 1, argc, argv, &err) != 0 ||
             tool->run(options, &out, &err) != 0)
        status = fail(&err);
    fwrite(buf_text(&out), 1, out.length, stdout);
    buf_clear(&out);
    free(options);
    return finish_output(status);
}

static void print_plan_help(const struct flag_set *sets)
{
    struct buf out = BUF_INIT;

    flags_print_help(sets, 1, &out);
    printf("usage: smtrain plan MODEL [FLAG...]\n\n"
           "Predicts what a training with the same flags needs, without "
           "training: the memory\n"
           "of each rank, the arithmetic of a step, and the least time of a "
           "step on this\n"
           "machine, from a short measurement.\n\n"
           "Flags, in addition to those of the model:\n"
           "%s\n"
           "Examples:\n"
           "  smtrain plan mlp --width 1024 --ranks 4\n"
           "  smtrain plan mlp --batch 512 -o json\n",
           buf_text(&out));
    buf_clear(&out);
}

static int plan_model(const struct train_job *job, const struct flag_set *sets)
{
    struct buf out = BUF_INIT;
    struct train_plan plan;
    struct err err;
    int status = train_plan_make(job, sets[0].options, &plan, &err);

    if (status != 0)
        return fail(&err);
    train_plan_print(&plan, sets[0].options, &out);
    fputs(buf_text(&out), stdout);
    buf_clear(&out);
    return EXIT_SUCCESS;
}

/* argv[0]: the model's name. */
static int run_plan(int argc, char **argv)
{
    const struct model_kind *kind = argc > 0 ? find_model(argv[0]) : NULL;
    char output[] = "--output";
    struct train_plan_options how = {0};
    struct train_options options = {0};
    void *model_options = mem_zero(kind != NULL ? kind->options_size : 1);
    const struct flag_set sets[] = {
        {train_plan_flags, &how, NULL},
        {train_flags, &options, kind != NULL ? kind->defaults : NULL},
        {kind != NULL ? kind->flags : train_plan_flags, model_options, NULL}};
    size_t count = kind != NULL ? ARRAY_LEN(sets) : 1;
    struct train_job job = {
        .kind = kind, .model_options = model_options, .options = &options};
    struct err err;
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-o") == 0)
            argv[i] = output;
    if (wants_help(argc, argv)) {
        print_plan_help(sets);
        status = EXIT_SUCCESS;
    } else if (kind == NULL) {
        name_nearest(argc > 0 ? argv[0] : "", &err);
        status = fail(&err);
    } else {
        flags_reset(sets, count);
        status = parse(kind, sets, count, 2, argc - 1, argv + 1, &err) != 0
                     ? fail(&err)
                     : plan_model(&job, sets);
    }
    free(model_options);
    return finish_output(status);
}

int main(int argc, char **argv)
{
    const struct model_kind *kind;
    const struct tool *tool;
    struct err err;

    if (argc < 2) {
        err_set(&err, ERR_USAGE, "missing MODEL; --help lists all models");
        return fail(&err);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "--version") == 0) {
        if (argv[1][2] == 'h')
            print_help();
        else
            puts("smtrain " SMTUNE_VERSION);
        return finish_output(EXIT_SUCCESS);
    }
    if (strcmp(argv[1], PLAN) == 0) {
        blas_choose_kernels(argv);
        return run_plan(argc - 2, argv + 2);
    }
    kind = find_model(argv[1]);
    tool = find_tool(argv[1]);
    if (kind == NULL && tool == NULL) {
        name_nearest(argv[1], &err);
        return fail(&err);
    }
    blas_choose_kernels(argv);
    return kind != NULL ? run_model(kind, argc - 2, argv + 2)
                        : run_tool(tool, argc - 2, argv + 2);
}
