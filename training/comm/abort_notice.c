/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/abort_notice.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define NOTICE_MAGIC UINT64_C(0x534d4e4f54450001)

enum { SPREAD_MS = 1000, GREETING_MS = 500, AT_ONCE = 128 };

void abort_notice_fill(struct abort_notice *notice,
                       const struct rendezvous *whole,
                       enum abort_notice_kind kind, const char *text)
{
    memset(notice, 0, sizeof(*notice));
    notice->magic = NOTICE_MAGIC;
    notice->token = whole->token;
    notice->kind = (int32_t)kind;
    notice->rank = whole->rank;
    snprintf(notice->text, sizeof(notice->text), "%s", text);
}

int abort_notice_accept(const struct rendezvous *whole,
                        struct abort_notice *notice)
{
    int fd = link_accept(whole->listener);

    if (fd < 0)
        return -1;
    if (link_receive(fd, notice, sizeof(*notice),
                     clock_monotonic_ms() + GREETING_MS, NULL) == 0 &&
        notice->magic == NOTICE_MAGIC && notice->token == whole->token &&
        notice->rank >= 0 && notice->rank < whole->size) {
        notice->text[sizeof(notice->text) - 1] = '\0';
        return fd;
    }
    close(fd);
    return -1;
}

/* Tells ranks first .. first + count - 1. */
static void spread_some(const struct rendezvous *whole, int first, int count,
                        const struct abort_notice *notice, int64_t deadline_ms)
{
    struct pollfd polled[AT_ONCE];
    int open = 0;

    for (int i = 0; i < count; i++) {
        const struct rendezvous_peer *peer = &whole->peers[first + i];

        polled[i] = (struct pollfd){.fd = -1, .events = POLLOUT};
        if (first + i != whole->rank)
            polled[i].fd = link_begin(peer->address, peer->port);
        open += polled[i].fd >= 0;
    }
    while (open > 0 && clock_monotonic_ms() < deadline_ms) {
        poll(polled, (nfds_t)count, (int)(deadline_ms - clock_monotonic_ms()));
        for (int i = 0; i < count; i++) {
            if (polled[i].fd < 0 || polled[i].revents == 0)
                continue;
            link_write_some(polled[i].fd, notice, sizeof(*notice));
            close(polled[i].fd);
            polled[i].fd = -1;
            open--;
        }
    }
    for (int i = 0; i < count; i++) {
        if (polled[i].fd >= 0)
            close(polled[i].fd);
    }
}

void abort_notice_spread(const struct rendezvous *whole,
                         enum abort_notice_kind kind, const char *text)
{
    int64_t deadline_ms = clock_monotonic_ms() + SPREAD_MS;
    struct abort_notice notice;

    abort_notice_fill(&notice, whole, kind, text);
    for (int first = 0; first < whole->size; first += AT_ONCE) {
        int left = whole->size - first;

        spread_some(whole, first, left < AT_ONCE ? left : AT_ONCE, &notice,
                    deadline_ms);
    }
}
