/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c: routes between the stages; see flow.h for the road and conn.h for the
 * states. Every function that may end a connection is followed by settle(),
 * which gives its memory back when nothing names it any more: nothing may touch
 * the connection behind settle().
 */
#include "flow.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "accept.h"
#include "access_log.h"
#include "admit.h"
#include "body.h"
#include "check.h"
#include "config.h"
#include "engine.h"
#include "lib/clock.h"
#include "log.h"
#include "loop.h"
#include "parse.h"
#include "recv.h"
#include "refusal_log.h"
#include "respond.h"
#include "send.h"
#include "worker.h"

/* What a connection may have buffered behind its present request before we stop reading from it. */
#define STASH_MAX (64u * 1024u)
#define LINGER_NS (5 * RTAIL_S)

/*
 * A reset that arrives together with bytes can be missed by a multishot receive (seen on 6.18: the one wake-up is used for
 * the bytes): a connection that waits for the rest of a request, or for its view, is watched by a poll of its own.
 */
#define WATCH_NS (20 * RTAIL_MS)

static void sent(struct loop *loop, struct conn *conn, enum send_verdict verdict);

static void set_state(struct loop *loop, struct conn *conn, enum conn_state state)
{
	if (conn->state == CONN_IDLE)
		loop->idle_count--;
	if (state == CONN_IDLE)
		loop->idle_count++;
	conn->state = state;
}

static void set_timer(struct loop *loop, struct conn *conn, enum conn_timer kind, uint64_t after_ns)
{
	if (after_ns)
		timer_set(&loop->timers, &conn->timer, kind, loop->now_ns + after_ns);
	else
		timer_clear(&conn->timer);
}

/* The request is over: log line, histograms, memory. */
static void request_over(struct loop *loop, struct conn *conn)
{
	struct request *req = conn->req;

	if (conn->is_counted) { /* else nothing but empty lines came: not a request */
		if (access_log_is_on()) {
			struct access_info info = {
				.conn_id = conn->id,
				.conn_requests = conn->requests,
				.bytes_sent = conn->bytes_sent,
				.request_length = (uint64_t)req->head_len + req->body.len,
				.status = conn->is_gone ? 0 : req->resp.status,
				.close_reason = conn_close_text((enum conn_close)conn->close_reason),
			};

			access_log_write(req, &info);
		}
		report_record(&loop->rows, req);
	}
	conn->req = NULL;
	conn->is_counted = false;
	conn->bytes_sent = 0;
	request_free(req);
}

/* Memory back once nothing names the connection. */
static void settle(struct loop *loop, struct conn *conn)
{
	if (conn->state != CONN_CLOSED)
		return;
	if (!conn->inflight)
		conn_close(conn);
	if (!conn->is_sending && conn->out_head)
		send_drop(conn);
	if (conn->req && !conn->is_with_handler && !conn->is_sending && !conn->spill)
		request_over(loop, conn);
	if (conn->req || conn->inflight)
		return;
	if (conn->file)
		send_drop(conn);
	timer_remove(&loop->timers, &conn->timer);
	conn_reap(&loop->conns, conn);
	accept_arm(loop);
}

static void close_how(struct loop *loop, struct conn *conn, enum conn_close reason, bool is_reset)
{
	if (conn->state == CONN_CLOSED)
		return;
	if (!conn->close_reason)
		conn->close_reason = (uint8_t)reason;
	loop->closes[conn->close_reason]++;
	set_state(loop, conn, CONN_CLOSED);
	timer_clear(&conn->timer);
	if (conn->is_recv_armed)
		engine_cancel(loop->engine, ENGINE_RECV, conn_handle(conn));
	if (conn->is_hangup_armed)
		engine_cancel(loop->engine, ENGINE_HANGUP, conn_handle(conn));
	conn_shut(conn, is_reset);
	body_drop(conn);
	send_drop(conn);
}

