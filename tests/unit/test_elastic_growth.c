/* SPDX-License-Identifier: Apache-2.0 */
/* test_elastic_growth.c: when the elastic pool starts a thread, when it does not, and when it lets one go. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "elastic_rig.h"

#define MS RTAIL_MS

/* --- rule 5 --- */

START_TEST(test_growth_counts_held_threads_up_to_threads_max)
{
	uint64_t now_ns = RIG_T0;
	int64_t again_ns;

	rig_prepare(1, 4);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	for (unsigned i = 2; i <= 4; i++) {
		struct rig_job *job = rig_job(AT_SEMAPHORE);

		now_ns += MS;
		rig_tick(now_ns, NULL);
		now_ns += MS;
		rig_submit(job, now_ns);
		ck_assert_uint_eq(rig_stats().threads, i - 1);
		rig_age(now_ns);
		ck_assert_uint_eq(rig_stats().threads, i);
		rig_wait_blocked(job);
	}
	rig_tick(now_ns += MS, NULL);
	rig_submit(rig_job(AT_NOTHING), now_ns += MS);
	rig_tick(now_ns += MS, &again_ns);
	ck_assert_int_gt(again_ns, RTAIL_S); /* for retirement only */
	ck_assert_uint_eq(rig_stats().threads, 4);
	ck_assert_uint_eq(rig_wakes(RTAIL_WAKE_GROW), 3);
	ck_assert_uint_eq(rig_stats().held, 4);
	rig_stop();
}
END_TEST

static uint64_t test_now_ns, cpu_permille;

/* The handlers' CPU time by the test's clock. */
static uint64_t use_cpu(const struct rtail_elastic *pool)
{
	(void)pool;
	return test_now_ns / 1000 * cpu_permille;
}

/* Ticks as told from RIG_T0 until the pool has threads; the time. */
static uint64_t tick_until_threads(unsigned threads, uint64_t end_ns)
{
	int64_t again_ns;

	rig.pool->cpu_read = use_cpu;
	test_now_ns = RIG_T0;
	rig_tick(test_now_ns, &again_ns);
	while (rig_stats().threads < threads && test_now_ns < end_ns) {
		ck_assert_int_gt(again_ns, 0);
		test_now_ns += (uint64_t)again_ns;
		rig_tick(test_now_ns, &again_ns);
	}
	return test_now_ns;
}

START_TEST(test_held_threads_that_run_now_and_then_do_not_make_the_pool_grow_before_10_ms)
{
	rig_prepare(1, 8);
	rig_start();
	rig_hold(AT_SEMAPHORE); /* at each look; between them it runs */
	cpu_permille = 300;
	rig_submit(rig_job(AT_SEMAPHORE), RIG_T0);
	ck_assert_uint_eq(tick_until_threads(2, RIG_T0 + RTAIL_S), RIG_T0 + 10 * MS);
	rig_stop();
}
END_TEST

START_TEST(test_beside_a_thread_that_computes_the_pool_grows_at_10_ms)
{
	rig_prepare(1, 8);
	rig_start();
	rig_hold(_i ? AT_LOCK : AT_BURN); /* the lock is handed round among the handlers */
	cpu_permille = 800;
	rig_submit(rig_job(AT_SEMAPHORE), RIG_T0);
	ck_assert_uint_eq(tick_until_threads(2, RIG_T0 + RTAIL_S), RIG_T0 + 10 * MS);
	rig_stop();
}
END_TEST

START_TEST(test_beside_threads_that_get_no_cpu_the_pool_grows_at_100_ms)
{
	rig_prepare(1, 8);
	rig_start();
	rig_hold(AT_LOCK); /* somebody outside the pool has it */
	cpu_permille = 0;
	rig_submit(rig_job(AT_SEMAPHORE), RIG_T0);
	ck_assert_uint_ge(tick_until_threads(2, RIG_T0 + RTAIL_S), RIG_T0 + 100 * MS);
	ck_assert_uint_le(test_now_ns, RIG_T0 + 120 * MS);
	rig_stop();
}
END_TEST

