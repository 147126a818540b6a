/* SPDX-License-Identifier: Apache-2.0 */
/* send.c: see send.h. */
#include "send.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "check.h"
#include "config.h"
#include "conn.h"
#include "engine.h"
#include "log.h"
#include "loop.h"
#include "respond.h"

#define FILE_PIECE (256u * 1024u)
/* One send is at most this long, so that write-timeout sees progress where TCP_INFO does not exist (unix sockets). */
#define SEND_PIECE (1024u * 1024u)

/* A peer that takes nothing is found out after write-timeout and at most a fourth of it more. */
#define STALL_LOOKS 4u

/* How far a response may go on over max-keepalive-requests while requests are buffered behind it (SPEC 3). */
#define CAP_GRACE 100u

static const char PREFIX[] = "HTTP/1.1 ";
#define PREFIX_LEN (sizeof(PREFIX) - 1)

void send_refresh_fixed(struct loop *loop)
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (now.tv_sec == loop->fixed_second && loop->fixed_len)
		return;
	loop->fixed_second = now.tv_sec;
	gmtime_r(&now.tv_sec, &tm);
	loop->date_len = (uint8_t)strftime(loop->fixed, sizeof(loop->fixed), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
	loop->fixed_len = loop->date_len;
	if (loop->config->server_header) {
		memcpy(loop->fixed + loop->date_len, "Server: ringtail\r\n", 18);
		loop->fixed_len = (uint8_t)(loop->date_len + 18);
	}
}

void send_queue(struct conn *conn, struct outbuf *out)
{
	out->next = NULL;
	if (conn->out_tail)
		conn->out_tail->next = out;
	else
		conn->out_head = out;
	conn->out_tail = out;
}

/* Whether the connection closes behind this response, decided now that its head goes out. */
static void decide_close(struct loop *loop, struct conn *conn, const struct outbuf *out)
{
	const struct request *req = conn->req;
	uint32_t cap = loop->config->max_keepalive_requests;
	bool is_more_here = conn->stash_len > conn->stash_off || conn->is_recv_stopped;

	if (conn->is_closing)
		return;
	if (!req->is_keepalive)
		conn->close_reason = CONN_CLOSE_REQUESTED;
	else if (out->flags & OUT_CLOSE)
		conn->close_reason = CONN_CLOSE_RESPONSE;
	else if (conn->has_fin && !is_more_here)
		conn->close_reason = CONN_CLOSE_CLIENT;
	else if (loop->is_draining && !is_more_here)
		conn->close_reason = CONN_CLOSE_STOP;
	else if (cap && conn->requests >= cap && (!is_more_here || conn->requests >= cap + CAP_GRACE))
		conn->close_reason = CONN_CLOSE_CAP;
	else
		return;
	conn->is_closing = true;
}

static char *put_back(char *at, const char *text, size_t len)
{
	return memcpy(at - len, text, len);
}

/* Status line, Date, Server and Connection, written backwards into the room in front of the head. */
static void prepare_head(struct loop *loop, struct conn *conn, struct outbuf *out)
{
	const struct request *req = conn->req;
	char *at = out->data + out->start;

	decide_close(loop, conn, out);
	CHECK(out->start >= PREFIX_LEN + req->status_text_len + 2 + loop->fixed_len + 24);
	if (conn->is_closing)
		at = put_back(at, "Connection: close\r\n", 19);
	else if (req->version_minor == 0)
		at = put_back(at, "Connection: keep-alive\r\n", 24);
	if (!(out->flags & OUT_HAS_SERVER))
		at = put_back(at, loop->fixed + loop->date_len, (size_t)(loop->fixed_len - loop->date_len));
	if (!(out->flags & OUT_HAS_DATE))
		at = put_back(at, loop->fixed, loop->date_len);
	at = put_back(at, "\r\n", 2);
	at = put_back(at, req->status_text, req->status_text_len);
	at = put_back(at, PREFIX, PREFIX_LEN);
	out->start = (size_t)(at - out->data);
	out->flags &= ~(uint32_t)OUT_HEAD;
}

void send_set_timer(struct loop *loop, struct conn *conn)
{
	if (loop->config->write_timeout)
		timer_set(&loop->timers, &conn->timer, CONN_TIMER_WRITE,
			  loop->now_ns + loop->config->write_timeout / STALL_LOOKS);
}

static enum send_verdict submit(struct loop *loop, struct conn *conn, const void *data, size_t len)
{
	if (engine_send(loop->engine, conn_handle(conn), conn->fd, data, len < SEND_PIECE ? len : SEND_PIECE))
		return SEND_FAILED;
	conn->is_sending = true;
	conn->inflight++;
	conn->stalled_looks = 0;
	if (conn->state == CONN_BUSY)
		send_set_timer(loop, conn); /* beside a body that is on its way, body-timeout watches */
	return SEND_MORE;
}

static enum send_verdict file_next(struct loop *loop, struct conn *conn, struct outbuf *out)
{
	size_t len = out->file_len < FILE_PIECE ? (size_t)out->file_len : FILE_PIECE;

	if (conn->file_at < conn->file_end)
		return submit(loop, conn, conn->file + conn->file_at, conn->file_end - conn->file_at);
	if (!conn->file)
		conn->file = malloc(FILE_PIECE);
	if (!conn->file || engine_read(loop->engine, conn_handle(conn), out->fd, conn->file, len, out->file_off))
		return SEND_FAILED;
	conn->is_sending = true;
	conn->inflight++;
	return SEND_MORE;
}

static void pop(struct conn *conn)
{
	struct outbuf *out = conn->out_head;

	conn->out_head = out->next;
	if (!conn->out_head)
		conn->out_tail = NULL;
	outbuf_free(out);
}

