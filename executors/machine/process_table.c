/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/machine/process_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/count.h"
#include "base/mem.h"
#include "base/system/process_hold.h"

enum {
    STAT_MAX = 1024,
    STATUS_MAX = 4096,
    ENVIRONMENT_MAX_BYTES = 4 << 20,
    SMAPS_MAX_BYTES = 64 << 10
};

static int open_of(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Fields of proc(5) stat, counted from the one after the program's name, which
 * is in parentheses and may itself hold parentheses and spaces. */
enum {
    FIELD_STATE,
    FIELD_PARENT,
    FIELD_SESSION = 3,
    FIELD_START = 19,
    FIELD_RSS = 21,
    FIELD_COUNT
};

static bool parse_stat(const char *text, struct process *process)
{
    const char *at = strrchr(text, ')');
    const char *fields[FIELD_COUNT];

    if (at == NULL)
        return false;
    for (int i = 0; i < FIELD_COUNT; i++) {
        at = strchr(at, ' ');
        if (at == NULL)
            return false;
        fields[i] = ++at;
    }
    process->parent = (pid_t)strtol(fields[FIELD_PARENT], NULL, 10);
    process->session = (pid_t)strtol(fields[FIELD_SESSION], NULL, 10);
    process->start = strtoull(fields[FIELD_START], NULL, 10);
    process->rss_bytes = count_times(strtoll(fields[FIELD_RSS], NULL, 10),
                                     sysconf(_SC_PAGESIZE));
    process->is_zombie =
        fields[FIELD_STATE][0] == 'Z' || fields[FIELD_STATE][0] == 'X';
    process->owner = NULL;
    return true;
}

bool process_read(pid_t pid, struct process *process)
{
    char text[STAT_MAX];
    int fd = open_of(pid, "stat");
    ssize_t length;

    if (fd < 0)
        return false;
    length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length > 0) {
        text[length] = '\0';
        process->pid = pid;
        if (parse_stat(text, process))
            return true;
    }
    if (length >= 0)
        errno = ESRCH;
    return false;
}

bool process_lives(int64_t pid, uint64_t start)
{
    struct process process;

    if (pid <= 0)
        return false;
    if (!process_read((pid_t)pid, &process))
        return errno != ENOENT && errno != ESRCH;
    return process.start == start && !process.is_zombie;
}

static int by_pid(const void *a, const void *b)
{
    const struct process *left = a, *right = b;

    return (left->pid > right->pid) - (left->pid < right->pid);
}

int process_table_read(struct process_table *table)
{
    DIR *directory = opendir("/proc");
    struct dirent *entry;

    table->count = 0;
    if (directory == NULL)
        return -1;
    while ((entry = readdir(directory)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid <= 0)
            continue;
        table->rows = mem_grow(table->rows, table->count, &table->capacity,
                               sizeof(*table->rows));
        if (process_read(pid, &table->rows[table->count]))
            table->count++;
    }
    closedir(directory);
    if (table->count > 1)
        qsort(table->rows, table->count, sizeof(*table->rows), by_pid);
    return 0;
}

struct process *process_table_find(const struct process_table *table, pid_t pid)
{
    struct process key = {.pid = pid};

    if (table->count == 0)
        return NULL;
    return bsearch(&key, table->rows, table->count, sizeof(*table->rows),
                   by_pid);
}

/* Parents mostly have the smaller pid, so that few rounds are needed. */
void process_table_hand_down(struct process_table *table)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < table->count; i++) {
            struct process *process = &table->rows[i], *parent;

            if (process->owner != NULL)
                continue;
            parent = process_table_find(table, process->parent);
            if (parent == NULL || parent->owner == NULL)
                continue;
            process->owner = parent->owner;
            changed = true;
        }
    }
}

void process_table_clear(struct process_table *table)
{
    free(table->rows);
    *table = (struct process_table){NULL, 0, 0};
}

