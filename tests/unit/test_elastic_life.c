/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_elastic_life.c: start and stop of the elastic pool, its hooks, what its
 * threads are like.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elastic_rig.h"

#define MS RTAIL_MS

/* --- configuration --- */

START_TEST(test_numbers_out_of_range_are_refused)
{
	struct rtail_elastic_config config, bad;
	struct rtail_elastic *pool = NULL;

	rtail_elastic_config_init(&config);
	bad = config;
	bad.threads = 0;
	ck_assert_int_eq(rtail_elastic_new(&bad, &pool), -EINVAL);
	bad = config;
	bad.threads = config.threads_max + 1;
	ck_assert_int_eq(rtail_elastic_new(&bad, &pool), -EINVAL);
	bad = config;
	bad.queue_size = 0;
	ck_assert_int_eq(rtail_elastic_new(&bad, &pool), -EINVAL);
	bad = config;
	bad.wake_age_ns = 0;
	ck_assert_int_eq(rtail_elastic_new(&bad, &pool), -EINVAL);
	bad = config;
	bad.lock_begin = 2;
	bad.lock_end = 1;
	ck_assert_int_eq(rtail_elastic_new(&bad, &pool), -EINVAL);
	ck_assert_ptr_null(pool);
}
END_TEST

START_TEST(test_the_queue_takes_queue_size_jobs_and_refuses_the_next)
{
	static const unsigned sizes[] = {1, 3, 100};

	rig_prepare(1, 1);
	rig.config.queue_size = sizes[_i];
	rig_start();
	rig_hold(AT_SEMAPHORE);
	for (unsigned i = 0; i < sizes[_i]; i++)
		ck_assert_int_eq(rig_push(rig_job(AT_NOTHING), RIG_T0, NULL), 0);
	ck_assert_int_eq(rig_push(rig_job(AT_NOTHING), RIG_T0, NULL), -EAGAIN);
	ck_assert_uint_eq(rtail_elastic_queued(rig.pool), sizes[_i]);
	ck_assert_uint_eq(rig_stats().refused, 1);
	rig_open(&rig.jobs[0]);
	rig_wait_parked(1);
	ck_assert_int_eq(rig_push(&rig.jobs[rig.used - 1], RIG_T0, NULL), 0);
	rig_stop();
}
END_TEST

/* --- start, hooks --- */

static atomic_uint starts, stops, idles;
static int refuse_from = 1000;
static atomic_bool is_queue_empty_at_idle = true;

static int on_start(void *arg, unsigned index)
{
	ck_assert_ptr_eq(arg, &rig);
	if ((int)index >= refuse_from)
		return -1;
	atomic_fetch_add(&starts, 1);
	return 0;
}

static void on_stop(void *arg, unsigned index)
{
	(void)arg;
	(void)index;
	atomic_fetch_add(&stops, 1);
}

static void on_idle(void *arg, unsigned index)
{
	(void)arg;
	(void)index;
	if (rtail_elastic_queued(rig.pool))
		atomic_store(&is_queue_empty_at_idle, false);
	atomic_fetch_add(&idles, 1);
}

static void prepare_hooks(unsigned threads, unsigned threads_max)
{
	rig_prepare(threads, threads_max);
	atomic_store(&starts, 0);
	atomic_store(&stops, 0);
	atomic_store(&idles, 0);
	refuse_from = 1000;
	rig.config.hooks = (struct rtail_elastic_hooks){&rig, on_start, on_stop, on_idle};
}

START_TEST(test_start_returns_when_every_thread_has_started)
{
	prepare_hooks(5, 5);
	ck_assert_int_eq(rtail_elastic_new(&rig.config, &rig.pool), 0);
	ck_assert_int_eq(rtail_elastic_start(rig.pool), 0);
	ck_assert_uint_eq(atomic_load(&starts), 5);
	ck_assert_int_eq(rtail_elastic_start(rig.pool), -EALREADY);
	rig_stop();
	ck_assert_uint_eq(atomic_load(&stops), 5);
}
END_TEST

