/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cadence.h: how the loop waits and how long its passes are. Written by the
 * loop; readers on other threads may see counts of different moments.
 */
#ifndef RINGTAIL_CADENCE_H
#define RINGTAIL_CADENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/clock.h"
#include "lib/hist.h"

#define CADENCE_LIMITS 4u /* passes over 1, 2, 4, 8 ms */

struct cadence {
	uint64_t waits;
	uint64_t capped;             /* waits whose end was set by the pool's rule 3 */
	uint64_t passes;
	uint64_t over[CADENCE_LIMITS];
	uint64_t longest_ns;         /* pass */
	struct rtail_hist late;      /* ns: of the waits that ended by their time, how long after it */
};

static inline void cadence_add(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

/* One wait: asked for timeout_ns (-1 = without end), took took_ns. */
static inline void cadence_wait(struct cadence *cadence, int64_t timeout_ns, uint64_t took_ns, bool is_by_pool)
{
	cadence_add(&cadence->waits);
	if (is_by_pool)
		cadence_add(&cadence->capped);
	if (timeout_ns > 0 && took_ns >= (uint64_t)timeout_ns)
		rtail_hist_record(&cadence->late, took_ns - (uint64_t)timeout_ns);
}

/* One pass, from the end of a wait to the next wait. */
static inline void cadence_pass(struct cadence *cadence, uint64_t took_ns)
{
	cadence_add(&cadence->passes);
	if (took_ns > cadence->longest_ns)
		__atomic_store_n(&cadence->longest_ns, took_ns, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < CADENCE_LIMITS && took_ns > RTAIL_MS << i; i++)
		cadence_add(&cadence->over[i]);
}

#endif
