/* SPDX-License-Identifier: Apache-2.0 */
/*
 * respond.c: frames one response (RFC 9112 section 6) and hands it to the loop.
 *
 * Thread: the handler that owns the request.
 * resp.cur is the buffer being filled, the handler's until hand_over(); at most
 * one exists. It grows instead of being chained: a response that is not pushed
 * in between leaves in one piece.
 *
 * Phases: header lines are collected in cur (is_started); seal() adds the
 * framing and the empty line (is_sealed); body bytes follow; hand_over() gives
 * cur to the loop (is_head_sent). A start before is_head_sent begins anew.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "respond.h"
#include "respond_buffer.h"
#include "respond_field.h"
#include "request.h"
#include "returns.h"

/*
 * Around one chunk: CRLF of a file before it, size line, CRLF behind, and room for the last chunk, so that the end never
 * needs memory.
 */
#define CHUNK_SIZE_MAX 18u
#define CHUNK_END "\r\n"
#define CHUNK_END_LEN 2u
#define LAST_CHUNK "0\r\n\r\n"
#define LAST_CHUNK_LEN 5u
#define CHUNK_OVERHEAD (CHUNK_END_LEN + CHUNK_SIZE_MAX + CHUNK_END_LEN + LAST_CHUNK_LEN)

/* Longest framing line, the empty line and an empty last chunk: kept free behind the header lines. */
#define SEAL_ROOM 64u

#define REASON_MAX 128u

/* The responses of most requests: their text needs no copy. */
static const char *const common_statuses[] = {
	"200 OK", "201 Created", "202 Accepted", "204 No Content", "206 Partial Content", "301 Moved Permanently", "302 Found",
	"303 See Other", "304 Not Modified", "307 Temporary Redirect", "308 Permanent Redirect", "400 Bad Request",
	"401 Unauthorized", "403 Forbidden", "404 Not Found", "405 Method Not Allowed", "409 Conflict", "410 Gone",
	"422 Unprocessable Entity", "429 Too Many Requests", "500 Internal Server Error", "502 Bad Gateway",
	"503 Service Unavailable", "504 Gateway Timeout",
};

/* The buffer being filled becomes the loop's. */
static void hand_over(struct request *req, struct outbuf *out, uint32_t flags)
{
	out->flags |= flags;
	/* Nobody waits for room behind the last one. */
	if (!(flags & OUT_LAST)) {
		out->charged = out->end - out->start;
		if (out->charged)
			atomic_fetch_add_explicit(&req->buffered, out->charged, memory_order_relaxed);
	}
	returns_push(req->returns, out);
}

static void hand_over_cur(struct request *req, uint32_t flags)
{
	struct respond_state *resp = &req->resp;
	struct outbuf *cur = resp->cur;

	resp->cur = NULL;
	if (!resp->is_head_sent) {
		resp->is_head_sent = true;
		flags |= OUT_HEAD | resp->flags;
	}
	hand_over(req, cur, flags);
}

/* The end of a response that has nothing left to send. */
static void hand_over_end(struct request *req, uint32_t flags)
{
	struct respond_state *resp = &req->resp;
	struct outbuf *cur = resp->cur;

	resp->is_finished = true;
	if (cur) {
		resp->cur = NULL;
		outbuf_free(cur);
	}
	hand_over(req, &req->out_last, flags | OUT_LAST);
}

/* Forgets the head and all that follows; the embedded buffer is free again, since nothing was handed over. */
static void restart(struct request *req)
{
	struct respond_state *resp = &req->resp;

	if (resp->cur)
		outbuf_free(resp->cur);
	memset(resp, 0, sizeof(*resp));
	req->out.flags = OUT_EMBEDDED;
	req->out.start = OUT_HEADROOM;
	req->out.end = OUT_HEADROOM;
	req->out.fd = -1;
	resp->cur = &req->out;
}

