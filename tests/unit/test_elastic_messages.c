/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_elastic_messages.c: messages to one thread of the elastic pool, threads
 * that own paused things, and the comparison modes.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "elastic_rig.h"

#define MS RTAIL_MS

/* --- messages --- */

START_TEST(test_a_message_runs_on_its_thread_woken_by_name)
{
	struct rtail_message messages[4];
	struct rtail_wake wake;

	rig_prepare(4, 4);
	rig.config.mode = (enum rtail_elastic_mode)_i;
	rig_start();
	for (unsigned i = 0; i < 4; i++) {
		messages[i].job = rig_as_job(rig_job(AT_NOTHING));
		ck_assert_int_eq(rtail_elastic_message(rig.pool, i, &messages[i], &wake), 0);
		rig_wake(&wake);
		rig_wait_done(&rig.jobs[i]);
		ck_assert_int_eq(atomic_load(&rig.jobs[i].thread), (int)i);
	}
	if (rig.config.mode == RTAIL_ELASTIC_ON)
		ck_assert_uint_eq(rig_wakes(RTAIL_WAKE_MESSAGE), 4);
	rig_stop();
}
END_TEST

START_TEST(test_messages_run_in_their_order_and_before_the_rings_jobs)
{
	struct rtail_message messages[5];

	rig_prepare(1, 1);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	for (int i = 0; i < 5; i++)
		rig_submit(rig_job(AT_NOTHING), RIG_T0);
	for (int i = 0; i < 5; i++) {
		struct rtail_wake wake;

		messages[i].job = rig_as_job(rig_job(AT_NOTHING));
		ck_assert_int_eq(rtail_elastic_message(rig.pool, 0, &messages[i], &wake), 0);
		ck_assert_ptr_null(wake.word); /* it is awake */
	}
	rig_open(&rig.jobs[0]);
	rig_wait_parked(1);
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_uint_eq(atomic_load(&rig.jobs[6 + i].order), 2 + i);
		ck_assert_uint_eq(atomic_load(&rig.jobs[1 + i].order), 7 + i);
	}
	rig_stop();
}
END_TEST

START_TEST(test_a_message_reaches_a_spinner)
{
	struct rtail_message message;
	struct rtail_wake wake;

	rig_prepare(1, 1);
	rig.config.spin_ns = 3600 * RTAIL_S;
	rig_start();
	rig_wait_spinning();
	message.job = rig_as_job(rig_job(AT_NOTHING));
	ck_assert_int_eq(rtail_elastic_message(rig.pool, 0, &message, &wake), 0);
	ck_assert_ptr_null(wake.word);
	rig_wait_done(&rig.jobs[0]);
	rig_stop();
}
END_TEST

START_TEST(test_a_message_to_a_held_thread_does_not_make_it_busy)
{
	struct rtail_message message;

	rig_prepare(2, 2);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	ck_assert(rig_submit(rig_job(AT_NOTHING), RIG_T0 + T_NS));
	rig_wait_parked(1);
	message.job = rig_as_job(rig_job(AT_NOTHING));
	ck_assert_int_eq(rtail_elastic_message(rig.pool, (unsigned)atomic_load(&rig.jobs[0].thread), &message, NULL), 0);
	ck_assert(rig_submit(rig_job(AT_NOTHING), RIG_T0 + T_NS + 1));
	rig_stop();
}
END_TEST

START_TEST(test_a_message_to_no_thread_is_refused)
{
	struct rtail_message message = {.job = {NULL, NULL}};

	rig_prepare(1, 4);
	rig_start();
	ck_assert_int_eq(rtail_elastic_message(rig.pool, 3, &message, NULL), -ESRCH);
	ck_assert_int_eq(rtail_elastic_message(rig.pool, 4, &message, NULL), -EINVAL);
	rig_stop();
}
END_TEST

/* --- threads that own paused things --- */

/* Thread index of a job that left something paused. */
static int make_owner(void)
{
	struct rig_job *job = rig_job(AT_NOTHING);

	job->own = 1;
	rig_submit(job, RIG_T0);
	rig_wait_done(job);
	return atomic_load(&job->thread);
}

START_TEST(test_an_owner_leaves_jobs_to_who_else_is_parked)
{
	int owner;

	rig_prepare(2, 2);
	rig.config.mode = (enum rtail_elastic_mode)_i;
	rig_start();
	owner = make_owner();
	for (int i = 0; i < 10; i++) {
		struct rig_job *job = rig_job(AT_NOTHING);

		rig_wait_parked(2);
		rig_submit(job, RIG_T0 + (unsigned)i * MS);
		rig_wait_done(job);
		ck_assert_int_ne(atomic_load(&job->thread), owner);
	}
	ck_assert_uint_eq(rig_stats().held, 1);
	rig_stop();
}
END_TEST

