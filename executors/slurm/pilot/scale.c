/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many pilots there are: submission when attempts wait (those that are not
 * needed: spare.c).
 *
 * Each turn starts from nothing and goes through the waiting attempts in order.
 * An attempt is planned on a pilot that is still in the queue and has room.
 * Only an attempt without such a pilot submits a new one. A pilot is never
 * submitted for more units than may run in parallel. The limits on pilots keep
 * a user's other jobs from starving.
 *
 * A failure delays the next submission, twice as long each time. A repetition
 * is pointless if Slurm refuses, or if PILOT_UNHEARD_MAX pilots end before
 * their agents report. The waiting attempts of that kind then fail. Read
 * executors/slurm/pilot/pilot_impl.h first.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/fs.h"
#include "base/mem.h"
#include "executors/slurm/pilot/pilot_impl.h"
#include "executors/slurm/preview.h"
#include "executors/slurm/script.h"

enum { AGAIN_MIN_MS = 1000, AGAIN_MAX_MS = 60000 };

/* -- Submission -----------------------------------------------------------*/

static void write_job(const struct pilot *pilot)
{
    struct err err;

    if (slurm_job_write(pilot->folder, pilot->job, &err) != 0)
        slurm_note(pilot->pilots->slurm, "%s", err.text);
}

static void on_submitted(void *user, const struct slurm_reply *reply,
                         int64_t id)
{
    struct pilot *pilot = user;
    struct pilots *pilots = pilot->pilots;

    pilot->is_submitting = false;
    pilot->told_ms = clock_monotonic_ms();
    if (reply->answer == SLURM_DONE) {
        pilot->job = id;
        write_job(pilot);
        if (pilot->phase == PILOT_OVER)
            pilot_withdraw(pilot);
    } else if (reply->answer != SLURM_SILENT) {
        pilot->is_gone = true;
        pilots_note_failure(pilots, pilot,
                            reply->answer == SLURM_REFUSED ? PILOT_REFUSED
                                                           : PILOT_PUT_OFF,
                            reply->text);
        pilot_lose(pilot, CAUSE_LAUNCH_ERROR, false, reply->text);
    }
    slurm_look_soon(pilots->slurm);
    pilots_turn_soon(pilots);
}

static void add_number(struct buf *words, const char *option, int64_t number)
{
    if (number <= 0)
        return;
    buf_add(words, option, strlen(option) + 1);
    buf_printf(words, "%" PRId64, number);
    buf_add_char(words, '\0');
}

static void add_text(struct buf *words, const char *option, const char *text)
{
    buf_add(words, option, strlen(option) + 1);
    buf_add(words, text, strlen(text) + 1);
}

static char *make_script(const struct pilot *pilot,
                         const struct pilot_plan *plan, struct err *err)
{
    enum { WORDS_MAX = 32 };
    const struct slurm *slurm = pilot->pilots->slurm;
    const struct slurm_options *options = slurm_options(slurm);
    const char *list[WORDS_MAX] = {NULL};
    struct buf words = BUF_INIT;
    size_t count = 0, at = 0;
    char *script;

    add_text(&words, "--pilot", pilot->folder);
    add_number(&words, "--cpus", plan->size.cpus);
    add_number(&words, "--gpus", plan->size.gpus);
    add_number(&words, "--memory", plan->size.memory_bytes);
    add_number(&words, "--left", plan->time_ms);
    add_number(&words, "--idle",
               options->pilot_idle_ms > 0 ? options->pilot_idle_ms
                                          : PILOT_IDLE_MS);
    add_text(&words, "--engine", slurm_folder(slurm));
    while (at < words.length && count + 1 < WORDS_MAX) {
        list[count++] = words.data + at;
        at += strlen(words.data + at) + 1;
    }
    script = slurm_script(options, slurm_folder(slurm), list, err);
    buf_clear(&words);
    return script;
}

