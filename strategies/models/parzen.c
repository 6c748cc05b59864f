/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "strategies/models/parzen.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategies/fast_math.h"

/*
 * Along any axis the logarithm of a kernel at x is
 *
 *     offset - precision * distance
 *
 * where distance is (x - mean)^2, or for choices whether x is not mean. Even
 * kernels have precision and offset 0. Kernels come in blocks of LANES, whose
 * numbers for an axis lie side by side: the inner loops have a fixed length and
 * no branches, and compilers make them vector code.
 */

enum { LANES = 64 };

/* The logarithm of nothing, for lanes without a kernel. */
static const float no_weight = -1e30f;

struct cells {
    float mean[LANES]; /* NaN until parzen_end: inactive */
    float precision[LANES];
    float offset[LANES];
};

/* Of an axis of steps: the kernel around value k at all values. */
struct steps {
    float *offsets;    /* [cardinality] */
    float *cumulative; /* [cardinality][cardinality], the last one 1 */
};

struct parzen {
    const struct axes *axes;
    double *bandwidths;  /* [axes->count] */
    struct steps *steps; /* [axes->count] */
    size_t count;        /* of kernels */
    size_t blocks;       /* allocated */
    struct cells *cells; /* [blocks][axes->count] */
    float *log_weights;  /* [blocks][LANES] */
    double *weights;     /* [blocks][LANES]: from parzen_end on sums */
};

struct parzen *parzen_create(const struct axes *axes)
{
    struct parzen *parzen = mem_zero(sizeof(*parzen));

    parzen->axes = axes;
    parzen->bandwidths = mem_array(axes->count, sizeof(double));
    parzen->steps = mem_array(axes->count, sizeof(*parzen->steps));
    for (size_t i = 0; i < axes->count; i++) {
        size_t n = axes->list[i].cardinality;

        if (axes->list[i].kind != AXIS_STEPS)
            continue;
        parzen->steps[i].offsets = mem_array(n, sizeof(float));
        parzen->steps[i].cumulative = mem_array(n * n, sizeof(float));
    }
    return parzen;
}

void parzen_destroy(struct parzen *parzen)
{
    if (parzen == NULL)
        return;
    for (size_t i = 0; i < parzen->axes->count; i++) {
        free(parzen->steps[i].offsets);
        free(parzen->steps[i].cumulative);
    }
    free(parzen->steps);
    free(parzen->bandwidths);
    free(parzen->cells);
    free(parzen->log_weights);
    free(parzen->weights);
    free(parzen);
}

/* exp(-(c - c_k)^2 / 2 h^2) at the middles c of the shares, divided by its
 * integral. */
static void tabulate_steps(struct steps *steps, const struct axis *axis,
                           double bandwidth)
{
    size_t n = axis->cardinality;
    double precision = 0.5 / (bandwidth * bandwidth);

    for (size_t k = 0; k < n; k++) {
        float *row = steps->cumulative + k * n;
        double sum = 0;

        for (size_t v = 0; v < n; v++) {
            double distance = axis->centers[v] - axis->centers[k];

            sum += (axis->edges[v + 1] - axis->edges[v]) *
                   (double)fast_exp((float)(-precision * distance * distance));
            row[v] = (float)sum;
        }
        for (size_t v = 0; v < n; v++)
            row[v] /= (float)sum;
        steps->offsets[k] = (float)-log(fmax(sum, DBL_MIN));
    }
}

void parzen_begin(struct parzen *parzen, const double *bandwidths)
{
    const struct axes *axes = parzen->axes;

    parzen->count = 0;
    for (size_t i = 0; i < axes->count; i++) {
        parzen->bandwidths[i] = bandwidths[i];
        if (axes->list[i].kind == AXIS_STEPS)
            tabulate_steps(&parzen->steps[i], &axes->list[i], bandwidths[i]);
    }
}

static void reserve_block(struct parzen *parzen)
{
    size_t blocks = parzen->blocks > 0 ? 2 * parzen->blocks : 2;

    if (parzen->count < parzen->blocks * LANES)
        return;
    parzen->cells = mem_resize(parzen->cells, blocks * parzen->axes->count,
                               sizeof(*parzen->cells));
    parzen->log_weights = mem_resize(parzen->log_weights, blocks * LANES,
                                     sizeof(*parzen->log_weights));
    parzen->weights =
        mem_resize(parzen->weights, blocks * LANES, sizeof(*parzen->weights));
    parzen->blocks = blocks;
}

