/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/adopted.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "executors/attempt_file.h"
#include "executors/process_table.h"

/*
 * An adopted attempt has ended when its `exit` is there. While its shim lives,
 * that will come, and with it the end of all its processes. Without a shim
 * the claim's lock tells: while it is held, something lives; if that is not
 * the command itself, it is ended; when the lock is free and still no `exit`
 * is there, the attempt is lost. What cannot be seen for now, because there is
 * no descriptor left for example, says nothing, and is looked at again.
 */

struct adopted {
    struct adopted *next;
    int64_t attempt;
    char *directory; /* NULL: it is lost */
    struct claim claim;
    int64_t grace_ms;
    int64_t told_ms; /* wall clock of the first cancel; 0: none */
    int64_t kill_ms; /* clock_monotonic_ms(); 0: none */
};

struct adopted_list {
    uv_timer_t timer;
    struct adopted *first;
    void (*ended)(void *user, const struct attempt_exit *end);
    void *user;
    void (*closed)(void *user);
    void *closed_user;
};

/* -- Its processes --------------------------------------------------------*/

static bool lives(int64_t pid, uint64_t start)
{
    struct process process;

    if (pid <= 0)
        return false;
    if (!process_read((pid_t)pid, &process))
        return errno != ENOENT && errno != ESRCH;
    return process.start == start && !process.is_zombie;
}

static bool belongs(const struct adopted *adopted,
                    const struct process *process)
{
    char claim[PATH_MAX];
    size_t length = strlen(adopted->directory);

    if (adopted->claim.pid > 0 && process->session == adopted->claim.pid &&
        process->start >= adopted->claim.pid_start)
        return true;
    return process_variable(process->pid, "SMTUNE_CLAIM", claim,
                            sizeof(claim)) &&
           strncmp(claim, adopted->directory, length) == 0 &&
           strcmp(claim + length, "/claim") == 0;
}

static void kill_tree(const struct adopted *adopted)
{
    struct process_table table = {NULL, 0, 0};

    process_table_read(&table);
    for (size_t i = 0; i < table.count; i++) {
        const struct process *process = &table.rows[i];

        if (!process->is_zombie && belongs(adopted, process))
            process_signal(process->pid, process->start, SIGKILL);
    }
    process_table_clear(&table);
}

static void terminate_session(const struct adopted *adopted)
{
    const struct claim *claim = &adopted->claim;

    if (!lives(claim->pid, claim->pid_start))
        return;
    process_signal_session((pid_t)claim->pid, claim->pid_start, SIGTERM);
    process_signal_session((pid_t)claim->pid, claim->pid_start, SIGCONT);
}

/* -- Watching -------------------------------------------------------------*/

static bool is_of_this_boot(const struct adopted *adopted)
{
    struct claim here;

    claim_identify(&here);
    return adopted->claim.boot_id[0] == '\0' || here.boot_id[0] == '\0' ||
           strcmp(here.boot_id, adopted->claim.boot_id) == 0;
}

/* Whether `exit` is still to be expected. */
static bool goes_on(struct adopted *adopted)
{
    struct claim *claim = &adopted->claim;
    int state = claim_judge(adopted->directory, adopted->attempt, claim, NULL);

    if (state < 0)
        return true;
    if (!is_of_this_boot(adopted))
        return false;
    if (lives(claim->shim_pid, claim->shim_start))
        return true;
    if (state != CLAIM_HELD)
        return false;
    if (claim->pid > 0 && !lives(claim->pid, claim->pid_start))
        kill_tree(adopted);
    return true;
}

static bool has_ended(struct adopted *adopted, struct attempt_exit *end)
{
    int found = 0;

    if (adopted->directory != NULL) {
        found = exit_read(adopted->directory, adopted->attempt, end);
        if (found == 0 && goes_on(adopted))
            return false;
        if (found == 0)
            found = exit_read(adopted->directory, adopted->attempt, end);
    }
    if (found < 0)
        return false;
    if (found == 0)
        *end = (struct attempt_exit){.attempt = adopted->attempt,
                                     .cause = CAUSE_LOST,
                                     .exit_code = -1,
                                     .started_ms = adopted->claim.time_ms,
                                     .ended_ms = clock_wall_ms()};
    if (adopted->told_ms != 0 && end->ended_ms >= adopted->told_ms)
        end->cause = CAUSE_CANCELLED;
    return true;
}

static void adopted_destroy(struct adopted *adopted)
{
    free(adopted->directory);
    free(adopted);
}

/* Takes out the first that has ended; NULL when none has. */
static struct adopted *take_ended(struct adopted_list *list,
                                  struct attempt_exit *end)
{
    for (struct adopted **link = &list->first; *link != NULL;
         link = &(*link)->next) {
        struct adopted *adopted = *link;

        if (has_ended(adopted, end)) {
            *link = adopted->next;
            return adopted;
        }
    }
    return NULL;
}

