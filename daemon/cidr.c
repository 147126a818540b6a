/* SPDX-License-Identifier: Apache-2.0 */
/* cidr.c: addresses, networks, membership. No state. */
#include "cidr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static const uint8_t mapped_prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

struct ip ip_make(uint8_t family, const uint8_t *bytes)
{
	struct ip ip = { .family = family };

	if (family == AF_INET6 && memcmp(bytes, mapped_prefix, sizeof(mapped_prefix)) == 0) {
		ip.family = AF_INET;
		bytes += sizeof(mapped_prefix);
	}
	memcpy(ip.bytes, bytes, ip.family == AF_INET ? 4 : 16);
	return ip;
}

int ip_parse(const char *text, size_t len, struct ip *ret_ip)
{
	char copy[IP_TEXT_MAX];
	uint8_t bytes[16];

	if (len == 0 || len >= sizeof(copy) || memchr(text, '\0', len) != NULL)
		return -EINVAL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (inet_pton(AF_INET, copy, bytes) == 1) {
		*ret_ip = ip_make(AF_INET, bytes);
		return 0;
	}
	if (inet_pton(AF_INET6, copy, bytes) == 1) {
		*ret_ip = ip_make(AF_INET6, bytes);
		return 0;
	}
	return -EINVAL;
}

size_t ip_format(const struct ip *ip, char *out)
{
	inet_ntop(ip->family, ip->bytes, out, IP_TEXT_MAX);
	return strlen(out);
}

/* Decimal up to 128, nothing else around it. */
static int parse_bits(const char *text, unsigned *ret_bits)
{
	unsigned bits = 0;

	if (*text == '\0')
		return -EINVAL;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		bits = bits * 10 + (unsigned)(*text - '0');
		if (bits > 128)
			return -EINVAL;
	}
	*ret_bits = bits;
	return 0;
}

int cidr_parse(const char *text, struct cidr *ret_cidr)
{
	const char *slash = strchrnul(text, '/');
	size_t len = (size_t)(slash - text);
	struct cidr cidr;
	unsigned bits;

	if (ip_parse(text, len, &cidr.net) < 0)
		return -EINVAL;
	cidr.bits = cidr.net.family == AF_INET ? 32 : 128;
	if (*slash == '/') {
		if (parse_bits(slash + 1, &bits) < 0)
			return -EINVAL;
		/* ::ffff:10.0.0.0/104 is 10.0.0.0/8. */
		if (cidr.net.family == AF_INET && memchr(text, ':', len) != NULL) {
			if (bits < 96)
				return -EINVAL;
			bits -= 96;
		}
		if (bits > cidr.bits)
			return -EINVAL;
		cidr.bits = bits;
	}
	*ret_cidr = cidr;
	return 0;
}

bool cidr_has(const struct cidr *cidr, const struct ip *ip)
{
	unsigned whole = cidr->bits / 8;
	unsigned rest = cidr->bits % 8;

	if (cidr->net.family != ip->family || memcmp(cidr->net.bytes, ip->bytes, whole) != 0)
		return false;
	return rest == 0 || ((cidr->net.bytes[whole] ^ ip->bytes[whole]) >> (8 - rest)) == 0;
}
