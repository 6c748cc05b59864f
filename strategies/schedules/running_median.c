/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The median of a growing set, in two heaps. Every number in `low` is at most
 * every number in `high`, and `low` has as many or one more. An added number
 * passes through the other heap, which keeps the first property; moving one
 * number back keeps the second.
 */
#include "strategies/schedules/running_median.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static void push(struct number_heap *heap, double number)
{
    size_t place = heap->count;

    heap->items = mem_grow(heap->items, heap->count, &heap->capacity,
                           sizeof(*heap->items));
    heap->count++;
    for (; place > 0 && heap->items[(place - 1) / 2] > number;
         place = (place - 1) / 2)
        heap->items[place] = heap->items[(place - 1) / 2];
    heap->items[place] = number;
}

static double pop(struct number_heap *heap)
{
    double least = heap->items[0], last = heap->items[--heap->count];
    size_t place = 0, child;

    while ((child = 2 * place + 1) < heap->count) {
        if (child + 1 < heap->count &&
            heap->items[child + 1] < heap->items[child])
            child++;
        if (heap->items[child] >= last)
            break;
        heap->items[place] = heap->items[child];
        place = child;
    }
    heap->items[place] = last;
    return least;
}

void running_median_add(struct running_median *median, double number)
{
    struct number_heap *low = &median->low, *high = &median->high;

    push(high, isnan(number) ? (double)INFINITY : number);
    push(low, -pop(high));
    if (low->count > high->count + 1)
        push(high, -pop(low));
}

size_t running_median_count(const struct running_median *median)
{
    return median->low.count + median->high.count;
}

double running_median_value(const struct running_median *median)
{
    double low, high;

    if (median->low.count == 0)
        return (double)NAN;
    low = -median->low.items[0];
    if (median->low.count > median->high.count)
        return low;
    high = median->high.items[0];
    return low == high ? low : low / 2 + high / 2;
}

void running_median_clear(struct running_median *median)
{
    free(median->low.items);
    free(median->high.items);
    *median = (struct running_median){0};
}
