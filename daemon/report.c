/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: see report.h. */
#include <inttypes.h>

#include "report.h"
#include "request.h"

static const char *const stage_names[] = {
#define X(name, begin, end) #name,
	STAGES(X)
#undef X
};

static const char *const wake_names[RTAIL_WAKE_SITES] = {
	[RTAIL_WAKE_SUBMIT] = "submit", [RTAIL_WAKE_PARALLEL] = "parallel", [RTAIL_WAKE_AGE] = "age", [RTAIL_WAKE_GROW] = "grow",
	[RTAIL_WAKE_MESSAGE] = "message", [RTAIL_WAKE_STOP] = "stop", [RTAIL_WAKE_CHAIN] = "chain",
};

void report_record(struct stage_rows *rows, const struct request *req)
{
	for (unsigned i = 0; i < STAGE_COUNT; i++) {
		uint64_t ns;

		if (stage_ns(&req->times, (enum stage)i, &ns))
			rtail_hist_record(&rows->stages[i], ns);
	}
}

static double us(uint64_t ns)
{
	return (double)ns / 1000.0;
}

static double quantile_us(const struct rtail_hist *hist, double fraction)
{
	return us(rtail_hist_quantile(hist, fraction));
}

static void print_row(FILE *file, const char *name, const struct rtail_hist *hist)
{
	fprintf(file, "%-12s %11" PRIu64 " %10.1f %10.1f %10.1f %10.1f %11.1f\n", name, hist->count, quantile_us(hist, 0.5),
		quantile_us(hist, 0.9), quantile_us(hist, 0.99), quantile_us(hist, 0.999), us(hist->max));
}

static void print_pool(FILE *file, const struct rtail_elastic_stats *stats, const struct rtail_elastic_thread_stats *threads,
		       size_t count)
{
	fprintf(file, "\npool: %u threads at most, %" PRIu64 " jobs run, %" PRIu64 " dropped, %" PRIu64 " refused\n", stats->threads_peak,
		stats->run, stats->dropped, stats->refused);
	fprintf(file, "wakes:");
	for (unsigned i = 0; i < RTAIL_WAKE_SITES; i++)
		fprintf(file, " %s %" PRIu64, wake_names[i], stats->wakes[i]);
	fprintf(file, "\nparks %" PRIu64 ", spurious %" PRIu64 "; grown %" PRIu64 ", failed %" PRIu64 ", retired %" PRIu64
		"; looks %" PRIu64 "\n", stats->parks, stats->spurious, stats->grown, stats->grow_failed, stats->retired, stats->looks);
	if (!threads || !count)
		return;
	fprintf(file, "%-12s %11s %11s %11s\n", "handler", "jobs", "parks", "spurious");
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%-12u %11" PRIu64 " %11" PRIu64 " %11" PRIu64 "%s\n", threads[i].index, threads[i].jobs, threads[i].parks,
			threads[i].spurious, threads[i].is_alive ? "" : "  (ended)");
}

static void print_cadence(FILE *file, const struct cadence *cadence)
{
	fprintf(file, "\nloop: %" PRIu64 " waits, %" PRIu64 " ended by rule 3's time; %" PRIu64 " passes, longest %.1f us\n",
		cadence->waits, cadence->capped, cadence->passes, us(cadence->longest_ns));
	fprintf(file, "passes over 1 ms %" PRIu64 ", 2 ms %" PRIu64 ", 4 ms %" PRIu64 ", 8 ms %" PRIu64 "\n", cadence->over[0],
		cadence->over[1], cadence->over[2], cadence->over[3]);
	if (cadence->late.count)
		print_row(file, "late by", &cadence->late);
}

void report_print(FILE *file, const struct stage_rows *rows, const struct rtail_elastic_stats *stats,
		  const struct rtail_elastic_thread_stats *threads, size_t thread_count, const struct cadence *cadence)
{
	fprintf(file, "%-12s %11s %10s %10s %10s %10s %11s\n", "stage (us)", "count", "p50", "p90", "p99", "p99.9", "max");
	for (unsigned i = 0; i < STAGE_COUNT; i++)
		if (rows->stages[i].count)
			print_row(file, stage_names[i], &rows->stages[i]);
	if (stats)
		print_pool(file, stats, threads, thread_count);
	if (cadence)
		print_cadence(file, cadence);
	fflush(file);
}
