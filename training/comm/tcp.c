/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "training/comm/abort_notice.h"
#include "training/comm/wire.h"

/*
 * Over TCP: a connection between any two ranks, which the higher one makes to
 * the lower one's listener.
 */

/* Looks that are taken before one sleeps. */
enum { TRIES = 50 };

struct tcp {
    struct wire wire; /* first */
    int *fds;         /* [size]; -1: none */
    struct pollfd *polled;
};

static struct tcp *tcp_of(struct comm *comm)
{
    return (struct tcp *)(void *)comm;
}

enum { HEAD = sizeof(struct comm_call) };

static bool is_sent(const struct transfer *it)
{
    return !it->sends || it->sent == HEAD + it->out_bytes;
}

static bool is_received(const struct transfer *it)
{
    return !it->receives || it->received == HEAD + it->in_bytes;
}

/* What is left of the call and of the bytes behind it. */
static int rest_of(struct iovec parts[2], size_t done, void *head, void *bytes,
                   size_t count)
{
    size_t skip = done < HEAD ? 0 : done - HEAD;
    int used = 0;

    if (done < HEAD)
        parts[used++] = (struct iovec){(char *)head + done, HEAD - done};
    if (count > skip)
        parts[used++] = (struct iovec){(char *)bytes + skip, count - skip};
    return used;
}

static void *without_const(const void *bytes)
{
    return (void *)(uintptr_t)bytes;
}

/* Bytes that went; -1: the other end is closed. */
static ptrdiff_t push(struct tcp *tcp, struct transfer *it)
{
    struct iovec parts[2];
    struct msghdr message = {.msg_iov = parts};
    ssize_t put;

    message.msg_iovlen = (size_t)rest_of(parts, it->sent, &tcp->wire.comm.call,
                                         without_const(it->out), it->out_bytes);
    put = sendmsg(tcp->fds[it->rank], &message, MSG_NOSIGNAL);
    if (put >= 0)
        it->sent += (size_t)put;
    else if (errno == EAGAIN || errno == EINTR)
        put = 0;
    return put;
}

static ptrdiff_t pull(struct tcp *tcp, struct transfer *it)
{
    struct iovec parts[2];
    struct msghdr message = {.msg_iov = parts};
    ssize_t got;

    message.msg_iovlen =
        (size_t)rest_of(parts, it->received, &it->theirs, it->in, it->in_bytes);
    got = recvmsg(tcp->fds[it->rank], &message, 0);
    if (got > 0)
        it->received += (size_t)got;
    else if (got == 0)
        got = -1;
    else if (errno == EAGAIN || errno == EINTR)
        got = 0;
    return got;
}

/* Bytes moved either way; -1 with an error. */
static ptrdiff_t move(struct tcp *tcp, struct transfer *it, struct err *err)
{
    bool had_head = it->received >= HEAD;
    ptrdiff_t put = is_sent(it) ? 0 : push(tcp, it);
    ptrdiff_t got = is_received(it) ? 0 : pull(tcp, it);

    if (!had_head && it->received >= HEAD &&
        comm_compare(&tcp->wire.comm, it->rank, &it->theirs, err) != 0)
        return -1;
    if (got < 0 || put < 0)
        return comm_say_died(&tcp->wire.comm, it->rank, err);
    return put + got;
}

/* The first that is not done yet, or NULL. */
static struct transfer *unfinished(struct transfer *transfers, int count)
{
    for (int i = 0; i < count; i++) {
        if (!is_sent(&transfers[i]) || !is_received(&transfers[i]))
            return &transfers[i];
    }
    return NULL;
}

/* Until something can move, or for a slice. */
static int sleep_on(struct tcp *tcp, const struct transfer *transfers,
                    int count, struct err *err)
{
    for (int i = 0; i < count; i++) {
        short events = is_sent(&transfers[i]) ? 0 : POLLOUT;

        if (!is_received(&transfers[i]))
            events |= POLLIN;
        tcp->polled[i] = (struct pollfd){
            .fd = events != 0 ? tcp->fds[transfers[i].rank] : -1,
            .events = events};
    }
    if (poll(tcp->polled, (nfds_t)count, COMM_SLICE_MS) != 0)
        return 0;
    return comm_check(&tcp->wire.comm, err);
}

static int tcp_run(struct wire *wire, struct transfer *transfers, int count,
                   struct err *err)
{
    struct tcp *tcp = tcp_of(&wire->comm);
    int64_t still_since_ms = 0;
    struct transfer *missed;
    int tries = 0;

    for (;;) {
        ptrdiff_t moved = 0;

        for (int i = 0; i < count; i++) {
            ptrdiff_t bytes = move(tcp, &transfers[i], err);

            if (bytes < 0)
                return -1;
            moved += bytes;
        }
        missed = unfinished(transfers, count);
        if (missed == NULL)
            return 0;
        if (moved > 0) {
            tries = 0;
            still_since_ms = 0;
        } else if (tries++ < TRIES) {
            sched_yield();
        } else {
            if (still_since_ms == 0)
                still_since_ms = clock_monotonic_ms();
            if (sleep_on(tcp, transfers, count, err) != 0)
                return -1;
            if (clock_monotonic_ms() - still_since_ms > wire->comm.timeout_ms)
                return comm_say_late(&wire->comm, missed->rank, err);
        }
    }
}

