/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `smtune fsck`: the order of checking and repair. orchestrator/proof/fsck.h
 * compares, store/repair/ rescues pages.
 *
 * Repair must not make things worse, so its order is fixed. It takes the locks
 * of all engines, by the folders of runs, because the database may be what is
 * damaged. It copies readable rows out of a damaged file and keeps that file.
 * It makes a backup, changes everything in one transaction, and checks again.
 * If events were lost, tables are not rebuilt from events: they then hold more
 * than the events do.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/term/output.h"
#include "orchestrator/proof/fsck.h"
#include "store/engine_lock.h"
#include "store/file_modes.h"
#include "store/repair/backup.h"
#include "store/repair/check.h"
#include "store/repair/repair.h"
#include "store/repair/salvage.h"

struct options {
    bool repair;
};

static const struct opt opts[] = {
    {.name = "repair",
     .type = OPT_FLAG,
     .offset = offsetof(struct options, repair),
     .doc = "repair errors, after a backup beside the database"},
    {.name = NULL},
};

static const struct table_column columns[] = {
    {"severity", NULL, COLUMN_TEXT, NULL},
    {"run", NULL, COLUMN_TEXT, NULL},
    {"trial", NULL, COLUMN_NUMBER, NULL},
    {"attempt", NULL, COLUMN_NUMBER, NULL},
    {"what", NULL, COLUMN_TEXT, NULL},
    {"recorded", NULL, COLUMN_TEXT, NULL},
    {"by_events", "by events", COLUMN_TEXT, NULL},
    {"text", NULL, COLUMN_TEXT, NULL},
};

struct session {
    const struct cli *cli;
    char *directory; /* of the store */
    struct store *store;
    struct output *output;
    struct fsck_counts counts;
    int64_t *runs; /* [run_count] ids */
    size_t run_count, run_capacity;
    int *locks; /* [lock_count] of engines, while we repair */
    size_t lock_count, lock_capacity;
    char *backup;   /* the file, once it is made */
    bool is_patchy; /* events were lost */
    int status;     /* of the output */
    struct err *err;
};

static void on_finding(void *user, const struct fsck_finding *finding)
{
    struct session *session = user;
    struct value cells[] = {
        value_text(finding->is_note ? "note" : "error"),
        value_text_unless_empty(finding->run),
        value_int_unless(finding->trial, 0),
        value_int_unless(finding->attempt, 0),
        value_text(finding->what),
        value_text_unless_empty(finding->recorded),
        value_text_unless_empty(finding->by_events),
        value_text_unless_empty(finding->text),
    };

    if (session->status == 0 && session->output != NULL)
        session->status = output_row(session->output, cells, session->err);
}

static void on_database(void *user, const char *text)
{
    struct session *session = user;

    session->counts.findings++;
    on_finding(user, &(struct fsck_finding){.what = "database", .text = text});
}

/* ---- which runs ---- */

static void add_run(struct session *session, int64_t run)
{
    session->runs = mem_grow(session->runs, session->run_count,
                             &session->run_capacity, sizeof(*session->runs));
    session->runs[session->run_count++] = run;
}

static int on_run(void *user, const struct run_row *run)
{
    add_run(user, run->id);
    return 0;
}

static int on_lost_run(void *user, int64_t run)
{
    add_run(user, run);
    return 0;
}

static int find_runs(struct session *session, char **operands, int count)
{
    if (count == 0)
        return store_each_run(session->store, on_run, session, session->err) ==
                           0 &&
                       store_each_lost_run(session->store, on_lost_run, session,
                                           session->err) == 0
                   ? 0
                   : -1;
    for (int i = 0; i < count; i++) {
        int64_t run;

        if (store_find_run(session->store, operands[i], &run, session->err) !=
            0)
            return -1;
        add_run(session, run);
    }
    return 0;
}

/* ---- checking ---- */