START_TEST(test_jobs_behind_the_one_that_made_its_thread_an_owner_go_to_another)
{
	struct rig_job *job, *next;

	rig_prepare(2, 2);
	rig_start();
	job = rig_job(AT_SEMAPHORE);
	job->own = 1;
	rig_submit(job, RIG_T0);
	rig_wait_blocked(job);
	ck_assert(!rig_submit(next = rig_job(AT_NOTHING), RIG_T0)); /* its thread is busy */
	rig_open(job);
	rig_wait_done(next); /* no tick: the owner hands it over */
	ck_assert_int_ne(atomic_load(&next->thread), atomic_load(&job->thread));
	rig_stop();
}
END_TEST

START_TEST(test_an_owner_that_is_alone_takes_jobs)
{
	rig_prepare(1, 1);
	rig_start();
	make_owner();
	for (int i = 0; i < 10; i++) {
		struct rig_job *job = rig_job(AT_NOTHING);

		rig_wait_parked(1);
		ck_assert(rig_submit(job, RIG_T0 + (unsigned)i * MS));
		rig_wait_done(job);
	}
	rig_stop();
}
END_TEST

START_TEST(test_a_thread_is_started_before_an_owner_takes_jobs)
{
	struct rig_job *job;
	int owner;

	rig_prepare(1, 2);
	rig_start();
	owner = make_owner();
	rig_wait_parked(1);
	rig_tick(RIG_T0, NULL);
	job = rig_job(AT_NOTHING);
	ck_assert(!rig_submit(job, RIG_T0));
	ck_assert(!rig_tick(RIG_T0 + T_NS, NULL));
	ck_assert_uint_eq(rig_stats().threads, 2);
	rig_wait_done(job);
	ck_assert_int_ne(atomic_load(&job->thread), owner);
	rig_stop();
}
END_TEST

START_TEST(test_an_owner_takes_messages_and_jobs_in_turn)
{
	struct rtail_message messages[5];
	struct rig_job *gate;

	rig_prepare(1, 1);
	rig_start();
	make_owner();
	rig_wait_parked(1);
	gate = rig_job(AT_SEMAPHORE);
	rig_submit(gate, RIG_T0 + MS);
	rig_wait_blocked(gate);
	for (int i = 0; i < 5; i++)
		rig_submit(rig_job(AT_NOTHING), RIG_T0 + MS);
	for (int i = 0; i < 5; i++) {
		messages[i].job = rig_as_job(rig_job(AT_NOTHING));
		ck_assert_int_eq(rtail_elastic_message(rig.pool, 0, &messages[i], NULL), 0);
	}
	rig_open(gate);
	rig_wait_parked(1);
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_uint_eq(atomic_load(&rig.jobs[7 + i].order), 3 + 2 * i);
		ck_assert_uint_eq(atomic_load(&rig.jobs[2 + i].order), 4 + 2 * i);
	}
	rig_stop();
}
END_TEST

START_TEST(test_an_owner_never_retires_and_does_when_it_owns_nothing_any_more)
{
	struct rtail_message message;
	struct rig_job *first, *second;
	uint64_t now_ns = RIG_T0 + MS;

	rig_prepare(1, 2);
	rig_start();
	first = rig_hold(AT_SEMAPHORE);
	second = rig_job(AT_NOTHING);
	second->own = 1;
	rig_submit(second, RIG_T0);
	rig_age(RIG_T0);
	rig_wait_done(second);
	rig_open(first);
	rig_wait_parked(2);
	/* Thread 0 is the one that could retire; it does: one of two is above `threads`. */
	for (int i = 0; i < 10; i++)
		rig_tick(now_ns += 20 * RTAIL_S, NULL);
	ck_assert_uint_eq(rig_stats().retired, 1);
	ck_assert_uint_eq(rig_stats().threads, 1);
	message.job = rig_as_job(rig_job(AT_NOTHING));
	ck_assert_int_eq(rtail_elastic_message(rig.pool, 1, &message, NULL), 0);
	rig_wait_done(&rig.jobs[2]);
	ck_assert_int_eq(atomic_load(&rig.jobs[2].thread), atomic_load(&second->thread));
	rig_stop();
}
END_TEST

START_TEST(test_owners_alone_do_not_retire)
{
	uint64_t now_ns = RIG_T0 + MS;
	struct rig_job *first;

	rig_prepare(1, 2);
	rig_start();
	first = rig_hold(AT_SEMAPHORE);
	first->own = 1;
	rig_submit(rig_job(AT_NOTHING), RIG_T0);
	rig.jobs[1].own = 1;
	rig_age(RIG_T0);
	rig_wait_done(&rig.jobs[1]);
	rig_open(first);
	rig_wait_parked(2);
	for (int i = 0; i < 10; i++)
		rig_tick(now_ns += 20 * RTAIL_S, NULL);
	ck_assert_uint_eq(rig_stats().threads, 2);
	rig_stop();
}
END_TEST

/* --- the comparison modes --- */

