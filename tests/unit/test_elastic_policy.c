/* SPDX-License-Identifier: Apache-2.0 */
/* test_elastic_policy.c: the rules as pure functions: no threads, the test is the clock. */
#include <check.h>
#include <stdlib.h>

#include "lib/elastic_policy.h"

#define US 1000ull
#define MS 1000000ull
#define T (200 * US)
#define T0 (1000 * MS)

static const struct rtail__limits limits = {T, 5 * MS, 10 * MS};
static struct rtail__sight sight;
static struct rtail__head head;
static struct rtail__lane_view view;

static void setup(void)
{
	sight = (struct rtail__sight){.jobs = 4, .since_ns = T0};
	rtail__head_init(&head, T0);
	/* An aged head: nobody parked, growth possible, one thread held. */
	view = (struct rtail__lane_view){.now_ns = T0 + T,
					 .since_ns = T0,
					 .due_ns = T0 + T,
					 .busy_until_ns = RTAIL__NEVER,
					 .threads = 2,
					 .held = 1,
					 .can_grow = true};
}

static enum rtail__standing look(uint64_t jobs, uint64_t now_ns)
{
	uint64_t until_ns;

	return rtail__sight_look(&sight, jobs, now_ns, 0, T, &until_ns);
}

static enum rtail__act act(void)
{
	return rtail__policy_aged(&view, &limits).act;
}

static uint64_t again(void)
{
	struct rtail__decision decision = rtail__policy_aged(&view, &limits);

	ck_assert_int_eq(decision.act, RTAIL__WAIT);
	return decision.again_ns;
}

/* --- one thread --- */

START_TEST(test_a_thread_is_busy_for_its_first_t)
{
	uint64_t until_ns = 0;

	ck_assert_int_eq(rtail__sight_look(&sight, 4, T0 + T - 1, 0, T, &until_ns), RTAIL__BUSY);
	ck_assert_uint_eq(until_ns, T0 + T);
	ck_assert_int_eq(look(4, T0 + T), RTAIL__ASK);
}
END_TEST

START_TEST(test_a_moved_count_is_a_new_job)
{
	ck_assert_int_eq(look(5, T0 + 50 * T), RTAIL__BUSY);
	ck_assert_int_eq(look(5, T0 + 51 * T - 1), RTAIL__BUSY);
	ck_assert_int_eq(look(5, T0 + 51 * T), RTAIL__ASK);
}
END_TEST

START_TEST(test_a_job_seen_first_now_began_before_the_ring_was_settled)
{
	uint64_t until_ns;

	ck_assert_int_eq(rtail__sight_look(&sight, 5, T0 + 50 * T, T0 + 40 * T, T, &until_ns), RTAIL__ASK);
	ck_assert_int_eq(rtail__sight_look(&sight, 6, T0 + 50 * T, T0 + 50 * T - 1, T, &until_ns), RTAIL__BUSY);
	ck_assert_uint_eq(until_ns, T0 + 51 * T - 1);
}
END_TEST

START_TEST(test_a_verdict_stands_until_twice_the_time)
{
	ck_assert_int_eq(look(4, T0 + 3 * T), RTAIL__ASK);
	rtail__sight_judge(&sight, true, T0 + 3 * T, 25 * T);
	ck_assert_int_eq(look(4, T0 + 6 * T - 1), RTAIL__HELD);
	ck_assert_int_eq(look(4, T0 + 6 * T), RTAIL__ASK);
	rtail__sight_judge(&sight, false, T0 + 6 * T, 25 * T);
	ck_assert_int_eq(look(4, T0 + 12 * T - 1), RTAIL__BUSY);
	ck_assert_int_eq(look(4, T0 + 12 * T), RTAIL__ASK);
}
END_TEST

START_TEST(test_a_verdict_on_a_long_job_does_not_stand_longer_than_it_may)
{
	rtail__sight_judge(&sight, false, T0 + 5000 * T, 25 * T);
	ck_assert_int_eq(look(4, T0 + 5025 * T - 1), RTAIL__BUSY);
	ck_assert_int_eq(look(4, T0 + 5025 * T), RTAIL__ASK);
}
END_TEST

START_TEST(test_a_verdict_is_for_one_job)
{
	rtail__sight_judge(&sight, true, T0 + 30 * T, 25 * T);
	ck_assert_int_eq(look(4, T0 + 31 * T), RTAIL__HELD);
	ck_assert_int_eq(look(5, T0 + 31 * T), RTAIL__BUSY);
	ck_assert_int_eq(look(5, T0 + 32 * T), RTAIL__ASK);
}
END_TEST

