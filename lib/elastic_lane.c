/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic_lane.c: idling and waking: the lane word, the threads' own words and
 * the shared word of the modes SHARED and OFF.
 *
 * Threads come here when they have found nothing to do, the submitter when it
 * has decided to wake. Invariant: a thread that has announced itself idle is
 * counted in the lane word before its own word says so, and taken off the
 * count by whoever moves its word. A submitter that has pushed a job therefore
 * sees it counted, or is seen by its second look at the ring.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <sched.h>

#include "clock.h"
#include "elastic_priv.h"

#define SPINS_A_CLOCK 16

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static uint64_t lane_read(const struct rtail_elastic *pool)
{
	/* [P3] seq_cst: after the push. */
	return atomic_load_explicit(&pool->lane, memory_order_seq_cst);
}

static uint64_t lane_move(struct rtail_elastic *pool, uint64_t change)
{
	/* [P3] seq_cst: counted idle before the ring is looked at again. */
	return atomic_fetch_add_explicit(&pool->lane, change + RTAIL__LANE_MOVED, memory_order_seq_cst);
}

static uint64_t lane_kind(enum rtail__parker_state kind)
{
	return kind == RTAIL__ASIDE ? RTAIL__LANE_ASIDE : RTAIL__LANE_PARKED;
}

static bool lane_begin_spin(struct rtail_elastic *pool)
{
	uint64_t word = lane_read(pool);

	while (!rtail__lane_is_spinning(word)) {
		if (atomic_compare_exchange_weak_explicit(&pool->lane, &word,
							  word + RTAIL__LANE_SPINNING + RTAIL__LANE_MOVED,
							  memory_order_seq_cst, memory_order_relaxed))
			return true;
	}
	return false;
}

static bool lane_unpark_one(struct rtail_elastic *pool)
{
	uint64_t word = lane_read(pool);

	while (rtail__lane_parked(word)) {
		if (atomic_compare_exchange_weak_explicit(&pool->lane, &word,
							  word - RTAIL__LANE_PARKED + RTAIL__LANE_MOVED,
							  memory_order_seq_cst, memory_order_relaxed))
			return true;
	}
	return false;
}

bool rtail__lane_may_take(struct rtail__thread *thread)
{
	struct rtail_elastic *pool = thread->pool;

	if (!atomic_load_explicit(&thread->owned, memory_order_relaxed))
		return true;
	if (atomic_load_explicit(&pool->stop, memory_order_relaxed))
		return true;
	return !rtail__lane_parked(lane_read(pool)) && !atomic_load_explicit(&pool->can_grow, memory_order_relaxed);
}

/*
 * On the submitter's own CPU a spinner keeps it from running: nothing can come before the spin is over. Measured on two
 * CPUs, one connection: 64 thousand jobs a second with such spins, 94 thousand without.
 */
static bool may_spin(const struct rtail_elastic *pool)
{
	return pool->spin_ns &&
	       (pool->spins_beside || pool->config.mode == RTAIL_ELASTIC_OFF ||
		sched_getcpu() != atomic_load_explicit(&pool->submitter_cpu, memory_order_relaxed));
}

/* Spins. True: there is something to look at. */
static bool spin(struct rtail__thread *thread)
{
	struct rtail_elastic *pool = thread->pool;
	bool is_found = false;
	uint64_t end_ns;

	if (!rtail__parker_spin(&thread->parker))
		return true;
	end_ns = rtail_now_ns() + pool->spin_ns;
	do {
		for (unsigned i = 0; i < SPINS_A_CLOCK && !is_found; i++) {
			is_found = rtail__ring_has(&pool->ring) ||
				   rtail__parker_state(&thread->parker) != RTAIL__SPINNING;
			cpu_relax();
		}
	} while (!is_found && may_spin(pool) && rtail_now_ns() < end_ns);
	return !rtail__parker_unspin(&thread->parker) || is_found;
}

/* Parked aside with a job in the ring that is not this thread's to take: somebody who is parked gets it, else the tick. */
static void hand_over(struct rtail_elastic *pool)
{
	struct rtail__thread *other;
	uint32_t *word = rtail__lane_take(pool, false, &other);

	if (!word)
		return;
	rtail__futex_wake(word, 1);
	atomic_fetch_add_explicit(&pool->chained, 1, memory_order_relaxed);
}

/* Counted idle already. False: retired. */
static bool park(struct rtail__thread *thread, enum rtail__parker_state kind, uint32_t stamp)
{
	struct rtail_elastic *pool = thread->pool;

	atomic_store_explicit(&thread->stamp, stamp, memory_order_relaxed);
	if (!rtail__parker_park(&thread->parker, kind)) {
		lane_move(pool, -lane_kind(kind));
		return true;
	}
	if (rtail__ring_has(&pool->ring)) {
		if (!rtail__lane_may_take(thread)) {
			hand_over(pool);
		} else if (rtail__parker_cancel(&thread->parker, kind)) {
			lane_move(pool, -lane_kind(kind));
			return true;
		}
	}
	rtail__count(&thread->parks);
	return rtail__parker_wait(&thread->parker, kind, &thread->spurious);
}

/*
 * Modes SHARED and OFF: waits on the shared word; counted parked already. A wake may be taken by any of them: they are
 * counted, not named.
 */
