/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/rendezvous.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "training/comm/rendezvous_host.h"

enum { RETRY_MS = 20, RETRY_MOST_MS = 250 };
/* How much longer others wait for what rank 0 has to say about who has not
 * come. */
enum { VERDICT_MS = 5000 };

/* Processes that see the same processes and the same network. */
static void describe_place(char place[RENDEZVOUS_PLACE_MAX])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    char boot[64] = "";
    struct stat pids = {0}, net = {0};

    if (file != NULL) {
        if (fgets(boot, sizeof(boot), file) == NULL)
            boot[0] = '\0';
        fclose(file);
        boot[strcspn(boot, "\n")] = '\0';
    }
    stat("/proc/self/ns/pid", &pids);
    stat("/proc/self/ns/net", &net);
    snprintf(place, RENDEZVOUS_PLACE_MAX, "%s %ju %ju %u", boot,
             (uintmax_t)pids.st_ino, (uintmax_t)net.st_ino, (unsigned)getuid());
}

static struct rendezvous *create(const struct ranks *ranks, struct err *err)
{
    struct rendezvous *it = mem_zero(sizeof(*it));
    struct rendezvous_peer *own;

    it->whole = it;
    it->size = ranks->size;
    it->rank = ranks->rank;
    it->peers = mem_array((size_t)ranks->size, sizeof(*it->peers));
    it->heard = mem_array((size_t)ranks->size, sizeof(*it->heard));
    it->memory_fd = memfd_create("smtrain", MFD_CLOEXEC);
    it->listener = link_listen(ranks->address, 0, err);
    if (it->listener < 0) {
        rendezvous_destroy(it);
        return NULL;
    }
    own = &it->peers[ranks->rank];
    own->rank = ranks->rank;
    own->port = link_port(it->listener);
    own->pid = getpid();
    own->memory_fd = it->memory_fd;
    snprintf(own->host, sizeof(own->host), "%s", ranks->host);
    describe_place(own->place);
    return it;
}

/* One try: 1: try again, since rank 0 is not there yet. */
static int ask(struct rendezvous *it, int fd, struct rendezvous_hello *hello,
               int64_t deadline_ms, struct err *err)
{
    struct rendezvous_verdict verdict;

    link_own_address(fd, hello->peer.address);
    if (link_send(fd, hello, sizeof(*hello), deadline_ms, NULL) != 0)
        return 1;
    if (link_receive(fd, &verdict, sizeof(verdict), deadline_ms + VERDICT_MS,
                     err) != 0)
        return err->kind != ERR_BUSY ? 1 : -1;
    if (verdict.magic != RENDEZVOUS_MAGIC)
        return err_set(err, ERR_FAILED,
                       "the process that answered is not rank 0");
    if (verdict.is_refused) {
        verdict.text[sizeof(verdict.text) - 1] = '\0';
        return err_set(err, ERR_FAILED, "%s", verdict.text);
    }
    it->token = verdict.token;
    return link_receive(fd, it->peers, (size_t)it->size * sizeof(*it->peers),
                        deadline_ms + VERDICT_MS, err);
}

static int attend(struct rendezvous *it, const struct ranks *ranks,
                  struct rendezvous_hello *hello, int64_t deadline_ms,
                  struct err *err)
{
    int status = 1, wait_ms = RETRY_MS;
    struct err last = {.text = ""};

    while (status == 1) {
        int fd = link_connect(ranks->address, ranks->port, deadline_ms, &last);

        if (fd >= 0) {
            status = ask(it, fd, hello, deadline_ms, &last);
            close(fd);
        } else if (last.kind != ERR_BUSY) {
            status = -1;
        }
        if (status == 1 && clock_monotonic_ms() >= deadline_ms)
            status = -1;
        if (status == 1)
            poll(NULL, 0, wait_ms);
        if (wait_ms < RETRY_MOST_MS)
            wait_ms += wait_ms / 2;
    }
    if (status != 0 && err != NULL) {
        *err = last;
        if (err->kind == ERR_BUSY)
            err_set(err, ERR_FAILED, "cannot reach rank 0 at %s port %d: %s",
                    ranks->address, ranks->port, last.text);
    }
    return status;
}

struct rendezvous *rendezvous_hold(const struct ranks *ranks, const char *terms,
                                   int64_t timeout_ms, struct err *err)
{
    int64_t deadline_ms = clock_monotonic_ms() + timeout_ms;
    struct rendezvous *it = create(ranks, err);
    struct rendezvous_hello hello;
    int status;

    if (it == NULL)
        return NULL;
    memset(&hello, 0, sizeof(hello));
    hello.magic = RENDEZVOUS_MAGIC;
    hello.size = ranks->size;
    hello.peer = it->peers[ranks->rank];
    snprintf(hello.terms, sizeof(hello.terms), "%s", terms);
    if (ranks->rank > 0)
        status = attend(it, ranks, &hello, deadline_ms, err);
    else if (getrandom(&it->token, sizeof(it->token), 0) !=
             (ssize_t)sizeof(it->token))
        status =
            err_set_errno(err, ERR_FAILED, errno, "cannot get random numbers");
    else
        status = rendezvous_be_host(it, ranks, &hello, deadline_ms, err);
    if (status == 0)
        return it;
    err_prefix(err, "rank %d of %d on host %s", ranks->rank, ranks->size,
               ranks->host);
    rendezvous_destroy(it);
    return NULL;
}

struct rendezvous *rendezvous_part(const struct rendezvous *whole,
                                   const int *places, int count)
{
    struct rendezvous *it = mem_zero(sizeof(*it));

    it->whole = whole;
    it->size = count;
    it->token = whole->token;
    it->listener = it->memory_fd = -1;
    it->heard = whole->heard;
    it->peers = mem_array((size_t)count, sizeof(*it->peers));
    for (int i = 0; i < count; i++) {
        it->peers[i] = whole->peers[places[i]];
        if (places[i] == whole->rank)
            it->rank = i;
    }
    return it;
}

void rendezvous_destroy(struct rendezvous *it)
{
    if (it == NULL)
        return;
    if (it->listener >= 0)
        close(it->listener);
    if (it->memory_fd >= 0)
        close(it->memory_fd);
    if (it->whole == it)
        free(it->heard);
    free(it->peers);
    free(it);
}
