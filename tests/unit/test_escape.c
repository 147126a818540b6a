/* SPDX-License-Identifier: Apache-2.0 */
/* test_escape.c: every byte at every place of a word, and UTF-8 at its borders. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/escape.h"

#define LEN_MAX 20

/* One byte among plain ones comes out as wanted, wherever it stands. */
static void check_field_byte(unsigned char byte, const char *wanted)
{
	for (size_t len = 1; len <= LEN_MAX; len++) {
		for (size_t at = 0; at < len; at++) {
			char src[LEN_MAX], dst[LEN_MAX * ESCAPE_TEXT_MAX + 1], expected[LEN_MAX * ESCAPE_TEXT_MAX + 1];
			size_t out;

			memset(src, 'a', len);
			src[at] = (char)byte;
			out = escape_field(dst, src, len);
			dst[out] = '\0';
			memset(expected, 'a', at);
			strcpy(expected + at, wanted);
			memset(expected + at + strlen(wanted), 'a', len - at - 1);
			expected[len - 1 + strlen(wanted)] = '\0';
			ck_assert_str_eq(dst, expected);
		}
	}
}

START_TEST(test_a_field_is_escaped_as_nginx_does)
{
	for (unsigned byte = 0; byte < 256; byte++) {
		bool is_plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
		char wanted[5];

		snprintf(wanted, sizeof(wanted), is_plain ? "%c" : "\\x%02X", byte);
		check_field_byte((unsigned char)byte, wanted);
	}
}
END_TEST

static const struct {
	const char *src, *json, *message;
} cases[] = {
	{ "", "", "" },
	{ "plain text of some length", "plain text of some length", "plain text of some length" },
	{ "\"\\/", "\\\"\\\\/", "\"\\/" },
	{ "\n\r\t\b\x1f\x7f", "\\n\\r\\t\\u0008\\u001f\\u007f", "\\x0A\\x0D\\x09\\x08\\x1F\\x7F" },
	{ "\xc2\xa0\xc3\xa4", "\xc2\xa0\xc3\xa4", "\xc2\xa0\xc3\xa4" },
	{ "\xc2\x85", "\xc2\x85", "\\xC2\\x85" },                          /* C1 control */
	{ "\xc0\xaf\xc1\xbf", "\\u00c0\\u00af\\u00c1\\u00bf", "\\xC0\\xAF\\xC1\\xBF" }, /* overlong */
	{ "\xe0\x9f\xbf", "\\u00e0\\u009f\\u00bf", "\\xE0\\x9F\\xBF" },    /* overlong */
	{ "\xe0\xa0\x80", "\xe0\xa0\x80", "\xe0\xa0\x80" },
	{ "\xed\x9f\xbf", "\xed\x9f\xbf", "\xed\x9f\xbf" },
	{ "\xed\xa0\x80", "\\u00ed\\u00a0\\u0080", "\\xED\\xA0\\x80" },    /* surrogate */
	{ "\xf0\x8f\xbf\xbf", "\\u00f0\\u008f\\u00bf\\u00bf", "\\xF0\\x8F\\xBF\\xBF" },
	{ "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
	{ "\xf4\x90\x80\x80", "\\u00f4\\u0090\\u0080\\u0080", "\\xF4\\x90\\x80\\x80" }, /* beyond Unicode */
	{ "a\xc3", "a\\u00c3", "a\\xC3" },                                 /* cut short */
	{ "a\xe2\x82", "a\\u00e2\\u0082", "a\\xE2\\x82" },
	{ "\xc3(", "\\u00c3(", "\\xC3(" },
};

START_TEST(test_json_strings)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char dst[256];

		dst[escape_json(dst, cases[i].src, strlen(cases[i].src))] = '\0';
		ck_assert_str_eq(dst, cases[i].json);
	}
}
END_TEST

START_TEST(test_messages)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char dst[256];

		dst[escape_message(dst, cases[i].src, strlen(cases[i].src), 0)] = '\0';
		ck_assert_str_eq(dst, cases[i].message);
	}
}
END_TEST

START_TEST(test_kept_lines_are_newline_and_tab)
{
	char dst[64];

	dst[escape_message(dst, "a\n\tb\r\x1b", 6, 1)] = '\0';
	ck_assert_str_eq(dst, "a\n\tb\\x0D\\x1B");
}
END_TEST

/* A NUL is a byte like any other. */
START_TEST(test_nul)
{
	char dst[64];

	dst[escape_json(dst, "a\0b", 3)] = '\0';
	ck_assert_str_eq(dst, "a\\u0000b");
	dst[escape_message(dst, "a\0b", 3, 1)] = '\0';
	ck_assert_str_eq(dst, "a\\x00b");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("escape");
	TCase *tcase = tcase_create("escape");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_a_field_is_escaped_as_nginx_does);
	tcase_add_test(tcase, test_json_strings);
	tcase_add_test(tcase, test_messages);
	tcase_add_test(tcase, test_kept_lines_are_newline_and_tab);
	tcase_add_test(tcase, test_nul);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
