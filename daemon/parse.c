/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse.c: the head of a request, byte by byte or in one piece, always with the
 * same result. Loop thread; a struct parse lives in its connection.
 *
 * Phases of a struct parse: blank lines, request line, header lines, then
 * parse_body.c, or refused for good. The request line is scanned here, for what
 * llhttp is lax about (spaces, HTTP/0.9, RTSP, versions) and for the limits,
 * and then given to llhttp as a whole; header lines go to llhttp as they come.
 * Every check that refuses runs in a callback for a completed element, or on a
 * single byte: so the verdict cannot depend on how the bytes were cut.
 */
#include "parse.h"

#include <stdlib.h>
#include <string.h>
#include <errno.h>

#include "block_hash.h"
#include "check.h"
#include "config.h"
#include "forwarded.h"
#include "parse_field.h"
#include "parse_priv.h"
#include "parse_target.h"
#include "request.h"

#define METHOD_MAX 32u
#define VERSION_LINE 10u /* "HTTP/1.1\r\n" */
#define BLANK_LINES_MAX 8u

/*
 * How much is copied and parsed at a time: what lies behind the head in the same piece (pipelined requests, a body) is
 * copied for nothing, so little; each step costs one more call of llhttp, so not too little.
 */
#define STEP 1024u

enum {
	BYTE_TOKEN = 1,  /* RFC 9110 5.6.2 */
	BYTE_TARGET = 2, /* all but controls, space and '#' */
	BYTE_HIGH = 4,   /* 0x80 and above: no URI has them raw, but clients send them; latin-1 for the application */
};

#define BOTH (BYTE_TOKEN | BYTE_TARGET)

static const uint8_t byte_class[256] = {
	['!'] = BOTH,
	['"'] = BYTE_TARGET,
	['#'] = BYTE_TOKEN,
	['$' ... '\''] = BOTH,
	['(' ... ')'] = BYTE_TARGET,
	['*' ... '+'] = BOTH,
	[','] = BYTE_TARGET,
	['-' ... '.'] = BOTH,
	['/'] = BYTE_TARGET,
	['0' ... '9'] = BOTH,
	[':' ... '@'] = BYTE_TARGET,
	['A' ... 'Z'] = BOTH,
	['[' ... ']'] = BYTE_TARGET,
	['^' ... 'z'] = BOTH, /* ^ _ ` and the small letters */
	['{'] = BYTE_TARGET,
	['|'] = BOTH,
	['}'] = BYTE_TARGET,
	['~'] = BOTH,
	[0x80 ... 0xff] = BYTE_TARGET | BYTE_HIGH,
};

enum parse_verdict parse__refuse(struct parse *parse, enum parse_refusal refusal, const char *detail)
{
	parse->refusal = refusal;
	parse->detail = detail;
	parse->state = STATE_REFUSED;
	return PARSE_REFUSED;
}

/* For llhttp's callbacks: ends llhttp_execute. */
static int stop(struct parse *parse, enum parse_refusal refusal, const char *detail)
{
	parse__refuse(parse, refusal, detail);
	return -1;
}

static inline struct parse *parse_of(llhttp_t *llhttp)
{
	return (struct parse *)((char *)llhttp - offsetof(struct parse, llhttp));
}

/* Spans come in pieces when the bytes do; pieces of one span lie side by side in req->head. */
static int on_name(llhttp_t *llhttp, const char *at, size_t len)
{
	struct parse *parse = parse_of(llhttp);

	if (!(parse->facts & FACT_IN_NAME)) {
		parse->facts |= FACT_IN_NAME;
		parse->name = (uint32_t)(at - parse->req->head);
		parse->name_len = 0;
		parse->value_len = 0;
	}
	parse->name_len += (uint32_t)len;
	return 0;
}

static int on_value(llhttp_t *llhttp, const char *at, size_t len)
{
	struct parse *parse = parse_of(llhttp);

	if (!(parse->facts & FACT_IN_VALUE)) {
		parse->facts |= FACT_IN_VALUE;
		parse->value = (uint32_t)(at - parse->req->head);
	}
	parse->value_len += (uint32_t)len;
	return 0;
}

