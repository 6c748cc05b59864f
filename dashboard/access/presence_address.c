/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/access/presence_address.h"

#include <stdlib.h>

#include "base/mem.h"
#include "dashboard/access/login_code.h"
#include "dashboard/access/viewer_link.h"

/* What is behind the # stays in the browser: no log and no header has it. */
static char *address_with(const struct presence *presence, const char *secret)
{
    const struct presence_about *about = presence_about(presence);

    if (about->base_url == NULL && about->socket != NULL)
        return mem_printf("http://127.0.0.1:%d/login#%s", PRESENCE_TUNNEL_PORT,
                          secret);
    return mem_printf("%s/login#%s",
                      about->base_url != NULL ? about->base_url : about->url,
                      secret);
}

char *presence_operator_address(const struct presence *presence, int64_t now_ms,
                                struct err *err)
{
    char code[LOGIN_CODE_SIZE];

    if (presence_about(presence)->is_read_only ||
        login_code_make(presence_folder(presence), now_ms, code, err) < 0)
        return NULL;
    return address_with(presence, code);
}

char *presence_viewer_address(const struct presence *presence, struct err *err)
{
    struct viewer_link *link = viewer_link_find(presence_about(presence)->store,
                                                presence_folder(presence), err);
    char *address =
        link != NULL ? address_with(presence, viewer_link_text(link)) : NULL;

    viewer_link_close(link);
    return address;
}

int presence_withdraw(const struct presence *presence, struct err *err)
{
    struct viewer_link *link = viewer_link_find(presence_about(presence)->store,
                                                presence_folder(presence), err);
    int status = link != NULL ? viewer_link_replace(link, err) : -1;

    viewer_link_close(link);
    return status;
}
