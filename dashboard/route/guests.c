/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dashboard/route/guests.h"

#include <stdlib.h>

#include "base/mem.h"
#include "dashboard/http/blob.h"

struct guests {
    LIST_HEAD(guest_list, guest) list;
    int count;
    size_t bytes; /* of answers */
};

struct guests *guests_create(void)
{
    struct guests *guests = mem_zero(sizeof(*guests));

    LIST_INIT(&guests->list);
    return guests;
}

void guests_destroy(struct guests *guests)
{
    free(guests);
}

int guests_enter(struct guests *guests, struct guest *guest, struct err *err)
{
    if (guests->count == GUESTS_REQUESTS_MAX)
        return err_set(err, ERR_SHORTAGE,
                       "too many requests of viewers: %d at once, the maximum",
                       guests->count);
    guests->count++;
    guest->is_counted = true;
    LIST_INSERT_HEAD(&guests->list, guest, link);
    return 0;
}

/* Whether one who is in the list is sent the same. */
static bool is_sent(const struct guests *guests, const struct blob *answer)
{
    const struct guest *guest;

    LIST_FOREACH(guest, &guests->list, link)
    {
        if (guest->answer == answer)
            return true;
    }
    return false;
}

int guests_hold(struct guests *guests, struct guest *guest,
                const struct blob *answer, struct err *err)
{
    if (answer == NULL || !guest->is_counted)
        return 0;
    if (!is_sent(guests, answer)) {
        if (guests->bytes > 0 &&
            guests->bytes + answer->length > GUESTS_BYTES_MAX)
            return err_set(err, ERR_SHORTAGE,
                           "viewers are being sent %zu MiB at once; %d MiB are "
                           "the maximum",
                           guests->bytes >> 20, GUESTS_BYTES_MAX >> 20);
        guests->bytes += answer->length;
    }
    guest->answer = answer;
    return 0;
}

void guests_leave(struct guests *guests, struct guest *guest)
{
    if (!guest->is_counted)
        return;
    guest->is_counted = false;
    guests->count--;
    LIST_REMOVE(guest, link);
    if (guest->answer != NULL && !is_sent(guests, guest->answer))
        guests->bytes -= guest->answer->length;
    guest->answer = NULL;
}
