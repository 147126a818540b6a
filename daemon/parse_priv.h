/* SPDX-License-Identifier: Apache-2.0 */
/* parse_priv.h: what parse.c, parse_field.c and parse_body.c share of a struct parse. Loop thread. */
#ifndef RINGTAIL_PARSE_PRIV_H
#define RINGTAIL_PARSE_PRIV_H

#include <stdbool.h>

#include "parse.h"

struct request;

/* parse.state, in the order of a request's life. */
enum {
	STATE_BLANK,    /* at the start of a line that may be empty */
	STATE_BLANK_CR, /* CR of an empty line seen */
	STATE_METHOD,
	STATE_TARGET,
	STATE_VERSION,
	STATE_HEADERS,
	STATE_LENGTH,   /* body of known length */
	STATE_CHUNKED,
	STATE_TRAILER,
	STATE_DONE,
	STATE_REFUSED,
};

/* parse.facts: what was seen so far. */
enum {
	FACT_IN_NAME = 1 << 0,
	FACT_IN_VALUE = 1 << 1,
	FACT_HIGH_BYTES = 1 << 2,  /* the target has bytes above 0x7f */
	FACT_TARGET_HOST = 1 << 3, /* absolute form: req->host is the target's */
	FACT_HOST = 1 << 4,        /* a Host field */
	FACT_CODING = 1 << 5,      /* a Transfer-Encoding field */
	FACT_CHUNKED = 1 << 6,     /* its last coding so far is chunked */
	FACT_OTHER_CODING = 1 << 7,
	FACT_CLOSE = 1 << 8,
	FACT_KEEP_ALIVE = 1 << 9,
	FACT_CONTINUE = 1 << 10,
	FACT_OTHER_EXPECT = 1 << 11,
	FACT_CHUNK_LINE = 1 << 12, /* paused behind a chunk size line */
	FACT_CACHED = 1 << 13,     /* the header lines are known from an earlier request */
};

enum parse_verdict parse__refuse(struct parse *parse, enum parse_refusal refusal, const char *detail);

/* Room for more bytes of head. Spans are offsets, so head may move. False: out of memory. */
bool parse__reserve_head(struct request *req, uint32_t more);

/*
 * Behind a request line: true when data begins with a whole header block, its empty line included, that is known; the
 * request then has it, empty line included, and all that on_header_complete would have made of it.
 */
bool parse__cache_take(struct parse *parse, const char *data, size_t len);

/* A head is complete and legal, read by llhttp. */
void parse__cache_offer(struct parse *parse);

/* llhttp is paused behind the head of a request that has a body. */
void parse__body_begin(struct parse *parse);

#endif