static bool reserve_header(struct request *req)
{
	uint32_t cap = req->header_cap * 2;
	struct header *headers;

	if (req->header_count < req->header_cap)
		return true;
	if (req->headers == req->headers_inline) {
		headers = malloc(cap * sizeof(*headers));
		if (headers != NULL)
			memcpy(headers, req->headers, req->header_count * sizeof(*headers));
	} else {
		headers = realloc(req->headers, cap * sizeof(*headers));
	}
	if (headers == NULL)
		return false;
	req->headers = headers;
	req->header_cap = cap;
	return true;
}

static int on_header_complete(llhttp_t *llhttp)
{
	struct parse *parse = parse_of(llhttp);
	struct request *req = parse->req;
	const char *name = req->head + parse->name;
	const char *value;
	const char *error;

	if (!(parse->facts & FACT_IN_VALUE))
		parse->value = parse->name + parse->name_len;
	parse->facts &= (uint16_t)~(FACT_IN_NAME | FACT_IN_VALUE);
	value = req->head + parse->value;
	while (parse->value_len > 0 && (value[parse->value_len - 1] == ' ' || value[parse->value_len - 1] == '\t'))
		parse->value_len--;
	if (++parse->lines > parse->config->max_headers)
		return stop(parse, REFUSAL_HEADERS_TOO_LARGE, "more than max-headers header lines");
	error = parse_field_look(parse, name, parse->name_len, value, parse->value_len);
	if (error != NULL)
		return stop(parse, REFUSAL_BAD_REQUEST, error);
	if (memchr(name, '_', parse->name_len) != NULL) {
		req->dropped_names++;
		return 0;
	}
	if (!reserve_header(req))
		return stop(parse, REFUSAL_NO_MEMORY, "header table");
	req->headers[req->header_count++] = (struct header){
		.name = { parse->name, parse->name_len },
		.value = { parse->value, parse->value_len },
	};
	return 0;
}

/*
 * Upgrade is ignored (RFC 9110 7.8), the request framed like any other: llhttp is never resumed behind a head without a
 * chunked body, and with one it minds Upgrade only behind the message, where it is paused for good.
 */
static int on_headers_complete(llhttp_t *llhttp)
{
	(void)llhttp;
	return HPE_PAUSED;
}

static const llhttp_settings_t head_settings = {
	.on_header_field = on_name,
	.on_header_value = on_value,
	.on_header_value_complete = on_header_complete,
	.on_headers_complete = on_headers_complete,
};

void parse_reset(struct parse *parse, const struct config *config, struct request *req)
{
	llhttp_init(&parse->llhttp, HTTP_REQUEST, &head_settings);
	/* HTTP/1.2 and up are answered as 1.1 (RFC 9110 2.5); which versions come this far is decided in end_line(). */
	llhttp_set_lenient_version(&parse->llhttp, 1);
	parse->config = config;
	parse->req = req;
	parse->refusal = REFUSAL_NONE;
	parse->detail = NULL;
	parse->body_seen = 0;
	parse->line_end = 0;
	parse->lines = 0;
	parse->gap = 0;
	parse->framing = 0;
	parse->data = NULL;
	parse->data_len = 0;
	parse->facts = 0;
	parse->state = STATE_BLANK;
}

/* Callers have checked the limits. */
bool parse__reserve_head(struct request *req, uint32_t more)
{
	uint32_t need = req->head_len + more;
	uint32_t cap = req->head_cap;
	char *head;

	if (need <= cap)
		return true;
	while (cap < need)
		cap *= 2;
	if (req->head == req->head_inline) {
		head = malloc(cap);
		if (head != NULL)
			memcpy(head, req->head, req->head_len);
	} else {
		head = realloc(req->head, cap);
	}
	if (head == NULL)
		return false;
	req->head = head;
	req->head_cap = cap;
	return true;
}

/*
 * RFC 9112 2.2: at least one empty line before a request line is ignored. A CR whose LF has not come counts as a byte of
 * head, so that the loop does not take the connection for idle and forget it.
 */
