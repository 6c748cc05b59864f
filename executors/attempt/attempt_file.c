/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/attempt/attempt_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/count.h"
#include "base/fs.h"

const char *const attempt_cause_names[CAUSE_COUNT + 1] = {
#define X(symbol, word) word,
    ATTEMPT_CAUSES(X)
#undef X
        NULL};

int attempt_cause_find(const char *word)
{
    for (int cause = 0; cause < CAUSE_COUNT; cause++) {
        if (strcmp(attempt_cause_names[cause], word) == 0)
            return cause;
    }
    return -1;
}

/* Of a node's name, which has hardly anything to escape. */
enum { NODE_ESCAPED_MAX = EXECUTOR_NODE_MAX + 16 };

/* -- One flat JSON object -------------------------------------------------*/

/* Where the value of a key begins. Quotes inside strings are escaped, so that
 * `"key":` is found nowhere but at a key. */
static const char *value_of(const char *line, const char *key)
{
    char pattern[32];
    const char *at;

    snprintf(pattern, sizeof(pattern), "\"%s\":", key);
    at = strstr(line, pattern);
    if (at == NULL)
        return NULL;
    at += strlen(pattern);
    return at + strspn(at, " ");
}

static bool read_integer(const char *line, const char *key, int64_t *value)
{
    const char *at = value_of(line, key);
    char *end;

    if (at == NULL)
        return false;
    *value = strtoll(at, &end, 10);
    return end != at && count_is_sound(*value);
}

static bool read_ticks(const char *line, const char *key, uint64_t *value)
{
    int64_t ticks;

    if (!read_integer(line, key, &ticks) || ticks < 0)
        return false;
    *value = (uint64_t)ticks;
    return true;
}

static char unescaped(const char **at)
{
    char code[5] = "";

    switch (**at) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'u':
        if (strlen(*at) < 5)
            return '?';
        memcpy(code, *at + 1, sizeof(code) - 1);
        *at += sizeof(code) - 1;
        return (char)strtol(code, NULL, 16);
    default:
        return **at;
    }
}

static bool read_string(const char *line, const char *key, char *value,
                        size_t size)
{
    const char *at = value_of(line, key);
    size_t length = 0;

    if (at == NULL || *at != '"')
        return false;
    for (at++; *at != '"'; at++) {
        char c = *at;

        if (c == '\\') {
            at++;
            c = *at != '\0' ? unescaped(&at) : '\0';
        }
        if (*at == '\0')
            return false;
        if (length + 1 < size)
            value[length++] = c;
    }
    value[length] = '\0';
    return true;
}

/* The text with quotes, backslashes and control bytes escaped, and every byte
 * beyond ASCII made a '?' (an error text has hardly any). */
static void escape(const char *text, char *out, size_t size)
{
    size_t length = 0;

    for (; *text != '\0' && length + 7 < size; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            out[length++] = '\\';
        if (c < 0x20)
            length += (size_t)snprintf(out + length, 7, "\\u%04x", c);
        else
            out[length++] = (char)(c < 0x7f ? c : '?');
    }
    out[length] = '\0';
}

/* -- Files ----------------------------------------------------------------*/

static int path_in(char path[PATH_MAX], const char *directory, const char *name,
                   struct err *err)
{
    size_t length = (size_t)snprintf(path, PATH_MAX, "%s/%s", directory, name);

    if (length >= PATH_MAX)
        return err_set_errno(err, ERR_FAILED, ENAMETOOLONG, "%.200s...",
                             directory);
    return 0;
}

/* Reads a small file from its beginning; the text ends with a NUL. */
static int read_line(int fd, char *line, size_t size)
{
    size_t length = 0;
    ssize_t got = 1;

    while (length + 1 < size && got != 0) {
        got = pread(fd, line + length, size - 1 - length, (off_t)length);
        if (got < 0 && errno != EINTR)
            break;
        if (got > 0)
            length += (size_t)got;
    }
    line[length] = '\0';
    return got < 0 ? -1 : 0;
}

/* -- The claim ------------------------------------------------------------*/

static void read_word(const char *path, char *word, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    word[0] = '\0';
    if (fd < 0)
        return;
    read_line(fd, word, size);
    close(fd);
    word[strcspn(word, "\n")] = '\0';
}

