/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include <gsl/gsl_qrng.h>

#include "base/mem.h"
#include "base/rng.h"
#include "strategies/strategy_impl.h"

/*
 * Sobol's sequence from GSL (I. Sobol, USSR Comput. Math. Math. Phys. 7(4),
 * 1967), with Owen's nested uniform scrambling (A. Owen, "Randomly permuted
 * (t,m,s)-nets and (t,s)-sequences", 1995) keyed by the seed and dimension, by
 * hashing: B. Burley, "Practical hash-based Owen scrambling", JCGT 9(4), 2020,
 * section 4. The hash's constants are N. Vegdahl's ("Building a better LK
 * hash", 2021), who tested how well it mixes.
 *
 * GSL leaves out the sequence's first point, zero, without which the first
 * 2^k points are no net: it is put back. GSL ends at 40 dimensions. Each
 * further block of 40 uses the same points in another order, with scrambles
 * of its own (Burley, section 5, "padding"): a nested uniform shuffle keeps
 * aligned runs of 2^k points together, so that each block is a net as well.
 * It is done within windows of 1024 points, since GSL can only go forwards.
 */

enum {
    BLOCK = 40, /* dimensions */
    WINDOW_BITS = 10,
    WINDOW = 1 << WINDOW_BITS,
    GSL_BITS = 30
};

struct sobol {
    struct space *space;
    uint64_t seed;
    size_t *params;     /* [dimensions]: the parameters of more than a value */
    uint32_t *scramble; /* [dimensions] */
    uint32_t *shuffle;  /* [blocks], for the window that is loaded */
    size_t dimensions, blocks;
    gsl_qrng *generator; /* of min(dimensions, BLOCK) */
    uint64_t next_draw;  /* the index of the point it gives next, from 1 */
    uint64_t window;     /* which one is loaded; UINT64_MAX: none */
    uint32_t *points;    /* [WINDOW][min(dimensions, BLOCK)] */
    double *unit;        /* [space_count] */
};

static uint32_t reverse_bits(uint32_t x)
{
    x = __builtin_bswap32(x);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    return (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
}

/* Flips each bit depending on those above it and the key alone. */
static uint32_t scramble_nested(uint32_t x, uint32_t key)
{
    x = reverse_bits(x);
    x ^= x * 0x3d20adeau;
    x += key;
    x *= key >> 16 | 1;
    x ^= x * 0x05526c56u;
    x ^= x * 0x53a22864u;
    return reverse_bits(x);
}

static uint32_t make_key(const struct sobol *sobol, uint64_t number,
                         uint32_t stream)
{
    struct rng rng;

    rng_init(&rng, sobol->seed, number, stream);
    return rng_u32(&rng);
}

static size_t width(const struct sobol *sobol)
{
    return sobol->dimensions < BLOCK ? sobol->dimensions : BLOCK;
}

static void sobol_destroy(void *state)
{
    struct sobol *sobol = state;

    if (sobol == NULL)
        return;
    if (sobol->generator != NULL)
        gsl_qrng_free(sobol->generator);
    free(sobol->params);
    free(sobol->scramble);
    free(sobol->shuffle);
    free(sobol->points);
    free(sobol->unit);
    free(sobol);
}

static void *sobol_create(const struct strategy_options *options,
                          struct space *space, struct err *err)
{
    struct sobol *sobol = mem_zero(sizeof(*sobol));
    size_t count = space_count(space);

    sobol->space = space;
    sobol->seed = options->seed;
    sobol->params = mem_array(count, sizeof(*sobol->params));
    for (size_t i = 0; i < count; i++)
        if (param_cardinality(space_param(space, i)) != 1)
            sobol->params[sobol->dimensions++] = i;
    sobol->blocks = (sobol->dimensions + BLOCK - 1) / BLOCK;
    sobol->scramble = mem_array(sobol->dimensions, sizeof(uint32_t));
    for (size_t i = 0; i < sobol->dimensions; i++)
        sobol->scramble[i] = make_key(sobol, i, STREAM_SCRAMBLE);
    sobol->shuffle = mem_array(sobol->blocks, sizeof(uint32_t));
    sobol->points = mem_array(WINDOW * width(sobol), sizeof(uint32_t));
    sobol->unit = mem_array(count, sizeof(*sobol->unit));
    sobol->window = UINT64_MAX;
    sobol->next_draw = 1;
    if (sobol->dimensions == 0)
        return sobol;
    sobol->generator = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)width(sobol));
    if (sobol->generator == NULL) {
        err_set(err, ERR_FAILED,
                "cannot create a sobol sequence of %zu dimensions",
                sobol->dimensions);
        sobol_destroy(sobol);
        return NULL;
    }
    return sobol;
}

/* GSL's next point as fractions of 2^32. */
static void draw_point(struct sobol *sobol, uint32_t *point)
{
    double fractions[BLOCK];

    gsl_qrng_get(sobol->generator, fractions);
    for (size_t i = 0; i < width(sobol); i++)
        point[i] = (uint32_t)(fractions[i] * (1u << GSL_BITS))
                   << (32 - GSL_BITS);
    sobol->next_draw++;
}

static void load_window(struct sobol *sobol, uint64_t window)
{
    uint64_t first = window * WINDOW;
    size_t row = window == 0 ? 1 : 0; /* point 0 is all zeroes */

    if (sobol->next_draw > first + row) {
        gsl_qrng_init(sobol->generator);
        sobol->next_draw = 1;
    }
    while (sobol->next_draw < first)
        draw_point(sobol, sobol->points);
    for (size_t i = 0; row == 1 && i < width(sobol); i++)
        sobol->points[i] = 0;
    for (; row < WINDOW; row++)
        draw_point(sobol, &sobol->points[row * width(sobol)]);
    for (size_t i = 0; i < sobol->blocks; i++)
        sobol->shuffle[i] =
            make_key(sobol, window * sobol->blocks + i, STREAM_SHUFFLE);
    sobol->window = window;
}

static double coordinate(const struct sobol *sobol, size_t dimension,
                         uint32_t row)
{
    size_t block = dimension / BLOCK;
    uint32_t x;

    if (block > 0)
        row =
            scramble_nested(row << (32 - WINDOW_BITS), sobol->shuffle[block]) >>
            (32 - WINDOW_BITS);
    x = sobol->points[row * width(sobol) + dimension % BLOCK];
    return (scramble_nested(x, sobol->scramble[dimension]) + 0.5) * 0x1p-32;
}

/* The cursor is the point's index in the sequence. */
static enum ask_result sobol_next(void *state, struct ask *ask, struct err *err)
{
    struct sobol *sobol = state;

    if (ask->cursor >> GSL_BITS != 0) {
        err_set(err, ERR_FAILED,
                "the sobol sequence is used up after 2^%d points", GSL_BITS);
        return ASK_ERROR;
    }
    if (sobol->dimensions > 0 && ask->cursor / WINDOW != sobol->window)
        load_window(sobol, ask->cursor / WINDOW);
    for (size_t i = 0; i < sobol->dimensions; i++)
        sobol->unit[sobol->params[i]] =
            coordinate(sobol, i, (uint32_t)(ask->cursor % WINDOW));
    space_decode(sobol->space, sobol->unit, ask->point);
    ask->cursor++;
    return ASK_OK;
}

const struct strategy_method strategy_method_sobol = {
    .name = "sobol",
    .create = sobol_create,
    .destroy = sobol_destroy,
    .next = sobol_next,
};
