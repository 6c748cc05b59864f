/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/attempt/attempt_file.h"
#include "orchestrator/proof/fsck_impl.h"
#include "orchestrator/spec/workflow/workflow.h"
#include "store/engine_lock.h"

/* ---- what the record names ---- */

struct attempt {
    struct fsck *fsck;
    int64_t trial;
    const struct value *cells;
    const char *directory; /* relative to the store's */
};

static int64_t integer_of(const struct attempt *attempt, enum attempt_cell cell,
                          int64_t none)
{
    const struct value *value = &attempt->cells[cell];

    return value->type == VALUE_INT ? value->integer : none;
}

static void report_file(const struct attempt *attempt, const char *what,
                        const char *recorded, const char *by_file)
{
    char *text =
        mem_printf("the file in '%s' has %s", attempt->directory, by_file);
    char *file = mem_printf("exit file: %s", what);

    fsck_report(attempt->fsck,
                (struct fsck_finding){
                    .trial = attempt->trial,
                    .attempt = integer_of(attempt, ATTEMPT_CELL_NUMBER, 0),
                    .what = file,
                    .recorded = recorded,
                    .text = text,
                });
    free(file);
    free(text);
}

static void compare_integer(const struct attempt *attempt,
                            enum attempt_cell cell, int64_t none,
                            int64_t by_file)
{
    int64_t recorded = integer_of(attempt, cell, none);
    char texts[2][24];

    if (recorded == by_file)
        return;
    snprintf(texts[0], sizeof(texts[0]), "%" PRId64, recorded);
    snprintf(texts[1], sizeof(texts[1]), "%" PRId64, by_file);
    report_file(attempt, image_tables[IMAGE_ATTEMPT].cells[cell], texts[0],
                texts[1]);
}

/* Of a cluster's attempt: the cluster knows better why it was ended, and what
 * was given up for dead says so later than the record. */
static bool is_overruled(const struct attempt *attempt,
                         const struct attempt_exit *end)
{
    return attempt->cells[ATTEMPT_CELL_HANDLE].type == VALUE_TEXT &&
           (end->cause == CAUSE_CANCELLED || end->cause == CAUSE_NODE_FAIL);
}

static bool is_one_of(const char *cause, enum attempt_cause first,
                      enum attempt_cause second)
{
    return strcmp(cause, attempt_cause_names[first]) == 0 ||
           strcmp(cause, attempt_cause_names[second]) == 0;
}

/* What the shim cannot know: a command that ends well has failed all the same
 * without its metric or output, or is a link; and an engine that took up an
 * attempt ends it by itself. */
static bool may_differ(const char *cause, enum attempt_cause by_file)
{
    if (by_file == CAUSE_OK &&
        (is_one_of(cause, CAUSE_NO_METRIC, CAUSE_NO_OUTPUT) ||
         is_one_of(cause, CAUSE_EXIT, CAUSE_EXIT)))
        return true;
    return (by_file == CAUSE_OK || by_file == CAUSE_EXIT ||
            by_file == CAUSE_SIGNAL) &&
           is_one_of(cause, CAUSE_CANCELLED, CAUSE_TIMEOUT);
}

static void compare_exit(const struct attempt *attempt,
                         const struct attempt_exit *end)
{
    const char *cause = attempt->cells[ATTEMPT_CELL_CAUSE].text;
    const char *by_file = attempt_cause_names[end->cause];

    if (strcmp(cause, by_file) != 0 && !may_differ(cause, end->cause))
        report_file(attempt, "cause", cause, by_file);
    compare_integer(attempt, ATTEMPT_CELL_EXIT_CODE, -1, end->exit_code);
    compare_integer(attempt, ATTEMPT_CELL_SIGNAL, 0, end->signal);
    compare_integer(attempt, ATTEMPT_CELL_CPU_MS, 0, end->cpu_ms);
    compare_integer(attempt, ATTEMPT_CELL_MAX_RSS_BYTES, 0, end->max_rss_bytes);
    compare_integer(attempt, ATTEMPT_CELL_GPU_MS, -1,
                    end->has_gpu_use ? end->gpu_ms : -1);
    compare_integer(attempt, ATTEMPT_CELL_GPU_MEMORY_BYTES, -1,
                    end->has_gpu_use ? end->gpu_memory_bytes : -1);
}

