/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workflows/step_heap.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

static void put(struct step_heap *heap, size_t place, size_t step)
{
    heap->items[place] = step;
    heap->place[step] = place;
}

static bool is_before(const struct step_heap *heap, size_t a, size_t b)
{
    return heap->rank[heap->items[a]] < heap->rank[heap->items[b]];
}

static void swap(struct step_heap *heap, size_t a, size_t b)
{
    size_t step = heap->items[a];

    put(heap, a, heap->items[b]);
    put(heap, b, step);
}

static void rise(struct step_heap *heap, size_t place)
{
    while (place > 0 && is_before(heap, place, (place - 1) / 2)) {
        swap(heap, place, (place - 1) / 2);
        place = (place - 1) / 2;
    }
}

static void sink(struct step_heap *heap, size_t place)
{
    for (;;) {
        size_t first = place;

        for (size_t k = 2 * place + 1; k <= 2 * place + 2; k++)
            if (k < heap->count && is_before(heap, k, first))
                first = k;
        if (first == place)
            return;
        swap(heap, place, first);
        place = first;
    }
}

void step_heap_clear(struct step_heap *heap)
{
    free(heap->items);
    heap->items = NULL;
    heap->count = heap->capacity = 0;
}

void step_heap_add(struct step_heap *heap, size_t step)
{
    heap->items = mem_grow(heap->items, heap->count, &heap->capacity,
                           sizeof(*heap->items));
    put(heap, heap->count, step);
    rise(heap, heap->count++);
}

void step_heap_remove(struct step_heap *heap, size_t step)
{
    size_t place = heap->place[step];

    heap->count--;
    if (place == heap->count)
        return;
    put(heap, place, heap->items[heap->count]);
    rise(heap, place);
    sink(heap, place);
}
