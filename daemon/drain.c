/* SPDX-License-Identifier: Apache-2.0 */
/* drain.c: see drain.h. */
#include "drain.h"

#include "accept.h"
#include "config.h"
#include "conn.h"
#include "flow.h"
#include "lib/clock.h"
#include "log.h"
#include "loop.h"
#include "worker.h"

#define QUICK_NS (2 * RTAIL_S)
/* A peer that was answered and told to close has this long to do so before the process ends. */
#define LINGER_AT_END_NS (500 * RTAIL_MS)

static void take_leftovers(struct loop *loop)
{
	struct conn *conn;

	while ((conn = accept_leftover(loop)) != NULL)
		flow_accepted(loop, conn);
	accept_close(loop);
	loop->has_closed_listeners = true;
}

uint64_t drain_time_ns(const struct config *config, int mode)
{
	switch (mode) {
	case STOP_GRACEFUL:
		return config->graceful_timeout;
	case STOP_QUICK:
		return config->graceful_timeout < QUICK_NS ? config->graceful_timeout : QUICK_NS;
	default:
		return 0;
	}
}

/* A connection that is not in a request: nothing is lost by closing it. */
static bool is_idle(const struct conn *conn)
{
	return conn->state == CONN_IDLE;
}

/* Connections whose request was (partly) received and not yet answered. */
static uint32_t busy_count(struct loop *loop)
{
	uint32_t busy = 0;

	for (uint32_t i = 0; i < loop->conns.high; i++) {
		const struct conn *conn = conn_at(&loop->conns, i);

		if (conn->state != CONN_FREE && conn->state != CONN_LINGER && !is_idle(conn))
			busy++;
	}
	return busy;
}

static void close_idle(struct loop *loop)
{
	for (uint32_t i = 0; i < loop->conns.high; i++) {
		struct conn *conn = conn_at(&loop->conns, i);

		/* A connection that has just come out of the accept queue has its first request on the way. */
		if (conn->state == CONN_LINGER && loop->now_ns - conn->idle_since_ns > LINGER_AT_END_NS)
			flow_abort(loop, conn, CONN_CLOSE_STOP);
		else if (is_idle(conn) && (conn->requests || loop->stop_mode > STOP_GRACEFUL ||
				      loop->now_ns - conn->idle_since_ns > RTAIL_S))
			flow_close_idle(loop, conn, CONN_CLOSE_STOP);
	}
}

static void abort_all(struct loop *loop)
{
	uint32_t busy = busy_count(loop);

	if (busy && loop->stop_mode < STOP_NOW)
		log_warning("%u %s cut at the stop: not answered within %s", busy, busy == 1 ? "request was" : "requests were",
			    loop->stop_mode == STOP_GRACEFUL ? "graceful-timeout" : "the 2 s of a quick stop");
	for (uint32_t i = 0; i < loop->conns.high; i++) {
		struct conn *conn = conn_at(&loop->conns, i);

		if (conn->state != CONN_FREE)
			flow_abort(loop, conn, CONN_CLOSE_STOP);
	}
}

/* A stop that takes longer than a moment says what it waits for. */
static void say_waiting(struct loop *loop)
{
	uint32_t busy;

	if (loop->has_said_waiting || loop->now_ns - loop->stop_began_ns < RTAIL_S)
		return;
	loop->has_said_waiting = true;
	busy = busy_count(loop);
	if (busy)
		log_info("stopping: %u %s still being answered, for %llu s at most", busy, busy == 1 ? "request is" : "requests are",
			 (unsigned long long)((loop->stop_deadline_ns - loop->now_ns + RTAIL_S - 1) / RTAIL_S));
}

bool drain_step(struct loop *loop)
{
	int mode = atomic_load_explicit(&loop->worker->stop_mode, memory_order_relaxed);

	if (mode == STOP_NONE)
		return false;
	if (mode > loop->stop_mode) {
		uint64_t until = loop->now_ns + drain_time_ns(loop->config, mode);

		if (!loop->stop_deadline_ns || until < loop->stop_deadline_ns)
			loop->stop_deadline_ns = until;
		loop->stop_mode = mode;
	}
	if (!loop->is_draining) {
		loop->is_draining = true;
		loop->stop_began_ns = loop->now_ns;
		accept_stop(loop);
	}
	if (!loop->has_closed_listeners && accept_is_stopped(loop))
		take_leftovers(loop);
	if (loop->now_ns >= loop->stop_deadline_ns) {
		abort_all(loop);
		return true;
	}
	say_waiting(loop);
	/* Idle connections last: while others are served, a keep-alive client may still ask (and is told to close). */
	if (loop->stop_mode > STOP_GRACEFUL || !busy_count(loop))
		close_idle(loop);
	return loop->conns.count == 0 && loop->has_closed_listeners;
}