/* Closes without waiting for the peer: nothing of ours is on its way. */
static void close_now(struct loop *loop, struct conn *conn, enum conn_close reason)
{
	close_how(loop, conn, reason, false);
}

static void cut_how(struct loop *loop, struct conn *conn, enum conn_close reason, bool is_reset)
{
	if (conn->state == CONN_CLOSED)
		return;
	if (conn->req) {
		conn->is_gone = true;
		if (reason == CONN_CLOSE_RESET || !conn->close_reason)
			conn->close_reason = (uint8_t)reason;
	}
	close_how(loop, conn, reason, is_reset);
	if (conn->req && conn->is_with_handler) {
		respond_set_gone(conn->req);
		if (conn->is_paused) {
			conn->is_paused = false;
			admit_resume(loop, conn->req);
		}
	}
}

static void cut(struct loop *loop, struct conn *conn, enum conn_close reason)
{
	cut_how(loop, conn, reason, false);
}

void flow_close_idle(struct loop *loop, struct conn *conn, enum conn_close reason)
{
	close_now(loop, conn, reason);
	settle(loop, conn);
}

/* The peer sees a reset: a response framed by the end of the connection must not look complete. */
static void cut_with_reset(struct loop *loop, struct conn *conn, enum conn_close reason)
{
	cut_how(loop, conn, reason, true);
}

static void close_in_order(struct loop *loop, struct conn *conn, enum conn_close reason)
{
	if (conn->state == CONN_CLOSED || conn->state == CONN_LINGER)
		return;
	if (!conn->close_reason)
		conn->close_reason = (uint8_t)reason;
	if (conn->has_fin) {
		close_now(loop, conn, reason);
		return;
	}
	set_state(loop, conn, CONN_LINGER);
	conn->idle_since_ns = loop->now_ns;
	conn_stash_drop(conn);
	shutdown(conn->fd, SHUT_WR);
	set_timer(loop, conn, CONN_TIMER_LINGER, LINGER_NS);
	if (recv_arm(loop, conn) == RECV_RESET)
		close_now(loop, conn, reason);
}

/* Answers without the application. Nothing that arrives behind it is parsed. */
static void refuse(struct loop *loop, struct conn *conn, const char *status, const char *extra, enum conn_close reason)
{
	conn->is_closing = true;
	conn->close_reason = (uint8_t)reason;
	set_state(loop, conn, CONN_BUSY);
	timer_clear(&conn->timer);
	conn->is_first_out = true;
	conn->is_with_handler = true;
	body_drop(conn);
	conn_stash_drop(conn);
	respond_refuse(conn->req, status, extra);
}

static void refuse_parse(struct loop *loop, struct conn *conn)
{
	refusal_log_add(&loop->refusals, conn, loop->now_ns);
	refuse(loop, conn, parse_refusal_status(conn->parse.refusal), NULL, CONN_CLOSE_REFUSED);
}

/* The whole request is here: to the pool. */
static void dispatch(struct loop *loop, struct conn *conn)
{
	set_state(loop, conn, CONN_BUSY);
	conn->is_first_out = true;
	conn->is_with_handler = true;
	if (conn->has_fin)
		set_timer(loop, conn, CONN_TIMER_HALF_CLOSED, loop->config->pool_wake_age);
	else
		set_timer(loop, conn, CONN_TIMER_WATCH, conn->is_hangup_armed ? 0 : WATCH_NS);
	if (admit_request(loop, conn->req) == ADMIT_FULL) {
		loop->refused_full++;
		respond_refuse(conn->req, "503 Service Unavailable", "Retry-After: 1\r\n");
	}
}

static void body_complete(struct loop *loop, struct conn *conn)
{
	switch (body_end(loop, conn)) {
	case BODY_OK:
		dispatch(loop, conn);
		break;
	case BODY_WAIT:
		timer_clear(&conn->timer); /* it waits for our disk, not for the client */
		break;
	case BODY_FAILED:
		refuse(loop, conn, "500 Internal Server Error", NULL, CONN_CLOSE_ERROR);
	}
}