void parzen_add(struct parzen *parzen, const float *coordinates, double weight)
{
    size_t count = parzen->axes->count, lane = parzen->count % LANES;
    struct cells *cells;

    reserve_block(parzen);
    cells = parzen->cells + parzen->count / LANES * count;
    for (size_t i = 0; i < count; i++)
        cells[i].mean[lane] = coordinates != NULL ? coordinates[i] : NAN;
    parzen->weights[parzen->count++] = weight;
}

/* A normal density around m with its tails beyond 0 and 1 cut off has the
 * integral h sqrt(pi / 2) (erf(m / h sqrt 2) + erf((1 - m) / h sqrt 2)). */
SIMD_CLONES
static void fill_continuum(struct cells *cells, float bandwidth)
{
    float precision = 0.5f / (bandwidth * bandwidth);
    float scale = 0.707106781f / bandwidth;
    float height = 1.25331414f * bandwidth;

    for (size_t j = 0; j < LANES; j++) {
        float mean = cells->mean[j];
        float even = mean == mean ? 0.0f : 1.0f;
        float m = mean == mean ? mean : 0.5f;
        float tails = fast_erf(m * scale) + fast_erf((1 - m) * scale);

        cells->mean[j] = m;
        cells->precision[j] = (1 - even) * precision;
        cells->offset[j] = (even - 1) * fast_log(height * tails);
    }
}

static void fill_steps(struct cells *cells, const struct axis *axis,
                       const struct steps *steps, float bandwidth)
{
    for (size_t j = 0; j < LANES; j++) {
        bool is_even = isnan(cells->mean[j]);
        size_t k = is_even ? 0 : axis_index(axis, (double)cells->mean[j]);

        if (is_even)
            cells->mean[j] = 0;
        cells->precision[j] = is_even ? 0 : 0.5f / (bandwidth * bandwidth);
        cells->offset[j] = is_even ? 0 : steps->offsets[k];
    }
}

static void fill_choices(struct cells *cells, float cardinality, float h)
{
    float match = logf(cardinality * (1 - h) + h);

    for (size_t j = 0; j < LANES; j++) {
        bool is_even = isnan(cells->mean[j]);

        if (is_even)
            cells->mean[j] = 0;
        cells->precision[j] = is_even ? 0 : match - logf(h);
        cells->offset[j] = is_even ? 0 : match;
    }
}

static void fill(struct parzen *parzen, struct cells *cells, size_t index)
{
    const struct axis *axis = &parzen->axes->list[index];
    float bandwidth = (float)parzen->bandwidths[index];

    switch (axis->kind) {
    case AXIS_CONTINUUM:
        fill_continuum(cells, bandwidth);
        break;
    case AXIS_STEPS:
        fill_steps(cells, axis, &parzen->steps[index], bandwidth);
        break;
    case AXIS_CHOICES:
        fill_choices(cells, (float)axis->cardinality, bandwidth);
        break;
    }
}

static size_t block_count(const struct parzen *parzen)
{
    return (parzen->count + LANES - 1) / LANES;
}

void parzen_end(struct parzen *parzen)
{
    size_t axis_count = parzen->axes->count, count = parzen->count;
    size_t blocks = block_count(parzen);
    double sum = 0, before = 0;

    for (size_t k = 0; k < count; k++)
        sum += parzen->weights[k];
    for (size_t k = 0; k < count; k++) {
        parzen->log_weights[k] = (float)log(parzen->weights[k] / sum);
        before += parzen->weights[k] / sum;
        parzen->weights[k] = before;
    }
    for (size_t k = count; k < blocks * LANES; k++) {
        parzen->log_weights[k] = no_weight;
        for (size_t i = 0; i < axis_count; i++)
            parzen->cells[k / LANES * axis_count + i].mean[k % LANES] = NAN;
    }
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < axis_count; i++)
            fill(parzen, &parzen->cells[b * axis_count + i], i);
}

/* A standard normal number: the polar method (Marsaglia and Bray, SIAM Review
 * 6, 1964). */
static double draw_normal(struct rng *rng)
{
    double x, y, s;

    do {
        x = (double)rng_u32(rng) * 0x1p-31 - 1;
        y = (double)rng_u32(rng) * 0x1p-31 - 1;
        s = x * x + y * y;
    } while (s >= 1 || s <= 0);
    return x * sqrt(-2 * log(s) / s);
}

/* Where the bandwidth is at most the axis' length, a third or more of the
 * normal numbers are within it. */
static double draw_continuum(struct rng *rng, double mean, double bandwidth)
{
    double u;

    do {
        u = mean + bandwidth * draw_normal(rng);
    } while (u < 0 || u > 1);
    return u;
}