void claim_identify(struct claim *claim)
{
    read_word("/proc/sys/kernel/random/boot_id", claim->boot_id,
              sizeof(claim->boot_id));
    if (gethostname(claim->host, sizeof(claim->host)) != 0)
        claim->host[0] = '\0';
    claim->host[sizeof(claim->host) - 1] = '\0';
}

size_t claim_format(const struct claim *claim, char line[CLAIM_LINE_MAX])
{
    char cgroup[6 * CLAIM_CGROUP_MAX + 8], node[NODE_ESCAPED_MAX];

    escape(claim->cgroup, cgroup, sizeof(cgroup));
    escape(claim->node, node, sizeof(node));
    return (size_t)snprintf(
        line, CLAIM_LINE_MAX,
        "{\"attempt\": %" PRId64 ", \"pid\": %" PRId64
        ", \"pid_start\": %" PRIu64 ", \"boot_id\": \"%s\", \"host\": \"%s\""
        ", \"time_ms\": %" PRId64 ", \"shim_pid\": %" PRId64
        ", \"shim_start\": %" PRIu64 ", \"cgroup\": \"%s\""
        ", \"node\": \"%s\", \"job\": %" PRId64 ", \"is_in_pilot\": %d}\n",
        claim->attempt, claim->pid, claim->pid_start, claim->boot_id,
        claim->host, claim->time_ms, claim->shim_pid, claim->shim_start, cgroup,
        node, claim->job, claim->is_in_pilot);
}

/* Those of older versions have none of the first four. */
static bool claim_parse(const char *line, struct claim *claim)
{
    int64_t is_in_pilot = 0;

    memset(claim, 0, sizeof(*claim));
    read_string(line, "cgroup", claim->cgroup, sizeof(claim->cgroup));
    read_string(line, "node", claim->node, sizeof(claim->node));
    read_integer(line, "job", &claim->job);
    read_integer(line, "is_in_pilot", &is_in_pilot);
    claim->is_in_pilot = is_in_pilot != 0;
    return strchr(line, '\n') != NULL &&
           read_integer(line, "attempt", &claim->attempt) &&
           read_integer(line, "pid", &claim->pid) &&
           read_ticks(line, "pid_start", &claim->pid_start) &&
           read_integer(line, "shim_pid", &claim->shim_pid) &&
           read_ticks(line, "shim_start", &claim->shim_start) &&
           read_integer(line, "time_ms", &claim->time_ms) &&
           read_string(line, "boot_id", claim->boot_id,
                       sizeof(claim->boot_id)) &&
           read_string(line, "host", claim->host, sizeof(claim->host));
}

int claim_create(const char *directory, struct err *err)
{
    char path[PATH_MAX];
    struct stat status;
    int fd;

    if (path_in(path, directory, "claim", err) != 0)
        return -1;
    fd = fs_shared_open(path, O_RDWR | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set_errno(err, errno == EEXIST ? ERR_BUSY : ERR_FAILED,
                             errno, "cannot claim '%s'", path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        err_set_errno(err, errno == EWOULDBLOCK ? ERR_BUSY : ERR_FAILED, errno,
                      "cannot lock '%s'", path);
    else if (fstat(fd, &status) != 0 || status.st_size != 0)
        err_set(err, ERR_BUSY, "another process claimed '%s'", path);
    else
        return fd;
    close(fd);
    return -1;
}

static int claim_void(int fd, int64_t attempt, struct claim *claim,
                      struct err *err)
{
    char line[CLAIM_LINE_MAX];

    memset(claim, 0, sizeof(*claim));
    claim_identify(claim);
    claim->attempt = attempt;
    claim->time_ms = clock_wall_ms();
    if (fs_write_all(fd, line, claim_format(claim, line)) != 0)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot write the claim of attempt %" PRId64,
                             attempt);
    return CLAIM_VOID;
}

bool claim_is_elsewhere(const struct claim *claim)
{
    struct claim here;

    claim_identify(&here);
    return strcmp(claim->host, here.host) != 0 ||
           (claim->node[0] != '\0' &&
            strcmp(claim->boot_id, here.boot_id) != 0);
}

static int judge(int fd, int64_t attempt, struct claim *claim, struct err *err)
{
    char line[CLAIM_LINE_MAX];
    bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;

    if (held && errno != EWOULDBLOCK)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot lock the claim of attempt %" PRId64,
                             attempt);
    if (read_line(fd, line, sizeof(line)) != 0)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot read the claim of attempt %" PRId64,
                             attempt);
    if (line[0] == '\0' && !held)
        return claim_void(fd, attempt, claim, err);
    if (!claim_parse(line, claim)) {
        memset(claim, 0, sizeof(*claim));
        return held ? CLAIM_HELD : CLAIM_FREE;
    }
    if (held)
        return CLAIM_HELD;
    if (claim->pid == 0)
        return CLAIM_VOID;
    return claim_is_elsewhere(claim) ? CLAIM_ELSEWHERE : CLAIM_FREE;
}

