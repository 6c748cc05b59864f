/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/run_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "dashboard/source.h"
#include "dashboard/tally.h"
#include "store/changes.h"
#include "store/store.h"

enum {
    /* How often it is looked which engines are there: of that there is no
     * event. */
    ENGINES_INTERVAL_MS = 1000,
    /* Who has heard nothing for that long asks for the whole list. */
    GONE_KEPT_MS = 60000
};

struct entry {
    int64_t run;
    int64_t seq;   /* of the run's last event */
    uint64_t seen; /* in which look at all runs */
    bool is_dirty; /* its row is to be made anew */
    struct tally *tally;
    /* What its state hangs on, while the record says that it is running. */
    char *name; /* NULL: the record does not */
    int64_t paused_ms;
    char *state;
    json_t *row;      /* NULL: not made yet */
    char *text;       /* the row's */
    uint64_t version; /* of the row */
};

struct gone_run {
    int64_t run;
    uint64_t version;
    int64_t time_ms; /* when it was missed */
};

struct run_list {
    const struct dashboard_source *source;
    uv_mutex_t lock;
    struct entry *entries; /* [count], by run */
    size_t count, capacity;
    struct gone_run *gone; /* [gone_count], by time */
    size_t gone_count, gone_capacity;
    uint64_t version;
    uint64_t looks; /* at all runs */
    int64_t last_event;
    int64_t engines_ms; /* when they were looked at */
};

/* One look. */
struct look {
    struct run_list *list;
    struct store *store;
    struct err *err;
};

struct run_list *run_list_create(const struct dashboard_source *source)
{
    struct run_list *list = mem_zero(sizeof(*list));

    list->source = source;
    if (uv_mutex_init(&list->lock) != 0)
        abort();
    return list;
}

static void clear_entry(struct entry *entry)
{
    tally_destroy(entry->tally);
    json_decref(entry->row);
    free(entry->text);
    free(entry->name);
    free(entry->state);
}

void run_list_destroy(struct run_list *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++)
        clear_entry(&list->entries[i]);
    free(list->entries);
    free(list->gone);
    uv_mutex_destroy(&list->lock);
    free(list);
}

/* ---- a row ---- */

static json_t *time_text(int64_t time_ms)
{
    char text[32];

    if (time_ms == 0)
        return json_null();
    clock_format_iso(time_ms, text, sizeof(text));
    return json_string(text);
}

/* Together all but "queued", which are some of the pending, and "infeasible",
 * which have succeeded, are "all". */
static json_t *counts_json(const struct run_row *run)
{
    const struct {
        const char *key;
        int64_t count;
    } counts[] = {
        {"all", run->trials},      {"succeeded", run->succeeded},
        {"failed", run->failed},   {"running", run->running},
        {"pending", run->pending}, {"paused", run->paused},
        {"stopped", run->stopped}, {"other", run->other - run->stopped},
        {"queued", run->queued},   {"infeasible", run->infeasible},
    };
    json_t *json = json_object();

    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        json_object_set_new(json, counts[i].key,
                            json_integer((json_int_t)counts[i].count));
    return json;
}

static json_t *best_json(const struct run_row *run)
{
    if (isnan(run->best) || run->objective_count != 1)
        return json_null();
    return json_pack("{s:I, s:f}", "trial", (json_int_t)run->best_trial,
                     "value", run->best);
}

/* They are a JSON list in the record. */
static json_t *tags_json(const char *tags)
{
    json_t *json = json_parse(tags, strlen(tags), NULL);

    return json != NULL ? json : json_array();
}

/* NULL on error. */
static json_t *objectives_json(struct look *look, int64_t run)
{
    char **goals = NULL;
    char **metrics = store_run_objectives(look->store, run, &goals, look->err);
    json_t *json = metrics == NULL ? NULL : json_array();

    for (size_t i = 0; json != NULL && metrics[i] != NULL; i++)
        json_array_append_new(json, json_pack("{s:o, s:s}", "metric",
                                              json_from_text(metrics[i]),
                                              "goal", goals[i]));
    store_free_names(metrics);
    store_free_names(goals);
    return json;
}

