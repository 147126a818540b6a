/* SPDX-License-Identifier: Apache-2.0 */
/* test_log.c: the error log's lines, and the writer behind both logs: slow readers, full disks, rotation, forks, the end. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/log.h"
#include "daemon/log_writer.h"
#include "lib/clock.h"

#define DEADLINE_NS (20 * RTAIL_S)

static struct config config;
static char dir[64], path[128], moved[128];

static void setup(void)
{
	strcpy(dir, "/tmp/ringtail-log-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/error.log", dir);
	snprintf(moved, sizeof(moved), "%s/error.log.1", dir);
	memset(&config, 0, sizeof(config));
	config.error_log = path;
	config.access_log = "off";
	config.log_level = LOG_INFO;
}

static void teardown(void)
{
	char access_path[128];

	unlink(path);
	unlink(moved);
	snprintf(access_path, sizeof(access_path), "%s/access.log", dir);
	unlink(access_path);
	rmdir(dir);
}

/* The file's bytes, in static memory. */
static char *content(const char *name)
{
	static char bytes[1 << 22];
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n, len = 0;

	if (fd < 0)
		return strcpy(bytes, "");
	while ((n = read(fd, bytes + len, sizeof(bytes) - 1 - (size_t)len)) > 0)
		len += n;
	close(fd);
	bytes[len] = '\0';
	return bytes;
}

static void await(const char *name, const char *text)
{
	uint64_t end = rtail_now_ns() + DEADLINE_NS;

	while (!strstr(content(name), text)) {
		ck_assert_msg(rtail_now_ns() < end, "'%s' did not come; the file holds: %s", text, content(name));
		usleep(1000);
	}
}

/* What a function writes to a descriptor. */
static char *captured(int fd, void (*fn)(void))
{
	static char bytes[8192];
	int pipe_fds[2], saved = dup(fd);
	ssize_t len;

	ck_assert_int_eq(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], fd);
	fn();
	dup2(saved, fd);
	close(saved);
	close(pipe_fds[1]);
	len = read(pipe_fds[0], bytes, sizeof(bytes) - 1);
	close(pipe_fds[0]);
	bytes[len < 0 ? 0 : len] = '\0';
	return bytes;
}

static void say_hello(void)
{
	log_error("hello %d", 7);
	log_debug("not at this level");
}

START_TEST(test_without_a_thread_lines_go_to_standard_error)
{
	char *line = captured(STDERR_FILENO, say_hello);
	char wanted[64];
	int year, month, day, hour, minute, second, ms, used = 0;

	ck_assert_int_eq(sscanf(line, "%4d-%2d-%2d %2d:%2d:%2d.%3d%n", &year, &month, &day, &hour, &minute, &second, &ms, &used), 7);
	ck_assert_int_eq(used, 23);
	snprintf(wanted, sizeof(wanted), " ringtail[%d] error: hello 7\n", (int)getpid());
	ck_assert_str_eq(line + 23, wanted);
}
END_TEST

START_TEST(test_lines_reach_the_file_in_order)
{
	ck_assert_int_eq(log_start(&config), 0);
	log_error("one");
	log_warning("two");
	log_info("three");
	log_debug("four");
	await(path, "three\n");
	log_stop();
	ck_assert_ptr_nonnull(strstr(content(path), "] error: one\n"));
	ck_assert_ptr_nonnull(strstr(content(path), "] warning: two\n"));
	ck_assert_ptr_null(strstr(content(path), "four"));
	ck_assert(strstr(content(path), "one") < strstr(content(path), "two"));
}
END_TEST

START_TEST(test_the_level_is_that_of_the_configuration)
{
	config.log_level = LOG_ERROR;
	ck_assert_int_eq(log_start(&config), 0);
	ck_assert(log_is_on(LOG_ERROR));
	ck_assert(!log_is_on(LOG_WARNING));
	log_warning("quiet");
	log_text(LOG_INFO, "quiet", 5);
	log_error("loud");
	log_stop();
	ck_assert_ptr_null(strstr(content(path), "quiet"));
	ck_assert_ptr_nonnull(strstr(content(path), "loud"));
}
END_TEST

