/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c: the queue of ring.h. Lives inside its pool, as long as the pool.
 * Labels [P..]: the table in elastic_priv.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "ring.h"

#define RING_MIN 64u
#define RING_MAX (1u << 30)

int rtail__ring_init(struct rtail__ring *ring, size_t min_jobs)
{
	size_t size = RING_MIN;

	if (min_jobs < 1 || min_jobs > RING_MAX)
		return -EINVAL;
	while (size < 2 * min_jobs)
		size *= 2;
	ring->cells = aligned_alloc(RTAIL__LINE, size * sizeof(*ring->cells));
	if (!ring->cells)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++)
		atomic_init(&ring->cells[i].turn, i);
	ring->mask = size - 1;
	atomic_init(&ring->pushes, 0);
	atomic_init(&ring->pops, 0);
	return 0;
}

void rtail__ring_done(struct rtail__ring *ring)
{
	free(ring->cells);
	ring->cells = NULL;
}

bool rtail__ring_push(struct rtail__ring *ring, struct rtail_job job)
{
	uint64_t pos = atomic_load_explicit(&ring->pushes, memory_order_relaxed);

	for (;;) {
		struct rtail__ring_cell *cell = &ring->cells[pos & ring->mask];
		/* [P2] acquire: the cell's last job has been copied out; pairs with the release in rtail__ring_pop(). */
		int64_t ahead = (int64_t)(atomic_load_explicit(&cell->turn, memory_order_acquire) - pos);

		if (ahead < 0)
			return false;
		if (ahead > 0) {
			pos = atomic_load_explicit(&ring->pushes, memory_order_relaxed);
			continue;
		}
		if (!atomic_compare_exchange_weak_explicit(&ring->pushes, &pos, pos + 1, memory_order_relaxed,
							   memory_order_relaxed))
			continue;
		cell->job = job;
		/* [P1] release: publishes the job; pairs with the acquire in rtail__ring_pop().
		 * [P3] seq_cst: the job is there before the submitter looks who is idle. */
		atomic_store_explicit(&cell->turn, pos + 1, memory_order_seq_cst);
		return true;
	}
}

bool rtail__ring_pop(struct rtail__ring *ring, struct rtail_job *ret_job)
{
	uint64_t pos = atomic_load_explicit(&ring->pops, memory_order_relaxed);

	for (;;) {
		struct rtail__ring_cell *cell = &ring->cells[pos & ring->mask];
		/* [P1] acquire: the job; pairs with the release in rtail__ring_push(). */
		int64_t ahead = (int64_t)(atomic_load_explicit(&cell->turn, memory_order_acquire) - (pos + 1));

		if (ahead < 0)
			return false;
		if (ahead > 0) {
			pos = atomic_load_explicit(&ring->pops, memory_order_relaxed);
			continue;
		}
		if (!atomic_compare_exchange_weak_explicit(&ring->pops, &pos, pos + 1, memory_order_relaxed,
							   memory_order_relaxed))
			continue;
		*ret_job = cell->job;
		/* [P2] release: the cell may be used again; pairs with the acquire in rtail__ring_push(). */
		atomic_store_explicit(&cell->turn, pos + ring->mask + 1, memory_order_release);
		return true;
	}
}

bool rtail__ring_has(const struct rtail__ring *ring)
{
	uint64_t pos = atomic_load_explicit(&ring->pops, memory_order_seq_cst);

	for (;;) {
		const struct rtail__ring_cell *cell = &ring->cells[pos & ring->mask];
		/* [P3] seq_cst: after the caller announced itself idle; pairs with the store in rtail__ring_push(). */
		int64_t ahead = (int64_t)(atomic_load_explicit(&cell->turn, memory_order_seq_cst) - (pos + 1));

		if (ahead < 0)
			return false;
		if (ahead == 0)
			return true;
		pos = atomic_load_explicit(&ring->pops, memory_order_seq_cst);
	}
}
