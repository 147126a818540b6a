/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_priv.h"
#include "tests/unit/capture.h"

static struct config config;
static struct capture said;

static void setup(void)
{
	ck_assert_int_eq(config_defaults(&config), 0);
}

static void teardown(void)
{
	config_done(&config);
}

static int read_bytes(const char *text, size_t len)
{
	FILE *stream = fmemopen((char *)text, len, "r");
	int status;

	ck_assert_ptr_nonnull(stream);
	config_done(&config);
	ck_assert_int_eq(config_defaults(&config), 0);
	capture_start(&said);
	status = config_ini_read_stream(&config, stream, "x.ini");
	capture_stop(&said);
	fclose(stream);
	return status;
}

static void reads(const char *text)
{
	ck_assert_msg(read_bytes(text, strlen(text)) == 0, "%s said: %s", text, said.text);
	ck_assert_str_eq(said.text, "");
}

static void fails(const char *text, const char *message)
{
	char expected[2048];

	snprintf(expected, sizeof(expected), "ringtail: x.ini:%s\n", message);
	ck_assert_msg(read_bytes(text, strlen(text)) == 78, "%s: %s", text, said.text);
	ck_assert_str_eq(said.text, expected);
}

START_TEST(test_comments_blanks_and_line_ends)
{
	reads("# c\n; c\n\n  \t\n [ringtail] \r\n  backlog\t= 7 \r\nmax-headers: 9\nqueue-size=5");
	ck_assert_uint_eq(config.backlog, 7);
	ck_assert_uint_eq(config.max_headers, 9);
	ck_assert_uint_eq(config.queue_size, 5);
}
END_TEST

START_TEST(test_an_empty_section_and_an_empty_comment_file_are_fine)
{
	reads("[ringtail]\n");
	reads("# nothing\n");
}
END_TEST

START_TEST(test_byte_order_mark)
{
	reads("\xef\xbb\xbf[ringtail]\nbacklog=3\n");
	ck_assert_uint_eq(config.backlog, 3);
}
END_TEST

START_TEST(test_a_value_is_kept_whole)
{
	reads("[ringtail]\naccess-log-format = $uri ; $host # \"c\" = d: e [x]\n");
	ck_assert_str_eq(config.access_log_format, "$uri ; $host # \"c\" = d: e [x]");
}
END_TEST

START_TEST(test_long_lines_are_kept_whole_and_counted_right)
{
	static char text[9000], value[4001];

	memset(value, 'v', 4000);
	value[4000] = 0;
	memcpy(value, "$uri ", 5);
	snprintf(text, sizeof(text), "[ringtail]\n#%s\naccess-log-format = %s\nbacklog = x\n", value, value);
	fails(text, "4: backlog: 'x' is not a whole number (1 to 1000000)");
	ck_assert_str_eq(config.access_log_format, value);
}
END_TEST

START_TEST(test_over_long_lines_are_refused)
{
	static char text[9000];

	strcpy(text, "[ringtail]\nenv = A=");
	memset(text + strlen(text), 'v', 8300);
	fails(text, "2: the line is longer than 8192 bytes (lists may be given by repeating the key)");
	memset(text, '#', 8192);
	strcpy(text + 8192, "\n[ringtail]\n");
	reads(text);
}
END_TEST

START_TEST(test_lists_append_and_scalars_are_given_once)
{
	reads("[ringtail]\nbind=:1\nbind=:2\n");
	ck_assert_uint_eq(config.bind.count, 2);
	fails("[ringtail]\nbacklog=1\n\nbacklog=2\n", "4: 'backlog' was given in line 2 already, and takes one value");
	fails("[ringtail]\napp=a\napp=b\n", "3: 'app' was given in line 2 already, and takes one value");
	fails("[ringtail]\nthreads=1\nblocking-threads=2\n", "3: 'blocking-threads' was given in line 2 already, and takes one value");
}
END_TEST

START_TEST(test_a_section_may_come_twice)
{
	reads("[ringtail]\nbind=:1\n[ringtail]\nbind=:2\n");
	ck_assert_uint_eq(config.bind.count, 2);
}
END_TEST

