/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h: one request, from its first header byte to its last response byte.
 *
 * Life: the loop takes it from the worker's free list when the first byte of a
 * request arrives (request_new), parse and body fill it, admit hands it to the
 * pool; a handler thread reads it and writes the response (respond.h); with the
 * out buffer that carries OUT_LAST it is handed back, the loop sends what is
 * left, logs it and puts it back on the free list (request_free).
 *
 * Owner: the loop, but for the time between admit and OUT_LAST, when a handler
 * owns all members except those marked "shared" (atomics) and "loop". The
 * connection outlives its request: peer and local stay valid.
 */
#ifndef RINGTAIL_REQUEST_H
#define RINGTAIL_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elastic.h"
#include "outbuf.h"

struct worker;
struct conn;
struct returns;
struct request;
struct arena_block;

/*
 * The free requests of a worker, and what each request is given. One thread, the loop. Set returns, send_buffer and
 * keep_sent_head behind request_pool_init, before the first request_new.
 */
struct request_pool {
	struct request *free;
	size_t count;          /* on the free list */
	size_t cap;            /* at most so many are kept */
	size_t live;           /* handed out */
	struct returns *returns;
	uint64_t send_buffer;  /* UINT64_MAX: no limit (--threads 0, where waiting would stop the loop itself) */
	bool keep_sent_head;   /* the access log names $sent_http_ */
};

/* Bytes of request.head: offsets, because head may move while it grows. */
struct span {
	uint32_t off;
	uint32_t len;
};

struct header {
	struct span name; /* as received */
	struct span value; /* without surrounding white space */
};

/* One end of a connection. Text forms are NUL-terminated; unix sockets have addr "" and port "". */
struct endpoint {
	char addr[48];
	char port[8];
	uint8_t addr_len;
	uint8_t port_len;
	uint8_t family; /* AF_INET, AF_INET6, AF_UNIX */
	uint8_t ip[16]; /* network order, 4 or 16 bytes by family */
};

enum body_kind {
	BODY_NONE = 0, /* no body, or an empty one */
	BODY_MEMORY,
	BODY_FILE, /* an unlinked file */
};

struct body {
	enum body_kind kind;
	int fd;         /* BODY_FILE */
	char *data;     /* BODY_MEMORY */
	uint64_t len;   /* bytes received */
	uint64_t cap;   /* loop */
};

/* CLOCK_MONOTONIC ns; 0 = has not happened. SPEC 6 names them. */
struct request_times {
	uint64_t received;   /* first header byte (loop) */
	uint64_t queued;     /* given to the pool (loop) */
	uint64_t popped;     /* taken by a handler (handler) */
	uint64_t attached;   /* the handler has the GIL (handler) */
	uint64_t returned;   /* the application is done with it (handler) */
	uint64_t taken;      /* the loop has the response (loop) */
	uint64_t first_sent; /* first byte handed to the kernel (loop) */
	uint64_t last_sent;  /* last byte handed to the kernel (loop) */
};

#define REQUEST_HEAD_INLINE 2048
#define REQUEST_HEADERS_INLINE 24
#define REQUEST_OUT_INLINE 3072

struct text {
	const char *ptr; /* not NUL-terminated unless said */
	size_t len;
};

struct respond_state {
	bool is_started;        /* respond_start was called */
	bool is_head_sent;      /* the head has been handed over (or lies complete in the current buffer behind a push) */
	bool is_chunked;
	bool is_bodyless;       /* HEAD, 204, 205, 304: body bytes are counted but not sent */
	bool is_finished;
	bool is_aborted;
	bool is_length_known;   /* content_length holds */
	uint16_t status;
	uint64_t content_length;
	uint64_t body_bytes;    /* given by the application */
	uint64_t sent_bytes;    /* of the body, after cutting to Content-Length: for the log */
	bool is_length_given;   /* the application gave Content-Length */
	bool is_sealed;         /* framing decided, the empty line is written */
	bool is_cut_told;
	bool is_chunk_open;     /* a file in a chunk: its CRLF comes with what follows */
	uint64_t body_hint;     /* respond_body_length */
	struct outbuf *cur;     /* being filled; the handler's */
	uint32_t flags;         /* OUT_HAS_DATE ... collected for the head */
};

