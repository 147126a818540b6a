/* SPDX-License-Identifier: Apache-2.0 */
/* hist.c: reading and merging the histograms of hist.h. Any thread reads; nothing is owned. */
#include "hist.h"

uint64_t rtail_hist_lower(unsigned slot)
{
	unsigned octave = slot / RTAIL_HIST_STEPS;
	uint64_t step = slot % RTAIL_HIST_STEPS;

	if (octave <= 1)
		return slot;
	return (RTAIL_HIST_STEPS + step) << (octave - 1);
}

/* The first value beyond the slot, UINT64_MAX for the last one. */
static uint64_t hist_upper(unsigned slot)
{
	return slot + 1 < RTAIL_HIST_SLOTS ? rtail_hist_lower(slot + 1) : UINT64_MAX;
}

uint64_t rtail_hist_quantile(const struct rtail_hist *hist, double fraction)
{
	uint64_t max = __atomic_load_n(&hist->max, __ATOMIC_RELAXED);
	uint64_t total = 0, below = 0;
	double want;

	/* The slots' own sum, not count: the two may be of different moments. */
	for (unsigned i = 0; i < RTAIL_HIST_SLOTS; i++)
		total += __atomic_load_n(&hist->slots[i], __ATOMIC_RELAXED);
	if (!total)
		return 0;
	if (!(fraction > 0))
		fraction = 0;
	if (fraction >= 1)
		return max;
	want = fraction * (double)total;
	for (unsigned i = 0; i < RTAIL_HIST_SLOTS; i++) {
		uint64_t here = __atomic_load_n(&hist->slots[i], __ATOMIC_RELAXED);
		uint64_t lower, value;

		if (!here || (double)(below + here) < want) {
			below += here;
			continue;
		}
		lower = rtail_hist_lower(i);
		value = lower + (uint64_t)((double)(hist_upper(i) - lower) * (want - (double)below) / (double)here);
		return value < max ? value : max;
	}
	return max;
}

void rtail_hist_merge(struct rtail_hist *into, const struct rtail_hist *from)
{
	uint64_t max = __atomic_load_n(&from->max, __ATOMIC_RELAXED);

	for (unsigned i = 0; i < RTAIL_HIST_SLOTS; i++) {
		uint64_t more = __atomic_load_n(&from->slots[i], __ATOMIC_RELAXED);

		if (more)
			__atomic_store_n(&into->slots[i], into->slots[i] + more, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&into->sum, into->sum + __atomic_load_n(&from->sum, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	if (max > into->max)
		__atomic_store_n(&into->max, max, __ATOMIC_RELAXED);
	__atomic_store_n(&into->count, into->count + __atomic_load_n(&from->count, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}
