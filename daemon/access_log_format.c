/* SPDX-License-Identifier: Apache-2.0 */
/* access_log_format.c: see access_log_format.h. The named formats are texts like any other. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access_log_format.h"
#include "suggest.h"

#define COMMON "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent"
#define COMBINED COMMON " \"$http_referer\" \"$http_user_agent\""
#define JSON_ESCAPE "escape=json "
#define JSON JSON_ESCAPE \
	"{\"time\":\"$time_iso8601\",\"remote_addr\":\"$remote_addr\",\"request_id\":\"$request_id\",\"method\":\"$request_method\"," \
	"\"uri\":\"$request_uri\",\"protocol\":\"$server_protocol\",\"host\":\"$host\",\"status\":$status," \
	"\"request_length\":$request_length,\"bytes_sent\":$bytes_sent,\"body_bytes_sent\":$body_bytes_sent," \
	"\"request_time\":$request_time,\"referer\":\"$http_referer\",\"user_agent\":\"$http_user_agent\"," \
	"\"trace_id\":\"$trace_id\",\"connection\":$connection,\"connection_requests\":$connection_requests," \
	"\"read_us\":$read_us,\"ring_wait_us\":$ring_wait_us,\"gil_wait_us\":$gil_wait_us,\"service_us\":$service_us," \
	"\"return_wait_us\":$return_wait_us,\"send_us\":$send_us}"

static const struct {
	const char *name;
	bool is_number;
} variables[] = {
#define VARIABLE(name, is_number, help) [ACCESS_##name] = { #name, is_number },
#include "access_variables.def"
};

static const struct {
	const char *name, *source;
} named[] = {
	{ "common", COMMON },
	{ "combined", COMBINED },
	{ "json", JSON },
};

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static int add(struct access_format *format, enum access_variable variable, const char *text, size_t len)
{
	struct access_piece *last = format->count ? &format->pieces[format->count - 1] : NULL, *pieces;
	char *copy;

	if (variable == ACCESS_LITERAL && last && last->variable == ACCESS_LITERAL) {
		copy = realloc(last->text, last->len + len + 1);
		if (!copy)
			return -ENOMEM;
		memcpy(copy + last->len, text, len);
		last->text = copy;
		last->len += len;
		return 0;
	}
	pieces = realloc(format->pieces, (format->count + 1) * sizeof(*pieces));
	if (!pieces)
		return -ENOMEM;
	format->pieces = pieces;
	copy = malloc(len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	copy[len] = '\0';
	pieces[format->count++] = (struct access_piece) {
		.variable = variable,
		.is_number = variable > ACCESS_SENT && variables[variable].is_number,
		.text = copy,
		.len = len,
	};
	return 0;
}

static int add_field(struct access_format *format, enum access_variable variable, const char *name, size_t len)
{
	struct access_piece *piece;
	int r = add(format, variable, name, len);

	if (r < 0)
		return r;
	/* http_user_agent is User-Agent; fields named with '_' do not get here (SPEC 3). */
	piece = &format->pieces[format->count - 1];
	for (size_t i = 0; i < len; i++)
		if (piece->text[i] == '_')
			piece->text[i] = '-';
	if (variable == ACCESS_SENT)
		format->needs_sent = true;
	return 0;
}

static int refuse(const char **ret_error, const char *wrong, const char *nearest)
{
	static char error[192]; /* start-up, one thread */

	if (nearest)
		snprintf(error, sizeof(error), "unknown variable $%s; the nearest is $%s", wrong, nearest);
	else
		snprintf(error, sizeof(error), "unknown variable $%s; ringtail(1) lists those there are", wrong);
	*ret_error = error;
	return -EINVAL;
}

static int add_variable(struct access_format *format, const char *name, size_t len, const char **ret_error)
{
	struct suggest suggest;
	char wrong[64];

	if (len > 5 && strncmp(name, "http_", 5) == 0)
		return add_field(format, ACCESS_HTTP, name + 5, len - 5);
	if (len > 10 && strncmp(name, "sent_http_", 10) == 0)
		return add_field(format, ACCESS_SENT, name + 10, len - 10);
	for (unsigned i = ACCESS_SENT + 1; i < ACCESS_VARIABLE_COUNT; i++)
		if (strlen(variables[i].name) == len && memcmp(variables[i].name, name, len) == 0)
			return add(format, (enum access_variable)i, "", 0);

	snprintf(wrong, sizeof(wrong), "%.*s", (int)len, name);
	suggest_init(&suggest, wrong);
	for (unsigned i = ACCESS_SENT + 1; i < ACCESS_VARIABLE_COUNT; i++)
		suggest_offer(&suggest, variables[i].name);
	return refuse(ret_error, wrong, suggest.nearest);
}

static int compile(const char *at, struct access_format *format, const char **ret_error)
{
	bool has_variable = false;

	while (*at) {
		size_t len = strcspn(at, "$"), closing = 0;
		int r;

		if (len) {
			r = add(format, ACCESS_LITERAL, at, len);
			at += len;
		} else if (at[1] == '$') {
			r = add(format, ACCESS_LITERAL, "$", 1);
			at += 2;
		} else {
			at++;
			if (*at == '{') {
				at++;
				closing = 1;
			}
			while (is_name_byte(at[len]))
				len++;
			if (len == 0) {
				*ret_error = "a $ without a name behind it; write $$ for the character";
				return -EINVAL;
			}
			if (closing && at[len] != '}') {
				*ret_error = "a ${ without its }";
				return -EINVAL;
			}
			r = add_variable(format, at, len, ret_error);
			at += len + closing;
			has_variable = true;
		}
		if (r < 0)
			return r;
	}
	if (!has_variable) {
		*ret_error = "neither common, combined, json nor a text with $variables";
		return -EINVAL;
	}
	return 0;
}

const char *access_format_source(const char *name)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (strcmp(name, named[i].name) == 0)
			return named[i].source;
	}
	return NULL;
}

int access_format_compile(const char *source, struct access_format *ret_format, const char **ret_error)
{
	struct access_format format = { 0 };
	const char *error = "out of memory", *known = access_format_source(source);
	int r;

	if (known)
		source = known;
	if (strncmp(source, JSON_ESCAPE, sizeof(JSON_ESCAPE) - 1) == 0) {
		format.is_json = true;
		source += sizeof(JSON_ESCAPE) - 1;
	}
	r = compile(source, &format, &error);
	if (r == 0)
		r = add(&format, ACCESS_LITERAL, "\n", 1);
	if (r < 0) {
		access_format_done(&format);
		*ret_error = error;
		return r;
	}
	*ret_format = format;
	return 0;
}

void access_format_done(struct access_format *format)
{
	for (size_t i = 0; i < format->count; i++)
		free(format->pieces[i].text);
	free(format->pieces);
	*format = (struct access_format) { 0 };
}
