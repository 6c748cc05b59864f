/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "training/comm/abort_notice.h"
#include "training/comm/comm_impl.h"

/*
 * How ranks that wait find out what is wrong with the others.
 *
 * Who waits too long need not be waited for by the one at fault: a rank may
 * wait for a second one that waits for a third, which stands still. So the
 * roll is called: whoever is waiting says so to all, and who says nothing is
 * the one that is missed; or else somebody waits in another call.
 */

enum { LAST_WORDS_MS = 300, ROLL_MS = 2000 };

static const char *const op_names[] = {
    [COMM_CREATE] = "start",
    [COMM_ALL_REDUCE] = "all-reduce",
    [COMM_REDUCE_SCATTER] = "reduce-scatter",
    [COMM_ALL_GATHER] = "all-gather",
    [COMM_BROADCAST] = "broadcast",
    [COMM_BARRIER] = "barrier",
    [COMM_WINDOW] = "window",
    [COMM_BACKEND] = "backend",
};

void comm_describe(const struct comm_call *call, char text[COMM_CALL_MAX])
{
    bool is_known = call->op >= 0 && call->op < (int)ARRAY_LEN(op_names);
    int length = snprintf(text, COMM_CALL_MAX, "%s %" PRIu64,
                          is_known ? op_names[call->op] : "call", call->number);

    if (call->bucket >= 0)
        snprintf(text + length, COMM_CALL_MAX - (size_t)length, ", bucket %d",
                 call->bucket);
}

/* With all that must be the same: "broadcast 2, 400 bytes, root 0" */
static void describe_fully(const struct comm_call *call,
                           char text[COMM_CALL_MAX])
{
    size_t length;

    comm_describe(call, text);
    length = strlen(text);
    snprintf(text + length, COMM_CALL_MAX - length,
             ", %" PRIu64 " bytes, root %d, place %" PRIu64, call->bytes,
             call->root, call->place);
}

static int say_other(const struct comm *comm,
                     const struct rendezvous_peer *peer, const char *theirs,
                     struct err *err)
{
    char own[COMM_CALL_MAX];

    describe_fully(&comm->call, own);
    return err_set(err, ERR_FAILED,
                   "rank %d on host %s made a different call: %s, not %s",
                   peer->rank, peer->host, theirs, own);
}

int comm_compare(const struct comm *comm, int rank,
                 const struct comm_call *theirs, struct err *err)
{
    char call[COMM_CALL_MAX];

    if (memcmp(&comm->call, theirs, sizeof(*theirs)) == 0)
        return 0;
    describe_fully(theirs, call);
    return say_other(comm, &comm->rendezvous->peers[rank], call, err);
}

static void say_waiting(const struct comm *comm)
{
    const struct rendezvous *whole = comm->rendezvous->whole;

    char *own = whole->heard[whole->rank];

    if (own[0] != '\0')
        return;
    describe_fully(&comm->call, own);
    abort_notice_spread(whole, NOTICE_WAITING, own);
}

int comm_check(struct comm *comm, struct err *err)
{
    const struct rendezvous *whole = comm->rendezvous->whole;
    struct abort_notice notice;
    int fd = abort_notice_accept(whole, &notice);

    if (fd < 0)
        return 0;
    close(fd);
    if (notice.kind == NOTICE_WAITING) {
        snprintf(whole->heard[notice.rank], sizeof(*whole->heard), "%.*s",
                 RENDEZVOUS_HEARD_MAX - 1, notice.text);
        say_waiting(comm);
        return 0;
    }
    comm->is_told = true;
    return err_set(err, ERR_FAILED, "rank %d on host %s failed: %s",
                   notice.rank, whole->peers[notice.rank].host, notice.text);
}

/* Looks at what comes for a while, or until as many have been heard. */
static int listen_for(struct comm *comm, int64_t limit_ms, int wanted,
                      struct err *err)
{
    struct pollfd polled = {.fd = comm->rendezvous->whole->listener,
                            .events = POLLIN};
    int64_t deadline_ms = clock_monotonic_ms() + limit_ms, left_ms;
    int heard = 0;

    while (heard < wanted &&
           (left_ms = deadline_ms - clock_monotonic_ms()) > 0) {
        if (poll(&polled, 1, (int)left_ms) == 1 && comm_check(comm, err) != 0)
            return -1;
        heard = 0;
        for (int i = 0; i < comm->rendezvous->whole->size; i++)
            heard += comm->rendezvous->heard[i][0] != '\0';
    }
    return 0;
}

int comm_say_died(struct comm *comm, int rank, struct err *err)
{
    const struct rendezvous_peer *peer = &comm->rendezvous->peers[rank];

    /* It may have said why. */
    if (listen_for(comm, LAST_WORDS_MS, INT_MAX, err) != 0)
        return -1;
    return err_set(err, ERR_FAILED, "rank %d on host %s crashed or exited",
                   peer->rank, peer->host);
}

int comm_say_late(struct comm *comm, int rank, struct err *err)
{
    const struct rendezvous *whole = comm->rendezvous->whole;
    int missed = comm->rendezvous->peers[rank].rank;

    say_waiting(comm);
    if (listen_for(comm, ROLL_MS, whole->size, err) != 0)
        return -1;
    for (int i = 0; i < whole->size && whole->heard[missed][0] != '\0'; i++) {
        if (whole->heard[i][0] == '\0')
            missed = i;
    }
    for (int i = 0; i < whole->size && whole->heard[missed][0] != '\0'; i++) {
        if (strcmp(whole->heard[i], whole->heard[whole->rank]) != 0)
            return say_other(comm, &whole->peers[i], whole->heard[i], err);
    }
    return err_set(err, ERR_FAILED,
                   "no answer from rank %d on host %s for %g s", missed,
                   whole->peers[missed].host, (double)comm->timeout_ms / 1000);
}
