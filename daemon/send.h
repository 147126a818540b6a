/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.h: stage: the pieces of a response go out in order, one send underway a
 * connection. Writes the status line and the loop's own headers in front of a
 * head when its turn has come. Loop thread.
 */
#ifndef RINGTAIL_SEND_H
#define RINGTAIL_SEND_H

#include <stdbool.h>
#include <stdint.h>

struct completion;
struct conn;
struct loop;
struct outbuf;

enum send_verdict {
	SEND_MORE,    /* something is underway, or the response goes on */
	SEND_DONE,    /* the last byte of the response was handed to the kernel */
	SEND_CUT,     /* as SEND_DONE, but the response is broken: the peer must see that */
	SEND_FAILED,  /* the peer is gone */
};

/* Appends; out is the connection's from now on. */
void send_queue(struct conn *conn, struct outbuf *out);

/* Sends the next piece unless one is underway. */
enum send_verdict send_next(struct loop *loop, struct conn *conn);

/* A send, or the read of a file's next piece, has completed. */
enum send_verdict send_done(struct loop *loop, struct conn *conn, const struct completion *completion);
enum send_verdict send_file_read(struct loop *loop, struct conn *conn, const struct completion *completion);

/* To a half-closed peer: the first bytes of the status line, which a peer that is gone answers with a reset. */
void send_prefix(struct loop *loop, struct conn *conn);

/* "HTTP/1.1 100 Continue". 0 or -ENOMEM. */
int send_continue(struct loop *loop, struct conn *conn);

/* Frees what is queued, but for a piece that is underway. */
void send_drop(struct conn *conn);

/* Sets CONN_TIMER_WRITE for the next look of send_is_stalled. */
void send_set_timer(struct loop *loop, struct conn *conn);

/* At each CONN_TIMER_WRITE: true when the peer has taken nothing for write-timeout. */
bool send_is_stalled(struct conn *conn);

/* The seconds of Date have moved on, or the loop starts. */
void send_refresh_fixed(struct loop *loop);

#endif
