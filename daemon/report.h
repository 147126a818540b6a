/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h: where the time of all requests went: a histogram a stage, and the
 * table that pool-debug prints at exit.
 */
#ifndef RINGTAIL_REPORT_H
#define RINGTAIL_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cadence.h"
#include "lib/elastic.h"
#include "lib/hist.h"
#include "stages.h"

/* Nanoseconds. Owner: the loop. */
struct stage_rows {
	struct rtail_hist stages[STAGE_COUNT];
};

/* Loop. A finished request; stages whose stamps are missing are left out. */
void report_record(struct stage_rows *rows, const struct request *req);

/*
 * Any thread, at exit. stats, threads and cadence may be NULL (--threads 0 has no pool). The table goes to file in lines of
 * at most 100 bytes.
 */
void report_print(FILE *file, const struct stage_rows *rows, const struct rtail_elastic_stats *stats,
		  const struct rtail_elastic_thread_stats *threads, size_t thread_count, const struct cadence *cadence);

#endif
