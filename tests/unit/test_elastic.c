/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_elastic.c: the rules of the elastic pool with real threads: who is
 * woken, when, and how many threads there are. The test is the submitter and
 * gives the time; threads stand still in jobs until it lets them go.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <check.h>
#include <stdlib.h>
#include <time.h>

#include "elastic_rig.h"

#define MS RTAIL_MS

/* How many threads have had a job. */
static unsigned used_threads(void)
{
	struct rtail_elastic_thread_stats rows[64];
	size_t count = 64;
	unsigned used = 0;

	rtail_elastic_thread_stats(rig.pool, rows, &count);
	for (size_t i = 0; i < count; i++)
		used += rows[i].jobs > 0;
	return used;
}

/* --- rule 2 --- */

START_TEST(test_a_burst_of_16_into_a_parked_lane_sends_one_wake)
{
	unsigned wakes = 0;

	rig_prepare(4, 4);
	rig_start();
	for (int i = 0; i < 16; i++)
		wakes += rig_submit(rig_job(i ? AT_NOTHING : AT_SEMAPHORE), RIG_T0);
	ck_assert_uint_eq(wakes, 1);
	rig_open(&rig.jobs[0]);
	for (int i = 0; i < 16; i++)
		rig_wait_done(&rig.jobs[i]);
	ck_assert_uint_eq(used_threads(), 1);
	ck_assert_uint_eq(rig_wakes(RTAIL_WAKE_SUBMIT), 1);
	rig_stop();
}
END_TEST

START_TEST(test_a_burst_whose_wake_is_still_to_be_made_sends_no_second)
{
	struct rtail_wake wake, none;

	rig_prepare(4, 4);
	rig_start();
	ck_assert_int_eq(rig_push(rig_job(AT_NOTHING), RIG_T0, &wake), 0);
	ck_assert_ptr_nonnull(wake.word);
	for (int i = 0; i < 15; i++) {
		ck_assert_int_eq(rig_push(rig_job(AT_NOTHING), RIG_T0 + 10 * T_NS, &none), 0);
		ck_assert_ptr_null(none.word);
	}
	rig_wake(&wake);
	rig_stop();
}
END_TEST

START_TEST(test_a_push_beside_a_busy_sibling_sends_none)
{
	rig_prepare(4, 4);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	for (int i = 0; i < 10; i++)
		ck_assert(!rig_submit(rig_job(AT_NOTHING), RIG_T0 + T_NS - 1));
	rig_stop();
}
END_TEST

START_TEST(test_a_push_beside_a_thread_that_computes_sends_none)
{
	rig_prepare(4, 4);
	rig_start();
	rig_hold(AT_BURN);
	ck_assert(!rig_submit(rig_job(AT_NOTHING), RIG_T0 + 20 * T_NS));
	ck_assert_uint_ge(rig_stats().looks, 1);
	rig_stop();
}
END_TEST

START_TEST(test_a_push_beside_a_thread_that_computes_for_longer_than_the_switch_interval_sends_one)
{
	rig_prepare(4, 4);
	rig_start();
	rig_hold(AT_BURN);
	ck_assert(!rig_submit(rig_job(AT_NOTHING), RIG_T0 + 24 * T_NS));
	ck_assert(rig_submit(rig_job(AT_NOTHING), RIG_T0 + 25 * T_NS));
	rig_wait_done(&rig.jobs[2]);
	ck_assert_uint_eq(rig_stats().wakes[RTAIL_WAKE_SUBMIT], 2);
	rig_stop();
}
END_TEST

START_TEST(test_jobs_longer_than_t_are_looked_at_later_until_one_is_held)
{
	uint64_t now_ns = RIG_T0 + T_NS;
	int64_t again_ns;

	rig_prepare(2, 2);
	rig_start();
	rig_hold(AT_BURN);
	rig_submit(rig_job(AT_NOTHING), now_ns);
	rig_tick(now_ns, &again_ns);
	ck_assert_int_eq(again_ns, (int64_t)T_NS);
	/* The look finds it computing: the next head is looked at at twice the age. */
	rig_tick(now_ns + T_NS, NULL);
	ck_assert_uint_eq(rig.pool->patience_ns, 2 * T_NS);
	/* The same head does not make it longer. */
	rig_tick(now_ns + 8 * T_NS, NULL);
	ck_assert_uint_eq(rig.pool->patience_ns, 2 * T_NS);
	rig_stop();
}
END_TEST