int claim_judge(const char *directory, int64_t attempt, struct claim *claim,
                struct err *err)
{
    char path[PATH_MAX];
    int fd, state;

    if (path_in(path, directory, "claim", err) != 0)
        return -1;
    fd = fs_shared_open(path, O_RDWR | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "cannot open '%s'", path);
    state = judge(fd, attempt, claim, err);
    close(fd);
    return state;
}

/* That there is no such file, and not that it cannot be seen now. */
static bool says_none(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP ||
           error == EISDIR;
}

/* The line of a file in the directory. Returns 1, 0 where there is no such
 * file, -1 with errno when that cannot be seen now. */
static int read_file(const char *directory, const char *name, char *line,
                     size_t size)
{
    char path[PATH_MAX];
    int fd, result;

    if (path_in(path, directory, name, NULL) != 0)
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return says_none(errno) ? 0 : -1;
    result = read_line(fd, line, size);
    close(fd);
    if (result != 0)
        return says_none(errno) ? 0 : -1;
    return 1;
}

int claim_read(const char *directory, struct claim *claim)
{
    char line[CLAIM_LINE_MAX];
    int result = read_file(directory, "claim", line, sizeof(line));

    return result == 1 ? claim_parse(line, claim) : result;
}

bool claim_exists(const char *directory)
{
    char path[PATH_MAX];

    return path_in(path, directory, "claim", NULL) == 0 &&
           access(path, F_OK) == 0;
}

bool claim_is_free(const char *directory)
{
    char path[PATH_MAX];
    bool is_free;
    int fd;

    if (path_in(path, directory, "claim", NULL) != 0)
        return true;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return true;
    is_free = flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    close(fd);
    return is_free;
}

/* -- The exit file --------------------------------------------------------*/

int exit_write(const char *directory, const struct attempt_exit *end,
               struct err *err)
{
    char path[PATH_MAX], temporary[PATH_MAX];
    char line[EXIT_LINE_MAX], text[EXIT_LINE_MAX - 512];
    char node[NODE_ESCAPED_MAX], gpus[96] = "";
    int length, fd, result;

    if (path_in(path, directory, "exit", err) != 0 ||
        path_in(temporary, directory, "exit.tmp", err) != 0)
        return -1;
    escape(end->text, text, sizeof(text));
    escape(end->node, node, sizeof(node));
    if (end->has_gpu_use)
        snprintf(gpus, sizeof(gpus),
                 ", \"gpu_ms\": %" PRId64 ", \"gpu_memory_bytes\": %" PRId64,
                 end->gpu_ms, end->gpu_memory_bytes);
    length = snprintf(line, sizeof(line),
                      "{\"attempt\": %" PRId64 ", \"cause\": \"%s\""
                      ", \"exit_code\": %d, \"signal\": %d"
                      ", \"started_ms\": %" PRId64 ", \"ended_ms\": %" PRId64
                      ", \"cpu_ms\": %" PRId64 ", \"max_rss_bytes\": %" PRId64
                      "%s, \"is_shortage\": %d, \"is_displaced\": %d"
                      ", \"node\": \"%s\", \"text\": \"%s\"}\n",
                      end->attempt, attempt_cause_names[end->cause],
                      end->exit_code, end->signal, end->started_ms,
                      end->ended_ms, end->cpu_ms, end->max_rss_bytes, gpus,
                      end->is_shortage, end->is_displaced, node, text);
    fd = fs_shared_open(temporary, O_WRONLY | O_TRUNC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set_errno(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
                             errno, "cannot create '%s'", temporary);
    result = fs_write_all(fd, line, (size_t)length);
    if (result == 0)
        result = rename(temporary, path);
    if (result != 0)
        err_set_errno(err, ERR_FAILED, errno, "cannot write '%s'", path);
    close(fd);
    return result;
}

int64_t attempt_last_written_ms(const char *directory)
{
    static const char *const names[] = {"log", "metrics.jsonl"};
    int64_t last_ms = 0;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char *path = fs_join(directory, names[i]);
        struct stat status;

        if (stat(path, &status) == 0 && status.st_size > 0) {
            int64_t ms = count_add(count_times(status.st_mtim.tv_sec, 1000),
                                   status.st_mtim.tv_nsec / 1000000);

            last_ms = ms > last_ms ? ms : last_ms;
        }
        free(path);
    }
    return last_ms;
}

