/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parker.c: the transitions of parker.h. Lives in the thread's slot of its
 * pool, as long as the pool. Labels [P..]: the table in elastic_priv.h.
 */
#include "parker.h"

void rtail__parker_init(struct rtail__parker *parker)
{
	/* An atomic store: a slot is used again while others look at its word. */
	atomic_store_explicit(&parker->word, RTAIL__RUNNING, memory_order_relaxed);
}

static bool parker_move(struct rtail__parker *parker, uint32_t from, uint32_t to)
{
	/* [P3] seq_cst: announces an idle state before the ring is looked at again; pairs with rtail__ring_push().
	 * [P4] release: publishes the slot's stamp to whoever looks for the thread that parked last. */
	return atomic_compare_exchange_strong_explicit(&parker->word, &from, to, memory_order_seq_cst,
						       memory_order_acquire);
}

bool rtail__parker_consume(struct rtail__parker *parker)
{
	uint32_t woken = RTAIL__WOKEN;

	/* [P5] acquire: what the waker did before it left the permit; pairs with the release in unpark and take. */
	return atomic_compare_exchange_strong_explicit(&parker->word, &woken, RTAIL__RUNNING, memory_order_acquire,
						       memory_order_relaxed);
}

bool rtail__parker_spin(struct rtail__parker *parker)
{
	if (parker_move(parker, RTAIL__RUNNING, RTAIL__SPINNING))
		return true;
	rtail__parker_consume(parker);
	return false;
}

bool rtail__parker_unspin(struct rtail__parker *parker)
{
	if (parker_move(parker, RTAIL__SPINNING, RTAIL__RUNNING))
		return true;
	rtail__parker_consume(parker);
	return false;
}

bool rtail__parker_park(struct rtail__parker *parker, enum rtail__parker_state kind)
{
	if (parker_move(parker, RTAIL__RUNNING, kind))
		return true;
	rtail__parker_consume(parker);
	return false;
}

bool rtail__parker_cancel(struct rtail__parker *parker, enum rtail__parker_state kind)
{
	return parker_move(parker, kind, RTAIL__RUNNING);
}

bool rtail__parker_wait(struct rtail__parker *parker, enum rtail__parker_state kind, _Atomic uint64_t *spurious)
{
	while (rtail__parker_state(parker) == kind) {
		rtail__futex_wait(&parker->word, kind);
		if (rtail__parker_state(parker) == kind)
			atomic_store_explicit(spurious, atomic_load_explicit(spurious, memory_order_relaxed) + 1,
					      memory_order_relaxed);
	}
	return rtail__parker_consume(parker);
}

static bool parker_take_as(struct rtail__parker *parker, uint32_t from, uint32_t to)
{
	/* [P5] release: what the waker did before; [P4] acquire: the parked thread's stamp. */
	return atomic_compare_exchange_strong_explicit(&parker->word, &from, to, memory_order_acq_rel,
						       memory_order_relaxed);
}

bool rtail__parker_take(struct rtail__parker *parker, enum rtail__parker_state kind)
{
	return parker_take_as(parker, kind, RTAIL__WOKEN);
}

bool rtail__parker_retire(struct rtail__parker *parker)
{
	return parker_take_as(parker, RTAIL__PARKED, RTAIL__RETIRED);
}

enum rtail__parker_state rtail__parker_unpark(struct rtail__parker *parker)
{
	/* [P5] release: publishes the message or the stop. */
	return atomic_exchange_explicit(&parker->word, RTAIL__WOKEN, memory_order_acq_rel);
}
