/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_NET_CERTIFICATES_H
#define SMTUNE_BASE_NET_CERTIFICATES_H

#include <stdbool.h>

/*
 * The CA certificates that the certificate of an https server is checked with.
 * Each distribution has them in another place, and a libcurl that was built on
 * one of them looks for them there.
 */
struct certificates {
    const char *file;        /* in PEM; NULL: none */
    const char *file_from;   /* "CURL_CA_BUNDLE", "default of libcurl" ... */
    const char *folder;      /* files named by a hash; NULL: none */
    const char *folder_from; /* likewise */
};

/* The files of the distributions, ended by NULL. */
extern const char *const certificates_places[];

/*
 * Looks for them in this order:
 *
 * 1. CURL_CA_BUNDLE; or SSL_CERT_FILE, SSL_CERT_DIR or both. A variable that is
 *    set counts even where it names nothing that is there: a user who allows
 *    certain authorities does not get others in their place.
 * 2. The file and the folder that libcurl was built with (NULL: none), those
 *    that are there.
 * 3. The first of the places that is there.
 *
 * False, and nothing in *found, where there are none. The texts of *found are
 * the caller's own, of the environment, or constants.
 */
bool certificates_find(const char *built_in_file, const char *built_in_folder,
                       const char *const places[], struct certificates *found);

#endif
