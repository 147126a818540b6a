/* SPDX-License-Identifier: Apache-2.0 */
/* parse_priv.h: what parse.c, parse_field.c and parse_body.c share of a struct parse. Loop thread. */
#ifndef RINGTAIL_PARSE_PRIV_H
#define RINGTAIL_PARSE_PRIV_H

#include "parse.h"

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
};

enum parse_verdict parse__refuse(struct parse *parse, enum parse_refusal refusal, const char *detail);

/* llhttp is paused behind the head of a request that has a body. */
void parse__body_begin(struct parse *parse);

#endif
