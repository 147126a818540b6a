/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic_stats.c: reading the elastic pool's counters. Any thread, while the
 * pool lives; every counter has one writer, figures of different moments may
 * stand beside each other.
 */
#include "elastic_priv.h"

unsigned rtail_elastic_queued(const struct rtail_elastic *pool)
{
	uint64_t pops = rtail__ring_pops(&pool->ring), pushes = rtail__ring_pushes(&pool->ring);

	return pushes > pops ? (unsigned)(pushes - pops) : 0;
}

void rtail_elastic_stats(const struct rtail_elastic *pool, struct rtail_elastic_stats *ret_stats)
{
	uint64_t lane = atomic_load_explicit(&pool->lane, memory_order_relaxed);
	struct rtail_elastic_stats stats = {
		.threads = atomic_load_explicit(&pool->alive_shown, memory_order_relaxed),
		.threads_peak = atomic_load_explicit(&pool->peak, memory_order_relaxed),
		.parked = rtail__lane_parked(lane) + rtail__lane_aside(lane),
		.queued = rtail_elastic_queued(pool),
		.submitted = rtail__ring_pushes(&pool->ring),
		.refused = atomic_load_explicit(&pool->refused, memory_order_relaxed),
		.dropped = atomic_load_explicit(&pool->dropped, memory_order_relaxed),
		.grown = atomic_load_explicit(&pool->grown, memory_order_relaxed),
		.retired = atomic_load_explicit(&pool->retired, memory_order_relaxed),
		.grow_failed = atomic_load_explicit(&pool->grow_failed, memory_order_relaxed),
		.looks = atomic_load_explicit(&pool->looks, memory_order_relaxed),
	};

	for (unsigned i = 0; i < RTAIL_WAKE_SITES; i++)
		stats.wakes[i] = atomic_load_explicit(&pool->wakes[i], memory_order_relaxed);
	stats.wakes[RTAIL_WAKE_CHAIN] = atomic_load_explicit(&pool->chained, memory_order_relaxed);
	for (unsigned i = 0; i < pool->config.threads_max; i++) {
		const struct rtail__thread *thread = &pool->threads[i];

		stats.run += atomic_load_explicit(&thread->jobs, memory_order_relaxed);
		stats.parks += atomic_load_explicit(&thread->parks, memory_order_relaxed);
		stats.spurious += atomic_load_explicit(&thread->spurious, memory_order_relaxed);
		stats.held += rtail__thread_is_held(thread);
	}
	*ret_stats = stats;
}

void rtail_elastic_thread_stats(const struct rtail_elastic *pool, struct rtail_elastic_thread_stats *ret_rows,
				size_t *ret_count)
{
	size_t count = 0;

	for (unsigned i = 0; i < pool->config.threads_max && count < *ret_count; i++) {
		const struct rtail__thread *thread = &pool->threads[i];
		uint32_t phase = atomic_load_explicit(&thread->phase, memory_order_relaxed);
		uint64_t jobs = atomic_load_explicit(&thread->jobs, memory_order_relaxed);

		if (phase == RTAIL__FREE && !jobs)
			continue;
		ret_rows[count++] = (struct rtail_elastic_thread_stats){
			.index = i,
			.jobs = jobs,
			.parks = atomic_load_explicit(&thread->parks, memory_order_relaxed),
			.spurious = atomic_load_explicit(&thread->spurious, memory_order_relaxed),
			.is_alive = phase == RTAIL__STARTING || phase == RTAIL__LIVE,
			.is_held = rtail__thread_is_held(thread),
		};
	}
	*ret_count = count;
}
