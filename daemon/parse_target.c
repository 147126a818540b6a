/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_target.c: target forms, Host values, percent-decoding. No state.
 *
 * Dot segments and double slashes are left alone, as WSGI servers do: the
 * application sees the path that the client sent.
 */
#include "parse_target.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* unreserved and sub-delims of RFC 3986: all that a reg-name has beside escapes. */
static const bool is_name_char[256] = {
	['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['0' ... '9'] = true,
	['-'] = true, ['.'] = true, ['_'] = true, ['~'] = true,
	['!'] = true, ['$'] = true, ['&'] = true, ['\''] = true, ['('] = true, [')'] = true,
	['*'] = true, ['+'] = true, [','] = true, [';'] = true, ['='] = true,
};

static int hex_value(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static bool is_escape(const char *text, size_t left)
{
	return left >= 3 && hex_value((unsigned char)text[1]) >= 0 && hex_value((unsigned char)text[2]) >= 0;
}

static bool port_is_legal(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return true;
}

/* IP-literal: the address's own grammar is left to whoever connects to it; here only its alphabet counts. */
static bool literal_is_legal(const char *text, size_t len)
{
	if (len == 0)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_name_char[(unsigned char)text[i]] && text[i] != ':')
			return false;
	return true;
}

bool target_host_is_legal(const char *text, size_t len)
{
	size_t i = 0;

	if (len > 0 && text[0] == '[') {
		const char *end = memchr(text, ']', len);

		if (end == NULL || !literal_is_legal(text + 1, (size_t)(end - text) - 1))
			return false;
		i = (size_t)(end - text) + 1;
		if (i < len && text[i] != ':')
			return false;
	} else {
		while (i < len && text[i] != ':') {
			if (is_name_char[(unsigned char)text[i]])
				i++;
			else if (text[i] == '%' && is_escape(text + i, len - i))
				i += 3;
			else
				return false;
		}
	}
	if (i == len)
		return true;
	return port_is_legal(text + i + 1, len - i - 1);
}

static void split_query(const char *text, size_t start, size_t len, struct target *target)
{
	const char *mark = memchr(text + start, '?', len - start);

	target->path = start;
	if (mark == NULL) {
		target->path_len = len - start;
		return;
	}
	target->path_len = (size_t)(mark - text) - start;
	target->query = (size_t)(mark - text) + 1;
	target->query_len = len - target->query;
}

/* http or https in any case (RFC 3986 3.1). The length of "scheme://", 0 = another one. */
static size_t scheme_len(const char *text, size_t len)
{
	if (len >= 7 && strncasecmp(text, "http://", 7) == 0)
		return 7;
	if (len >= 8 && strncasecmp(text, "https://", 8) == 0)
		return 8;
	return 0;
}

int target_parse(const char *text, size_t len, bool is_options, struct target *ret_target)
{
	struct target target = { .form = TARGET_ORIGIN };
	size_t start, end;

	if (len == 0)
		return -EINVAL;
	if (text[0] == '/') {
		split_query(text, 0, len, &target);
		*ret_target = target;
		return 0;
	}
	if (text[0] == '*') {
		if (len != 1 || !is_options)
			return -EINVAL;
		target.form = TARGET_ASTERISK;
		*ret_target = target;
		return 0;
	}
	start = scheme_len(text, len);
	if (start == 0)
		return -EINVAL;
	for (end = start; end < len && text[end] != '/' && text[end] != '?'; end++)
		continue;
	/* RFC 9110 4.2.1: an http URI without a host is invalid; 4.2.4: so is one with userinfo ('@' is no host byte). */
	if (end == start || text[start] == ':' || !target_host_is_legal(text + start, end - start))
		return -EINVAL;
	target.form = TARGET_ABSOLUTE;
	target.authority = start;
	target.authority_len = end - start;
	split_query(text, end, len, &target);
	*ret_target = target;
	return 0;
}

size_t target_decode(char *out, const char *text, size_t len)
{
	size_t used = 0;
	size_t i = 0;

	while (i < len) {
		if (text[i] == '%' && is_escape(text + i, len - i)) {
			out[used++] = (char)(hex_value((unsigned char)text[i + 1]) << 4 |
					     hex_value((unsigned char)text[i + 2]));
			i += 3;
		} else {
			out[used++] = text[i++];
		}
	}
	return used;
}
