/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h: the one clock of the project, CLOCK_MONOTONIC in nanoseconds. Any thread. */
#ifndef RTAIL_CLOCK_H
#define RTAIL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define RTAIL_US 1000ull
#define RTAIL_MS 1000000ull
#define RTAIL_S 1000000000ull

static inline uint64_t rtail_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * RTAIL_S + (uint64_t)ts.tv_nsec;
}

#endif