int respond_start(struct request *req, const char *status, size_t len)
{
	struct respond_state *resp = &req->resp;
	unsigned code = 0;
	char *copy;

	CHECK(!resp->is_head_sent && !resp->is_finished);
	if (len < 4 || status[3] != ' ')
		return -EINVAL;
	for (unsigned i = 0; i < 3; i++) {
		if (status[i] < '0' || status[i] > '9')
			return -EINVAL;
		code = 10 * code + (unsigned)(status[i] - '0');
	}
	/* A 1xx is no final response: the client would wait on (RFC 9110 15.2). */
	if (code < 200)
		return -EINVAL;
	for (size_t i = 4; i < len; i++)
		if ((unsigned char)status[i] < 0x20 || status[i] == 0x7f)
			return -EINVAL;
	if (len > 4 + REASON_MAX)
		len = 4 + REASON_MAX;

	req->status_text = NULL;
	for (size_t i = 0; i < sizeof(common_statuses) / sizeof(common_statuses[0]); i++) {
		if (memcmp(common_statuses[i], status, 3) == 0) {
			if (strlen(common_statuses[i]) == len && memcmp(common_statuses[i], status, len) == 0)
				req->status_text = common_statuses[i];
			break;
		}
	}
	if (!req->status_text) {
		copy = request_alloc(req, len);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, status, len);
		req->status_text = copy;
	}
	req->status_text_len = (uint32_t)len;

	restart(req);
	resp->is_started = true;
	resp->status = (uint16_t)code;
	resp->is_bodyless = req->is_head || code == 204 || code == 205 || code == 304;
	return 0;
}

static int put_line(struct request *req, const char *name, size_t name_len, const char *value, size_t value_len)
{
	struct outbuf *cur;
	size_t need;
	int r;

	if (__builtin_add_overflow(name_len, value_len, &need) || __builtin_add_overflow(need, 4 + SEAL_ROOM, &need))
		return -ENOMEM;
	r = respond_reserve(req, need, need);
	if (r < 0)
		return r;
	cur = req->resp.cur;
	outbuf_append(cur, name, name_len);
	outbuf_append(cur, ": ", 2);
	outbuf_append(cur, value, value_len);
	outbuf_append(cur, "\r\n", 2);
	return 0;
}

int respond_header(struct request *req, const char *name, size_t name_len, const char *value, size_t value_len)
{
	struct respond_state *resp = &req->resp;
	uint64_t length;
	int r;

	CHECK(resp->is_started && !resp->is_sealed);
	r = respond_field_check(name, name_len, value, value_len);
	if (r < 0)
		return r;
	switch (respond_field_kind(name, name_len)) {
	case FIELD_HOP:
		return -EPERM;
	case FIELD_CONTENT_LENGTH:
		/* Written by seal(), in one form and once. */
		r = respond_field_length(value, value_len, &length);
		if (r < 0)
			return r;
		if (resp->is_length_given && resp->content_length != length)
			return -EBADMSG;
		resp->is_length_given = true;
		resp->is_length_known = true;
		resp->content_length = length;
		return 0;
	case FIELD_DATE:
		r = put_line(req, name, name_len, value, value_len);
		if (r == 0)
			resp->flags |= OUT_HAS_DATE;
		return r;
	case FIELD_SERVER:
		r = put_line(req, name, name_len, value, value_len);
		if (r == 0)
			resp->flags |= OUT_HAS_SERVER;
		return r;
	case FIELD_OTHER:
		break;
	}
	return put_line(req, name, name_len, value, value_len);
}

void respond_body_length(struct request *req, uint64_t len)
{
	struct respond_state *resp = &req->resp;

	CHECK(resp->is_started && !resp->is_sealed);
	resp->body_hint = len;
	if (resp->is_length_given)
		return;
	/*
	 * The length of a 304 is that of the 200 (RFC 9110 8.6), and an empty body given to HEAD says nothing of a GET: neither
	 * is known from what was given.
	 */
	if (resp->status == 304 || (req->is_head && len == 0))
		return;
	resp->is_length_known = true;
	resp->content_length = len;
}

/* With $sent_http_: the buffer will be gone when the line is logged. */
static void keep_head(struct request *req)
{
	struct outbuf *cur = req->resp.cur;
	size_t len = cur->end - cur->start;
	char *copy = request_alloc(req, len);

	if (!copy)
		return;
	memcpy(copy, cur->data + cur->start, len);
	req->sent_head = (struct text) { copy, len };
}

