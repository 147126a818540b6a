/* SPDX-License-Identifier: Apache-2.0 */
/* forwarded_line.c: the grammar of Forwarded; white space is allowed around ';' too, as proxies write it. No state. */
#include "forwarded_line.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

struct cursor {
	const char *at;
	const char *end;
};

static bool is_token_char(unsigned char c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	return c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

static void skip_space(struct cursor *cursor)
{
	while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
		cursor->at++;
}

static bool is_next(const struct cursor *cursor, char c)
{
	return cursor->at < cursor->end && *cursor->at == c;
}

static bool read_token(struct cursor *cursor, struct forwarded_value *ret_value)
{
	const char *start = cursor->at;

	while (cursor->at < cursor->end && is_token_char((unsigned char)*cursor->at))
		cursor->at++;
	*ret_value = (struct forwarded_value){ start, (size_t)(cursor->at - start), false };
	return cursor->at > start;
}

/* Behind the opening quote. */
static bool read_quoted(struct cursor *cursor, struct forwarded_value *ret_value)
{
	const char *start = cursor->at;
	bool is_escaped = false;

	for (; cursor->at < cursor->end && *cursor->at != '"'; cursor->at++) {
		if (*cursor->at == '\\') {
			is_escaped = true;
			if (++cursor->at == cursor->end)
				return false;
		}
	}
	if (cursor->at == cursor->end)
		return false;
	*ret_value = (struct forwarded_value){ start, (size_t)(cursor->at - start), is_escaped };
	cursor->at++;
	return true;
}

static struct forwarded_value *member_of(struct forwarded_element *element, struct forwarded_value name)
{
	if (name.len == 3 && strncasecmp(name.ptr, "for", 3) == 0)
		return &element->node;
	if (name.len == 2 && strncasecmp(name.ptr, "by", 2) == 0)
		return &element->by;
	if (name.len == 4 && strncasecmp(name.ptr, "host", 4) == 0)
		return &element->host;
	if (name.len == 5 && strncasecmp(name.ptr, "proto", 5) == 0)
		return &element->proto;
	return NULL;
}

static bool read_pair(struct cursor *cursor, struct forwarded_element *element)
{
	struct forwarded_value name, value;
	struct forwarded_value *member;

	if (!read_token(cursor, &name) || !is_next(cursor, '='))
		return false;
	cursor->at++;
	if (is_next(cursor, '"')) {
		cursor->at++;
		if (!read_quoted(cursor, &value))
			return false;
	} else if (!read_token(cursor, &value)) {
		return false;
	}
	member = member_of(element, name);
	if (member == NULL)
		return true; /* an extension (RFC 7239 5.5) */
	if (member->ptr != NULL)
		return false; /* section 4: each parameter at most once an element */
	*member = value;
	return true;
}

/* Up to ',' or the end. */
static bool read_element(struct cursor *cursor, struct forwarded_element *element)
{
	for (;;) {
		skip_space(cursor);
		if (cursor->at < cursor->end && *cursor->at != ';' && *cursor->at != ',' && !read_pair(cursor, element))
			return false;
		skip_space(cursor);
		if (!is_next(cursor, ';'))
			break;
		cursor->at++;
	}
	return cursor->at == cursor->end || *cursor->at == ',';
}

int forwarded_line_parse(const char *line, size_t len, struct forwarded_element *ring, size_t cap)
{
	struct cursor cursor = { line, line + len };
	int count = 0;

	if (len > INT_MAX / 2)
		return -EINVAL;
	while (cursor.at < cursor.end) {
		struct forwarded_element element = { 0 };

		skip_space(&cursor);
		if (is_next(&cursor, ',')) {
			cursor.at++; /* an empty list element (RFC 9110 5.6.1) */
			continue;
		}
		if (cursor.at == cursor.end)
			break;
		if (!read_element(&cursor, &element))
			return -EINVAL;
		ring[(size_t)count % cap] = element;
		count++;
		if (is_next(&cursor, ','))
			cursor.at++;
	}
	return count;
}

size_t forwarded_unescape(struct forwarded_value value, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < value.len; i++) {
		if (value.is_escaped && value.ptr[i] == '\\')
			i++;
		out[used++] = value.ptr[i];
	}
	return used;
}