START_TEST(test_what_a_client_sent_cannot_begin_a_line)
{
	ck_assert_int_eq(log_start(&config), 0);
	log_error("path %s", "/a\r\n2026-12-01 fake\x1b[2J\x7f \xc3\xa4 \xff \xc2\x9b \\ \"q\"");
	log_stop();
	ck_assert_ptr_nonnull(strstr(content(path),
				     "error: path /a\\x0D\\x0A2026-12-01 fake\\x1B[2J\\x7F \xc3\xa4 \\xFF \\xC2\\x9B \\ \"q\"\n"));
}
END_TEST

START_TEST(test_a_traceback_keeps_its_lines)
{
	static const char text[] = "Traceback:\n\tFile \"x\"\x01\nError: y\n";

	ck_assert_int_eq(log_start(&config), 0);
	log_text(LOG_ERROR, text, sizeof(text) - 1);
	log_stop();
	ck_assert_ptr_nonnull(strstr(content(path), "error: Traceback:\n\tFile \"x\"\\x01\nError: y\n"));
	ck_assert_ptr_null(strstr(content(path), "y\n\n"));
}
END_TEST

START_TEST(test_json_is_an_object_a_line)
{
	static const char text[] = "Traceback:\n \"x\" \xff\n";
	char wanted[128];

	config.log_format = LOG_FORMAT_JSON;
	ck_assert_int_eq(log_start(&config), 0);
	log_text(LOG_WARNING, text, sizeof(text) - 1);
	log_stop();
	snprintf(wanted, sizeof(wanted), "\"level\":\"warning\",\"pid\":%d,\"message\":\"Traceback:\\n \\\"x\\\" \\u00ff\"}\n", (int)getpid());
	ck_assert_ptr_nonnull(strstr(content(path), wanted));
	ck_assert_int_eq(strncmp(content(path), "{\"time\":\"20", 11), 0);
	ck_assert_ptr_eq(strchr(content(path), '\n') + 1, content(path) + strlen(content(path)));
}
END_TEST

START_TEST(test_a_very_long_text_is_cut_and_says_so)
{
	size_t len = 1 << 20;
	char *text = malloc(len);

	memset(text, 'x', len);
	ck_assert_int_eq(log_start(&config), 0);
	log_text(LOG_ERROR, text, len);
	log_stop();
	ck_assert_ptr_nonnull(strstr(content(path), "xxx ... (cut)\n"));
	ck_assert_uint_ge(strlen(content(path)), 64 * 1024);
	ck_assert_uint_eq(log_dropped(), 0);
	free(text);
}
END_TEST

START_TEST(test_reopen_writes_to_the_new_file)
{
	ck_assert_int_eq(log_start(&config), 0);
	log_error("before");
	await(path, "before");
	ck_assert_int_eq(rename(path, moved), 0);
	log_error("still old");
	await(moved, "still old");
	log_reopen();
	while (access(path, F_OK) != 0)
		usleep(1000);
	log_error("after");
	await(path, "after");
	log_stop();
	ck_assert_ptr_null(strstr(content(moved), "after"));
}
END_TEST

START_TEST(test_a_reopen_that_fails_keeps_the_old_file)
{
	ck_assert_int_eq(log_start(&config), 0);
	log_error("before");
	await(path, "before");
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	log_reopen();
	await(moved, "the old file stays in use");
	log_stop();
	rmdir(path);
}
END_TEST

/* A pipe that nobody reads, as the access log. Returns its reading end. */
static int use_stuck_pipe(void)
{
	static char name[64];
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", fds[1]);
	config.access_log = name;
	return fds[0];
}

/* The same as standard output: inherited, so that it blocks. */
static int use_stuck_stdout(int *ret_saved)
{
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	*ret_saved = dup(STDOUT_FILENO);
	dup2(fds[1], STDOUT_FILENO);
	close(fds[1]);
	config.access_log = "-";
	return fds[0];
}

static const char access_line[] = "127.0.0.1 - - a line of an access log, of the length that such lines have\n";

static uint64_t put_until_dropped(void)
{
	uint64_t end = rtail_now_ns() + DEADLINE_NS, count = 0;

	while (log_dropped() == 0) {
		log_writer_put(SINK_ACCESS, access_line, sizeof(access_line) - 1, false);
		count++;
		ck_assert_msg(rtail_now_ns() < end, "nothing was dropped");
	}
	return count;
}

