/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executors/slurm/talk/commands_impl.h"
#include "executors/slurm/talk/rows.h"

/* -- scontrol show config: "Name   = value" -------------------------------*/

/* What stands for the name; the caller's to free. NULL: it is not there. */
static char *find_value(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (; text != NULL; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (strncmp(text, name, length) == 0) {
            const char *value = text + length;

            value += strspn(value, " ");
            if (*value == '=') {
                value++;
                value += strspn(value, " ");
                return mem_printf("%.*s", (int)strcspn(value, "\n"), value);
            }
        }
    }
    return NULL;
}

static int64_t find_number(const char *text, const char *name)
{
    enum { NUMBER_MAX = INT32_MAX };
    char *value = find_value(text, name);
    long long number = value != NULL ? strtoll(value, NULL, 10) : 0;

    free(value);
    return number > 0 && number <= NUMBER_MAX ? number : 0;
}

int slurm_site_take_config(struct slurm_site *site, const char *text)
{
    char *storage = find_value(text, "AccountingStorageType");

    site->version = find_value(text, "SLURM_VERSION");
    site->cluster = find_value(text, "ClusterName");
    site->array_max = (int)find_number(text, "MaxArraySize");
    site->jobs_max = (int)find_number(text, "MaxJobCount");
    site->job_age_ms = find_number(text, "MinJobAge") * 1000;
    site->has_accounting =
        storage != NULL && strstr(storage, "slurmdbd") != NULL;
    free(storage);
    return site->version != NULL && site->cluster != NULL ? 0 : -1;
}

/* -- sinfo: a row for each partition and kind of node in it ---------------*/

enum {
    PARTITION,
    UP,
    NODES,
    CPUS,
    MEMORY,
    GRES,
    MAX_TIME,
    TIME,
    NAMES,
    FIELDS
};

static const char *const columns[FIELDS] = {
    "Partition", "Available", "Nodes",       "CPUs",    "Memory",
    "Gres",      "Time",      "DefaultTime", "NodeList"};

void slurm_site_words(struct slurm_words *words)
{
    struct buf format = BUF_INIT;

    for (int i = 0; i < FIELDS; i++)
        buf_printf(&format, "%s%s:" SLURM_SEPARATOR, i > 0 ? "," : "",
                   columns[i]);
    slurm_words_add(words, "sinfo");
    slurm_words_add(words, "--exact");
    slurm_words_add(words, "--Format=%s", buf_text(&format));
    buf_clear(&format);
}

/* "[DAYS-]HOURS:MINUTES:SECONDS", "MINUTES:SECONDS"; 0 for any word. */
static int64_t to_time_ms(const char *text)
{
    enum { DAYS_MAX = 100000 };
    long days = 0, parts[3] = {0};
    int count = 0;
    char *end;

    if (strchr(text, '-') != NULL) {
        days = strtol(text, &end, 10);
        text = *end == '-' ? end + 1 : "";
    }
    for (; count < 3 && *text != '\0'; count++) {
        parts[count] = strtol(text, &end, 10);
        if (end == text || parts[count] < 0 || parts[count] > DAYS_MAX)
            return 0;
        text = *end == ':' ? end + 1 : end;
    }
    if (count < 2 || days < 0 || days > DAYS_MAX)
        return 0;
    return ((days * 24 + (count == 3 ? parts[0] : 0)) * 3600 +
            parts[count - 2] * 60 + parts[count - 1]) *
           1000;
}

static int to_count(const char *text)
{
    long number = strtol(text, NULL, 10);

    return number > 0 && number < INT32_MAX ? (int)number : 0;
}

/* "name*" is the default one. */
static struct slurm_partition *partition_of(struct slurm_site *site, char *name)
{
    size_t length = strlen(name);
    bool is_default = length > 0 && name[length - 1] == '*';
    struct slurm_partition *partition;

    if (is_default)
        name[length - 1] = '\0';
    partition = slurm_site_add(site, name);
    partition->is_default = is_default;
    return partition;
}

static void take_kind(struct slurm_partition *partition, char *fields[FIELDS])
{
    partition->is_up = strcmp(fields[UP], "up") == 0;
    partition->max_time_ms = to_time_ms(fields[MAX_TIME]);
    partition->default_time_ms = to_time_ms(fields[TIME]);
    slurm_partition_add(partition, to_count(fields[NODES]),
                        to_count(fields[CPUS]),
                        (int64_t)to_count(fields[MEMORY]) << 20, fields[GRES]);
}

int slurm_site_take_nodes(struct slurm_site *site, char *text, size_t length)
{
    char *fields[FIELDS], *end = text + length;

    if (strlen(text) != length ||
        strncasecmp(text, "PARTITION", strlen("PARTITION")) != 0 ||
        slurm_row_split(FIELDS, &text, fields) == NULL)
        return -1;
    while (text < end) {
        if (slurm_row_split(FIELDS, &text, fields) == NULL)
            return -1;
        take_kind(partition_of(site, fields[PARTITION]), fields);
        if (fields[NAMES][0] != '\0')
            slurm_site_add_nodes(site, fields[NAMES]);
    }
    return 0;
}

/* -- scontrol show assoc_mgr: "QOS=name(1)", and below it its limits --------*/

void slurm_site_take_qos(struct slurm_site *site, const char *text)
{
    enum { MINUTE_MS = 60000 };
    const char *line = text;
    char *name = NULL;

    while (line != NULL) {
        const char *limit = line + strspn(line, " ");

        if (strncmp(line, "QOS=", 4) == 0) {
            free(name);
            name = mem_copy_bytes(line + 4, strcspn(line + 4, "(\n"));
        } else if (name != NULL && strncmp(limit, "MaxWallPJ=", 10) == 0) {
            slurm_site_add_qos(site, name,
                               (int64_t)to_count(limit + 10) * MINUTE_MS);
            free(name);
            name = NULL;
        }
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
    free(name);
}
