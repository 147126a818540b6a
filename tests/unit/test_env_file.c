/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/env_file.h"
#include "tests/unit/capture.h"

static char path[64];
static struct capture said;

static void setup(void)
{
	int fd;

	strcpy(path, "/tmp/ringtail-test-env-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void teardown(void)
{
	unlink(path);
}

static int apply(const char *text, size_t len)
{
	FILE *file = fopen(path, "w");
	int status;

	ck_assert_ptr_nonnull(file);
	fwrite(text, 1, len, file);
	fclose(file);
	capture_start(&said);
	status = env_file_apply(path);
	capture_stop(&said);
	return status;
}

static void applies(const char *text)
{
	ck_assert_msg(apply(text, strlen(text)) == 0, "%s", said.text);
	ck_assert_str_eq(said.text, "");
}

static void fails(const char *text, const char *message)
{
	char expected[512];

	snprintf(expected, sizeof(expected), "ringtail: %s:%s\n", path, message);
	ck_assert_int_eq(apply(text, strlen(text)), 78);
	ck_assert_str_eq(said.text, expected);
}

START_TEST(test_lines)
{
	setenv("B", "old", 1);
	applies("# comment\n\n; comment\n  A_1=one two\nB=\nexport C=c\r\nD=a=b#c;d\nE= x\n");
	ck_assert_str_eq(getenv("A_1"), "one two");
	ck_assert_str_eq(getenv("B"), "");
	ck_assert_str_eq(getenv("C"), "c");
	ck_assert_str_eq(getenv("D"), "a=b#c;d");
	ck_assert_str_eq(getenv("E"), " x");
}
END_TEST

START_TEST(test_quotes)
{
	applies("A=\"one two \"\nB=' x '\nC=it's\nD=\"\"\nE=\"it's\"\nF=$HOME\n");
	ck_assert_str_eq(getenv("A"), "one two ");
	ck_assert_str_eq(getenv("B"), " x ");
	ck_assert_str_eq(getenv("C"), "it's");
	ck_assert_str_eq(getenv("D"), "");
	ck_assert_str_eq(getenv("E"), "it's");
	ck_assert_str_eq(getenv("F"), "$HOME");
	fails("A=\"x\n", "1: the value begins with a quote that is not closed at its end");
	fails("A=\"x\" y\n", "1: the value begins with a quote that is not closed at its end");
	fails("A=\"x\"y\"\n", "1: the value begins with a quote that is not closed at its end");
	fails("A=\"\n", "1: the value begins with a quote that is not closed at its end");
}
END_TEST

START_TEST(test_wrong_lines)
{
	fails("A=1\nB\n", "2: this is neither NAME=VALUE nor a comment");
	fails("=1\n", "1: the name of a variable begins with a letter or _");
	fails("1A=1\n", "1: the name of a variable begins with a letter or _");
	fails("A B=1\n", "1: the name of a variable has letters, digits and _ only");
	fails("A =1\n", "1: the name of a variable has letters, digits and _ only");
	ck_assert_int_eq(apply("A=\0\n", 4), 78);
	ck_assert_ptr_nonnull(strstr(said.text, ":1: a NUL byte"));
}
END_TEST

START_TEST(test_a_wrong_file_sets_nothing)
{
	unsetenv("SET_BY_TEST");
	fails("SET_BY_TEST=1\nB\n", "2: this is neither NAME=VALUE nor a comment");
	ck_assert_ptr_null(getenv("SET_BY_TEST"));
}
END_TEST

START_TEST(test_a_file_that_is_not_there)
{
	capture_start(&said);
	ck_assert_int_eq(env_file_apply("/nonexistent/env"), -ENOENT);
	ck_assert_int_eq(env_file_apply("/"), -EISDIR);
	ck_assert_str_eq(capture_stop(&said), "");
}
END_TEST

START_TEST(test_list)
{
	const char *items[] = { "A=1", "B=x=y", "C=" };
	struct config_list list = { items, 3 };

	ck_assert_int_eq(env_list_apply(&list), 0);
	ck_assert_str_eq(getenv("A"), "1");
	ck_assert_str_eq(getenv("B"), "x=y");
	ck_assert_str_eq(getenv("C"), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("env_file");
	TCase *tcase = tcase_create("env_file");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_lines);
	tcase_add_test(tcase, test_quotes);
	tcase_add_test(tcase, test_wrong_lines);
	tcase_add_test(tcase, test_a_wrong_file_sets_nothing);
	tcase_add_test(tcase, test_a_file_that_is_not_there);
	tcase_add_test(tcase, test_list);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