/* Decides the framing and ends the head. */
static int seal(struct request *req)
{
	struct respond_state *resp = &req->resp;
	struct outbuf *cur;
	int r;

	if (resp->is_sealed)
		return 0;
	r = respond_reserve(req, SEAL_ROOM, SEAL_ROOM);
	if (r < 0)
		return r;
	cur = resp->cur;

	if (resp->status == 205) {
		/* RFC 9110 15.3.6: no content, whatever was given; framed as empty. */
		resp->is_length_known = !req->is_head || resp->is_length_given;
		resp->content_length = 0;
	}
	if (resp->status == 204) {
		resp->is_length_known = false; /* RFC 9110 8.6: no Content-Length */
	} else if (resp->is_length_known) {
		outbuf_append(cur, "Content-Length: ", 16);
		outbuf_append_number(cur, resp->content_length);
		outbuf_append(cur, "\r\n", 2);
	} else if (resp->is_bodyless) {
		; /* a HEAD of unknown length: the framing fields may be left out (RFC 9110 9.3.2) */
	} else if (req->version_minor >= 1) {
		resp->is_chunked = true;
		resp->flags |= OUT_CHUNKED;
		outbuf_append(cur, "Transfer-Encoding: chunked\r\n", 28);
	} else {
		resp->flags |= OUT_CLOSE;
	}
	if (req->keep_sent_head)
		keep_head(req);
	outbuf_append(cur, "\r\n", 2);
	resp->is_sealed = true;
	return 0;
}

/* A file given by respond_file waits for its end in cur: bytes that follow need the next buffer. */
static void part_from_file(struct request *req)
{
	if (req->resp.cur && req->resp.cur->flags & OUT_FILE)
		hand_over_cur(req, 0);
}

static void begin_chunk(struct respond_state *resp, struct outbuf *cur, uint64_t len)
{
	static const char digits[] = "0123456789abcdef";
	unsigned shift = 60;

	if (resp->is_chunk_open) {
		outbuf_append(cur, CHUNK_END, CHUNK_END_LEN);
		resp->is_chunk_open = false;
	}
	while (shift && !(len >> shift))
		shift -= 4;
	cur->data[cur->end++] = digits[len >> shift & 15];
	while (shift) {
		shift -= 4;
		cur->data[cur->end++] = digits[len >> shift & 15];
	}
	outbuf_append(cur, "\r\n", 2);
}

static int put_chunk(struct request *req, const void *data, size_t len)
{
	struct outbuf *cur;
	size_t need;
	int r;

	if (__builtin_add_overflow(len, CHUNK_OVERHEAD, &need))
		return -ENOMEM;
	r = respond_reserve(req, need, need);
	if (r < 0)
		return r;
	cur = req->resp.cur;
	begin_chunk(&req->resp, cur, len);
	outbuf_append(cur, data, len);
	outbuf_append(cur, CHUNK_END, CHUNK_END_LEN);
	return 0;
}

/* How much of len fits into Content-Length; *ret_cut says so once. */
static uint64_t cut_to_length(struct respond_state *resp, uint64_t len, int *ret_cut)
{
	uint64_t rest;

	*ret_cut = 0;
	if (!resp->is_length_known)
		return len;
	rest = resp->content_length - resp->sent_bytes;
	if (len <= rest)
		return len;
	if (!resp->is_cut_told) {
		resp->is_cut_told = true;
		*ret_cut = -EMSGSIZE;
	}
	return rest;
}