START_TEST(test_a_push_beside_a_thread_that_waits_for_the_lock_sends_none)
{
	rig_prepare(4, 4);
	rig_start();
	rig_hold(AT_LOCK);
	ck_assert(!rig_submit(rig_job(AT_NOTHING), RIG_T0 + 20 * T_NS));
	rig_stop();
}
END_TEST

START_TEST(test_a_push_beside_held_siblings_wakes_at_once)
{
	static const enum rig_stop_at kinds[] = {AT_SEMAPHORE, AT_READ, AT_MUTEX, AT_SLEEP};

	rig_prepare(3, 3);
	rig_start();
	rig_hold(kinds[_i]);
	ck_assert(rig_submit(rig_job(kinds[_i]), RIG_T0 + T_NS));
	rig_wait_blocked(&rig.jobs[1]);
	rig_tick(RIG_T0 + T_NS, NULL);
	ck_assert(rig_submit(rig_job(AT_NOTHING), RIG_T0 + 2 * T_NS));
	rig_wait_done(&rig.jobs[2]);
	rig_stop();
}
END_TEST

START_TEST(test_a_job_first_seen_at_a_push_may_have_begun_just_now)
{
	rig_prepare(2, 2);
	rig_start();
	rig_submit(rig_job(AT_SEMAPHORE), RIG_T0);
	rig_wait_blocked(&rig.jobs[0]);
	ck_assert(!rig_submit(rig_job(AT_NOTHING), RIG_T0 + 10 * T_NS));
	ck_assert(rig_submit(rig_job(AT_NOTHING), RIG_T0 + 11 * T_NS));
	rig_stop();
}
END_TEST

START_TEST(test_a_verdict_spares_the_looks)
{
	uint64_t looks;

	rig_prepare(2, 2);
	rig_start();
	rig_hold(AT_BURN);
	rig_submit(rig_job(AT_NOTHING), RIG_T0 + 10 * T_NS);
	looks = rig_stats().looks;
	for (int i = 0; i < 10; i++)
		rig_submit(rig_job(AT_NOTHING), RIG_T0 + (10 + i) * T_NS);
	ck_assert_uint_eq(rig_stats().looks, looks);
	rig_submit(rig_job(AT_NOTHING), RIG_T0 + 20 * T_NS);
	ck_assert_uint_eq(rig_stats().looks, looks + 1);
	rig_stop();
}
END_TEST

/* --- rules 1 and 4 --- */

START_TEST(test_only_one_thread_spins)
{
	rig_prepare(4, 4);
	rig.config.spin_ns = 60 * RTAIL_S;
	rig_start();
	rig_wait_parked(3);
	rig_wait_spinning();
	rig_stop();
}
END_TEST

START_TEST(test_a_push_beside_a_spinner_sends_no_wake_and_is_run)
{
	rig_prepare(4, 4);
	rig.config.spin_ns = 60 * RTAIL_S;
	rig_start();
	rig_wait_parked(3);
	for (int i = 0; i < 20; i++) {
		struct rig_job *job = rig_job(AT_NOTHING);

		rig_wait_spinning();
		ck_assert(!rig_submit(job, RIG_T0));
		rig_wait_done(job);
	}
	rig_stop();
}
END_TEST

START_TEST(test_sixty_jobs_with_gaps_land_on_one_thread)
{
	rig_prepare(8, 64);
	rig.config.spin_ns = _i ? 5 * RTAIL_US : 0;
	rig_start();
	for (int i = 0; i < 60; i++) {
		struct rig_job *job = rig_job(AT_NOTHING);

		rig_wait_parked(8);
		ck_assert(rig_submit(job, RIG_T0 + i * MS));
		rig_tick(RIG_T0 + i * MS, NULL);
		rig_wait_done(job);
	}
	ck_assert_uint_eq(used_threads(), 1);
	rig_stop();
}
END_TEST

