/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/bind_address.h"

static struct bind_address address;
static char error[512];

static void parses(const char *text)
{
	error[0] = 0;
	ck_assert_msg(bind_address_parse(text, &address, error, sizeof(error)) == 0, "%s: %s", text, error);
}

static void fails(const char *text, const char *message)
{
	struct bind_address untouched = { .fd = 77 };

	ck_assert_msg(bind_address_parse(text, &untouched, error, sizeof(error)) == -EINVAL, "%s is taken", text);
	ck_assert_str_eq(error, message);
	ck_assert_int_eq(untouched.fd, 77);
}

static void is_tcp(const char *text, const char *host, unsigned port)
{
	parses(text);
	ck_assert_int_eq(address.kind, BIND_TCP);
	ck_assert_str_eq(address.host, host);
	ck_assert_uint_eq(address.port, port);
}

START_TEST(test_host_and_port)
{
	is_tcp("127.0.0.1:8000", "127.0.0.1", 8000);
	is_tcp("localhost:0", "localhost", 0);
	is_tcp("my-host.example:65535", "my-host.example", 65535);
	is_tcp(":8000", "", 8000);
	is_tcp("*:8000", "", 8000);
	is_tcp("0.0.0.0:80", "0.0.0.0", 80);
}
END_TEST

START_TEST(test_ipv6)
{
	is_tcp("[::1]:8000", "::1", 8000);
	is_tcp("[::]:80", "::", 80);
	is_tcp("[fe80::1%eth0]:80", "fe80::1%eth0", 80);
	is_tcp("[::ffff:10.0.0.1]:80", "::ffff:10.0.0.1", 80);
	fails("::1:8000", "'::1:8000': an IPv6 address stands in brackets, with a port: [::1]:8000");
	fails("::1", "'::1': an IPv6 address stands in brackets, with a port: [::1]:8000");
	fails("[::1]", "'[::1]' is not of the form [ADDRESS]:PORT");
	fails("[::1", "'[::1' is not of the form [ADDRESS]:PORT");
	fails("[::1]8000", "'[::1]8000' is not of the form [ADDRESS]:PORT");
	fails("[localhost]:80", "'[localhost]:80': 'localhost' is no IPv6 address");
	fails("[]:80", "'[]:80': '' is no IPv6 address");
	fails("[1.2.3.4]:80", "'[1.2.3.4]:80': '1.2.3.4' is no IPv6 address");
}
END_TEST

START_TEST(test_what_is_no_address)
{
	fails("8000", "'8000': write :8000 for all addresses, or 127.0.0.1:8000");
	fails("localhost", "'localhost' names no port (localhost:8000?)");
	fails("localhost:", "'localhost:': '' is no port (0 to 65535)");
	fails("localhost:http", "'localhost:http': 'http' is no port (0 to 65535)");
	fails("localhost:65536", "'localhost:65536': '65536' is no port (0 to 65535)");
	fails("localhost:-1", "'localhost:-1': '-1' is no port (0 to 65535)");
	fails("localhost:+1", "'localhost:+1': '+1' is no port (0 to 65535)");
	fails("1.2.3.256:80", "'1.2.3.256:80': '1.2.3.256' is no IPv4 address");
	fails("1.2.3:80", "'1.2.3:80': '1.2.3' is no IPv4 address");
	fails("", "'' names no port (:8000?)");
	fails("a/b:80", "'a/b:80' is none of HOST:PORT, [V6]:PORT, :PORT, unix:/PATH, fd:N");
	fails("/run/x.sock", "'/run/x.sock': a unix socket is written unix:/run/x.sock");
	fails("http://0.0.0.0:80/", "'http://0.0.0.0:80/': an address is written without http:// (0.0.0.0:80)");
	fails("https://x:443", "'https://x:443': ringtail does not speak TLS: let a proxy in front do it");
	fails("ftp://x:1", "'ftp://x:1': an IPv6 address stands in brackets, with a port: [::1]:8000");
}
END_TEST

