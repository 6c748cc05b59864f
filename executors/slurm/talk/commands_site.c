/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What Slurm's commands are asked about the cluster, one after the other.
 *
 * The controller answers the first two, and nothing is known without them. The
 * limits of QOS and associations are good to know, and no more: a question
 * about them that fails is skipped. sacctmgr alone reports the flags of a QOS,
 * and of an association the limits and the default QOS that it has itself or
 * inherits. It asks slurmdbd, which may be down while the controller is not.
 * The controller then still reports its own copy of the limits of each QOS.
 */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/compiler.h"
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

/* Whether it is one of the words, which commas separate; of no words: no. */
static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);

    while (words != NULL) {
        if (strncasecmp(words, word, length) == 0 &&
            (words[length] == ',' || words[length] == '\0'))
            return true;
        words = strchr(words, ',');
        if (words != NULL)
            words++;
    }
    return false;
}

static int64_t find_number(const char *text, const char *name)
{
    enum { NUMBER_MAX = INT32_MAX };
    char *value = find_value(text, name);
    long long number = value != NULL ? strtoll(value, NULL, 10) : 0;

    free(value);
    return number > 0 && number <= NUMBER_MAX ? number : 0;
}

static void config_words(const struct slurm_site *site,
                         struct slurm_words *words)
{
    (void)site;
    slurm_words_add(words, "scontrol");
    slurm_words_add(words, "show");
    slurm_words_add(words, "config");
}

static char *copy_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? mem_copy_string(text) : NULL;
}

