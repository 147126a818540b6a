/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_print.h"
#include "daemon/config_priv.h"

static char *text;
static size_t size;

static FILE *open_text(void)
{
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	return out;
}

static void teardown(void)
{
	free(text);
	text = NULL;
}

/* How often word stands in text. */
static unsigned count(const char *word)
{
	unsigned found = 0;

	for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
		found++;
	return found;
}

START_TEST(test_help_fits_into_80_columns_and_ends_no_line_with_blanks)
{
	FILE *out = open_text();

	config_print_help(out);
	fclose(out);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t len = strcspn(line, "\n");

		ck_assert_msg(len <= 80, "%zu columns: %.*s", len, (int)len, line);
		ck_assert_msg(len == 0 || line[len - 1] != ' ', "blanks at the end: %.*s", (int)len, line);
	}
}
END_TEST

START_TEST(test_help_names_every_option_once)
{
	FILE *out = open_text();

	config_print_help(out);
	fclose(out);
	for (size_t i = 0; i < config_option_count; i++) {
		const struct option_info *option = &config_options[i];
		char flag[64];

		if (option->type == OPTION_BOOL)
			snprintf(flag, sizeof(flag), "%s%s ", strcmp(option->def, "on") == 0 ? "--[no-]" : "--", option->name);
		else
			snprintf(flag, sizeof(flag), "--%s ", option->name);
		if (option->type == OPTION_BOOL || strcmp(option->name, "bind") == 0 || strcmp(option->name, "threads") == 0)
			ck_assert_msg(count(flag) >= 1, "%s", flag);
		else
			ck_assert_msg(count(flag) == 1, "%s is there %u times", flag, count(flag));
	}
	ck_assert_uint_ge(count("null:"), 1);
	ck_assert_uint_ge(count("only for measuring"), 1);
}
END_TEST

START_TEST(test_manual_has_every_option_with_its_environment_variable)
{
	FILE *out = open_text();

	config_print_man(out);
	fclose(out);
	for (size_t i = 0; i < config_option_count; i++) {
		char line[96], name[64];

		snprintf(line, sizeof(line), "Environment: %s.\n", config_env_name(config_options[i].name, name));
		ck_assert_msg(count(line) == 1, "%s is there %u times", line, count(line));
	}
	ck_assert_ptr_nonnull(strstr(text, "Range: 1us to 1s.\n"));
	ck_assert_ptr_nonnull(strstr(text, "Also called \\-\\-blocking\\-threads.\n"));
	/* A bare minus would become a hyphen that cannot be copied. */
	ck_assert_ptr_null(strstr(text, " --"));
}
END_TEST

START_TEST(test_print_config_shows_values_as_they_are_written_in_a_file)
{
	struct config_origin flag = { .source = SOURCE_FLAG }, file = { .source = SOURCE_FILE, .line = 3, .where = "x.ini" };
	struct value_error error;
	struct config config;
	FILE *out;

	ck_assert_int_eq(config_defaults(&config), 0);
	ck_assert_int_eq(config_set(&config, config_find_option("bind"), ":1 :2", &file, &error), 0);
	ck_assert_int_eq(config_set(&config, config_find_option("max-body"), "2048", &flag, &error), 0);
	ck_assert_int_eq(config_set(&config, config_find_option("umask"), "27", &flag, &error), 0);
	ck_assert_int_eq(config_set(&config, config_find_option("pool-elastic"), "shared", &flag, &error), 0);
	ck_assert_int_eq(config_set_app(&config, "a:b", &flag, &error), 0);
	out = open_text();
	config_print(&config, out);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "app                     a:b                       argument\n"));
	ck_assert_ptr_nonnull(strstr(text, "bind                    :1                        x.ini:3\n"
				     "bind                    :2                        x.ini:3\n"));
	ck_assert_ptr_nonnull(strstr(text, "max-body                2k                        --max-body\n"));
	ck_assert_ptr_nonnull(strstr(text, "umask                   027                       --umask\n"));
	ck_assert_ptr_nonnull(strstr(text, "pool-elastic            shared                    --pool-elastic\n"));
	ck_assert_ptr_nonnull(strstr(text, "backlog                 2048 connections          default\n"));
	ck_assert_ptr_nonnull(strstr(text, "pool-wake-age           200us                     default\n"));
	ck_assert_ptr_nonnull(strstr(text, "venv                    (not given)               default\n"));
	for (size_t i = 0; i < config_option_count; i++) {
		char line[64];

		snprintf(line, sizeof(line), "\n%-22s  ", config_options[i].name);
		ck_assert_msg(count(line) >= 1, "%s", line);
	}
	config_done(&config);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_print");
	TCase *tcase = tcase_create("print");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, test_help_fits_into_80_columns_and_ends_no_line_with_blanks);
	tcase_add_test(tcase, test_help_names_every_option_once);
	tcase_add_test(tcase, test_manual_has_every_option_with_its_environment_variable);
	tcase_add_test(tcase, test_print_config_shows_values_as_they_are_written_in_a_file);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
