/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_METRICS_READER_H
#define SMTUNE_BASE_METRICS_READER_H

#include "base/buf.h"
#include "base/metrics/block.h"
#include "base/metrics/metrics.h"
#include "base/metrics/scan.h"
#include "base/metrics/step.h"
#include "base/metrics/table.h"

/* What a reader holds, for the files of base/metrics/ that share it. */

struct rule {
    char *name;
    struct metric_regex *regex; /* NULL: the built-in patterns serve */
};

struct metric_rules {
    struct rule *rules;
    size_t count;
    bool finds_all;     /* metrics that no rule names, too */
    bool built_in;      /* some rule, or none at all, needs the patterns */
    bool asks_for_rank; /* it is a metric of the file */
    struct metric_resource resource;
};

/* One metric's course so far. */
struct series {
    uint32_t hash;
    char *name;
    double last_step, last_value;
    uint64_t line;   /* that it was last on */
    uint32_t words;  /* before its name, where it counted last */
    bool has_value;  /* last_value holds */
    bool is_current; /* it was said without `best` and the like */
    bool is_reserved;
    struct metric_several several; /* of a reserved one; no name */
    int64_t points;                /* of a reserved one */
    uint32_t form;                 /* as found's */
};

/* A metric of a line, not yet in its series. */
struct found {
    size_t series;
    double step; /* NaN: it is counted */
    double value;
    uint32_t words;
    uint32_t form; /* of the line, for a reserved series */
};

struct found_list {
    struct found *items;
    size_t count, capacity;
};

/* How a rule's name was found so far. */
struct rule_use {
    bool is_exact; /* other forms do not count any more */
    uint32_t lead; /* hash of the word that belongs to it; 0: none yet */
};

struct metric_reader {
    struct metric_rules *rules;
    struct buf half;      /* a line's beginning */
    bool cut;             /* more of that line was dropped */
    struct buf bare;      /* a line without its terminal escapes */
    const char *line_end; /* while it is read */
    struct metric_pairs pairs;
    struct metric_table table;
    struct metric_block block;
    bool is_mentioned; /* the line has a name that is asked for, and no value */
    struct rule_use *uses; /* of each rule */
    struct series *series;
    size_t series_count, series_capacity;
    double first_step; /* before that of a series that has none yet */
    uint64_t line;     /* counts them */
    bool has_step;     /* `step` is that of lines that name none */
    double step;
    struct found_list found;   /* on the line */
    struct found_list held;    /* of the block, until it ends */
    struct found_list pending; /* on a line that may be refreshed */
    int64_t left_out;          /* values of metrics without a place */
    bool has_rank_0;           /* some line has it as a pair */
};

/* Where metrics go, and whose they are. */
struct sink {
    struct metric_reader *reader;
    metric_fn found;
    void *user;
};

/* ---- series.c ---- */

/* The index of the series with that name, SIZE_MAX: there are too many. */
size_t series_find(struct metric_reader *reader, const char *name,
                   size_t length);
/* The line is over: what was found on it goes to its series, or waits for the
 * next refresh of the line. */
void series_take(const struct sink *sink, bool is_refreshed);
/* What the block has counts as found on the line, which comes behind it. */
void series_release(struct metric_reader *reader,
                    const struct metric_block *block);
/* What was found on the line waits for the end of its block. */
void series_hold(struct metric_reader *reader);
/* What waits counts, or not. */
void series_flush(const struct sink *sink, bool counts);
void series_clear(struct metric_reader *reader);

/* ---- line.c ---- */

/* Finds the metrics of a line, without its end. */
void line_read(struct metric_reader *reader, const char *line, size_t length);

#endif
