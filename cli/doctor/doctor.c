/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The checks of this machine for `smtune doctor`. Each row of the table is one
 * function that sets a finding: what there is, whether it is good enough, and
 * what to do. A check never fails itself: what it cannot find out is a finding
 * too. Checks only read, so that the command can run at any time, also before
 * the first run exists.
 */
#include "cli/doctor/doctor.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/conf/mask_file.h"
#include "base/count.h"
#include "base/expr/template_shell.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/cmd.h"
#include "cli/term/term.h"
#include "orchestrator/machine/machine.h"
#include "orchestrator/spec/experiment/config_files.h"
#include "store/file_modes.h"
#include "store/file_system.h"
#include "store/share.h"
#include "store/sharing.h"
#include "store/store.h"

enum { FILES_WANTED = 1024, PROCESSES_WANTED = 512 };

static const int64_t memory_wanted_bytes = INT64_C(512) << 20;
static const int64_t space_wanted_bytes = INT64_C(1) << 30;
static const int64_t space_needed_bytes = INT64_C(64) << 20;

/* ---- the program ---- */

static void look_at_version(const struct cli *cli,
                            struct doctor_finding *finding)
{
    (void)cli;
    buf_printf(&finding->found, "smtune " SMTUNE_VERSION ", SQLite %s",
               store_sqlite_version());
}

static void look_at_shim(const struct cli *cli, struct doctor_finding *finding)
{
    char *directory = fs_program_directory();
    char *path = fs_join(directory, "smtune-shim");

    (void)cli;
    buf_add_string(&finding->found, path);
    if (access(path, X_OK) != 0) {
        buf_add_string(&finding->found, " is missing");
        doctor_advise(
            finding, HEALTH_FAIL,
            "no trial can start: build it beside smtune with `make`, or "
            "install both with `make install`");
    }
    free(path);
    free(directory);
}

static void look_at_kernel(const struct cli *cli,
                           struct doctor_finding *finding)
{
    (void)cli;
    buf_add_string(&finding->found,
                   machine_has_descriptors()
                       ? "processes are watched by descriptor"
                       : "processes are watched by pid: the kernel is older "
                         "than 5.3, or a filter denies pidfd_open()");
}

/* ---- configuration files ---- */

static void list_files(const struct config_files *config, struct buf *out)
{
    const char *path;

    buf_add_string(out, "none (");
    for (size_t i = 0; (path = config_path(config, i)) != NULL || i == 0; i++)
        buf_printf(out, "%s%s", i > 0 ? ", " : "", path != NULL ? path : "");
    buf_add_char(out, ')');
}

/* "NAME: VALUE", as may be shown: addresses under notify are secrets. */
static void add_value(const struct config_origin *origin, struct buf *out)
{
    buf_printf(out, "%s: ", origin->name);
    conf_mask_value(config_schema, origin->name, origin->value, out);
}

static void look_at_config(const struct cli *cli,
                           struct doctor_finding *finding)
{
    const struct err *wrong = &cli->config_error;
    struct buf *found = &finding->found;
    struct config_origin origin;

    if (cli->config == NULL) {
        buf_printf(found, "%s:%d: %s", wrong->path, wrong->line, wrong->text);
        doctor_advise(finding, HEALTH_FAIL, "correct the file");
        return;
    }
    for (int key = 0; key < CONFIG_COUNT; key++) {
        if (!config_find(cli->config, (enum config_key)key, &origin))
            continue;
        if (found->length > 0)
            buf_add_string(found, "; ");
        add_value(&origin, found);
        buf_add_string(found, " (");
        if (origin.variable != NULL)
            buf_add_string(found, origin.variable);
        else
            buf_printf(found, "%s:%d", origin.path, origin.line);
        buf_add_char(found, ')');
        free(origin.value);
    }
    if (found->length == 0)
        list_files(cli->config, found);
}

/* ---- the store ---- */

char *doctor_nearest_directory(const char *path)
{
    char *nearest = fs_absolute(path);

    while (!fs_exists(nearest)) {
        char *slash = strrchr(nearest, '/');

        if (slash == nearest || slash == NULL)
            break;
        *slash = '\0';
    }
    if (!fs_exists(nearest)) {
        free(nearest);
        nearest = mem_copy_string("/");
    }
    return nearest;
}

static int count_run(void *user, const struct run_row *run)
{
    (void)run;
    ++*(int64_t *)user;
    return 0;
}

static void tell_wrong_mode(void *user, const struct file_modes_fault *fault)
{
    struct doctor_finding *finding = user;

    buf_printf(&finding->found, "; %s %s (mode %04o)", fault->problem,
               fault->path, fault->mode);
    buf_printf(&finding->fix, "%s%s", finding->fix.length > 0 ? "; " : "",
               fault->fix);
    finding->health = HEALTH_WARN;
}