/* To all ranks below this one, or to the first. */
static int connect_down(struct tcp *tcp, bool only_first, int64_t deadline_ms,
                        struct err *err)
{
    const struct comm *comm = &tcp->wire.comm;
    struct abort_notice greeting;

    abort_notice_fill(&greeting, comm->rendezvous->whole, NOTICE_LINK, "");
    for (int i = 0; i < (only_first ? 1 : comm->rank); i++) {
        const struct rendezvous_peer *peer = &comm->rendezvous->peers[i];

        tcp->fds[i] = link_connect(peer->address, peer->port, deadline_ms, err);
        if (tcp->fds[i] < 0 ||
            link_send(tcp->fds[i], &greeting, sizeof(greeting), deadline_ms,
                      err) != 0)
            return err_prefix(err, "rank %d on host %s", peer->rank,
                              peer->host);
    }
    return 0;
}

static int place_of(const struct comm *comm, int rank)
{
    for (int i = 0; i < comm->size; i++) {
        if (comm->rendezvous->peers[i].rank == rank)
            return i;
    }
    return -1;
}

/* From all above. */
static int accept_up(struct tcp *tcp, int64_t deadline_ms, struct err *err)
{
    struct comm *comm = &tcp->wire.comm;
    const struct rendezvous *whole = comm->rendezvous->whole;
    struct pollfd polled = {.fd = whole->listener, .events = POLLIN};
    int missing = comm->size - 1 - comm->rank, lowest = comm->rank + 1;

    while (missing > 0) {
        struct abort_notice greeting;
        int fd = abort_notice_accept(whole, &greeting), place;

        if (fd < 0) {
            poll(&polled, 1, COMM_SLICE_MS);
            while (tcp->fds[lowest] >= 0)
                lowest++;
            if (clock_monotonic_ms() > deadline_ms)
                return comm_say_late(comm, lowest, err);
            continue;
        }
        place = place_of(comm, greeting.rank);
        if (greeting.kind != NOTICE_LINK || place <= comm->rank ||
            tcp->fds[place] >= 0) {
            close(fd);
            return err_set(err, ERR_FAILED, "rank %d failed: %s", greeting.rank,
                           greeting.text);
        }
        tcp->fds[place] = fd;
        missing--;
    }
    return 0;
}

void wire_destroy_tcp(struct comm *comm)
{
    struct tcp *tcp = tcp_of(comm);

    for (int i = 0; i < comm->size; i++) {
        if (tcp->fds[i] >= 0)
            close(tcp->fds[i]);
    }
    wire_clear(&tcp->wire);
    free(tcp->polled);
    free(tcp->fds);
    free(tcp);
}

struct comm *wire_create_tcp(const struct comm_kind *kind, bool only_first,
                             const struct rendezvous *rendezvous,
                             const struct comm_options *options,
                             struct err *err)
{
    int64_t deadline_ms = clock_monotonic_ms() + options->timeout_ms;
    struct tcp *tcp = mem_zero(sizeof(*tcp));
    struct comm *comm = &tcp->wire.comm;

    comm_init(comm, kind, rendezvous, options);
    tcp->fds = mem_array((size_t)comm->size, sizeof(*tcp->fds));
    tcp->polled = mem_array((size_t)comm->size, sizeof(*tcp->polled));
    for (int i = 0; i < comm->size; i++)
        tcp->fds[i] = -1;
    if (wire_init(&tcp->wire, tcp_run, options, err) == 0 &&
        (comm->rank == 0 ||
         connect_down(tcp, only_first, deadline_ms, err) == 0) &&
        ((comm->rank > 0 && only_first) ||
         accept_up(tcp, deadline_ms, err) == 0))
        return comm;
    wire_destroy_tcp(comm);
    return NULL;
}

static struct comm *tcp_create(const struct rendezvous *rendezvous,
                               const struct comm_options *options,
                               struct err *err)
{
    return wire_create_tcp(&comm_tcp, false, rendezvous, options, err);
}

/* What was sent before the end may not have been read yet. */
static int tcp_watch(struct comm *comm, struct err *err)
{
    struct tcp *tcp = tcp_of(comm);

    for (int i = 0; i < comm->size; i++)
        tcp->polled[i] =
            (struct pollfd){.fd = tcp->fds[i], .events = POLLRDHUP};
    if (poll(tcp->polled, (nfds_t)comm->size, 0) <= 0)
        return 0;
    for (int i = 0; i < comm->size; i++) {
        if (tcp->polled[i].revents != 0)
            return comm_say_died(comm, i, err);
    }
    return 0;
}

const struct comm_kind comm_tcp = {
    .name = "tcp",
    .create = tcp_create,
    .destroy = wire_destroy_tcp,
    .all_reduce = wire_all_reduce,
    .reduce_scatter = wire_reduce_scatter,
    .all_gather = wire_all_gather,
    .broadcast = wire_broadcast,
    .barrier = wire_barrier,
    .watch = tcp_watch,
};