START_TEST(test_a_woken_thread_is_busy_from_its_wake_on)
{
	rtail__sight_judge(&sight, true, T0 + 30 * T, 25 * T);
	rtail__sight_reset(&sight, T0 + 31 * T);
	ck_assert_int_eq(look(4, T0 + 32 * T - 1), RTAIL__BUSY);
}
END_TEST

/* --- the head --- */

START_TEST(test_the_head_ages_from_its_push)
{
	rtail__head_pushed(&head, T0 + 7);
	ck_assert(rtail__head_look(&head, 1, 0, T0 + T));
	ck_assert_uint_eq(head.since_ns, T0 + 7);
}
END_TEST

START_TEST(test_later_pushes_do_not_make_the_head_younger)
{
	rtail__head_pushed(&head, T0);
	rtail__head_pushed(&head, T0 + T);
	ck_assert(rtail__head_look(&head, 2, 0, T0 + 2 * T));
	ck_assert_uint_eq(head.since_ns, T0);
}
END_TEST

START_TEST(test_a_ring_that_moved_ages_from_the_look)
{
	rtail__head_pushed(&head, T0);
	ck_assert(rtail__head_look(&head, 256, 1, T0 + T));
	ck_assert_uint_eq(head.since_ns, T0 + T);
	ck_assert(rtail__head_look(&head, 256, 1, T0 + 2 * T));
	ck_assert_uint_eq(head.since_ns, T0 + T);
	ck_assert(rtail__head_look(&head, 256, 2, T0 + 3 * T));
	ck_assert_uint_eq(head.since_ns, T0 + 3 * T);
}
END_TEST

START_TEST(test_after_empty_the_head_ages_from_its_push)
{
	rtail__head_pushed(&head, T0);
	ck_assert(!rtail__head_look(&head, 1, 1, T0 + T));
	ck_assert_uint_eq(head.settled_ns, T0 + T);
	ck_assert(!rtail__head_look(&head, 1, 1, T0 + 2 * T));
	ck_assert_uint_eq(head.settled_ns, T0 + T);
	rtail__head_pushed(&head, T0 + 3 * T);
	ck_assert_uint_eq(head.settled_ns, 0);
	ck_assert(rtail__head_look(&head, 2, 1, T0 + 4 * T));
	ck_assert_uint_eq(head.since_ns, T0 + 3 * T);
}
END_TEST

/* --- rule 3 --- */

START_TEST(test_behind_held_threads_a_parked_one_is_woken_at_t)
{
	view.parked = 1;
	ck_assert_int_eq(act(), RTAIL__WAKE);
}
END_TEST

START_TEST(test_behind_a_busy_thread_it_is_five_milliseconds)
{
	view.parked = 1;
	view.busy = 1;
	ck_assert_uint_eq(again(), T0 + 5 * MS);
	view.now_ns = T0 + 5 * MS - 1;
	ck_assert_uint_eq(again(), T0 + 5 * MS);
	view.now_ns = T0 + 5 * MS;
	ck_assert_int_eq(act(), RTAIL__WAKE);
}
END_TEST

START_TEST(test_a_busy_verdict_is_looked_at_again_when_it_ends)
{
	view.parked = 1;
	view.busy = 1;
	view.busy_until_ns = T0 + 2 * T;
	ck_assert_uint_eq(again(), T0 + 2 * T);
}
END_TEST

START_TEST(test_without_a_lock_it_is_t_always)
{
	view.parked = 1;
	view.busy = 1;
	view.is_parallel = true;
	ck_assert_int_eq(act(), RTAIL__WAKE);
}
END_TEST

START_TEST(test_a_spinner_is_waited_for)
{
	view.is_spinning = true;
	view.busy = 1;
	ck_assert_uint_eq(again(), view.now_ns + T);
}
END_TEST

/* --- rule 5 --- */

START_TEST(test_growth_asks_everybody_afresh_first)
{
	ck_assert_int_eq(act(), RTAIL__ASK_ALL);
	view.is_fresh = true;
	ck_assert_int_eq(act(), RTAIL__MEASURE);
}
END_TEST

START_TEST(test_held_threads_that_did_not_run_for_t_make_the_pool_grow)
{
	view.is_fresh = true;
	ck_assert_int_eq(act(), RTAIL__MEASURE);
	ck_assert_uint_eq(rtail__policy_aged(&view, &limits).again_ns, T0 + 2 * T);
	view.measured_ns = T / 2;
	ck_assert_uint_eq(again(), T0 + T + T / 2);
	view.measured_ns = T;
	ck_assert_int_eq(act(), RTAIL__GROW);
}
END_TEST