/* A head is complete and a body follows. */
static void body_begin(struct loop *loop, struct conn *conn, bool is_body_here)
{
	set_state(loop, conn, CONN_BODY);
	set_timer(loop, conn, CONN_TIMER_BODY, loop->config->body_timeout);
	if (!conn->req->expects_continue || is_body_here || conn->req->version_minor == 0)
		return;
	if (send_continue(loop, conn))
		refuse(loop, conn, "503 Service Unavailable", NULL, CONN_CLOSE_ERROR);
	else
		sent(loop, conn, send_next(loop, conn));
}

static bool request_begin(struct loop *loop, struct conn *conn)
{
	struct worker *worker = loop->worker;

	conn->req = request_new(&worker->requests, worker, conn);
	if (!conn->req)
		return false;
	conn->req->peer = &conn->peer;
	conn->req->local = conn->local;
	conn->req->version_minor = 1;
	conn->req->times.received = loop->now_ns;
	parse_reset(&conn->parse, loop->config, conn->req);
	set_state(loop, conn, CONN_HEAD);
	return true;
}

/* Bytes of a head. Returns how many were used; 0 when the connection is done with reading. */
static size_t head_bytes(struct loop *loop, struct conn *conn, const char *data, size_t len)
{
	size_t used = 0;
	enum parse_verdict verdict = parse_head(&conn->parse, data, len, &used);

	if (verdict == PARSE_MORE && conn->req->head_len == 0) {
		request_over(loop, conn);
		set_state(loop, conn, CONN_IDLE);
		return used;
	}
	if (!conn->is_counted) {
		conn->is_counted = true;
		conn->requests++;
	}
	switch (verdict) {
	case PARSE_MORE:
		if (!conn->timer.deadline_ns || conn->timer.kind != CONN_TIMER_HEADER)
			set_timer(loop, conn, CONN_TIMER_HEADER, loop->config->header_timeout);
		recv_watch_hangup(loop, conn);
		return used;
	case PARSE_HEAD:
		body_begin(loop, conn, used < len);
		return used;
	case PARSE_DONE:
		dispatch(loop, conn);
		return used;
	default:
		refuse_parse(loop, conn);
		return 0;
	}
}

static size_t body_bytes(struct loop *loop, struct conn *conn, const char *data, size_t len)
{
	size_t done = 0;

	for (;;) {
		const char *piece = NULL;
		size_t used = 0, piece_len = 0;

		/* Once more behind the last piece, with no bytes left: a body of known length is then told to be complete. */
		switch (parse_body(&conn->parse, data + done, len - done, &used, &piece, &piece_len)) {
		case PARSE_DATA:
			done += used;
			set_timer(loop, conn, CONN_TIMER_BODY, loop->config->body_timeout);
			switch (body_append(loop, conn, piece, piece_len)) {
			case BODY_OK:
				break;
			case BODY_WAIT:
				recv_stop(loop, conn);
				break;
			case BODY_FAILED:
				refuse(loop, conn, "500 Internal Server Error", NULL, CONN_CLOSE_ERROR);
				return 0;
			}
			break;
		case PARSE_MORE:
			recv_watch_hangup(loop, conn);
			return done + used;
		case PARSE_DONE:
			body_complete(loop, conn);
			return done + used;
		default:
			refuse_parse(loop, conn);
			return 0;
		}
	}
}