static void submit(struct pilot *pilot, const struct attempt_spec *spec,
                   const struct pilot_plan *plan, const char *script)
{
    struct slurm *slurm = pilot->pilots->slurm;
    const struct slurm_options *options = slurm_options(slurm);
    char *log = fs_join(pilot->folder, "log");
    const char **avoid = slurm_avoided_by(slurm, spec);
    struct slurm_submission submission = {
        .name = pilot->name,
        .directory = pilot->folder,
        .log = log,
        .script = script,
        .ask = spec->slurm,
        .fallback = &options->ask,
        .cpus = plan->size.cpus,
        .gpus = plan->size.gpus,
        .memory_bytes = plan->size.memory_bytes,
        .time_ms = plan->says_time ? plan->time_ms : 0,
        .avoid = avoid,
        .without_environment = options->without_environment};
    struct slurm_transport *transport = slurm_transport(slurm);

    pilot->is_submitting = true;
    slurm_label(slurm, NULL, false, &submission);
    slurm_keep_submission(pilot->folder, &submission);
    transport->type->submit(transport, &submission, on_submitted, pilot);
    free(avoid);
    free(log);
}

static int write_files(const struct pilot *pilot, const char *script,
                       struct err *err)
{
    if (slurm_file_write(pilot->folder, "script", script, err) != 0)
        return -1;
    return slurm_file_write(pilot->folder, "kind", pilot->kind, err);
}

/* Returns whether there is a new pilot for the attempt. */
static bool begin_one(struct pilots *pilots, const struct attempt_spec *spec,
                      const struct pilot_plan *plan, const char *kind)
{
    char name[SLURM_NAME_SIZE], *script = NULL;
    struct err err = {.text = ""};
    struct pilot *pilot;

    slurm_new_name(pilots->slurm, 'p', name);
    pilot = pilot_create(pilots, name, &err);
    if (pilot != NULL) {
        free(pilot->kind);
        pilot->kind = mem_copy_string(kind);
        pilot->size = plan->size;
        pilot->whole_ms = plan->time_ms;
        script = make_script(pilot, plan, &err);
    }
    if (script != NULL && write_files(pilot, script, &err) == 0) {
        submit(pilot, spec, plan, script);
    } else {
        pilots_note_failure(pilots, pilot, PILOT_PUT_OFF, err.text);
        if (pilot != NULL)
            pilot_destroy(pilot);
        pilot = NULL;
    }
    free(script);
    return pilot != NULL;
}

/* -- How many -------------------------------------------------------------*/

/* A pilot in the queue that has room for it besides what it was planned for.
 * Adds to *units what those there are can run of its like at once. */
static bool is_planned(struct pilots *pilots, const struct slurm_flight *flight,
                       const char *kind, int64_t now_ms, int *units)
{
    struct pilot_room cost = pilot_room_of(&flight->request->spec);

    *units = 0;
    for (struct pilot *p = pilots->first; p != NULL; p = p->next) {
        if (p->phase > PILOT_READY || !pilot_suits(p, flight, kind, now_ms))
            continue;
        *units += pilot_room_units(&p->size, &cost);
        if (p->phase != PILOT_PENDING ||
            pilot_room_lacks(&p->size, &p->planned, &cost, 1000) != 0)
            continue;
        pilot_room_add(&p->planned, &cost);
        return true;
    }
    return false;
}

static bool may_submit(const struct pilots *pilots)
{
    int most = slurm_options(pilots->slurm)->pilot_max;
    int count = 0, pending = 0;

    for (const struct pilot *p = pilots->first; p != NULL; p = p->next) {
        count += p->phase != PILOT_OVER;
        pending += p->phase == PILOT_PENDING;
    }
    return count < (most > 0 ? most : PILOT_MAX) && pending < PILOT_PENDING_MAX;
}

static const struct slurm_partition *partition_of(
    const struct pilots *pilots, const struct attempt_spec *spec)
{
    const struct slurm_site *site = slurm_site(pilots->slurm);
    const struct slurm_ask ask =
        slurm_asked_by(spec->slurm, &slurm_options(pilots->slurm)->ask);

    return site != NULL ? slurm_site_partition(site, ask.partition) : NULL;
}

/* The partition is the first line of a kind, empty where none is asked for. */
bool pilot_is_for_default(const struct pilot *pilot)
{
    return slurm_options(pilot->pilots->slurm)->ask.partition == NULL &&
           (pilot->kind[0] == '\0' || pilot->kind[0] == '\n');
}

/* Whether the default partition is unknown, and a pilot on its way to it will
 * show in the next listing which one it is: the others wait for that, as they
 * would be as small as one attempt. */
