/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h: one connection and the table of them. Loop thread only.
 *
 * Life: conn_open at accept; then the states below; conn_shut ends
 * the connection when nothing more can be read or sent, conn_close gives the
 * descriptor back when nothing underway names it; the memory goes back
 * (conn_reap) when no submission names the connection any more (inflight == 0)
 * and no request of it is out (req == NULL). A completion names a connection by
 * index and generation: one that is gone is recognised, never dereferenced.
 *
 *   IDLE    between requests: no request object, no buffer
 *   HEAD    some bytes of a head are here
 *   BODY    head complete, body on its way (or being written to its file)
 *   BUSY    the request is with the pool, or its response is being sent;
 *           bytes that arrive wait in the stash
 *   LINGER  our side is shut down; what arrives is thrown away until the peer
 *           closes or a time has passed, so that the peer can read our answer
 *   CLOSED  descriptor shut down; waits for its submissions and its request
 */
#ifndef RINGTAIL_CONN_H
#define RINGTAIL_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "outbuf.h"
#include "parse.h"
#include "request.h"
#include "timer.h"

struct loop;

enum conn_state {
	CONN_FREE = 0,
	CONN_IDLE,
	CONN_HEAD,
	CONN_BODY,
	CONN_BUSY,
	CONN_LINGER,
	CONN_CLOSED,
};

/* What conn.timer is set for. */
enum conn_timer {
	CONN_TIMER_IDLE,
	CONN_TIMER_HEADER,
	CONN_TIMER_BODY,
	CONN_TIMER_WRITE,
	CONN_TIMER_HALF_CLOSED, /* FIN seen, answer pending: send the status line's first bytes */
	CONN_TIMER_WATCH,       /* the view takes its time: watch for a reset */
	CONN_TIMER_LINGER,
};

#define CONN_CLOSE_REASONS(X) \
	X(CLIENT, "client") \
	X(RESET, "reset") \
	X(REQUESTED, "requested") \
	X(CAP, "max-keepalive-requests") \
	X(IDLE, "idle-timeout") \
	X(HEADER, "header-timeout") \
	X(BODY, "body-timeout") \
	X(WRITE, "write-timeout") \
	X(REFUSED, "refused") \
	X(RESPONSE, "response") \
	X(LIMIT, "max-connections") \
	X(STOP, "stop") \
	X(ERROR, "error")

enum conn_close {
	CONN_CLOSE_NONE = 0,
#define X(id, text) CONN_CLOSE_##id,
	CONN_CLOSE_REASONS(X)
#undef X
	CONN_CLOSES,
};

struct conn {
	uint32_t index;
	uint32_t generation; /* 24 bits */
	int fd;
	uint8_t state;
	uint8_t close_reason;   /* why it will close, or closed */
	uint8_t prefix_sent;    /* of "HTTP/1.1 ", for a half-closed peer; taken off the response */
	bool is_recv_armed : 1;
	bool is_recv_stopped : 1;   /* cancelled, the stash is full: armed again when it is empty */
	bool is_hangup_armed : 1;
	bool is_sending : 1;
	bool is_prefix_sending : 1;
	bool has_fin : 1;           /* the peer has shut down its side */
	bool is_gone : 1;           /* nobody reads what we would send */
	bool is_paused : 1;         /* a generator waits for room */
	bool is_with_handler : 1;   /* the request is a handler's: OUT_LAST has not come back */
	bool is_counted : 1;        /* the present request is in requests */
	bool is_closing : 1;        /* close behind the present response, announced in it */
	bool is_first_out : 1;      /* nothing of the present response was handed to the kernel yet */
	uint16_t inflight;      /* submissions whose completion is still to come */
	uint32_t requests;      /* begun on this connection */
	uint64_t id;
	uint64_t idle_since_ns; /* IDLE and LINGER: since when */
	uint64_t bytes_sent;    /* of the present response */
	uint64_t acked_mark;    /* write progress at the last look, send.c */
	uint8_t stalled_looks;  /* looks since it moved */
	struct timer timer;
	const struct endpoint *local;
	struct request *req;
	struct outbuf *out_head, *out_tail;
	char *stash;            /* bytes behind the present request */
	uint32_t stash_len, stash_off, stash_cap;
	struct body_spill *spill;
	char *file;             /* the piece of a file that is being sent */
	uint32_t file_at, file_end;
	struct conn *next_free;
	struct parse parse;
	struct endpoint peer;
};

struct conn_table {
	struct conn **slabs;
	uint32_t slab_count, slab_cap;
	struct conn *free;
	uint32_t count;         /* open or closing */
	uint32_t high;          /* indexes ever used */
	uint64_t next_id;
};

void conn_table_init(struct conn_table *table);
void conn_table_done(struct conn_table *table);

/* NULL without memory. */
struct conn *conn_open(struct conn_table *table, int fd, const struct endpoint *local);

/* The connection a completion names, or NULL when it is gone. */
struct conn *conn_find(struct conn_table *table, uint64_t handle);

/* The connection at an index below table->high; its state may be CONN_FREE. */
struct conn *conn_at(struct conn_table *table, uint32_t index);

static inline uint64_t conn_handle(const struct conn *conn)
{
	return (uint64_t)conn->generation << 32 | conn->index;
}

/* Fills peer (getpeername). */
void conn_read_peer(struct conn *conn);

/* Keeps bytes that arrived behind the present request. 0 or -ENOMEM. */
int conn_stash(struct conn *conn, const char *data, size_t len);
void conn_stash_drop(struct conn *conn);

/*
 * Ends the connection: both directions are shut down, so that a copy of the descriptor in a forked child does not keep it
 * open; or, is_reset, the peer is sent a reset. The descriptor stays until conn_close.
 */
void conn_shut(struct conn *conn, bool is_reset);

/*
 * Closes the descriptor, once no submission names it (inflight == 0): one that is queued and not yet submitted would else
 * reach whatever gets the number next.
 */
void conn_close(struct conn *conn);

/* Memory back, once nothing names it. */
void conn_reap(struct conn_table *table, struct conn *conn);

const char *conn_close_text(enum conn_close reason);

#endif