START_TEST(test_the_thread_that_parked_last_is_woken)
{
	struct rig_job *first, *second, *third;

	rig_prepare(3, 3);
	rig_start();
	first = rig_hold(AT_SEMAPHORE);
	rig_submit(second = rig_job(AT_SEMAPHORE), RIG_T0);
	rig_tick(RIG_T0 + T_NS, NULL);
	rig_wait_blocked(second);
	rig_open(second);
	rig_wait_parked(2);
	rig_open(first);
	rig_wait_parked(3);
	rig_submit(third = rig_job(AT_NOTHING), RIG_T0 + 10 * T_NS);
	rig_wait_done(third);
	ck_assert_int_eq(atomic_load(&third->thread), atomic_load(&first->thread));
	rig_stop();
}
END_TEST

START_TEST(test_a_late_wake_is_counted_spurious_and_slept_through)
{
	struct rtail_wake wake;
	struct rig_job *job = NULL;

	rig_prepare(1, 1);
	rig_start();
	job = rig_job(AT_NOTHING);
	rig_push(job, RIG_T0, &wake);
	rig_wake(&wake);
	rig_wait_done(job);
	rig_wait_parked(1);
	RIG_WAIT((rig_wake(&wake), rig_stats().spurious > 0));
	ck_assert_uint_eq(rig_stats().parked, 1);
	rig_stop();
}
END_TEST

START_TEST(test_the_pool_makes_the_wake_itself_when_none_is_asked_for)
{
	struct rig_job *job;

	rig_prepare(2, 2);
	rig_start();
	job = rig_job(AT_NOTHING);
	ck_assert_int_eq(rig_push(job, RIG_T0, NULL), 0);
	rig_wait_done(job);
	rig_stop();
}
END_TEST

/* --- rule 3 --- */

START_TEST(test_a_ring_256_deep_that_is_being_drained_wakes_nobody)
{
	uint64_t now_ns = RIG_T0;

	rig_prepare(4, 4);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	for (int i = 0; i < 256; i++)
		ck_assert(!rig_submit(rig_job(AT_SEMAPHORE), RIG_T0));
	/* One job a look, each look a millisecond later: the head waits, the ring moves. */
	for (int i = 0; i < 256; i++) {
		now_ns += MS;
		rig_open(&rig.jobs[i]);
		rig_wait_blocked(&rig.jobs[i + 1]);
		ck_assert(!rig_tick(now_ns, NULL));
	}
	ck_assert_uint_eq(rig_wakes(RTAIL_WAKE_AGE), 0);
	ck_assert_uint_eq(rig_wakes(RTAIL_WAKE_SUBMIT), 1);
	rig_stop();
}
END_TEST

START_TEST(test_behind_a_held_sibling_the_wake_comes_at_t)
{
	int64_t again_ns;

	rig_prepare(2, 2);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	ck_assert(!rig_submit(rig_job(AT_NOTHING), RIG_T0));
	ck_assert(!rig_tick(RIG_T0, &again_ns));
	ck_assert_int_eq(again_ns, T_NS);
	ck_assert(!rig_tick(RIG_T0 + T_NS - 1, &again_ns));
	ck_assert_int_eq(again_ns, 1);
	ck_assert(rig_tick(RIG_T0 + T_NS, NULL));
	rig_wait_done(&rig.jobs[1]);
	ck_assert_uint_eq(rig_wakes(RTAIL_WAKE_AGE), 1);
	rig_stop();
}
END_TEST

