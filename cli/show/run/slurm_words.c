/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/show/run/slurm_words.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"

static const struct {
    const char *name;
    size_t offset; /* of the text in struct slurm_ask */
} words[] = {
    {"partition", offsetof(struct slurm_ask, partition)},
    {"account", offsetof(struct slurm_ask, account)},
    {"qos", offsetof(struct slurm_ask, qos)},
    {"constraint", offsetof(struct slurm_ask, constraint)},
    {"reservation", offsetof(struct slurm_ask, reservation)},
    {"mode", offsetof(struct slurm_ask, mode)},
};

static const char *text_at(const struct slurm_ask *ask, size_t offset)
{
    return *(const char *const *)((const char *)ask + offset);
}

static const char *find_word(const struct slurm_ask *own,
                             const struct slurm_ask *common, size_t offset)
{
    const char *text = own != NULL ? text_at(own, offset) : NULL;

    return text != NULL ? text : text_at(common, offset);
}

static const struct slurm_ask *who_has_extra(const struct slurm_ask *own,
                                             const struct slurm_ask *common)
{
    return own != NULL && own->extra != NULL ? own : common;
}

void slurm_word_list(const struct executor_options *executor,
                     const struct slurm_ask *own, struct buf *out)
{
    const struct slurm_ask *common, *ask;

    if (executor->slurm == NULL)
        return;
    common = &executor->slurm->ask;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *text = find_word(own, common, words[i].offset);

        if (text == NULL)
            continue;
        buf_printf(out, ", %s ", words[i].name);
        text_escape(text, strlen(text), out);
    }
    ask = who_has_extra(own, common);
    for (size_t i = 0; i < ask->extra_count; i++) {
        buf_add_string(out, i == 0 ? ", " : " ");
        text_escape(ask->extra[i], strlen(ask->extra[i]), out);
    }
}

json_t *slurm_words_json(const struct executor_options *executor,
                         const struct slurm_ask *own)
{
    const struct slurm_ask *common, *ask;
    json_t *json, *extra;

    if (executor->slurm == NULL)
        return json_null();
    json = json_object();
    extra = json_array();
    common = &executor->slurm->ask;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        json_object_set_new(
            json, words[i].name,
            json_from_text(find_word(own, common, words[i].offset)));
    ask = who_has_extra(own, common);
    for (size_t i = 0; i < ask->extra_count; i++)
        json_array_append_new(extra, json_from_text(ask->extra[i]));
    json_object_set_new(json, "extra", extra);
    return json;
}
