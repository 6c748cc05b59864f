/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "executors/local/adopted.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "executors/local/adopted_impl.h"

/*
 * An adopted attempt has ended when its `exit` is there. While its shim lives,
 * that will come, and with it the end of all its processes. Without a shim it
 * goes on while its command lives, and its time limit is kept here. When the
 * command is gone, what it left is killed; when nothing is found any more, the
 * claim's lock is free and its control group is empty, the attempt is lost.
 * What cannot be seen for now, because there is no descriptor left for example,
 * says nothing, and is looked at again.
 */

enum { SLICE_MIN = 100, SLICES_MAX = 10 };

struct adopted_list {
    uv_timer_t timer;
    struct adopted *first, *last; /* the first is looked at next */
    size_t count;
    struct adopted_census census;
    struct claim here; /* boot_id and host */
    void (*ended)(void *user, const struct attempt_exit *end);
    void *user;
    void (*closed)(void *user);
    void *closed_user;
};

/* -- Watching -------------------------------------------------------------*/

static bool is_of_this_boot(const struct adopted_list *list,
                            const struct adopted *adopted)
{
    return adopted->claim.boot_id[0] == '\0' || list->here.boot_id[0] == '\0' ||
           strcmp(list->here.boot_id, adopted->claim.boot_id) == 0;
}

/* The first cause counts. */
static void tell(struct adopted *adopted, enum attempt_cause cause)
{
    if (adopted->told != CAUSE_OK)
        return;
    adopted->told = cause;
    adopted->told_ms = clock_wall_ms();
}

static void terminate(struct adopted *adopted)
{
    if (adopted->kill_ms != 0)
        return;
    adopted->kill_ms = clock_monotonic_ms() + adopted->grace_ms;
    adopted_terminate(adopted);
}

/* Start times are in ticks of the clock that timeouts go by. */
static void check_time(struct adopted_list *list, struct adopted *adopted)
{
    int64_t started_ms =
        (int64_t)adopted->claim.pid_start * 1000 / sysconf(_SC_CLK_TCK);
    int64_t left_ms = started_ms + adopted->time_ms - clock_monotonic_ms();

    if (adopted->time_ms <= 0 || adopted->told != CAUSE_OK)
        return;
    if (left_ms <= 0) {
        tell(adopted, CAUSE_TIMEOUT);
        terminate(adopted);
    } else if (adopted->warn_signal != 0 &&
               left_ms <= adopted->warn_before_ms) {
        adopted_warn(&list->census, list->first, adopted);
        adopted->warn_signal = 0;
    }
}

/* Whether `exit` is still to be expected, or something lives. */
static bool goes_on(struct adopted_list *list, struct adopted *adopted)
{
    struct claim *claim = &adopted->claim;
    int state = claim_judge(adopted->directory, adopted->attempt, claim, NULL);
    bool any;

    if (state < 0)
        return true;
    if (!is_of_this_boot(list, adopted))
        return false;
    if (process_lives(claim->shim_pid, claim->shim_start))
        return true;
    if (process_lives(claim->pid, claim->pid_start)) {
        check_time(list, adopted);
        return true;
    }
    if (claim->pid == 0)
        return state == CLAIM_HELD;
    any = adopted_kill(&list->census, list->first, adopted);
    return !adopted_remove_group(adopted) || any || state == CLAIM_HELD;
}

/* What nobody watched ended at some time after the last that is known of it. */
static int64_t end_of_lost_ms(const struct adopted *adopted)
{
    int64_t now_ms = clock_wall_ms(), last_ms;

    if (adopted->directory == NULL || adopted->was_alive ||
        adopted->told != CAUSE_OK)
        return now_ms;
    last_ms = attempt_last_written_ms(adopted->directory);
    if (last_ms < adopted->claim.time_ms)
        last_ms = adopted->claim.time_ms;
    return last_ms > 0 && last_ms < now_ms ? last_ms : now_ms;
}

/* What is known is said first. */
static void describe_lost(const struct adopted_list *list,
                          const struct adopted *adopted, char *text,
                          size_t size)
{
    char limit[32], told[64] = "";

    if (adopted->told == CAUSE_TIMEOUT) {
        units_format_duration(adopted->time_ms, limit, sizeof(limit));
        snprintf(told, sizeof(told), "time limit of %s reached; ", limit);
    } else if (adopted->told != CAUSE_OK) {
        snprintf(told, sizeof(told), "stopped; ");
    }
    snprintf(text, size, "%sits end was not recorded: %s", told,
             is_of_this_boot(list, adopted)
                 ? "its smtune-shim crashed or was killed"
                 : "the machine was restarted");
}

static void tell_lost(const struct adopted_list *list,
                      const struct adopted *adopted, struct attempt_exit *end)
{
    *end = (struct attempt_exit){.attempt = adopted->attempt,
                                 .cause = CAUSE_LOST,
                                 .exit_code = -1,
                                 .started_ms = adopted->claim.time_ms,
                                 .ended_ms = end_of_lost_ms(adopted)};
    describe_lost(list, adopted, end->text, sizeof(end->text));
}