int slurm_site_take_config(struct slurm_site *site, char *text, size_t length)
{
    char *storage = find_value(text, "AccountingStorageType");
    char *enforced = find_value(text, "AccountingStorageEnforce");

    (void)length;
    site->version = find_value(text, "SLURM_VERSION");
    site->cluster = find_value(text, "ClusterName");
    site->array_max = (int)find_number(text, "MaxArraySize");
    site->jobs_max = (int)find_number(text, "MaxJobCount");
    site->job_age_ms = find_number(text, "MinJobAge") * 1000;
    site->has_accounting =
        storage != NULL && strstr(storage, "slurmdbd") != NULL;
    site->enforces_limits =
        site->has_accounting && has_word(enforced, "limits");
    /* sbatch takes them where its words name none. */
    site->account = copy_or_null(getenv("SBATCH_ACCOUNT"));
    site->qos = copy_or_null(getenv("SBATCH_QOS"));
    free(enforced);
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

static void node_words(const struct slurm_site *site, struct slurm_words *words)
{
    struct buf format = BUF_INIT;

    (void)site;
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

/* The partition that jobs go to where none is named. */
static void take_environment(struct slurm_site *site)
{
    const char *name = getenv("SBATCH_PARTITION");
    const struct slurm_partition *usual_one =
        name != NULL ? slurm_site_partition(site, name) : NULL;

    for (size_t i = 0; usual_one != NULL && i < site->partition_count; i++)
        site->partitions[i].is_default = &site->partitions[i] == usual_one;
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
    take_environment(site);
    return 0;
}

/* -- scontrol show partition: "PartitionName=name ... QoS=name ..." ---------*/

static bool has_limits(const struct slurm_site *site)
{
    return site->enforces_limits;
}

static void partition_words(const struct slurm_site *site,
                            struct slurm_words *words)
{
    (void)site;
    slurm_words_add(words, "scontrol");
    slurm_words_add(words, "--oneliner");
    slurm_words_add(words, "show");
    slurm_words_add(words, "partition");
}

/* The value up to a blank; the caller's to free. NULL: the line has none. */
static char *value_in(const char *line, const char *name)
{
    const char *value = strstr(line, name);

    if (value == NULL)
        return NULL;
    value += strlen(name);
    return mem_copy_bytes(value, strcspn(value, " \n"));
}

/* Takes the QOS over. */
static void give_qos(struct slurm_site *site, const char *name, char *qos)
{
    for (size_t i = 0; i < site->partition_count; i++) {
        struct slurm_partition *partition = &site->partitions[i];

        if (strcmp(partition->name, name) == 0) {
            free(partition->qos);
            partition->qos = qos;
            return;
        }
    }
    free(qos);
}

int slurm_site_take_partitions(struct slurm_site *site, char *text,
                               size_t length)
{
    char *line;

    (void)length;
    while ((line = strsep(&text, "\n")) != NULL) {
        char *name = value_in(line, "PartitionName=");
        char *qos = value_in(line, " QoS=");

        if (name != NULL && qos != NULL && strcmp(qos, "N/A") != 0)
            give_qos(site, name, qos);
        else
            free(qos);
        free(name);
    }
    return 0;
}

/* -- sacctmgr: rows "a|b|c" -----------------------------------------------*/

/* Whether the row has so many fields; they lie in it. */
static bool split(char *row, size_t count, char *fields[])
{
    size_t i = 0;

    while (row != NULL && i < count)
        fields[i++] = strsep(&row, "|");
    return i == count && row == NULL;
}

static void accounting_words(struct slurm_words *words, const char *what)
{
    slurm_words_add(words, "sacctmgr");
    slurm_words_add(words, "--noheader");
    slurm_words_add(words, "--parsable2");
    slurm_words_add(words, "show");
    slurm_words_add(words, "%s", what);
}

static void qos_words(const struct slurm_site *site, struct slurm_words *words)
{
    (void)site;
    accounting_words(words, "qos");
    slurm_words_add(words, "format=Name,MaxWall,Flags");
}

int slurm_site_take_qos(struct slurm_site *site, char *text, size_t length)
{
    enum { NAME, MAX_WALL, FLAGS, COUNT };
    char *row, *fields[COUNT];
    struct slurm_qos *qos;

    (void)length;
    while ((row = strsep(&text, "\n")) != NULL) {
        if (!split(row, COUNT, fields) || fields[NAME][0] == '\0')
            continue;
        qos = slurm_site_add_qos(site, fields[NAME]);
        qos->max_time_ms = to_time_ms(fields[MAX_WALL]);
        qos->is_over_partition_qos = has_word(fields[FLAGS], "OverPartQOS");
        qos->is_over_partition_time =
            has_word(fields[FLAGS], "PartitionTimeLimit");
    }
    return 0;
}

static bool has_qos(const struct slurm_site *site)
{
    return site->qos_count > 0 && getpwuid(geteuid()) != NULL;
}

static void user_words(const struct slurm_site *site, struct slurm_words *words)
{
    accounting_words(words, "user");
    slurm_words_add(words, "name=%s", getpwuid(geteuid())->pw_name);
    slurm_words_add(words, "cluster=%s", site->cluster);
    slurm_words_add(words, "withassoc");
    slurm_words_add(words, "format=DefaultAccount,Account,Partition,"
                           "DefaultQOS,QOS,MaxWall");
}

int slurm_site_take_user(struct slurm_site *site, char *text, size_t length)
{
    enum { DEFAULT_ACCOUNT, ACCOUNT, PARTITION_NAME, QOS, ALL_QOS, MAX_WALL };
    enum { COUNT = MAX_WALL + 1 };
    struct slurm_association *it;
    char *row, *fields[COUNT];

    (void)length;
    while ((row = strsep(&text, "\n")) != NULL) {
        if (!split(row, COUNT, fields) || fields[ACCOUNT][0] == '\0')
            continue;
        if (site->account == NULL)
            site->account = copy_or_null(fields[DEFAULT_ACCOUNT]);
        if (fields[QOS][0] == '\0' && strchr(fields[ALL_QOS], ',') == NULL)
            fields[QOS] = fields[ALL_QOS];
        it = slurm_site_add_association(site, fields[ACCOUNT]);
        it->partition = copy_or_null(fields[PARTITION_NAME]);
        it->default_qos = copy_or_null(fields[QOS]);
        it->max_time_ms = to_time_ms(fields[MAX_WALL]);
    }
    return 0;
}

/* -- scontrol show assoc_mgr: "QOS=name(1)", and below it its limits --------*/

static bool lacks_qos(const struct slurm_site *site)
{
    return site->enforces_limits && site->qos_count == 0;
}

static void cache_words(const struct slurm_site *site,
                        struct slurm_words *words)
{
    (void)site;
    slurm_words_add(words, "scontrol");
    slurm_words_add(words, "show");
    slurm_words_add(words, "assoc_mgr");
    slurm_words_add(words, "flags=qos");
}

int slurm_site_take_cache(struct slurm_site *site, char *text, size_t length)
{
    enum { MINUTE_MS = 60000 };
    char *line, *name = NULL;

    (void)length;
    while ((line = strsep(&text, "\n")) != NULL) {
        const char *limit = line + strspn(line, " ");

        if (strncmp(line, "QOS=", 4) == 0) {
            free(name);
            name = mem_copy_bytes(line + 4, strcspn(line + 4, "("));
        } else if (name != NULL && strncmp(limit, "MaxWallPJ=", 10) == 0) {
            slurm_site_add_qos(site, name)->max_time_ms =
                (int64_t)to_count(limit + 10) * MINUTE_MS;
            free(name);
            name = NULL;
        }
    }
    free(name);
    return 0;
}

/* -- All of them ----------------------------------------------------------*/

enum { SHORT_MS = 3000 }; /* for what is good to know */

const struct slurm_site_question slurm_site_questions[] = {
    {"scontrol", NULL, config_words, slurm_site_take_config, 0},
    {"sinfo", NULL, node_words, slurm_site_take_nodes, 0},
    {"scontrol", has_limits, partition_words, slurm_site_take_partitions,
     SHORT_MS},
    {"sacctmgr", has_limits, qos_words, slurm_site_take_qos, SHORT_MS},
    {"sacctmgr", has_qos, user_words, slurm_site_take_user, SHORT_MS},
    {"scontrol", lacks_qos, cache_words, slurm_site_take_cache, SHORT_MS},
};

const size_t slurm_site_question_count = ARRAY_LEN(slurm_site_questions);
