/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which options of sbatch trials may share: where a job runs, who is charged,
 * who is informed. All others are amounts, or ways to bind them. */
#include "executors/slurm/talk/extra.h"

#include <string.h>

#include "base/compiler.h"

static const struct {
    const char *name;
    char letter;
} shared[] = {
    {"--account", 'A'},    {"--acctg-freq", 0},
    {"--begin", 'b'},      {"--cluster-constraint", 0},
    {"--constraint", 'C'}, {"--delay-boot", 0},
    {"--hold", 'H'},       {"--mail-type", 0},
    {"--mail-user", 0},    {"--mcs-label", 0},
    {"--nice", 0},         {"--nodefile", 'F'},
    {"--nodelist", 'w'},   {"--no-kill", 'k'},
    {"--priority", 0},     {"--profile", 0},
    {"--propagate", 0},    {"--reboot", 0},
    {"--reservation", 0},  {"--tmp", 0},
    {"--wckey", 0},
};

const char *slurm_extra_value(const char *word, const char *name, char letter)
{
    size_t length = strcspn(word, "=");

    if (word[0] == '-' && word[1] != '-')
        return letter != 0 && word[1] == letter ? word + 2 : NULL;
    if (strlen(name) != length || strncmp(word, name, length) != 0)
        return NULL;
    return word[length] == '=' ? word + length + 1 : word + length;
}

static bool is_shared(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(shared); i++) {
        if (slurm_extra_value(word, shared[i].name, shared[i].letter) != NULL)
            return true;
    }
    return false;
}

const char *slurm_extra_of_trial(const struct slurm_ask *ask)
{
    for (size_t i = 0; i < ask->extra_count; i++) {
        if (!is_shared(ask->extra[i]))
            return ask->extra[i];
    }
    return NULL;
}
