/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/net/certificates.h"

#include <dirent.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const certificates_places[] = {
    /* Debian, Ubuntu, Arch, Alpine, Gentoo, NixOS */
    "/etc/ssl/certs/ca-certificates.crt",
    /* Fedora, RHEL, Rocky, AlmaLinux, Amazon Linux */
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    /* SLES, openSUSE */
    "/etc/ssl/ca-bundle.pem",
    "/var/lib/ca-certificates/ca-bundle.pem",
    /* Alpine without the package ca-certificates */
    "/etc/ssl/cert.pem",
    NULL,
};

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool is_file(const char *path)
{
    return path != NULL && access(path, R_OK) == 0;
}

/* Whether there is a file as `openssl rehash` names it, "4f316efb.0": a system
 * without certificates may have the folder all the same. */
static bool has_certificates(const char *path)
{
    DIR *folder = path != NULL ? opendir(path) : NULL;
    const struct dirent *entry;
    bool found = false;

    if (folder == NULL)
        return false;
    while (!found && (entry = readdir(folder)) != NULL)
        found = strspn(entry->d_name, "0123456789abcdef") == 8 &&
                entry->d_name[8] == '.';
    closedir(folder);
    return found;
}

static bool take(struct certificates *found, const char *file,
                 const char *file_from, const char *folder,
                 const char *folder_from)
{
    *found = (struct certificates){
        .file = file,
        .file_from = file != NULL ? file_from : NULL,
        .folder = folder,
        .folder_from = folder != NULL ? folder_from : NULL,
    };
    return file != NULL || folder != NULL;
}

bool certificates_find(const char *built_in_file, const char *built_in_folder,
                       const char *const places[], struct certificates *found)
{
    static const char library[] = "default of libcurl";

    if (take(found, variable("CURL_CA_BUNDLE"), "CURL_CA_BUNDLE", NULL, NULL) ||
        take(found, variable("SSL_CERT_FILE"), "SSL_CERT_FILE",
             variable("SSL_CERT_DIR"), "SSL_CERT_DIR") ||
        take(found, is_file(built_in_file) ? built_in_file : NULL, library,
             has_certificates(built_in_folder) ? built_in_folder : NULL,
             library))
        return true;
    while (*places != NULL && !is_file(*places))
        places++;
    return take(found, *places, "found there", NULL, NULL);
}
