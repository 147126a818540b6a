/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/suggest.h"

static const char *nearest(const char *wrong, const char *const *names)
{
	struct suggest suggest;

	suggest_init(&suggest, wrong);
	for (; *names; names++)
		suggest_offer(&suggest, *names);
	return suggest.nearest;
}

static const char *const names[] = { "bind", "threads", "threads-max", "max-body", "max-connections", "access-log", NULL };

START_TEST(test_distance_counts_each_edit_once)
{
	ck_assert_uint_eq(suggest_distance("", ""), 0);
	ck_assert_uint_eq(suggest_distance("bind", "bind"), 0);
	ck_assert_uint_eq(suggest_distance("", "bind"), 4);
	ck_assert_uint_eq(suggest_distance("bind", "bin"), 1);
	ck_assert_uint_eq(suggest_distance("bind", "bond"), 1);
	ck_assert_uint_eq(suggest_distance("bind", "binds"), 1);
	ck_assert_uint_eq(suggest_distance("thraeds", "threads"), 1);
	ck_assert_uint_eq(suggest_distance("kitten", "sitting"), 3);
}
END_TEST

START_TEST(test_case_and_underscore_cost_nothing)
{
	ck_assert_uint_eq(suggest_distance("Max_Body", "max-body"), 0);
}
END_TEST

START_TEST(test_nearest_name_wins)
{
	ck_assert_str_eq(nearest("thread", names), "threads");
	ck_assert_str_eq(nearest("thread-max", names), "threads-max");
	ck_assert_str_eq(nearest("max_body", names), "max-body");
	ck_assert_str_eq(nearest("accesslog", names), "access-log");
}
END_TEST

START_TEST(test_a_beginning_is_near)
{
	ck_assert_str_eq(nearest("max-con", names), "max-connections");
}
END_TEST

START_TEST(test_what_is_far_from_all_has_no_neighbour)
{
	ck_assert_ptr_null(nearest("zzzzzz", names));
	ck_assert_ptr_null(nearest("", names));
}
END_TEST

START_TEST(test_names_longer_than_the_table_are_far)
{
	char name[200];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	ck_assert_ptr_null(nearest(name, names));
	ck_assert_uint_gt(suggest_distance(name, name), 60);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("suggest");
	TCase *tcase = tcase_create("suggest");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_distance_counts_each_edit_once);
	tcase_add_test(tcase, test_case_and_underscore_cost_nothing);
	tcase_add_test(tcase, test_nearest_name_wins);
	tcase_add_test(tcase, test_a_beginning_is_near);
	tcase_add_test(tcase, test_what_is_far_from_all_has_no_neighbour);
	tcase_add_test(tcase, test_names_longer_than_the_table_are_far);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
