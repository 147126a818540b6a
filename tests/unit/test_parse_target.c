/* SPDX-License-Identifier: Apache-2.0 */
/* test_parse_target.c: target forms, Host values, percent-decoding. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "daemon/parse_target.h"

static const struct {
	const char *text;
	bool is_options;
	int ret;
	enum target_form form;
	const char *authority, *path, *query;
} targets[] = {
	{ "/", false, 0, TARGET_ORIGIN, "", "/", "" },
	{ "/a/b?c=d&e", false, 0, TARGET_ORIGIN, "", "/a/b", "c=d&e" },
	{ "/?", false, 0, TARGET_ORIGIN, "", "/", "" },
	{ "//a", false, 0, TARGET_ORIGIN, "", "//a", "" },
	{ "/http://a/", false, 0, TARGET_ORIGIN, "", "/http://a/", "" },
	{ "/*", false, 0, TARGET_ORIGIN, "", "/*", "" },
	{ "*", true, 0, TARGET_ASTERISK, "", "", "" },
	{ "*", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "*?", true, -EINVAL, 0, NULL, NULL, NULL },
	{ "", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "http://a", false, 0, TARGET_ABSOLUTE, "a", "", "" },
	{ "http://a/", false, 0, TARGET_ABSOLUTE, "a", "/", "" },
	{ "HTTPS://a.b:8080/p/?q", false, 0, TARGET_ABSOLUTE, "a.b:8080", "/p/", "q" },
	{ "http://a?q", false, 0, TARGET_ABSOLUTE, "a", "", "q" },
	{ "http://[::1]:80/", false, 0, TARGET_ABSOLUTE, "[::1]:80", "/", "" },
	{ "http://", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "http:///a", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "http://?a", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "http://:80/", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "http://u@a/", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "http://a:b/", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "http:/a", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "http:a", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "ws://a/", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "a.b:443", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "a/b", false, -EINVAL, 0, NULL, NULL, NULL },
	{ "?a", false, -EINVAL, 0, NULL, NULL, NULL },
};

static bool is_part(const char *text, size_t off, size_t len, const char *expected)
{
	return len == strlen(expected) && memcmp(text + off, expected, len) == 0;
}

START_TEST(targets_are_taken_apart_by_form)
{
	const char *text = targets[_i].text;
	struct target target;
	int r = target_parse(text, strlen(text), targets[_i].is_options, &target);

	ck_assert_msg(r == targets[_i].ret, "'%s' gives %d", text, r);
	if (r < 0)
		return;
	ck_assert_msg(target.form == targets[_i].form, "'%s' is of form %d", text, target.form);
	ck_assert_msg(is_part(text, target.authority, target.authority_len, targets[_i].authority), "'%s': authority", text);
	ck_assert_msg(is_part(text, target.path, target.path_len, targets[_i].path), "'%s': path", text);
	ck_assert_msg(is_part(text, target.query, target.query_len, targets[_i].query), "'%s': query", text);
}
END_TEST

static const char *const legal_hosts[] = {
	"", "a", "example.org", "example.org:8000", "example.org:", "127.0.0.1", "[::1]", "[::1]:80", "[v1.a:b]", "a_b-c~d", "%61.org", "a,b",
};

static const char *const illegal_hosts[] = {
	" ", "a b", "a/", "/", "a@b", "a?b", "a#b", "a:80:80", "a:80x", "a:-1", "::1", "[::1", "::1]", "[]", "[::1]x", "[::1]80", "[a b]", "%6", "%zz",
	"a\x01", "a\x7f", "\xc3\xa4", "a\\b", "<a>", "\"a\"", "a|b", "a^b", "{a}", "[::1%25eth0]",
};

START_TEST(legal_hosts_are_legal)
{
	ck_assert_msg(target_host_is_legal(legal_hosts[_i], strlen(legal_hosts[_i])), "'%s'", legal_hosts[_i]);
}
END_TEST

START_TEST(illegal_hosts_are_not)
{
	ck_assert_msg(!target_host_is_legal(illegal_hosts[_i], strlen(illegal_hosts[_i])), "'%s'", illegal_hosts[_i]);
}
END_TEST

START_TEST(a_nul_in_a_host_is_not_legal)
{
	ck_assert(!target_host_is_legal("a\0b", 3));
}
END_TEST

/* What Python's urllib.parse.unquote_to_bytes gives. */
static const struct {
	const char *encoded;
	const char *decoded;
	size_t len;
} escapes[] = {
	{ "", "", 0 },
	{ "/abc", "/abc", 4 },
	{ "%41%42", "AB", 2 },
	{ "%c3%A4", "\xc3\xa4", 2 },
	{ "%2525", "%25", 3 },
	{ "%00", "\0", 1 },
	{ "%", "%", 1 },
	{ "%4", "%4", 2 },
	{ "%zz", "%zz", 3 },
	{ "%4z%41", "%4zA", 4 },
	{ "%%41", "%A", 2 },
	{ "a+b", "a+b", 3 },
	{ "%@1", "%@1", 3 },
	{ "%G0", "%G0", 3 },
	{ "%\x10" "1", "%\x10" "1", 3 },
};

START_TEST(escapes_decode_once_and_the_rest_stays)
{
	char out[32];
	size_t len = target_decode(out, escapes[_i].encoded, strlen(escapes[_i].encoded));

	ck_assert_msg(len == escapes[_i].len && memcmp(out, escapes[_i].decoded, len) == 0, "'%s' gives '%.*s'",
		      escapes[_i].encoded, (int)len, out);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("parse_target");
	TCase *tcase = tcase_create("parse_target");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, targets_are_taken_apart_by_form, 0, COUNT(targets));
	tcase_add_loop_test(tcase, legal_hosts_are_legal, 0, COUNT(legal_hosts));
	tcase_add_loop_test(tcase, illegal_hosts_are_not, 0, COUNT(illegal_hosts));
	tcase_add_test(tcase, a_nul_in_a_host_is_not_legal);
	tcase_add_loop_test(tcase, escapes_decode_once_and_the_rest_stays, 0, COUNT(escapes));
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
