/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune restore`, which undoes an upgrade, too: the store's own database may
 * be of a newer smtune, so it is not opened.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "store/repair/restore.h"

static int exec_restore(const struct cli *cli, const void *options,
                        char **operands, int count, struct err *err)
{
    char *directory = fs_absolute(cli->store);
    char stamp[32];
    char *kept;
    bool has_kept;
    int result;

    (void)options, (void)count;
    clock_format_stamp(clock_wall_ms(), stamp, sizeof(stamp));
    kept = mem_printf("%s/smtune.db.before-restore-%s", directory, stamp);
    result = store_restore(&(struct restore){directory, operands[0], kept},
                           &has_kept, err);
    if (result == 0 && has_kept && !cli->quiet)
        fprintf(stderr, "the previous database: %s\n", kept);
    free(kept);
    free(directory);
    return result;
}

const struct cmd cmd_restore = {
    .name = "restore",
    .operands = "FILE",
    .summary = "go back to a copy of the record of all runs",
    .details =
        "FILE is a file of `smtune backup`, or a copy that smtune made before "
        "an upgrade (smtune.db.version-VERSION-TIME) or a repair. smtune "
        "checks it and puts it in the place of the store's database. "
        "--store DIR may be a new folder.\n\n"
        "The previous database may be damaged or of a newer smtune. It is "
        "kept as smtune.db.before-restore-TIME, which smtune restore accepts, "
        "too.\n\n"
        "Stop the runs of the store first, and start its dashboard again "
        "afterwards. Files of trials (logs, checkpoints) stay as they are. A "
        "resumed run repeats its work since the copy. The files of the "
        "repeated attempts are kept in folders called "
        "TRIAL-ATTEMPT.unrecorded-1.\n\n"
        "Exit status: 4 no such file; 5 a run has an engine.",
    .examples = "smtune restore record.db                # the store in use\n"
                "smtune restore record.db --store new    # another one\n",
    .completes = "file",
    .min_operands = 1,
    .max_operands = 1,
    .exec = exec_restore,
};
