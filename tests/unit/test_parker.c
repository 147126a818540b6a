/* SPDX-License-Identifier: Apache-2.0 */
/* test_parker.c: the transitions of one thread's word, and a sleep that only a wake ends. */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "lib/parker.h"

static struct rtail__parker parker;
static _Atomic uint64_t spurious;

static void setup(void)
{
	rtail__parker_init(&parker);
	atomic_init(&spurious, 0);
}

START_TEST(test_a_parked_thread_can_go_back_to_running)
{
	ck_assert(rtail__parker_park(&parker, RTAIL__PARKED));
	ck_assert_int_eq(rtail__parker_state(&parker), RTAIL__PARKED);
	ck_assert(rtail__parker_cancel(&parker, RTAIL__PARKED));
	ck_assert_int_eq(rtail__parker_state(&parker), RTAIL__RUNNING);
}
END_TEST

START_TEST(test_only_one_waker_owns_the_transition)
{
	rtail__parker_park(&parker, RTAIL__PARKED);
	ck_assert(rtail__parker_take(&parker, RTAIL__PARKED));
	ck_assert(!rtail__parker_take(&parker, RTAIL__PARKED));
	ck_assert_int_eq(rtail__parker_unpark(&parker), RTAIL__WOKEN);
	ck_assert(!rtail__parker_cancel(&parker, RTAIL__PARKED));
	ck_assert(rtail__parker_wait(&parker, RTAIL__PARKED, &spurious));
	ck_assert_int_eq(rtail__parker_state(&parker), RTAIL__RUNNING);
}
END_TEST

START_TEST(test_take_knows_the_two_kinds_apart)
{
	rtail__parker_park(&parker, RTAIL__ASIDE);
	ck_assert(!rtail__parker_take(&parker, RTAIL__PARKED));
	ck_assert(!rtail__parker_retire(&parker));
	ck_assert(rtail__parker_take(&parker, RTAIL__ASIDE));
}
END_TEST

START_TEST(test_take_leaves_a_running_thread_alone)
{
	ck_assert(!rtail__parker_take(&parker, RTAIL__PARKED));
	ck_assert_int_eq(rtail__parker_state(&parker), RTAIL__RUNNING);
	ck_assert(!rtail__parker_consume(&parker));
}
END_TEST

START_TEST(test_a_permit_keeps_a_running_thread_from_parking_once)
{
	ck_assert_int_eq(rtail__parker_unpark(&parker), RTAIL__RUNNING);
	ck_assert(!rtail__parker_park(&parker, RTAIL__PARKED));
	ck_assert(rtail__parker_park(&parker, RTAIL__PARKED));
}
END_TEST

START_TEST(test_a_permit_keeps_a_running_thread_from_spinning_once)
{
	rtail__parker_unpark(&parker);
	ck_assert(!rtail__parker_spin(&parker));
	ck_assert(rtail__parker_spin(&parker));
}
END_TEST

START_TEST(test_a_permit_to_a_spinner_ends_its_spin)
{
	ck_assert(rtail__parker_spin(&parker));
	ck_assert_int_eq(rtail__parker_unpark(&parker), RTAIL__SPINNING);
	ck_assert(!rtail__parker_unspin(&parker));
	ck_assert_int_eq(rtail__parker_state(&parker), RTAIL__RUNNING);
	ck_assert(rtail__parker_spin(&parker));
	ck_assert(rtail__parker_unspin(&parker));
}
END_TEST

START_TEST(test_a_retired_thread_is_told_to_end)
{
	rtail__parker_park(&parker, RTAIL__PARKED);
	ck_assert(rtail__parker_retire(&parker));
	ck_assert(!rtail__parker_wait(&parker, RTAIL__PARKED, &spurious));
}
END_TEST

START_TEST(test_words_have_a_cache_line_each)
{
	ck_assert_uint_eq(sizeof(struct rtail__parker), RTAIL__LINE);
	ck_assert_uint_eq(_Alignof(struct rtail__parker), RTAIL__LINE);
}
END_TEST

static void *park_once(void *arg)
{
	(void)arg;
	rtail__parker_park(&parker, RTAIL__PARKED);
	return rtail__parker_wait(&parker, RTAIL__PARKED, &spurious) ? &parker : NULL;
}

START_TEST(test_a_wake_without_a_transition_is_spurious_and_counted)
{
	uint64_t tries = 0;
	pthread_t thread;
	void *woken;

	pthread_create(&thread, NULL, park_once, NULL);
	while (!atomic_load(&spurious)) {
		rtail__futex_wake(rtail__parker_word(&parker), 1);
		ck_assert_uint_lt(++tries, 100000);
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
	ck_assert_int_eq(rtail__parker_state(&parker), RTAIL__PARKED);
	ck_assert_int_eq(rtail__parker_unpark(&parker), RTAIL__PARKED);
	rtail__futex_wake(rtail__parker_word(&parker), 1);
	pthread_join(thread, &woken);
	ck_assert_ptr_eq(woken, &parker);
}
END_TEST

#define ROUNDS 20000

static uint64_t payload; /* not atomic: published by the permit alone */

static void *count_permits(void *arg)
{
	uint64_t seen = 0;

	(void)arg;
	while (seen < ROUNDS) {
		if (rtail__parker_park(&parker, RTAIL__PARKED))
			rtail__parker_wait(&parker, RTAIL__PARKED, &spurious);
		seen = __atomic_load_n(&payload, __ATOMIC_RELAXED);
	}
	return NULL;
}

START_TEST(test_no_permit_is_lost)
{
	pthread_t thread;

	payload = 0;
	pthread_create(&thread, NULL, count_permits, NULL);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		__atomic_store_n(&payload, i, __ATOMIC_RELAXED);
		if (rtail__parker_unpark(&parker) == RTAIL__PARKED)
			rtail__futex_wake(rtail__parker_word(&parker), 1);
	}
	pthread_join(thread, NULL); /* hangs, and the test's time ends it, if one was lost */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parker");
	TCase *tcase = tcase_create("parker");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, test_a_parked_thread_can_go_back_to_running);
	tcase_add_test(tcase, test_only_one_waker_owns_the_transition);
	tcase_add_test(tcase, test_take_knows_the_two_kinds_apart);
	tcase_add_test(tcase, test_take_leaves_a_running_thread_alone);
	tcase_add_test(tcase, test_a_permit_keeps_a_running_thread_from_parking_once);
	tcase_add_test(tcase, test_a_permit_keeps_a_running_thread_from_spinning_once);
	tcase_add_test(tcase, test_a_permit_to_a_spinner_ends_its_spin);
	tcase_add_test(tcase, test_a_retired_thread_is_told_to_end);
	tcase_add_test(tcase, test_words_have_a_cache_line_each);
	tcase_add_test(tcase, test_a_wake_without_a_transition_is_spurious_and_counted);
	tcase_add_test(tcase, test_no_permit_is_lost);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
