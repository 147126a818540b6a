/* SPDX-License-Identifier: Apache-2.0 */
/* test_forwarded.c: trusted proxies, what they say of the client, script-name. Requests are made by the parser. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/forwarded.h"
#include "parse_rig.h"

/* Trusts 10.0.0.0/8, 2001:db8::/32 and unix peers. */
static struct config trusting(int forwarded_headers)
{
	static const char *const nets[] = { "10.0.0.0/8", "unix", "2001:db8::/32" };
	struct config config = rig_config();
	const char *bad;

	config.trusted_proxies.items = (const char **)nets;
	config.trusted_proxies.count = 3;
	config.forwarded_headers = forwarded_headers;
	ck_assert_int_eq(forwarded_start(&config, &bad), 0);
	return config;
}

/* The request's text (parse_rig.h) for GET of target with these header lines from this peer. */
static char *run(const struct config *config, const struct endpoint *peer, const char *target, const char *headers)
{
	char *bytes = NULL;
	char *text;

	ck_assert_int_gt(asprintf(&bytes, "GET %s HTTP/1.1\r\nHost: own\r\n%s\r\n", target, headers), 0);
	text = rig_run(config, peer, bytes, strlen(bytes), (struct rig_cut){ 0, 0 });
	free(bytes);
	return text;
}

struct one_case {
	const char *what;
	const char *headers;
	const char *expected; /* of "host=..." on */
};

static void check_one(const struct config *config, const struct endpoint *peer, const struct one_case *one)
{
	char *text = run(config, peer, "/p", one->headers);
	const char *host = strstr(text, " host=");
	size_t len = strlen(one->expected);

	ck_assert_msg(host != NULL && strncmp(host + 1, one->expected, len) == 0 && host[1 + len] == '\n', "%s: %s\ngives:\n%s\nnot: %s", one->what,
		      one->headers, text, one->expected);
	free(text);
}

static const struct one_case x_cases[] = {
	{ "nothing said", "", "host=own client=10.0.0.1:99 scheme=http" },
	{ "one address", "X-Forwarded-For: 203.0.113.9\r\n", "host=own client=203.0.113.9: scheme=http" },
	{ "the rightmost that is not trusted", "X-Forwarded-For: 1.1.1.1, 203.0.113.9, 10.2.3.4\r\n", "host=own client=203.0.113.9: scheme=http" },
	{ "several fields are one list", "X-Forwarded-For: 1.1.1.1\r\nX: y\r\nx-forwarded-for: 203.0.113.9\r\nX-FORWARDED-FOR: 10.2.3.4,10.2.3.5\r\n",
	  "host=own client=203.0.113.9: scheme=http" },
	{ "all trusted: the leftmost", "X-Forwarded-For: 10.9.9.9, 10.2.3.4\r\n", "host=own client=10.9.9.9: scheme=http" },
	{ "with a port", "X-Forwarded-For: 203.0.113.9:4711\r\n", "host=own client=203.0.113.9:4711 scheme=http" },
	{ "IPv6", "X-Forwarded-For: 2001:DB9::1\r\n", "host=own client=2001:db9::1: scheme=http" },
	{ "IPv6 in brackets", "X-Forwarded-For: [2001:db9::1]\r\n", "host=own client=2001:db9::1: scheme=http" },
	{ "IPv6 with a port", "X-Forwarded-For: [2001:db9::1]:4711\r\n", "host=own client=2001:db9::1:4711 scheme=http" },
	{ "IPv4 in IPv6", "X-Forwarded-For: ::ffff:203.0.113.9\r\n", "host=own client=203.0.113.9: scheme=http" },
	{ "a trusted one in IPv6 dress", "X-Forwarded-For: 203.0.113.9, ::ffff:10.2.3.4, 2001:db8::5\r\n", "host=own client=203.0.113.9: scheme=http" },
	{ "empty elements do not count", "X-Forwarded-For: 203.0.113.9,, ,\r\n", "host=own client=203.0.113.9: scheme=http" },
	{ "an empty field", "X-Forwarded-For:\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "garbage at the right: the peer", "X-Forwarded-For: 203.0.113.9, unknown\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "garbage ends the walk", "X-Forwarded-For: 203.0.113.9, evil, 10.2.3.4\r\n", "host=own client=10.2.3.4: scheme=http" },
	{ "a bad port is garbage", "X-Forwarded-For: 203.0.113.9:99999\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "a port without digits is garbage", "X-Forwarded-For: 203.0.113.9:\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "an open bracket is garbage", "X-Forwarded-For: [2001:db9::1\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "IPv4 in brackets is garbage", "X-Forwarded-For: [203.0.113.9]\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "https", "X-Forwarded-Proto: HTTPS\r\n", "host=own client=10.0.0.1:99 scheme=https" },
	{ "the nearest proxy's scheme", "X-Forwarded-Proto: https\r\nX-Forwarded-Proto: https, http\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "another scheme is ignored", "X-Forwarded-Proto: javascript\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "a host", "X-Forwarded-Host: example.org:8443\r\n", "host=own forwarded-host=example.org:8443 client=10.0.0.1:99 scheme=http" },
	{ "the nearest proxy's host", "X-Forwarded-Host: evil.example, example.org\r\n", "host=own forwarded-host=example.org client=10.0.0.1:99 scheme=http" },
	{ "an illegal host is ignored", "X-Forwarded-Host: a/b\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "the other set means nothing", "Forwarded: for=203.0.113.9;proto=https;host=x\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "a request id", "X-Request-ID: abc-123\r\n", "host=own client=10.0.0.1:99 scheme=http id=abc-123" },
	{ "one with a space is none", "X-Request-ID: abc 123\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "one with a byte above 0x7f is none", "X-Request-ID: abc\xe4\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "names with '_' are not looked at", "X_Forwarded_For: 203.0.113.9\r\n", "host=own client=10.0.0.1:99 scheme=http" },
};