static bool waits_for_default(const struct pilots *pilots,
                              const struct attempt_spec *spec)
{
    const struct slurm_options *options = slurm_options(pilots->slurm);
    const struct slurm_ask ask = slurm_asked_by(spec->slurm, &options->ask);

    if (ask.partition != NULL || options->pilot_cpus > 0 ||
        slurm_site(pilots->slurm) == NULL || partition_of(pilots, spec) != NULL)
        return false;
    for (const struct pilot *p = pilots->first; p != NULL; p = p->next) {
        if (p->phase <= PILOT_READY && !p->was_seen && pilot_is_for_default(p))
            return true;
    }
    return false;
}

/* How many attempts like this one follow each other where a pilot has room for
 * `units` at once; 0: not known. */
static int64_t count_rounds(const struct pilots *pilots,
                            const struct attempt_spec *spec, const char *kind,
                            int units)
{
    int most = slurm_options(pilots->slurm)->pilot_max;
    int64_t at_once = (int64_t)units * (most > 0 ? most : PILOT_MAX);
    int64_t count = 0, more = spec->more;

    for (const struct slurm_flight *f = pilots->waiting.first; f != NULL;
         f = f->sibling) {
        if (!pilot_is_of_kind(f, kind))
            continue;
        count++;
        more = f->request->spec.more;
    }
    if (more < 0)
        return 0;
    if (at_once > slurm_parallel(pilots->slurm))
        at_once = slurm_parallel(pilots->slurm);
    if (at_once < 1)
        at_once = 1;
    count = count_add(count, more);
    return count > at_once ? count / at_once + (count % at_once != 0) : 1;
}

static struct pilot_wish wish_of(const struct pilots *pilots,
                                 const struct attempt_spec *spec, int units)
{
    return (struct pilot_wish){
        .spec = spec,
        .units = units,
        .limit = slurm_time_limit(slurm_site(pilots->slurm),
                                  slurm_options(pilots->slurm), spec)};
}

int pilots_check(const struct pilots *pilots, const struct attempt_spec *spec,
                 struct err *err)
{
    const struct pilot_wish wish = wish_of(pilots, spec, 1);
    struct pilot_plan plan;

    return pilot_plan(&plan, &wish, slurm_options(pilots->slurm),
                      partition_of(pilots, spec), err);
}

/* A pilot for attempts of this kind, of which units more may run at once. */
static int plan_pilot(const struct pilots *pilots,
                      const struct attempt_spec *spec, const char *kind,
                      int units, struct pilot_plan *plan, struct err *err)
{
    const struct slurm_options *options = slurm_options(pilots->slurm);
    const struct slurm_partition *partition = partition_of(pilots, spec);
    const struct pilot_room cost = pilot_room_of(spec);
    struct pilot_wish wish = wish_of(pilots, spec, units);

    if (pilot_plan(plan, &wish, options, partition, err) != 0)
        return -1;
    wish.rounds =
        count_rounds(pilots, spec, kind, pilot_room_units(&plan->size, &cost));
    return pilot_plan(plan, &wish, options, partition, err);
}

/* Of what smtune itself chose a pilot for, when it did not know the cluster
 * yet, another start makes a job. */
static void give_up(struct pilots *pilots, struct slurm_flight *flight,
                    const struct err *err)
{
    const struct attempt_spec *spec = &flight->request->spec;

    if (slurm_is_auto(spec, slurm_options(pilots->slurm))) {
        pilot_list_remove(&pilots->waiting, flight);
        if (slurm_flight_displaced(pilots->slurm, flight, err->text))
            return;
        pilot_list_add(&pilots->waiting, flight);
    }
    pilots_refuse(pilots, flight, CAUSE_LAUNCH_ERROR, err->text);
}

