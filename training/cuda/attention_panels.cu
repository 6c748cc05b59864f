/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "training/cuda/attention_panels.cuh"

/* A block packs some rows of a matrix: of each row its thirds, of each third
 * its heads, of each head PANEL_CHUNK numbers a thread. */

static constexpr unsigned PACKED_ROWS = 8;

struct packing {
    const float *from; /* [rows][thirds][heads][width] */
    unsigned thirds;
    bool is_aligned; /* four numbers at a time may be read */
    const float *y;  /* or NULL: no numbers of queries */
    bf16 *to;
    struct query_numbers *queries;
};

struct alignas(PANEL_CHUNK * sizeof(bf16)) chunk {
    bf16 numbers[PANEL_CHUNK];
};

/* Numbers `column` to `column` + 7 of a head. */
static __device__ void read_chunk(const float *from, bool is_aligned,
                                  size_t column, size_t width,
                                  float to[PANEL_CHUNK])
{
#pragma unroll
    for (size_t i = 0; i < PANEL_CHUNK; i += 4) {
        float4 four = {0, 0, 0, 0};

        if (is_aligned && column + i < width)
            four = *(const float4 *)(from + column + i);
        to[i] = four.x;
        to[i + 1] = four.y;
        to[i + 2] = four.z;
        to[i + 3] = four.w;
    }
    for (size_t i = 0; !is_aligned && i < PANEL_CHUNK && column + i < width;
         i++)
        to[i] = from[column + i];
}

/* The lanes of a head add up their products; one of them keeps the sum. */
template <unsigned CHUNKS>
static __device__ void keep_numbers(const struct heads &it,
                                    const struct packing &how, float product,
                                    unsigned row, unsigned head)
{
    const unsigned length = (unsigned)it.length;

    for (unsigned lane = CHUNKS / 2; lane > 0; lane /= 2)
        product += __shfl_xor_sync(0xffffffffU, product, (int)lane);
    if (threadIdx.x % CHUNKS > 0 || row >= it.sequences * it.length)
        return;
    how.queries[((size_t)(row / length) * it.heads + head) * length +
                row % length] = {it.sums[row * it.heads + head] * LOG2_E,
                                 product};
}

template <int COLUMNS>
static __global__ void pack(struct heads it, struct packing how)
{
    constexpr unsigned CHUNKS = COLUMNS / PANEL_CHUNK;
    const unsigned heads = (unsigned)it.heads, parts = how.thirds * heads;
    const unsigned length = (unsigned)it.length;
    const unsigned sequences = (unsigned)it.sequences;

    for (unsigned i = threadIdx.x; i < PACKED_ROWS * parts * CHUNKS;
         i += THREADS) {
        const unsigned part = i / CHUNKS % parts, column = i % CHUNKS * 8;
        const unsigned row = blockIdx.x * PACKED_ROWS + i / CHUNKS / parts;
        const bool is_there = row < sequences * length;
        const size_t width = is_there ? it.width : 0; /* nothing is read */
        const size_t from = ((size_t)row * parts + part) * it.width;
        const size_t panel =
            (size_t)(part / heads * sequences + row / length) * heads +
            part % heads;
        float numbers[PANEL_CHUNK], y[PANEL_CHUNK];
        struct chunk chunk;

        read_chunk(how.from + from, how.is_aligned, column, width, numbers);
        if (how.y != NULL) {
            read_chunk(how.y + from, how.is_aligned, column, width, y);
            keep_numbers<CHUNKS>(it, how, dot(y, numbers, PANEL_CHUNK), row,
                                 part);
        }
        for (size_t j = 0; j < PANEL_CHUNK; j++)
            chunk.numbers[j] = __float2bfloat16_rn(numbers[j]);
        if (is_there)
            *(struct chunk *)(how.to +
                              (panel * length + row % length) * COLUMNS +
                              column) = chunk;
    }
}

static bool is_aligned(const float *data)
{
    return (uintptr_t)data % sizeof(float4) == 0;
}

static void start(const char *operation, const struct heads &it, int columns,
                  const struct packing &how)
{
    const size_t rows = it.sequences * it.length;
    const struct launch many =
        each_block(operation, (rows + PACKED_ROWS - 1) / PACKED_ROWS);

    launch(many,
           columns == 32   ? pack<32>
           : columns == 64 ? pack<64>
                           : pack<128>,
           it, how);
}

static void pack_all(const char *operation, const struct heads &it,
                     const struct panels *panels)
{
    const size_t rows = it.sequences * it.heads * it.length;
    const bool fits = it.width % 4 == 0;
    struct packing how = {};

    how.from = it.qkv;
    how.thirds = 3;
    how.is_aligned = fits && is_aligned(it.qkv);
    how.to = panels->rows;
    start(operation, it, panels->columns, how);
    if (it.dy == NULL)
        return;
    how.from = it.dy;
    how.thirds = 1;
    how.is_aligned = fits && is_aligned(it.dy) && is_aligned(it.y);
    how.y = it.y;
    how.to += PANEL_DY * rows * (size_t)panels->columns;
    how.queries = panels->queries;
    start(operation, it, panels->columns, how);
}

bool panels_take(const char *operation, const struct heads &it,
                 struct panels *panels)
{
    const bool goes_back = it.dy != NULL;
    const size_t rows = it.sequences * it.heads * it.length;
    const int columns = it.width <= 32 ? 32 : it.width <= 64 ? 64 : 128;
    const size_t row_bytes = (goes_back ? PANELS : PANEL_DY) * (size_t)columns *
                             sizeof(*panels->rows);
    const size_t query_bytes = goes_back ? sizeof(*panels->queries) : 0;
    char *room = NULL;

    device_check(operation,
                 cudaMallocAsync(&room, rows * (row_bytes + query_bytes),
                                 device_stream()));
    if (room == NULL)
        return false;
    panels->columns = columns;
    panels->rows = (bf16 *)room;
    panels->queries = (struct query_numbers *)(room + rows * row_bytes);
    pack_all(operation, it, panels);
    return true;
}

void panels_release(const char *operation, const struct panels *panels)
{
    device_check(operation, cudaFreeAsync(panels->rows, device_stream()));
}