bool process_signal(pid_t pid, uint64_t start, int signal_number)
{
    struct process process;
    struct process_hold hold;
    bool sent;

    if (process_hold(&hold, pid) != 0)
        return false;
    sent = process_read(pid, &process) && process.start == start &&
           !process.is_zombie && process_hold_signal(&hold, signal_number) == 0;
    process_hold_release(&hold);
    return sent;
}

bool process_table_has(const struct process_table *table, pid_t pid,
                       uint64_t start)
{
    const struct process *process = process_table_find(table, pid);

    return process != NULL && process->start == start;
}

size_t process_signal_session(pid_t leader, uint64_t start, int signal_number)
{
    struct process_table table = {NULL, 0, 0};
    size_t sent = 0;

    process_table_read(&table);
    if (!process_table_has(&table, leader, start))
        process_table_clear(&table);
    for (size_t i = 0; i < table.count; i++) {
        const struct process *process = &table.rows[i];

        if (process->session == leader)
            sent += process_signal(process->pid, process->start, signal_number);
    }
    process_table_clear(&table);
    return sent;
}

size_t process_signal_descendants(pid_t ancestor, int signal_number)
{
    struct process_table table = {NULL, 0, 0};
    struct process *root;
    size_t living = 0;

    process_table_read(&table);
    root = process_table_find(&table, ancestor);
    if (root != NULL)
        root->owner = root;
    process_table_hand_down(&table);
    for (size_t i = 0; root != NULL && i < table.count; i++) {
        const struct process *process = &table.rows[i];

        if (process == root || process->owner != root || process->is_zombie)
            continue;
        process_signal(process->pid, process->start, signal_number);
        living++;
    }
    process_table_clear(&table);
    return living;
}

static void read_up_to(int fd, size_t max_bytes, struct buf *out)
{
    enum { STEP = 16384 };

    while (out->length < max_bytes) {
        ssize_t length = read(fd, buf_reserve(out, STEP), STEP);

        if (length <= 0)
            return;
        out->length += (size_t)length;
        out->data[out->length] = '\0';
    }
}

/* Whether a mask of proc(5) status, "SigCgt:\t0000000000000200", has the
 * signal. */
static bool mask_has(const char *status, const char *name, int signal_number)
{
    const char *line = strstr(status, name);

    return line != NULL &&
           (strtoull(line + strlen(name), NULL, 16) >> (signal_number - 1) &
            1) != 0;
}

/* Its status of proc(5); "" where there is none. */
static void read_status(pid_t pid, char status[STATUS_MAX])
{
    int fd = open_of(pid, "status");
    ssize_t length = fd >= 0 ? read(fd, status, STATUS_MAX - 1) : 0;

    if (fd >= 0)
        close(fd);
    status[length > 0 ? length : 0] = '\0';
}

static bool heeds(const char *status, int signal_number)
{
    return mask_has(status, "SigCgt:", signal_number) ||
           mask_has(status, "SigBlk:", signal_number);
}

static bool has_name(const char *status, const char *line)
{
    return strncmp(status, line, strlen(line)) == 0;
}

/* smtune launch tells the ranks of its step itself. srun would tell each of
 * their processes, those too that die of it. */
static bool is_srun_of_launch(const struct process *process, const char *status)
{
    char above[STATUS_MAX];

    if (!has_name(status, "Name:\tsrun\n"))
        return false;
    read_status(process->parent, above);
    return has_name(above, "Name:\tsmtune\n");
}

/* What stands between us and the command in a container (executors/shim/
 * contain.c), which gets the signal itself. */
static bool is_of_apptainer(const char *status)
{
    return has_name(status, "Name:\tsmtune-contain\n") ||
           has_name(status, "Name:\tstarter\n") ||
           has_name(status, "Name:\tstarter-suid\n");
}

/* Programs that pass a signal on to what they have started. */
static bool passes_on(const char *status, int signal_number)
{
    static const char *const names[] = {
        "Name:\tsmtune\n",  "Name:\tmpirun\n",        "Name:\tmpiexec\n",
        "Name:\torterun\n", "Name:\tprterun\n",       "Name:\tprun\n",
        "Name:\tprte\n",    "Name:\tmpiexec.hydra\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (has_name(status, names[i]))
            return heeds(status, signal_number);
    }
    return false;
}