START_TEST(test_wrong_names)
{
	fails("[ringtail]\nthreds=1\n", "2: unknown option 'threds' (did you mean 'threads'?)");
	fails("[ringtail]\nmax_body=1\n", "2: unknown option 'max_body' (did you mean 'max-body'?)");
	fails("[ringtail]\nqqqqqqq=1\n", "2: unknown option 'qqqqqqq' (ringtail --print-config lists them)");
	fails("[ringtail]\n\n=1\n", "3: unknown option '' (ringtail --print-config lists them)");
	fails("[ringtail]\n:1\n", "2: unknown option '' (ringtail --print-config lists them)");
	fails("[gunicorn]\nbind=:1\n", "2: unknown section [gunicorn] (options stand in [ringtail])");
	fails("bind=:1\n", "1: an option outside of a section: put a line [ringtail] above it");
}
END_TEST

START_TEST(test_wrong_values)
{
	fails("[ringtail]\nmax-body = 1x\n", "2: max-body: '1x': unknown unit 'x' (sizes take k, m, g)");
	fails("[ringtail]\nidle-timeout=\n", "2: idle-timeout: '' is not a time (a number with us, ms, s, m or h: 30s)");
	fails("[ringtail]\nserver-header=2\n", "2: server-header: '2' is neither on nor off (also true, false, yes, no, 1, 0)");
	fails("[ringtail]\nlog-level=warn\n", "2: log-level: 'warn' is none of error, warning, info, debug (did you mean 'warning'?)");
	fails("[ringtail]\nbind = :99999\n", "2: bind: ':99999': '99999' is no port (0 to 65535)");
	fails("[ringtail]\napp =\n", "2: app: the application's name is empty");
}
END_TEST

START_TEST(test_lines_that_are_nothing)
{
	fails("[ringtail]\n\nbind\n", "3: this is neither [ringtail], a comment, nor 'key = value'");
	fails("[ringtail\nbind=:1\n", "1: this is neither [ringtail], a comment, nor 'key = value'");
	fails("[ringtail] x\nbind=:1\n", "1: this is neither [ringtail], a comment, nor 'key = value'");
	reads("[ringtail] ; c\nbind=:1\n");
	fails("[ringtail]\nno such thing at all, and it goes on and on and on and on, for more than one hundred bytes of a line\n",
	      "2: this is neither [ringtail], a comment, nor 'key = value'");
}
END_TEST

START_TEST(test_the_first_fault_is_told_and_only_that)
{
	fails("[ringtail]\nbind\nbacklog=x\n", "2: this is neither [ringtail], a comment, nor 'key = value'");
	fails("[ringtail]\nbacklog=x\nbind\n", "2: backlog: 'x' is not a whole number (1 to 1000000)");
}
END_TEST

START_TEST(test_nul_bytes_are_refused)
{
	ck_assert_int_eq(read_bytes("[ringtail]\nback\0log=1\n", 22), 78);
	ck_assert_str_eq(said.text, "ringtail: x.ini:2: a NUL byte: this is no text file\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_ini");
	TCase *tcase = tcase_create("ini");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_comments_blanks_and_line_ends);
	tcase_add_test(tcase, test_an_empty_section_and_an_empty_comment_file_are_fine);
	tcase_add_test(tcase, test_byte_order_mark);
	tcase_add_test(tcase, test_a_value_is_kept_whole);
	tcase_add_test(tcase, test_long_lines_are_kept_whole_and_counted_right);
	tcase_add_test(tcase, test_over_long_lines_are_refused);
	tcase_add_test(tcase, test_lists_append_and_scalars_are_given_once);
	tcase_add_test(tcase, test_a_section_may_come_twice);
	tcase_add_test(tcase, test_wrong_names);
	tcase_add_test(tcase, test_wrong_values);
	tcase_add_test(tcase, test_lines_that_are_nothing);
	tcase_add_test(tcase, test_the_first_fault_is_told_and_only_that);
	tcase_add_test(tcase, test_nul_bytes_are_refused);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