static enum parse_verdict skip_blank(struct parse *parse, const char *data, size_t len, size_t *used)
{
	while (*used < len) {
		char c = data[*used];

		if (parse->state == STATE_BLANK_CR) {
			if (c != '\n')
				return parse__refuse(parse, REFUSAL_BAD_REQUEST, "bare CR before the request line");
			parse->state = STATE_BLANK;
			parse->req->head_len = 0;
			if (++parse->blank_lines > BLANK_LINES_MAX)
				return parse__refuse(parse, REFUSAL_BAD_REQUEST, "too many empty lines before the request line");
		} else if (c == '\r') {
			parse->state = STATE_BLANK_CR;
			parse->req->head[0] = '\r';
			parse->req->head_len = 1;
		} else {
			parse->state = STATE_METHOD;
			parse->blank_lines = 0;
			break;
		}
		(*used)++;
	}
	return PARSE_MORE;
}

static enum parse_verdict scan_method(struct parse *parse, uint32_t *pos)
{
	struct request *req = parse->req;
	uint32_t i = *pos;

	while (i < req->head_len && (byte_class[(unsigned char)req->head[i]] & BYTE_TOKEN)) {
		if (++i > METHOD_MAX)
			return parse__refuse(parse, REFUSAL_NOT_IMPLEMENTED, "method longer than 32 bytes");
	}
	*pos = i;
	if (i == req->head_len)
		return PARSE_MORE;
	if (req->head[i] != ' ' || i == 0)
		return parse__refuse(parse, REFUSAL_BAD_REQUEST, "not an HTTP request line");
	req->method = (struct span){ 0, i };
	req->target = (struct span){ i + 1, 0 };
	parse->state = STATE_TARGET;
	*pos = i + 1;
	return PARSE_MORE;
}

static enum parse_verdict scan_target(struct parse *parse, uint32_t *pos)
{
	struct request *req = parse->req;
	const unsigned char *head = (const unsigned char *)req->head;
	uint32_t end = req->target.off + (uint32_t)parse->config->max_uri;
	uint32_t i = *pos;
	uint8_t seen = 0;

	if (end > req->head_len)
		end = req->head_len;
	for (; i < end && (byte_class[head[i]] & BYTE_TARGET); i++)
		seen |= byte_class[head[i]];
	if (seen & BYTE_HIGH)
		parse->facts |= FACT_HIGH_BYTES;
	*pos = i;
	if (i == req->head_len)
		return PARSE_MORE;
	if (byte_class[head[i]] & BYTE_TARGET)
		return parse__refuse(parse, REFUSAL_URI_TOO_LONG, "target longer than max-uri");
	if (head[i] == '#')
		return parse__refuse(parse, REFUSAL_BAD_REQUEST, "fragment in the target");
	if (head[i] == '\r' || head[i] == '\n')
		return parse__refuse(parse, REFUSAL_BAD_REQUEST, "request line without a version");
	if (head[i] != ' ')
		return parse__refuse(parse, REFUSAL_BAD_REQUEST, "control byte in the target");
	if (i == req->target.off)
		return parse__refuse(parse, REFUSAL_BAD_REQUEST, "two spaces in the request line");
	req->target.len = i - req->target.off;
	parse->state = STATE_VERSION;
	*pos = i + 1;
	return PARSE_MORE;
}

static enum parse_verdict scan_version(struct parse *parse, uint32_t *pos)
{
	/* 'd' stands for a digit. */
	static const char form[VERSION_LINE + 1] = "HTTP/d.d\r\n";
	struct request *req = parse->req;
	uint32_t start = req->target.off + req->target.len + 1;

	for (; *pos < req->head_len; (*pos)++) {
		uint32_t i = *pos - start;
		char c = req->head[*pos];

		if (form[i] == 'd' ? c < '0' || c > '9' : c != form[i])
			return parse__refuse(parse, REFUSAL_BAD_REQUEST,
					     i < 8 ? "not HTTP behind the target" : "request line does not end with CRLF");
		if (i == VERSION_LINE - 1) {
			(*pos)++;
			parse->line_end = *pos;
			parse->state = STATE_HEADERS;
			break;
		}
	}
	return PARSE_MORE;
}