/* Whether it gets the signal from a process above it, too, or is in a container
 * of Podman, which passes it on. */
static bool is_told_from_above(const struct process_table *table,
                               const struct process *process, int signal_number)
{
    const struct process *at = process;

    for (size_t i = 0;
         i <= table->count && at != NULL && at->owner == process->owner; i++) {
        char status[STATUS_MAX];

        read_status(at->pid, status);
        if (has_name(status, "Name:\tconmon\n") ||
            (at != process && passes_on(status, signal_number)))
            return true;
        at = process_table_find(table, at->parent);
    }
    return false;
}

static bool is_to_warn(const struct process_table *table,
                       const struct process *process, int signal_number)
{
    char status[STATUS_MAX];

    read_status(process->pid, status);
    return heeds(status, signal_number) &&
           !is_srun_of_launch(process, status) && !is_of_apptainer(status) &&
           !is_told_from_above(table, process, signal_number);
}

size_t process_table_warn(const struct process_table *table, const void *owner,
                          int signal_number)
{
    size_t warned = 0;

    for (size_t i = 0; i < table->count; i++) {
        const struct process *process = &table->rows[i];

        if (process->owner != owner || process->is_zombie)
            continue;
        if (is_to_warn(table, process, signal_number))
            warned +=
                process_signal(process->pid, process->start, signal_number);
    }
    return warned;
}

int64_t process_pss_bytes(pid_t pid)
{
    struct buf text = BUF_INIT;
    static const char pss[] = "\nPss:";
    int fd = open_of(pid, "smaps_rollup");
    const char *at;
    int64_t kilobytes = 0;

    if (fd < 0)
        return errno == EACCES || errno == EPERM ? -1 : 0;
    read_up_to(fd, SMAPS_MAX_BYTES, &text);
    close(fd);
    at = strstr(buf_text(&text), pss);
    if (at != NULL)
        kilobytes = strtoll(at + strlen(pss), NULL, 10);
    buf_clear(&text);
    return count_times(kilobytes, 1024);
}

bool process_has_open(pid_t pid, dev_t device, ino_t inode)
{
    char path[64];
    struct dirent *entry;
    struct stat status;
    DIR *directory;
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    directory = opendir(path);
    if (directory == NULL)
        return false;
    while (!found && (entry = readdir(directory)) != NULL)
        found = fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
                status.st_dev == device && status.st_ino == inode;
    closedir(directory);
    return found;
}

bool process_variable(pid_t pid, const char *name, char *value, size_t size)
{
    struct buf text = BUF_INIT;
    size_t name_length = strlen(name), at = 0;
    int fd = open_of(pid, "environ");
    bool found = false;

    if (fd < 0)
        return false;
    read_up_to(fd, ENVIRONMENT_MAX_BYTES, &text);
    close(fd);
    while (at < text.length && !found) {
        const char *entry = text.data + at;

        if (strncmp(entry, name, name_length) == 0 && entry[name_length] == '=')
            found = snprintf(value, size, "%s", entry + name_length + 1) <
                    (int)size;
        at += strlen(entry) + 1;
    }
    buf_clear(&text);
    return found;
}

/* The kernel lists their pids, with a blank after each. */
static ptrdiff_t each_child(void (*use)(pid_t child))
{
    char path[64], text[16384];
    ptrdiff_t count = 0;
    pid_t pid = 0;
    ssize_t length;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while ((length = read(fd, text, sizeof(text))) > 0) {
        for (ssize_t i = 0; i < length; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            if (use != NULL && pid > 0)
                use(pid);
            count += pid > 0;
            pid = 0;
        }
    }
    close(fd);
    return length == 0 ? count : -1;
}

ptrdiff_t process_count_children(void)
{
    return each_child(NULL);
}

static void kill_child(pid_t child)
{
    kill(child, SIGKILL);
}

ptrdiff_t process_kill_children(void)
{
    return each_child(kill_child);
}
