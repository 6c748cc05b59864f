/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is submitted, for people. The words are those of sbatch also where
 * slurmrestd is asked, which gets the same in JSON. They are no #SBATCH lines:
 * sbatch reads these by rules of its own, and paths may have any character.
 */
#include "executors/slurm/preview.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/expr/template_shell.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/units.h"
#include "executors/slurm/core.h"
#include "executors/slurm/script.h"
#include "executors/slurm/talk/commands_impl.h"

void slurm_print_submission(const struct slurm_submission *submission,
                            struct buf *out)
{
    size_t first = strcspn(submission->script, "\n");
    struct slurm_words words = {0};
    struct buf line = BUF_INIT;

    slurm_submit_words(submission, &words);
    for (size_t i = 0; i < words.count; i++) {
        if (i > 0)
            buf_add_char(&line, ' ');
        shell_add_word(words.words[i], &line);
    }
    for (size_t i = 0; i < line.length; i++) {
        if (line.data[i] == '\n')
            line.data[i] = ' '; /* a comment has one line */
    }
    buf_printf(out, "%.*s\n# %s%s", (int)first, submission->script,
               buf_text(&line), submission->script + first);
    buf_clear(&line);
    slurm_words_clear(&words);
}

void slurm_keep_submission(const char *folder,
                           const struct slurm_submission *submission)
{
    struct buf text = BUF_INIT;

    slurm_print_submission(submission, &text);
    slurm_file_write(folder, "sbatch", buf_text(&text), NULL);
    buf_clear(&text);
}

void slurm_link_submission(const char *folder, const char *directory)
{
    char *from = fs_join(folder, "sbatch"), *to = fs_join(directory, "sbatch");

    if (link(from, to) != 0 && errno == EEXIST) {
        unlink(to);
        (void)!link(from, to);
    }
    free(from);
    free(to);
}

/* As wave/submit.c does it, with a token that no run has yet. */
static int print(const struct executor_options *options,
                 const struct attempt_spec *spec, const char *folder,
                 struct buf *out, struct err *err)
{
    const char *const arguments[] = {"--order", spec->directory, NULL};
    char *script = slurm_script(options->slurm, folder, arguments, err);
    char *log = fs_join(folder, "smt-TOKEN-j1/log");
    struct slurm_submission submission = {
        .name = "smt-TOKEN-j1", .log = log, .script = script};
    struct slurm_labels labels = {.run = NULL};
    int result = script != NULL ? 0 : -1;

    if (result == 0)
        result = slurm_labels_open(&labels, options, err);
    if (result == 0) {
        slurm_submission_fill(options->slurm, options->slurm->site, spec,
                              &submission);
        slurm_labels_set(&labels, spec, false, &submission);
        slurm_print_submission(&submission, out);
    }
    slurm_labels_clear(&labels);
    free(log);
    free(script);
    return result;
}

/* The limit that changes what the job would ask for. */
static void print_limit(const struct slurm_options *options,
                        const struct attempt_spec *spec, struct buf *out)
{
    static const struct slurm_limit none = {.time_ms = 0};
    const struct slurm_limit limit =
        slurm_time_limit(options->site, options, spec);
    int64_t unlimited_ms = slurm_job_time_ms(options, spec, &none);
    char limiter[SLURM_LIMITER_MAX];

    if (slurm_job_time_ms(options, spec, &limit) == unlimited_ms)
        return;
    buf_printf(out, "# %s allows at most ",
               slurm_limiter_text(&limit, limiter));
    units_add_duration(limit.time_ms, out);
    buf_add_string(out, unlimited_ms > 0 ? ": --time is cut to it.\n"
                                         : ": --time is set to it, because "
                                           "the partition gives more.\n");
}

int slurm_preview(const struct executor_options *options,
                  const struct attempt_spec *spec, const char *folder,
                  struct buf *out, struct err *err)
{
    const struct slurm_pace pace = {.ended = 0};
    const struct slurm_site *site = options->slurm->site;
    const struct slurm_scene scene = {options->slurm, &pace, site,
                                      options->parallel};
    const char *why = NULL;
    int choice = slurm_choose(spec, &scene, &why, err);

    if (choice < 0 || print(options, spec, folder, out, err) != 0)
        return -1;
    print_limit(options->slurm, spec, out);
    if (choice == SLURM_BY_ARRAY)
        buf_add_string(out, "# An array has many of these: --array=0-N, and "
                            "--orders with a list of folders.\n");
    if (choice == SLURM_BY_PILOT)
        buf_add_string(out, "# Mode pilot: a job of the pilot's size runs "
                            "this, and others after it.\n");
    if (site == NULL)
        buf_add_string(out, "# The cluster was not asked: its limits of time "
                            "may shorten --time.\n");
    return 0;
}
