/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Temporary outputs of jobs: that they were removed, and who else has them. */
#include "store/store.h"

#include "base/buf.h"
#include "base/value.h"
#include "store/event.h"
#include "store/rows.h"
#include "store/store_impl.h"

int store_set_temps_removed(struct store *store,
                            const struct temps_removed *temps, struct err *err)
{
    struct buf *detail;

    if (store_change(store, SET_TEMPS_REMOVED,
                     VALUES(value_int(temps->job), value_int(temps->run),
                            value_int(temps->time_ms)),
                     err) < 0 ||
        store_expect_change(store, "job", temps->job, err) < 0)
        return -1;
    detail = detail_start(store);
    detail_texts(detail, "removed", temps->removed, temps->removed_count);
    if (temps->kept_count > 0)
        detail_texts(detail, "kept", temps->kept, temps->kept_count);
    return event_add(store,
                     &(struct event){.run = temps->run,
                                     .job = temps->job,
                                     .time_ms = temps->time_ms,
                                     .event = "temps_removed",
                                     .detail = detail_end(detail)},
                     err);
}

/* The result of a cache hit is that of the job that made it. CROSS JOIN: from
 * the few runs that are running, not through all cache hits. */
int store_is_shared(struct store *store, int64_t run, int64_t job,
                    struct err *err)
{
    const struct value keys[] = {value_int(run), value_int(job)};
    int64_t count;

    if (store_query_integer(
            store,
            "WITH own (id) AS (SELECT coalesce(cached_from, id) FROM job"
            "  WHERE id = ?2)"
            " SELECT (SELECT count(*) FROM own JOIN job ON job.id = own.id"
            "   JOIN run ON run.id = job.run_id"
            "   WHERE run.state = 'running' AND run.id <> ?1)"
            "  + (SELECT count(*) FROM run CROSS JOIN job"
            "   ON job.run_id = run.id"
            "   WHERE run.state = 'running' AND run.id <> ?1"
            "   AND job.cached_from IS NOT NULL"
            "   AND job.cached_from IN (?2, (SELECT id FROM own)))",
            keys, 2, &count, err) != 0)
        return -1;
    return count > 0;
}