int respond_write(struct request *req, const void *data, size_t len)
{
	struct respond_state *resp = &req->resp;
	uint64_t want;
	int r, cut;

	CHECK(resp->is_started && !resp->is_finished);
	r = seal(req);
	if (r < 0)
		return r;
	resp->body_bytes += len;
	if (resp->is_bodyless || len == 0)
		return 0;
	len = (size_t)cut_to_length(resp, len, &cut);
	if (len == 0)
		return cut;
	if (respond_is_gone(req)) {
		resp->sent_bytes += len;
		return cut;
	}

	part_from_file(req);
	if (resp->is_chunked) {
		r = put_chunk(req, data, len);
	} else {
		/* What the caller has in hand comes in one piece; of a longer stream only this much is known to come. */
		want = resp->body_hint > resp->sent_bytes ? resp->body_hint - resp->sent_bytes : len;
		if (resp->is_length_known && want > resp->content_length - resp->sent_bytes)
			want = resp->content_length - resp->sent_bytes;
		r = respond_reserve(req, len, want > SIZE_MAX / 4 ? len : (size_t)want);
		if (r == 0)
			outbuf_append(resp->cur, data, len);
	}
	if (r < 0)
		return r;
	resp->sent_bytes += len;
	return cut;
}

int respond_push(struct request *req)
{
	struct respond_state *resp = &req->resp;
	int r;

	CHECK(!resp->is_finished);
	if (!resp->is_started)
		return 0;
	r = seal(req);
	if (r < 0)
		return r;
	if (!resp->cur)
		return 0;
	hand_over_cur(req, 0);
	returns_flush(req->returns);
	return 0;
}

int respond_file(struct request *req, int fd, uint64_t off, uint64_t len)
{
	struct respond_state *resp = &req->resp;
	struct outbuf *cur;
	int r, cut = 0;

	CHECK(resp->is_started && !resp->is_finished);
	if (!resp->is_sealed)
		respond_body_length(req, len);
	r = seal(req);
	if (r < 0) {
		close(fd);
		return r;
	}
	resp->body_bytes += len;
	if (!resp->is_bodyless)
		len = cut_to_length(resp, len, &cut);
	if (resp->is_bodyless || len == 0 || respond_is_gone(req)) {
		if (!resp->is_bodyless)
			resp->sent_bytes += len;
		close(fd);
		return cut;
	}

	part_from_file(req);
	r = respond_reserve(req, CHUNK_OVERHEAD, CHUNK_OVERHEAD);
	if (r < 0) {
		close(fd);
		return r;
	}
	cur = resp->cur;
	if (resp->is_chunked) {
		begin_chunk(resp, cur, len);
		resp->is_chunk_open = true;
	}
	cur->flags |= OUT_FILE;
	cur->fd = fd;
	cur->file_off = off;
	cur->file_len = len;
	resp->sent_bytes += len;
	return cut;
}

void respond_finish(struct request *req, uint64_t *ret_missing)
{
	struct respond_state *resp = &req->resp;
	uint32_t flags = OUT_LAST;
	uint64_t missing = 0;

	CHECK(!resp->is_finished);
	if (!resp->is_started) {
		respond_fail(req);
		return;
	}
	if (!resp->is_sealed && !resp->is_length_known && !resp->is_bodyless) {
		resp->is_length_known = true; /* nothing was written */
		resp->content_length = 0;
	}
	if (seal(req) < 0) {
		respond_fail(req);
		return;
	}
	if (resp->is_length_known && !resp->is_bodyless && resp->sent_bytes < resp->content_length) {
		missing = resp->content_length - resp->sent_bytes;
		flags |= OUT_ABORT | OUT_CLOSE;
	}
	if (ret_missing)
		*ret_missing = missing;

	if (resp->is_chunked && resp->cur && !(resp->cur->flags & OUT_FILE)) {
		outbuf_append(resp->cur, LAST_CHUNK, LAST_CHUNK_LEN);
	} else if (resp->is_chunked) {
		part_from_file(req);
		if (resp->is_chunk_open)
			outbuf_append(&req->out_last, CHUNK_END, CHUNK_END_LEN);
		outbuf_append(&req->out_last, LAST_CHUNK, LAST_CHUNK_LEN);
	}
	if (!resp->cur) {
		hand_over_end(req, flags);
		return;
	}
	resp->is_finished = true;
	hand_over_cur(req, flags);
}