START_TEST(test_unix)
{
	parses("unix:/run/x.sock");
	ck_assert_int_eq(address.kind, BIND_UNIX);
	ck_assert_str_eq(address.path, "/run/x.sock");
	ck_assert_int_eq(address.mode, 0666);
	ck_assert_str_eq(address.owner, "");
	parses("unix:/run/x.sock,mode=0660,owner=www-data,group=1000");
	ck_assert_str_eq(address.path, "/run/x.sock");
	ck_assert_int_eq(address.mode, 0660);
	ck_assert_str_eq(address.owner, "www-data");
	ck_assert_str_eq(address.group, "1000");
}
END_TEST

START_TEST(test_wrong_unix)
{
	char text[200] = "unix:/";

	fails("unix:x.sock", "'unix:x.sock': a unix socket needs an absolute path (unix:/run/mysite.sock)");
	fails("unix:", "'unix:': a unix socket needs an absolute path (unix:/run/mysite.sock)");
	fails("unix:/", "'unix:/': a unix socket needs an absolute path (unix:/run/mysite.sock)");
	fails("unix:/x,mode=999", "'unix:/x,mode=999': '999' is no mode (octal, as mode=0660)");
	fails("unix:/x,mode=", "'unix:/x,mode=': '' is no mode (octal, as mode=0660)");
	fails("unix:/x,mode=1777", "'unix:/x,mode=1777': '1777' is no mode (octal, as mode=0660)");
	fails("unix:/x,mode=-1", "'unix:/x,mode=-1': '-1' is no mode (octal, as mode=0660)");
	fails("unix:/x,owner=", "'unix:/x,owner=': 'owner=' is none of mode=OCTAL, owner=USER, group=GROUP");
	fails("unix:/x,perm=1", "'unix:/x,perm=1': 'perm=1' is none of mode=OCTAL, owner=USER, group=GROUP");
	fails("unix:/x,", "'unix:/x,': '' is none of mode=OCTAL, owner=USER, group=GROUP");
	memset(text + 6, 'a', 106);
	parses(text);
	ck_assert_uint_eq(strlen(address.path), 107);
	text[112] = 'a';
	ck_assert_int_eq(bind_address_parse(text, &address, error, sizeof(error)), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "the path is longer than the 107 bytes that a unix socket may have"));
}
END_TEST

START_TEST(test_descriptors)
{
	parses("fd:3");
	ck_assert_int_eq(address.kind, BIND_FD);
	ck_assert_int_eq(address.fd, 3);
	parses("fd://4");
	ck_assert_int_eq(address.fd, 4);
	fails("fd:", "'fd:': a number of a file descriptor stands behind fd: (fd:3)");
	fails("fd:x", "'fd:x': a number of a file descriptor stands behind fd: (fd:3)");
	fails("fd:-1", "'fd:-1': a number of a file descriptor stands behind fd: (fd:3)");
	fails("fd:99999999999999999999", "'fd:99999999999999999999': a number of a file descriptor stands behind fd: (fd:3)");
}
END_TEST

START_TEST(test_long_texts_are_cut_in_messages)
{
	char text[3000];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	ck_assert_int_eq(bind_address_parse(text, &address, error, sizeof(error)), -EINVAL);
	memcpy(text + 2990, ":80", 4);
	ck_assert_int_eq(bind_address_parse(text, &address, error, sizeof(error)), -EINVAL);
	memcpy(text, "[", 1);
	memcpy(text + 2980, "]:80", 5);
	ck_assert_int_eq(bind_address_parse(text, &address, error, sizeof(error)), -EINVAL);
	memset(text, '1', sizeof(text) - 1);
	ck_assert_int_eq(bind_address_parse(text, &address, error, sizeof(error)), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bind_address");
	TCase *tcase = tcase_create("bind_address");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, test_host_and_port);
	tcase_add_test(tcase, test_ipv6);
	tcase_add_test(tcase, test_what_is_no_address);
	tcase_add_test(tcase, test_unix);
	tcase_add_test(tcase, test_wrong_unix);
	tcase_add_test(tcase, test_descriptors);
	tcase_add_test(tcase, test_long_texts_are_cut_in_messages);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