static void check_stuck(int reader)
{
	uint64_t began, put;
	char piece[65536];

	ck_assert_int_eq(log_start(&config), 0);
	began = rtail_now_ns();
	put = put_until_dropped();
	ck_assert_uint_lt(rtail_now_ns() - began, DEADLINE_NS / 2);
	log_error("while it is stuck");
	await(path, "while it is stuck");

	/* When it goes on, what was dropped is said, and what was not dropped arrives. */
	for (uint64_t got = 0; got < (put - 1) * (sizeof(access_line) - 1);) {
		ssize_t n = read(reader, piece, sizeof(piece));

		ck_assert_int_gt(n, 0);
		got += (uint64_t)n;
	}
	await(path, "1 line of the access log");
	log_stop();
	close(reader);
}

START_TEST(test_a_stuck_pipe_stalls_neither_callers_nor_the_other_log)
{
	check_stuck(use_stuck_pipe());
}
END_TEST

START_TEST(test_a_stuck_standard_output_stalls_neither_callers_nor_the_other_log)
{
	int saved;

	check_stuck(use_stuck_stdout(&saved));
	dup2(saved, STDOUT_FILENO);
	close(saved);
}
END_TEST

START_TEST(test_stop_is_bounded_while_a_pipe_is_stuck)
{
	int reader = use_stuck_pipe();
	uint64_t began;

	ck_assert_int_eq(log_start(&config), 0);
	put_until_dropped();
	began = rtail_now_ns();
	log_stop();
	ck_assert_uint_lt(rtail_now_ns() - began, 20 * RTAIL_S);
	close(reader);
}
END_TEST

START_TEST(test_a_reader_that_left_costs_lines_not_the_process)
{
	int reader = use_stuck_pipe();

	ck_assert_int_eq(log_start(&config), 0);
	close(reader);
	log_writer_put(SINK_ACCESS, access_line, sizeof(access_line) - 1, false);
	/* Our own copy of the writing end is still there: only the reader is gone. */
	await(path, "cannot write the access log");
	await(path, "Broken pipe; 1 line lost");
	log_error("alive");
	await(path, "alive");
	log_stop();
}
END_TEST

START_TEST(test_a_full_disk_is_said)
{
	config.access_log = "/dev/full";
	ck_assert_int_eq(log_start(&config), 0);
	log_writer_put(SINK_ACCESS, access_line, sizeof(access_line) - 1, false);
	await(path, "cannot write the access log /dev/full: No space left on device; 1 line lost");
	log_stop();
	ck_assert_uint_eq(log_dropped(), 1);
}
END_TEST