START_TEST(test_a_start_that_fails_leaves_no_thread)
{
	prepare_hooks(3, 3);
	refuse_from = 2;
	ck_assert_int_eq(rtail_elastic_new(&rig.config, &rig.pool), 0);
	ck_assert_int_lt(rtail_elastic_start(rig.pool), 0);
	ck_assert_uint_eq(atomic_load(&starts), 2);
	ck_assert_uint_eq(atomic_load(&stops), 2);
	ck_assert_uint_eq(rig_stats().threads, 0);
	rtail_elastic_free(rig.pool);
}
END_TEST

START_TEST(test_a_growth_refused_by_the_hook_is_counted_and_survived)
{
	int64_t again_ns;

	prepare_hooks(1, 4);
	refuse_from = 1;
	rig_start();
	rig_hold(AT_SEMAPHORE);
	rig_submit(rig_job(AT_NOTHING), RIG_T0);
	rig_age(RIG_T0);
	RIG_WAIT((rig_tick(RIG_T0 + 2 * T_NS, NULL), rig_stats().grow_failed == 1));
	ck_assert_uint_eq(rig_stats().threads, 1);
	rig_tick(RIG_T0 + 3 * T_NS, &again_ns);
	ck_assert_int_gt(again_ns, 100 * MS); /* not at every tick anew */
	refuse_from = 1000;
	rig_tick(RIG_T0 + 2 * RTAIL_S, NULL);
	rig_age(RIG_T0 + 2 * RTAIL_S);
	rig_wait_done(&rig.jobs[1]);
	ck_assert_uint_eq(rig_stats().threads, 2);
	rig_stop();
}
END_TEST

START_TEST(test_a_growth_refused_by_the_system_is_counted_and_survived)
{
	pthread_attr_t attr, old;

	rig_prepare(1, 4);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	rig_submit(rig_job(AT_NOTHING), RIG_T0);
	pthread_getattr_default_np(&old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)1 << 46); /* more than there is */
	ck_assert_int_eq(pthread_setattr_default_np(&attr), 0);
	rig_age(RIG_T0);
	ck_assert_uint_eq(rig_stats().grow_failed, 1);
	ck_assert_uint_eq(rig_stats().threads, 1);
	pthread_setattr_default_np(&old);
	rig_tick(RIG_T0 + 2 * RTAIL_S, NULL);
	rig_age(RIG_T0 + 2 * RTAIL_S);
	rig_wait_done(&rig.jobs[1]);
	rig_stop();
}
END_TEST

START_TEST(test_the_idle_hook_is_called_once_before_each_idle_period_not_once_a_job)
{
	unsigned before;

	prepare_hooks(1, 1);
	rig_start();
	before = atomic_load(&idles);
	for (int round = 1; round <= 5; round++) {
		struct rig_job *first = rig_job(AT_SEMAPHORE);

		rig_submit(first, RIG_T0);
		rig_wait_blocked(first);
		for (int i = 0; i < 10; i++)
			rig_submit(rig_job(AT_NOTHING), RIG_T0);
		rig_open(first);
		rig_wait_parked(1);
		ck_assert_uint_eq(atomic_load(&idles), before + (unsigned)round);
	}
	ck_assert(atomic_load(&is_queue_empty_at_idle));
	rig_stop();
}
END_TEST

/* --- what a thread is like --- */

static char name_seen[16];
static sigset_t mask_seen;
static size_t stack_seen;

static void look_around(void *arg, enum rtail_act act)
{
	pthread_attr_t attr;

	(void)act;
	pthread_getname_np(pthread_self(), name_seen, sizeof(name_seen));
	pthread_sigmask(SIG_SETMASK, NULL, &mask_seen);
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstacksize(&attr, &stack_seen);
	pthread_attr_destroy(&attr);
	ck_assert_int_eq(rtail_elastic_self(rig.pool), 0);
	atomic_store((atomic_bool *)arg, true);
}