struct request {
	struct request *next_free; /* loop */
	struct worker *worker;
	struct request_pool *pool;
	struct returns *returns;   /* of the worker */
	uint64_t send_buffer;      /* limit of buffered */
	bool keep_sent_head;
	struct conn *conn;         /* loop: never followed by a handler */

	/* What was received. Read-only once admitted. */
	char *head;                /* request line and header block, as received, without the final empty line */
	uint32_t head_len;
	uint32_t head_cap;         /* loop */
	uint8_t version_minor;     /* HTTP/1.x */
	bool is_keepalive;         /* the client's wish, by version and Connection */
	bool is_head;              /* method HEAD */
	bool expects_continue;
	bool is_chunked;           /* the request's body came chunked */
	bool has_content_length;
	uint64_t content_length;
	struct span method;
	struct span target;        /* as received: RAW_URI */
	struct span query;         /* without '?' ; len 0 = none */
	struct span host;          /* value of the Host field */
	struct span block;         /* all header lines as received: key of the environ template */
	struct header *headers;    /* those with a legal name without '_' */
	uint32_t header_count;
	uint32_t header_cap;       /* loop */
	uint32_t dropped_names;    /* names with '_' */
	uint64_t block_hash;       /* a hash of the block's bytes, never 0 */
	const struct endpoint *peer;
	const struct endpoint *local;
	struct body body;

	/* What it means, after script-name and trusted proxies (parse.c, forwarded.c). Memory: the request's arena. */
	struct text script_name;   /* decoded, latin-1 bytes */
	struct text path_info;     /* decoded, latin-1 bytes */
	struct text client_addr;   /* REMOTE_ADDR */
	struct text client_port;   /* REMOTE_PORT, may be empty */
	struct text scheme;        /* "http" or "https" */
	struct text forwarded_host;/* replaces HTTP_HOST when len > 0 */
	struct text id;            /* X-Request-ID from a trusted peer, else made; len 0 until request_id() makes it */

	/* The response. */
	struct respond_state resp; /* handler */
	struct outbuf out;         /* the first buffer, its data is out_inline */
	struct outbuf out_last;    /* ends a response whose buffers are all handed over, without memory */
	struct outbuf out_pause;   /* the pause marker */
	char out_last_inline[8];
	struct text sent_head;     /* with keep_sent_head: the header lines as sent, but for those of the loop */
	const char *status_text;   /* "200 OK"; static or arena */
	uint32_t status_text_len;
	int handler;               /* index of the pool thread that called the application, -1 = none */
	void *python;              /* daemon/python's, between pauses */
	bool *ret_paused;          /* handler.c's: respond_pause sets it before it gives the request up; may be NULL */
	struct rtail_message message; /* loop: resume or close of a paused generator */

	/* shared */
	_Atomic uint64_t buffered; /* response bytes handed over and not yet sent: handler adds, loop subtracts */
	_Atomic uint32_t gone;     /* 1: nobody will read the response (client gone, or stopping at once) */
	_Atomic uint32_t writer;   /* futex word of respond_wait(): 1 while a handler waits for room */

	struct request_times times;
	char *arena;               /* bump allocation, see request_alloc */
	uint32_t arena_used, arena_cap;
	struct arena_block *arena_more;

	struct header headers_inline[REQUEST_HEADERS_INLINE];
	char head_inline[REQUEST_HEAD_INLINE];
	char out_inline[REQUEST_OUT_INLINE];
	_Alignas(8) char arena_inline[512];
};

static inline const char *request_ptr(const struct request *req, struct span span)
{
	return req->head + span.off;
}

/* Owner of the request. Memory that lives as long as it; 8-byte aligned; NULL when out of memory. */
void *request_alloc(struct request *req, size_t size);

/* Owner. The value of the first header of this name (any case), or ptr NULL. */
struct text request_header(const struct request *req, const char *name, size_t name_len);

/* Owner. The request's id, made (32 hex digits) when it has none yet. Never fails: "-" without memory. */
struct text request_id(struct request *req);

/* Loop. cap: how many free requests are kept. */
void request_pool_init(struct request_pool *pool, size_t cap);
/* Loop. Frees the free list; every request must have come back. */
void request_pool_done(struct request_pool *pool);

/* Loop. Fresh request for a connection, or NULL without memory. */
struct request *request_new(struct request_pool *pool, struct worker *worker, struct conn *conn);

/* Loop. Frees body, arena and grown buffers. Every outbuf of it must be gone. */
void request_free(struct request *req);

#endif
