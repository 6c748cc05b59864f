/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options of sbatch (`extra`) as fields of a job for slurmrestd.
 *
 * Versions up to 38 have a field for each option, with the option's own text.
 * Later ones have the fields of the controller's request: sizes in megabytes,
 * words as lists, and one list for all kinds of GPUs. An option without a field
 * is refused by its name before anything is sent.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/compiler.h"
#include "base/mem.h"
#include "executors/slurm/talk/extra.h"
#include "executors/slurm/talk/gres.h"
#include "executors/slurm/talk/rest_impl.h"

enum form {
    TEXT,      /* the same in all versions */
    NUMBER,    /* likewise */
    COUNTED,   /* a number that may be {"set", "number"} */
    MEGABYTES, /* likewise */
    FLAG,      /* without a value */
    GPUS,      /* "2", "a100:2,v100:1" */
    GPU_AMOUNT,
    GPU_MEGABYTES,
    WORDS, /* "n1,n2" */
    MAIL,
    SHARING /* of a node */
};

/* One option and its fields, up to version 38 and later. */
static const struct field {
    const char *option;
    char letter;
    enum form form;
    const char *old, *key;
} fields[] = {
    {"--account", 'A', TEXT, "account", "account"},
    {"--constraint", 'C', TEXT, "constraints", "constraints"},
    {"--cpus-per-gpu", 0, GPU_AMOUNT, "cpus_per_gpu", "cpus_per_tres"},
    {"--exclusive", 0, SHARING, "exclusive", "shared"},
    {"--gpus-per-node", 0, TEXT, "gpus_per_node", "gpus_per_node"},
    {"--gpus-per-socket", 0, GPUS, "gpus_per_socket", "tres_per_socket"},
    {"--gpus-per-task", 0, GPUS, "gpus_per_task", "tres_per_task"},
    {"--gres", 0, TEXT, "gres", "gres"},
    {"--hold", 'H', FLAG, "hold", "hold"},
    {"--licenses", 'L', TEXT, "licenses", "licenses"},
    {"--mail-type", 0, MAIL, "mail_type", "mail_type"},
    {"--mail-user", 0, TEXT, "mail_user", "mail_user"},
    {"--mcs-label", 0, TEXT, "mcs_label", "mcs_label"},
    {"--mem-per-cpu", 0, MEGABYTES, "memory_per_cpu", "memory_per_cpu"},
    {"--mem-per-gpu", 0, GPU_MEGABYTES, "memory_per_gpu", "memory_per_tres"},
    {"--nice", 0, NUMBER, "nice", "nice"},
    {"--nodelist", 'w', WORDS, "nodelist", "required_nodes"},
    {"--partition", 'p', TEXT, "partition", "partition"},
    {"--priority", 0, COUNTED, "priority", "priority"},
    {"--qos", 'q', TEXT, "qos", "qos"},
    {"--reservation", 0, TEXT, "reservation", "reservation"},
    {"--threads-per-core", 0, NUMBER, "threads_per_core", "threads_per_core"},
    {"--tmp", 0, MEGABYTES, "temporary_disk_per_node",
     "temporary_disk_per_node"},
    {"--wckey", 0, TEXT, "wckey", "wckey"},
};

static const struct field *find(const char *word, const char **value)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        *value = slurm_extra_value(word, fields[i].option, fields[i].letter);
        if (*value != NULL)
            return &fields[i];
    }
    return NULL;
}

/* -- Values ---------------------------------------------------------------*/

static int to_number(const char *text, int64_t *number)
{
    enum { DIGITS_MAX = 15 };
    size_t length = strlen(text);
    char *end;

    if (length == 0 || length > DIGITS_MAX)
        return -1;
    *number = strtoll(text, &end, 10);
    return *end == '\0' ? 0 : -1;
}