static void park_shared(struct rtail__thread *thread)
{
	struct rtail_elastic *pool = thread->pool;
	bool is_called = false, is_parked = false;

	for (;;) {
		uint32_t word = atomic_load_explicit(&pool->shared, memory_order_seq_cst);

		atomic_store_explicit(&thread->is_waiting, !(word & RTAIL__SHARED_WAKES), memory_order_relaxed);
		if (word & RTAIL__SHARED_WAKES) {
			/* [P8] acquire: what the waker did before; release: who finds the wake taken sees us awake. */
			if (atomic_compare_exchange_weak_explicit(&pool->shared, &word, word - 1, memory_order_acq_rel,
								  memory_order_relaxed))
				return;
			continue;
		}
		is_called = is_called || rtail__parker_consume(&thread->parker);
		if (is_called || rtail__ring_has(&pool->ring)) {
			if (lane_unpark_one(pool)) {
				atomic_store_explicit(&thread->is_waiting, false, memory_order_relaxed);
				return;
			}
			sched_yield(); /* every parked thread has been taken: a wake for this one is being published */
			continue;
		}
		if (is_parked)
			rtail__count(&thread->spurious);
		else
			rtail__count(&thread->parks);
		is_parked = true;
		rtail__futex_wait(&pool->shared, word);
	}
}

static bool idle_shared(struct rtail__thread *thread)
{
	struct rtail_elastic *pool = thread->pool;
	uint64_t change = RTAIL__LANE_PARKED;

	if (may_spin(pool) && pool->config.mode == RTAIL_ELASTIC_OFF) {
		if (spin(thread))
			return true;
	} else if (pool->config.mode == RTAIL_ELASTIC_SHARED && may_spin(pool) && lane_begin_spin(pool)) {
		if (spin(thread)) {
			lane_move(pool, -RTAIL__LANE_SPINNING);
			return true;
		}
		change -= RTAIL__LANE_SPINNING;
	}
	lane_move(pool, change);
	park_shared(thread);
	return true;
}

bool rtail__lane_idle(struct rtail__thread *thread)
{
	struct rtail_elastic *pool = thread->pool;
	bool is_owner = atomic_load_explicit(&thread->owned, memory_order_relaxed);
	enum rtail__parker_state kind = is_owner ? RTAIL__ASIDE : RTAIL__PARKED;
	uint64_t change = lane_kind(kind);

	if (!is_owner && pool->config.mode != RTAIL_ELASTIC_ON)
		return idle_shared(thread);
	if (!is_owner && may_spin(pool) && lane_begin_spin(pool)) {
		if (spin(thread)) {
			lane_move(pool, -RTAIL__LANE_SPINNING);
			return true;
		}
		change -= RTAIL__LANE_SPINNING;
	}
	return park(thread, kind, rtail__lane_moves(lane_move(pool, change)));
}

static struct rtail__thread *find_last_parked(struct rtail_elastic *pool, enum rtail__parker_state kind)
{
	struct rtail__thread *last = NULL;
	uint32_t last_stamp = 0;

	for (unsigned i = 0; i < rtail__slots(pool); i++) {
		struct rtail__thread *thread = &pool->threads[i];
		uint32_t stamp;

		if (rtail__parker_state(&thread->parker) != kind)
			continue;
		stamp = atomic_load_explicit(&thread->stamp, memory_order_relaxed); /* [P4] after the acquire above */
		if (last && (int32_t)((stamp - last_stamp) << 1) < 0)
			continue; /* 31 bits, compared by their distance */
		last = thread;
		last_stamp = stamp;
	}
	return last;
}

uint32_t *rtail__lane_take(struct rtail_elastic *pool, bool is_aside, struct rtail__thread **ret_thread)
{
	enum rtail__parker_state kind = is_aside ? RTAIL__ASIDE : RTAIL__PARKED;
	struct rtail__thread *thread;

	*ret_thread = NULL;
	if (!is_aside && pool->config.mode != RTAIL_ELASTIC_ON) {
		if (!lane_unpark_one(pool))
			return NULL;
		/* [P8] release: what the waker did before. */
		atomic_fetch_add_explicit(&pool->shared, 1, memory_order_release);
		return (uint32_t *)&pool->shared;
	}
	while ((thread = find_last_parked(pool, kind))) {
		if (!rtail__parker_take(&thread->parker, kind))
			continue;
		lane_move(pool, -lane_kind(kind));
		*ret_thread = thread;
		return rtail__parker_word(&thread->parker);
	}
	return NULL;
}

uint32_t *rtail__lane_call(struct rtail__thread *thread)
{
	struct rtail_elastic *pool = thread->pool;
	enum rtail__parker_state was = rtail__parker_unpark(&thread->parker);

	if (was == RTAIL__PARKED || was == RTAIL__ASIDE) {
		lane_move(pool, -lane_kind(was));
		return rtail__parker_word(&thread->parker);
	}
	if (pool->config.mode != RTAIL_ELASTIC_ON) {
		/* It may wait on the shared word, where nobody can be woken by name. */
		atomic_fetch_add_explicit(&pool->shared, RTAIL__SHARED_CALL, memory_order_seq_cst);
		rtail__futex_wake((uint32_t *)&pool->shared, INT_MAX);
	}
	return NULL;
}

bool rtail__lane_retire(struct rtail__thread *thread)
{
	if (!rtail__parker_retire(&thread->parker))
		return false;
	lane_move(thread->pool, -RTAIL__LANE_PARKED);
	rtail__futex_wake(rtail__parker_word(&thread->parker), 1);
	return true;
}