START_TEST(test_threads_that_compute_stop_growth_at_four_more_than_configured)
{
	rig_prepare(1, 64);
	rig_start();
	rig_hold(AT_LOCK);
	cpu_permille = 1000;
	for (unsigned i = 0; i < 20; i++)
		rig_submit(rig_job(AT_LOCK), RIG_T0);
	rig.pool->cpu_read = use_cpu;
	test_now_ns = RIG_T0;
	for (unsigned i = 0; i < 200; i++) {
		int64_t again_ns;

		rig_tick(test_now_ns, &again_ns);
		ck_assert_int_gt(again_ns, 0);
		test_now_ns += (uint64_t)again_ns;
		/* What was started has taken its job and stands in it. */
		RIG_WAIT(rig_stats().run == rig_stats().threads);
		rig_wait_blocked(&rig.jobs[rig_stats().threads - 1]);
	}
	ck_assert_uint_eq(rig_stats().threads, 5);
	rig_stop();
}
END_TEST

START_TEST(test_a_parked_sibling_is_woken_before_the_pool_grows)
{
	rig_prepare(2, 8);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	rig_submit(rig_job(AT_SEMAPHORE), RIG_T0);
	rig_tick(RIG_T0, NULL);
	ck_assert(rig_tick(RIG_T0 + 20 * MS, NULL));
	ck_assert_uint_eq(rig_stats().threads, 2);
	rig_stop();
}
END_TEST

START_TEST(test_after_a_stall_of_the_machine_the_pool_looks_again_before_it_grows)
{
	int64_t again_ns;

	rig_prepare(1, 8);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	rig_submit(rig_job(AT_SEMAPHORE), RIG_T0);
	rig_tick(RIG_T0, NULL);
	rig_tick(RIG_T0 + 3 * RTAIL_S, &again_ns);
	ck_assert_uint_eq(rig_stats().threads, 1);
	ck_assert_int_eq(again_ns, T_NS);
	rig_age(RIG_T0 + 3 * RTAIL_S);
	ck_assert_uint_eq(rig_stats().threads, 2);
	rig_stop();
}
END_TEST

static struct rtail__stall_look look_as_stat(const struct rtail__stall *stall)
{
	(void)stall;
	return (struct rtail__stall_look){RTAIL__STALL_BLOCKED, 0};
}

/* stat's S is all there is: a thread that gets and loses the lock looks blocked, but its CPU time tells. */
START_TEST(test_without_exact_looks_a_pool_that_computes_does_not_grow)
{
	rig_prepare(1, 4);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	rig.pool->stall_read = look_as_stat;
	rig.pool->threads[0].stall.is_exact = false;
	cpu_permille = _i ? 0 : 600;
	rig_submit(rig_job(AT_SEMAPHORE), RIG_T0);
	tick_until_threads(2, RIG_T0 + RTAIL_S);
	ck_assert_uint_eq(rig_stats().threads, _i ? 2 : 1);
	rig_stop();
}
END_TEST

START_TEST(test_the_handlers_cpu_time_is_what_they_have_used)
{
	uint64_t before_ns;

	rig_prepare(2, 2);
	rig_start();
	before_ns = rtail__grow_cpu(rig.pool);
	rig_hold(AT_BURN);
	RIG_WAIT(rtail__grow_cpu(rig.pool) >= before_ns + 20 * MS);
	rig_open(&rig.jobs[0]);
	rig_wait_parked(2);
	/* Parked is said a moment before it sleeps. */
	RIG_WAIT((before_ns = rtail__grow_cpu(rig.pool), rig_pause(), rtail__grow_cpu(rig.pool) == before_ns));
	rig_stop();
}
END_TEST

/* --- retirement --- */

/* One thread more than configured, idle. */
static void grow_one_and_idle(void)
{
	struct rig_job *first, *second;

	first = rig_hold(AT_SEMAPHORE);
	rig_submit(second = rig_job(AT_SEMAPHORE), RIG_T0);
	rig_age(RIG_T0);
	rig_wait_blocked(second);
	rig_open(first);
	rig_open(second);
	rig_wait_parked(2);
}

