/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_value.h"

#define UNTOUCHED 0x5a5a5a5aull

static struct value_error error;

static uint64_t size_of(const char *text)
{
	uint64_t value = UNTOUCHED;

	ck_assert_msg(value_parse_size(text, 0, UINT64_MAX, &value, &error) == 0, "%s: %s", text, error.text);
	return value;
}

static uint64_t time_of(const char *text)
{
	uint64_t value = UNTOUCHED;

	ck_assert_msg(value_parse_time(text, 0, UINT64_MAX, &value, &error) == 0, "%s: %s", text, error.text);
	return value;
}

static const char *size_error(const char *text, int code)
{
	uint64_t value = UNTOUCHED;

	ck_assert_int_eq(value_parse_size(text, 1024, 1024 * 1024, &value, &error), code);
	ck_assert_uint_eq(value, UNTOUCHED);
	return error.text;
}

static const char *time_error(const char *text, int code)
{
	uint64_t value = UNTOUCHED;

	ck_assert_int_eq(value_parse_time(text, 1000, 1000000000, &value, &error), code);
	ck_assert_uint_eq(value, UNTOUCHED);
	return error.text;
}

START_TEST(test_bools)
{
	static const char *const yes[] = { "on", "ON", "true", "True", "yes", "1" };
	static const char *const no[] = { "off", "OFF", "false", "no", "0" };
	bool value;

	for (size_t i = 0; i < 6; i++) {
		value = false;
		ck_assert_int_eq(value_parse_bool(yes[i], &value, &error), 0);
		ck_assert_int_eq(value, true);
	}
	for (size_t i = 0; i < 5; i++) {
		value = true;
		ck_assert_int_eq(value_parse_bool(no[i], &value, &error), 0);
		ck_assert_int_eq(value, false);
	}
}
END_TEST

START_TEST(test_what_is_no_bool)
{
	static const char *const wrong[] = { "", "2", "onn", "maybe", "o n", "01" };
	bool value = true;

	for (size_t i = 0; i < 6; i++) {
		ck_assert_int_eq(value_parse_bool(wrong[i], &value, &error), -EINVAL);
		ck_assert_int_eq(value, true);
	}
	value_parse_bool("maybe", &value, &error);
	ck_assert_str_eq(error.text, "'maybe' is neither on nor off (also true, false, yes, no, 1, 0)");
	value_parse_bool("flase", &value, &error);
	ck_assert_str_eq(error.text, "'flase' is neither on nor off (did you mean 'false'?)");
}
END_TEST

