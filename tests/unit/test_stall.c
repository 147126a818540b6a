/* SPDX-License-Identifier: Apache-2.0 */
/* test_stall.c: what the texts of /proc say, and what a real thread shows. */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/futex.h"
#include "lib/stall.h"

static struct rtail__stall_look parse_syscall(const char *text)
{
	return rtail__stall_parse_syscall(text, strlen(text));
}

START_TEST(test_running_is_runnable)
{
	ck_assert_int_eq(parse_syscall("running\n").kind, RTAIL__STALL_RUNNABLE);
}
END_TEST

START_TEST(test_a_futex_wait_names_its_word)
{
	char text[128];
	struct rtail__stall_look look;

	snprintf(text, sizeof(text), "%d 0x7f12ab34cd50 0x189 0x0 0x0 0x0 0xffffffff 0x7ffc 0x7f15\n", SYS_futex);
	look = parse_syscall(text);
	ck_assert_int_eq(look.kind, RTAIL__STALL_BLOCKED);
	ck_assert_uint_eq(look.futex, 0x7f12ab34cd50);
}
END_TEST

START_TEST(test_a_wait_restarted_after_a_stop_names_its_word)
{
	char text[128];

	snprintf(text, sizeof(text), "%d 0x55550 0x189 0x0 0x0 0x0 0xffffffff 0x7ffc 0x7f15\n", SYS_restart_syscall);
	ck_assert_uint_eq(parse_syscall(text).futex, 0x55550);
}
END_TEST

START_TEST(test_another_call_has_no_futex_word)
{
	char text[128];
	struct rtail__stall_look look;

	snprintf(text, sizeof(text), "%d 0x5 0x7f15 0x1000 0x0 0x0 0x0 0x7ffc 0x7f15\n", SYS_read);
	look = parse_syscall(text);
	ck_assert_int_eq(look.kind, RTAIL__STALL_BLOCKED);
	ck_assert_uint_eq(look.futex, 0);
}
END_TEST

START_TEST(test_blocked_outside_a_call_is_blocked)
{
	struct rtail__stall_look look = parse_syscall("-1 0x7ffc 0x7f15\n");

	ck_assert_int_eq(look.kind, RTAIL__STALL_BLOCKED);
	ck_assert_uint_eq(look.futex, 0);
}
END_TEST

START_TEST(test_nonsense_is_unknown)
{
	ck_assert_int_eq(parse_syscall("").kind, RTAIL__STALL_UNKNOWN);
	ck_assert_int_eq(parse_syscall("what\n").kind, RTAIL__STALL_UNKNOWN);
	ck_assert_int_eq(rtail__stall_parse_stat("12 (x", 5).kind, RTAIL__STALL_UNKNOWN);
}
END_TEST

START_TEST(test_stat_is_read_behind_the_last_parenthesis)
{
	const char *sleeping = "12 (a) S 1 (b) S 1 2 3", *running = "12 (S) S) R 1 2 3", *disk = "12 (x) D 1";

	ck_assert_int_eq(rtail__stall_parse_stat(sleeping, strlen(sleeping)).kind, RTAIL__STALL_BLOCKED);
	ck_assert_int_eq(rtail__stall_parse_stat(running, strlen(running)).kind, RTAIL__STALL_RUNNABLE);
	ck_assert_int_eq(rtail__stall_parse_stat(disk, strlen(disk)).kind, RTAIL__STALL_BLOCKED);
}
END_TEST

START_TEST(test_without_a_file_every_look_is_unknown)
{
	struct rtail__stall stall = {.fd = -1};

	ck_assert_int_eq(rtail__stall_read(&stall).kind, RTAIL__STALL_UNKNOWN);
	rtail__stall_close(&stall);
}
END_TEST

static struct rtail__stall subject;
static pthread_barrier_t is_open;
static _Atomic uint32_t word;
static atomic_bool is_over;
static int pipe_fds[2];

static void *wait_on_futex(void *arg)
{
	(void)arg;
	rtail__stall_open(&subject);
	pthread_barrier_wait(&is_open);
	while (!atomic_load(&word))
		rtail__futex_wait(&word, 0);
	return NULL;
}

static void *wait_in_read(void *arg)
{
	char byte;

	(void)arg;
	rtail__stall_open(&subject);
	pthread_barrier_wait(&is_open);
	return read(pipe_fds[0], &byte, 1) == 1 ? NULL : arg;
}

static void *burn(void *arg)
{
	(void)arg;
	rtail__stall_open(&subject);
	pthread_barrier_wait(&is_open);
	while (!atomic_load(&is_over))
		;
	return NULL;
}