START_TEST(test_held_threads_that_ran_meanwhile_do_not_until_the_head_is_old)
{
	view.is_fresh = true;
	view.now_ns = view.due_ns = T0 + 4 * T;
	view.measured_ns = 2 * T;
	view.used_ns = 1;
	ck_assert_int_eq(act(), RTAIL__MEASURE);
	ck_assert_uint_eq(rtail__policy_aged(&view, &limits).again_ns, T0 + 8 * T);
	view.now_ns = view.due_ns = T0 + 10 * MS - 1;
	ck_assert_uint_eq(rtail__policy_aged(&view, &limits).again_ns, T0 + 10 * MS);
	view.now_ns = view.due_ns = T0 + 10 * MS;
	ck_assert_int_eq(act(), RTAIL__GROW);
}
END_TEST

START_TEST(test_a_parked_thread_is_woken_instead_of_growth)
{
	view.parked = 1;
	view.is_fresh = true;
	ck_assert_int_eq(act(), RTAIL__WAKE);
}
END_TEST

START_TEST(test_with_a_busy_thread_growth_waits_until_the_head_is_old)
{
	view.busy = 1;
	view.busy_until_ns = T0 + 3 * T;
	ck_assert_uint_eq(again(), T0 + 3 * T);
	view.busy_until_ns = RTAIL__NEVER;
	ck_assert_uint_eq(again(), T0 + 10 * MS);
	view.now_ns = view.due_ns = T0 + 10 * MS;
	ck_assert_int_eq(act(), RTAIL__ASK_ALL);
	view.is_fresh = true;
	view.measured_ns = 7 * MS;
	view.used_ns = 5 * MS;
	ck_assert_int_eq(act(), RTAIL__GROW);
}
END_TEST

START_TEST(test_threads_that_get_no_cpu_are_not_helped_by_another_one)
{
	view.is_fresh = true;
	view.busy = 1;
	view.now_ns = view.due_ns = T0 + 10 * MS;
	ck_assert_int_eq(act(), RTAIL__MEASURE);
	view.measured_ns = 2 * MS;
	ck_assert_uint_eq(again(), T0 + 10 * MS + 500 * US);
	view.measured_ns = 5 * MS;
	view.used_ns = 4999 * US;
	ck_assert_uint_eq(again(), T0 + 10 * MS + T); /* what is left of half of grow_ns, but not sooner than T */
	view.used_ns = 1 * MS;
	ck_assert_uint_eq(again(), T0 + 14 * MS);
	view.now_ns = view.due_ns = T0 + 100 * MS - 1;
	ck_assert_int_eq(act(), RTAIL__WAIT);
	view.now_ns = view.due_ns = T0 + 100 * MS; /* whatever the reason is */
	ck_assert_int_eq(act(), RTAIL__GROW);
}
END_TEST

START_TEST(test_without_exact_looks_half_a_cpu_in_use_forbids_growth)
{
	view.is_fresh = view.is_guess = true;
	ck_assert_int_eq(act(), RTAIL__MEASURE);
	view.measured_ns = 4 * MS;
	view.used_ns = 2 * MS;
	ck_assert_int_eq(act(), RTAIL__WAIT);
	view.now_ns = view.due_ns = T0 + 5000 * MS;
	ck_assert_int_eq(act(), RTAIL__WAIT);
	view.used_ns = 2 * MS - 1;
	ck_assert_int_eq(act(), RTAIL__GROW);
}
END_TEST

START_TEST(test_growth_stops_at_four_busy_threads_more_than_configured)
{
	view.is_fresh = true;
	view.measured_ns = view.used_ns = 5 * MS;
	view.now_ns = view.due_ns = T0 + 10 * MS;
	view.busy = 5;
	ck_assert_int_eq(act(), RTAIL__GROW);
	view.busy = 6;
	ck_assert_uint_eq(again(), T0 + 20 * MS);
}
END_TEST

START_TEST(test_held_threads_do_not_count_against_growth)
{
	view.is_fresh = true;
	view.measured_ns = T;
	view.busy = 0; /* 40 exist, all held */
	ck_assert_int_eq(act(), RTAIL__GROW);
}
END_TEST

START_TEST(test_at_threads_max_nothing_is_waited_for)
{
	view.can_grow = false;
	ck_assert_uint_eq(again(), RTAIL__NEVER);
}
END_TEST

START_TEST(test_after_a_failed_growth_the_next_waits)
{
	view.retry_ns = T0 + 900 * MS;
	ck_assert_uint_eq(again(), T0 + 900 * MS);
}
END_TEST

