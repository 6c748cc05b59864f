/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/metrics/step.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "base/metrics/name.h"
#include "base/metrics/number.h"

enum {
    NAME_MAX_LENGTH = 63,
    HEAD_BYTES = 200 /* a step in words is looked for in so many */
};

static const double step_max = 9007199254740992.0; /* 2^53 */

bool metric_is_step(double value)
{
    return value >= 0 && value <= step_max;
}

/* ---- names ---- */

/* The last part of trainer/global_step, in lower case, without _ and -. False:
 * it is too long. */
static bool canonize(const char *name, size_t length, char *out)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        char c = name[i];

        if (c == '/') {
            used = 0;
            continue;
        }
        if (c == '_' || c == '-' || c == ' ')
            continue;
        if (used == NAME_MAX_LENGTH)
            return false;
        out[used++] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    out[used] = '\0';
    return used > 0;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t wanted = strlen(end);

    return length > wanted && memcmp(text + length - wanted, end, wanted) == 0;
}

static void make_singular(char *word)
{
    static const char *const es[] = {"ches", "shes", "xes", "sses"};
    size_t length = strlen(word);

    for (size_t i = 0; i < ARRAY_LEN(es); i++) {
        if (ends_with(word, length, es[i])) {
            word[length - 2] = '\0';
            return;
        }
    }
    if (ends_with(word, length, "ies"))
        snprintf(word + length - 3, 2, "y");
    else if (ends_with(word, length, "s") && !ends_with(word, length, "ss"))
        word[length - 1] = '\0';
}

static const char *skip_prefix(const char *word, const char *const *prefixes,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(prefixes[i]);

        if (strlen(word) > length && strncmp(word, prefixes[i], length) == 0)
            return word + length;
    }
    return word;
}

/* iter and it are iterations. */
static const char *find_synonym(const char *word)
{
    return strcmp(word, "iter") == 0 || strcmp(word, "it") == 0 ? "iteration"
                                                                : word;
}

void metric_resource_set(struct metric_resource *resource, const char *name)
{
    static const char *const counts[] = {"num",    "max", "total",
                                         "global", "n_",  "n-"};
    char core[NAME_MAX_LENGTH + 1];

    memset(resource, 0, sizeof(*resource));
    if (!canonize(name, strlen(name), resource->whole))
        return;
    name = skip_prefix(name, counts, ARRAY_LEN(counts));
    if (!canonize(name, strlen(name), resource->plural))
        return;
    snprintf(core, sizeof(core), "%s", resource->plural);
    make_singular(core);
    snprintf(resource->core, sizeof(resource->core), "%s", find_synonym(core));
}

static int common_rank(const char *word)
{
    static const char *const names[] = {"step",      "globalstep", "epoch",
                                        "iteration", "iter",       "round"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(word, names[i]) == 0)
            return STEP_OTHER + (int)i;
    return STEP_NONE;
}

/* Of a name in canonical form. */
static int rank_of(const struct metric_resource *resource, const char *word)
{
    static const char *const now[] = {"global", "current", "trainer"};
    static const char *const all[] = {"total", "num"};
    const char *bare;

    if (resource->core[0] != '\0') {
        bare = find_synonym(skip_prefix(word, now, ARRAY_LEN(now)));
        if (strcmp(bare, resource->core) == 0 ||
            strcmp(word, resource->core) == 0)
            return STEP_OWN;
        bare = skip_prefix(word, all, ARRAY_LEN(all));
        if (strcmp(word, resource->whole) == 0 ||
            strcmp(word, resource->plural) == 0 ||
            strcmp(bare, resource->plural) == 0)
            return STEP_TOTAL;
    }
    return common_rank(word);
}

int metric_step_rank(const struct metric_resource *resource, const char *name,
                     size_t length)
{
    char word[NAME_MAX_LENGTH + 1];

    return canonize(name, length, word) ? rank_of(resource, word) : STEP_NONE;
}

/* ---- pairs ---- */

static void find_pair(const struct metric_resource *resource, const char *line,
                      const struct metric_pairs *pairs,
                      struct metric_step *step)
{
    for (size_t i = 0; i < pairs->count; i++) {
        const struct metric_pair *pair = &pairs->items[i];
        const char *bare = pair->name + pair->lead;
        int rank = metric_step_rank(resource, bare, pair->length - pair->lead);

        if (rank < step->rank && metric_is_step(pair->value) &&
            (pairs->is_json || !metric_is_of_best(line, pair->name)))
            *step = (struct metric_step){rank, pair->value, i};
    }
}