/* "2G", "100": as sbatch has it, in megabytes where there is no unit. */
static int to_megabytes(const char *text, int64_t *number)
{
    static const char units[] = "KMGT";
    size_t digits = strspn(text, "0123456789");
    char unit = text[digits] != '\0' ? text[digits] : 'M';
    const char *found = strchr("KMGTkmgt", unit);
    char *amount = mem_copy_bytes(text, digits);
    int result = to_number(amount, number);

    free(amount);
    if (result != 0 || found == NULL ||
        (text[digits] != '\0' && text[digits + 1] != '\0'))
        return -1;
    switch (strchr(units, unit & ~0x20) - units) {
    case 0:
        *number = *number / 1024 + (*number % 1024 != 0);
        break;
    case 2:
        *number *= INT64_C(1) << 10;
        break;
    case 3:
        *number *= INT64_C(1) << 20;
        break;
    default:
        break;
    }
    return *number > 0 && *number < INT64_C(1) << 40 ? 0 : -1;
}

static const char *sharing_of(const char *value)
{
    if (value[0] == '\0')
        return "none";
    return strcasecmp(value, "user") == 0 || strcasecmp(value, "mcs") == 0
               ? value
               : NULL;
}

/* Whether the value is one that its field can have. */
static bool is_sound(const struct field *field, const char *value)
{
    int64_t number;

    switch (field->form) {
    case NUMBER:
        return (value[0] == '\0' && strcmp(field->option, "--nice") == 0) ||
               to_number(value, &number) == 0;
    case COUNTED:
    case GPU_AMOUNT:
        return to_number(value, &number) == 0;
    case MEGABYTES:
    case GPU_MEGABYTES:
        return to_megabytes(value, &number) == 0;
    case FLAG:
        return value[0] == '\0';
    case SHARING:
        return sharing_of(value) != NULL;
    case GPUS:
        return value[strspn(value, ", \t")] != '\0';
    case TEXT:
    case WORDS:
    case MAIL:
        break;
    }
    return value[0] != '\0';
}

const char *slurm_rest_refused_extra(const struct slurm_ask *ask)
{
    const char *value;

    for (size_t i = 0; i < ask->extra_count; i++) {
        const struct field *field = find(ask->extra[i], &value);

        if (field == NULL || !is_sound(field, value))
            return ask->extra[i];
    }
    return NULL;
}

/* -- Fields ---------------------------------------------------------------*/

static int64_t amount_of(const struct field *field, const char *value)
{
    enum { NICE = 100 }; /* of --nice without a value */
    int64_t number = NICE;

    if (field->form == MEGABYTES || field->form == GPU_MEGABYTES)
        to_megabytes(value, &number);
    else if (value[0] != '\0')
        to_number(value, &number);
    return number;
}

static void set_old(json_t *job, const struct field *field, const char *value)
{
    switch (field->form) {
    case FLAG:
        json_object_set_new(job, field->old, json_true());
        return;
    case SHARING:
        json_object_set_new(
            job, field->old,
            json_string(value[0] != '\0' ? value : "exclusive"));
        return;
    case NUMBER:
    case COUNTED:
    case MEGABYTES:
    case GPU_AMOUNT:
    case GPU_MEGABYTES:
        json_object_set_new(job, field->old,
                            json_integer(amount_of(field, value)));
        return;
    case TEXT:
    case GPUS:
    case WORDS:
    case MAIL:
        break;
    }
    json_object_set_new(job, field->old, json_string(value));
}

json_t *slurm_rest_optional(int64_t number)
{
    return json_pack("{s:b,s:b,s:I}", "set", 1, "infinite", 0, "number",
                     (json_int_t)number);
}

json_t *slurm_rest_list(const char *text)
{
    json_t *list = json_array();

    while (*text != '\0') {
        size_t length = strcspn(text, ",");

        json_array_append_new(list, json_stringn(text, length));
        text += length + (text[length] == ',');
    }
    return list;
}

/* As sbatch joins --gpus-per-node and --gres, which may be "none": later
 * versions have one field for both. */
