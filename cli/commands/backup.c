/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune backup`. store/repair/ makes and checks the copy; this file chooses
 * its name. The name in a folder contains the time, so that a daily backup
 * never replaces an older one by chance.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "orchestrator/spec/spec_mask.h"
#include "store/repair/backup.h"
#include "store/store.h"

struct options {
    bool force, with_secrets;
};

static const struct opt opts[] = {
    {.name = "force",
     .letter = 'f',
     .type = OPT_FLAG,
     .offset = offsetof(struct options, force),
     .doc = "overwrite an existing file"},
    {.name = "with-secrets",
     .type = OPT_FLAG,
     .offset = offsetof(struct options, with_secrets),
     .doc = "copy secrets as they are, so that runs can resume"},
    {.name = NULL},
};

/* FILE, or in DIR a name of its own. */
static char *pick_path(const char *operand)
{
    struct stat status;
    char name[64], stamp[32];
    char *path, *absolute;

    clock_format_stamp(clock_wall_ms(), stamp, sizeof(stamp));
    snprintf(name, sizeof(name), "smtune-backup-%s.db", stamp);
    path = stat(operand, &status) == 0 && S_ISDIR(status.st_mode)
               ? fs_join(operand, name)
               : mem_copy_string(operand);
    absolute = fs_absolute(path);
    free(path);
    return absolute;
}

/* ---- secrets ---- */

static void mask_file(void *user, const char *text, const char *words,
                      struct buf *out)
{
    *(size_t *)user += spec_mask_copy(text, words, out);
}

static void mask_words(void *user, const char *text, const char *words,
                       struct buf *out)
{
    *(size_t *)user += spec_mask_copy_overrides(text, words, out);
}

static void mask_detail(void *user, const char *detail, struct buf *out)
{
    size_t length = strlen(detail); /* of any, as of a matrix of many lines */
    json_t *json = json_parse_up_to(detail, length, length, NULL);

    (void)user; /* the same as in the run's row */
    if (json == NULL)
        mask_add(NULL, detail, length, out);
    else if (spec_mask_detail(json, true))
        json_print(json, out);
    else
        buf_add(out, detail, length);
    json_decref(json);
}

/* ---- the copy ---- */

static int count_run(void *user, const struct run_row *run)
{
    (void)run;
    ++*(int64_t *)user;
    return 0;
}

static int tell(const struct cli *cli, struct store *store, const char *path,
                size_t masked, struct err *err)
{
    struct stat status = {0};
    int64_t runs = 0;

    if (store_each_run(store, count_run, &runs, err) != 0)
        return -1;
    stat(path, &status);
    printf("%s\n", path);
    if (!cli->quiet)
        fprintf(stderr,
                "%" PRId64
                " run%s, %.1f MiB; to restore: smtune restore FILE\n",
                runs, runs == 1 ? "" : "s", (double)status.st_size / (1 << 20));
    if (!cli->quiet && masked > 0)
        fprintf(stderr,
                "smtune: %zu secret%s masked in the copy: a restored run that "
                "has any starts nothing until 'smtune edit RUN FILE' (copy "
                "them, too: smtune backup --with-secrets)\n",
                masked, masked == 1 ? " is" : "s are");
    return 0;
}

static int exec_backup(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    const struct options *wanted = options;
    struct store *store = store_open(cli->store, STORE_READ, err);
    char *path = pick_path(count > 0 ? operands[0] : ".");
    size_t masked = 0;
    const struct backup_mask mask = {mask_file, mask_words, mask_detail,
                                     &masked};
    struct backup backup = {
        .path = path,
        .replaces = wanted->force,
        .is_checked = true,
        .mask = wanted->with_secrets ? NULL : &mask,
    };
    int status = -1;

    if (store != NULL && store_backup(store, &backup, err) == 0)
        status = tell(cli, store, path, masked, err);
    else if (store != NULL && err->kind == ERR_BUSY && !wanted->force)
        err_prefix(err, "no backup was made: --force overwrites the file");
    store_close(store);
    free(path);
    return status;
}

const struct cmd cmd_backup = {
    .name = "backup",
    .operands = "[FILE|DIR]",
    .summary = "copy the record of all runs to one file",
    .details = "The copy is the whole database at one moment, checked, in "
               "one file. Runs may continue meanwhile. If the target is a "
               "folder (default: the current one), the file name contains "
               "the time. The files of the trials (logs, checkpoints) are "
               "in the folder runs of the store and are not copied.\n\n"
               "Values of env, addresses of notify and other secrets in the "
               "files of runs are masked. A restored run with masked values "
               "can be shown and replayed, and resumes after `smtune edit` "
               "has applied its file, with --set for each masked value of "
               "--set. Its results stay. --with-secrets copies the values. "
               "Keep such a copy like a password.\n\n"
               "`smtune restore FILE` goes back to the copy.",
    .examples = "smtune backup                    # to a file here\n"
                "smtune backup ~/record.db -f    # overwrite the last one\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 0,
    .max_operands = 1,
    .exec = exec_backup,
};
