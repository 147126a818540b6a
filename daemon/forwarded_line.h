/* SPDX-License-Identifier: Apache-2.0 */
/* forwarded_line.h: one Forwarded field value (RFC 7239 section 4) taken apart. Pure functions, any thread. */
#ifndef RINGTAIL_FORWARDED_LINE_H
#define RINGTAIL_FORWARDED_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* A value as it stands in the line, without its quotes; is_escaped: it has quoted pairs, see forwarded_unescape. */
struct forwarded_value {
	const char *ptr; /* NULL = not given */
	size_t len;
	bool is_escaped;
};

struct forwarded_element {
	struct forwarded_value node; /* for= */
	struct forwarded_value by;
	struct forwarded_value host;
	struct forwarded_value proto;
};

/*
 * The elements of the line, the last cap of them: element i of n is in ring[i % cap]. Returns n >= 0, or -EINVAL when the
 * line breaks the grammar anywhere: with quotes open somewhere no part of it can be told from another.
 */
int forwarded_line_parse(const char *line, size_t len, struct forwarded_element *ring, size_t cap);

/* Copies a value without the backslashes of its quoted pairs; out has value.len bytes. Returns the length. */
size_t forwarded_unescape(struct forwarded_value value, char *out);

#endif