/* Received bytes, through as many requests as may begin now. Returns how many were used: the rest belongs to later requests. */
static size_t consume(struct loop *loop, struct conn *conn, const char *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t used;

		switch (conn->state) {
		case CONN_IDLE:
			timer_clear(&conn->timer);
			if (!request_begin(loop, conn)) {
				log_error("out of memory: a connection is closed");
				close_now(loop, conn, CONN_CLOSE_ERROR);
				return len;
			}
			/* fall through */
		case CONN_HEAD:
			used = head_bytes(loop, conn, data + done, len - done);
			break;
		case CONN_BODY:
			if (body_is_ending(conn))
				return done;
			used = body_bytes(loop, conn, data + done, len - done);
			if (!used && conn->state == CONN_BODY)
				return done;
			break;
		case CONN_BUSY:
			/* Behind the last request of a connection nothing is parsed. */
			return conn->is_closing ? len : done;
		default:
			return len;
		}
		if (!used)
			return conn->state == CONN_BUSY && !conn->is_closing ? done : len;
		done += used;
	}
	if (conn->state == CONN_IDLE && !conn->timer.deadline_ns)
		set_timer(loop, conn, CONN_TIMER_IDLE, loop->config->idle_timeout);
	return done;
}

static void bytes(struct loop *loop, struct conn *conn, const char *data, size_t len)
{
	size_t used = conn->stash_len > conn->stash_off ? 0 : consume(loop, conn, data, len);

	if (used == len || conn->state == CONN_LINGER || conn->state == CONN_CLOSED)
		return;
	if (conn_stash(conn, data + used, len - used)) {
		log_error("out of memory: a connection is closed");
		cut(loop, conn, CONN_CLOSE_ERROR);
	} else if (conn->stash_len - conn->stash_off > STASH_MAX) {
		recv_stop(loop, conn);
		recv_watch_hangup(loop, conn);
	}
}

static void unstash(struct loop *loop, struct conn *conn)
{
	size_t used = consume(loop, conn, conn->stash + conn->stash_off, conn->stash_len - conn->stash_off);

	if (!conn->stash)
		return; /* the connection was refused or closed */
	conn->stash_off += (uint32_t)used;
	if (conn->stash_off == conn->stash_len)
		conn_stash_drop(conn);
}

/* Between two requests. */
static void next_request(struct loop *loop, struct conn *conn)
{
	set_state(loop, conn, CONN_IDLE);
	conn->idle_since_ns = loop->now_ns;
	if (loop->is_crowded && !conn->stash_len) {
		close_now(loop, conn, CONN_CLOSE_LIMIT); /* somebody waits for its place */
		return;
	}
	set_timer(loop, conn, CONN_TIMER_IDLE, loop->config->idle_timeout);
	if (conn->stash_len)
		unstash(loop, conn);
	if (conn->state == CONN_CLOSED)
		return;
	if (conn->has_fin && conn->state != CONN_BUSY && !body_is_ending(conn)) {
		close_now(loop, conn, CONN_CLOSE_CLIENT);
		return;
	}
	if (conn->is_recv_stopped && conn->stash_len - conn->stash_off <= STASH_MAX / 2 && recv_arm(loop, conn) == RECV_RESET)
		cut(loop, conn, CONN_CLOSE_RESET);
}

static void response_over(struct loop *loop, struct conn *conn, bool is_cut)
{
	enum conn_close reason = (enum conn_close)conn->close_reason;
	const struct respond_state *resp = &conn->req->resp;
	bool is_close_framed = !resp->is_chunked && !resp->is_length_known && !resp->is_bodyless;

	free(conn->file);
	conn->file = NULL;
	conn->file_at = conn->file_end = 0;
	request_over(loop, conn);
	if (is_cut && is_close_framed)
		cut_with_reset(loop, conn, CONN_CLOSE_RESPONSE);
	else if (is_cut || conn->is_closing)
		close_in_order(loop, conn, reason ? reason : CONN_CLOSE_RESPONSE);
	else
		next_request(loop, conn);
}

/*
 * The peer has its whole answer, which has no body, and has said that it will send no more: nothing is left to be sent that
 * would tell whether it is still there, and its view may go on for ever (HEAD of an event stream).
 */
static bool is_answered(const struct conn *conn)
{
	return conn->state == CONN_BUSY && conn->has_fin && conn->is_with_handler && !conn->is_first_out && !conn->is_sending &&
	       !conn->out_head && conn->stash_len == conn->stash_off && conn->req->resp.is_bodyless;
}