START_TEST(test_behind_a_runnable_or_lock_waiting_sibling_it_comes_at_5_ms)
{
	static const enum rig_stop_at kinds[] = {AT_BURN, AT_LOCK};
	uint64_t now_ns = RIG_T0;
	int64_t again_ns;
	int looks = 0;

	rig_prepare(2, 2);
	rig_start();
	rig_hold(kinds[_i]);
	rig_submit(rig_job(AT_NOTHING), RIG_T0);
	rig_tick(RIG_T0, NULL);
	while (!rig_tick(now_ns, &again_ns)) {
		ck_assert_uint_lt(now_ns, RIG_T0 + 5 * MS);
		ck_assert_int_gt(again_ns, 0);
		now_ns += (uint64_t)again_ns;
		ck_assert_int_lt(++looks, 12);
	}
	ck_assert_uint_eq(now_ns, RIG_T0 + 5 * MS);
	rig_stop();
}
END_TEST

static struct rtail__stall_look computes_then_sleeps(const struct rtail__stall *stall)
{
	static int looks;

	(void)stall;
	return (struct rtail__stall_look){looks++ < 2 ? RTAIL__STALL_RUNNABLE : RTAIL__STALL_BLOCKED, 0};
}

START_TEST(test_a_sibling_that_computed_and_then_sleeps_is_found_before_5_ms)
{
	uint64_t now_ns = RIG_T0;
	int64_t again_ns;

	rig_prepare(2, 2);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	rig.pool->stall_read = computes_then_sleeps;
	rig_submit(rig_job(AT_NOTHING), RIG_T0);
	while (!rig_tick(now_ns, &again_ns))
		now_ns += (uint64_t)again_ns;
	ck_assert_uint_eq(now_ns, RIG_T0 + 4 * T_NS); /* asked at 1, 2 and 4 T */
	rig_stop();
}
END_TEST

START_TEST(test_nothing_waits_nothing_is_to_be_looked_at)
{
	int64_t again_ns;

	rig_prepare(2, 4);
	rig_start();
	rig_tick(RIG_T0, &again_ns);
	ck_assert_int_eq(again_ns, -1);
	rig_hold(AT_SEMAPHORE);
	rig_tick(RIG_T0 + MS, &again_ns);
	ck_assert_int_eq(again_ns, -1);
	rig_stop();
}
END_TEST

/* Real time: the loop as a daemon would run it. The bound is a hundred times T and more. */
START_TEST(test_a_job_behind_a_held_sibling_starts_soon)
{
	static const enum rig_stop_at kinds[] = {AT_SEMAPHORE, AT_READ, AT_MUTEX, AT_SLEEP};
	struct rig_job *held, *job;
	uint64_t begin_ns;

	rig_prepare(1 + _i / 4, 4);
	rig_start();
	held = rig_job(kinds[_i % 4]);
	job = rig_job(AT_NOTHING);
	begin_ns = rtail_now_ns();
	rig_submit(held, begin_ns);
	rig_submit(job, begin_ns);
	while (!atomic_load(&job->is_done)) {
		int64_t again_ns;

		ck_assert_uint_lt(rtail_now_ns(), begin_ns + 250 * MS);
		rig_tick(rtail_now_ns(), &again_ns);
		if (again_ns > 0)
			nanosleep(&(struct timespec){.tv_nsec = again_ns}, NULL);
	}
	rig_stop();
}
END_TEST

/* --- without an interpreter lock --- */

START_TEST(test_parallel_each_push_wakes_a_parked_thread)
{
	unsigned wakes = 0;

	rig_prepare(4, 4);
	rig.config.is_parallel = true;
	rig_start();
	for (int i = 0; i < 6; i++)
		wakes += rig_submit(rig_job(AT_BURN), RIG_T0);
	ck_assert_uint_eq(wakes, 4);
	ck_assert_uint_eq(rig_wakes(RTAIL_WAKE_PARALLEL), 4);
	for (int i = 0; i < 4; i++)
		rig_wait_blocked(&rig.jobs[i]);
	ck_assert_uint_eq(used_threads(), 4);
	rig_stop();
}
END_TEST