START_TEST(test_shared_a_burst_into_a_parked_lane_sends_one_wake)
{
	rig_prepare(4, 4);
	rig.config.mode = RTAIL_ELASTIC_SHARED;
	rig_start();
	ck_assert(rig_submit(rig_job(AT_SEMAPHORE), RIG_T0));
	for (int i = 0; i < 15; i++)
		ck_assert(!rig_submit(rig_job(AT_NOTHING), RIG_T0));
	rig_wait_blocked(&rig.jobs[0]);
	rig_tick(RIG_T0, NULL);
	ck_assert(rig_tick(RIG_T0 + T_NS, NULL)); /* rule 3 */
	rig_wait_done(&rig.jobs[15]);
	rig_stop();
}
END_TEST

START_TEST(test_off_every_push_into_a_parked_lane_wakes)
{
	rig_prepare(4, 4);
	rig.config.mode = RTAIL_ELASTIC_OFF;
	rig_start();
	for (int i = 0; i < 4; i++) {
		ck_assert(rig_submit(rig_job(AT_SEMAPHORE), RIG_T0));
		rig_wait_blocked(&rig.jobs[i]);
	}
	ck_assert(!rig_submit(rig_job(AT_NOTHING), RIG_T0));
	ck_assert_int_eq(rtail_elastic_tick(rig.pool, RIG_T0 + RTAIL_S, NULL), -1);
	rig_stop();
}
END_TEST

START_TEST(test_off_a_taker_wakes_a_sibling_for_the_rest)
{
	struct rtail_wake first, later;

	rig_prepare(2, 2);
	rig.config.mode = RTAIL_ELASTIC_OFF;
	rig_start();
	rig_push(rig_job(AT_SEMAPHORE), RIG_T0, &first);
	rig_wake(&first);
	rig_wait_blocked(&rig.jobs[0]);
	rig_push(rig_job(AT_SEMAPHORE), RIG_T0, &later); /* this wake is made late */
	rig_push(rig_job(AT_SEMAPHORE), RIG_T0, &first);
	ck_assert_ptr_nonnull(later.word);
	ck_assert_ptr_null(first.word);
	rig_wake(&later);
	rig_wait_blocked(&rig.jobs[1]);
	rig_stop();
	ck_assert_uint_eq(atomic_load(&rig.jobs[2].runs), 1);
}
END_TEST

START_TEST(test_the_comparison_modes_do_not_grow)
{
	rig_prepare(1, 8);
	rig.config.mode = _i ? RTAIL_ELASTIC_OFF : RTAIL_ELASTIC_SHARED;
	rig_start();
	rig_hold(AT_SEMAPHORE);
	rig_submit(rig_job(AT_NOTHING), RIG_T0);
	for (unsigned i = 1; i < 10; i++)
		rig_tick(RIG_T0 + i * 20 * MS, NULL);
	ck_assert_uint_eq(rig_stats().threads, 1);
	rig_stop();
}
END_TEST

static void add_messages(Suite *suite)
{
	TCase *tcase = tcase_create("messages");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_a_message_runs_on_its_thread_woken_by_name, 0, 3);
	tcase_add_test(tcase, test_messages_run_in_their_order_and_before_the_rings_jobs);
	tcase_add_test(tcase, test_a_message_reaches_a_spinner);
	tcase_add_test(tcase, test_a_message_to_a_held_thread_does_not_make_it_busy);
	tcase_add_test(tcase, test_a_message_to_no_thread_is_refused);
	tcase_add_loop_test(tcase, test_an_owner_leaves_jobs_to_who_else_is_parked, 0, 3);
	tcase_add_test(tcase, test_jobs_behind_the_one_that_made_its_thread_an_owner_go_to_another);
	tcase_add_test(tcase, test_an_owner_that_is_alone_takes_jobs);
	tcase_add_test(tcase, test_a_thread_is_started_before_an_owner_takes_jobs);
	tcase_add_test(tcase, test_an_owner_takes_messages_and_jobs_in_turn);
	tcase_add_test(tcase, test_an_owner_never_retires_and_does_when_it_owns_nothing_any_more);
	tcase_add_test(tcase, test_owners_alone_do_not_retire);
	suite_add_tcase(suite, tcase);
}

static void add_modes(Suite *suite)
{
	TCase *tcase = tcase_create("modes");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_shared_a_burst_into_a_parked_lane_sends_one_wake);
	tcase_add_test(tcase, test_off_every_push_into_a_parked_lane_wakes);
	tcase_add_test(tcase, test_off_a_taker_wakes_a_sibling_for_the_rest);
	tcase_add_loop_test(tcase, test_the_comparison_modes_do_not_grow, 0, 2);
	suite_add_tcase(suite, tcase);
}

int main(void)
{
	Suite *suite = suite_create("elastic_messages");
	SRunner *runner;
	int failed;

	add_messages(suite);
	add_modes(suite);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