static void end_answered(struct loop *loop, struct conn *conn)
{
	cut(loop, conn, CONN_CLOSE_CLIENT);
	conn->is_gone = false; /* for the log: it was answered */
}

/* What a verdict of the send stage leads to. */
static void sent(struct loop *loop, struct conn *conn, enum send_verdict verdict)
{
	switch (verdict) {
	case SEND_MORE:
		if (conn->is_paused && conn->is_with_handler && respond_has_room(conn->req)) {
			conn->is_paused = false;
			admit_resume(loop, conn->req);
		}
		if (is_answered(conn))
			end_answered(loop, conn);
		break;
	case SEND_DONE:
		response_over(loop, conn, false);
		break;
	case SEND_CUT:
		response_over(loop, conn, true);
		break;
	case SEND_FAILED:
		cut(loop, conn, CONN_CLOSE_RESET);
	}
}

/* The peer will send no more. A half-closed peer still reads: what it asked for is answered. */
static void fin(struct loop *loop, struct conn *conn)
{
	switch (conn->state) {
	case CONN_IDLE:
	case CONN_HEAD:
		close_now(loop, conn, CONN_CLOSE_CLIENT);
		break;
	case CONN_BODY:
		if (!body_is_ending(conn)) {
			close_now(loop, conn, CONN_CLOSE_CLIENT);
			break;
		}
		/* fall through */
	case CONN_BUSY:
		recv_watch_hangup(loop, conn);
		if (conn->is_first_out && !conn->is_sending && !conn->out_head)
			set_timer(loop, conn, CONN_TIMER_HALF_CLOSED, loop->config->pool_wake_age);
		else if (is_answered(conn))
			end_answered(loop, conn);
		break;
	case CONN_LINGER:
		close_now(loop, conn, (enum conn_close)conn->close_reason);
		break;
	default:
		break;
	}
}

void flow_accepted(struct loop *loop, struct conn *conn)
{
	loop->idle_count++; /* conn_open made it idle */
	conn->idle_since_ns = loop->now_ns;
	/* The first request has to begin within header-timeout: a connection that says nothing is no keep-alive one. */
	set_timer(loop, conn, CONN_TIMER_IDLE, loop->config->header_timeout);
	if (recv_arm(loop, conn) == RECV_RESET) {
		close_now(loop, conn, CONN_CLOSE_ERROR);
		settle(loop, conn);
	}
}

static void received(struct loop *loop, struct conn *conn, const struct completion *completion)
{
	switch (recv_done(loop, conn, completion)) {
	case RECV_BYTES:
		bytes(loop, conn, completion->data, (size_t)completion->res);
		break;
	case RECV_FIN:
		fin(loop, conn);
		break;
	case RECV_RESET:
		cut(loop, conn, CONN_CLOSE_RESET);
		break;
	case RECV_NOTHING:
		break;
	}
}

static void written(struct loop *loop, struct conn *conn, const struct completion *completion)
{
	bool is_ending = body_is_ending(conn);

	switch (body_written(loop, conn, completion)) {
	case BODY_OK:
		if (conn->state != CONN_BODY)
			break;
		if (is_ending)
			dispatch(loop, conn);
		else if (conn->is_recv_stopped && recv_arm(loop, conn) == RECV_RESET)
			cut(loop, conn, CONN_CLOSE_RESET);
		break;
	case BODY_WAIT:
		break;
	case BODY_FAILED:
		if (conn->state == CONN_BODY)
			refuse(loop, conn, "500 Internal Server Error", NULL, CONN_CLOSE_ERROR);
	}
}

void flow_abort(struct loop *loop, struct conn *conn, enum conn_close reason)
{
	cut(loop, conn, reason);
	settle(loop, conn);
}

