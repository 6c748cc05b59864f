/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "store/repair/backup.h"
#include "store/store.h"

struct options {
    bool force;
};

static const struct opt opts[] = {
    {.name = "force",
     .letter = 'f',
     .type = OPT_FLAG,
     .offset = offsetof(struct options, force),
     .doc = "replace the file if it is there"},
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

static int count_run(void *user, const struct run_row *run)
{
    (void)run;
    ++*(int64_t *)user;
    return 0;
}

static int tell(const struct cli *cli, struct store *store, const char *path,
                struct err *err)
{
    struct stat status = {0};
    int64_t runs = 0;

    if (store_each_run(store, count_run, &runs, err) != 0)
        return -1;
    stat(path, &status);
    printf("%s\n", path);
    if (!cli->quiet)
        fprintf(stderr,
                "%" PRId64 " run%s, %.1f MiB; to go on with it: cp it to "
                "DIR/smtune.db and say --store DIR\n",
                runs, runs == 1 ? "" : "s", (double)status.st_size / (1 << 20));
    return 0;
}

static int exec_backup(const struct cli *cli, const void *options,
                       char **operands, int count, struct err *err)
{
    const struct options *wanted = options;
    struct store *store = store_open(cli->store, STORE_READ, err);
    char *path = pick_path(count > 0 ? operands[0] : ".");
    struct backup backup = {
        .path = path, .replaces = wanted->force, .is_checked = true};
    int status = -1;

    if (store != NULL && store_backup(store, &backup, err) == 0)
        status = tell(cli, store, path, err);
    else if (store != NULL && err->kind == ERR_BUSY && !wanted->force)
        err_prefix(err, "no backup without --force");
    store_close(store);
    free(path);
    return status;
}

const struct cmd cmd_backup = {
    .name = "backup",
    .operands = "[FILE|DIR]",
    .summary = "copy the record of all runs to one file",
    .details =
        "The copy is the whole database as it was at one moment, checked, with "
        "no log beside it; runs that go on go on meanwhile. In a folder, here "
        "if none is named, it is called by its time. The files of the trials "
        "(logs, checkpoints) are in the store's folder runs and not part of "
        "it.\n\n"
        "Back to a store: copy the file to DIR/smtune.db, where DIR is the "
        "store's folder or a new one, while nothing uses it; then --store DIR. "
        "A store's old smtune.db-wal and smtune.db-shm have to go first. A run "
        "that is then resumed does again what it did after the backup; what "
        "those attempts wrote is kept, in folders called "
        "TRIAL-ATTEMPT.unrecorded-1.",
    .examples =
        "smtune backup                    # to a file here\n"
        "smtune backup ~/record.db -f    # there, in place of the last\n",
    .completes = "file",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 0,
    .max_operands = 1,
    .exec = exec_backup,
};