START_TEST(test_threads_above_threads_retire_after_thread_idle)
{
	int64_t again_ns;
	uint64_t now_ns = RIG_T0 + MS;

	rig_prepare(1, 4);
	rig_start();
	grow_one_and_idle();
	rig_tick(now_ns, &again_ns);
	while (rig_stats().threads == 2) {
		ck_assert_int_gt(again_ns, 0);
		now_ns += (uint64_t)again_ns;
		ck_assert_uint_le(now_ns, RIG_T0 + MS + rig.config.thread_idle_ns * 5 / 4);
		rig_tick(now_ns, &again_ns);
	}
	ck_assert_uint_ge(now_ns, RIG_T0 + MS + rig.config.thread_idle_ns);
	ck_assert_uint_eq(rig_stats().retired, 1);
	RIG_WAIT((rig_tick(now_ns, &again_ns), !rig.pool->ending));
	ck_assert_int_eq(again_ns, -1);
	ck_assert_uint_eq(rig_stats().parked, 1);
	rig_stop();
}
END_TEST

START_TEST(test_a_thread_that_was_used_meanwhile_does_not_retire)
{
	struct rig_job *job;

	rig_prepare(1, 4);
	rig_start();
	grow_one_and_idle();
	rig_tick(RIG_T0 + MS, NULL);
	for (int i = 1; i < 10; i++) {
		/* Both are used: one holds a job while the other takes the next. */
		uint64_t now_ns = RIG_T0 + MS + (uint64_t)i * 20 * RTAIL_S;

		rig_submit(job = rig_job(AT_SEMAPHORE), now_ns);
		rig_wait_blocked(job);
		rig_tick(now_ns + 1, NULL);
		rig_submit(rig_job(AT_NOTHING), now_ns + MS);
		rig_tick(now_ns + MS + T_NS, NULL);
		rig_wait_done(&rig.jobs[rig.used - 1]);
		rig_open(job);
		rig_wait_parked(2);
		rig_tick(now_ns + 2 * MS, NULL);
	}
	ck_assert_uint_eq(rig_stats().threads, 2);
	rig_stop();
}
END_TEST

START_TEST(test_a_slot_is_used_again_after_a_retirement)
{
	struct rig_job *first, *second;
	uint64_t now_ns = RIG_T0 + 200 * RTAIL_S;

	rig_prepare(1, 2);
	rig_start();
	grow_one_and_idle();
	rig_tick(RIG_T0 + 50 * RTAIL_S, NULL);
	rig_tick(RIG_T0 + 100 * RTAIL_S, NULL);
	ck_assert_uint_eq(rig_stats().threads, 1);
	RIG_WAIT((rig_tick(RIG_T0 + 100 * RTAIL_S, NULL), !rig.pool->ending));
	rig_submit(first = rig_job(AT_SEMAPHORE), now_ns);
	rig_wait_blocked(first);
	rig_tick(now_ns + 1, NULL);
	rig_submit(second = rig_job(AT_NOTHING), now_ns + MS);
	rig_age(now_ns + MS);
	rig_wait_done(second);
	ck_assert_uint_eq(rig_stats().threads, 2);
	ck_assert_uint_eq(rig_stats().threads_peak, 2);
	rig_stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("elastic_growth");
	TCase *tcase = tcase_create("elastic_growth");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_growth_counts_held_threads_up_to_threads_max);
	tcase_add_test(tcase, test_held_threads_that_run_now_and_then_do_not_make_the_pool_grow_before_10_ms);
	tcase_add_loop_test(tcase, test_beside_a_thread_that_computes_the_pool_grows_at_10_ms, 0, 2);
	tcase_add_test(tcase, test_beside_threads_that_get_no_cpu_the_pool_grows_at_100_ms);
	tcase_add_test(tcase, test_threads_that_compute_stop_growth_at_four_more_than_configured);
	tcase_add_test(tcase, test_a_parked_sibling_is_woken_before_the_pool_grows);
	tcase_add_test(tcase, test_after_a_stall_of_the_machine_the_pool_looks_again_before_it_grows);
	tcase_add_loop_test(tcase, test_without_exact_looks_a_pool_that_computes_does_not_grow, 0, 2);
	tcase_add_test(tcase, test_the_handlers_cpu_time_is_what_they_have_used);
	tcase_add_test(tcase, test_threads_above_threads_retire_after_thread_idle);
	tcase_add_test(tcase, test_a_thread_that_was_used_meanwhile_does_not_retire);
	tcase_add_test(tcase, test_a_slot_is_used_again_after_a_retirement);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
