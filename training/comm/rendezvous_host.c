/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/rendezvous_host.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"

enum { STRANGERS_MAX = 64, SLICE_MS = 100 };
enum { GREETING_MS = 500, ANSWER_MS = 2000, LINGER_MS = 10 * 1000 };

/* Who has connected. Guests 1 .. size - 1 are ranks, the others have not (yet)
 * said who they are. */
struct guest {
    int fd;
    size_t heard; /* bytes of hello */
    struct rendezvous_hello hello;
    char reached_at[LINK_ADDRESS_MAX]; /* this host's address, for them */
};

struct party {
    struct rendezvous *it;
    const struct rendezvous_hello *own;
    int listener;
    struct guest *ranks; /* [size], fd -1: not here yet */
    int come;            /* how many are, rank 0 too */
    struct guest unknown[STRANGERS_MAX];
    int unknown_count;
};

static void send_away(struct party *party, int i)
{
    party->unknown[i] = party->unknown[--party->unknown_count];
}

static struct rendezvous_verdict verdict_of(const struct rendezvous *it,
                                            const char *refusal)
{
    struct rendezvous_verdict verdict;

    memset(&verdict, 0, sizeof(verdict));
    verdict.magic = RENDEZVOUS_MAGIC;
    verdict.token = it->token;
    verdict.is_refused = refusal != NULL;
    if (refusal != NULL)
        snprintf(verdict.text, sizeof(verdict.text), "%s", refusal);
    return verdict;
}

/* What all were waiting for. */
static void tell_table(struct party *party)
{
    const struct rendezvous *it = party->it;
    struct rendezvous_verdict verdict = verdict_of(it, NULL);

    for (int i = 1; i < it->size; i++) {
        int64_t deadline_ms = clock_monotonic_ms() + ANSWER_MS;
        int fd = party->ranks[i].fd;

        if (link_send(fd, &verdict, sizeof(verdict), deadline_ms, NULL) == 0)
            link_send(fd, it->peers, (size_t)it->size * sizeof(*it->peers),
                      deadline_ms, NULL);
    }
}

/* Who comes later is to know as well, and not wait for nobody. */
static void refuse_late(struct party *party, int expected,
                        const struct rendezvous_verdict *verdict)
{
    int64_t deadline_ms = clock_monotonic_ms() + LINGER_MS;
    struct pollfd polled = {.fd = party->listener, .events = POLLIN};

    while (expected > 0 && clock_monotonic_ms() < deadline_ms) {
        struct rendezvous_hello hello;
        int fd = link_accept(party->listener);

        if (fd < 0) {
            poll(&polled, 1, SLICE_MS);
            continue;
        }
        if (link_receive(fd, &hello, sizeof(hello),
                         clock_monotonic_ms() + GREETING_MS, NULL) == 0 &&
            hello.magic == RENDEZVOUS_MAGIC &&
            link_send(fd, verdict, sizeof(*verdict), 0, NULL) == 0)
            expected--;
        close(fd);
    }
}

static void refuse_all(struct party *party, const char *text, bool is_over)
{
    struct rendezvous_verdict verdict = verdict_of(party->it, text);
    int expected = party->it->size - 1;

    for (int i = 0; i < party->unknown_count; i++) {
        expected -= party->unknown[i].heard == sizeof(struct rendezvous_hello);
        link_send(party->unknown[i].fd, &verdict, sizeof(verdict), 0, NULL);
    }
    for (int i = 1; i < party->it->size; i++) {
        if (party->ranks[i].fd < 0)
            continue;
        expected--;
        link_send(party->ranks[i].fd, &verdict, sizeof(verdict),
                  clock_monotonic_ms() + ANSWER_MS, NULL);
    }
    if (party->listener >= 0 && !is_over)
        refuse_late(party, expected, &verdict);
}

/* A rank has said all. What does not fit ends the party. */
static int welcome(struct party *party, const struct guest *guest,
                   struct err *err)
{
    const struct rendezvous_hello *hello = &guest->hello;
    const struct rendezvous_peer *peer = &hello->peer;
    const struct rendezvous *it = party->it;
    struct guest *place;

    if (hello->size != it->size || peer->rank < 0 || peer->rank >= it->size)
        return err_set(err, ERR_FAILED,
                       "rank %d on host %s was started for %d ranks, rank 0 on "
                       "host %s for %d",
                       peer->rank, peer->host, hello->size,
                       party->own->peer.host, it->size);
    place = &party->ranks[peer->rank];
    if (peer->rank == 0 || place->fd >= 0)
        return err_set(
            err, ERR_FAILED,
            "duplicate rank %d: one process on host %s and one on host %s",
            peer->rank,
            peer->rank == 0 ? party->own->peer.host : place->hello.peer.host,
            peer->host);
    if (strcmp(hello->terms, party->own->terms) != 0)
        return err_set(err, ERR_FAILED,
                       "rank %d on host %s was started with '%s', rank 0 on "
                       "host %s with '%s'",
                       peer->rank, peer->host, hello->terms,
                       party->own->peer.host, party->own->terms);
    *place = *guest;
    party->come++;
    return 0;
}

static void end_texts(struct rendezvous_hello *hello)
{
    struct rendezvous_peer *peer = &hello->peer;

    hello->terms[sizeof(hello->terms) - 1] = '\0';
    peer->host[sizeof(peer->host) - 1] = '\0';
    peer->address[sizeof(peer->address) - 1] = '\0';
    peer->place[sizeof(peer->place) - 1] = '\0';
}

