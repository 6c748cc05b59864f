/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The check of https for `smtune doctor`: the libcurl that is loaded, and the
 * CA certificates that it will use. No request is sent.
 */
#include <string.h>

#include "base/fs.h"
#include "base/net/fetch.h"
#include "cli/doctor/doctor.h"

static void list_certificates(const char *path, const char *from,
                              struct doctor_finding *finding)
{
    if (path == NULL)
        return;
    buf_printf(&finding->found, ", %s (%s)", path, from);
    /* A variable may have several folders, with colons between them. */
    if (strchr(path, ':') != NULL || fs_exists(path))
        return;
    buf_add_string(&finding->found, ": no such file");
    if (finding->health == HEALTH_OK)
        doctor_advise(finding, HEALTH_WARN, "correct or unset the variable");
}

void doctor_look_at_https(const struct cli *cli, struct doctor_finding *finding)
{
    struct fetch_facts facts;
    struct err err;

    (void)cli;
    if (fetch_describe(&facts, &err) != 0) {
        buf_add_string(&finding->found, err.text);
        doctor_advise(finding, HEALTH_WARN,
                      "install libcurl: notifications and slurmrestd need it");
        return;
    }
    buf_printf(&finding->found, "libcurl %s, %s", facts.version,
               facts.tls != NULL ? facts.tls : "no TLS");
    if (facts.has_certificates) {
        list_certificates(facts.certificates.file, facts.certificates.file_from,
                          finding);
        list_certificates(facts.certificates.folder,
                          facts.certificates.folder_from, finding);
        return;
    }
    buf_add_string(&finding->found, ", no CA certificates");
    doctor_advise(finding, HEALTH_WARN,
                  "install the package ca-certificates, or set CURL_CA_BUNDLE "
                  "to a file of CA certificates (PEM)");
}
