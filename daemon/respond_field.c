/* SPDX-License-Identifier: Apache-2.0 */
/* respond_field.c: the tables behind respond_field.h. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "respond_field.h"

/* RFC 9110 5.6.2: tchar. */
static const bool is_tchar[256] = {
	['!'] = true, ['#'] = true, ['$'] = true, ['%'] = true, ['&'] = true, ['\''] = true, ['*'] = true, ['+'] = true,
	['-'] = true, ['.'] = true, ['^'] = true, ['_'] = true, ['`'] = true, ['|'] = true, ['~'] = true,
	['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true,
};

/* RFC 9110 5.5: HT, SP, VCHAR, obs-text. */
static const bool is_control[256] = {
	[0 ... 8] = true, [10 ... 31] = true, [127] = true,
};

static const struct special {
	const char *name;
	unsigned char len;
	unsigned char kind;
} specials[] = {
	{ "te", 2, FIELD_HOP },
	{ "date", 4, FIELD_DATE },
	{ "server", 6, FIELD_SERVER },
	{ "trailer", 7, FIELD_HOP },
	{ "upgrade", 7, FIELD_HOP },
	{ "trailers", 8, FIELD_HOP }, /* so called by wsgiref and RFC 2616's list */
	{ "connection", 10, FIELD_HOP },
	{ "keep-alive", 10, FIELD_HOP },
	{ "content-length", 14, FIELD_CONTENT_LENGTH },
	{ "proxy-connection", 16, FIELD_HOP },
	{ "transfer-encoding", 17, FIELD_HOP },
	{ "proxy-authenticate", 18, FIELD_HOP },
	{ "proxy-authorization", 19, FIELD_HOP },
};

/* Lengths that occur above: most names are told apart by this alone. */
#define SPECIAL_LENGTHS \
	(1u << 2 | 1u << 4 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 10 | 1u << 14 | 1u << 16 | 1u << 17 | 1u << 18 | 1u << 19)

#define ALL(byte) (0x0101010101010101ull * (byte))

/* May say true of eight bytes that have no control byte but HT; never false of eight that have one. */
static inline bool may_have_control(const char *bytes)
{
	uint64_t word, del;

	memcpy(&word, bytes, 8);
	del = word ^ ALL(0x7f);
	return (((word - ALL(0x20)) & ~word) | ((del - ALL(0x01)) & ~del)) & ALL(0x80);
}

int respond_field_check(const char *name, size_t name_len, const char *value, size_t value_len)
{
	size_t at = 0;

	if (name_len == 0)
		return -EINVAL;
	for (size_t i = 0; i < name_len; i++)
		if (!is_tchar[(unsigned char)name[i]])
			return -EINVAL;
	while (value_len - at >= 8 && !may_have_control(value + at))
		at += 8;
	for (; at < value_len; at++)
		if (is_control[(unsigned char)value[at]])
			return -EILSEQ;
	return 0;
}

/* Any case. */
static bool is_same(const char *name, const char *lower, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c | 0x20);
		if (c != lower[i])
			return false;
	}
	return true;
}

enum field_kind respond_field_kind(const char *name, size_t name_len)
{
	if (name_len > 19 || !(SPECIAL_LENGTHS >> name_len & 1))
		return FIELD_OTHER;
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (specials[i].len == name_len && is_same(name, specials[i].name, name_len))
			return (enum field_kind)specials[i].kind;
	return FIELD_OTHER;
}

int respond_field_length(const char *value, size_t len, uint64_t *ret_length)
{
	uint64_t length = 0;

	while (len && (value[0] == ' ' || value[0] == '\t')) {
		value++;
		len--;
	}
	while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		len--;
	if (len == 0)
		return -EBADMSG;
	for (size_t i = 0; i < len; i++) {
		if (value[i] < '0' || value[i] > '9')
			return -EBADMSG;
		if (length > ((uint64_t)INT64_MAX - (uint64_t)(value[i] - '0')) / 10)
			return -EBADMSG;
		length = 10 * length + (uint64_t)(value[i] - '0');
	}
	*ret_length = length;
	return 0;
}