START_TEST(a_trusted_proxy_is_believed_in_x_forwarded)
{
	struct config config = trusting(FORWARDED_X);
	struct endpoint peer = rig_endpoint("10.0.0.1", "99");

	check_one(&config, &peer, &x_cases[_i]);
}
END_TEST

static const struct one_case rfc_cases[] = {
	{ "nothing said", "", "host=own client=10.0.0.1:99 scheme=http" },
	{ "all of it", "Forwarded: for=203.0.113.9;proto=https;host=example.org;by=10.0.0.1\r\n",
	  "host=own forwarded-host=example.org client=203.0.113.9: scheme=https" },
	{ "names in any case, white space, an extension", "Forwarded: For=203.0.113.9 ; PROTO=https; secret=\"a,b;c\"\r\n",
	  "host=own client=203.0.113.9: scheme=https" },
	{ "quoted, with a port", "Forwarded: for=\"203.0.113.9:4711\";host=\"example.org:8443\"\r\n",
	  "host=own forwarded-host=example.org:8443 client=203.0.113.9:4711 scheme=http" },
	{ "IPv6", "Forwarded: for=\"[2001:db9::1]:4711\"\r\n", "host=own client=2001:db9::1:4711 scheme=http" },
	{ "an obfuscated port", "Forwarded: for=\"[2001:db9::1]:_a\"\r\n", "host=own client=2001:db9::1: scheme=http" },
	{ "quoted pairs", "Forwarded: for=\"203\\.0.113.9\";host=\"exam\\ple.org\"\r\n",
	  "host=own forwarded-host=example.org client=203.0.113.9: scheme=http" },
	{ "the rightmost that is not trusted, with its own proto", "Forwarded: for=1.1.1.1;proto=http, for=203.0.113.9;proto=https, for=10.2.3.4;proto=http\r\n",
	  "host=own client=203.0.113.9: scheme=https" },
	{ "what the client's element lacks comes from the right", "Forwarded: for=203.0.113.9, for=10.2.3.4;proto=https;host=example.org\r\n",
	  "host=own forwarded-host=example.org client=203.0.113.9: scheme=https" },
	{ "several fields are one list", "Forwarded: for=1.1.1.1, for=203.0.113.9\r\nForwarded: for=10.2.3.4\r\n",
	  "host=own client=203.0.113.9: scheme=http" },
	{ "all trusted: the leftmost", "Forwarded: for=10.9.9.9, for=10.2.3.4\r\n", "host=own client=10.9.9.9: scheme=http" },
	{ "unknown ends the walk, its scheme counts", "Forwarded: for=203.0.113.9, for=unknown;proto=https, for=10.2.3.4\r\n",
	  "host=own client=10.2.3.4: scheme=https" },
	{ "so does an obfuscated one", "Forwarded: for=203.0.113.9, for=_hidden\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "an element without for", "Forwarded: for=203.0.113.9, proto=https\r\n", "host=own client=10.0.0.1:99 scheme=https" },
	{ "empty elements do not count", "Forwarded: , for=203.0.113.9,, \r\n", "host=own client=203.0.113.9: scheme=http" },
	{ "an open quote spoils its line", "Forwarded: for=\"203.0.113.9, for=10.2.3.4\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "and no later one", "Forwarded: for=\"1.1.1.1\r\nForwarded: for=10.2.3.4;proto=https\r\n", "host=own client=10.2.3.4: scheme=https" },
	{ "a quote cannot hide an element", "Forwarded: for=\"1.1.1.1, for=203.0.113.9\";proto=https\r\n", "host=own client=10.0.0.1:99 scheme=https" },
	{ "a parameter given twice spoils the line", "Forwarded: for=203.0.113.9;for=1.1.1.1\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "an address that had to be quoted", "Forwarded: for=203.0.113.9:80\r\n", "host=own client=10.0.0.1:99 scheme=http" },
	{ "an illegal host", "Forwarded: for=203.0.113.9;host=\"a b\"\r\n", "host=own client=203.0.113.9: scheme=http" },
	{ "the other set means nothing", "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n", "host=own client=10.0.0.1:99 scheme=http" },
};

START_TEST(a_trusted_proxy_is_believed_in_forwarded)
{
	struct config config = trusting(FORWARDED_RFC7239);
	struct endpoint peer = rig_endpoint("10.0.0.1", "99");

	check_one(&config, &peer, &rfc_cases[_i]);
}
END_TEST

#define ALL_CLAIMS \
	"X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: x\r\nX-Forwarded-Prefix: /x\r\nX-Request-ID: x\r\n" \
	"Forwarded: for=203.0.113.9;proto=https;host=x\r\n"

START_TEST(nobody_else_is_believed)
{
	for (int which = FORWARDED_X; which <= FORWARDED_RFC7239; which++) {
		struct config config = trusting(which);
		struct endpoint peer = rig_endpoint("192.0.2.1", "99");
		struct one_case one = { "not trusted", ALL_CLAIMS, "host=own client=192.0.2.1:99 scheme=http" };
		char *text;

		check_one(&config, &peer, &one);
		/* They pass through as plain headers. */
		text = run(&config, &peer, "/p", ALL_CLAIMS);
		ck_assert_ptr_ne(strstr(text, "\nX-Forwarded-For: 203.0.113.9\nX-Forwarded-Proto: https\n"), NULL);
		ck_assert_ptr_eq(strstr(text, "script="), NULL);
		free(text);
	}
}
END_TEST

START_TEST(a_long_id_is_not_taken)
{
	struct config config = trusting(FORWARDED_X);
	struct endpoint peer = rig_endpoint("10.0.0.1", "99");
	char headers[200] = "X-Request-ID: ";
	char *text;

	memset(headers + 14, 'x', 128);
	strcpy(headers + 14 + 128, "\r\n");
	text = run(&config, &peer, "/", headers);
	ck_assert_ptr_ne(strstr(text, " id=xxx"), NULL);
	free(text);
	strcpy(headers + 14 + 128, "x\r\n");
	text = run(&config, &peer, "/", headers);
	ck_assert_ptr_eq(strstr(text, " id="), NULL);
	free(text);
}
END_TEST

START_TEST(unix_peers_have_no_address_and_are_trusted_by_name)
{
	struct endpoint peer = { .family = AF_UNIX };
	struct config config = trusting(FORWARDED_X);
	struct one_case one = { "unix", "", "host=own client=: scheme=http" };
	const char *bad;

	check_one(&config, &peer, &one);
	one = (struct one_case){ "unix", "X-Forwarded-For: 203.0.113.9\r\n", "host=own client=203.0.113.9: scheme=http" };
	check_one(&config, &peer, &one);
	config.trusted_proxies.count = 1;
	ck_assert_int_eq(forwarded_start(&config, &bad), 0);
	one = (struct one_case){ "unix", "X-Forwarded-For: 203.0.113.9\r\n", "host=own client=: scheme=http" };
	check_one(&config, &peer, &one);
}
END_TEST

START_TEST(a_mapped_peer_is_trusted_as_ipv4)
{
	struct endpoint peer = rig_endpoint("::ffff:10.0.0.1", "99");

	trusting(FORWARDED_X);
	ck_assert(forwarded_is_trusted(&peer));
	peer = rig_endpoint("::ffff:192.0.2.1", "99");
	ck_assert(!forwarded_is_trusted(&peer));
}
END_TEST

START_TEST(a_bad_entry_is_named)
{
	static const char *const nets[] = { "10.0.0.0/8", "10.0.0.0/99" };
	struct config config = rig_config();
	const char *bad = NULL;

	config.trusted_proxies.items = (const char **)nets;
	config.trusted_proxies.count = 2;
	ck_assert_int_eq(forwarded_start(&config, &bad), -EINVAL);
	ck_assert_str_eq(bad, "10.0.0.0/99");
}
END_TEST

static const struct {
	const char *script_name, *target, *prefix, *expected;
} mounts[] = {
	{ "/app", "/app/x", NULL, "\nscript=/app\npath=/x query" },
	{ "/app", "/app", NULL, "\nscript=/app\npath= query" },
	{ "/app", "/app?q", NULL, "\nscript=/app\npath= query=q" },
	{ "/app", "/app/", NULL, "\nscript=/app\npath=/ query" },
	{ "/app/", "/app/x", NULL, "\nscript=/app\npath=/x query" },
	{ "/a b", "/a%20b/x%20y", NULL, "\nscript=/a b\npath=/x y query" },
	{ "/app", "/apple", NULL, "refused 404" },
	{ "/app", "/", NULL, "refused 404" },
	{ "/app", "/App/x", NULL, "refused 404" },
	{ "/app", "//app/x", NULL, "refused 404" },
	{ "/app", "http://h/app/x", NULL, "\nscript=/app\npath=/x query" },
	{ "/app", "http://h", NULL, "refused 404" },
	{ "/", "/x", NULL, "1.1 keep-alive\npath=/x query" },
	{ "", "/x", NULL, "1.1 keep-alive\npath=/x query" },
	{ NULL, "/x", "/blog", "\nscript=/blog\npath=/x query" },
	{ NULL, "/x", "/blog/", "\nscript=/blog\npath=/x query" },
	{ NULL, "/x", "/a%20b", "\nscript=/a b\npath=/x query" },
	{ NULL, "/x", "/", "1.1 keep-alive\npath=/x query" },
	{ NULL, "/x", "blog", "1.1 keep-alive\npath=/x query" },
	{ NULL, "/x", "//evil.example", "1.1 keep-alive\npath=/x query" },
	{ NULL, "/x", "/a?b", "1.1 keep-alive\npath=/x query" },
	{ NULL, "/x", "/evil, /blog", "\nscript=/blog\npath=/x query" },
	{ "/app", "/app/x", "/blog", "\nscript=/blog/app\npath=/x query" },
	{ "/app", "/blog/app/x", "/blog", "refused 404" },
};

START_TEST(script_name_and_prefix_make_the_mount_point)
{
	struct config config = trusting(FORWARDED_X);
	struct endpoint peer = rig_endpoint("10.0.0.1", "99");
	char headers[100] = "";
	char *text;

	if (mounts[_i].prefix != NULL)
		snprintf(headers, sizeof(headers), "X-Forwarded-Prefix: %s\r\n", mounts[_i].prefix);
	config.script_name = mounts[_i].script_name;
	text = run(&config, &peer, mounts[_i].target, headers);
	ck_assert_msg(strstr(text, mounts[_i].expected) != NULL, "%s with %s gives:\n%s\nnot:%s", mounts[_i].target, mounts[_i].script_name, text,
		      mounts[_i].expected);
	free(text);
}
END_TEST

START_TEST(options_for_the_whole_server_is_inside_every_script_name)
{
	static const char bytes[] = "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n";
	struct config config = rig_config();
	char *text;

	config.script_name = "/app";
	text = rig_run(&config, &rig_peer, bytes, sizeof(bytes) - 1, (struct rig_cut){ 0, 0 });
	ck_assert_ptr_ne(strstr(text, "\nscript=/app\npath= query"), NULL);
	free(text);
}
END_TEST

START_TEST(a_forwarded_host_replaces_that_of_an_absolute_target)
{
	struct config config = trusting(FORWARDED_X);
	struct endpoint peer = rig_endpoint("10.0.0.1", "99");
	char *text = run(&config, &peer, "http://target/p", "X-Forwarded-Host: outer\r\n");

	ck_assert_ptr_ne(strstr(text, "host=target forwarded-host=outer "), NULL);
	free(text);
}
END_TEST

START_TEST(a_line_of_many_elements_is_read_from_its_right_end)
{
	struct config config = trusting(FORWARDED_RFC7239);
	struct endpoint peer = rig_endpoint("10.0.0.1", "99");
	char headers[4000] = "Forwarded: ";
	char *text;

	for (unsigned i = 0; i < 100; i++)
		strcat(headers, "for=1.1.1.1, ");
	strcat(headers, "for=203.0.113.9, for=10.2.3.4\r\n");
	text = run(&config, &peer, "/", headers);
	ck_assert_ptr_ne(strstr(text, "client=203.0.113.9: "), NULL);
	free(text);
	/* Trusted ones beyond the last 32 end the walk: no earlier field is looked at. */
	strcpy(headers, "Forwarded: for=203.0.113.9\r\nForwarded: for=10.9.9.9");
	for (unsigned i = 0; i < 100; i++)
		strcat(headers, ", for=10.2.3.4");
	strcat(headers, "\r\n");
	text = run(&config, &peer, "/", headers);
	ck_assert_ptr_ne(strstr(text, "client=10.2.3.4: "), NULL);
	free(text);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("forwarded");
	TCase *tcase = tcase_create("forwarded");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, a_trusted_proxy_is_believed_in_x_forwarded, 0, COUNT(x_cases));
	tcase_add_loop_test(tcase, a_trusted_proxy_is_believed_in_forwarded, 0, COUNT(rfc_cases));
	tcase_add_test(tcase, nobody_else_is_believed);
	tcase_add_test(tcase, a_long_id_is_not_taken);
	tcase_add_test(tcase, unix_peers_have_no_address_and_are_trusted_by_name);
	tcase_add_test(tcase, a_mapped_peer_is_trusted_as_ipv4);
	tcase_add_test(tcase, a_bad_entry_is_named);
	tcase_add_loop_test(tcase, script_name_and_prefix_make_the_mount_point, 0, COUNT(mounts));
	tcase_add_test(tcase, options_for_the_whole_server_is_inside_every_script_name);
	tcase_add_test(tcase, a_forwarded_host_replaces_that_of_an_absolute_target);
	tcase_add_test(tcase, a_line_of_many_elements_is_read_from_its_right_end);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
