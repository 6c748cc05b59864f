/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/comm/wire.h"

#include <stdlib.h>

#include "base/mem.h"
#include "training/comm/tree.h"

enum { SMALL_USUAL = 16 * 1024, LINE = 16 /* numbers */ };
enum { SEGMENT_BYTES = 256 * 1024 };

static struct wire *wire_of(struct comm *comm)
{
    return (struct wire *)(void *)comm;
}

int wire_init(struct wire *wire, wire_run_fn *run,
              const struct comm_options *options, struct err *err)
{
    size_t size = (size_t)wire->comm.size;
    size_t bytes = WIRE_CHUNK_BYTES + size * LINE * sizeof(float);

    wire->run = run;
    wire->small_bytes =
        options->small_bytes > 0 ? options->small_bytes : SMALL_USUAL;
    if (wire->small_bytes > WIRE_CHUNK_BYTES)
        wire->small_bytes = WIRE_CHUNK_BYTES;
    wire->rows = mem_array(size, sizeof(*wire->rows));
    wire->transfers = mem_array(size, sizeof(*wire->transfers));
    wire->scratch = malloc(bytes);
    if (wire->scratch == NULL)
        return err_set(err, ERR_SHORTAGE, "out of memory for %zu bytes", bytes);
    return 0;
}