static void look_at_group(const char *path, struct doctor_finding *finding)
{
    char *group = store_group(path);
    char *barrier = group != NULL ? store_find_barrier(path) : NULL;

    if (group != NULL)
        buf_printf(&finding->found, ", shared with the group '%s'", group);
    if (barrier != NULL) {
        buf_printf(&finding->found, "; the group cannot enter %s", barrier);
        buf_add_string(&finding->fix, "chmod o+x ");
        shell_add_word(barrier, &finding->fix);
        finding->health = HEALTH_WARN;
    }
    free(barrier);
    free(group);
}

static void look_into_store(const char *path, struct doctor_finding *finding)
{
    struct err err;
    struct store *store = store_open(path, STORE_READ, &err);
    int64_t runs = 0;

    if (store == NULL || store_each_run(store, count_run, &runs, &err) != 0) {
        buf_add_string(&finding->found, err.text);
        doctor_advise(finding, HEALTH_FAIL,
                      "'smtune fsck --repair' saves all readable rows of a "
                      "damaged file");
    } else {
        buf_printf(&finding->found, "%s: %" PRId64 " run%s, write-ahead log",
                   store_directory(store), runs, runs == 1 ? "" : "s");
        look_at_group(store_directory(store), finding);
        file_modes_check(store_directory(store), tell_wrong_mode, finding);
    }
    store_close(store);
}

static void look_at_store(const struct cli *cli, struct doctor_finding *finding)
{
    char *database, *nearest;
    struct err err;

    if (store_check_member(cli->store, &err) != 0) {
        buf_add_string(&finding->found, err.text);
        doctor_advise(finding, HEALTH_FAIL,
                      "become a member, or select another place with --store");
        return;
    }
    database = fs_join(cli->store, "smtune.db");
    nearest = doctor_nearest_directory(cli->store);
    if (fs_exists(database))
        look_into_store(cli->store, finding);
    else
        buf_printf(&finding->found, "none in %s yet: the first run creates it",
                   cli->store);
    if (finding->health != HEALTH_FAIL && access(nearest, W_OK | X_OK) != 0) {
        buf_truncate(&finding->fix, 0);
        buf_printf(&finding->found, "; no permission to write in %s", nearest);
        doctor_advise(finding, HEALTH_FAIL,
                      "select another place with --store or SMTUNE_STORE");
    }
    free(nearest);
    free(database);
}

static void look_at_file_system(const struct cli *cli,
                                struct doctor_finding *finding)
{
    char *nearest = doctor_nearest_directory(cli->store);
    struct file_system found;

    if (file_system_find(nearest, &found) < 0) {
        buf_printf(&finding->found, "the type of %s is unknown", nearest);
        finding->health = HEALTH_WARN;
    } else {
        buf_add_string(&finding->found, found.name);
        if (found.is_network)
            doctor_advise(
                finding, HEALTH_WARN,
                "a store on it has no write-ahead log and is slower; if no "
                "other machine needs it, use a local disk (--store)");
    }
    free(nearest);
}

static void look_at_space(const struct cli *cli, struct doctor_finding *finding)
{
    char *nearest = doctor_nearest_directory(cli->store);
    struct statvfs info;

    if (statvfs(nearest, &info) == 0) {
        int64_t free_bytes =
            count_times(count_of(info.f_bavail), count_of(info.f_frsize));

        units_add_bytes(free_bytes, &finding->found);
        buf_printf(&finding->found, " free in %s", nearest);
        if (free_bytes < space_wanted_bytes)
            doctor_advise(
                finding,
                free_bytes < space_needed_bytes ? HEALTH_FAIL : HEALTH_WARN,
                "remove old runs (smtune rm), or select another place with "
                "--store");
    }
    free(nearest);
}

/* ---- the machine ---- */

static void look_at_cpus(const struct cli *cli, struct doctor_finding *finding)
{
    struct machine machine;

    (void)cli;
    machine_probe(&machine);
    buf_printf(&finding->found, "%d", machine.cpus);
    if (machine.cpus < machine.cpus_online)
        buf_printf(&finding->found,
                   " of %d (the affinity mask excludes the others)",
                   machine.cpus_online);
}

static void look_at_memory(const struct cli *cli,
                           struct doctor_finding *finding)
{
    struct machine machine;

