/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic_grow.c: how many threads the elastic pool has: growth, retirement,
 * and the joining of what has ended. Runs on the submitter's thread.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <time.h>

#include "clock.h"
#include "elastic_priv.h"

#define GROW_RETRY_NS RTAIL_S

void rtail__grow_set_alive(struct rtail_elastic *pool, unsigned alive)
{
	pool->alive = alive;
	atomic_store_explicit(&pool->alive_shown, alive, memory_order_relaxed);
	if (alive > atomic_load_explicit(&pool->peak, memory_order_relaxed))
		atomic_store_explicit(&pool->peak, alive, memory_order_relaxed);
}

static void count_failure(struct rtail_elastic *pool, uint64_t now_ns)
{
	rtail__count(&pool->grow_failed);
	pool->retry_ns = now_ns + GROW_RETRY_NS;
}

bool rtail__grow(struct rtail_elastic *pool, uint64_t now_ns)
{
	struct rtail__thread *thread = NULL;

	for (unsigned i = 0; i < pool->config.threads_max && !thread; i++)
		if (atomic_load_explicit(&pool->threads[i].phase, memory_order_acquire) == RTAIL__FREE)
			thread = &pool->threads[i];
	/* No slot: a thread that retired has not ended yet. */
	if (!thread || rtail__thread_start(thread) < 0) {
		count_failure(pool, now_ns);
		return false;
	}
	rtail__sight_reset(&thread->sight, now_ns);
	rtail__count(&pool->grown);
	rtail__count(&pool->wakes[RTAIL_WAKE_GROW]);
	rtail__grow_set_alive(pool, pool->alive + 1);
	pool->retire_ns = 0;
	return true;
}

void rtail__grow_reap(struct rtail_elastic *pool, uint64_t now_ns)
{
	for (unsigned i = 0; i < rtail__slots(pool); i++) {
		struct rtail__thread *thread = &pool->threads[i];
		uint32_t phase = atomic_load_explicit(&thread->phase, memory_order_acquire);

		if (phase != RTAIL__FAILED && phase != RTAIL__ENDED)
			continue;
		/* The phase is its last act but one: a join now could wait for a preempted thread. */
		if (pthread_tryjoin_np(thread->pthread, NULL))
			continue;
		if (phase == RTAIL__FAILED) {
			count_failure(pool, now_ns);
			rtail__grow_set_alive(pool, pool->alive - 1);
		} else {
			pool->ending--;
		}
		rtail__stall_close(&thread->stall);
		atomic_store_explicit(&thread->phase, RTAIL__FREE, memory_order_relaxed);
	}
}

static bool can_retire(const struct rtail__thread *thread)
{
	return atomic_load_explicit(&thread->phase, memory_order_acquire) == RTAIL__LIVE && !thread->is_leaving &&
	       rtail__parker_state(&thread->parker) == RTAIL__PARKED;
}

uint64_t rtail__grow_retire(struct rtail_elastic *pool, uint64_t now_ns)
{
	uint64_t idle_ns = pool->config.thread_idle_ns;

	if (pool->alive <= pool->config.threads)
		return RTAIL__NEVER;
	if (now_ns < pool->retire_ns)
		return pool->retire_ns;
	pool->retire_ns = now_ns + idle_ns / 4;
	for (unsigned i = 0; i < rtail__slots(pool) && pool->alive > pool->config.threads; i++) {
		struct rtail__thread *thread = &pool->threads[i];
		uint32_t stamp = atomic_load_explicit(&thread->stamp, memory_order_relaxed);

		if (!can_retire(thread))
			continue;
		if (stamp != thread->idle_stamp || !thread->idle_since_ns) {
			thread->idle_stamp = stamp;
			thread->idle_since_ns = now_ns;
		}
		if (now_ns < thread->idle_since_ns + idle_ns) {
			if (thread->idle_since_ns + idle_ns < pool->retire_ns)
				pool->retire_ns = thread->idle_since_ns + idle_ns;
			continue;
		}
		if (!rtail__lane_retire(thread))
			continue;
		thread->is_leaving = true;
		thread->idle_since_ns = 0;
		pool->ending++;
		rtail__count(&pool->retired);
		rtail__grow_set_alive(pool, pool->alive - 1);
	}
	return pool->alive > pool->config.threads ? pool->retire_ns : RTAIL__NEVER;
}

uint64_t rtail__grow_cpu(const struct rtail_elastic *pool)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < rtail__slots(pool); i++) {
		const struct rtail__thread *thread = &pool->threads[i];
		struct timespec ts;
		clockid_t clock;

		if (atomic_load_explicit(&thread->phase, memory_order_acquire) != RTAIL__LIVE || thread->is_leaving)
			continue;
		if (pthread_getcpuclockid(thread->pthread, &clock) || clock_gettime(clock, &ts))
			continue;
		sum += (uint64_t)ts.tv_sec * RTAIL_S + (uint64_t)ts.tv_nsec;
	}
	return sum;
}

void rtail__grow_measure(struct rtail_elastic *pool, uint64_t now_ns)
{
	pool->cpu_ns = pool->cpu_read(pool);
	pool->cpu_at_ns = now_ns;
}

void rtail__grow_measured(const struct rtail_elastic *pool, struct rtail__lane_view *view)
{
	uint64_t cpu_ns;

	view->measured_ns = view->used_ns = 0;
	if (pool->cpu_at_ns < view->since_ns)
		return;
	cpu_ns = pool->cpu_read(pool);
	view->measured_ns = view->now_ns - pool->cpu_at_ns;
	/* A thread that ended meanwhile has taken its time with it. */
	view->used_ns = cpu_ns > pool->cpu_ns ? cpu_ns - pool->cpu_ns : 0;
}