START_TEST(test_threads_carry_their_names_block_no_signal_and_have_the_usual_stack)
{
	atomic_bool is_done = false;
	pthread_attr_t attr;
	size_t stack;

	rig_prepare(1, 1);
	rig.config.name = _i ? "a-name-that-is-too-long" : "ringtail";
	rig_start();
	rtail_elastic_submit(rig.pool, (struct rtail_job){look_around, &is_done}, RIG_T0, NULL);
	RIG_WAIT(atomic_load(&is_done));
	ck_assert_str_eq(name_seen, _i ? "a-name-that-i-0" : "ringtail-0");
	for (int signo = 1; signo < 32; signo++)
		ck_assert(sigismember(&mask_seen, signo) == 0);
	pthread_getattr_default_np(&attr);
	pthread_attr_getstacksize(&attr, &stack);
	ck_assert_uint_eq(stack_seen, stack);
	ck_assert_int_eq(rtail_elastic_self(rig.pool), -1);
	rig_stop();
}
END_TEST

/* --- stop --- */

START_TEST(test_stop_wakes_every_thread_by_name)
{
	rig_prepare(7, 7);
	rig_start();
	ck_assert_int_eq(rtail_elastic_stop(rig.pool, true, UINT64_MAX), 0);
	ck_assert_uint_eq(rig_wakes(RTAIL_WAKE_STOP), 7);
	ck_assert_uint_eq(rig_stats().threads, 0);
	rtail_elastic_free(rig.pool);
}
END_TEST

START_TEST(test_stop_is_checked_while_spinning)
{
	rig_prepare(2, 2);
	rig.config.mode = (enum rtail_elastic_mode)_i;
	rig.config.spin_ns = 3600 * RTAIL_S;
	rig_start();
	if (rig.config.mode != RTAIL_ELASTIC_OFF)
		rig_wait_spinning();
	rig_stop();
}
END_TEST

START_TEST(test_a_stop_that_drains_runs_every_job)
{
	rig_prepare(2, 2);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	for (int i = 0; i < 100; i++)
		rig_submit(rig_job(AT_NOTHING), RIG_T0);
	rig_stop();
	for (int i = 0; i < 101; i++) {
		ck_assert_uint_eq(atomic_load(&rig.jobs[i].runs), 1);
		ck_assert(!atomic_load(&rig.jobs[i].is_dropped));
	}
}
END_TEST

START_TEST(test_a_stop_that_drops_drops_what_waits_exactly_once)
{
	struct rtail_message message;

	rig_prepare(1, 1);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	for (int i = 0; i < 100; i++)
		rig_submit(rig_job(AT_NOTHING), RIG_T0);
	message.job = rig_as_job(rig_job(AT_NOTHING));
	ck_assert_int_eq(rtail_elastic_message(rig.pool, 0, &message, NULL), 0);
	ck_assert_int_eq(rtail_elastic_stop(rig.pool, false, rtail_now_ns()), -ETIMEDOUT);
	rig_open(&rig.jobs[0]);
	ck_assert_int_eq(rtail_elastic_stop(rig.pool, false, UINT64_MAX), 0);
	ck_assert_uint_eq(rig_stats().dropped, 101);
	for (int i = 1; i < 102; i++) {
		ck_assert(atomic_load(&rig.jobs[i].is_dropped));
		ck_assert_uint_eq(atomic_load(&rig.jobs[i].runs), 0);
	}
	rtail_elastic_free(rig.pool);
}
END_TEST

START_TEST(test_a_stop_past_its_deadline_can_be_waited_on)
{
	rig_prepare(2, 2);
	rig_start();
	rig_hold(AT_SEMAPHORE);
	ck_assert_int_eq(rtail_elastic_stop(rig.pool, true, rtail_now_ns()), -ETIMEDOUT);
	ck_assert_int_eq(rtail_elastic_stop(rig.pool, true, rtail_now_ns() + MS), -ETIMEDOUT);
	rig_open(&rig.jobs[0]);
	ck_assert_int_eq(rtail_elastic_stop(rig.pool, true, UINT64_MAX), 0);
	rtail_elastic_free(rig.pool);
}
END_TEST

