/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/conf/read.h"

#include <math.h>

#include "base/units.h"

const char *conf_read_text(const struct conf_node *map, const char *key,
                           const char *fallback)
{
    const struct conf_node *node = conf_get(map, key);

    return node != NULL && node->type == CONF_TEXT ? node->text : fallback;
}

double conf_read_number(const struct conf_node *map, const char *key,
                        double fallback)
{
    const struct conf_node *node = conf_get(map, key);
    double number = node != NULL ? conf_number(node) : (double)NAN;

    return isfinite(number) ? number : fallback;
}

int64_t conf_read_int(const struct conf_node *map, const char *key,
                      int64_t fallback)
{
    double number = conf_read_number(map, key, (double)fallback);

    return fabs(number) <= 0x1p53 ? (int64_t)number : fallback;
}

bool conf_read_bool(const struct conf_node *map, const char *key, bool fallback)
{
    const struct conf_node *node = conf_get(map, key);

    return node != NULL && node->type == CONF_BOOL ? node->boolean : fallback;
}

int64_t conf_read_ms(const struct conf_node *map, const char *key,
                     int64_t fallback)
{
    const struct conf_node *node = conf_get(map, key);
    int64_t ms = fallback;

    if (node != NULL && node->text != NULL)
        units_parse_duration(node->text, &ms);
    return ms;
}

int64_t conf_read_bytes(const struct conf_node *map, const char *key,
                        int64_t fallback)
{
    const struct conf_node *node = conf_get(map, key);
    int64_t bytes = fallback;

    if (node != NULL && node->text != NULL)
        units_parse_bytes(node->text, &bytes);
    return bytes;
}

size_t conf_item_count(const struct conf_node *node)
{
    if (node == NULL || node->type == CONF_NULL)
        return 0;
    return node->type == CONF_LIST ? node->count : 1;
}

const struct conf_node *conf_item_at(const struct conf_node *node, size_t i)
{
    return node->type == CONF_LIST ? node->items[i] : node;
}
