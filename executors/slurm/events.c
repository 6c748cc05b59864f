/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "executors/slurm/core.h"

/*
 * What the owner is to be told waits here until the loop turns, in the order
 * in which it happened: so no event comes from inside a call, and what the
 * owner does about one finds everything here in order.
 */

enum { HANDLE_SIZE = 48 };

enum news_kind {
    NEWS_QUEUED,
    NEWS_STARTED,
    NEWS_ENDED,
    NEWS_NODE,
    NEWS_NOTE,
    NEWS_BROKEN
};

struct slurm_event {
    struct slurm_event *next;
    enum news_kind kind;
    enum node_trouble trouble;
    int64_t attempt, pid;
    char node[EXECUTOR_NODE_MAX];
    char handle[HANDLE_SIZE];
    char *text;               /* of a node's trouble, a note, or an error */
    struct attempt_exit *end; /* of NEWS_ENDED */
};

static void destroy_item(struct slurm_event *item)
{
    free(item->text);
    free(item->end);
    free(item);
}

static struct slurm_event *add(struct slurm *slurm, enum news_kind kind)
{
    struct slurm_events *news = &slurm->news;
    struct slurm_event *item = mem_zero(sizeof(*item));

    item->kind = kind;
    if (news->first == NULL)
        news->last = &news->first;
    *news->last = item;
    news->last = &item->next;
    slurm_turn_soon(slurm);
    return item;
}

static void tell_item(struct slurm *slurm, const struct slurm_event *item)
{
    const struct executor_events *events = &slurm->events;
    const struct attempt_place place = {item->pid, item->node, item->handle};
    const struct node_report report = {item->node, item->trouble, item->attempt,
                                       item->text};
    struct err err;

    switch (item->kind) {
    case NEWS_QUEUED:
        if (events->queued != NULL)
            events->queued(events->user, item->attempt, item->handle);
        break;
    case NEWS_STARTED:
        events->started(events->user, item->attempt, &place);
        break;
    case NEWS_ENDED:
        events->ended(events->user, item->end);
        break;
    case NEWS_NODE:
        if (events->node != NULL)
            events->node(events->user, &report);
        break;
    case NEWS_NOTE:
        if (events->note != NULL)
            events->note(events->user, item->text);
        break;
    case NEWS_BROKEN:
        err_set(&err, ERR_FAILED, "%s", item->text);
        events->broken(events->user, &err);
        break;
    }
}

void slurm_events_tell(struct slurm *slurm)
{
    struct slurm_events *news = &slurm->news;

    while (news->first != NULL && !slurm->is_closing) {
        struct slurm_event *item = news->first;

        news->first = item->next;
        tell_item(slurm, item);
        destroy_item(item);
    }
    if (!news->has_room || slurm->is_closing)
        return;
    news->has_room = false;
    slurm->events.room(slurm->events.user);
}

void slurm_events_clear(struct slurm_events *news)
{
    while (news->first != NULL) {
        struct slurm_event *item = news->first;

        news->first = item->next;
        destroy_item(item);
    }
}

/* -- What modes call ------------------------------------------------------*/

static void set_place(struct slurm_event *item,
                      const struct slurm_flight *flight)
{
    item->attempt = flight->request->spec.attempt;
    snprintf(item->node, sizeof(item->node), "%s", flight->node);
    if (flight->array != 0)
        snprintf(item->handle, sizeof(item->handle), "%" PRId64 "_%d",
                 flight->array, flight->task);
    else if (flight->job != 0)
        snprintf(item->handle, sizeof(item->handle), "%" PRId64, flight->job);
}

void slurm_flight_queued(struct slurm *slurm, struct slurm_flight *flight)
{
    set_place(add(slurm, NEWS_QUEUED), flight);
}

void slurm_flight_started(struct slurm *slurm, struct slurm_flight *flight,
                          int64_t pid)
{
    struct slurm_event *item;

    if (flight->has_started)
        return;
    flight->has_started = true;
    slurm_not_held(slurm, flight->job);
    item = add(slurm, NEWS_STARTED);
    set_place(item, flight);
    item->pid = pid;
}

/* Of what ended by itself; the mean goes by the latest, as fast as they come
 * but over at least the last few. */
static void keep_pace(struct slurm_pace *pace, const struct attempt_exit *end)
{
    enum { WEIGHT_MAX = 32 };
    int64_t weight;

    if (end->cause != CAUSE_OK && end->cause != CAUSE_EXIT)
        return;
    pace->ended++;
    weight = pace->ended < WEIGHT_MAX ? pace->ended : WEIGHT_MAX;
    pace->mean_ms += (end->ended_ms - end->started_ms - pace->mean_ms) / weight;
}

void slurm_flight_ended(struct slurm *slurm, struct slurm_flight *flight,
                        const struct attempt_exit *end)
{
    struct slurm_event *item;

    slurm_not_held(slurm, flight->job);
    item = add(slurm, NEWS_ENDED);
    item->end = mem_alloc(sizeof(*end));
    *item->end = *end;
    item->end->attempt = flight->request->spec.attempt;
    if (end->node[0] == '\0')
        snprintf(item->end->node, sizeof(end->node), "%s", flight->node);
    keep_pace(&slurm->pace, end);
    slurm_flights_remove(&slurm->flights, flight);
    slurm_flight_destroy(flight);
    slurm_has_room(slurm);
}

/* It is to show again that it is healthy. */
static void forget_health(const struct slurm *slurm, const char *node)
{
    char *path = mem_printf("%s/healthy/%s", slurm->names.folder, node);

    unlink(path);
    free(path);
}

void slurm_report_node(struct slurm *slurm, const struct node_report *report)
{
    struct slurm_event *item;

    forget_health(slurm, report->node);
    if (!slurm_nodes_find(&slurm->nodes, report->node))
        return;
    item = add(slurm, NEWS_NODE);
    item->trouble = report->trouble;
    item->attempt = report->attempt;
    item->text = mem_copy_string(report->text);
    snprintf(item->node, sizeof(item->node), "%s", report->node);
}

void slurm_events_break(struct slurm *slurm, const struct err *err)
{
    add(slurm, NEWS_BROKEN)->text = mem_copy_string(err->text);
}

void slurm_note(struct slurm *slurm, const char *format, ...)
{
    char text[1024];
    va_list list;

    slurm->held.told.job = 0; /* it is the last note no more */
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    add(slurm, NEWS_NOTE)->text = mem_copy_string(text);
}

void slurm_not_held(struct slurm *slurm, int64_t job)
{
    if (job == 0 || job != slurm->held.told.job)
        return;
    slurm->held.told.job = 0;
    slurm_note(slurm, "%s", "");
}

void slurm_has_room(struct slurm *slurm)
{
    if (!slurm->was_refused)
        return;
    slurm->was_refused = false;
    slurm->news.has_room = true;
    slurm_turn_soon(slurm);
}
