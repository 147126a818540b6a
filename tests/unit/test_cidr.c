/* SPDX-License-Identifier: Apache-2.0 */
/* test_cidr.c: addresses, networks, membership, IPv4 inside of IPv6. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/cidr.h"

static const struct {
	const char *net;
	const char *addr;
	bool has;
} members[] = {
	{ "10.0.0.0/8", "10.255.0.1", true },
	{ "10.0.0.0/8", "11.0.0.0", false },
	{ "10.1.2.3/8", "10.9.9.9", true },
	{ "192.0.2.1", "192.0.2.1", true },
	{ "192.0.2.1", "192.0.2.2", false },
	{ "192.0.2.1/32", "192.0.2.1", true },
	{ "192.0.2.128/25", "192.0.2.127", false },
	{ "192.0.2.128/25", "192.0.2.129", true },
	{ "172.16.0.0/12", "172.31.255.255", true },
	{ "172.16.0.0/12", "172.32.0.0", false },
	{ "0.0.0.0/0", "8.8.8.8", true },
	{ "0.0.0.0/0", "::1", false },
	{ "::/0", "::1", true },
	{ "::/0", "8.8.8.8", false },
	{ "::1", "::1", true },
	{ "::1", "::2", false },
	{ "2001:db8::/33", "2001:db8:7fff::1", true },
	{ "2001:db8::/33", "2001:db8:8000::1", false },
	{ "10.0.0.0/8", "::ffff:10.1.1.1", true },
	{ "::ffff:10.0.0.0/104", "10.1.1.1", true },
	{ "::ffff:10.0.0.1", "10.0.0.1", true },
	{ "::ffff:10.0.0.1", "10.0.0.2", false },
	{ "fd00::/8", "fd12::1", true },
};

START_TEST(membership_follows_the_leading_bits)
{
	struct cidr cidr;
	struct ip ip;

	ck_assert_int_eq(cidr_parse(members[_i].net, &cidr), 0);
	ck_assert_int_eq(ip_parse(members[_i].addr, strlen(members[_i].addr), &ip), 0);
	ck_assert_msg(cidr_has(&cidr, &ip) == members[_i].has, "%s in %s", members[_i].addr, members[_i].net);
}
END_TEST

static const char *const bad_nets[] = {
	"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.0/ 8", "10.0.0/8", "10.0.0.0.0", "::1/129", "::/99999999999",
	"[::1]", "localhost", "*", "10.0.0.0/8/8", "::ffff:10.0.0.0/8", "fe80::1%eth0", "010.0.0.1", " 10.0.0.1", "10.0.0.1 ",
	"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc",
};

START_TEST(what_is_no_network_is_refused_and_nothing_is_written)
{
	struct cidr cidr;

	memset(&cidr, 0x5a, sizeof(cidr));
	ck_assert_msg(cidr_parse(bad_nets[_i], &cidr) == -EINVAL, "'%s'", bad_nets[_i]);
	ck_assert_uint_eq(cidr.bits, 0x5a5a5a5a);
}
END_TEST

START_TEST(a_nul_inside_an_address_is_refused)
{
	struct ip ip;

	ck_assert_int_eq(ip_parse("10.0.0.1\0x", 10, &ip), -EINVAL);
}
END_TEST

START_TEST(text_is_canonical)
{
	static const char *const pairs[][2] = {
		{ "192.0.2.1", "192.0.2.1" }, { "2001:DB8:0:0::1", "2001:db8::1" }, { "::ffff:192.0.2.1", "192.0.2.1" }, { "::", "::" },
	};

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char out[IP_TEXT_MAX];
		struct ip ip;

		ck_assert_int_eq(ip_parse(pairs[i][0], strlen(pairs[i][0]), &ip), 0);
		ck_assert_uint_eq(ip_format(&ip, out), strlen(pairs[i][1]));
		ck_assert_str_eq(out, pairs[i][1]);
	}
}
END_TEST

START_TEST(a_mapped_socket_address_is_ipv4)
{
	static const uint8_t bytes[16] = { [10] = 0xff, [11] = 0xff, [12] = 192, 0, 2, 1 };
	struct ip ip = ip_make(AF_INET6, bytes);

	ck_assert_int_eq(ip.family, AF_INET);
	ck_assert(memcmp(ip.bytes, bytes + 12, 4) == 0);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("cidr");
	TCase *tcase = tcase_create("cidr");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, membership_follows_the_leading_bits, 0, COUNT(members));
	tcase_add_loop_test(tcase, what_is_no_network_is_refused_and_nothing_is_written, 0, COUNT(bad_nets));
	tcase_add_test(tcase, a_nul_inside_an_address_is_refused);
	tcase_add_test(tcase, text_is_canonical);
	tcase_add_test(tcase, a_mapped_socket_address_is_ipv4);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