void respond_refuse(struct request *req, const char *status, const char *extra)
{
	struct respond_state *resp = &req->resp;
	const char *reason = status + 4;
	size_t reason_len = strlen(reason), extra_len = extra ? strlen(extra) : 0;
	struct outbuf *out = &req->out;

	CHECK(!resp->is_finished);
	if (resp->is_head_sent) {
		hand_over_end(req, OUT_ABORT | OUT_CLOSE | OUT_PROTO_ERROR);
		return;
	}

	/* The embedded buffer holds it: this is the answer when there is no memory. */
	restart(req);
	req->status_text = status;
	req->status_text_len = (uint32_t)strlen(status);
	resp->is_started = true;
	resp->status = (uint16_t)((status[0] - '0') * 100 + (status[1] - '0') * 10 + (status[2] - '0'));
	resp->is_bodyless = req->is_head;
	resp->is_length_known = true;
	resp->content_length = reason_len + 1;
	CHECK(extra_len + 2 * reason_len < REQUEST_OUT_INLINE - OUT_HEADROOM - 2 * SEAL_ROOM);
	outbuf_append(out, "Content-Type: text/plain\r\n", 26);
	outbuf_append(out, extra ? extra : "", extra_len);
	if (seal(req) == 0 && !resp->is_bodyless) {
		outbuf_append(out, reason, reason_len);
		outbuf_append(out, "\n", 1);
		resp->sent_bytes = reason_len + 1;
	}
	resp->is_finished = true;
	hand_over_cur(req, OUT_LAST | OUT_PROTO_ERROR);
}

void respond_fail(struct request *req)
{
	respond_refuse(req, "500 Internal Server Error", NULL);
}

void respond_gone(struct request *req)
{
	CHECK(!req->resp.is_finished);
	hand_over_end(req, OUT_ABORT | OUT_CLOSE);
}

int respond_early_hints(struct request *req, const struct respond_field *fields, size_t count)
{
	static const char line[] = "HTTP/1.1 103 Early Hints\r\n";
	size_t size = sizeof(line) + 2;
	struct outbuf *out;
	int r;

	for (size_t i = 0; i < count; i++) {
		r = respond_field_check(fields[i].name, fields[i].name_len, fields[i].value, fields[i].value_len);
		if (r < 0)
			return r;
		switch (respond_field_kind(fields[i].name, fields[i].name_len)) {
		case FIELD_HOP:
			return -EPERM;
		case FIELD_CONTENT_LENGTH:
			return -EBADMSG; /* not in a 1xx, RFC 9110 8.6 */
		default:
			break;
		}
		if (__builtin_add_overflow(size, fields[i].name_len, &size) ||
		    __builtin_add_overflow(size, fields[i].value_len, &size) || __builtin_add_overflow(size, 4, &size))
			return -ENOMEM;
	}
	/* To a 1.0 client no 1xx may be sent (RFC 9110 15.2). */
	if (count == 0 || req->version_minor == 0 || req->resp.is_head_sent || req->resp.is_finished || respond_is_gone(req))
		return 0;

	out = outbuf_new(req, 0, size);
	if (!out)
		return -ENOMEM;
	outbuf_append(out, line, sizeof(line) - 1);
	for (size_t i = 0; i < count; i++) {
		outbuf_append(out, fields[i].name, fields[i].name_len);
		outbuf_append(out, ": ", 2);
		outbuf_append(out, fields[i].value, fields[i].value_len);
		outbuf_append(out, "\r\n", 2);
	}
	outbuf_append(out, "\r\n", 2);
	hand_over(req, out, OUT_INTERIM);
	returns_flush(req->returns);
	return 0;
}

bool respond_is_head_sent(const struct request *req)
{
	return req->resp.is_head_sent;
}

void respond_pause(struct request *req)
{
	struct outbuf *pause = &req->out_pause;
	struct returns *returns = req->returns;

	CHECK(req->resp.is_started && !req->resp.is_finished);
	if (seal(req) == 0 && req->resp.cur)
		hand_over_cur(req, 0);
	/* Sent alone: flags of data that is queued must not come twice. */
	pause->flags = OUT_EMBEDDED | OUT_PAUSED;
	if (req->ret_paused)
		*req->ret_paused = true;
	returns_push(returns, pause);
	returns_flush(returns);
}