/* llhttp refuses raw bytes above 0x7f in a target; what they stand for is checked by nobody, so any letter will do. */
static llhttp_errno_t feed_line(struct parse *parse)
{
	const char *pos = parse->req->head;
	const char *end = pos + parse->line_end;
	llhttp_errno_t error = HPE_OK;

	if (!(parse->facts & FACT_HIGH_BYTES))
		return llhttp_execute(&parse->llhttp, pos, (size_t)(end - pos));
	while (pos < end && error == HPE_OK) {
		const char *next = pos;

		while (next < end && !(*next & 0x80))
			next++;
		error = llhttp_execute(&parse->llhttp, pos, (size_t)(next - pos));
		if (error == HPE_OK && next < end)
			error = llhttp_execute(&parse->llhttp, "x", 1);
		pos = next + 1;
	}
	return error;
}

/* The request line is here. */
static enum parse_verdict end_line(struct parse *parse)
{
	struct request *req = parse->req;
	const char *version = req->head + parse->line_end - VERSION_LINE;
	struct target target;
	llhttp_errno_t error;

	if (version[5] != '1')
		return parse__refuse(parse, REFUSAL_VERSION, "HTTP version other than 1.x");
	req->version_minor = version[7] == '0' ? 0 : 1;
	error = feed_line(parse);
	if (error == HPE_INVALID_METHOD || error == HPE_INVALID_CONSTANT)
		return parse__refuse(parse, REFUSAL_NOT_IMPLEMENTED, "unknown method");
	if (error != HPE_OK)
		return parse__refuse(parse, REFUSAL_BAD_REQUEST, llhttp_get_error_reason(&parse->llhttp));
	if (parse->llhttp.method == HTTP_CONNECT)
		return parse__refuse(parse, REFUSAL_NOT_IMPLEMENTED, "CONNECT: this is no proxy");
	if (target_parse(request_ptr(req, req->target), req->target.len, parse->llhttp.method == HTTP_OPTIONS, &target) < 0)
		return parse__refuse(parse, REFUSAL_BAD_REQUEST, "target is neither a path nor an http URI");
	req->is_head = parse->llhttp.method == HTTP_HEAD;
	req->query = (struct span){ req->target.off + (uint32_t)target.query, (uint32_t)target.query_len };
	if (target.form == TARGET_ABSOLUTE) {
		req->host = (struct span){ req->target.off + (uint32_t)target.authority, (uint32_t)target.authority_len };
		parse->facts |= FACT_TARGET_HOST;
	}
	return PARSE_MORE;
}

/* Up to and including the request line. */
static enum parse_verdict head_line(struct parse *parse, const char *data, size_t len, size_t *used)
{
	struct request *req = parse->req;
	enum parse_verdict verdict = PARSE_MORE;
	uint32_t pos = req->head_len;
	uint32_t room = METHOD_MAX + 1 + (uint32_t)parse->config->max_uri + 1 + VERSION_LINE - req->head_len;
	const char *newline;
	size_t take = len - *used;

	/* The scan refuses at the first byte too many, so one more than the longest legal line is enough to see. */
	if (take > room + 1)
		take = room + 1;
	newline = memchr(data + *used, '\n', take);
	if (newline != NULL)
		take = (size_t)(newline - (data + *used)) + 1;
	if (!parse__reserve_head(req, (uint32_t)take))
		return parse__refuse(parse, REFUSAL_NO_MEMORY, "request line");
	memcpy(req->head + req->head_len, data + *used, take);
	req->head_len += (uint32_t)take;
	*used += take;
	if (parse->state == STATE_METHOD)
		verdict = scan_method(parse, &pos);
	if (parse->state == STATE_TARGET)
		verdict = scan_target(parse, &pos);
	if (parse->state == STATE_VERSION)
		verdict = scan_version(parse, &pos);
	if (parse->state == STATE_HEADERS)
		verdict = end_line(parse);
	return verdict;
}

/* The head is complete: what all its lines together mean. */
static enum parse_verdict end_head(struct parse *parse)
{
	struct request *req = parse->req;
	const struct config *config = parse->config;
	enum parse_refusal refusal;
	const char *detail;
	int r;

