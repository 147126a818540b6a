/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parker.h: how one thread sleeps and is woken by name: one futex word, a
 * cache line of its own.
 *
 *	RUNNING --spin--> SPINNING --unspin--> RUNNING
 *	RUNNING --park--> PARKED --cancel--> RUNNING
 *	                  PARKED --take or unpark--> WOKEN --wait returns--> RUNNING
 *	                  PARKED --retire--> RETIRED (the thread ends)
 *	RUNNING, SPINNING --unpark--> WOKEN: a permit, taken by the next spin, unspin or park
 *
 * PARKED comes in two kinds, PARKED and ASIDE; the kind is in the word, so that
 * whoever takes a thread off it knows which it was.
 *
 * Invariants: whoever moves the word off PARKED owns the transition and, when
 * it is not the thread itself, owes one futex wake. Clearing is always a
 * compare-exchange: a plain store would erase a newer permit. No sleep has a
 * timeout. A sleep that ends with the word still PARKED was spurious: it is
 * counted and goes on.
 *
 * Owner: the thread that parks. spin, unspin, park, cancel and wait are its
 * own; take, retire, unpark are any thread's.
 */
#ifndef RTAIL_PARKER_H
#define RTAIL_PARKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "futex.h"

#define RTAIL__LINE 64

enum rtail__parker_state {
	RTAIL__RUNNING = 0,
	RTAIL__SPINNING,
	RTAIL__PARKED,
	RTAIL__ASIDE, /* parked too, not for everybody's work */
	RTAIL__WOKEN,
	RTAIL__RETIRED,
};

struct rtail__parker {
	_Alignas(RTAIL__LINE) _Atomic uint32_t word;
};

void rtail__parker_init(struct rtail__parker *parker);

/* Owner. False: a permit was waiting and has been consumed; the word is RUNNING. */
bool rtail__parker_spin(struct rtail__parker *parker);
bool rtail__parker_unspin(struct rtail__parker *parker);
bool rtail__parker_park(struct rtail__parker *parker, enum rtail__parker_state kind);

/* Owner, RUNNING. True: a permit was waiting and has been consumed. */
bool rtail__parker_consume(struct rtail__parker *parker);

/* Owner, after park. True: RUNNING again. False: somebody has moved the word; rtail__parker_wait returns at once. */
bool rtail__parker_cancel(struct rtail__parker *parker, enum rtail__parker_state kind);

/* Owner, after park. Sleeps until the word is off kind. True: WOKEN, now RUNNING. False: RETIRED. */
bool rtail__parker_wait(struct rtail__parker *parker, enum rtail__parker_state kind, _Atomic uint64_t *spurious);

/* Any thread. True: kind has become WOKEN (PARKED has become RETIRED), and the caller owes the word a futex wake. */
bool rtail__parker_take(struct rtail__parker *parker, enum rtail__parker_state kind);
bool rtail__parker_retire(struct rtail__parker *parker);

/* Any thread. Leaves WOKEN. Returns what it was: PARKED, ASIDE = the caller owes a futex wake; else it is a permit. */
enum rtail__parker_state rtail__parker_unpark(struct rtail__parker *parker);

/* Any thread, a look. */
static inline enum rtail__parker_state rtail__parker_state(const struct rtail__parker *parker)
{
	return atomic_load_explicit(&parker->word, memory_order_acquire);
}

static inline uint32_t *rtail__parker_word(struct rtail__parker *parker)
{
	return (uint32_t *)&parker->word;
}

#endif
