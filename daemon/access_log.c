/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_log.c: makes one line a request. Loop thread but for the start. The
 * line is built in one buffer that grows to what is needed and is kept; the
 * log's writer copies it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "access_log.h"
#include "access_log_format.h"
#include "config.h"
#include "escape.h"
#include "lib/clock.h"
#include "log_writer.h"
#include "request.h"
#include "stages.h"

#define NUMBER_MAX 24u /* digits of any number, with sign or fraction */
#define STATUS_CLIENT_CLOSED 499u

static struct access_format format;
static bool is_on;
static char *line;
static size_t line_len, line_cap;

static bool is_given(const char *where)
{
	return where && *where && strcmp(where, "off") != 0;
}

int access_log_start(const struct config *config, const char **ret_error)
{
	const char *source = config->access_log_format && *config->access_log_format ? config->access_log_format : "combined";
	struct access_format compiled;
	int r;

	/* A format that is wrong is told even while the log is off. */
	r = access_format_compile(source, &compiled, ret_error);
	if (r < 0)
		return -EINVAL;
	access_format_done(&format);
	format = compiled;
	is_on = is_given(config->access_log);
	return 0;
}

bool access_log_is_on(void)
{
	return is_on;
}

bool access_log_needs_sent_head(void)
{
	return is_on && format.needs_sent;
}

/* Room behind line_len; what does not get memory is left out of the line. */
static bool reserve(size_t len)
{
	size_t cap = line_cap ? line_cap : 1024;
	char *grown;

	if (len <= line_cap - line_len)
		return true;
	while (cap - line_len < len)
		cap *= 2;
	grown = realloc(line, cap);
	if (!grown)
		return false;
	line = grown;
	line_cap = cap;
	return true;
}

static void put_raw(const char *text, size_t len)
{
	if (!reserve(len))
		return;
	memcpy(line + line_len, text, len);
	line_len += len;
}

static void put_absent(bool is_number)
{
	if (!format.is_json)
		put_raw("-", 1);
	else if (is_number)
		put_raw("null", 4);
}

/* A part of what was received, or sent by the application. */
static void put_text(const char *text, size_t len)
{
	if (len == 0) {
		put_absent(false);
		return;
	}
	if (!reserve(len * (format.is_json ? ESCAPE_JSON_MAX : ESCAPE_TEXT_MAX)))
		return;
	line_len += format.is_json ? escape_json(line + line_len, text, len) : escape_field(line + line_len, text, len);
}

static void put_number(uint64_t value)
{
	char digits[NUMBER_MAX];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	put_raw(digits + at, sizeof(digits) - at);
}

/* value / 1000 with three digits behind the point. */
static void put_thousandths(uint64_t value)
{
	char fraction[4] = { '.', (char)('0' + value / 100 % 10), (char)('0' + value / 10 % 10), (char)('0' + value % 10) };

	put_number(value / 1000);
	put_raw(fraction, sizeof(fraction));
}

/* Both forms of the present second, made once a second. */
static struct {
	time_t second;
	char local[32], iso[32];
	size_t local_len, iso_len;
} stamp;

static char *put_two(char *at, int value)
{
	*at++ = (char)('0' + value / 10 % 10);
	*at++ = (char)('0' + value % 10);
	return at;
}

static void refresh_stamp(void)
{
	/* Names of the C locale: an application may set another one. */
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct timespec now;
	struct tm tm;
	long offset;
	char *at;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (now.tv_sec == stamp.second && stamp.local_len)
		return;
	stamp.second = now.tv_sec;
	localtime_r(&now.tv_sec, &tm);
	offset = labs(tm.tm_gmtoff) / 60;

	at = put_two(stamp.local, tm.tm_mday);
	*at++ = '/';
	at = mempcpy(at, months + 3 * tm.tm_mon, 3);
	*at++ = '/';
	at = put_two(at, (tm.tm_year + 1900) / 100);
	at = put_two(at, tm.tm_year + 1900);
	*at++ = ':';
	at = put_two(at, tm.tm_hour);
	*at++ = ':';
	at = put_two(at, tm.tm_min);
	*at++ = ':';
	at = put_two(at, tm.tm_sec);
	*at++ = ' ';
	*at++ = tm.tm_gmtoff < 0 ? '-' : '+';
	at = put_two(at, (int)(offset / 60));
	at = put_two(at, (int)(offset % 60));
	stamp.local_len = (size_t)(at - stamp.local);

	at = put_two(stamp.iso, (tm.tm_year + 1900) / 100);
	at = put_two(at, tm.tm_year + 1900);
	*at++ = '-';
	at = put_two(at, tm.tm_mon + 1);
	*at++ = '-';
	at = put_two(at, tm.tm_mday);
	*at++ = 'T';
	at = put_two(at, tm.tm_hour);
	*at++ = ':';
	at = put_two(at, tm.tm_min);
	*at++ = ':';
	at = put_two(at, tm.tm_sec);
	*at++ = tm.tm_gmtoff < 0 ? '-' : '+';
	at = put_two(at, (int)(offset / 60));
	*at++ = ':';
	at = put_two(at, (int)(offset % 60));
	stamp.iso_len = (size_t)(at - stamp.iso);
}

