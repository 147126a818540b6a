/* SPDX-License-Identifier: Apache-2.0 */
/* test_ring.c: order, bounds, the pop counter, and many threads at both ends. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "lib/ring.h"

static struct rtail__ring ring;

static struct rtail_job numbered(uintptr_t number)
{
	return (struct rtail_job){NULL, (void *)number};
}

static uintptr_t pop_number(void)
{
	struct rtail_job job = {NULL, (void *)UINTPTR_MAX};

	rtail__ring_pop(&ring, &job);
	return (uintptr_t)job.arg;
}

static void setup(void)
{
	ck_assert_int_eq(rtail__ring_init(&ring, 1), 0);
}

static void teardown(void)
{
	rtail__ring_done(&ring);
}

START_TEST(test_sizes_out_of_range_are_refused)
{
	struct rtail__ring none;

	ck_assert_int_eq(rtail__ring_init(&none, 0), -EINVAL);
	ck_assert_int_eq(rtail__ring_init(&none, SIZE_MAX), -EINVAL);
}
END_TEST

START_TEST(test_an_empty_ring_gives_nothing)
{
	struct rtail_job job = numbered(7);

	ck_assert(!rtail__ring_has(&ring));
	ck_assert(!rtail__ring_pop(&ring, &job));
	ck_assert_uint_eq((uintptr_t)job.arg, 7);
	ck_assert_uint_eq(rtail__ring_pops(&ring), 0);
}
END_TEST

START_TEST(test_first_in_is_first_out_over_many_laps)
{
	uintptr_t in = 0, out = 0;

	for (int lap = 0; lap < 50; lap++) {
		for (int i = 0; i < 40; i++)
			ck_assert(rtail__ring_push(&ring, numbered(in++)));
		ck_assert(rtail__ring_has(&ring));
		for (int i = 0; i < 40; i++)
			ck_assert_uint_eq(pop_number(), out++);
		ck_assert(!rtail__ring_has(&ring));
	}
}
END_TEST

START_TEST(test_a_full_ring_refuses_and_takes_again_after_a_pop)
{
	uintptr_t in = 0;

	while (rtail__ring_push(&ring, numbered(in)))
		in++;
	ck_assert_uint_eq(in, ring.mask + 1);
	ck_assert_uint_eq(pop_number(), 0);
	ck_assert(rtail__ring_push(&ring, numbered(in)));
	ck_assert(!rtail__ring_push(&ring, numbered(in + 1)));
}
END_TEST

START_TEST(test_counters_count_pushes_and_pops)
{
	for (uintptr_t i = 0; i < 10; i++)
		rtail__ring_push(&ring, numbered(i));
	pop_number();
	pop_number();
	ck_assert_uint_eq(rtail__ring_pushes(&ring), 10);
	ck_assert_uint_eq(rtail__ring_pops(&ring), 2);
}
END_TEST

#define THREADS 3
#define EACH 50000

static _Atomic unsigned char seen[THREADS * EACH];
static atomic_uint popped;

static void *push_all(void *arg)
{
	uintptr_t first = (uintptr_t)arg * EACH;

	for (uintptr_t i = 0; i < EACH; i++)
		while (!rtail__ring_push(&ring, numbered(first + i)))
			sched_yield();
	return NULL;
}

static void *pop_all(void *arg)
{
	uintptr_t last[THREADS] = {0};
	struct rtail_job job;

	(void)arg;
	while (atomic_load(&popped) < THREADS * EACH) {
		uintptr_t number;

		if (!rtail__ring_pop(&ring, &job)) {
			sched_yield();
			continue;
		}
		atomic_fetch_add(&popped, 1);
		number = (uintptr_t)job.arg;
		if (number + 1 <= last[number / EACH])
			return (void *)1; /* one producer's jobs must come in its order */
		last[number / EACH] = number + 1;
		atomic_fetch_add(&seen[number], 1);
	}
	return NULL;
}

START_TEST(test_many_threads_lose_and_double_nothing)
{
	pthread_t threads[2 * THREADS];

	for (uintptr_t i = 0; i < THREADS; i++) {
		pthread_create(&threads[i], NULL, push_all, (void *)i);
		pthread_create(&threads[THREADS + i], NULL, pop_all, NULL);
	}
	for (int i = 0; i < 2 * THREADS; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		ck_assert_ptr_null(failed);
	}
	for (int i = 0; i < THREADS * EACH; i++)
		ck_assert_uint_eq(atomic_load(&seen[i]), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring");
	TCase *tcase = tcase_create("ring");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_sizes_out_of_range_are_refused);
	tcase_add_test(tcase, test_an_empty_ring_gives_nothing);
	tcase_add_test(tcase, test_first_in_is_first_out_over_many_laps);
	tcase_add_test(tcase, test_a_full_ring_refuses_and_takes_again_after_a_pop);
	tcase_add_test(tcase, test_counters_count_pushes_and_pops);
	tcase_add_test(tcase, test_many_threads_lose_and_double_nothing);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