static void print_counts(const struct session *session)
{
    const struct fsck_counts *counts = &session->counts;

    fprintf(stderr,
            "%" PRId64 " run%s, %" PRId64 " trial%s, %" PRId64
            " attempt%s, %" PRId64 " event%s: ",
            counts->runs, units_plural(counts->runs), counts->trials,
            units_plural(counts->trials), counts->attempts,
            units_plural(counts->attempts), counts->events,
            units_plural(counts->events));
}

static void print_summary(const struct session *session, const char *hint)
{
    int64_t findings = session->counts.findings;

    if (session->cli->quiet)
        return;
    print_counts(session);
    if (findings == 0)
        fprintf(stderr, "no inconsistencies\n");
    else
        fprintf(stderr, "%" PRId64 " error%s%s\n", findings,
                units_plural(findings), hint);
}

static int check(struct session *session)
{
    int result;

    session->counts = (struct fsck_counts){0};
    result = store_check(session->store, on_database, session, session->err);
    for (size_t i = 0; i < session->run_count && result == 0; i++)
        result = fsck_run(session->store, session->runs[i], on_finding, session,
                          &session->counts, session->err);
    return result;
}

static void on_wrong_mode(void *user, const struct file_modes_fault *fault)
{
    char *text = mem_printf("mode %04o: %s it (fix: %s)", fault->mode,
                            fault->problem, fault->fix);

    on_finding(user, &(struct fsck_finding){
                         .is_note = true, .what = fault->path, .text = text});
    free(text);
}

/* Checks, and prints each finding. */
static int check_aloud(struct session *session)
{
    int result;

    session->output = output_create(session->cli, columns, ARRAY_LEN(columns));
    output_when_empty(session->output, "no findings");
    file_modes_check(session->directory, on_wrong_mode, session);
    result = check(session);
    if (result == 0 && session->status == 0)
        session->status = output_finish(session->output, session->err);
    else
        output_destroy(session->output);
    session->output = NULL;
    return result == 0 ? session->status : result;
}

/* ---- mending ---- */

static int lock_run(struct session *session, const char *name)
{
    char *runs = fs_join(session->directory, "runs");
    char *directory = fs_join(runs, name);
    int lock = engine_lock_take_any(directory, session->err);

    free(runs);
    free(directory);
    if (lock < 0)
        return err_prefix(session->err, "cannot repair run '%s'", name);
    session->locks = mem_grow(session->locks, session->lock_count,
                              &session->lock_capacity, sizeof(*session->locks));
    session->locks[session->lock_count++] = lock;
    return 0;
}