    (void)cli;
    machine_probe(&machine);
    units_add_bytes(machine.memory_available_bytes, &finding->found);
    buf_add_string(&finding->found, " free of ");
    units_add_bytes(machine.memory_bytes, &finding->found);
    if (machine.memory_available_bytes < memory_wanted_bytes)
        doctor_advise(finding, HEALTH_WARN,
                      "few trials will fit: reduce budget.parallel, or set "
                      "trial.resources.memory");
}

static void look_at_gpus(const struct cli *cli, struct doctor_finding *finding)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    struct machine machine;

    (void)cli;
    machine_probe(&machine);
    if (machine.gpus == 0)
        buf_add_string(&finding->found, "none");
    else
        buf_printf(&finding->found, "%d", machine.gpus);
    if (visible != NULL)
        buf_printf(&finding->found, " (CUDA_VISIBLE_DEVICES=%s)", visible);
}

static void look_at_slots(const struct cli *cli, struct doctor_finding *finding)
{
    char path[PATH_MAX];
    struct err err;

    (void)cli;
    if (machine_slots_directory(path, sizeof(path), &err) == 0) {
        buf_printf(&finding->found, "shared through %s", path);
        return;
    }
    buf_add_string(&finding->found, err.text);
    doctor_advise(
        finding, HEALTH_FAIL,
        "remove that directory, or set XDG_RUNTIME_DIR to one of yours");
}

/* ---- limits, terminal ---- */

static void look_at_limit(int resource, const char *what, rlim_t wanted,
                          struct doctor_finding *finding)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) != 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY) {
        buf_printf(&finding->found, "no limit of %s", what);
        return;
    }
    buf_printf(&finding->found, "%ju %s", (uintmax_t)limit.rlim_cur, what);
    if (limit.rlim_cur < wanted)
        finding->health = HEALTH_WARN;
}

static void look_at_files(const struct cli *cli, struct doctor_finding *finding)
{
    (void)cli;
    look_at_limit(RLIMIT_NOFILE, "open files", FILES_WANTED, finding);
    if (finding->health == HEALTH_WARN)
        buf_add_string(&finding->fix, "raise it: ulimit -n 4096");
}

static void look_at_processes(const struct cli *cli,
                              struct doctor_finding *finding)
{
    (void)cli;
    look_at_limit(RLIMIT_NPROC, "processes", PROCESSES_WANTED, finding);
    if (finding->health == HEALTH_WARN)
        buf_add_string(&finding->fix, "raise it: ulimit -u 4096");
}

/* Without them trials run as well, but are watched less closely. */
static void look_at_cgroups(const struct cli *cli,
                            struct doctor_finding *finding)
{
    (void)cli;
    if (machine_describe_cgroups(&finding->found))
        return;
    buf_add_string(&finding->found, "; smtune applies the limits itself");
    buf_add_string(&finding->fix,
                   "to let the kernel apply limits, start smtune with "
                   "`systemd-run --user --scope -p Delegate=yes`");
}

static void look_at_terminal(const struct cli *cli,
                             struct doctor_finding *finding)
{
    int columns = term_columns(STDERR_FILENO);

    if (!cli->err_is_terminal)
        buf_add_string(&finding->found, "none: output is plain lines");
    else
        buf_printf(&finding->found, "%d columns, %s, %s", columns,
                   term_is_utf8() ? "UTF-8" : "ASCII",
                   cli->colour_err ? "colour" : "no colour");
}

/* ---- other programs ---- */

static void look_at_containers(const struct cli *cli,
                               struct doctor_finding *finding)
{
    (void)cli;
    machine_describe_containers(&finding->found);
    if (finding->found.length == 0)
        buf_add_string(&finding->found, "none: PATH has none of apptainer, "
                                        "singularity, podman and docker");
}

static void look_at_conda(const struct cli *cli, struct doctor_finding *finding)
{
    (void)cli;
    machine_describe_conda(&finding->found);
    if (finding->found.length == 0)
        buf_add_string(&finding->found,
                       "none: PATH has none of conda, mamba and micromamba");
}

const struct doctor_check doctor_checks[] = {
    {"version", look_at_version},
    {"shim", look_at_shim},
    {"kernel", look_at_kernel},
    {"defaults", look_at_config},
    {"store", look_at_store},
    {"file system", look_at_file_system},
    {"disk space", look_at_space},
    {"CPUs", look_at_cpus},
    {"memory", look_at_memory},
    {"GPUs", look_at_gpus},
    {"slots", look_at_slots},
    {"open files", look_at_files},
    {"processes", look_at_processes},
    {"cgroups", look_at_cgroups},
    {"https", doctor_look_at_https},
    {"containers", look_at_containers},
    {"conda", look_at_conda},
    {"terminal", look_at_terminal},
    {.name = NULL},
};
