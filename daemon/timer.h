/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.h: deadlines of the loop: a heap with lazy entries. Loop thread only.
 *
 * A timer has at most one deadline. Moving the deadline to a later time, or
 * clearing it, costs two stores: the heap entry stays where it is and is looked
 * at again when its old time comes. So a keep-alive connection that is served
 * every millisecond touches the heap once an idle-timeout, not once a request.
 */
#ifndef RINGTAIL_TIMER_H
#define RINGTAIL_TIMER_H

#include <stddef.h>
#include <stdint.h>

struct timer {
	uint64_t deadline_ns; /* 0 = none */
	uint64_t entry_ns;    /* where the heap entry stands; valid when slot != 0 */
	uint32_t slot;        /* position in the heap, from 1; 0 = no entry */
	uint32_t kind;        /* the owner's */
};

struct timer_heap {
	struct timer **entries; /* from 1 */
	size_t count, cap;
};

void timer_heap_init(struct timer_heap *heap);
void timer_heap_done(struct timer_heap *heap);

/* 0 or -ENOMEM (the timer is then not set). deadline_ns > 0. */
int timer_set(struct timer_heap *heap, struct timer *timer, uint32_t kind, uint64_t deadline_ns);

/* The deadline no longer counts. */
static inline void timer_clear(struct timer *timer)
{
	timer->deadline_ns = 0;
}

/* Takes the entry out: before the timer's memory goes away. */
void timer_remove(struct timer_heap *heap, struct timer *timer);

/* A timer whose deadline has passed (its deadline is cleared), or NULL. Call until NULL. */
struct timer *timer_expired(struct timer_heap *heap, uint64_t now_ns);

/* When to look again; UINT64_MAX = never. Never later than the earliest deadline. */
uint64_t timer_next_ns(const struct timer_heap *heap);

#endif