/* Whether its folder is there, if it must be. */
static bool check_attempt(const struct attempt *attempt)
{
    char *path =
        fs_join(store_directory(attempt->fsck->store), attempt->directory);
    bool has_ended = attempt->cells[ATTEMPT_CELL_CAUSE].type == VALUE_TEXT;
    bool was_started =
        attempt->cells[ATTEMPT_CELL_STARTED_MS].type == VALUE_INT;
    /* That of a client of `smtune suggest` has none, and no folder. */
    bool had_process = integer_of(attempt, ATTEMPT_CELL_PID, 0) > 0;
    bool is_there = true;
    struct attempt_exit end;

    if (exit_read(path, attempt->cells[ATTEMPT_CELL_ID].integer, &end) == 0)
        is_there = !was_started || !had_process || fs_exists(path);
    else if (has_ended && !is_overruled(attempt, &end))
        compare_exit(attempt, &end);
    free(path);
    return is_there;
}

static void check_attempts(struct fsck *fsck)
{
    size_t count;
    struct fsck_fold_row *rows =
        fsck_fold_rows(fsck->fold, IMAGE_ATTEMPT, &count);
    const char *first_missing = NULL;
    int64_t missing = 0;
    char text[80];

    for (size_t i = 0; i < count; i++) {
        const struct value *directory = &rows[i].cells[ATTEMPT_CELL_DIRECTORY];

        if (directory->type != VALUE_TEXT ||
            check_attempt(&(struct attempt){
                .fsck = fsck,
                .trial = fsck_fold_trial(fsck->fold, IMAGE_ATTEMPT, &rows[i]),
                .cells = rows[i].cells,
                .directory = directory->text,
            }))
            continue;
        if (missing++ == 0)
            first_missing = directory->text;
    }
    if (missing == 0)
        return;
    snprintf(text, sizeof(text),
             "missing folders of attempts: %" PRId64 " (the first is this one)",
             missing);
    fsck_report(fsck,
                (struct fsck_finding){.what = first_missing, .text = text});
}

/* ---- what is there ---- */

static void report_stray(struct fsck *fsck, const char *folder,
                         const char *name)
{
    char *path = fs_join(folder, name);

    fsck_report(fsck, (struct fsck_finding){
                          .is_note = true,
                          .what = path,
                          .text = "folder without a row",
                      });
    free(path);
}

/* Whether the name is N, or with `attempts` N-A, not of the record's; links of
 * a chain are ahead of it. Other names are not ours to judge. */
static bool is_stray(struct fsck *fsck, const char *name, bool attempts)
{
    size_t count;
    const struct fsck_fold_row *jobs =
        fsck_fold_rows(fsck->fold, IMAGE_JOB, &count);
    long long trial, attempt = 0;
    int length = -1;

    if (attempts)
        sscanf(name, "%lld-%lld%n", &trial, &attempt, &length);
    else
        sscanf(name, "%lld%n", &trial, &length);
    if (length < 0 || name[length] != '\0' || trial < 1)
        return false;
    return (size_t)trial > count ||
           attempt > jobs[trial - 1].attempts + LINKS_AHEAD_MAX;
}

static void check_folder(struct fsck *fsck, const char *inner, bool attempts)
{
    char *folder = mem_printf("runs/%s/%s", fsck->name, inner);
    char *path = fs_join(store_directory(fsck->store), folder);
    DIR *directory = opendir(path);
    const struct dirent *entry;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (is_stray(fsck, entry->d_name, attempts))
            report_stray(fsck, folder, entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    free(folder);
    free(path);
}

/* Folders are made ahead of the record, so only those of a run without an
 * engine say anything: an engine that was killed leaves some, and the next one
 * takes them. */
static void check_strays(struct fsck *fsck)
{
    char *run = store_run_directory(fsck->store, fsck->name);
    int64_t pid;

    if (engine_lock_probe(run, &pid, NULL) == 0) {
        check_folder(fsck, "trials", false);
        check_folder(fsck, "attempts", true);
    }
    free(run);
}

void fsck_files(struct fsck *fsck)
{
    check_attempts(fsck);
    check_strays(fsck);
}
