/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h: a bounded first-in first-out queue of jobs, many producers, many
 * consumers (Vyukov's), whose consumer position is a pop counter that anybody
 * may read: a counter that has moved says that the ring is being drained.
 *
 * A job is copied in and out. Any thread may push, pop and look.
 */
#ifndef RTAIL_RING_H
#define RTAIL_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job.h"
#include "parker.h"

struct rtail__ring_cell {
	_Atomic uint64_t turn; /* position: free for that push; position + 1: holds the job of that push */
	struct rtail_job job;
	uint64_t pad;          /* two cells a cache line, none across two */
};

struct rtail__ring {
	_Alignas(RTAIL__LINE) struct rtail__ring_cell *cells;
	uint64_t mask;
	_Alignas(RTAIL__LINE) _Atomic uint64_t pushes;
	_Alignas(RTAIL__LINE) _Atomic uint64_t pops;
};

/*
 * Room for at least min_jobs, rounded up to a power of two of which half is slack: a consumer that is preempted inside a
 * pop keeps its cell, and only that cell, from being used again. 0, -EINVAL or -ENOMEM.
 */
int rtail__ring_init(struct rtail__ring *ring, size_t min_jobs);
void rtail__ring_done(struct rtail__ring *ring);

/* False: full. */
bool rtail__ring_push(struct rtail__ring *ring, struct rtail_job job);

/* False: empty, *ret_job untouched. */
bool rtail__ring_pop(struct rtail__ring *ring, struct rtail_job *ret_job);

/* True: a job can be popped. To be called after an idle state was announced: see [P3]. */
bool rtail__ring_has(const struct rtail__ring *ring);

/* Jobs taken out so far. */
static inline uint64_t rtail__ring_pops(const struct rtail__ring *ring)
{
	return atomic_load_explicit(&ring->pops, memory_order_relaxed);
}

/* Jobs pushed so far. */
static inline uint64_t rtail__ring_pushes(const struct rtail__ring *ring)
{
	return atomic_load_explicit(&ring->pushes, memory_order_relaxed);
}

#endif
