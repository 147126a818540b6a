/* SPDX-License-Identifier: Apache-2.0 */
/* respond_field.h: is a header field of the application legal, and which ones are the server's business. Pure; any thread. */
#ifndef RINGTAIL_RESPOND_FIELD_H
#define RINGTAIL_RESPOND_FIELD_H

#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_OTHER,
	FIELD_CONTENT_LENGTH,
	FIELD_DATE,
	FIELD_SERVER,
	FIELD_HOP, /* hop-by-hop: the server's alone */
};

/* 0, -EINVAL: the name is no token (RFC 9110 5.6.2), -EILSEQ: the value has a control byte other than HT. */
int respond_field_check(const char *name, size_t name_len, const char *value, size_t value_len);

enum field_kind respond_field_kind(const char *name, size_t name_len);

/* Content-Length: digits, white space around them. -EBADMSG: not that, or beyond INT64_MAX. */
int respond_field_length(const char *value, size_t len, uint64_t *ret_length);

#endif
