/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_value.c: sizes, times, counts, enumerations, booleans and modes, as
 * texts and as values. Pure functions; any thread.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "daemon/config_value.h"
#include "daemon/suggest.h"

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = { { "k", 1ull << 10 }, { "m", 1ull << 20 }, { "g", 1ull << 30 }, { NULL, 1 } };
static const struct unit time_units[] = {
	{ "us", 1000ull }, { "ms", 1000000ull }, { "s", 1000000000ull }, { "m", 60000000000ull }, { "h", 3600000000000ull }, { NULL, 1000000000ull },
};

/* What people write instead, and what they mean. */
static const struct {
	const char *wrong, *right;
} size_habits[] = {
	{ "kb", "k" }, { "kib", "k" }, { "mb", "m" }, { "mib", "m" }, { "gb", "g" }, { "gib", "g" },
}, time_habits[] = {
	{ "sec", "s" }, { "secs", "s" }, { "second", "s" }, { "seconds", "s" }, { "min", "m" }, { "mins", "m" }, { "minute", "m" }, { "minutes", "m" },
	{ "hour", "h" }, { "hours", "h" }, { "hr", "h" }, { "msec", "ms" }, { "millis", "ms" }, { "usec", "us" }, { "\xc2\xb5s", "us" },
};

__attribute__((format(printf, 3, 4)))
static int fail(struct value_error *error, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}

int value_parse_bool(const char *text, bool *ret_value, struct value_error *error)
{
	static const char *const words[2][4] = { { "off", "false", "no", "0" }, { "on", "true", "yes", "1" } };
	struct suggest suggest;

	for (unsigned truth = 0; truth < 2; truth++) {
		for (unsigned i = 0; i < 4; i++) {
			if (strcasecmp(text, words[truth][i]) == 0) {
				*ret_value = truth;
				return 0;
			}
		}
	}
	suggest_init(&suggest, text);
	for (unsigned i = 0; i < 3; i++) {
		suggest_offer(&suggest, words[1][i]);
		suggest_offer(&suggest, words[0][i]);
	}
	if (suggest.nearest && *text)
		return fail(error, -EINVAL, "'%.100s' is neither on nor off (did you mean '%s'?)", text, suggest.nearest);
	return fail(error, -EINVAL, "'%.100s' is neither on nor off (also true, false, yes, no, 1, 0)", text);
}

int value_parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *ret_value, struct value_error *error)
{
	uint64_t value = 0;
	const char *p = text;

	for (; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			value = UINT64_MAX;
		if (value == UINT64_MAX)
			break;
	}
	if (p == text || (*p && !isdigit((unsigned char)*p)))
		return fail(error, -EINVAL, "'%.100s' is not a whole number (%" PRIu64 " to %" PRIu64 ")", text, low, high);
	if (value < low || value > high)
		return fail(error, -ERANGE, "%.100s is out of range (%" PRIu64 " to %" PRIu64 ")", text, low, high);
	*ret_value = value;
	return 0;
}

/* Splits "1.5m" into digits of the number, digits behind the point and the unit. False: it does not begin with a number. */
static bool split_number(const char *text, uint64_t *ret_whole, uint64_t *ret_part, uint64_t *ret_scale, const char **ret_unit)
{
	uint64_t whole = 0, part = 0, scale = 1;
	const char *p = text;

	for (; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(whole, 10u, &whole) || __builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole))
			whole = UINT64_MAX / 10;
	}
	if (p == text)
		return false;
	if (*p == '.') {
		const char *point = p++;

		for (; isdigit((unsigned char)*p); p++) {
			if (scale < 1000000000u) {
				scale *= 10;
				part = part * 10 + (uint64_t)(*p - '0');
			}
		}
		if (p == point + 1)
			return false;
	}
	*ret_whole = whole;
	*ret_part = part;
	*ret_scale = scale;
	*ret_unit = p;
	return true;
}

static const struct unit *find_unit(const struct unit *units, const char *text, bool is_any_case)
{
	for (; units->name; units++) {
		if (is_any_case ? strcasecmp(units->name, text) == 0 : strcmp(units->name, text) == 0)
			return units;
	}
	return *text ? NULL : units;
}

static const char *meant_size(const char *text)
{
	for (size_t i = 0; i < sizeof(size_habits) / sizeof(*size_habits); i++) {
		if (strcasecmp(size_habits[i].wrong, text) == 0)
			return size_habits[i].right;
	}
	return NULL;
}

static const char *meant_time(const char *text)
{
	for (size_t i = 0; i < sizeof(time_habits) / sizeof(*time_habits); i++) {
		if (strcasecmp(time_habits[i].wrong, text) == 0)
			return time_habits[i].right;
	}
	for (const struct unit *unit = time_units; unit->name; unit++) {
		if (strcasecmp(unit->name, text) == 0)
			return unit->name;
	}
	return NULL;
}

static int scaled(uint64_t whole, uint64_t part, uint64_t scale, uint64_t factor, uint64_t *ret_value)
{
	unsigned __int128 value = (unsigned __int128)whole * factor + (unsigned __int128)part * factor / scale;

	if (value > UINT64_MAX)
		return -ERANGE;
	*ret_value = (uint64_t)value;
	return 0;
}