/* Tells the request's account of bytes that left; a buffer's last bytes settle what it was charged. */
static void account(struct conn *conn, struct outbuf *out, size_t bytes)
{
	size_t part = bytes < out->charged ? bytes : out->charged;

	if (part) {
		out->charged -= part;
		respond_sent(conn->req, part);
	}
}

enum send_verdict send_next(struct loop *loop, struct conn *conn)
{
	while (!conn->is_sending && conn->out_head) {
		struct outbuf *out = conn->out_head;
		uint32_t flags;

		if (out->flags & OUT_HEAD)
			prepare_head(loop, conn, out);
		if (conn->prefix_sent && out->start < out->end) {
			/* The half-closed peer has these bytes already. */
			out->start += conn->prefix_sent;
			conn->prefix_sent = 0;
		}
		if (out->start < out->end) {
			if (conn->is_first_out && !(out->flags & OUT_INTERIM)) {
				conn->is_first_out = false;
				conn->req->times.first_sent = loop->now_ns;
			}
			return submit(loop, conn, out->data + out->start, out->end - out->start);
		}
		if (out->flags & OUT_FILE && (out->file_len || conn->file_at < conn->file_end))
			return file_next(loop, conn, out);
		account(conn, out, out->charged);
		flags = out->flags;
		pop(conn);
		if (flags & OUT_LAST) {
			timer_clear(&conn->timer);
			conn->req->times.last_sent = loop->now_ns;
			return flags & OUT_ABORT ? SEND_CUT : SEND_DONE;
		}
	}
	if (!conn->is_sending && conn->state == CONN_BUSY)
		timer_clear(&conn->timer); /* waits for the handler: write-timeout stands still */
	return SEND_MORE;
}

enum send_verdict send_done(struct loop *loop, struct conn *conn, const struct completion *completion)
{
	struct outbuf *out = conn->out_head;

	conn->inflight--;
	conn->is_sending = false;
	if (conn->is_prefix_sending) {
		conn->is_prefix_sending = false;
		if (completion->res < 0)
			return SEND_FAILED;
		conn->prefix_sent = (uint8_t)completion->res;
		return send_next(loop, conn);
	}
	if (completion->res < 0) {
		if (completion->res == -EINTR || completion->res == -EAGAIN)
			return send_next(loop, conn);
		return SEND_FAILED;
	}
	conn->bytes_sent += (uint64_t)completion->res;
	if (out->start < out->end) {
		out->start += (size_t)completion->res;
		account(conn, out, (size_t)completion->res);
	} else {
		conn->file_at += (uint32_t)completion->res;
	}
	return send_next(loop, conn);
}

enum send_verdict send_file_read(struct loop *loop, struct conn *conn, const struct completion *completion)
{
	struct outbuf *out = conn->out_head;

	conn->inflight--;
	conn->is_sending = false;
	if (completion->res <= 0) {
		if (completion->res == -EINTR || completion->res == -EAGAIN)
			return send_next(loop, conn);
		if (completion->res == 0)
			log_error("a file that is being sent has become shorter by %llu bytes: the connection is cut",
				  (unsigned long long)out->file_len);
		else
			log_error("cannot read a file that is being sent: %s: the connection is cut", strerror(-completion->res));
		return SEND_FAILED;
	}
	conn->file_at = 0;
	conn->file_end = (uint32_t)completion->res;
	out->file_off += (uint64_t)completion->res;
	out->file_len -= (uint64_t)completion->res;
	return send_next(loop, conn);
}

void send_prefix(struct loop *loop, struct conn *conn)
{
	if (conn->is_sending || conn->out_head || conn->prefix_sent || !conn->is_first_out)
		return;
	if (submit(loop, conn, PREFIX, PREFIX_LEN) == SEND_MORE)
		conn->is_prefix_sending = true;
}

int send_continue(struct loop *loop, struct conn *conn)
{
	static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct outbuf *out = outbuf_new(conn->req, 0, sizeof(text) - 1);

	(void)loop;
	if (!out)
		return -ENOMEM;
	memcpy(out->data, text, sizeof(text) - 1);
	out->end = sizeof(text) - 1;
	out->flags |= OUT_INTERIM;
	send_queue(conn, out);
	return 0;
}

void send_drop(struct conn *conn)
{
	struct outbuf *kept = conn->is_sending && !conn->is_prefix_sending ? conn->out_head : NULL;
	struct outbuf *out = kept ? kept->next : conn->out_head;

	while (out) {
		struct outbuf *next = out->next;

		account(conn, out, out->charged);
		outbuf_free(out);
		out = next;
	}
	if (kept)
		kept->next = NULL;
	conn->out_head = conn->out_tail = kept;
	if (!conn->is_sending) {
		free(conn->file);
		conn->file = NULL;
		conn->file_at = conn->file_end = 0;
	}
}

bool send_is_stalled(struct conn *conn)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);
	uint64_t mark;
	int unsent;

	memset(&info, 0, sizeof(info));
	if (conn->peer.family != AF_UNIX && getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	    len > offsetof(struct tcp_info, tcpi_bytes_acked)) {
		mark = info.tcpi_bytes_acked;
	} else if (ioctl(conn->fd, SIOCOUTQ, &unsent) == 0) {
		mark = conn->bytes_sent * 2 + (uint64_t)unsent; /* moves whenever either does */
	} else {
		mark = conn->bytes_sent;
	}
	if (mark != conn->acked_mark) {
		conn->acked_mark = mark;
		conn->stalled_looks = 0;
		return false;
	}
	return ++conn->stalled_looks >= STALL_LOOKS;
}