static pthread_t start(void *(*fn)(void *))
{
	pthread_t thread;

	pthread_barrier_init(&is_open, NULL, 2);
	pthread_create(&thread, NULL, fn, NULL);
	pthread_barrier_wait(&is_open);
	return thread;
}

static struct rtail__stall_look wait_for(enum rtail__stall_kind kind, uintptr_t futex)
{
	struct rtail__stall_look look;

	for (int i = 0; i < 100000; i++) {
		look = rtail__stall_read(&subject);
		if (look.kind == kind && look.futex == futex)
			return look;
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
	ck_abort_msg("kind %d futex %p, wanted %d %p", look.kind, (void *)look.futex, kind, (void *)futex);
	return look;
}

START_TEST(test_a_thread_on_a_futex_is_seen_there)
{
	pthread_t thread = start(wait_on_futex);

	wait_for(RTAIL__STALL_BLOCKED, (uintptr_t)&word);
	atomic_store(&word, 1);
	rtail__futex_wake((uint32_t *)&word, 1);
	pthread_join(thread, NULL);
	wait_for(RTAIL__STALL_UNKNOWN, 0); /* it is gone; a join returns a moment before the kernel has taken it apart */
	rtail__stall_close(&subject);
}
END_TEST

START_TEST(test_a_thread_in_read_is_blocked_elsewhere)
{
	pthread_t thread;

	ck_assert_int_eq(pipe(pipe_fds), 0);
	thread = start(wait_in_read);
	wait_for(RTAIL__STALL_BLOCKED, 0);
	ck_assert_int_eq(write(pipe_fds[1], "x", 1), 1);
	pthread_join(thread, NULL);
	rtail__stall_close(&subject);
}
END_TEST

START_TEST(test_a_thread_that_computes_is_runnable_at_every_look)
{
	pthread_t thread = start(burn);

	wait_for(RTAIL__STALL_RUNNABLE, 0);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(rtail__stall_read(&subject).kind, RTAIL__STALL_RUNNABLE);
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	rtail__stall_close(&subject);
}
END_TEST

/* What is used where the syscall file cannot be opened. */
static void read_stat_instead(void)
{
	char link[64], path[256] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", subject.fd);
	ck_assert_int_gt(readlink(link, path, sizeof(path) - 1), 0);
	ck_assert_ptr_nonnull(strstr(path, "/syscall"));
	strcpy(strstr(path, "/syscall"), "/stat");
	rtail__stall_close(&subject);
	subject = (struct rtail__stall){.fd = open(path, O_RDONLY), .is_exact = false};
	ck_assert_int_ge(subject.fd, 0);
}

START_TEST(test_stat_tells_blocked_from_runnable)
{
	pthread_t thread;

	ck_assert_int_eq(pipe(pipe_fds), 0);
	thread = start(_i ? burn : wait_in_read);
	read_stat_instead();
	wait_for(_i ? RTAIL__STALL_RUNNABLE : RTAIL__STALL_BLOCKED, 0);
	atomic_store(&is_over, true);
	ck_assert_int_eq(write(pipe_fds[1], "x", 1), 1);
	pthread_join(thread, NULL);
	rtail__stall_close(&subject);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stall");
	TCase *texts = tcase_create("texts"), *threads = tcase_create("threads");
	SRunner *runner;
	int failed;

	tcase_add_test(texts, test_running_is_runnable);
	tcase_add_test(texts, test_a_futex_wait_names_its_word);
	tcase_add_test(texts, test_a_wait_restarted_after_a_stop_names_its_word);
	tcase_add_test(texts, test_another_call_has_no_futex_word);
	tcase_add_test(texts, test_blocked_outside_a_call_is_blocked);
	tcase_add_test(texts, test_nonsense_is_unknown);
	tcase_add_test(texts, test_stat_is_read_behind_the_last_parenthesis);
	tcase_add_test(texts, test_without_a_file_every_look_is_unknown);
	suite_add_tcase(suite, texts);
	if (!access("/proc/self/syscall", R_OK)) {
		tcase_add_test(threads, test_a_thread_on_a_futex_is_seen_there);
		tcase_add_test(threads, test_a_thread_in_read_is_blocked_elsewhere);
		tcase_add_test(threads, test_a_thread_that_computes_is_runnable_at_every_look);
		tcase_add_loop_test(threads, test_stat_tells_blocked_from_runnable, 0, 2);
	}
	suite_add_tcase(suite, threads);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
