/* SPDX-License-Identifier: Apache-2.0 */
/* test_hist.c: slots, quantiles and merging of the histogram. */
#include <check.h>
#include <stdlib.h>

#include "lib/hist.h"

static struct rtail_hist hist, other;

START_TEST(test_each_slot_begins_where_the_last_one_ends)
{
	for (unsigned slot = 0; slot < RTAIL_HIST_SLOTS; slot++) {
		uint64_t lower = rtail_hist_lower(slot);

		ck_assert_uint_eq(rtail_hist_slot(lower), slot);
		if (slot)
			ck_assert_uint_eq(rtail_hist_slot(lower - 1), slot - 1);
	}
}
END_TEST

START_TEST(test_small_values_have_a_slot_each)
{
	for (uint64_t value = 0; value < 32; value++)
		ck_assert_uint_eq(rtail_hist_lower(rtail_hist_slot(value)), value);
}
END_TEST

START_TEST(test_the_largest_value_has_the_last_slot)
{
	ck_assert_uint_eq(rtail_hist_slot(UINT64_MAX), RTAIL_HIST_SLOTS - 1);
}
END_TEST

START_TEST(test_a_slot_is_narrower_than_a_sixteenth_of_its_values)
{
	for (unsigned slot = 16; slot + 1 < RTAIL_HIST_SLOTS; slot++) {
		uint64_t lower = rtail_hist_lower(slot);

		ck_assert_uint_le(rtail_hist_lower(slot + 1) - lower, lower / 16);
	}
}
END_TEST

START_TEST(test_record_counts_sums_and_keeps_the_maximum)
{
	rtail_hist_record(&hist, 5);
	rtail_hist_record(&hist, 1000);
	rtail_hist_record(&hist, 7);
	ck_assert_uint_eq(hist.count, 3);
	ck_assert_uint_eq(hist.sum, 1012);
	ck_assert_uint_eq(hist.max, 1000);
	ck_assert_uint_eq(hist.slots[5], 1);
	ck_assert_uint_eq(hist.slots[rtail_hist_slot(1000)], 1);
}
END_TEST

START_TEST(test_the_quantile_of_nothing_is_zero)
{
	ck_assert_uint_eq(rtail_hist_quantile(&hist, 0.5), 0);
}
END_TEST

START_TEST(test_quantiles_of_a_uniform_spread_are_within_a_slot)
{
	for (uint64_t value = 1; value <= 100000; value++)
		rtail_hist_record(&hist, value);
	for (int percent = 1; percent < 100; percent++) {
		uint64_t want = (uint64_t)percent * 1000, got = rtail_hist_quantile(&hist, percent / 100.0);

		ck_assert_uint_ge(got, want - want / 16 - 1);
		ck_assert_uint_le(got, want + want / 16 + 1);
	}
}
END_TEST

START_TEST(test_quantiles_never_pass_the_maximum)
{
	rtail_hist_record(&hist, 1000001);
	ck_assert_uint_le(rtail_hist_quantile(&hist, 0.999), 1000001);
	ck_assert_uint_eq(rtail_hist_quantile(&hist, 1), 1000001);
	ck_assert_uint_eq(rtail_hist_quantile(&hist, 7), 1000001);
}
END_TEST

START_TEST(test_a_value_in_the_last_slot_does_not_overflow)
{
	rtail_hist_record(&hist, UINT64_MAX);
	ck_assert_uint_ge(rtail_hist_quantile(&hist, 0.5), rtail_hist_lower(RTAIL_HIST_SLOTS - 1));
}
END_TEST

START_TEST(test_one_slow_value_in_a_hundred_shows_beyond_the_ninety_ninth)
{
	for (int i = 0; i < 990; i++)
		rtail_hist_record(&hist, 100);
	for (int i = 0; i < 10; i++)
		rtail_hist_record(&hist, 50000);
	ck_assert_uint_lt(rtail_hist_quantile(&hist, 0.98), 200);
	ck_assert_uint_gt(rtail_hist_quantile(&hist, 0.995), 45000);
}
END_TEST

START_TEST(test_merging_is_recording_both)
{
	static struct rtail_hist both;

	for (uint64_t value = 1; value < 5000; value += 7) {
		rtail_hist_record(value % 2 ? &hist : &other, value * value);
		rtail_hist_record(&both, value * value);
	}
	rtail_hist_merge(&hist, &other);
	ck_assert_mem_eq(&hist, &both, sizeof(hist));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hist");
	TCase *tcase = tcase_create("hist");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_each_slot_begins_where_the_last_one_ends);
	tcase_add_test(tcase, test_small_values_have_a_slot_each);
	tcase_add_test(tcase, test_the_largest_value_has_the_last_slot);
	tcase_add_test(tcase, test_a_slot_is_narrower_than_a_sixteenth_of_its_values);
	tcase_add_test(tcase, test_record_counts_sums_and_keeps_the_maximum);
	tcase_add_test(tcase, test_the_quantile_of_nothing_is_zero);
	tcase_add_test(tcase, test_quantiles_of_a_uniform_spread_are_within_a_slot);
	tcase_add_test(tcase, test_quantiles_never_pass_the_maximum);
	tcase_add_test(tcase, test_a_value_in_the_last_slot_does_not_overflow);
	tcase_add_test(tcase, test_one_slow_value_in_a_hundred_shows_beyond_the_ninety_ninth);
	tcase_add_test(tcase, test_merging_is_recording_both);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
