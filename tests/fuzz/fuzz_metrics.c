/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/metrics/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Metrics: where the bytes are cut in two changes nothing. The first two bytes
 * say where, the third which rules. */

static const struct metric_rule rules[] = {
    {"loss", NULL},
    {"val_error", "val_error=([0-9.]+)"},
    {"top", "(?<step>\\d+)/\\d+ top (?<value>\\S+)"},
    {"slow", "(\\w+\\s?)+[xz](\\d)"},
};

static void note(void *user, const struct metric_point *point)
{
    assert(point->name[0] != '\0' && strlen(point->name) <= 128);
    assert(point->step >= 0);
    buf_printf(user, "%s@%a=%a\n", point->name, point->step, point->value);
}

static void read_all(struct metric_rules *compiled, const uint8_t *data,
                     size_t size, size_t at, struct buf *out)
{
    struct metric_reader *reader = metric_reader_create(compiled, 0);

    metric_reader_feed(reader, data, at, note, out);
    metric_reader_feed(reader, data + at, size - at, note, out);
    metric_reader_finish(reader, true, note, out);
    metric_reader_destroy(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = BUF_INIT, parted = BUF_INIT;
    struct metric_rules *compiled;
    size_t at;

    if (size < 3)
        return 0;
    at = (size_t)(data[0] | data[1] << 8) % (size - 2);
    compiled =
        metric_rules_create(rules, data[2] % (ARRAY_LEN(rules) + 1), NULL);
    metric_rules_ask(compiled, "valid loss");
    if (data[2] & 0x80)
        metric_rules_set_resource(compiled, "epochs");
    read_all(compiled, data + 3, size - 3, 0, &whole);
    read_all(compiled, data + 3, size - 3, at, &parted);
    assert(strcmp(buf_text(&whole), buf_text(&parted)) == 0);
    metric_rules_destroy(compiled);
    buf_clear(&whole);
    buf_clear(&parted);
    return 0;
}
