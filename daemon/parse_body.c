/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_body.c: where the body's bytes are. Loop thread; copies nothing.
 *
 * A body of known length is counted here. A chunked one is llhttp's, which is
 * paused at each chunk size line and at each piece of data, so that limits are
 * looked at at the same bytes however they were cut into pieces.
 */
#include "parse.h"

#include "check.h"
#include "config.h"
#include "parse_priv.h"
#include "request.h"

/* One chunk size line with its extensions, and the CRLF behind the data before it. */
#define CHUNK_LINE_MAX 4096u

/* All framing of a body: so much, and so much for each byte of data. Tiny chunks need 6 bytes a byte. */
#define FRAMING_FREE 65536u
#define FRAMING_PER_BYTE 32u

static inline struct parse *parse_of(llhttp_t *llhttp)
{
	return (struct parse *)((char *)llhttp - offsetof(struct parse, llhttp));
}

static int on_body(llhttp_t *llhttp, const char *at, size_t len)
{
	struct parse *parse = parse_of(llhttp);

	parse->data = at;
	parse->data_len = len;
	return HPE_PAUSED;
}

static int on_chunk_header(llhttp_t *llhttp)
{
	parse_of(llhttp)->facts |= FACT_CHUNK_LINE;
	return HPE_PAUSED;
}

static int on_message_complete(llhttp_t *llhttp)
{
	parse_of(llhttp)->state = STATE_DONE;
	return HPE_PAUSED;
}

static const llhttp_settings_t body_settings = {
	.on_body = on_body,
	.on_chunk_header = on_chunk_header,
	.on_message_complete = on_message_complete,
};

void parse__body_begin(struct parse *parse)
{
	if (!parse->req->is_chunked) {
		parse->state = STATE_LENGTH;
		return;
	}
	parse->state = STATE_CHUNKED;
	parse->llhttp.settings = (void *)&body_settings;
}

static uint64_t max_body(const struct parse *parse)
{
	return parse->config->max_body ? parse->config->max_body : INT64_MAX;
}

/* A chunk size line has been read; llhttp tells the chunk's size in content_length until its data begin. */
static enum parse_verdict end_chunk_line(struct parse *parse)
{
	uint64_t size = parse->llhttp.content_length;

	parse->facts &= (uint16_t)~FACT_CHUNK_LINE;
	parse->framing += parse->gap;
	if (parse->framing > FRAMING_FREE + FRAMING_PER_BYTE * parse->body_seen)
		return parse__refuse(parse, REFUSAL_BAD_REQUEST, "far more chunk framing than body");
	parse->gap = 0;
	if (size > max_body(parse) - parse->body_seen)
		return parse__refuse(parse, REFUSAL_BODY_TOO_LARGE, "chunked body beyond max-body");
	if (size == 0)
		parse->state = STATE_TRAILER;
	return PARSE_MORE;
}

static enum parse_verdict check_gap(struct parse *parse, uint8_t state)
{
	if (state == STATE_CHUNKED && parse->gap > CHUNK_LINE_MAX)
		return parse__refuse(parse, REFUSAL_BAD_REQUEST, "chunk extensions too long");
	if (state == STATE_TRAILER && parse->gap > parse->config->max_header_bytes + 2)
		return parse__refuse(parse, REFUSAL_HEADERS_TOO_LARGE, "trailers beyond max-header-bytes");
	return PARSE_MORE;
}

static enum parse_verdict body_chunked(struct parse *parse, const char *data, size_t len, size_t *ret_used,
				       const char **ret_data, size_t *ret_len)
{
	size_t used = 0;

	*ret_used = 0;
	while (used < len) {
		uint8_t state = parse->state;
		llhttp_errno_t error;
		size_t took;

		parse->data = NULL;
		parse->data_len = 0;
		llhttp_resume(&parse->llhttp);
		error = llhttp_execute(&parse->llhttp, data + used, len - used);
		took = error == HPE_OK ? len - used : (size_t)(llhttp_get_error_pos(&parse->llhttp) - (data + used));
		parse->gap += took - parse->data_len;
		used += took;
		*ret_used = used;
		if (check_gap(parse, state) == PARSE_REFUSED)
			return PARSE_REFUSED;
		if (error == HPE_OK)
			return PARSE_MORE;
		if (error != HPE_PAUSED)
			return parse__refuse(parse, REFUSAL_BAD_REQUEST, llhttp_get_error_reason(&parse->llhttp));
		if (parse->state == STATE_DONE)
			return PARSE_DONE;
		if (parse->facts & FACT_CHUNK_LINE) {
			if (end_chunk_line(parse) == PARSE_REFUSED)
				return PARSE_REFUSED;
		} else if (parse->data_len > 0) {
			parse->framing += parse->gap;
			parse->gap = 0;
			parse->body_seen += parse->data_len;
			*ret_data = parse->data;
			*ret_len = parse->data_len;
			return PARSE_DATA;
		}
	}
	return PARSE_MORE;
}

static enum parse_verdict body_length(struct parse *parse, const char *data, size_t len, size_t *ret_used,
				       const char **ret_data, size_t *ret_len)
{
	uint64_t left = parse->req->content_length - parse->body_seen;

	*ret_used = 0;
	if (left == 0) {
		parse->state = STATE_DONE;
		return PARSE_DONE;
	}
	if (len == 0)
		return PARSE_MORE;
	if (len > left)
		len = (size_t)left;
	parse->body_seen += len;
	*ret_used = len;
	*ret_data = data;
	*ret_len = len;
	return PARSE_DATA;
}

enum parse_verdict parse_body(struct parse *parse, const char *data, size_t len, size_t *ret_used,
				       const char **ret_data, size_t *ret_len)
{
	switch (parse->state) {
	case STATE_LENGTH:
		return body_length(parse, data, len, ret_used, ret_data, ret_len);
	case STATE_CHUNKED:
	case STATE_TRAILER:
		return body_chunked(parse, data, len, ret_used, ret_data, ret_len);
	case STATE_DONE:
		*ret_used = 0;
		return PARSE_DONE;
	default:
		CHECK(parse->state == STATE_REFUSED);
		*ret_used = 0;
		return PARSE_REFUSED;
	}
}