int value_parse_size(const char *text, uint64_t low, uint64_t high, uint64_t *ret_bytes, struct value_error *error)
{
	uint64_t whole, part, scale, value = 0;
	const char *unit_text;
	const struct unit *unit;
	char from[32], to[32];

	if (!split_number(text, &whole, &part, &scale, &unit_text))
		return fail(error, -EINVAL, "'%.100s' is not a size (a number of bytes, or with k, m or g: 16m)", text);
	unit = find_unit(size_units, unit_text, true);
	if (!unit) {
		const char *meant = meant_size(unit_text);

		if (meant)
			return fail(error, -EINVAL, "'%.100s': unknown unit '%.40s' (sizes take k, m, g; did you mean '%.*s%s'?)", text, unit_text,
				    (int)(unit_text - text), text, meant);
		return fail(error, -EINVAL, "'%.100s': unknown unit '%.40s' (sizes take k, m, g)", text, unit_text);
	}
	if (scaled(whole, part, scale, unit->factor, &value) < 0 || value < low || value > high)
		return fail(error, -ERANGE, "%.100s is out of range (%s to %s)", text, value_format_size(low, from), value_format_size(high, to));
	*ret_bytes = value;
	return 0;
}

int value_parse_time(const char *text, uint64_t low, uint64_t high, uint64_t *ret_ns, struct value_error *error)
{
	uint64_t whole, part, scale, value = 0;
	const char *unit_text;
	const struct unit *unit;
	char from[32], to[32];

	if (!split_number(text, &whole, &part, &scale, &unit_text))
		return fail(error, -EINVAL, "'%.100s' is not a time (a number with us, ms, s, m or h: 30s)", text);
	unit = find_unit(time_units, unit_text, false);
	if (!unit) {
		const char *meant = meant_time(unit_text);

		if (meant)
			return fail(error, -EINVAL, "'%.100s': unknown unit '%.40s' (times take us, ms, s, m, h; did you mean '%.*s%s'?)", text,
				    unit_text, (int)(unit_text - text), text, meant);
		return fail(error, -EINVAL, "'%.100s': unknown unit '%.40s' (times take us, ms, s, m, h)", text, unit_text);
	}
	if (scaled(whole, part, scale, unit->factor, &value) < 0 || value < low || value > high)
		return fail(error, -ERANGE, "%.100s%s is out of range (%s to %s)", text, *unit_text || !value ? "" : "s (without a unit: seconds)",
			    value_format_time(low, from), value_format_time(high, to));
	*ret_ns = value;
	return 0;
}

/* Copies the next of "a|b|c" and returns the rest, or NULL at the end. */
static const char *next_choice(const char *choices, char *buffer, size_t size)
{
	size_t len = strcspn(choices, "|");

	snprintf(buffer, size, "%.*s", (int)len, choices);
	return choices[len] ? choices + len + 1 : NULL;
}

static int find_choice(const char *text, const char *choices)
{
	char name[64];
	int index = 0;

	while (choices) {
		choices = next_choice(choices, name, sizeof(name));
		if (strcasecmp(name, text) == 0)
			return index;
		index++;
	}
	return -1;
}

int value_parse_enum(const char *text, const char *choices, int *ret_index, struct value_error *error)
{
	int index = find_choice(text, choices);
	struct value_error unused;
	struct suggest suggest;
	char names[8][24], list[8 * 26] = "";
	size_t count = 0;
	bool truth;

	if (index < 0 && find_choice("on", choices) >= 0 && value_parse_bool(text, &truth, &unused) == 0)
		index = find_choice(truth ? "on" : "off", choices);
	if (index >= 0) {
		*ret_index = index;
		return 0;
	}
	suggest_init(&suggest, text);
	for (const char *rest = choices; rest && count < 8; count++) {
		size_t len = strlen(list);

		rest = next_choice(rest, names[count], sizeof(names[count]));
		suggest_offer(&suggest, names[count]);
		snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "", names[count]);
	}
	if (suggest.nearest && *text)
		return fail(error, -EINVAL, "'%.100s' is none of %s (did you mean '%s'?)", text, list, suggest.nearest);
	return fail(error, -EINVAL, "'%.100s' is none of %s", text, list);
}

int value_parse_mode(const char *text, uint64_t high, int *ret_mode, struct value_error *error)
{
	uint64_t value = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '7' && value <= 07777; p++)
		value = value * 8 + (uint64_t)(*p - '0');
	if (p == text || *p)
		return fail(error, -EINVAL, "'%.100s' is not an octal number (0 to %" PRIo64 ")", text, high);
	if (value > high)
		return fail(error, -ERANGE, "%.100s is out of range (octal, 0 to %" PRIo64 ")", text, high);
	*ret_mode = (int)value;
	return 0;
}

static const char *format_unit(uint64_t value, const struct unit *units, size_t count, const char *smallest, char *buffer)
{
	if (value == 0)
		return strcpy(buffer, "0");
	for (size_t i = count; i-- > 0;) {
		if (value % units[i].factor == 0) {
			snprintf(buffer, 32, "%" PRIu64 "%s", value / units[i].factor, units[i].name);
			return buffer;
		}
	}
	snprintf(buffer, 32, "%" PRIu64 "%s", value, smallest);
	return buffer;
}

const char *value_format_size(uint64_t bytes, char *buffer)
{
	return format_unit(bytes, size_units, 3, "", buffer);
}

const char *value_format_time(uint64_t ns, char *buffer)
{
	return format_unit(ns, time_units, 5, "ns", buffer);
}

const char *value_format_enum(int index, const char *choices, char *buffer)
{
	strcpy(buffer, "?");
	while (choices) {
		char name[64];

		choices = next_choice(choices, name, sizeof(name));
		if (index-- == 0)
			return strcpy(buffer, name);
	}
	return buffer;
}