START_TEST(test_stop_writes_everything)
{
	char access_path[128];
	size_t lines = 0;

	snprintf(access_path, sizeof(access_path), "%s/access.log", dir);
	config.access_log = access_path;
	ck_assert_int_eq(log_start(&config), 0);
	for (int i = 0; i < 5000; i++)
		log_writer_put(SINK_ACCESS, access_line, sizeof(access_line) - 1, false);
	log_stop();
	for (const char *at = content(access_path); (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	ck_assert_uint_eq(lines, 5000);
	ck_assert_uint_eq(log_dropped(), 0);
}
END_TEST

static void *log_many(void *arg)
{
	for (int i = 0; i < 1000; i++)
		log_error("thread %d line %d end", (int)(intptr_t)arg, i);
	return NULL;
}

START_TEST(test_lines_of_many_threads_stay_whole)
{
	pthread_t threads[4];
	int next_of[4] = { 0 }, thread, number;
	char *save, *line;

	ck_assert_int_eq(log_start(&config), 0);
	for (intptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, log_many, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	log_stop();
	for (line = strtok_r(content(path), "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *at = strstr(line, "thread ");

		ck_assert_ptr_nonnull(at);
		ck_assert_int_eq(sscanf(at, "thread %d line %d end", &thread, &number), 2);
		ck_assert_int_eq(number, next_of[thread]);
		next_of[thread]++;
	}
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(next_of[i], 1000);
}
END_TEST

START_TEST(test_a_forked_child_writes_directly)
{
	int status;
	pid_t child;

	ck_assert_int_eq(log_start(&config), 0);
	log_error("parent");
	await(path, "parent");
	child = fork();
	if (child == 0) {
		log_after_fork();
		log_error("child");
		log_stop();
		_exit(strstr(content(path), "child") ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	log_stop();
}
END_TEST

START_TEST(test_after_the_stop_lines_are_written_directly)
{
	ck_assert_int_eq(log_start(&config), 0);
	log_stop();
	log_stop();
	log_error("late");
	ck_assert_ptr_nonnull(strstr(content(path), "late"));
}
END_TEST

static int start_result;

static void start(void)
{
	start_result = log_start(&config);
}

START_TEST(test_a_file_that_cannot_be_opened_is_told)
{
	config.error_log = "/nonexistent/error.log";
	ck_assert_ptr_nonnull(strstr(captured(STDERR_FILENO, start),
				     "cannot open the error-log /nonexistent/error.log: No such file or directory (its folder does not exist"));
	ck_assert_int_eq(start_result, -ENOENT);
	config.error_log = path;
	config.access_log = dir;
	ck_assert_ptr_nonnull(strstr(captured(STDERR_FILENO, start), "Is a directory (it is a folder"));
	ck_assert_int_eq(start_result, -EISDIR);
	config.access_log = "syslog:";
	ck_assert_ptr_nonnull(strstr(captured(STDERR_FILENO, start), "access-log: unknown value (off, - or a path"));
	ck_assert_int_eq(start_result, -EINVAL);
	config.access_log = "off";
	config.error_log = "journal";
	ck_assert_ptr_nonnull(strstr(captured(STDERR_FILENO, start), "error-log: unknown value (stderr or a path"));
	ck_assert_int_eq(start_result, -EINVAL);
}
END_TEST

/* The thread's present system call: "NUMBER ARG0 .. ARG5 SP PC", or "". */
static char *writer_syscall(void)
{
	static char text[256];
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	text[0] = '\0';
	while ((entry = readdir(tasks)) != NULL) {
		char name[300], comm[32] = "";
		FILE *file;

		snprintf(name, sizeof(name), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(name, "r");
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file) && strcmp(comm, "ringtail-log\n") == 0) {
			fclose(file);
			snprintf(name, sizeof(name), "/proc/self/task/%s/syscall", entry->d_name);
			file = fopen(name, "r");
			if (!file || !fgets(text, sizeof(text), file))
				text[0] = '\0';
		}
		if (file)
			fclose(file);
	}
	closedir(tasks);
	return text;
}

/* futex(2) with a null time: 202 on x86-64, 98 on the newer architectures. */
START_TEST(test_an_idle_writer_sleeps_without_a_timeout)
{
	uint64_t end = rtail_now_ns() + DEADLINE_NS;
	unsigned long long number = 0, args[4] = { 1, 1, 1, 1 };

	ck_assert_int_eq(log_start(&config), 0);
	log_error("something");
	await(path, "something");
	do {
		char *text = writer_syscall();

		ck_assert_msg(rtail_now_ns() < end, "never idle: %s", text);
		if (sscanf(text, "%llu %llx %llx %llx %llx", &number, &args[0], &args[1], &args[2], &args[3]) != 5)
			number = 0;
	} while ((number != 202 && number != 98) || args[3] != 0);
	log_stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log");
	TCase *tcase = tcase_create("log");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_without_a_thread_lines_go_to_standard_error);
	tcase_add_test(tcase, test_lines_reach_the_file_in_order);
	tcase_add_test(tcase, test_the_level_is_that_of_the_configuration);
	tcase_add_test(tcase, test_what_a_client_sent_cannot_begin_a_line);
	tcase_add_test(tcase, test_a_traceback_keeps_its_lines);
	tcase_add_test(tcase, test_json_is_an_object_a_line);
	tcase_add_test(tcase, test_a_very_long_text_is_cut_and_says_so);
	tcase_add_test(tcase, test_reopen_writes_to_the_new_file);
	tcase_add_test(tcase, test_a_reopen_that_fails_keeps_the_old_file);
	tcase_add_test(tcase, test_a_stuck_pipe_stalls_neither_callers_nor_the_other_log);
	tcase_add_test(tcase, test_a_stuck_standard_output_stalls_neither_callers_nor_the_other_log);
	tcase_add_test(tcase, test_stop_is_bounded_while_a_pipe_is_stuck);
	tcase_add_test(tcase, test_a_reader_that_left_costs_lines_not_the_process);
	tcase_add_test(tcase, test_a_full_disk_is_said);
	tcase_add_test(tcase, test_stop_writes_everything);
	tcase_add_test(tcase, test_lines_of_many_threads_stay_whole);
	tcase_add_test(tcase, test_a_forked_child_writes_directly);
	tcase_add_test(tcase, test_after_the_stop_lines_are_written_directly);
	tcase_add_test(tcase, test_a_file_that_cannot_be_opened_is_told);
	tcase_add_test(tcase, test_an_idle_writer_sleeps_without_a_timeout);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