static void put_msec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	put_thousandths((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
}

static void put_remote_addr(const struct request *req)
{
	if (req->client_addr.len)
		put_text(req->client_addr.ptr, req->client_addr.len);
	else if (req->peer && req->peer->addr_len)
		put_text(req->peer->addr, req->peer->addr_len);
	else if (req->peer && req->peer->family == AF_UNIX)
		put_raw("unix:", 5);
	else
		put_absent(false);
}

static void put_port(const struct request *req, const struct endpoint *end)
{
	if (end == req->peer && req->client_addr.len) {
		/* The port that belongs to that address; a proxy may not have told it. */
		if (req->client_port.len)
			put_text(req->client_port.ptr, req->client_port.len);
		else
			put_absent(false);
	} else if (end && end->port_len) {
		put_text(end->port, end->port_len);
	} else {
		put_absent(false);
	}
}

/* The request line as it came, also of a request that is none. */
static void put_request_line(const struct request *req)
{
	size_t len = 0;

	while (len < req->head_len && req->head[len] != '\r' && req->head[len] != '\n')
		len++;
	put_text(req->head, len);
}

static void put_span(const struct request *req, struct span span)
{
	put_text(request_ptr(req, span), span.len);
}

/* The decoded path: SCRIPT_NAME and PATH_INFO. */
static void put_uri(const struct request *req)
{
	if (!req->script_name.len && !req->path_info.len) {
		put_absent(false);
		return;
	}
	if (req->script_name.len)
		put_text(req->script_name.ptr, req->script_name.len);
	if (req->path_info.len)
		put_text(req->path_info.ptr, req->path_info.len);
}

/* As nginx: without port, in small letters. */
static void put_host(const struct request *req)
{
	struct text host = { request_ptr(req, req->host), req->host.len };
	char small[256];
	const char *end;

	if (req->forwarded_host.len)
		host = req->forwarded_host;
	if (host.len) {
		end = host.ptr[0] == '[' ? memchr(host.ptr, ']', host.len) : memchr(host.ptr, ':', host.len);
		if (end)
			host.len = (size_t)(end - host.ptr) + (host.ptr[0] == '[');
	}
	if (host.len <= sizeof(small)) {
		for (size_t i = 0; i < host.len; i++)
			small[i] = (char)(host.ptr[i] >= 'A' && host.ptr[i] <= 'Z' ? host.ptr[i] | 0x20 : host.ptr[i]);
		host.ptr = small;
	}
	put_text(host.ptr, host.len);
}

static void put_header(const struct request *req, const struct access_piece *piece)
{
	struct text value = request_header(req, piece->text, piece->len);

	put_text(value.ptr, value.len);
}

static void put_sent(const struct request *req, const struct access_piece *piece)
{
	const char *at = req->sent_head.ptr, *end = at + req->sent_head.len;

	while (at < end) {
		const char *stop = memchr(at, '\r', (size_t)(end - at));

		if (!stop)
			break;
		if ((size_t)(stop - at) > piece->len + 1 && at[piece->len] == ':' && strncasecmp(at, piece->text, piece->len) == 0) {
			at += piece->len + 2; /* as respond.c writes it */
			put_text(at, (size_t)(stop - at));
			return;
		}
		at = stop + 2;
	}
	put_absent(false);
}

/* W3C Trace Context: version "-" trace-id "-" parent-id "-" flags. */
static void put_trace_id(const struct request *req)
{
	struct text parent = request_header(req, "traceparent", 11);
	bool is_zero = true;

	if (parent.len < 55 || parent.ptr[2] != '-' || parent.ptr[35] != '-') {
		put_absent(false);
		return;
	}
	for (size_t i = 3; i < 35; i++) {
		char c = parent.ptr[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
			put_absent(false);
			return;
		}
		is_zero &= c == '0';
	}
	if (is_zero)
		put_absent(false);
	else
		put_raw(parent.ptr + 3, 32);
}

static void put_stage(const struct request *req, enum stage stage)
{
	uint64_t ns;

	if (stage_ns(&req->times, stage, &ns))
		put_number(ns / RTAIL_US);
	else
		put_absent(true);
}

static void put_request_time(const struct request *req)
{
	uint64_t end = req->times.last_sent ? req->times.last_sent : rtail_now_ns();

	put_thousandths(req->times.received && end > req->times.received ? (end - req->times.received) / RTAIL_MS : 0);
}

static void put_piece(struct request *req, const struct access_info *info, const struct access_piece *piece)
{
	struct text id;
	char version[] = "HTTP/1.x";

	switch (piece->variable) {
	case ACCESS_LITERAL:
		put_raw(piece->text, piece->len);
		break;
	case ACCESS_HTTP:
		put_header(req, piece);
		break;
	case ACCESS_SENT:
		put_sent(req, piece);
		break;
	case ACCESS_args:
	case ACCESS_query_string:
		put_span(req, req->query);
		break;
	case ACCESS_body_bytes_sent:
		put_number(req->resp.sent_bytes);
		break;
	case ACCESS_bytes_sent:
		put_number(info->bytes_sent);
		break;
	case ACCESS_close_reason:
		put_text(info->close_reason, info->close_reason ? strlen(info->close_reason) : 0);
		break;
	case ACCESS_connection:
		put_number(info->conn_id);
		break;
	case ACCESS_connection_requests:
		put_number(info->conn_requests);
		break;
	case ACCESS_handler:
		if (req->handler < 0)
			put_absent(true);
		else
			put_number((uint64_t)req->handler);
		break;
	case ACCESS_host:
		put_host(req);
		break;
	case ACCESS_msec:
		put_msec();
		break;
	case ACCESS_pid:
		put_number((uint64_t)getpid());
		break;
	case ACCESS_remote_addr:
		put_remote_addr(req);
		break;
	case ACCESS_remote_port:
		put_port(req, req->peer);
		break;
	case ACCESS_remote_user:
		put_absent(false); /* nobody was authenticated here */
		break;
	case ACCESS_request:
		put_request_line(req);
		break;
	case ACCESS_request_id:
		id = request_id(req);
		put_text(id.ptr, id.len);
		break;
	case ACCESS_request_length:
		put_number(info->request_length);
		break;
	case ACCESS_request_method:
		put_span(req, req->method);
		break;
	case ACCESS_request_time:
		put_request_time(req);
		break;
	case ACCESS_request_uri:
		put_span(req, req->target);
		break;
	case ACCESS_read_us:
		put_stage(req, STAGE_read);
		break;
	case ACCESS_ring_wait_us:
		put_stage(req, STAGE_ring_wait);
		break;
	case ACCESS_gil_wait_us:
		put_stage(req, STAGE_gil_wait);
		break;
	case ACCESS_service_us:
		put_stage(req, STAGE_service);
		break;
	case ACCESS_return_wait_us:
		put_stage(req, STAGE_return_wait);
		break;
	case ACCESS_send_us:
		put_stage(req, STAGE_send);
		break;
	case ACCESS_scheme:
		put_text(req->scheme.ptr, req->scheme.len);
		break;
	case ACCESS_server_addr:
		put_text(req->local ? req->local->addr : NULL, req->local ? req->local->addr_len : 0);
		break;
	case ACCESS_server_port:
		put_port(req, req->local);
		break;
	case ACCESS_server_protocol:
		version[7] = (char)('0' + req->version_minor);
		put_text(version, req->method.len ? 8 : 0);
		break;
	case ACCESS_status:
		put_number(info->status ? info->status : STATUS_CLIENT_CLOSED);
		break;
	case ACCESS_time_iso8601:
		put_raw(stamp.iso, stamp.iso_len);
		break;
	case ACCESS_time_local:
		put_raw(stamp.local, stamp.local_len);
		break;
	case ACCESS_trace_id:
		put_trace_id(req);
		break;
	case ACCESS_uri:
		put_uri(req);
		break;
	case ACCESS_VARIABLE_COUNT:
		break;
	}
}

void access_log_write(struct request *req, const struct access_info *info)
{
	if (!is_on)
		return;
	line_len = 0;
	refresh_stamp();
	for (size_t i = 0; i < format.count; i++)
		put_piece(req, info, &format.pieces[i]);
	if (line_len)
		log_writer_put(SINK_ACCESS, line, line_len, false);
}
