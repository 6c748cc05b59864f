/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/net/libcurl.h"

#include <dlfcn.h>
#include <stddef.h>

static const char library_name[] = "libcurl.so.4";

int libcurl_load(struct libcurl *curl, struct err *err)
{
    void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return err_set(err, ERR_FAILED, "cannot load '%s': %s", library_name,
                       dlerror());
#define X(name, symbol)                                                        \
    *(void **)&curl->name = dlsym(library, #symbol);                           \
    if (curl->name == NULL)                                                    \
        return err_set(err, ERR_FAILED, "'%s' has no %s", library_name,        \
                       #symbol);
    CURL_FUNCTIONS(X)
#undef X
    return 0;
}

bool libcurl_certificates(const struct libcurl *curl,
                          struct certificates *found)
{
    const char *file = NULL, *folder = NULL;
    /* Before 7.70 it does not report them. */
#if LIBCURL_VERSION_NUM >= 0x074600
    const curl_version_info_data *info = curl->version_info(CURLVERSION_NOW);

    if (info->age >= CURLVERSION_SEVENTH) {
        file = info->cainfo;
        folder = info->capath;
    }
#else
    (void)curl;
#endif
    return certificates_find(file, folder, certificates_places, found);
}

void libcurl_check_with(const struct libcurl *curl, CURL *easy,
                        const struct certificates *certificates)
{
    curl->easy_setopt(easy, CURLOPT_CAINFO, certificates->file);
    curl->easy_setopt(easy, CURLOPT_CAPATH, certificates->folder);
    curl->easy_setopt(easy, CURLOPT_PROXY_CAINFO, certificates->file);
    curl->easy_setopt(easy, CURLOPT_PROXY_CAPATH, certificates->folder);
}
