/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recv.h: stage: bytes from a connection. One multishot receive stands as long
 * as bytes are wanted. Loop thread.
 */
#ifndef RINGTAIL_RECV_H
#define RINGTAIL_RECV_H

struct completion;
struct conn;
struct loop;

enum recv_verdict {
	RECV_NOTHING,
	RECV_BYTES,  /* completion->data, res bytes */
	RECV_FIN,    /* the peer has shut down its sending side */
	RECV_RESET,  /* the connection is broken */
};

/* Arms the receive unless it stands. */
enum recv_verdict recv_arm(struct loop *loop, struct conn *conn);

/* No more bytes for now: backpressure to the peer. recv_arm goes on. */
void recv_stop(struct loop *loop, struct conn *conn);

/* Watches for a reset while no receive stands. */
void recv_watch_hangup(struct loop *loop, struct conn *conn);

enum recv_verdict recv_done(struct loop *loop, struct conn *conn, const struct completion *completion);

#endif