static void on_tick(uv_timer_t *timer)
{
    struct adopted_list *list = timer->data;
    int64_t now_ms = clock_monotonic_ms();
    struct adopted *adopted;
    struct attempt_exit end;

    for (adopted = list->first; adopted != NULL; adopted = adopted->next) {
        if (adopted->kill_ms != 0 && adopted->kill_ms <= now_ms)
            kill_tree(adopted);
    }
    while ((adopted = take_ended(list, &end)) != NULL) {
        adopted_destroy(adopted);
        list->ended(list->user, &end);
    }
    if (list->first == NULL)
        uv_timer_stop(timer);
}

/* -- The interface --------------------------------------------------------*/

struct adopted_list *adopted_create(uv_loop_t *loop,
                                    void (*ended)(void *user,
                                                  const struct attempt_exit *),
                                    void *user)
{
    struct adopted_list *list = mem_zero(sizeof(*list));

    uv_timer_init(loop, &list->timer);
    list->timer.data = list;
    list->ended = ended;
    list->user = user;
    return list;
}

static void forget_all(struct adopted_list *list)
{
    while (list->first != NULL) {
        struct adopted *adopted = list->first;

        list->first = adopted->next;
        adopted_destroy(adopted);
    }
}

static void on_closed(uv_handle_t *handle)
{
    struct adopted_list *list = handle->data;

    if (list->closed != NULL)
        list->closed(list->closed_user);
    free(list);
}

void adopted_close(struct adopted_list *list, void (*closed)(void *user),
                   void *user)
{
    forget_all(list);
    list->closed = closed;
    list->closed_user = user;
    uv_close((uv_handle_t *)&list->timer, on_closed);
}

static struct adopted *add(struct adopted_list *list, int64_t attempt)
{
    struct adopted *adopted = mem_zero(sizeof(*adopted));

    adopted->attempt = attempt;
    adopted->next = list->first;
    list->first = adopted;
    uv_timer_start(&list->timer, on_tick, 0, ADOPTED_POLL_MS);
    return adopted;
}

int adopted_add(struct adopted_list *list, const struct attempt_spec *spec,
                struct err *err)
{
    struct attempt_exit end;
    struct adopted *adopted;
    struct claim claim = {.pid = 0}, here;

    int found = exit_read(spec->directory, spec->attempt, &end);

    if (found < 0)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot read the end of attempt %" PRId64,
                             spec->attempt);
    if (found == 0) {
        int state = claim_judge(spec->directory, spec->attempt, &claim, err);

        if (state < 0)
            return -1;
        if (state == CLAIM_VOID)
            return 1;
        claim_identify(&here);
        if (claim.host[0] != '\0' && strcmp(claim.host, here.host) != 0)
            return err_set(err, ERR_FAILED,
                           "attempt %" PRId64 " runs on host '%s', not here",
                           spec->attempt, claim.host);
    }
    adopted = add(list, spec->attempt);
    adopted->directory = mem_copy_string(spec->directory);
    adopted->claim = claim;
    adopted->grace_ms = spec->grace_ms;
    return 0;
}

void adopted_add_unseen(struct adopted_list *list,
                        const struct attempt_spec *spec)
{
    struct adopted *adopted = add(list, spec->attempt);

    adopted->directory = mem_copy_string(spec->directory);
    adopted->grace_ms = spec->grace_ms;
}

int64_t adopted_pid(const struct adopted_list *list, int64_t attempt)
{
    const struct adopted *adopted = list->first;

    while (adopted != NULL && adopted->attempt != attempt)
        adopted = adopted->next;
    return adopted != NULL ? adopted->claim.pid : 0;
}

void adopted_add_lost(struct adopted_list *list, int64_t attempt)
{
    add(list, attempt);
}

bool adopted_cancel(struct adopted_list *list, int64_t attempt,
                    enum cancel_mode mode)
{
    struct adopted *adopted = list->first;
    int64_t now_ms = clock_monotonic_ms();

    while (adopted != NULL && adopted->attempt != attempt)
        adopted = adopted->next;
    if (adopted == NULL || adopted->directory == NULL)
        return adopted != NULL;
    if (adopted->told_ms == 0)
        adopted->told_ms = clock_wall_ms();
    if (mode == CANCEL_KILL) {
        adopted->kill_ms = now_ms;
    } else if (adopted->kill_ms == 0) {
        adopted->kill_ms = now_ms + adopted->grace_ms;
        terminate_session(adopted);
    }
    uv_timer_start(&list->timer, on_tick, 0, ADOPTED_POLL_MS);
    return true;
}
