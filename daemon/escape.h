/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.h: foreign bytes made harmless for a log line. Pure; any thread.
 * Each returns the number of bytes written to dst, which has room for the
 * worst case: ESCAPE_TEXT_MAX or ESCAPE_JSON_MAX bytes for one of src.
 */
#ifndef RINGTAIL_ESCAPE_H
#define RINGTAIL_ESCAPE_H

#include <stddef.h>

#define ESCAPE_TEXT_MAX 4u
#define ESCAPE_JSON_MAX 6u

/* Access log, as nginx's default: control bytes, '"', '\', DEL and bytes beyond ASCII become \xHH. */
size_t escape_field(char *dst, const char *src, size_t len);

/*
 * Error log: control bytes become \xHH, UTF-8 stays, a byte that is none becomes \xHH. keep_lines: newlines and tabs stay
 * (tracebacks).
 */
size_t escape_message(char *dst, const char *src, size_t len, int keep_lines);

/* Inside of a JSON string. A byte that is not UTF-8 is taken for latin-1. */
size_t escape_json(char *dst, const char *src, size_t len);

#endif
