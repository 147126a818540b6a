/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cidr.h: addresses and networks as text and as bytes. Pure functions, any
 * thread. An IPv4 address written or received as ::ffff:a.b.c.d is IPv4
 * everywhere behind these functions.
 */
#ifndef RINGTAIL_CIDR_H
#define RINGTAIL_CIDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IP_TEXT_MAX 46u /* longest text and NUL */

struct ip {
	uint8_t family;    /* AF_INET, AF_INET6 */
	uint8_t bytes[16]; /* network order, 4 or 16 by family */
};

struct cidr {
	struct ip net;
	unsigned bits;
};

/* From the bytes of a socket address. */
struct ip ip_make(uint8_t family, const uint8_t *bytes);

/* "192.0.2.1" or "2001:db8::1", without brackets, port or zone. -EINVAL. */
int ip_parse(const char *text, size_t len, struct ip *ret_ip);

/* The canonical text, NUL-terminated, out has IP_TEXT_MAX bytes. Returns its length. */
size_t ip_format(const struct ip *ip, char *out);

/* "10.0.0.0/8", "::1"; without a length the one address; bits behind the length do not count. -EINVAL. */
int cidr_parse(const char *text, struct cidr *ret_cidr);

bool cidr_has(const struct cidr *cidr, const struct ip *ip);

#endif
