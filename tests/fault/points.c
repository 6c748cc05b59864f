/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which calls are to fail, and the counting. Nothing here allocates.
 *
 * The agent's child runs in its memory until it executes the command: it
 * counts as the agent, and a kill there hits the agent and not the child.
 */
#include "tests/fault/points.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"

enum { FAULTS_MAX = 8, YEAR_S = 365 * 86400 };

enum action { ACTION_KILL, ACTION_FAIL, ACTION_SHORT, ACTION_JUMP };

static const struct action_word {
    const char *word;
    enum action action;
    int argument; /* errno, or seconds */
} action_words[] = {
    {"kill", ACTION_KILL, 0},        {"short", ACTION_SHORT, 0},
    {"+year", ACTION_JUMP, YEAR_S},  {"-year", ACTION_JUMP, -YEAR_S},
    {"EIO", ACTION_FAIL, EIO},       {"ENOSPC", ACTION_FAIL, ENOSPC},
    {"ENOMEM", ACTION_FAIL, ENOMEM}, {"EMFILE", ACTION_FAIL, EMFILE},
    {"EAGAIN", ACTION_FAIL, EAGAIN}, {"EINTR", ACTION_FAIL, EINTR},
    {"EACCES", ACTION_FAIL, EACCES},
};

static const char *const call_words[] = {
#define X(symbol, word) word,
    POINT_CALLS(X)
#undef X
};

struct fault {
    const struct action_word *action;
    enum point_call call;
    size_t index; /* among those of SMTUNE_FAULT */
    long first, last;
};

/* The one place where a test may have what the product may not. */
static struct {
    struct fault faults[FAULTS_MAX];
    size_t fault_count;
    long seen[POINT_CALL_COUNT];
    pid_t owner;
} points;

/* -- What was done --------------------------------------------------------*/

static void put_line(const char *line)
{
    const char *path = getenv("SMTUNE_FAULT_LOG");
    int fd = -1;

    if (path != NULL)
        fd = (int)syscall(SYS_openat, AT_FDCWD, path,
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    (void)!syscall(SYS_write, fd, line, strlen(line));
    close(fd);
}

/* A fault that is to strike once strikes one process, whatever the number of
 * those that come to its point: the first to make a file. */
static bool is_taken(const struct fault *fault)
{
    const char *path = getenv("SMTUNE_FAULT_LOG");
    char taken[4096];
    int fd;

    if (path == NULL || fault->first != fault->last)
        return false;
    snprintf(taken, sizeof(taken), "%s.%zu", path, fault->index);
    fd = (int)syscall(SYS_openat, AT_FDCWD, taken,
                      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd < 0;
}

static void put_strike(const struct fault *fault)
{
    int error = errno;
    char line[128];

    snprintf(line, sizeof(line), "%s %d struck %s %s@%ld\n",
             program_invocation_short_name, (int)points.owner,
             fault->action->word, call_words[fault->call], fault->first);
    put_line(line);
    errno = error;
}

__attribute__((destructor)) static void put_counts(void)
{
    char line[512];
    size_t length;

    if (points.fault_count == 0 && getenv("SMTUNE_FAULT_LOG") == NULL)
        return;
    length = (size_t)snprintf(line, sizeof(line), "%s %d counted",
                              program_invocation_short_name, (int)points.owner);
    for (size_t i = 0; i < POINT_CALL_COUNT; i++)
        length += (size_t)snprintf(line + length, sizeof(line) - length,
                                   " %s=%ld", call_words[i], points.seen[i]);
    snprintf(line + length, sizeof(line) - length, "\n");
    put_line(line);
}

/* -- What is to be done ---------------------------------------------------*/

NORETURN static void refuse(const char *text)
{
    fprintf(stderr, "SMTUNE_FAULT: '%s' is no fault\n", text);
    abort();
}

static bool parse(const char *text, char program[32], struct fault *fault)
{
    char action[16], call[16], rest[32] = "";

    if (sscanf(text, "%31[^:,]:%15[^:,]:%15[^@,]@%ld%31[^,]", program, action,
               call, &fault->first, rest) < 4)
        return false;
    fault->last = fault->first;
    if (strcmp(rest, "+") == 0)
        fault->last = __LONG_MAX__;
    else if (rest[0] != '\0' && sscanf(rest, "..%ld", &fault->last) != 1)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(action_words); i++) {
        if (strcmp(action, action_words[i].word) == 0)
            fault->action = &action_words[i];
    }
    fault->call = 0;
    while (fault->call < POINT_CALL_COUNT &&
           strcmp(call, call_words[fault->call]) != 0)
        fault->call++;
    return fault->action != NULL && fault->call < POINT_CALL_COUNT;
}

__attribute__((constructor)) static void read_faults(void)
{
    const char *at = getenv("SMTUNE_FAULT");
    size_t index = 0;

    points.owner = getpid();
    for (; at != NULL && *at != '\0'; at += *at == ',') {
        struct fault fault = {.index = index++};
        char program[32];

        if (points.fault_count == FAULTS_MAX || !parse(at, program, &fault))
            refuse(at);
        if (strcmp(program, program_invocation_short_name) == 0)
            points.faults[points.fault_count++] = fault;
        at += strcspn(at, ",");
    }
}

static const struct fault *strike(enum point_call call)
{
    long nth = ++points.seen[call];

    for (size_t i = 0; i < points.fault_count; i++) {
        const struct fault *fault = &points.faults[i];

        if (fault->call != call || nth < fault->first || nth > fault->last ||
            is_taken(fault))
            continue;
        if (nth == fault->first)
            put_strike(fault);
        if (fault->action->action == ACTION_KILL)
            kill(points.owner, SIGKILL);
        return fault;
    }
    return NULL;
}

const struct fault *point_reach(enum point_call call, bool changes)
{
    const struct fault *fault = changes ? strike(POINT_CHANGE) : NULL;
    const struct fault *own = strike(call);

    return own != NULL ? own : fault;
}

bool fault_fails(const struct fault *fault)
{
    if (fault == NULL || fault->action->action != ACTION_FAIL)
        return false;
    errno = fault->action->argument;
    return true;
}

size_t fault_shorten(const struct fault *fault, size_t length)
{
    bool is_short = fault != NULL && fault->action->action == ACTION_SHORT;

    return is_short && length > 1 ? length / 2 : length;
}

int64_t fault_jump_s(const struct fault *fault)
{
    bool jumps = fault != NULL && fault->action->action == ACTION_JUMP;

    return jumps ? fault->action->argument : 0;
}

void point_forked(void)
{
    points.owner = getpid();
}
