/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_value.h: texts to values and back. Pure; no option is known here.
 *
 * Each function returns 0, or -EINVAL (not such a value) or -ERANGE after
 * having written into error what is wrong and what is valid; ret_x stays
 * untouched on failure.
 */
#ifndef RINGTAIL_CONFIG_VALUE_H
#define RINGTAIL_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUE_ERROR_MAX 512

struct value_error {
	char text[VALUE_ERROR_MAX];
};

/* on, off, true, false, yes, no, 1, 0, in any case. */
int value_parse_bool(const char *text, bool *ret_value, struct value_error *error);

/* Decimal digits only. */
int value_parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *ret_value, struct value_error *error);

/* Bytes: a number, decimals allowed, with k, m or g (1024, 1024^2, 1024^3; any case) or none. */
int value_parse_size(const char *text, uint64_t low, uint64_t high, uint64_t *ret_bytes, struct value_error *error);

/* A number, decimals allowed, with us, ms, s, m or h; without unit: seconds. */
int value_parse_time(const char *text, uint64_t low, uint64_t high, uint64_t *ret_ns, struct value_error *error);

/* One of "a|b|c": its position. on and off may also be written as a bool is. */
int value_parse_enum(const char *text, const char *choices, int *ret_index, struct value_error *error);

/* Octal digits. */
int value_parse_mode(const char *text, uint64_t high, int *ret_mode, struct value_error *error);

/* The shortest exact form: "16m", "200us", "0". buffer holds 32 bytes and is returned. */
const char *value_format_size(uint64_t bytes, char *buffer);
const char *value_format_time(uint64_t ns, char *buffer);

/* The index-th of "a|b|c" into buffer (64 bytes), which is returned; "?" beyond the last. */
const char *value_format_enum(int index, const char *choices, char *buffer);

#endif
