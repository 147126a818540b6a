/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_log_format.h: the text with $variables of access-log-format, compiled
 * to a list of pieces. Start-up; read-only afterwards.
 */
#ifndef RINGTAIL_ACCESS_LOG_FORMAT_H
#define RINGTAIL_ACCESS_LOG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* name, whether it is a number (JSON: null when absent, not "") */
#define ACCESS_VARIABLES(X) \
	X(args, false) \
	X(body_bytes_sent, true) \
	X(bytes_sent, true) \
	X(close_reason, false) \
	X(connection, true) \
	X(connection_requests, true) \
	X(gil_wait_us, true) \
	X(handler, true) \
	X(host, false) \
	X(msec, true) \
	X(pid, true) \
	X(query_string, false) \
	X(read_us, true) \
	X(remote_addr, false) \
	X(remote_port, false) \
	X(remote_user, false) \
	X(request, false) \
	X(request_id, false) \
	X(request_length, true) \
	X(request_method, false) \
	X(request_time, true) \
	X(request_uri, false) \
	X(return_wait_us, true) \
	X(ring_wait_us, true) \
	X(scheme, false) \
	X(send_us, true) \
	X(server_addr, false) \
	X(server_port, false) \
	X(server_protocol, false) \
	X(service_us, true) \
	X(status, true) \
	X(time_iso8601, false) \
	X(time_local, false) \
	X(trace_id, false) \
	X(uri, false)

enum access_variable {
	ACCESS_LITERAL, /* text as it is */
	ACCESS_HTTP,    /* text: name of a request field */
	ACCESS_SENT,    /* text: name of a response field */
#define X(name, is_number) ACCESS_##name,
	ACCESS_VARIABLES(X)
#undef X
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

void access_format_done(struct access_format *format);

#endif
