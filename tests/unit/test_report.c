/* SPDX-License-Identifier: Apache-2.0 */
/* test_report.c: what is recorded of a request's stamps, and the table. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/report.h"
#include "daemon/request.h"

static struct stage_rows rows;
static struct request req;

static void setup(void)
{
	memset(&rows, 0, sizeof(rows));
	memset(&req, 0, sizeof(req));
}

START_TEST(test_each_stage_lies_between_its_stamps_and_they_sum_to_the_total)
{
	static const uint64_t wanted[STAGE_COUNT] = { 1, 2, 4, 8, 16, 32, 63 };
	uint64_t sum = 0;

	req.times = (struct request_times) { 100, 101, 103, 107, 115, 131, 140, 163 };
	report_record(&rows, &req);
	for (unsigned i = 0; i < STAGE_COUNT; i++) {
		ck_assert_uint_eq(rows.stages[i].count, 1);
		ck_assert_uint_eq(rows.stages[i].sum, wanted[i]);
		sum += i == STAGE_total ? 0 : wanted[i];
	}
	ck_assert_uint_eq(sum, rows.stages[STAGE_total].sum);
}
END_TEST

START_TEST(test_a_stage_without_a_stamp_is_absent)
{
	req.times = (struct request_times) { .received = 100, .queued = 110, .popped = 120, .returned = 90, .taken = 130, .last_sent = 140 };
	report_record(&rows, &req);
	ck_assert_uint_eq(rows.stages[STAGE_read].count, 1);
	ck_assert_uint_eq(rows.stages[STAGE_ring_wait].count, 1);
	ck_assert_uint_eq(rows.stages[STAGE_gil_wait].count, 0);
	ck_assert_uint_eq(rows.stages[STAGE_service].count, 0);
	ck_assert_uint_eq(rows.stages[STAGE_send].count, 1);
	ck_assert_uint_eq(rows.stages[STAGE_total].count, 1);
}
END_TEST

START_TEST(test_a_stamp_of_the_pass_before_a_handlers_is_no_time)
{
	req.times = (struct request_times) { .returned = 105, .taken = 100 };
	report_record(&rows, &req);
	ck_assert_uint_eq(rows.stages[STAGE_return_wait].count, 1);
	ck_assert_uint_eq(rows.stages[STAGE_return_wait].sum, 0);
}
END_TEST

START_TEST(test_the_table)
{
	static const char wanted[] =
		"stage (us)         count        p50        p90        p99      p99.9         max\n";
	struct rtail_elastic_stats stats = { .threads = 2, .threads_peak = 3, .run = 7, .parks = 5 };
	struct rtail_elastic_thread_stats threads[] = { { .index = 0, .jobs = 6, .is_alive = true }, { .index = 1, .jobs = 1 } };
	struct cadence cadence = { 0 };
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	stats.wakes[RTAIL_WAKE_AGE] = 4;
	req.times = (struct request_times) { .received = 1000, .queued = 11000, .last_sent = 21000 };
	report_record(&rows, &req);
	cadence_wait(&cadence, 1000, 3000, true);
	cadence_wait(&cadence, -1, 3000, false);
	cadence_wait(&cadence, 5000, 3000, false);
	cadence_pass(&cadence, 3 * RTAIL_MS);
	cadence_pass(&cadence, RTAIL_MS);
	ck_assert_uint_eq(cadence.late.count, 1);
	ck_assert_uint_eq(cadence.late.sum, 2000);
	report_print(file, &rows, &stats, threads, 2, &cadence);
	fclose(file);

	ck_assert_int_eq(strncmp(text, wanted, strlen(wanted)), 0);
	ck_assert_ptr_nonnull(strstr(text, "\nread "));
	ck_assert_ptr_nonnull(strstr(text, "\ntotal "));
	ck_assert_ptr_null(strstr(text, "service"));
	ck_assert_ptr_nonnull(strstr(text, " age 4 "));
	ck_assert_ptr_nonnull(strstr(text, "loop: 3 waits, 1 ended by rule 3's time; 2 passes, longest 3000.0 us\n"));
	ck_assert_ptr_nonnull(strstr(text, "passes over 1 ms 1, 2 ms 1, 4 ms 0, 8 ms 0\n"));
	ck_assert_ptr_nonnull(strstr(text, "late by "));
	ck_assert_ptr_nonnull(strstr(text, "(ended)\n"));
	for (char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
		ck_assert_int_le(end - at, 100);
	free(text);
}
END_TEST

START_TEST(test_without_pool_and_cadence_only_the_stages)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	report_print(file, &rows, NULL, NULL, 0, NULL);
	fclose(file);
	ck_assert_ptr_eq(strchr(text, '\n') + 1, text + size);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tcase = tcase_create("report");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, test_each_stage_lies_between_its_stamps_and_they_sum_to_the_total);
	tcase_add_test(tcase, test_a_stage_without_a_stamp_is_absent);
	tcase_add_test(tcase, test_a_stamp_of_the_pass_before_a_handlers_is_no_time);
	tcase_add_test(tcase, test_the_table);
	tcase_add_test(tcase, test_without_pool_and_cadence_only_the_stages);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