static double draw_step(struct rng *rng, const struct axis *axis,
                        const struct steps *steps, double mean)
{
    size_t n = axis->cardinality, v = 0;
    const float *row = steps->cumulative + axis_index(axis, mean) * n;
    float u = (float)rng_uniform(rng);

    while (v + 1 < n && u >= row[v])
        v++;
    return axis->centers[v];
}

/* Along one axis from the kernel in that lane. */
static double draw_axis(const struct parzen *parzen, struct rng *rng,
                        size_t index, const struct cells *cells, size_t lane)
{
    const struct axis *axis = &parzen->axes->list[index];
    double mean = (double)cells->mean[lane];
    double bandwidth = parzen->bandwidths[index];

    if (!(cells->precision[lane] > 0))
        return axis_snap(axis, rng_uniform(rng));
    switch (axis->kind) {
    case AXIS_CONTINUUM:
        return draw_continuum(rng, mean, bandwidth);
    case AXIS_STEPS:
        return draw_step(rng, axis, &parzen->steps[index], mean);
    case AXIS_CHOICES:
        break;
    }
    if (rng_uniform(rng) < bandwidth)
        return axis_snap(axis, rng_uniform(rng));
    return mean;
}

void parzen_draw(const struct parzen *parzen, struct rng *rng,
                 float *coordinates)
{
    double u = rng_uniform(rng);
    size_t low = 0, high = parzen->count - 1;
    const struct cells *cells;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (parzen->weights[middle] <= u)
            low = middle + 1;
        else
            high = middle;
    }
    cells = parzen->cells + low / LANES * parzen->axes->count;
    for (size_t i = 0; i < parzen->axes->count; i++)
        coordinates[i] =
            (float)draw_axis(parzen, rng, i, &cells[i], low % LANES);
}

static inline void add_distances(float *logs, const struct cells *cells,
                                 float x)
{
    for (size_t j = 0; j < LANES; j++) {
        float d = x - cells->mean[j];

        logs[j] += cells->offset[j] - cells->precision[j] * (d * d);
    }
}

static inline void add_mismatches(float *logs, const struct cells *cells,
                                  float x)
{
    for (size_t j = 0; j < LANES; j++)
        logs[j] += cells->offset[j] -
                   (x == cells->mean[j] ? 0.0f : cells->precision[j]);
}

/* A sum of exponentials as it grows: e^most times sum. */
struct exponentials {
    float most, sum;
};

static inline float find_most(const float *logs)
{
    float lanes[LANES / 2];

    for (size_t j = 0; j < LANES / 2; j++)
        lanes[j] =
            logs[j] > logs[j + LANES / 2] ? logs[j] : logs[j + LANES / 2];
    for (size_t width = LANES / 4; width > 0; width /= 2)
        for (size_t j = 0; j < width; j++)
            lanes[j] =
                lanes[j] > lanes[j + width] ? lanes[j] : lanes[j + width];
    return lanes[0];
}

static inline void add_exponentials(struct exponentials *total,
                                    const float *logs)
{
    float most = find_most(logs), lanes[LANES];

    if (most < total->most)
        most = total->most;
    for (size_t j = 0; j < LANES; j++)
        lanes[j] = fast_exp(logs[j] - most);
    for (size_t width = LANES / 2; width > 0; width /= 2)
        for (size_t j = 0; j < width; j++)
            lanes[j] += lanes[j + width];
    total->sum = total->sum * fast_exp(total->most - most) + lanes[0];
    total->most = most;
}

SIMD_CLONES
static void add_block(const struct axes *axes, const struct cells *cells,
                      const float *log_weights, const float *point,
                      struct exponentials *total)
{
    float logs[LANES];

    memcpy(logs, log_weights, sizeof(logs));
    for (size_t i = 0; i < axes->count; i++) {
        if (point[i] != point[i])
            continue;
        if (axes->list[i].kind == AXIS_CHOICES)
            add_mismatches(logs, &cells[i], point[i]);
        else
            add_distances(logs, &cells[i], point[i]);
    }
    add_exponentials(total, logs);
}

void parzen_log_densities(const struct parzen *parzen, const float *points,
                          size_t count, float *logs)
{
    const struct axes *axes = parzen->axes;
    struct exponentials *totals = mem_array(count, sizeof(*totals));

    for (size_t p = 0; p < count; p++)
        totals[p].most = no_weight;
    for (size_t b = 0; b < block_count(parzen); b++)
        for (size_t p = 0; p < count; p++)
            add_block(axes, parzen->cells + b * axes->count,
                      parzen->log_weights + b * LANES, points + p * axes->count,
                      &totals[p]);
    for (size_t p = 0; p < count; p++)
        logs[p] = totals[p].most + fast_log(totals[p].sum);
    free(totals);
}
