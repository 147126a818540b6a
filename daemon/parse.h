/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse.h: bytes to a request (RFC 9112), by llhttp in strict mode; what llhttp
 * leaves open is closed here (SPEC 3).
 *
 * Owner: the loop; one struct parse lives in each connection and is reset for
 * each request. No I/O, no clock. What the peer does wrong is a verdict.
 *
 * Head: bytes are appended to req->head (which grows up to the limits) and
 * parsed there. Body: parse_body walks given bytes and names the pieces that
 * are body data; the body stage stores them.
 */
#ifndef RINGTAIL_PARSE_H
#define RINGTAIL_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llhttp.h>

struct config;
struct request;

enum parse_verdict {
	PARSE_MORE,    /* all bytes used, more needed */
	PARSE_HEAD,    /* head complete and legal; a body follows (is_chunked or content_length > 0): call parse_body */
	PARSE_DONE,    /* the request is complete; bytes behind *ret_used belong to the next one */
	PARSE_DATA,    /* parse_body: *ret_data, *ret_len are body bytes; call again with the rest */
	PARSE_REFUSED, /* parse->refusal says why; nothing behind it may be parsed */
};

/* One row: id, status line, sentence for the log. */
#define PARSE_REFUSALS(X) \
	X(BAD_REQUEST, "400 Bad Request", "malformed request") \
	X(URI_TOO_LONG, "414 URI Too Long", "request target longer than max-uri") \
	X(HEADERS_TOO_LARGE, "431 Request Header Fields Too Large", "headers beyond max-header-bytes or max-headers") \
	X(BODY_TOO_LARGE, "413 Content Too Large", "body beyond max-body") \
	X(NOT_IMPLEMENTED, "501 Not Implemented", "unknown method or transfer coding") \
	X(VERSION, "505 HTTP Version Not Supported", "HTTP version not supported") \
	X(EXPECTATION, "417 Expectation Failed", "unknown expectation") \
	X(NOT_FOUND, "404 Not Found", "target outside script-name") \
	X(NO_MEMORY, "503 Service Unavailable", "out of memory")

enum parse_refusal {
	REFUSAL_NONE,
#define X(id, status, text) REFUSAL_##id,
	PARSE_REFUSALS(X)
#undef X
	REFUSALS,
};

struct parse {
	llhttp_t llhttp;
	const struct config *config;
	struct request *req;
	enum parse_refusal refusal;
	const char *detail;     /* what exactly was wrong, for the log; static */
	uint64_t body_seen;     /* body bytes so far */
	/* private to parse.c below; offsets are into req->head */
	uint32_t line_end;      /* behind the request line */
	uint32_t lines;         /* header lines so far, those with '_' too */
	uint64_t last_hash;     /* block_hash of the request before; survives parse_reset */
	uint32_t name, name_len;
	uint32_t value, value_len;
	uint64_t gap;           /* framing bytes since the last body byte or chunk size line */
	uint64_t framing;       /* framing bytes of the whole chunked body */
	const char *data;       /* set by the body callback */
	size_t data_len;
	uint16_t facts;
	uint8_t state;
	uint8_t blank_lines;    /* since the last request; survives parse_reset: the connection idles between two of them */
};

/*
 * Ready for the next request on this connection. A struct parse is zeroed by its owner before the first time. req may be
 * NULL until the first parse_head.
 */
void parse_reset(struct parse *parse, const struct config *config, struct request *req);

/*
 * Head bytes. *ret_used of len bytes were taken: all of them with PARSE_MORE; with PARSE_HEAD and PARSE_DONE those of this
 * head. Empty lines before a request line are skipped and count as used: req->head_len is 0 while nothing else has come.
 * Fills req, the "what it means" part included (forwarded_apply). With PARSE_DONE there is no body.
 */
enum parse_verdict parse_head(struct parse *parse, const char *data, size_t len, size_t *ret_used);

/*
 * After PARSE_HEAD. Body bytes: PARSE_DATA, PARSE_MORE, PARSE_DONE (trailers read and dropped) or PARSE_REFUSED (max-body
 * passed, bad chunk). After PARSE_DATA call again even when nothing is left (len 0): a body of known length is then told
 * to be complete.
 */
enum parse_verdict parse_body(struct parse *parse, const char *data, size_t len, size_t *ret_used,
			      const char **ret_data, size_t *ret_len);

/* "400 Bad Request" and its sentence. */
const char *parse_refusal_status(enum parse_refusal refusal);
const char *parse_refusal_text(enum parse_refusal refusal);

#endif