/* ---- words ---- */

/* Behind "(train)" or the like at `at`. */
static const char *skip_remark(const char *at, const char *end)
{
    const char *close = at + 1;

    if (at == end || *at != '(')
        return at;
    while (close < end && metric_is_letter(*close))
        close++;
    return close < end && *close == ')' ? close + 1 : at;
}

/* The number behind the word that ends at `at`: Epoch 3, Epoch [3/9], Epoch:
 * [3], epoch #3. */
static bool read_number(const char *at, const char *end, double *value)
{
    at = metric_skip_blanks(skip_remark(at, end), end);
    if (at < end && (*at == ':' || *at == '='))
        at = metric_skip_blanks(at + 1, end);
    while (at < end && (*at == '[' || *at == '(' || *at == '#'))
        at = metric_skip_blanks(at + 1, end);
    return metric_scan_number(at, end, value) > 0 && metric_is_step(*value);
}

/* Whether a number may come behind the word that ends at `at`: most words are
 * passed over by that. */
static bool may_have_number(const char *at, const char *end)
{
    at = metric_skip_blanks(at, end);
    return at < end && (metric_is_digit(*at) || *at == '[' || *at == '(' ||
                        *at == '#' || *at == ':' || *at == '=');
}

/* A word that names the step, before `end`, which is where the first pair is.
 */
static void find_word(const struct metric_resource *resource, const char *line,
                      const char *end, const char *line_end,
                      struct metric_step *step)
{
    const char *at = line;

    while (at < end) {
        const char *word = at;
        double value;
        int rank;

        if (!metric_is_letter(*at)) {
            at++;
            continue;
        }
        while (at < line_end && metric_is_letter(*at))
            at++;
        if (!may_have_number(at, line_end) || at - word > NAME_MAX_LENGTH ||
            !metric_name_may_begin(line, word))
            continue;
        rank = metric_step_rank(resource, word, (size_t)(at - word));
        if (rank < step->rank && rank != STEP_TOTAL &&
            !metric_is_of_best(line, word) && read_number(at, line_end, &value))
            *step = (struct metric_step){rank, value, step->pair};
    }
}

/* ---- brackets ---- */

/* [3/10], [3]<tab>, 3:<tab> at the line's beginning. "[1] 0.5" is how R counts
 * elements. */
static void find_bracket(const char *line, const char *end,
                         struct metric_step *step)
{
    const char *at = metric_skip_blanks(line, end), *number, *behind;
    bool is_open = at < end && (*at == '[' || *at == '(');
    double value;
    size_t length;

    number = metric_skip_blanks(at + is_open, end);
    length = metric_scan_number(number, end, &value);
    behind = number + length;
    if (length == 0 || !metric_is_step(value) || behind == end ||
        !metric_is_digit(*number))
        return;
    if (is_open && *behind == '/') {
        behind = metric_skip_blanks(behind + 1, end);
        while (behind < end && metric_is_digit(*behind))
            behind++;
        if (behind == end)
            return;
    }
    if (is_open ? *behind != ']' && *behind != ')' : *behind != ':')
        return;
    behind++;
    if (behind < end && *behind != '\t' && *behind != ':' &&
        !(*behind == ' ' && behind + 1 < end && metric_is_letter(behind[1])))
        return;
    *step = (struct metric_step){STEP_BRACKET, value, step->pair};
}

struct metric_step metric_step_find(const struct metric_resource *resource,
                                    const char *line, size_t length,
                                    const struct metric_pairs *pairs)
{
    struct metric_step step = {STEP_NONE, 0, pairs->count};
    const char *end = line + length, *head = end;

    find_pair(resource, line, pairs, &step);
    if (pairs->is_json || step.rank == STEP_OWN)
        return step;
    if (pairs->count > 0)
        head = pairs->items[0].name + pairs->items[0].length;
    if (head - line > HEAD_BYTES)
        head = line + HEAD_BYTES;
    find_word(resource, line, head, end, &step);
    if (step.rank == STEP_NONE)
        find_bracket(line, end, &step);
    return step;
}