/* By their folders: what the database says of runs may be damaged. */
static int lock_runs(struct session *session)
{
    char *path = fs_join(session->directory, "runs");
    DIR *directory = opendir(path);
    const struct dirent *entry;
    int result = 0;

    while (result == 0 && directory != NULL &&
           (entry = readdir(directory)) != NULL) {
        if (text_is_name(entry->d_name))
            result = lock_run(session, entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    free(path);
    return result;
}

static char *dated_path(const struct session *session, const char *what)
{
    char stamp[32];

    clock_format_stamp(clock_wall_ms(), stamp, sizeof(stamp));
    return mem_printf("%s/smtune.db.%s-%s", session->directory, what, stamp);
}

/* Where pages are damaged: what can be read, in a new file. */
static int save_what_is_readable(struct session *session)
{
    struct salvage salvage;
    bool is_sound;
    char *kept;
    int result = store_is_sound(session->directory, &is_sound, session->err);

    if (result != 0 || is_sound)
        return result;
    kept = dated_path(session, "damaged");
    result = store_salvage(session->directory, kept, &salvage, session->err);
    if (result == 0) {
        session->is_patchy = salvage.events_have_gaps;
        if (!session->cli->quiet)
            fprintf(stderr,
                    "the database was damaged: %" PRId64
                    " row%s saved, rows lost in %" PRId64
                    " place%s; the damaged file: %s\n",
                    salvage.rows, units_plural(salvage.rows), salvage.gaps,
                    units_plural(salvage.gaps), kept);
    }
    free(kept);
    return result;
}

static int back_up(struct session *session)
{
    session->backup = dated_path(session, "before-repair");
    return store_backup(
        session->store,
        &(struct backup){.path = session->backup, .replaces = true},
        session->err);
}

static int mend_in_transaction(struct session *session)
{
    struct store *store = session->store;
    struct err *err = session->err;
    int64_t orphans;
    int result = 0;

    /* Where events are lost, the tables know more than what is left of them. */
    for (size_t i = 0;
         i < session->run_count && result == 0 && !session->is_patchy; i++) {
        bool is_mended;

        result = fsck_repair_run(store, session->runs[i], &is_mended, err);
    }
    if (result == 0)
        result = store_remove_orphans(store, &orphans, err);
    if (result == 0 && orphans > 0 && !session->cli->quiet)
        fprintf(stderr, "%" PRId64 " orphaned row%s removed\n", orphans,
                units_plural(orphans));
    return result;
}

static int mend(struct session *session)
{
    int result = store_begin(session->store, session->err);

    if (result == 0)
        result = mend_in_transaction(session);
    if (result == 0)
        return store_commit(session->store, session->err);
    store_rollback(session->store);
    return result;
}

static int repair(struct session *session)
{
    int64_t before = session->counts.findings;
    int result = back_up(session);

    if (result == 0)
        result = mend(session);
    if (result == 0)
        result = check(session);
    if (result == 0 && !session->cli->quiet) {
        fprintf(stderr,
                "%" PRId64 " of %" PRId64 " error%s fixed; backup: %s\n",
                before - session->counts.findings, before, units_plural(before),
                session->backup);
        print_summary(session, " cannot be fixed");
    }
    return result;
}

static int check_and_repair(struct session *session, bool repairs)
{
    int result = check_aloud(session);

    if (result == 0 && repairs && session->counts.findings > 0)
        result = repair(session);
    else if (result == 0)
        print_summary(session, " (fix: smtune fsck --repair)");
    if (result != 0)
        return result;
    return session->counts.findings > 0 ? err_exit_status(ERR_FAILED) : 0;
}

static int exec_fsck(const struct cli *cli, const void *options,
                     char **operands, int count, struct err *err)
{
    const struct options *wanted = options;
    struct session session = {
        .cli = cli, .directory = fs_absolute(cli->store), .err = err};
    int result = -1;

    if (!wanted->repair ||
        (lock_runs(&session) == 0 && save_what_is_readable(&session) == 0))
        session.store = store_open(
            cli->store, wanted->repair ? STORE_WRITE : STORE_READ, err);
    if (session.store != NULL && find_runs(&session, operands, count) == 0)
        result = check_and_repair(&session, wanted->repair);
    while (session.lock_count > 0)
        close(session.locks[--session.lock_count]);
    free(session.locks);
    free(session.runs);
    free(session.backup);
    free(session.directory);
    store_close(session.store);
    return result;
}

const struct cmd cmd_fsck = {
    .name = "fsck",
    .operands = "[RUN...]",
    .summary = "check the store for inconsistencies",
    .details = "Computes the tables of each run from its events, and "
               "compares them with the store column by column. It also "
               "checks the database file and the files of the attempts. "
               "You can check a running run.\n\n"
               "Each line is a finding: the place, the value in the "
               "table, and the value from the events. A note is not an "
               "error, for example a folder that an engine made before it "
               "was killed.\n\n"
               "--repair needs a store without running engines. It first "
               "writes a backup, smtune.db.before-repair-TIME, beside the "
               "database. Then it writes the tables from the events, and "
               "removes orphaned rows. It does not change files, or runs "
               "with inconsistent events. If pages of the database are "
               "damaged, all readable rows are copied into a new file "
               "first. The old file is kept as smtune.db.damaged-TIME.\n\n"
               "Exit status: 0 no inconsistencies (or all fixed); 1 there "
               "are errors.",
    .examples = "smtune fsck                # all runs\n"
                "smtune fsck mlp -o json    # one, for programs\n"
                "smtune fsck --repair       # fix errors\n",
    .completes = "run",
    .opts = opts,
    .options_size = sizeof(struct options),
    .min_operands = 0,
    .max_operands = -1,
    .exec = exec_fsck,
};