static json_t *row_json(const struct run_row *run, const char *state,
                        json_t *objectives)
{
    json_t *json = json_object();

    json_object_set_new(json, "id", json_integer((json_int_t)run->id));
    json_object_set_new(json, "name", json_from_text(run->name));
    json_object_set_new(json, "kind", json_from_text(run->kind));
    json_object_set_new(json, "state", json_string(state));
    json_object_set_new(json, "reason", json_text_unless_empty(run->reason));
    json_object_set_new(json, "created", time_text(run->created_ms));
    json_object_set_new(json, "started", time_text(run->started_ms));
    json_object_set_new(json, "ended", time_text(run->ended_ms));
    json_object_set_new(
        json, "duration_ms",
        run->started_ms == 0 || run->ended_ms == 0
            ? json_null()
            : json_integer((json_int_t)(run->ended_ms - run->started_ms)));
    json_object_set_new(json, "objectives", objectives);
    json_object_set_new(json, "trials", counts_json(run));
    json_object_set_new(json, "best", best_json(run));
    json_object_set_new(json, "parent", json_int_unless(run->parent_id, 0));
    json_object_set_new(json, "tags", tags_json(run->tags));
    json_object_set_new(json, "note", json_text_unless_empty(run->comment));
    json_object_set_new(json, "message", json_text_unless_empty(run->note));
    return json;
}

/* ---- keeping up to date ---- */

struct reading {
    struct look *look;
    struct entry *entry;
};

static void keep_row(struct run_list *list, struct entry *entry, json_t *row)
{
    struct buf text = BUF_INIT;

    json_print(row, &text);
    if (entry->text != NULL && strcmp(entry->text, buf_text(&text)) == 0) {
        json_decref(row);
        buf_clear(&text);
        return;
    }
    json_decref(entry->row);
    free(entry->text);
    entry->row = row;
    entry->text = buf_take(&text);
    entry->version = ++list->version;
}

static const char *find_state(const struct look *look,
                              const struct run_row *run)
{
    const struct dashboard_source *source = look->list->source;

    return source->run_state(source->user, look->store, run);
}

static int take_run(void *user, const struct run_row *row)
{
    struct reading *reading = user;
    struct entry *entry = reading->entry;
    json_t *objectives = objectives_json(reading->look, row->id);
    struct run_row run = *row;

    if (objectives == NULL)
        return -1;
    tally_fill(entry->tally, &run);
    free(entry->name);
    free(entry->state);
    entry->name =
        strcmp(run.state, "running") == 0 ? mem_copy_string(run.name) : NULL;
    entry->paused_ms = run.paused_ms;
    entry->state = mem_copy_string(find_state(reading->look, &run));
    keep_row(reading->look->list, entry,
             row_json(&run, entry->state, objectives));
    return 0;
}

static int refresh(struct look *look, struct entry *entry)
{
    struct reading reading = {look, entry};

    if (tally_update(entry->tally, look->store, entry->run, entry->seq,
                     look->err) < 0 ||
        store_get_run_uncounted(look->store, entry->run, take_run, &reading,
                                look->err) != 0)
        return -1;
    entry->is_dirty = false;
    return 0;
}

/* The run's, made where there is none. */
static struct entry *find_entry(struct run_list *list, int64_t run)
{
    size_t low = 0, high = list->count;
    struct entry *entry;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->entries[middle].run < run)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < list->count && list->entries[low].run == run)
        return &list->entries[low];
    list->entries = mem_grow(list->entries, list->count, &list->capacity,
                             sizeof(*list->entries));
    entry = &list->entries[low];
    memmove(entry + 1, entry, (list->count - low) * sizeof(*entry));
    list->count++;
    *entry = (struct entry){.run = run, .tally = tally_create()};
    return entry;
}

static int take_change(void *user, int64_t run, int64_t seq)
{
    struct look *look = user;
    struct entry *entry = find_entry(look->list, run);

    entry->is_dirty = entry->is_dirty || entry->seq != seq;
    entry->seq = seq;
    entry->seen = look->list->looks;
    return 0;
}

static void forget_gone(struct run_list *list, int64_t now_ms)
{
    size_t old = 0;

    while (old < list->gone_count &&
           now_ms - list->gone[old].time_ms > GONE_KEPT_MS)
        old++;
    if (old == 0)
        return;
    list->gone_count -= old;
    memmove(list->gone, list->gone + old,
            list->gone_count * sizeof(*list->gone));
}