void flow_completion(struct loop *loop, const struct completion *completion)
{
	struct conn *conn;

	if (completion->kind == ENGINE_ACCEPT) {
		conn = accept_done(loop, completion);
		if (conn)
			flow_accepted(loop, conn);
		accept_arm(loop);
		return;
	}
	if (completion->kind == ENGINE_READABLE) {
		conn = accept_watched(loop, completion);
		if (conn)
			flow_close_idle(loop, conn, CONN_CLOSE_LIMIT);
		return;
	}
	if (completion->kind == ENGINE_EVENT)
		return; /* it has ended the wait, that is all it is for */
	conn = conn_find(&loop->conns, completion->handle);
	if (!conn)
		return;
	switch (completion->kind) {
	case ENGINE_RECV:
		received(loop, conn, completion);
		break;
	case ENGINE_SEND:
		if (conn->state == CONN_CLOSED) {
			conn->inflight--;
			conn->is_sending = false;
			conn->is_prefix_sending = false;
		} else {
			sent(loop, conn, send_done(loop, conn, completion));
		}
		break;
	case ENGINE_READ:
		if (conn->state == CONN_CLOSED) {
			conn->inflight--;
			conn->is_sending = false;
		} else {
			sent(loop, conn, send_file_read(loop, conn, completion));
		}
		break;
	case ENGINE_WRITE:
		written(loop, conn, completion);
		break;
	case ENGINE_HANGUP:
		if (!completion->has_more) {
			conn->inflight--;
			conn->is_hangup_armed = false;
		}
		if (completion->res > 0)
			cut(loop, conn, CONN_CLOSE_RESET);
		else if (completion->res == 0)
			recv_watch_hangup(loop, conn);
		break;
	default:
		break;
	}
	settle(loop, conn);
}

void flow_returned(struct loop *loop, struct outbuf *out)
{
	struct request *req = out->req;
	struct conn *conn = req->conn;

	if (out->flags & OUT_LAST) {
		conn->is_with_handler = false;
		req->times.taken = loop->now_ns;
	}
	if (out->flags & OUT_PAUSED) {
		if (conn->state == CONN_CLOSED || respond_has_room(req))
			admit_resume(loop, req);
		else
			conn->is_paused = true;
		return;
	}
	if (conn->state == CONN_CLOSED) {
		size_t charged = out->charged;

		out->charged = 0;
		if (charged)
			respond_sent(req, charged);
		outbuf_free(out);
	} else {
		if (out->flags & OUT_CLOSE && !(out->flags & OUT_HEAD))
			conn->is_closing = true;
		send_queue(conn, out);
		sent(loop, conn, send_next(loop, conn));
	}
	settle(loop, conn);
}

void flow_timer(struct loop *loop, struct timer *timer)
{
	struct conn *conn = (struct conn *)((char *)timer - offsetof(struct conn, timer));

	switch ((enum conn_timer)timer->kind) {
	case CONN_TIMER_IDLE:
		if (conn->state == CONN_IDLE)
			close_in_order(loop, conn, CONN_CLOSE_IDLE);
		break;
	case CONN_TIMER_HEADER:
		if (conn->state == CONN_HEAD)
			refuse(loop, conn, "408 Request Timeout", NULL, CONN_CLOSE_HEADER);
		break;
	case CONN_TIMER_BODY:
		if (conn->state == CONN_BODY)
			refuse(loop, conn, "408 Request Timeout", NULL, CONN_CLOSE_BODY);
		break;
	case CONN_TIMER_WRITE:
		if (!conn->is_sending)
			break;
		if (send_is_stalled(conn))
			cut_with_reset(loop, conn, CONN_CLOSE_WRITE);
		else
			send_set_timer(loop, conn);
		break;
	case CONN_TIMER_HALF_CLOSED:
		if (conn->state == CONN_BUSY)
			send_prefix(loop, conn);
		break;
	case CONN_TIMER_WATCH:
		if (conn->state == CONN_BUSY)
			recv_watch_hangup(loop, conn);
		break;
	case CONN_TIMER_LINGER:
		close_now(loop, conn, (enum conn_close)conn->close_reason);
		break;
	}
	settle(loop, conn);
}
