/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_log_format.h: the text with $variables of access-log-format, compiled
 * to a list of pieces. The variables are those of access_variables.def. Start-up;
 * read-only afterwards.
 */
#ifndef RINGTAIL_ACCESS_LOG_FORMAT_H
#define RINGTAIL_ACCESS_LOG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

enum access_variable {
	ACCESS_LITERAL, /* text as it is */
	ACCESS_HTTP,    /* text: name of a request field */
	ACCESS_SENT,    /* text: name of a response field */
#define VARIABLE(name, is_number, help) ACCESS_##name,
#include "access_variables.def"
	ACCESS_VARIABLE_COUNT,
};

struct access_piece {
	enum access_variable variable;
	bool is_number;
	size_t len;
	char *text;
};

struct access_format {
	struct access_piece *pieces;
	size_t count;
	bool is_json;      /* escape for JSON strings */
	bool needs_sent;   /* names $sent_http_ */
};

/*
 * source: "common", "combined", "json", or a text, which "escape=json " may precede. 0; -EINVAL or -ENOMEM: *ret_error is the
 * reason, static memory.
 */
int access_format_compile(const char *source, struct access_format *ret_format, const char **ret_error);

/* The text of common, combined or json; NULL: it is none of these names. */
const char *access_format_source(const char *name);

void access_format_done(struct access_format *format);

#endif