START_TEST(test_after_stop_nothing_is_taken)
{
	struct rtail_message message = {.job = {NULL, NULL}};

	rig_prepare(1, 1);
	rig_start();
	ck_assert_int_eq(rtail_elastic_stop(rig.pool, true, UINT64_MAX), 0);
	ck_assert_int_eq(rig_push(rig_job(AT_NOTHING), RIG_T0, NULL), -ESHUTDOWN);
	ck_assert_int_eq(rtail_elastic_message(rig.pool, 0, &message, NULL), -ESHUTDOWN);
	ck_assert_int_eq(rtail_elastic_tick(rig.pool, RIG_T0, NULL), -1);
	rtail_elastic_free(rig.pool);
}
END_TEST

START_TEST(test_jobs_of_a_pool_that_never_started_are_dropped)
{
	rig_prepare(1, 1);
	ck_assert_int_eq(rtail_elastic_new(&rig.config, &rig.pool), 0);
	ck_assert_int_eq(rig_push(rig_job(AT_NOTHING), RIG_T0, NULL), 0);
	ck_assert_int_eq(rtail_elastic_stop(rig.pool, true, UINT64_MAX), 0);
	ck_assert(atomic_load(&rig.jobs[0].is_dropped));
	rtail_elastic_free(rig.pool);
}
END_TEST

START_TEST(test_a_forked_child_can_neither_stop_nor_harm_the_pool)
{
	int status;
	pid_t pid;

	rig_prepare(2, 2);
	rig_start();
	pid = fork();
	if (!pid) {
		bool is_dead = rtail_elastic_stop(rig.pool, true, UINT64_MAX) == -ECHILD;

		rtail_elastic_free(rig.pool);
		_exit(is_dead && rig_stats().threads == 2 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	rig_submit(rig_job(AT_NOTHING), RIG_T0);
	rig_wait_done(&rig.jobs[0]);
	rig_stop();
}
END_TEST

static void add_life(Suite *suite)
{
	TCase *tcase = tcase_create("life");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_numbers_out_of_range_are_refused);
	tcase_add_loop_test(tcase, test_the_queue_takes_queue_size_jobs_and_refuses_the_next, 0, 3);
	tcase_add_test(tcase, test_start_returns_when_every_thread_has_started);
	tcase_add_test(tcase, test_a_start_that_fails_leaves_no_thread);
	tcase_add_test(tcase, test_a_growth_refused_by_the_hook_is_counted_and_survived);
	tcase_add_test(tcase, test_a_growth_refused_by_the_system_is_counted_and_survived);
	tcase_add_test(tcase, test_the_idle_hook_is_called_once_before_each_idle_period_not_once_a_job);
	tcase_add_loop_test(tcase, test_threads_carry_their_names_block_no_signal_and_have_the_usual_stack, 0, 2);
	tcase_add_test(tcase, test_stop_wakes_every_thread_by_name);
	tcase_add_loop_test(tcase, test_stop_is_checked_while_spinning, 0, 3);
	tcase_add_test(tcase, test_a_stop_that_drains_runs_every_job);
	tcase_add_test(tcase, test_a_stop_that_drops_drops_what_waits_exactly_once);
	tcase_add_test(tcase, test_a_stop_past_its_deadline_can_be_waited_on);
	tcase_add_test(tcase, test_after_stop_nothing_is_taken);
	tcase_add_test(tcase, test_jobs_of_a_pool_that_never_started_are_dropped);
	tcase_add_test(tcase, test_a_forked_child_can_neither_stop_nor_harm_the_pool);
	suite_add_tcase(suite, tcase);
}

int main(void)
{
	Suite *suite = suite_create("elastic_life");
	SRunner *runner;
	int failed;

	add_life(suite);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