bool attempt_disk_is_full(const char *directory)
{
    enum { FULL_BYTES = 64 << 10 };
    struct statvfs disk;

    return statvfs(directory, &disk) == 0 &&
           disk.f_bavail < FULL_BYTES / disk.f_frsize + 1;
}

static bool parse_cause(const char *line, enum attempt_cause *cause)
{
    char word[32];
    int found;

    if (!read_string(line, "cause", word, sizeof(word)))
        return false;
    found = attempt_cause_find(word);
    *cause = (enum attempt_cause)found;
    return found >= 0;
}

static bool exit_parse(const char *line, struct attempt_exit *end)
{
    int64_t exit_code, signal_number, is_shortage = 0, is_displaced = 0;

    memset(end, 0, sizeof(*end));
    if (strchr(line, '\n') == NULL ||
        !read_integer(line, "attempt", &end->attempt) ||
        !parse_cause(line, &end->cause) ||
        !read_integer(line, "exit_code", &exit_code) ||
        !read_integer(line, "signal", &signal_number) ||
        !read_integer(line, "started_ms", &end->started_ms) ||
        !read_integer(line, "ended_ms", &end->ended_ms) ||
        !read_integer(line, "cpu_ms", &end->cpu_ms) ||
        !read_integer(line, "max_rss_bytes", &end->max_rss_bytes) ||
        !read_string(line, "text", end->text, sizeof(end->text)))
        return false;
    end->exit_code = (int)exit_code;
    end->signal = (int)signal_number;
    end->has_gpu_use =
        read_integer(line, "gpu_ms", &end->gpu_ms) &&
        read_integer(line, "gpu_memory_bytes", &end->gpu_memory_bytes);
    read_integer(line, "is_shortage", &is_shortage);
    end->is_shortage = is_shortage != 0;
    read_integer(line, "is_displaced", &is_displaced);
    end->is_displaced = is_displaced != 0;
    read_string(line, "node", end->node, sizeof(end->node));
    return true;
}

int exit_read_any(const char *directory, struct attempt_exit *end)
{
    char line[EXIT_LINE_MAX];
    int result = read_file(directory, "exit", line, sizeof(line));

    return result == 1 ? exit_parse(line, end) : result;
}

int exit_read(const char *directory, int64_t attempt, struct attempt_exit *end)
{
    int found = exit_read_any(directory, end);

    if (found <= 0)
        return found;
    if (end->attempt != attempt && end->attempt >= 0)
        return 0;
    end->attempt = attempt;
    return 1;
}

/* What happened to machines is no end by itself. */
static bool is_heeding_end(const struct attempt_exit *end,
                           const struct exit_set *exits)
{
    const unsigned badly =
        1u << CAUSE_EXIT | 1u << CAUSE_SIGNAL | 1u << CAUSE_OOM;
    unsigned status = end->cause == CAUSE_OK ? 0 : (unsigned)end->exit_code;

    if ((exits->bits[0] | exits->bits[1] | exits->bits[2] | exits->bits[3]) ==
        0)
        return (badly & 1u << end->cause) != 0;
    return (end->cause == CAUSE_OK || end->cause == CAUSE_EXIT) &&
           status < 256 && (exits->bits[status / 64] >> status % 64 & 1) != 0;
}

/* The time of the warning is known to the millisecond; that it took effect,
 * only from what came after. */
bool exit_is_by_time(const struct attempt_exit *end,
                     const struct attempt_spec *spec)
{
    bool was_warned = spec->warn_signal != 0 && spec->time_ms > 0 &&
                      end->started_ms > 0 &&
                      end->ended_ms - end->started_ms + 1 >=
                          spec->time_ms - spec->warn_before_ms;

    return end->cause == CAUSE_TIMEOUT ||
           (was_warned && is_heeding_end(end, &spec->link_exits));
}
