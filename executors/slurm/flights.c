/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "executors/attempt/order_file.h"
#include "executors/attempt/pulse.h"
#include "executors/slurm/core.h"

/* -- Copies of specs ------------------------------------------------------*/

/* A request and what the cluster is asked for. */
struct kept_request {
    struct attempt_request request; /* first: it is released as one */
    struct slurm_ask ask;
};

/* Filled twice: the first time it only counts what there will be. */
struct arena {
    char *bytes; /* NULL: counts */
    size_t length;
    char **slots;
    size_t slot_count;
};

static char *keep(struct arena *arena, const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    char *kept = NULL;

    if (arena->bytes != NULL && text != NULL)
        kept = memcpy(arena->bytes + arena->length, text, size);
    arena->length += size;
    return kept;
}

/* NULL-ended. */
static char **keep_list(struct arena *arena, const char *const *list,
                        size_t count)
{
    char **kept =
        arena->bytes != NULL ? arena->slots + arena->slot_count : NULL;

    arena->slot_count += count + 1;
    for (size_t i = 0; i < count; i++) {
        char *text = keep(arena, list[i]);

        if (kept != NULL)
            kept[i] = text;
    }
    return kept;
}

static size_t count_strings(const char *const *list)
{
    size_t count = 0;

    while (list[count] != NULL)
        count++;
    return count;
}

static char **keep_strings(struct arena *arena, const char *const *list)
{
    return list != NULL ? keep_list(arena, list, count_strings(list)) : NULL;
}

static void keep_ask(struct arena *arena, struct slurm_ask *ask,
                     const struct slurm_ask *from)
{
    ask->partition = keep(arena, from->partition);
    ask->account = keep(arena, from->account);
    ask->qos = keep(arena, from->qos);
    ask->constraint = keep(arena, from->constraint);
    ask->reservation = keep(arena, from->reservation);
    ask->mode = keep(arena, from->mode);
    ask->gpu_type = keep(arena, from->gpu_type);
    ask->extra =
        (const char *const *)keep_list(arena, from->extra, from->extra_count);
    ask->extra_count = from->extra_count;
}

static void fill(struct kept_request *kept, struct arena *arena,
                 const struct attempt_spec *from)
{
    struct attempt_request *request = &kept->request;
    struct attempt_spec *spec = &request->spec;

    *spec = *from;
    spec->directory = keep(arena, from->directory);
    spec->work_directory = keep(arena, from->work_directory);
    spec->argv = keep_strings(arena, (const char *const *)from->argv);
    spec->envp = keep_strings(arena, (const char *const *)from->envp);
    spec->own = NULL; /* envp has nothing else */
    spec->step = keep(arena, from->step);
    spec->job = keep(arena, from->job);
    spec->avoid = (const char *const *)keep_strings(arena, from->avoid);
    spec->pools = request->pools;
    for (size_t i = 0; i < from->pool_count; i++) {
        request->pools[i] = from->pools[i];
        request->pools[i].directory = keep(arena, from->pools[i].directory);
    }
    if (from->slurm != NULL) {
        keep_ask(arena, &kept->ask, from->slurm);
        spec->slurm = &kept->ask;
    }
    spec->reserves = NULL;
    spec->reserve_count = 0;
}

static struct attempt_request *copy_spec(const struct attempt_spec *from)
{
    struct kept_request *kept = mem_zero(sizeof(*kept));
    struct attempt_spec spec = *from;
    struct arena arena = {NULL, 0, NULL, 0};
    char **own = NULL;

    if (from->envp != NULL)
        own = order_own_variables(from->envp, environ, from->own);
    spec.envp = own;
    fill(kept, &arena, &spec);
    arena.bytes = mem_alloc(arena.length + 1);
    arena.slots = mem_array(arena.slot_count + 1, sizeof(*arena.slots));
    arena.length = arena.slot_count = 0;
    fill(kept, &arena, &spec);
    kept->request.bytes = arena.bytes;
    kept->request.strings = arena.slots;
    free(own);
    return &kept->request;
}

struct slurm_flight *slurm_flight_create(const struct attempt_spec *spec)
{
    struct slurm_flight *flight = mem_zero(sizeof(*flight));
    struct attempt_request **link;

    flight->request = copy_spec(spec);
    flight->task = -1;
    link = &flight->request->next;
    for (size_t i = 0; i < spec->reserve_count; i++) {
        *link = copy_spec(&spec->reserves[i]);
        link = &(*link)->next;
    }
    return flight;
}

void slurm_flight_destroy(struct slurm_flight *flight)
{
    while (flight->request != NULL) {
        struct attempt_request *request = flight->request;

        flight->request = request->next;
        attempt_request_destroy(request);
    }
    free(flight);
}

/* -- All of them ----------------------------------------------------------*/

static int compare_attempts(const void *a, const void *b)
{
    const struct slurm_flight *x = a, *y = b;
    int64_t left = x->request->spec.attempt, right = y->request->spec.attempt;

    return (left > right) - (left < right);
}

void slurm_flights_add(struct slurm_flights *flights,
                       struct slurm_flight *flight)
{
    if (tsearch(flight, &flights->by_attempt, compare_attempts) == NULL)
        abort();
    LIST_INSERT_HEAD(&flights->all, flight, link);
    flights->count++;
}

void slurm_flights_remove(struct slurm_flights *flights,
                          struct slurm_flight *flight)
{
    tdelete(flight, &flights->by_attempt, compare_attempts);
    LIST_REMOVE(flight, link);
    flights->count--;
}

struct slurm_flight *slurm_flights_find(const struct slurm_flights *flights,
                                        int64_t attempt)
{
    struct attempt_request request = {.spec = {.attempt = attempt}};
    struct slurm_flight key = {.request = &request};
    void *found = tfind(&key, &flights->by_attempt, compare_attempts);

    return found != NULL ? *(struct slurm_flight **)found : NULL;
}

bool slurm_flights_have_queued(const struct slurm_flights *flights,
                               const struct slurm_mode *mode)
{
    const struct slurm_flight *flight;

    LIST_FOREACH(flight, &flights->all, link)
    {
        if (flight->mode == mode && !flight->has_started)
            return true;
    }
    return false;
}

static void destroy(void *flight)
{
    slurm_flight_destroy(flight);
}

void slurm_flights_clear(struct slurm_flights *flights)
{
    tdestroy(flights->by_attempt, destroy);
    *flights = (struct slurm_flights){NULL};
}

bool slurm_is_unasked(const struct slurm_flight *flight,
                      const struct attempt_exit *end)
{
    return end->cause == CAUSE_CANCELLED && !flight->is_cancelled &&
           !pulse_is_marked(flight->request->spec.directory, PULSE_ASKED);
}
