/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/doctor.h"
#include "daemon/doctor_priv.h"

static bool says(int error, int disabled, bool has_filter, const char *words)
{
	return strstr(doctor_ring_remedy(error, disabled, has_filter), words) != NULL;
}

START_TEST(test_a_refused_ring_has_the_remedy_of_its_cause)
{
	ck_assert(says(EPERM, 2, true, "kernel.io_uring_disabled=0"));
	ck_assert(says(EPERM, 1, false, "kernel.io_uring_group"));
	ck_assert(says(EPERM, 0, true, "seccomp"));
	ck_assert(says(EPERM, -1, false, "dmesg"));
	ck_assert(says(ENOSYS, 0, true, "seccomp"));
	ck_assert(says(ENOSYS, -1, false, "CONFIG_IO_URING"));
	ck_assert(says(EACCES, 0, false, "SELinux"));
	ck_assert(says(ENOMEM, 0, false, "ulimit -l"));
	ck_assert(says(EINVAL, 0, false, "too old"));
	ck_assert(says(EIO, 0, false, "dmesg"));
}
END_TEST

START_TEST(test_a_missing_thing_counts_only_when_it_is_needed)
{
	struct doctor doctor = { 0 };
	char *text = NULL;
	size_t size;

	doctor.out = open_memstream(&text, &size);
	doctor_ok(&doctor, "a", "b %d", 1);
	doctor_missing(&doctor, false, "c", "do d", "e");
	ck_assert_uint_eq(doctor.missing, 0);
	doctor_missing(&doctor, true, "f", "do g", "h");
	ck_assert_uint_eq(doctor.missing, 1);
	fclose(doctor.out);
	ck_assert_str_eq(text, "ok       a: b 1\nmissing  c: e\n         -> do d\nmissing  f: h\n         -> do g\n");
	free(text);
}
END_TEST

START_TEST(test_each_line_has_a_verdict_and_the_last_agrees_with_the_status)
{
	struct config config;
	char *text = NULL, *rest, *line;
	size_t size;
	FILE *out;
	int status;

	ck_assert_int_eq(config_defaults(&config), 0);
	out = open_memstream(&text, &size);
	status = doctor_run(&config, out);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, status ? "\nringtail cannot serve" : "\nringtail can serve"));
	ck_assert_ptr_nonnull(strstr(text, " Python: "));
	for (line = strtok_r(text, "\n", &rest); line && strncmp(line, "ringtail ", 9) != 0; line = strtok_r(NULL, "\n", &rest))
		ck_assert_msg(strncmp(line, "ok       ", 9) == 0 || strncmp(line, "missing  ", 9) == 0 || strncmp(line, "         -> ", 12) == 0,
			      "%s", line);
	free(text);
	config_done(&config);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("doctor");
	TCase *tcase = tcase_create("doctor");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_a_refused_ring_has_the_remedy_of_its_cause);
	tcase_add_test(tcase, test_a_missing_thing_counts_only_when_it_is_needed);
	tcase_add_test(tcase, test_each_line_has_a_verdict_and_the_last_agrees_with_the_status);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