static bool has_ended(struct adopted_list *list, struct adopted *adopted,
                      struct attempt_exit *end)
{
    int found = 0;

    if (adopted->directory != NULL) {
        found = exit_read(adopted->directory, adopted->attempt, end);
        if (found == 0 && goes_on(list, adopted)) {
            adopted->was_alive = true;
            return false;
        }
        if (found == 0)
            found = exit_read(adopted->directory, adopted->attempt, end);
    }
    if (found < 0)
        return false;
    if (found == 0)
        tell_lost(list, adopted, end);
    if (adopted->told != CAUSE_OK && end->ended_ms >= adopted->told_ms)
        end->cause = adopted->told;
    return true;
}

static void adopted_destroy(struct adopted *adopted)
{
    free(adopted->directory);
    free(adopted);
}

static void append(struct adopted_list *list, struct adopted *adopted)
{
    adopted->next = NULL;
    if (list->last != NULL)
        list->last->next = adopted;
    else
        list->first = adopted;
    list->last = adopted;
    list->count++;
}

static struct adopted *take_first(struct adopted_list *list)
{
    struct adopted *first = list->first;

    list->first = first->next;
    if (list->last == first)
        list->last = NULL;
    list->count--;
    return first;
}

/* What is told may lead to any call, so nothing is held on to meanwhile. */
static void look_at_first(struct adopted_list *list)
{
    struct attempt_exit end;

    if (has_ended(list, list->first, &end)) {
        adopted_destroy(take_first(list));
        list->ended(list->user, &end);
    } else {
        append(list, take_first(list));
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct adopted_list *list = timer->data;
    int64_t now_ms = clock_monotonic_ms();
    size_t slices = 1 + list->count / SLICE_MIN;

    if (slices > SLICES_MAX)
        slices = SLICES_MAX;
    uv_timer_set_repeat(timer, ADOPTED_POLL_MS / slices);
    list->census.is_fresh = false;
    if (list->here.boot_id[0] == '\0')
        claim_identify(&list->here);
    for (struct adopted *a = list->first; a != NULL; a = a->next) {
        if (a->kill_ms != 0 && a->kill_ms <= now_ms)
            adopted_kill(&list->census, list->first, a);
    }
    for (size_t left = (list->count + slices - 1) / slices;
         left > 0 && list->first != NULL; left--)
        look_at_first(list);
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
    claim_identify(&list->here);
    list->ended = ended;
    list->user = user;
    return list;
}

static void forget_all(struct adopted_list *list)
{
    while (list->first != NULL)
        adopted_destroy(take_first(list));
}

static void on_closed(uv_handle_t *handle)
{
    struct adopted_list *list = handle->data;

    if (list->closed != NULL)
        list->closed(list->closed_user);
    adopted_census_clear(&list->census);
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
    append(list, adopted);
    list->census.is_fresh = false;
    uv_timer_start(&list->timer, on_tick, 0, ADOPTED_POLL_MS);
    return adopted;
}

static void fill(struct adopted *adopted, const struct attempt_spec *spec)
{
    adopted->directory = mem_copy_string(spec->directory);
    adopted->grace_ms = spec->grace_ms;
    adopted->time_ms = spec->time_ms;
    adopted->warn_signal = spec->warn_signal;
    adopted->warn_before_ms = spec->warn_before_ms;
}

int adopted_add(struct adopted_list *list, const struct attempt_spec *spec,
                struct err *err)
{
    struct attempt_exit end;
    struct adopted *adopted;
    struct claim claim = {.pid = 0};

    int found = exit_read(spec->directory, spec->attempt, &end);

    if (found < 0)
        return err_set_errno(err, ERR_FAILED, errno,
                             "cannot read the exit file of attempt %" PRId64,
                             spec->attempt);
    if (found == 0) {
        int state = claim_judge(spec->directory, spec->attempt, &claim, err);

        if (state < 0)
            return -1;
        if (state == CLAIM_VOID)
            return 1;
        if (claim.host[0] != '\0' && strcmp(claim.host, list->here.host) != 0)
            return err_set(err, ERR_FAILED,
                           "attempt %" PRId64
                           " runs on host '%s': resume the run there",
                           spec->attempt, claim.host);
    }
    adopted = add(list, spec->attempt);
    fill(adopted, spec);
    adopted->claim = claim;
    return 0;
}

void adopted_add_unseen(struct adopted_list *list,
                        const struct attempt_spec *spec)
{
    fill(add(list, spec->attempt), spec);
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

    while (adopted != NULL && adopted->attempt != attempt)
        adopted = adopted->next;
    if (adopted == NULL || adopted->directory == NULL)
        return adopted != NULL;
    tell(adopted, CAUSE_CANCELLED);
    if (mode == CANCEL_KILL)
        adopted->kill_ms = clock_monotonic_ms();
    else
        terminate(adopted);
    uv_timer_start(&list->timer, on_tick, 0, ADOPTED_POLL_MS);
    return true;
}