/* Returns whether there is any sense in looking at those behind it. */
static bool scale_for(struct pilots *pilots, struct slurm_flight *flight,
                      int64_t now_ms)
{
    const struct attempt_spec *spec = &flight->request->spec;
    int parallel = slurm_parallel(pilots->slurm), units;
    struct pilot_plan plan;
    struct buf kind = BUF_INIT;
    struct err err;
    bool goes_on = true;

    pilot_kind_of(spec->slurm, &kind);
    if (is_planned(pilots, flight, buf_text(&kind), now_ms, &units) ||
        units >= parallel || waits_for_default(pilots, spec))
        goes_on = true;
    else if (!may_submit(pilots))
        goes_on = false;
    else if (plan_pilot(pilots, spec, buf_text(&kind), parallel - units, &plan,
                        &err) != 0)
        give_up(pilots, flight, &err);
    else
        goes_on = begin_one(pilots, spec, &plan, buf_text(&kind));
    buf_clear(&kind);
    return goes_on;
}

static void submit_wanting(struct pilots *pilots, int64_t now_ms)
{
    struct slurm_flight *flight = pilots->waiting.first, *next;
    bool goes_on = true;

    for (struct pilot *p = pilots->first; p != NULL; p = p->next)
        p->planned = (struct pilot_room){.cpus = 0};
    for (; flight != NULL && goes_on; flight = next) {
        next = flight->sibling;
        goes_on = scale_for(pilots, flight, now_ms);
    }
}

void pilots_scale(struct pilots *pilots, int64_t now_ms)
{
    const struct slurm_options *options = slurm_options(pilots->slurm);

    if (pilots->waiting.count == 0 || now_ms < pilots->again_ms ||
        (slurm_site(pilots->slurm) == NULL && options->pilot_cpus == 0))
        return;
    submit_wanting(pilots, now_ms);
}

/* -- What came to nothing -------------------------------------------------*/

static void refuse_kind(struct pilots *pilots, const char *kind,
                        const char *text)
{
    struct slurm_flight *flight = pilots->waiting.first, *next;

    for (; flight != NULL; flight = next) {
        next = flight->sibling;
        if (pilot_is_of_kind(flight, kind))
            pilots_refuse(pilots, flight, CAUSE_LAUNCH_ERROR, text);
    }
}

static bool suits_another(const struct pilots *pilots,
                          const struct pilot *pilot,
                          const struct slurm_flight *flight)
{
    int64_t now_ms = clock_monotonic_ms();

    for (const struct pilot *p = pilots->first; p != NULL; p = p->next) {
        if (p != pilot && p->phase <= PILOT_READY &&
            pilot_suits(p, flight, pilot->kind, now_ms))
            return true;
    }
    return false;
}

/* As many as it had room for. */
void pilots_note_cancelled(struct pilots *pilots, const struct pilot *pilot,
                           const char *text)
{
    struct slurm_flight *flight = pilots->waiting.first, *next;
    int left = pilot->size.cpus;

    slurm_note(pilots->slurm, "a pilot was cancelled: %s", text);
    for (; flight != NULL && left > 0; flight = next) {
        next = flight->sibling;
        if (!pilot_is_of_kind(flight, pilot->kind) ||
            suits_another(pilots, pilot, flight))
            continue;
        left -= pilot_room_of(&flight->request->spec).cpus;
        pilots_refuse(pilots, flight, CAUSE_CANCELLED, text);
    }
}

void pilots_note_freed(struct pilots *pilots)
{
    int64_t soon_ms = clock_monotonic_ms() + AGAIN_MIN_MS;

    pilots->hold_ms = 0;
    if (pilots->again_ms > soon_ms)
        pilots->again_ms = soon_ms;
}

void pilots_note_failure(struct pilots *pilots, const struct pilot *pilot,
                         enum pilot_failure failure, const char *text)
{
    pilots->unheard += failure == PILOT_UNHEARD;
    pilots->taken += failure == PILOT_TAKEN;
    pilots->again_ms =
        clock_monotonic_ms() +
        backoff_next_ms(&pilots->hold_ms, AGAIN_MIN_MS, AGAIN_MAX_MS);
    if (strcmp(pilots->text, text) != 0)
        slurm_note(pilots->slurm, "a pilot failed: %s", text);
    snprintf(pilots->text, sizeof(pilots->text), "%s", text);
    if (failure != PILOT_REFUSED && pilots->unheard < PILOT_UNHEARD_MAX &&
        pilots->taken < PILOT_TAKEN_MAX)
        return;
    pilots->unheard = pilots->taken = 0;
    if (pilot != NULL)
        refuse_kind(pilots, pilot->kind, text);
}
