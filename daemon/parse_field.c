/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse_field.c: Host, Connection, Transfer-Encoding, Content-Length, Expect.
 *
 * Syntax of single Content-Length values and the conflict of two of them are
 * llhttp's; everything that needs the version or a whole list is here.
 */
#include "parse_field.h"

#include <strings.h>

#include "parse_priv.h"
#include "parse_target.h"
#include "request.h"

/* The next element of a comma-separated list (RFC 9110 5.6.1), without white space; empty ones are skipped. */
static bool next_element(const char **pos, const char *end, struct text *ret_element)
{
	const char *at = *pos;
	const char *stop;

	while (at < end && (*at == ',' || *at == ' ' || *at == '\t'))
		at++;
	if (at == end)
		return false;
	for (stop = at; stop < end && *stop != ','; stop++)
		continue;
	*pos = stop;
	while (stop[-1] == ' ' || stop[-1] == '\t')
		stop--;
	*ret_element = (struct text){ at, (size_t)(stop - at) };
	return true;
}

static bool is_text(struct text text, const char *lower, size_t len)
{
	return text.len == len && strncasecmp(text.ptr, lower, len) == 0;
}

#define IS(text, literal) is_text(text, literal, sizeof(literal) - 1)

static void look_connection(struct parse *parse, const char *value, const char *end)
{
	struct text token;

	while (next_element(&value, end, &token)) {
		if (IS(token, "close"))
			parse->facts |= FACT_CLOSE;
		else if (IS(token, "keep-alive"))
			parse->facts |= FACT_KEEP_ALIVE;
	}
}

static void look_expect(struct parse *parse, const char *value, const char *end)
{
	struct text token;

	while (next_element(&value, end, &token))
		parse->facts |= IS(token, "100-continue") ? FACT_CONTINUE : FACT_OTHER_EXPECT;
}

/* RFC 9112 6.1: chunked at most once, and last. Several fields are one list. */
static const char *look_coding(struct parse *parse, const char *value, const char *end)
{
	struct text coding;

	parse->facts |= FACT_CODING;
	while (next_element(&value, end, &coding)) {
		if (parse->facts & FACT_CHUNKED)
			return "Transfer-Encoding goes on behind chunked";
		if (IS(coding, "identity"))
			return "Transfer-Encoding: identity"; /* removed from HTTP by RFC 7230 */
		parse->facts |= IS(coding, "chunked") ? FACT_CHUNKED : FACT_OTHER_CODING;
	}
	return NULL;
}

static const char *look_host(struct parse *parse, const char *value, size_t value_len)
{
	if (parse->facts & FACT_HOST)
		return "more than one Host";
	if (!target_host_is_legal(value, value_len))
		return "Host is not legal";
	parse->facts |= FACT_HOST;
	/* RFC 9112 3.2.2: the host of an absolute target wins. */
	if (!(parse->facts & FACT_TARGET_HOST))
		parse->req->host = (struct span){ (uint32_t)(value - parse->req->head), (uint32_t)value_len };
	return NULL;
}

const char *parse_field_look(struct parse *parse, const char *name, size_t name_len, const char *value, size_t value_len)
{
	struct text field = { name, name_len };

	switch (name_len) {
	case 4:
		if (IS(field, "host"))
			return look_host(parse, value, value_len);
		break;
	case 6:
		if (IS(field, "expect"))
			look_expect(parse, value, value + value_len);
		break;
	case 10:
		if (IS(field, "connection"))
			look_connection(parse, value, value + value_len);
		break;
	case 17:
		if (IS(field, "transfer-encoding"))
			return look_coding(parse, value, value + value_len);
		break;
	}
	return NULL;
}

static enum parse_refusal bad(const char *detail, const char **ret_detail)
{
	*ret_detail = detail;
	return REFUSAL_BAD_REQUEST;
}

enum parse_refusal parse_field_judge(struct parse *parse, const char **ret_detail)
{
	struct request *req = parse->req;
	unsigned facts = parse->facts;

	req->has_content_length = parse->llhttp.flags & F_CONTENT_LENGTH;
	req->content_length = req->has_content_length ? parse->llhttp.content_length : 0;
	/* RFC 9112 3.2 */
	if (!(facts & FACT_HOST) && req->version_minor > 0)
		return bad("HTTP/1.1 without Host", ret_detail);
	if (facts & FACT_CODING) {
		/* RFC 9112 6.1: framing of such a message is faulty, whatever the coding. */
		if (req->version_minor == 0)
			return bad("Transfer-Encoding with HTTP/1.0", ret_detail);
		if (req->has_content_length)
			return bad("Content-Length with Transfer-Encoding", ret_detail);
		if (!(facts & FACT_CHUNKED))
			return bad("Transfer-Encoding does not end in chunked", ret_detail);
		if (facts & FACT_OTHER_CODING) {
			*ret_detail = "transfer coding other than chunked";
			return REFUSAL_NOT_IMPLEMENTED;
		}
		req->is_chunked = true;
	}
	/* RFC 9110 10.1.1: expectations of an HTTP/1.0 client are ignored. */
	if (req->version_minor > 0) {
		if (facts & FACT_OTHER_EXPECT) {
			*ret_detail = "expectation other than 100-continue";
			return REFUSAL_EXPECTATION;
		}
		req->expects_continue = facts & FACT_CONTINUE;
	}
	/* RFC 9112 9.3 */
	req->is_keepalive = !(facts & FACT_CLOSE) && (req->version_minor > 0 || (facts & FACT_KEEP_ALIVE));
	return REFUSAL_NONE;
}
