/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SMTUNE_BASE_NET_LIBCURL_H
#define SMTUNE_BASE_NET_LIBCURL_H

#include <curl/curl.h>

#include "base/err.h"
#include "base/net/certificates.h"

/*
 * libcurl is not linked but loaded, since it and the thirty libraries that it
 * needs would make each start of smtune slower, and few runs fetch anything.
 */

/* X(name, as libcurl calls it) */
#define CURL_FUNCTIONS(X)                                                      \
    X(easy_init, curl_easy_init)                                               \
    X(easy_setopt, curl_easy_setopt)                                           \
    X(easy_getinfo, curl_easy_getinfo)                                         \
    X(easy_cleanup, curl_easy_cleanup)                                         \
    X(easy_strerror, curl_easy_strerror)                                       \
    X(multi_init, curl_multi_init)                                             \
    X(multi_setopt, curl_multi_setopt)                                         \
    X(multi_assign, curl_multi_assign)                                         \
    X(multi_add_handle, curl_multi_add_handle)                                 \
    X(multi_remove_handle, curl_multi_remove_handle)                           \
    X(multi_socket_action, curl_multi_socket_action)                           \
    X(multi_info_read, curl_multi_info_read)                                   \
    X(multi_cleanup, curl_multi_cleanup)                                       \
    X(slist_append, curl_slist_append)                                         \
    X(slist_free_all, curl_slist_free_all)                                     \
    X(version_info, curl_version_info)

struct libcurl {
#define X(name, symbol) __typeof__(symbol) *name;
    CURL_FUNCTIONS(X)
#undef X
};

/* It stays loaded. ERR_FAILED when there is none. */
int libcurl_load(struct libcurl *curl, struct err *err);

/* False where there are none (base/net/certificates.h). */
bool libcurl_certificates(const struct libcurl *curl,
                          struct certificates *found);
/* Has a transfer's servers, and proxies, checked with these. */
void libcurl_check_with(const struct libcurl *curl, CURL *easy,
                        const struct certificates *certificates);

#endif
