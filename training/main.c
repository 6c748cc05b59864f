/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "base/text.h"
#include "training/blas.h"
#include "training/train.h"

enum { EXIT_USAGE = 2, EXIT_RETRY = 75, MAX_MODELS = 16 };

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

static const struct model_kind *find_model(const char *name, struct err *err)
{
    const char *names[MAX_MODELS];
    const char *nearest;
    size_t count = 0;

    for (; models[count] != NULL; count++) {
        if (strcmp(models[count]->name, name) == 0)
            return models[count];
        names[count] = models[count]->name;
    }
    nearest = text_nearest(name, names, count);
    err_set(err, ERR_USAGE, "unknown model '%s'%s%s%s", name,
            nearest != NULL ? "; did you mean '" : "; --help lists them",
            nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return NULL;
}

static void print_help(void)
{
    puts("usage: smtrain MODEL [FLAG...]\n\n"
         "Trains a model. Models:");
    for (size_t i = 0; models[i] != NULL; i++)
        printf("  %-8s %s\n", models[i]->name, models[i]->summary);
    puts(
        "\n`smtrain MODEL --help` lists a model's flags; `smtrain --version`.");
}

static void print_model_help(const struct model_kind *kind,
                             const struct flag_set *sets)
{
    struct buf out = BUF_INIT;

    flags_print_help(&sets[0], 1, &out);
    printf("usage: smtrain %s [FLAG...]\n\n%s\nThe model:\n%s", kind->name,
           kind->about, buf_text(&out));
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
           "images_per_s=%.0f\n",
           report->epoch, report->train_loss, report->val_loss,
           report->val_error, report->images_per_s);
    fflush(stdout);
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

static int train(const struct train_job *job)
{
    const struct sigaction action = {.sa_handler = on_signal,
                                     .sa_flags = SA_RESTART};
    static const int signals[] = {SIGTERM, SIGUSR1, SIGUSR2};
    struct err err;
    int end;

    /* Where nothing can be saved, a signal does what it always does. */
    for (size_t i = 0;
         job->options->checkpoint_dir != NULL && i < ARRAY_LEN(signals); i++)
        sigaction(signals[i], &action, NULL);
    end = train_run(job, &err);
    if (end < 0)
        return fail(&err);
    if (end == TRAIN_DONE)
        return EXIT_SUCCESS;
    fprintf(stderr, "smtrain: saved a checkpoint on %s; start again to go on\n",
            strsignal(stop_signal));
    return EXIT_RETRY;
}

static int test(struct train_job *job, const struct flag_set *sets)
{
    const char *directory = job->options->checkpoint_dir;
    struct buf kept = BUF_INIT;
    char *settings;
    struct err err;
    double loss, error;
    int status;

    if (directory == NULL) {
        err_set(&err, ERR_USAGE, "--test wants --checkpoint-dir");
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
        status = train_test(job, &loss, &error, &err);
    buf_clear(&kept);
    if (status != 0)
        return fail(&err);
    printf("test_loss=%.6f test_error=%.4f\n", loss, error);
    return EXIT_SUCCESS;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return true;
    return false;
}

static int run_model(const struct model_kind *kind, int argc, char **argv)
{
    struct train_options options = {0};
    void *model_options = mem_zero(kind->options_size);
    const struct flag_set sets[] = {{kind->flags, model_options},
                                    {train_flags, &options}};
    struct buf kept = BUF_INIT, fixed = BUF_INIT;
    struct train_job job = {.kind = kind,
                            .model_options = model_options,
                            .options = &options,
                            .stop = &stop_signal,
                            .on_epoch = on_epoch,
                            .on_note = on_note,
                            .user = &options};
    struct err err;
    int status;

    flags_reset(sets, ARRAY_LEN(sets));
    if (wants_help(argc, argv)) {
        print_model_help(kind, sets);
        status = EXIT_SUCCESS;
    } else if (flags_parse(sets, ARRAY_LEN(sets), argc, argv, &err) != 0) {
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

int main(int argc, char **argv)
{
    const struct model_kind *kind;
    struct err err;

    if (argc < 2) {
        err_set(&err, ERR_USAGE, "no model given; --help lists them");
        return fail(&err);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "--version") == 0) {
        if (argv[1][2] == 'h')
            print_help();
        else
            puts("smtrain " SMTUNE_VERSION);
        return finish_output(EXIT_SUCCESS);
    }
    kind = find_model(argv[1], &err);
    if (kind == NULL)
        return fail(&err);
    blas_choose_kernels(argv);
    return run_model(kind, argc - 2, argv + 2);
}