static void add_gone(struct run_list *list, int64_t run, int64_t now_ms)
{
    list->gone = mem_grow(list->gone, list->gone_count, &list->gone_capacity,
                          sizeof(*list->gone));
    list->gone[list->gone_count++] =
        (struct gone_run){run, ++list->version, now_ms};
}

static void drop_unseen(struct run_list *list)
{
    int64_t now_ms = clock_monotonic_ms();
    size_t kept = 0;

    forget_gone(list, now_ms);
    for (size_t i = 0; i < list->count; i++) {
        struct entry *entry = &list->entries[i];

        if (entry->seen == list->looks) {
            list->entries[kept++] = *entry;
            continue;
        }
        add_gone(list, entry->run, now_ms);
        clear_entry(entry);
    }
    list->count = kept;
}

static int look_at_all(struct look *look)
{
    look->list->looks++;
    if (store_each_changed_run(look->store, 0, take_change, look, look->err) !=
        0)
        return -1;
    drop_unseen(look->list);
    return 0;
}

/* Numbers of events may come again after a run was removed: then it is seen by
 * what runs there are. */
static int look_at_changed(struct look *look)
{
    struct run_list *list = look->list;
    struct store_mark mark;

    if (store_read_mark(look->store, &mark, look->err) < 0)
        return -1;
    if (mark.last_event > list->last_event && list->last_event > 0 &&
        store_each_changed_run(look->store, list->last_event, take_change, look,
                               look->err) != 0)
        return -1;
    if ((mark.last_event < list->last_event || list->last_event == 0 ||
         mark.runs != (int64_t)list->count ||
         (mark.runs > 0 &&
          list->entries[list->count - 1].run != mark.last_run)) &&
        look_at_all(look) < 0)
        return -1;
    list->last_event = mark.last_event;
    return 0;
}

/* An engine that is killed says nothing. */
static void look_at_engines(struct look *look)
{
    struct run_list *list = look->list;
    int64_t now_ms = clock_monotonic_ms();

    if (now_ms - list->engines_ms < ENGINES_INTERVAL_MS)
        return;
    list->engines_ms = now_ms;
    for (size_t i = 0; i < list->count; i++) {
        struct entry *entry = &list->entries[i];
        struct run_row run = {.id = entry->run,
                              .name = entry->name,
                              .state = "running",
                              .paused_ms = entry->paused_ms};

        if (entry->name != NULL &&
            strcmp(find_state(look, &run), entry->state) != 0)
            entry->is_dirty = true;
    }
}

static int refresh_dirty(struct look *look)
{
    struct run_list *list = look->list;

    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].is_dirty && refresh(look, &list->entries[i]) < 0)
            return -1;
    }
    return 0;
}

/* Under the lock, so that nobody looks with what they read before another one
 * did. */
int run_list_update(struct run_list *list, struct store *store, struct err *err)
{
    struct look look = {list, store, err};
    bool began = false;
    int result;

    uv_mutex_lock(&list->lock);
    result = store_read_begin(store, &began, err);
    if (result == 0)
        result = look_at_changed(&look);
    if (result == 0) {
        look_at_engines(&look);
        result = refresh_dirty(&look);
    }
    store_read_end(store, began);
    uv_mutex_unlock(&list->lock);
    return result;
}

json_t *run_list_rows(struct run_list *list, uint64_t *version, json_t **gone)
{
    json_t *rows = json_array();

    if (gone != NULL)
        *gone = json_array();
    uv_mutex_lock(&list->lock);
    for (size_t i = 0; i < list->count; i++) {
        const struct entry *entry = &list->entries[i];

        if (entry->row != NULL && entry->version > *version)
            json_array_append(rows, entry->row);
    }
    for (size_t i = 0; gone != NULL && i < list->gone_count; i++) {
        if (list->gone[i].version > *version)
            json_array_append_new(*gone,
                                  json_integer((json_int_t)list->gone[i].run));
    }
    *version = list->version;
    uv_mutex_unlock(&list->lock);
    return rows;
}
