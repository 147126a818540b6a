/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_target.h: what stands in a request line's target (RFC 9112 3.2) and in
 * a Host field, taken apart and decoded. Pure functions of bytes, any thread,
 * no memory of their own.
 */
#ifndef RINGTAIL_PARSE_TARGET_H
#define RINGTAIL_PARSE_TARGET_H

#include <stdbool.h>
#include <stddef.h>

enum target_form {
	TARGET_ORIGIN,   /* /path?query */
	TARGET_ABSOLUTE, /* http://host/path?query */
	TARGET_ASTERISK, /* *, for OPTIONS only */
};

/* Offsets into the target; a part that is not there has length 0. */
struct target {
	enum target_form form;
	size_t authority, authority_len; /* TARGET_ABSOLUTE: host[:port], legal as a Host field and not empty */
	size_t path, path_len;           /* still encoded; TARGET_ABSOLUTE: may be empty, which means "/" */
	size_t query, query_len;         /* without '?' */
};

/*
 * The target is free of control bytes, spaces and '#' (parse.c has seen to it). 0, or -EINVAL: none of the forms that a
 * server which is no proxy answers. ret_target is filled only with 0.
 */
int target_parse(const char *text, size_t len, bool is_options, struct target *ret_target);

/* RFC 3986 host [":" port] as RFC 9110 7.2 wants it in Host; the empty value is legal. */
bool target_host_is_legal(const char *text, size_t len);

/*
 * Percent-decodes len bytes once into out (room for len bytes) and returns the number written. As WSGI servers and
 * Python's unquote do: what is no escape ("%zz", "%") stays as it is, %00 and %2F decode like all others.
 */
size_t target_decode(char *out, const char *text, size_t len);

#endif
