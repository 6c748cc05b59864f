/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/launch.cuh"
#include "training/cuda/ops_cuda.cuh"

/* A block a row. */
static __global__ void embedding(const uint16_t *tokens, struct matrix table,
                                 struct matrix positions, struct matrix x)
{
    const size_t row = blockIdx.x, width = x.columns;
    const float *a = table.data + tokens[row] * width;
    const float *b = positions.data + row % positions.rows * width;
    float *to = x.data + row * width;

    for (size_t i = threadIdx.x; i < width; i += THREADS)
        to[i] = a[i] + b[i];
}

void cuda_embedding(const uint16_t *tokens, struct matrix table,
                    struct matrix positions, struct matrix x)
{
    launch(each_block("embedding", x.rows), embedding, tokens, table, positions,
           x);
}

static __global__ void positions_grad(struct matrix dx,
                                      struct matrix dpositions)
{
    const size_t width = dx.columns, count = dpositions.rows * width;

    for (size_t i = first_element(); i < count; i += element_stride()) {
        float sum = 0;

        for (size_t at = i; at < dx.rows * width; at += count)
            sum += dx.data[at];
        dpositions.data[i] = sum;
    }
}

/*
 * The gradient of the table: rows are cut into chunks, and each chunk's rows
 * are sorted by their token, in order. Then a block a token adds up its rows,
 * chunk after chunk, so no two blocks write to one place and the order is that
 * of the rows.
 */

static constexpr unsigned CHUNK_ROWS = 1024;

/* A token's rows in a chunk's sorted ones. */
struct span {
    uint16_t first, count;
};

struct chunks {
    const uint16_t *tokens;
    size_t rows, count;
    unsigned *sorted;   /* [count][CHUNK_ROWS]: rows */
    struct span *spans; /* [tokens][count] */
};

/* A block a chunk, a thread a row: how many come before it is counted. */
static __global__ void sort_chunks(struct chunks it)
{
    __shared__ uint16_t tokens[CHUNK_ROWS];
    const size_t first = (size_t)blockIdx.x * CHUNK_ROWS;
    const size_t row = first + threadIdx.x;
    const unsigned count =
        it.rows - first < CHUNK_ROWS ? (unsigned)(it.rows - first) : CHUNK_ROWS;
    unsigned below = 0, before = 0, equal = 0, mine;

    if (row < it.rows)
        tokens[threadIdx.x] = it.tokens[row];
    __syncthreads();
    if (row >= it.rows)
        return;
    mine = tokens[threadIdx.x];
    for (unsigned i = 0; i < count; i++) {
        below += tokens[i] < mine;
        equal += tokens[i] == mine;
        before += tokens[i] == mine && i < threadIdx.x;
    }
    it.sorted[first + below + before] = (unsigned)row;
    if (before == 0)
        it.spans[mine * it.count + blockIdx.x] = {(uint16_t)below,
                                                  (uint16_t)equal};
}

static __device__ void add_to(float *sum, float x)
{
    *sum += x;
}

static __device__ void add_to(float4 *sum, float4 x)
{
    sum->x += x.x;
    sum->y += x.y;
    sum->z += x.z;
    sum->w += x.w;
}

/* Of dx's and the table's rows with so many numbers, or fours of them. */
template <typename Number>
static __global__ void table_grad(struct chunks it,
                                  const Number *__restrict__ dx,
                                  Number *__restrict__ dtable, size_t width)
{
    const struct span *spans = it.spans + blockIdx.x * it.count;
    Number *to = dtable + blockIdx.x * width;

    for (size_t i = threadIdx.x; i < width; i += THREADS) {
        Number sum = {};
        bool has_any = false;

        for (size_t chunk = 0; chunk < it.count; chunk++) {
            const struct span span = spans[chunk];
            const unsigned *rows = it.sorted + chunk * CHUNK_ROWS + span.first;

            if (span.count > 0 && !has_any)
                sum = to[i];
            has_any |= span.count > 0;
#pragma unroll 8
            for (unsigned j = 0; j < span.count; j++)
                add_to(&sum, dx[rows[j] * width + i]);
        }
        if (has_any)
            to[i] = sum;
    }
}

static void add_rows(const char *operation, const struct chunks &it,
                     struct matrix dx, struct matrix dtable)
{
    const struct launch each = each_block(operation, dtable.rows);
    const bool is_aligned =
        dx.columns % 4 == 0 &&
        ((uintptr_t)dx.data | (uintptr_t)dtable.data) % sizeof(float4) == 0;

    launch({operation, dim3((unsigned)it.count), dim3(CHUNK_ROWS), 0},
           sort_chunks, it);
    if (is_aligned)
        launch(each, table_grad<float4>, it, (const float4 *)dx.data,
               (float4 *)dtable.data, dx.columns / 4);
    else
        launch(each, table_grad<float>, it, (const float *)dx.data, dtable.data,
               dx.columns);
}

void cuda_embedding_grad(const uint16_t *tokens, struct matrix dx,
                         struct matrix dtable, struct matrix dpositions)
{
    const char *operation = "embedding_grad";
    const size_t count = (dx.rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    const size_t sorted_bytes = count * CHUNK_ROWS * sizeof(unsigned);
    const size_t span_bytes = dtable.rows * count * sizeof(struct span);
    char *room = NULL;

    launch(each_of(operation, dpositions.rows * dx.columns), positions_grad, dx,
           dpositions);
    device_check(operation, cudaMallocAsync(&room, sorted_bytes + span_bytes,
                                            device_stream()));
    if (room == NULL)
        return;
    device_check(operation, cudaMemsetAsync(room + sorted_bytes, 0, span_bytes,
                                            device_stream()));
    add_rows(operation,
             {tokens, dx.rows, count, (unsigned *)room,
              (struct span *)(room + sorted_bytes)},
             dx, dtable);
    device_check(operation, cudaFreeAsync(room, device_stream()));
}