static void join_gres(json_t *job)
{
    const char *gpus = json_string_value(json_object_get(job, "gpus_per_node"));
    const char *gres = json_string_value(json_object_get(job, "gres"));
    struct buf out = BUF_INIT;

    if (gpus != NULL)
        slurm_gres_add(&out, "gres/gpu:", gpus);
    if (gres != NULL && strcasecmp(gres, "none") != 0)
        slurm_gres_add(&out, "gres/", gres);
    if (out.length > 0)
        json_object_set_new(job, "tres_per_node", json_string(buf_text(&out)));
    json_object_del(job, "gpus_per_node");
    json_object_del(job, "gres");
    buf_clear(&out);
}

/* The flags of mail that sbatch's words, in whatever case, stand for. */
static json_t *mail_of(const char *value)
{
    static const struct {
        const char *word, *flags;
    } names[] = {
        {"NONE", ""},
        {"ALL", "BEGIN,END,FAIL,INVALID_DEPENDENCY,REQUEUE,STAGE_OUT"},
        {"INVALID_DEPEND", "INVALID_DEPENDENCY"},
        {"TIME_LIMIT", "TIME=100%"},
        {"TIME_LIMIT_90", "TIME=90%"},
        {"TIME_LIMIT_80", "TIME=80%"},
        {"TIME_LIMIT_50", "TIME=50%"},
    };
    json_t *list = json_array(), *words = slurm_rest_list(value);

    for (size_t i = 0; i < json_array_size(words); i++) {
        char *word =
            mem_copy_string(json_string_value(json_array_get(words, i)));
        const char *flags = word;
        json_t *found;

        for (char *at = word; *at != '\0'; at++) {
            if (*at >= 'a' && *at <= 'z')
                *at -= 'a' - 'A';
        }
        for (size_t j = 0; j < ARRAY_LEN(names); j++) {
            if (strcmp(word, names[j].word) == 0)
                flags = names[j].flags;
        }
        found = slurm_rest_list(flags);
        json_array_extend(list, found);
        json_decref(found);
        free(word);
    }
    json_decref(words);
    return list;
}

static json_t *gpus_of(const char *value)
{
    struct buf list = BUF_INIT;
    json_t *json;

    slurm_gres_add(&list, "gres/gpu:", value);
    json = json_string(buf_text(&list));
    buf_clear(&list);
    return json;
}

static json_t *value_of(const struct field *field, const char *value)
{
    switch (field->form) {
    case NUMBER:
        return json_integer(amount_of(field, value));
    case COUNTED:
        return slurm_rest_optional(amount_of(field, value));
    case MEGABYTES:
        return strcmp(field->key, "memory_per_cpu") == 0
                   ? slurm_rest_optional(amount_of(field, value))
                   : json_integer(amount_of(field, value));
    case FLAG:
        return json_true();
    case GPUS:
        return gpus_of(value);
    case GPU_AMOUNT:
    case GPU_MEGABYTES:
        return json_sprintf("gres/gpu:%" PRId64, amount_of(field, value));
    case WORDS:
        return slurm_rest_list(value);
    case MAIL:
        return mail_of(value);
    case SHARING:
        return json_pack("[s]", sharing_of(value));
    case TEXT:
        break;
    }
    return json_string(value);
}

void slurm_rest_set_extra(json_t *job, const json_t *words, int version)
{
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *value;
        const struct field *field =
            find(json_string_value(json_array_get(words, i)), &value);

        if (field == NULL)
            continue;
        if (version <= SLURM_REST_LAST_OF_OPTIONS)
            set_old(job, field, value);
        else
            json_object_set_new(job, field->key, value_of(field, value));
        /* sbatch has either of both. */
        if (strncmp(field->option, "--mem-per-", strlen("--mem-per-")) == 0)
            json_object_del(job, "memory_per_node");
    }
    if (version > SLURM_REST_LAST_OF_OPTIONS)
        join_gres(job);
}
