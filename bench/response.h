/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h: where a response ends, for the benches' client: Content-Length,
 * chunked, or the close of the connection. A client that trusts its server:
 * it measures, and checks no more than it needs for that.
 */
#ifndef BENCH_RESPONSE_H
#define BENCH_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum part {
	PART_HEAD,
	PART_BODY,   /* left bytes */
	PART_SIZE,   /* a chunk's size line */
	PART_CHUNK,  /* left bytes and the line end behind them */
	PART_TRAILER,
	PART_UNTIL_CLOSE,
};

struct response {
	enum part part;
	int status;
	bool closes; /* the connection's last */
	uint64_t left;
	char *kept; /* an incomplete head, size or trailer line; kept for the connection's next response */
	unsigned kept_bytes;
};

enum fed {
	FED_MORE, /* incomplete */
	FED_DONE, /* the data ended with the response */
	FED_BAD,  /* no response, or bytes behind it that nobody asked for */
};

/* Before the first response of a connection, all zero; before each, this. */
void response_begin(struct response *response);

enum fed response_feed(struct response *response, const char *data, size_t len);

/* Nothing of it has come. */
static inline bool response_is_untouched(const struct response *response)
{
	return response->part == PART_HEAD && response->kept_bytes == 0;
}

static inline bool response_ends_by_close(const struct response *response)
{
	return response->part == PART_UNTIL_CLOSE;
}

#endif