void wire_clear(struct wire *wire)
{
    free(wire->scratch);
    free(wire->transfers);
    free(wire->rows);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void set_out(struct transfer *transfer, int rank, const void *bytes,
                    size_t count)
{
    *transfer = (struct transfer){
        .rank = rank, .sends = true, .out = bytes, .out_bytes = count};
}

static void set_in(struct transfer *transfer, int rank, void *bytes,
                   size_t count)
{
    transfer->rank = rank;
    transfer->receives = true;
    transfer->in = bytes;
    transfer->in_bytes = count;
}

struct message {
    int rank;
    void *bytes;
    size_t count;
};

/* Sends one and gets one. */
static int swap(struct wire *wire, struct message out, struct message in,
                struct err *err)
{
    struct transfer *transfers = wire->transfers;
    int count = out.rank == in.rank ? 1 : 2;

    set_out(&transfers[0], out.rank, out.bytes, out.count);
    if (count == 2)
        transfers[1] = (struct transfer){.sends = false};
    set_in(&transfers[count - 1], in.rank, in.bytes, in.count);
    return wire->run(wire, transfers, count, err);
}

/* Sums of ranks first .. first + n - 1, of which this is one: those of the
 * tree's two branches, then both. A rank of the shorter one gives its sum to
 * several of the longer one. */
static int double_up(struct wire *wire, int first, int n, float *data,
                     size_t count, struct err *err)
{
    size_t bytes = count * sizeof(*data);
    int m, rest, place = wire->comm.rank - first, used = 1, partner;
    bool is_left;

    if (n == 1)
        return 0;
    m = comm_tree_split(n);
    rest = n - m;
    is_left = place < m;
    if (double_up(wire, is_left ? first : first + m, is_left ? m : rest, data,
                  count, err) != 0)
        return -1;
    partner = is_left ? first + m + place % rest : first + place - m;
    set_out(&wire->transfers[0], partner, data, bytes);
    wire->transfers[0].sends = !is_left || place < rest;
    set_in(&wire->transfers[0], partner, wire->scratch, bytes);
    for (int i = place - m + rest; !is_left && i < m; i += rest)
        set_out(&wire->transfers[used++], first + i, data, bytes);
    if (wire->run(wire, wire->transfers, used, err) != 0)
        return -1;
    if (is_left)
        comm_tree_add(data, data, wire->scratch, count);
    else
        comm_tree_add(data, wire->scratch, data, count);
    return 0;
}

static size_t slice_begin(const struct wire *wire, int rank, size_t count)
{
    size_t lines = (count + LINE - 1) / LINE;

    return least(lines * (size_t)rank / (size_t)wire->comm.size * LINE, count);
}

/* Each rank's part of some numbers. */
struct slices {
    float *data;
    size_t count;  /* 0: all are as long and as far apart as here; else */
    size_t length; /* slice_begin cuts so many */
    size_t stride;
};

static float *slice_at(const struct wire *wire, const struct slices *slices,
                       int rank, size_t *length)
{
    size_t begin;

    if (slices->count == 0) {
        *length = slices->length;
        return slices->data + (size_t)rank * slices->stride;
    }
    begin = slice_begin(wire, rank, slices->count);
    *length = slice_begin(wire, rank + 1, slices->count) - begin;
    return slices->data + begin;
}

static int scatter_sums(struct wire *wire, const struct slices *slices,
                        struct err *err)
{
    int rank = wire->comm.rank, size = wire->comm.size;
    size_t length, theirs;
    float *own = slice_at(wire, slices, rank, &length);
    float *next = wire->scratch;

    for (int k = 1; k < size; k++, next += length) {
        int to = (rank + k) % size, from = (rank - k + size) % size;
        float *out = slice_at(wire, slices, to, &theirs);

        if (swap(wire, (struct message){to, out, theirs * sizeof(*out)},
                 (struct message){from, next, length * sizeof(*out)}, err) != 0)
            return -1;
        wire->rows[from] = next;
    }
    wire->rows[rank] = own;
    comm_tree_sum(own, wire->rows, size, length);
    return 0;
}

static int gather_slices(struct wire *wire, const struct slices *slices,
                         struct err *err)
{
    int rank = wire->comm.rank, size = wire->comm.size;
    size_t length, theirs;
    float *own = slice_at(wire, slices, rank, &length);

    for (int k = 1; k < size; k++) {
        int to = (rank + k) % size, from = (rank - k + size) % size;
        float *in = slice_at(wire, slices, from, &theirs);

        if (swap(wire, (struct message){to, own, length * sizeof(*own)},
                 (struct message){from, in, theirs * sizeof(*in)}, err) != 0)
            return -1;
    }
    return 0;
}

int wire_all_reduce(struct comm *comm, float *data, size_t count,
                    struct err *err)
{
    struct wire *wire = wire_of(comm);
    size_t most = WIRE_CHUNK_BYTES / sizeof(*data);

    if (count * sizeof(*data) <= wire->small_bytes)
        return double_up(wire, 0, comm->size, data, count, err);
    for (size_t done = 0; done < count; done += most) {
        struct slices slices = {.data = data + done,
                                .count = least(count - done, most)};

        if (scatter_sums(wire, &slices, err) != 0 ||
            gather_slices(wire, &slices, err) != 0)
            return -1;
    }
    return 0;
}

int wire_reduce_scatter_apart(struct comm *comm, float *data, size_t share,
                              size_t apart, struct err *err)
{
    struct wire *wire = wire_of(comm);
    struct slices slices = {.stride = apart};
    size_t most = WIRE_CHUNK_BYTES / sizeof(*data) / (size_t)comm->size;

    slices.data = data;
    if (share == 0)
        return wire_barrier(comm, err);
    for (; share > 0; share -= slices.length, slices.data += slices.length) {
        slices.length = least(share, most);
        if (scatter_sums(wire, &slices, err) != 0)
            return -1;
    }
    return 0;
}

int wire_reduce_scatter(struct comm *comm, float *data, size_t share,
                        struct err *err)
{
    return wire_reduce_scatter_apart(comm, data, share, share, err);
}

int wire_all_gather_apart(struct comm *comm, char *data, size_t share_bytes,
                          size_t apart, struct err *err)
{
    int rank = comm->rank, size = comm->size;

    for (int k = 1; k < size; k++) {
        int to = (rank + k) % size, from = (rank - k + size) % size;
        char *own = data + (size_t)rank * apart;
        char *in = data + (size_t)from * apart;

        if (swap(wire_of(comm), (struct message){to, own, share_bytes},
                 (struct message){from, in, share_bytes}, err) != 0)
            return -1;
    }
    return 0;
}

int wire_all_gather(struct comm *comm, void *data, size_t share_bytes,
                    struct err *err)
{
    return wire_all_gather_apart(comm, data, share_bytes, share_bytes, err);
}

/* Along a binomial tree, a segment after the other. */
static int pass_on(struct wire *wire, char *bytes, size_t count, int root,
                   struct err *err)
{
    int size = wire->comm.size, used = 0, bit = 1;
    int place = (wire->comm.rank - root + size) % size;

    while (bit < size && (place & bit) == 0)
        bit *= 2;
    if (place != 0) {
        struct transfer *from = &wire->transfers[0];

        *from = (struct transfer){.sends = false};
        set_in(from, (place - bit + root) % size, bytes, count);
        if (wire->run(wire, from, 1, err) != 0)
            return -1;
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        if (place + bit < size)
            set_out(&wire->transfers[used++], (place + bit + root) % size,
                    bytes, count);
    }
    return used == 0 ? 0 : wire->run(wire, wire->transfers, used, err);
}

int wire_broadcast(struct comm *comm, void *data, size_t bytes, int root,
                   struct err *err)
{
    size_t done = 0;

    do {
        size_t length = least(bytes - done, SEGMENT_BYTES);

        if (pass_on(wire_of(comm), (char *)data + done, length, root, err) != 0)
            return -1;
        done += length;
    } while (done < bytes);
    return 0;
}

/* Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization",
 * 1988: dissemination. */
int wire_barrier(struct comm *comm, struct err *err)
{
    for (int k = 1; k < comm->size; k *= 2) {
        struct message out = {.rank = (comm->rank + k) % comm->size};
        struct message in = {.rank =
                                 (comm->rank - k + comm->size) % comm->size};

        if (swap(wire_of(comm), out, in, err) != 0)
            return -1;
    }
    return 0;
}