START_TEST(test_a_tick_that_comes_far_too_late_looks_again_before_it_grows)
{
	view.is_fresh = true;
	view.measured_ns = view.used_ns = 5 * MS;
	view.now_ns = view.due_ns + 10 * MS + 1;
	ck_assert_int_eq(act(), RTAIL__LOOK_AGAIN);
	view.busy = 1;
	ck_assert_int_eq(act(), RTAIL__LOOK_AGAIN);
	view.due_ns = RTAIL__NEVER; /* it was not to come at all */
	ck_assert_int_eq(act(), RTAIL__GROW);
}
END_TEST

START_TEST(test_a_late_tick_still_wakes_a_parked_thread)
{
	view.parked = 1;
	view.now_ns = view.due_ns + 5000 * MS;
	ck_assert_int_eq(act(), RTAIL__WAKE);
}
END_TEST

/* --- threads with paused things --- */

START_TEST(test_a_thread_is_started_rather_than_an_owner_woken)
{
	view.aside = 1;
	view.held = 0;
	view.is_fresh = true;
	ck_assert_int_eq(act(), RTAIL__GROW);
}
END_TEST

START_TEST(test_an_owner_is_woken_when_nobody_else_can_be)
{
	view.aside = 1;
	view.can_grow = false;
	ck_assert_int_eq(act(), RTAIL__WAKE_ASIDE);
	view.parked = 1;
	ck_assert_int_eq(act(), RTAIL__WAKE);
}
END_TEST

START_TEST(test_an_owner_is_woken_while_growth_fails)
{
	view.aside = 1;
	view.retry_ns = T0 + 900 * MS;
	ck_assert_int_eq(act(), RTAIL__WAKE_ASIDE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("elastic_policy");
	TCase *tcase = tcase_create("elastic_policy");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, test_a_thread_is_busy_for_its_first_t);
	tcase_add_test(tcase, test_a_moved_count_is_a_new_job);
	tcase_add_test(tcase, test_a_job_seen_first_now_began_before_the_ring_was_settled);
	tcase_add_test(tcase, test_a_verdict_stands_until_twice_the_time);
	tcase_add_test(tcase, test_a_verdict_on_a_long_job_does_not_stand_longer_than_it_may);
	tcase_add_test(tcase, test_a_verdict_is_for_one_job);
	tcase_add_test(tcase, test_a_woken_thread_is_busy_from_its_wake_on);
	tcase_add_test(tcase, test_the_head_ages_from_its_push);
	tcase_add_test(tcase, test_later_pushes_do_not_make_the_head_younger);
	tcase_add_test(tcase, test_a_ring_that_moved_ages_from_the_look);
	tcase_add_test(tcase, test_after_empty_the_head_ages_from_its_push);
	tcase_add_test(tcase, test_behind_held_threads_a_parked_one_is_woken_at_t);
	tcase_add_test(tcase, test_behind_a_busy_thread_it_is_five_milliseconds);
	tcase_add_test(tcase, test_a_busy_verdict_is_looked_at_again_when_it_ends);
	tcase_add_test(tcase, test_without_a_lock_it_is_t_always);
	tcase_add_test(tcase, test_a_spinner_is_waited_for);
	tcase_add_test(tcase, test_growth_asks_everybody_afresh_first);
	tcase_add_test(tcase, test_held_threads_that_did_not_run_for_t_make_the_pool_grow);
	tcase_add_test(tcase, test_held_threads_that_ran_meanwhile_do_not_until_the_head_is_old);
	tcase_add_test(tcase, test_a_parked_thread_is_woken_instead_of_growth);
	tcase_add_test(tcase, test_with_a_busy_thread_growth_waits_until_the_head_is_old);
	tcase_add_test(tcase, test_threads_that_get_no_cpu_are_not_helped_by_another_one);
	tcase_add_test(tcase, test_without_exact_looks_half_a_cpu_in_use_forbids_growth);
	tcase_add_test(tcase, test_growth_stops_at_four_busy_threads_more_than_configured);
	tcase_add_test(tcase, test_held_threads_do_not_count_against_growth);
	tcase_add_test(tcase, test_at_threads_max_nothing_is_waited_for);
	tcase_add_test(tcase, test_after_a_failed_growth_the_next_waits);
	tcase_add_test(tcase, test_a_tick_that_comes_far_too_late_looks_again_before_it_grows);
	tcase_add_test(tcase, test_a_late_tick_still_wakes_a_parked_thread);
	tcase_add_test(tcase, test_a_thread_is_started_rather_than_an_owner_woken);
	tcase_add_test(tcase, test_an_owner_is_woken_when_nobody_else_can_be);
	tcase_add_test(tcase, test_an_owner_is_woken_while_growth_fails);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