START_TEST(test_parallel_the_spinner_takes_one_job_and_the_next_wakes)
{
	rig_prepare(3, 3);
	rig.config.is_parallel = true;
	rig.config.spin_ns = 60 * RTAIL_S;
	rig_start();
	rig_wait_parked(2);
	rig_wait_spinning();
	/* The spinner cannot be stopped from taking its job: what counts is that nobody is woken for it. */
	ck_assert(!rig_submit(rig_job(AT_BURN), RIG_T0));
	rig_wait_blocked(&rig.jobs[0]);
	ck_assert(rig_submit(rig_job(AT_BURN), RIG_T0));
	ck_assert(rig_submit(rig_job(AT_BURN), RIG_T0));
	ck_assert(!rig_submit(rig_job(AT_BURN), RIG_T0));
	rig_stop();
}
END_TEST

START_TEST(test_parallel_the_age_counts_from_the_push)
{
	int64_t again_ns;

	rig_prepare(1, 1);
	rig.config.is_parallel = true;
	rig.config.threads_max = 2;
	rig_start();
	rig.pool->stall_read = rtail__stall_read;
	rig_hold(AT_SEMAPHORE);
	rig_submit(rig_job(AT_SEMAPHORE), RIG_T0 + 50 * T_NS);
	rig_submit(rig_job(AT_SEMAPHORE), RIG_T0 + 51 * T_NS);
	rig_open(&rig.jobs[0]);
	rig_wait_blocked(&rig.jobs[1]);
	/* The ring has moved; its head is as old as its push all the same. */
	rig_tick(RIG_T0 + 51 * T_NS + 7, &again_ns);
	ck_assert_int_eq(again_ns, T_NS - 7);
	rig_stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("elastic");
	TCase *tcase = tcase_create("elastic");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_a_burst_of_16_into_a_parked_lane_sends_one_wake);
	tcase_add_test(tcase, test_a_burst_whose_wake_is_still_to_be_made_sends_no_second);
	tcase_add_test(tcase, test_a_push_beside_a_busy_sibling_sends_none);
	tcase_add_test(tcase, test_a_push_beside_a_thread_that_computes_sends_none);
	tcase_add_test(tcase, test_a_push_beside_a_thread_that_computes_for_longer_than_the_switch_interval_sends_one);
	tcase_add_test(tcase, test_jobs_longer_than_t_are_looked_at_later_until_one_is_held);
	tcase_add_test(tcase, test_a_push_beside_a_thread_that_waits_for_the_lock_sends_none);
	tcase_add_loop_test(tcase, test_a_push_beside_held_siblings_wakes_at_once, 0, 4);
	tcase_add_test(tcase, test_a_job_first_seen_at_a_push_may_have_begun_just_now);
	tcase_add_test(tcase, test_a_verdict_spares_the_looks);
	tcase_add_test(tcase, test_only_one_thread_spins);
	tcase_add_test(tcase, test_a_push_beside_a_spinner_sends_no_wake_and_is_run);
	tcase_add_loop_test(tcase, test_sixty_jobs_with_gaps_land_on_one_thread, 0, 2);
	tcase_add_test(tcase, test_the_thread_that_parked_last_is_woken);
	tcase_add_test(tcase, test_a_late_wake_is_counted_spurious_and_slept_through);
	tcase_add_test(tcase, test_the_pool_makes_the_wake_itself_when_none_is_asked_for);
	tcase_add_test(tcase, test_a_ring_256_deep_that_is_being_drained_wakes_nobody);
	tcase_add_test(tcase, test_behind_a_held_sibling_the_wake_comes_at_t);
	tcase_add_loop_test(tcase, test_behind_a_runnable_or_lock_waiting_sibling_it_comes_at_5_ms, 0, 2);
	tcase_add_test(tcase, test_a_sibling_that_computed_and_then_sleeps_is_found_before_5_ms);
	tcase_add_test(tcase, test_nothing_waits_nothing_is_to_be_looked_at);
	tcase_add_loop_test(tcase, test_a_job_behind_a_held_sibling_starts_soon, 0, 8);
	tcase_add_test(tcase, test_parallel_each_push_wakes_a_parked_thread);
	tcase_add_test(tcase, test_parallel_the_spinner_takes_one_job_and_the_next_wakes);
	tcase_add_test(tcase, test_parallel_the_age_counts_from_the_push);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
