/* SPDX-License-Identifier: Apache-2.0 */
/* timer.c: see timer.h. A binary heap ordered by entry_ns; entry_ns <= deadline_ns wherever a deadline is set. */
#include "timer.h"

#include <errno.h>
#include <stdlib.h>

void timer_heap_init(struct timer_heap *heap)
{
	*heap = (struct timer_heap){ 0 };
}

void timer_heap_done(struct timer_heap *heap)
{
	free(heap->entries);
	*heap = (struct timer_heap){ 0 };
}

static void place(struct timer_heap *heap, size_t slot, struct timer *timer)
{
	heap->entries[slot] = timer;
	timer->slot = (uint32_t)slot;
}

static void sift_up(struct timer_heap *heap, size_t slot, struct timer *timer)
{
	while (slot > 1 && heap->entries[slot / 2]->entry_ns > timer->entry_ns) {
		place(heap, slot, heap->entries[slot / 2]);
		slot /= 2;
	}
	place(heap, slot, timer);
}

static void sift_down(struct timer_heap *heap, size_t slot, struct timer *timer)
{
	for (;;) {
		size_t child = slot * 2;

		if (child > heap->count)
			break;
		if (child < heap->count && heap->entries[child + 1]->entry_ns < heap->entries[child]->entry_ns)
			child++;
		if (heap->entries[child]->entry_ns >= timer->entry_ns)
			break;
		place(heap, slot, heap->entries[child]);
		slot = child;
	}
	place(heap, slot, timer);
}

static void move(struct timer_heap *heap, struct timer *timer, uint64_t entry_ns)
{
	size_t slot = timer->slot;

	timer->entry_ns = entry_ns;
	if (slot > 1 && heap->entries[slot / 2]->entry_ns > entry_ns)
		sift_up(heap, slot, timer);
	else
		sift_down(heap, slot, timer);
}

int timer_set(struct timer_heap *heap, struct timer *timer, uint32_t kind, uint64_t deadline_ns)
{
	if (!timer->slot) {
		if (heap->count + 1 >= heap->cap) {
			size_t cap = heap->cap ? heap->cap * 2 : 64;
			struct timer **entries = realloc(heap->entries, cap * sizeof(*entries));

			if (!entries)
				return -ENOMEM;
			heap->entries = entries;
			heap->cap = cap;
		}
		timer->entry_ns = deadline_ns;
		sift_up(heap, ++heap->count, timer);
	} else if (timer->entry_ns > deadline_ns) {
		move(heap, timer, deadline_ns);
	}
	timer->deadline_ns = deadline_ns;
	timer->kind = kind;
	return 0;
}

void timer_remove(struct timer_heap *heap, struct timer *timer)
{
	size_t slot = timer->slot;
	struct timer *last;

	timer->deadline_ns = 0;
	if (!slot)
		return;
	timer->slot = 0;
	last = heap->entries[heap->count--];
	if (last == timer)
		return;
	last->slot = (uint32_t)slot;
	heap->entries[slot] = last;
	move(heap, last, last->entry_ns);
}

struct timer *timer_expired(struct timer_heap *heap, uint64_t now_ns)
{
	while (heap->count && heap->entries[1]->entry_ns <= now_ns) {
		struct timer *timer = heap->entries[1];

		if (timer->deadline_ns > now_ns) {
			move(heap, timer, timer->deadline_ns);
			continue;
		}
		if (timer->deadline_ns) {
			timer_remove(heap, timer);
			return timer;
		}
		timer_remove(heap, timer);
	}
	return NULL;
}

uint64_t timer_next_ns(const struct timer_heap *heap)
{
	return heap->count ? heap->entries[1]->entry_ns : UINT64_MAX;
}
