/* SPDX-License-Identifier: Apache-2.0 */
/* recv.c: see recv.h. */
#include "recv.h"

#include <errno.h>
#include <sys/socket.h>

#include "conn.h"
#include "engine.h"
#include "loop.h"

enum recv_verdict recv_arm(struct loop *loop, struct conn *conn)
{
	conn->is_recv_stopped = false;
	if (conn->is_recv_armed || conn->has_fin || conn->state == CONN_CLOSED)
		return RECV_NOTHING;
	/*
	 * Of a unix socket a multishot receive misses a FIN that comes with bytes (6.18: one wake-up for both, and a queue that
	 * is empty behind the bytes); TCP tells it. A receive of its own for each piece looks again.
	 */
	if (engine_recv(loop->engine, conn_handle(conn), conn->fd, conn->peer.family != AF_UNIX))
		return RECV_RESET;
	conn->is_recv_armed = true;
	conn->inflight++;
	return RECV_NOTHING;
}

void recv_stop(struct loop *loop, struct conn *conn)
{
	if (!conn->is_recv_stopped && conn->is_recv_armed)
		engine_cancel(loop->engine, ENGINE_RECV, conn_handle(conn));
	conn->is_recv_stopped = true;
}

void recv_watch_hangup(struct loop *loop, struct conn *conn)
{
	if (conn->is_hangup_armed || conn->state == CONN_CLOSED)
		return;
	if (engine_hangup(loop->engine, conn_handle(conn), conn->fd) == 0) {
		conn->is_hangup_armed = true;
		conn->inflight++;
	}
}

enum recv_verdict recv_done(struct loop *loop, struct conn *conn, const struct completion *completion)
{
	if (!completion->has_more) {
		conn->is_recv_armed = false;
		conn->inflight--;
	}
	if (completion->res > 0) {
		/* A multishot receive ends for many reasons (completion queue full, its share of a pass used): arm it again. */
		if (!conn->is_recv_armed && !conn->is_recv_stopped && conn->state != CONN_CLOSED &&
		    recv_arm(loop, conn) == RECV_RESET)
			return RECV_RESET;
		return RECV_BYTES;
	}
	if (completion->res == 0) {
		conn->has_fin = true;
		return RECV_FIN;
	}
	switch (-completion->res) {
	case ENOBUFS:   /* every buffer is out: they are back with the next submission */
	case EINTR:
	case EAGAIN:
	case ECANCELED: /* asked for by recv_stop, or overtaken by a recv_arm since */
		return conn->is_recv_stopped || conn->state == CONN_CLOSED ? RECV_NOTHING : recv_arm(loop, conn);
	default:
		return RECV_RESET;
	}
}
