/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist.h: a log-linear histogram, one layout for the process, for shared
 * memory and for BPF: values 0..15 have a slot each, above that 16 slots an
 * octave. Relative error below 1/16.
 *
 * One writer (the owner); readers on any thread or process may see counts of
 * different moments, never torn ones. Unit: whatever was recorded (nanoseconds
 * in the daemon).
 */
#ifndef RTAIL_HIST_H
#define RTAIL_HIST_H

#include <stdint.h>

#define RTAIL_HIST_STEPS 16u
#define RTAIL_HIST_SLOTS (RTAIL_HIST_STEPS * (64u - 4u + 1u))

struct rtail_hist {
	uint64_t count;
	uint64_t sum;
	uint64_t max;
	uint64_t slots[RTAIL_HIST_SLOTS];
};

/* The slot of a value, below RTAIL_HIST_SLOTS. */
static inline unsigned rtail_hist_slot(uint64_t value)
{
	unsigned exponent;

	if (value < RTAIL_HIST_STEPS)
		return (unsigned)value;
	exponent = 63u - (unsigned)__builtin_clzll(value);
	return RTAIL_HIST_STEPS * (exponent - 3u) + (unsigned)((value >> (exponent - 4u)) & (RTAIL_HIST_STEPS - 1u));
}

/* The smallest value that falls into the slot. */
uint64_t rtail_hist_lower(unsigned slot);

/* Owner only. */
static inline void rtail_hist_record(struct rtail_hist *hist, uint64_t value)
{
	uint64_t *slot = &hist->slots[rtail_hist_slot(value)];

	__atomic_store_n(slot, *slot + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&hist->sum, hist->sum + value, __ATOMIC_RELAXED);
	if (value > hist->max)
		__atomic_store_n(&hist->max, value, __ATOMIC_RELAXED);
	__atomic_store_n(&hist->count, hist->count + 1, __ATOMIC_RELAXED);
}

/* Any thread. The value below which the fraction (0 to 1) of the recorded values lies, interpolated inside its slot; 0 when empty. */
uint64_t rtail_hist_quantile(const struct rtail_hist *hist, double fraction);

/* Adds the counts of from to into (owner of into). */
void rtail_hist_merge(struct rtail_hist *into, const struct rtail_hist *from);

#endif