static int hear(struct party *party, int i, struct err *err)
{
    struct guest *guest = &party->unknown[i], rank;
    ptrdiff_t got =
        link_read_some(guest->fd, (char *)&guest->hello + guest->heard,
                       sizeof(guest->hello) - guest->heard);

    if (got > 0)
        guest->heard += (size_t)got;
    if (got < 0 || (guest->heard >= sizeof(guest->hello.magic) &&
                    guest->hello.magic != RENDEZVOUS_MAGIC)) {
        close(guest->fd);
        send_away(party, i);
        return 0;
    }
    if (guest->heard < sizeof(guest->hello))
        return 0;
    end_texts(&guest->hello);
    link_own_address(guest->fd, guest->reached_at);
    rank = *guest;
    if (welcome(party, &rank, err) != 0)
        return -1;
    send_away(party, i);
    return 0;
}

/* Whether one that had come has died since. */
static int check_here(const struct party *party, struct err *err)
{
    for (int i = 1; i < party->it->size; i++) {
        const struct guest *rank = &party->ranks[i];
        char byte;

        if (rank->fd >= 0 && link_read_some(rank->fd, &byte, 1) != 0)
            return err_set(err, ERR_FAILED,
                           "rank %d on host %s crashed or exited before all "
                           "ranks connected",
                           i, rank->hello.peer.host);
    }
    return 0;
}

static int name_missing(const struct party *party, struct err *err)
{
    struct buf names = BUF_INIT;
    int missing = party->it->size - party->come, named = 0;

    for (int i = 1; i < party->it->size && named < 8; i++) {
        if (party->ranks[i].fd < 0)
            buf_printf(&names, "%s%d", named++ > 0 ? ", " : "", i);
    }
    err_set(err, ERR_FAILED, "rank%s %s%s of %d did not connect in time",
            units_plural(missing), buf_text(&names),
            missing > named ? " ..." : "", party->it->size);
    buf_clear(&names);
    return -1;
}

static int receive(struct party *party, int64_t deadline_ms, struct err *err)
{
    struct pollfd polled[STRANGERS_MAX + 1];

    while (party->come < party->it->size) {
        int count = party->unknown_count, fd;

        if (clock_monotonic_ms() >= deadline_ms)
            return name_missing(party, err);
        polled[0] = (struct pollfd){.fd = party->listener, .events = POLLIN};
        for (int i = 0; i < count; i++)
            polled[i + 1] =
                (struct pollfd){.fd = party->unknown[i].fd, .events = POLLIN};
        poll(polled, (nfds_t)count + 1, SLICE_MS);
        for (int i = count; i-- > 0;) {
            if (polled[i + 1].revents != 0 && hear(party, i, err) != 0)
                return -1;
        }
        if (party->unknown_count < STRANGERS_MAX &&
            (fd = link_accept(party->listener)) >= 0)
            party->unknown[party->unknown_count++] = (struct guest){.fd = fd};
        if (check_here(party, err) != 0)
            return -1;
    }
    return 0;
}

/* Who came over the loopback is on this host; others know this host by the
 * address at which they reached it. */
static void fill_table(struct party *party)
{
    struct rendezvous *it = party->it;
    const char *outside = NULL;

    for (int i = 1; i < it->size; i++) {
        it->peers[i] = party->ranks[i].hello.peer;
        if (strncmp(party->ranks[i].reached_at, "127.", 4) != 0 &&
            !link_is_loopback(party->ranks[i].reached_at))
            outside = party->ranks[i].reached_at;
    }
    snprintf(it->peers[0].address, LINK_ADDRESS_MAX, "%s",
             outside != NULL ? outside : party->ranks[1].reached_at);
    for (int i = 1; outside != NULL && i < it->size; i++) {
        if (strncmp(it->peers[i].address, "127.", 4) == 0 ||
            link_is_loopback(it->peers[i].address))
            snprintf(it->peers[i].address, LINK_ADDRESS_MAX, "%s", outside);
    }
}

int rendezvous_be_host(struct rendezvous *it, const struct ranks *ranks,
                       struct rendezvous_hello *own, int64_t deadline_ms,
                       struct err *err)
{
    struct party *party = mem_zero(sizeof(*party));
    struct err why = {.text = ""};
    int status = -1;

    party->it = it;
    party->own = own;
    party->come = 1;
    party->ranks = mem_array((size_t)it->size, sizeof(*party->ranks));
    for (int i = 0; i < it->size; i++)
        party->ranks[i].fd = -1;
    party->listener = link_listen(ranks->address, ranks->port, &why);
    if (party->listener >= 0)
        status = receive(party, deadline_ms, &why);
    if (status == 0) {
        fill_table(party);
        tell_table(party);
    } else {
        refuse_all(party, why.text, clock_monotonic_ms() >= deadline_ms);
        if (err != NULL)
            *err = why;
    }
    for (int i = 0; i < party->unknown_count; i++)
        close(party->unknown[i].fd);
    for (int i = 1; i < it->size; i++) {
        if (party->ranks[i].fd >= 0)
            close(party->ranks[i].fd);
    }
    if (party->listener >= 0)
        close(party->listener);
    free(party->ranks);
    free(party);
    return status;
}
