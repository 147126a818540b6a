/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outbuf.h: a piece of a response on its way from a handler to the loop.
 *
 * Made and filled by the handler that runs the request (respond.c), pushed on
 * the worker's return queue (returns.h), from then on the loop's: it is sent in
 * order and freed after its send has completed. The first buffer of a request,
 * its last chunk and its pause marker are embedded in it (OUT_EMBEDDED) and die
 * with it. A buffer may carry no bytes at all (OUT_LAST behind a push).
 *
 * The head. A buffer with OUT_HEAD starts with the application's header lines
 * and the empty line, at data + start; everything before start is free room
 * (OUT_HEADROOM bytes) into which the loop writes, when it begins to send, the
 * status line (request.status_text), Date, Server and Connection: only the
 * loop knows whether the connection closes behind this response.
 */
#ifndef RINGTAIL_OUTBUF_H
#define RINGTAIL_OUTBUF_H

#include <stddef.h>
#include <stdint.h>

struct request;

enum outbuf_flags {
	OUT_HEAD = 1u << 0,         /* begins the final response */
	OUT_LAST = 1u << 1,         /* ends it: the request comes back to the loop with it */
	OUT_EMBEDDED = 1u << 2,     /* memory of the request: not freed */
	OUT_PAUSED = 1u << 3,       /* the generator is paused on req->handler until buffered falls. No data; not to be queued:
	                               the same marker comes again with the next pause */
	OUT_FILE = 1u << 4,         /* file_len bytes of fd from file_off follow data; the loop closes fd */
	OUT_INTERIM = 1u << 5,      /* a complete 1xx response of its own, status line included, from data + start */
	OUT_ABORT = 1u << 6,        /* the response is broken: cut the connection after what was sent; comes with OUT_LAST */
	OUT_CLOSE = 1u << 7,        /* the connection must close behind this response (framing by close, error) */
	OUT_HAS_DATE = 1u << 8,     /* the application gave Date: do not add one */
	OUT_HAS_SERVER = 1u << 9,
	OUT_CHUNKED = 1u << 10,     /* framed by chunks, for the log */
	OUT_PROTO_ERROR = 1u << 11, /* made by the server, not by the application (for counters) */
};

/* Longest status line (reason cut at 128) + Date + Server + Connection: keep-alive or close, CRLFs. */
#define OUT_HEADROOM 320u

struct outbuf {
	struct outbuf *next;
	struct request *req;
	uint32_t flags;
	int fd;
	uint64_t file_off;
	uint64_t file_len;
	size_t charged; /* bytes that the push added to req->buffered: what the loop gives to respond_sent in all */
	size_t start;  /* first byte to send */
	size_t end;    /* behind the last */
	size_t cap;
	char *data;
};

/* Handler or loop. A heap buffer with room for cap bytes behind start, or NULL. */
struct outbuf *outbuf_new(struct request *req, size_t start, size_t cap);

/* Owner. As outbuf_new, keeps the bytes between start and end. out is gone unless NULL is returned. Not for OUT_EMBEDDED. */
struct outbuf *outbuf_grow(struct outbuf *out, size_t cap);

/* Closes fd when OUT_FILE, frees unless OUT_EMBEDDED. */
void outbuf_free(struct outbuf *out);

#endif
