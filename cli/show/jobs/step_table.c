/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/jobs/step_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "orchestrator/job/states.h"

const struct table_column step_table_columns[STEP_TABLE_COLUMNS] = {
    {"name", "step", COLUMN_TEXT, NULL},
    {"state", NULL, COLUMN_STATE, NULL},
    {"jobs", NULL, COLUMN_TEXT, NULL},
    {"duration_ms", "time", COLUMN_DURATION, NULL},
    {"note", "", COLUMN_TEXT, NULL},
};

struct sink {
    const struct step_list *list;
    int64_t now_ms;
    int (*row)(void *user, const struct value *cells);
    void *user;
};

static int hand_out(const struct sink *sink, size_t step)
{
    const struct step_line *line = &sink->list->lines[step];
    int64_t ms = step_line_duration_ms(line, sink->now_ms);
    struct buf jobs = BUF_INIT, note = BUF_INIT;
    int status;

    step_line_print_jobs(line, &jobs);
    step_list_print_note(sink->list, step, &note);
    status =
        sink->row(sink->user, (const struct value[STEP_TABLE_COLUMNS]){
                                  value_text(line->name),
                                  value_text(step_list_state(sink->list, line)),
                                  value_text(buf_text(&jobs)),
                                  value_int_unless(ms, -1),
                                  value_text(buf_text(&note)),
                              });
    buf_clear(&jobs);
    buf_clear(&note);
    return status;
}

static int hand_out_rest(const struct sink *sink,
                         const struct step_counts *rest)
{
    struct buf note = BUF_INIT;
    char *name = mem_printf("... %" PRId64 " more", rest->all);
    int status;

    step_counts_print(rest, &note);
    status = sink->row(sink->user, (const struct value[STEP_TABLE_COLUMNS]){
                                       value_text(name),
                                       value_text(""),
                                       value_text(""),
                                       value_null(),
                                       value_text(buf_text(&note)),
                                   });
    free(name);
    buf_clear(&note);
    return status;
}

int step_table_each(const struct step_list *list, size_t rows_max,
                    int64_t now_ms,
                    int (*row)(void *user, const struct value *cells),
                    void *user)
{
    const struct sink sink = {list, now_ms, row, user};
    bool *shown = mem_array(list->count, sizeof(*shown));
    struct step_counts rest;
    int status = 0;

    step_list_choose(list, rows_max > 0 ? rows_max : list->count, shown, &rest);
    for (size_t i = 0; i < list->count && status == 0; i++) {
        if (shown[list->order[i]])
            status = hand_out(&sink, list->order[i]);
    }
    if (status == 0 && rest.all > 0)
        status = hand_out_rest(&sink, &rest);
    free(shown);
    return status;
}