START_TEST(test_counts)
{
	uint64_t value = UNTOUCHED;

	ck_assert_int_eq(value_parse_count("0", 0, 10, &value, &error), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(value_parse_count("010", 0, 10, &value, &error), 0);
	ck_assert_uint_eq(value, 10);
	ck_assert_int_eq(value_parse_count("18446744073709551614", 0, UINT64_MAX, &value, &error), 0);
	ck_assert_uint_eq(value, UINT64_MAX - 1);
}
END_TEST

START_TEST(test_what_is_no_count)
{
	static const char *const wrong[] = { "", "-1", "+1", " 1", "1 ", "1k", "1.5", "0x10", "four", "1e3" };
	uint64_t value = UNTOUCHED;

	for (size_t i = 0; i < 10; i++) {
		ck_assert_int_eq(value_parse_count(wrong[i], 0, 1024, &value, &error), -EINVAL);
		ck_assert_uint_eq(value, UNTOUCHED);
	}
	value_parse_count("four", 1, 1024, &value, &error);
	ck_assert_str_eq(error.text, "'four' is not a whole number (1 to 1024)");
}
END_TEST

START_TEST(test_counts_out_of_range)
{
	uint64_t value = UNTOUCHED;

	ck_assert_int_eq(value_parse_count("0", 1, 1024, &value, &error), -ERANGE);
	ck_assert_str_eq(error.text, "0 is out of range (1 to 1024)");
	ck_assert_int_eq(value_parse_count("1025", 1, 1024, &value, &error), -ERANGE);
	ck_assert_int_eq(value_parse_count("99999999999999999999999999", 1, 1024, &value, &error), -ERANGE);
	ck_assert_uint_eq(value, UNTOUCHED);
}
END_TEST

START_TEST(test_sizes)
{
	ck_assert_uint_eq(size_of("0"), 0);
	ck_assert_uint_eq(size_of("1"), 1);
	ck_assert_uint_eq(size_of("16m"), 16 << 20);
	ck_assert_uint_eq(size_of("16M"), 16 << 20);
	ck_assert_uint_eq(size_of("256k"), 256 << 10);
	ck_assert_uint_eq(size_of("3g"), 3ull << 30);
	ck_assert_uint_eq(size_of("1.5k"), 1536);
	ck_assert_uint_eq(size_of("0.25m"), 256 << 10);
}
END_TEST

START_TEST(test_what_is_no_size)
{
	static const char *const wrong[] = { "", "m", "-1m", ".5m", "1.m", "1,5m", "1 m", "1mm", "0x10", "1.2.3m" };

	for (size_t i = 0; i < 10; i++)
		size_error(wrong[i], -EINVAL);
	ck_assert_str_eq(size_error("big", -EINVAL), "'big' is not a size (a number of bytes, or with k, m or g: 16m)");
	ck_assert_str_eq(size_error("16x", -EINVAL), "'16x': unknown unit 'x' (sizes take k, m, g)");
	ck_assert_str_eq(size_error("16MiB", -EINVAL), "'16MiB': unknown unit 'MiB' (sizes take k, m, g; did you mean '16m'?)");
}
END_TEST

START_TEST(test_sizes_out_of_range)
{
	ck_assert_str_eq(size_error("1023", -ERANGE), "1023 is out of range (1k to 1m)");
	ck_assert_str_eq(size_error("2m", -ERANGE), "2m is out of range (1k to 1m)");
	size_error("99999999999999999999g", -ERANGE);
}
END_TEST

START_TEST(test_times)
{
	ck_assert_uint_eq(time_of("0"), 0);
	ck_assert_uint_eq(time_of("200us"), 200000);
	ck_assert_uint_eq(time_of("5ms"), 5000000);
	ck_assert_uint_eq(time_of("30s"), 30000000000ull);
	ck_assert_uint_eq(time_of("2m"), 120000000000ull);
	ck_assert_uint_eq(time_of("1h"), 3600000000000ull);
	ck_assert_uint_eq(time_of("1.5s"), 1500000000ull);
	ck_assert_uint_eq(time_of("30"), 30000000000ull);
	ck_assert_uint_eq(time_of("0.5"), 500000000ull);
}
END_TEST

START_TEST(test_what_is_no_time)
{
	static const char *const wrong[] = { "", "s", "-1s", "1 s", "1m30s", "1d", "soon", "1.s" };

	for (size_t i = 0; i < 8; i++)
		time_error(wrong[i], -EINVAL);
	ck_assert_str_eq(time_error("soon", -EINVAL), "'soon' is not a time (a number with us, ms, s, m or h: 30s)");
	ck_assert_str_eq(time_error("10d", -EINVAL), "'10d': unknown unit 'd' (times take us, ms, s, m, h)");
	ck_assert_str_eq(time_error("10sec", -EINVAL), "'10sec': unknown unit 'sec' (times take us, ms, s, m, h; did you mean '10s'?)");
	/* M could be minutes or a slip for ms: it is asked, not guessed. */
	ck_assert_str_eq(time_error("10M", -EINVAL), "'10M': unknown unit 'M' (times take us, ms, s, m, h; did you mean '10m'?)");
}
END_TEST

START_TEST(test_times_out_of_range)
{
	ck_assert_str_eq(time_error("0", -ERANGE), "0 is out of range (1us to 1s)");
	ck_assert_str_eq(time_error("2s", -ERANGE), "2s is out of range (1us to 1s)");
	ck_assert_str_eq(time_error("200", -ERANGE), "200s (without a unit: seconds) is out of range (1us to 1s)");
	time_error("99999999999999999999h", -ERANGE);
}
END_TEST

START_TEST(test_enums)
{
	int value = -1;

	ck_assert_int_eq(value_parse_enum("on", "on|off|shared", &value, &error), 0);
	ck_assert_int_eq(value, 0);
	ck_assert_int_eq(value_parse_enum("shared", "on|off|shared", &value, &error), 0);
	ck_assert_int_eq(value, 2);
	ck_assert_int_eq(value_parse_enum("JSON", "text|json", &value, &error), 0);
	ck_assert_int_eq(value, 1);
	/* Where on and off are among the choices, their other names are too. */
	ck_assert_int_eq(value_parse_enum("false", "auto|on|off", &value, &error), 0);
	ck_assert_int_eq(value, 2);
	ck_assert_int_eq(value_parse_enum("1", "auto|on|off", &value, &error), 0);
	ck_assert_int_eq(value, 1);
}
END_TEST

START_TEST(test_what_is_no_choice)
{
	int value = 7;

	ck_assert_int_eq(value_parse_enum("sharde", "on|off|shared", &value, &error), -EINVAL);
	ck_assert_str_eq(error.text, "'sharde' is none of on, off, shared (did you mean 'shared'?)");
	ck_assert_int_eq(value_parse_enum("", "text|json", &value, &error), -EINVAL);
	ck_assert_str_eq(error.text, "'' is none of text, json");
	ck_assert_int_eq(value_parse_enum("yes", "text|json", &value, &error), -EINVAL);
	ck_assert_int_eq(value_parse_enum("text|json", "text|json", &value, &error), -EINVAL);
	ck_assert_int_eq(value, 7);
}
END_TEST

START_TEST(test_modes)
{
	int value = -1;

	ck_assert_int_eq(value_parse_mode("027", 0777, &value, &error), 0);
	ck_assert_int_eq(value, 027);
	ck_assert_int_eq(value_parse_mode("0", 0777, &value, &error), 0);
	ck_assert_int_eq(value, 0);
	value = 7;
	ck_assert_int_eq(value_parse_mode("1000", 0777, &value, &error), -ERANGE);
	ck_assert_str_eq(error.text, "1000 is out of range (octal, 0 to 777)");
	ck_assert_int_eq(value_parse_mode("028", 0777, &value, &error), -EINVAL);
	ck_assert_str_eq(error.text, "'028' is not an octal number (0 to 777)");
	ck_assert_int_eq(value_parse_mode("", 0777, &value, &error), -EINVAL);
	ck_assert_int_eq(value, 7);
}
END_TEST

START_TEST(test_values_are_written_as_they_are_read)
{
	static const char *const sizes[] = { "0", "1", "1000", "1536", "256k", "1025k", "16m", "3g" };
	static const char *const times[] = { "0", "200us", "1500us", "5ms", "90s", "2m", "24h" };
	char buffer[32];

	for (size_t i = 0; i < 8; i++)
		ck_assert_str_eq(value_format_size(size_of(sizes[i]), buffer), sizes[i]);
	for (size_t i = 0; i < 7; i++)
		ck_assert_str_eq(value_format_time(time_of(times[i]), buffer), times[i]);
	ck_assert_str_eq(value_format_size(size_of("2048"), buffer), "2k");
	ck_assert_str_eq(value_format_time(time_of("120s"), buffer), "2m");
}
END_TEST

START_TEST(test_enums_are_written_by_name)
{
	char buffer[64];

	ck_assert_str_eq(value_format_enum(0, "on|off|shared", buffer), "on");
	ck_assert_str_eq(value_format_enum(2, "on|off|shared", buffer), "shared");
	ck_assert_str_eq(value_format_enum(3, "on|off|shared", buffer), "?");
	ck_assert_str_eq(value_format_enum(-1, "on|off|shared", buffer), "?");
}
END_TEST

START_TEST(test_long_values_are_cut_in_messages)
{
	char text[4000];
	uint64_t number;
	bool truth;
	int index;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	ck_assert_int_lt(value_parse_bool(text, &truth, &error), 0);
	ck_assert_int_lt(value_parse_count(text, 0, 1, &number, &error), 0);
	ck_assert_int_lt(value_parse_size(text, 0, 1, &number, &error), 0);
	ck_assert_int_lt(value_parse_time(text, 0, 1, &number, &error), 0);
	ck_assert_int_lt(value_parse_enum(text, "a|b", &index, &error), 0);
	ck_assert_int_lt(value_parse_mode(text, 1, &index, &error), 0);
	ck_assert_uint_lt(strlen(error.text), 200);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_value");
	TCase *tcase = tcase_create("values");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_bools);
	tcase_add_test(tcase, test_what_is_no_bool);
	tcase_add_test(tcase, test_counts);
	tcase_add_test(tcase, test_what_is_no_count);
	tcase_add_test(tcase, test_counts_out_of_range);
	tcase_add_test(tcase, test_sizes);
	tcase_add_test(tcase, test_what_is_no_size);
	tcase_add_test(tcase, test_sizes_out_of_range);
	tcase_add_test(tcase, test_times);
	tcase_add_test(tcase, test_what_is_no_time);
	tcase_add_test(tcase, test_times_out_of_range);
	tcase_add_test(tcase, test_enums);
	tcase_add_test(tcase, test_what_is_no_choice);
	tcase_add_test(tcase, test_modes);
	tcase_add_test(tcase, test_values_are_written_as_they_are_read);
	tcase_add_test(tcase, test_enums_are_written_by_name);
	tcase_add_test(tcase, test_long_values_are_cut_in_messages);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
