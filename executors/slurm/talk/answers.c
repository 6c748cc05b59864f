/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/compiler.h"
#include "executors/slurm/talk/transport.h"

/*
 * Parts of what Slurm's programs and slurmrestd say, the first that is found
 * counting. What tells of a connection comes before what tells of a refusal:
 * to take a job for refused that was accepted is the worse mistake.
 */
static const struct {
    const char *part;
    enum slurm_answer answer;
} messages[] = {
    {"nable to contact slurm controller", SLURM_SILENT},
    {"timed out", SLURM_SILENT},
    {"Timeout was reached", SLURM_SILENT},
    {"connect failure", SLURM_SILENT},
    {"onnection failure", SLURM_SILENT},
    {"onnection refused", SLURM_SILENT},
    {"onnection reset", SLURM_SILENT},
    {"Broken pipe", SLURM_SILENT},
    {"No route to host", SLURM_SILENT},
    {"Zero Bytes were transmitted", SLURM_SILENT},
    {"nsane message length", SLURM_SILENT},
    {"receive failure", SLURM_SILENT},
    {"send failure", SLURM_SILENT},
    {"socket error", SLURM_SILENT},
    {"standby mode", SLURM_SILENT},
    {"authentication error", SLURM_SILENT},
    {"authentication credential", SLURM_SILENT},
    {"unge encode failed", SLURM_SILENT},
    {"unge decode failed", SLURM_SILENT},
    {"nable to resolve", SLURM_SILENT},
    {"talking to the database", SLURM_SILENT},
    {"persistent connection", SLURM_SILENT},

    {"PerJob", SLURM_REFUSED},
    {"PerNode", SLURM_REFUSED},

    {"violates accounting/QOS policy", SLURM_LATER},
    {"MaxSubmit", SLURM_LATER},
    {"MaxJobs", SLURM_LATER},
    {"temporarily unable to accept job", SLURM_LATER},
    {"job queue full", SLURM_LATER},
    {"MaxJobCount", SLURM_LATER},
    {"Rate limit exceeded", SLURM_LATER},
    {"Resource temporarily unavailable", SLURM_LATER},
    {"partition not available (inactive or drain)", SLURM_LATER},
    {"node not available (down", SLURM_LATER},

    {"submission failed", SLURM_REFUSED},
    {"nvalid", SLURM_REFUSED},
    {"unrecognized option", SLURM_REFUSED},
    {"requires an argument", SLURM_REFUSED},
    {"not available", SLURM_REFUSED},
    {"not permitted", SLURM_REFUSED},
    {"ermission denied", SLURM_REFUSED},
    {"disabled", SLURM_REFUSED},
    {"dependency problem", SLURM_REFUSED},
    {"more processors requested", SLURM_REFUSED},
    {"Unspecified error", SLURM_REFUSED},
};

enum slurm_answer slurm_answer_of(const char *message)
{
    for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
        if (strstr(message, messages[i].part) != NULL)
            return messages[i].answer;
    }
    return SLURM_SILENT;
}
