/* SPDX-License-Identifier: Apache-2.0 */
/* parse_field.h: fields that HTTP itself gives a meaning: Host, Connection, Transfer-Encoding, Expect. Loop thread. */
#ifndef RINGTAIL_PARSE_FIELD_H
#define RINGTAIL_PARSE_FIELD_H

#include <stddef.h>

#include "parse.h"

/* Takes note of one field. NULL, or why the request is malformed (static text). */
const char *parse_field_look(struct parse *parse, const char *name, size_t name_len, const char *value, size_t value_len);

/*
 * All fields are seen: sets is_keepalive, is_chunked, has_content_length, content_length and expects_continue of the
 * request, or returns why it is refused.
 */
enum parse_refusal parse_field_judge(struct parse *parse, const char **ret_detail);

#endif