	refusal = parse_field_judge(parse, &detail);
	if (refusal != REFUSAL_NONE)
		return parse__refuse(parse, refusal, detail);
	req->block = (struct span){ parse->line_end, req->head_len - parse->line_end };
	if (!(parse->facts & FACT_CACHED)) {
		req->block_hash = block_hash(request_ptr(req, req->block), req->block.len);
		parse__cache_offer(parse);
	}
	r = forwarded_apply(config, req);
	if (r == -ENOENT)
		return parse__refuse(parse, REFUSAL_NOT_FOUND, "target outside script-name");
	if (r == -ENOMEM)
		return parse__refuse(parse, REFUSAL_NO_MEMORY, "target");
	if (r < 0)
		return parse__refuse(parse, REFUSAL_BAD_REQUEST, "target is not legal");
	/* Behind forwarded_apply: who was refused, and under which request id, is known then. */
	if (req->has_content_length && req->content_length > (config->max_body ? config->max_body : INT64_MAX))
		return parse__refuse(parse, REFUSAL_BODY_TOO_LARGE, "Content-Length beyond max-body");
	if (!req->is_chunked && req->content_length == 0) {
		req->expects_continue = false;
		parse->state = STATE_DONE;
		return PARSE_DONE;
	}
	parse__body_begin(parse);
	return PARSE_HEAD;
}

static enum parse_verdict head_lines(struct parse *parse, const char *data, size_t len, size_t *used)
{
	struct request *req = parse->req;
	uint32_t limit = parse->line_end + (uint32_t)parse->config->max_header_bytes + 2;

	if (req->head_len == parse->line_end && parse__cache_take(parse, data + *used, len - *used)) {
		*used += req->head_len - parse->line_end;
		req->head_len -= 2; /* the empty line */
		return end_head(parse);
	}
	while (*used < len) {
		uint32_t step = len - *used < STEP ? (uint32_t)(len - *used) : STEP;
		llhttp_errno_t error;
		char *at;

		if (step > limit - req->head_len)
			step = limit - req->head_len;
		if (step == 0)
			return parse__refuse(parse, REFUSAL_HEADERS_TOO_LARGE, "headers beyond max-header-bytes");
		if (!parse__reserve_head(req, step))
			return parse__refuse(parse, REFUSAL_NO_MEMORY, "headers");
		at = req->head + req->head_len;
		memcpy(at, data + *used, step);
		error = llhttp_execute(&parse->llhttp, at, step);
		if (error == HPE_PAUSED) {
			uint32_t rest = (uint32_t)(llhttp_get_error_pos(&parse->llhttp) - at);

			*used += rest;
			req->head_len += rest;
			CHECK(req->head_len >= parse->line_end + 2);
			req->head_len -= 2; /* the empty line */
			return end_head(parse);
		}
		if (error != HPE_OK) {
			if (parse->state == STATE_REFUSED)
				return PARSE_REFUSED;
			return parse__refuse(parse, REFUSAL_BAD_REQUEST, llhttp_get_error_reason(&parse->llhttp));
		}
		req->head_len += step;
		*used += step;
	}
	return PARSE_MORE;
}

enum parse_verdict parse_head(struct parse *parse, const char *data, size_t len, size_t *ret_used)
{
	enum parse_verdict verdict = PARSE_MORE;
	size_t used = 0;

	if (parse->state == STATE_REFUSED) {
		*ret_used = 0;
		return PARSE_REFUSED;
	}
	CHECK(parse->req != NULL && parse->state <= STATE_HEADERS);
	if (parse->state <= STATE_BLANK_CR)
		verdict = skip_blank(parse, data, len, &used);
	if (parse->state >= STATE_METHOD && parse->state < STATE_HEADERS && used < len)
		verdict = head_line(parse, data, len, &used);
	if (parse->state == STATE_HEADERS)
		verdict = head_lines(parse, data, len, &used);
	*ret_used = used;
	return verdict;
}

const char *parse_refusal_status(enum parse_refusal refusal)
{
	static const char *const status[REFUSALS] = {
		[REFUSAL_NONE] = "200 OK",
#define X(id, line, text) [REFUSAL_##id] = line,
		PARSE_REFUSALS(X)
#undef X
	};

	CHECK(refusal < REFUSALS);
	return status[refusal];
}

const char *parse_refusal_text(enum parse_refusal refusal)
{
	static const char *const texts[REFUSALS] = {
		[REFUSAL_NONE] = "not refused",
#define X(id, line, text) [REFUSAL_##id] = text,
		PARSE_REFUSALS(X)
#undef X
	};

	CHECK(refusal < REFUSALS);
	return texts[refusal];
}
