/* SPDX-License-Identifier: Apache-2.0 */
/* test_returns.c: order, the signal, and the races between handlers and the loop. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/returns.h"

static struct returns returns;

static void setup(void)
{
	ck_assert_int_eq(returns_init(&returns), 0);
}

static void teardown(void)
{
	returns_done(&returns);
}

static bool is_signalled(void)
{
	struct pollfd fd = { .fd = returns.event_fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

START_TEST(test_take_gives_everything_oldest_first)
{
	struct outbuf outs[5] = { 0 };
	struct outbuf *out;

	ck_assert_ptr_null(returns_take(&returns));
	for (int i = 0; i < 5; i++)
		returns_push(&returns, &outs[i]);
	out = returns_take(&returns);
	for (int i = 0; i < 5; i++, out = out->next)
		ck_assert_ptr_eq(out, &outs[i]);
	ck_assert_ptr_null(out);
	ck_assert_ptr_null(returns_take(&returns));
}
END_TEST

START_TEST(test_a_loop_that_is_awake_is_not_signalled)
{
	struct outbuf out = { 0 };

	returns_push(&returns, &out);
	returns_flush(&returns);
	ck_assert(!is_signalled());
	ck_assert_uint_eq(atomic_load(&returns.signals), 0);
}
END_TEST

START_TEST(test_push_alone_signals_nobody)
{
	struct outbuf out = { 0 };

	ck_assert(returns_sleep(&returns));
	returns_push(&returns, &out);
	ck_assert(!is_signalled());
	returns_flush(&returns);
	ck_assert(is_signalled());
}
END_TEST

START_TEST(test_a_loop_that_sleeps_is_signalled_once)
{
	struct outbuf outs[2] = { 0 };

	ck_assert(returns_sleep(&returns));
	returns_push(&returns, &outs[0]);
	returns_flush(&returns);
	returns_push(&returns, &outs[1]);
	returns_flush(&returns);
	ck_assert(is_signalled());
	ck_assert_uint_eq(atomic_load(&returns.signals), 1);
}
END_TEST

START_TEST(test_sleep_is_refused_while_something_waits)
{
	struct outbuf out = { 0 };

	returns_push(&returns, &out);
	ck_assert(!returns_sleep(&returns));
	returns_flush(&returns);
	ck_assert(!is_signalled());
	returns_take(&returns);
	ck_assert(returns_sleep(&returns));
	returns_wake(&returns);
	returns_flush(&returns);
	ck_assert(!is_signalled());
}
END_TEST

#define PRODUCERS 4
#define PUSHES 20000

struct numbered {
	struct outbuf out;
	unsigned producer;
	unsigned number;
};

static void *produce(void *arg)
{
	unsigned producer = (unsigned)(uintptr_t)arg;

	for (unsigned i = 0; i < PUSHES; i++) {
		struct numbered *item = malloc(sizeof(*item));

		item->producer = producer;
		item->number = i;
		returns_push(&returns, &item->out);
		/* As a handler does: at the end of a batch. */
		if (i % 7 == 6 || i == PUSHES - 1)
			returns_flush(&returns);
	}
	return NULL;
}

/*
 * A consumer that sleeps whenever it may. Every entry arrives once and in its producer's order; a lost signal shows as a
 * poll that times out with something in the list.
 */
START_TEST(test_producers_and_a_sleeping_consumer)
{
	pthread_t threads[PRODUCERS];
	unsigned next_of[PRODUCERS] = { 0 }, got = 0;

	for (uintptr_t i = 0; i < PRODUCERS; i++)
		pthread_create(&threads[i], NULL, produce, (void *)i);
	while (got < PRODUCERS * PUSHES) {
		struct outbuf *out = returns_take(&returns), *next;

		for (; out; out = next) {
			struct numbered *item = (struct numbered *)out;

			next = out->next;
			ck_assert_uint_eq(item->number, next_of[item->producer]);
			next_of[item->producer]++;
			got++;
			free(item);
		}
		if (got < PRODUCERS * PUSHES && returns_sleep(&returns)) {
			struct pollfd fd = { .fd = returns.event_fd, .events = POLLIN };
			uint64_t count;

			ck_assert_msg(poll(&fd, 1, 20000) == 1, "the consumer was not woken");
			ck_assert_int_eq(read(returns.event_fd, &count, sizeof(count)), sizeof(count));
			returns_wake(&returns);
		}
	}
	for (unsigned i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_ptr_null(returns_take(&returns));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("returns");
	TCase *tcase = tcase_create("returns");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_take_gives_everything_oldest_first);
	tcase_add_test(tcase, test_a_loop_that_is_awake_is_not_signalled);
	tcase_add_test(tcase, test_push_alone_signals_nobody);
	tcase_add_test(tcase, test_a_loop_that_sleeps_is_signalled_once);
	tcase_add_test(tcase, test_sleep_is_refused_while_something_waits);
	tcase_add_test(tcase, test_producers_and_a_sleeping_consumer);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
