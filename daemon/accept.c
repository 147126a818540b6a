/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.c: see accept.h. Far from the limit one multishot accept stands for
 * each listener; near it accepts are made one by one, because a multishot one
 * takes everything that waits, however little room there is.
 */
#include "accept.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config.h"
#include "lib/clock.h"
#include "listener.h"
#include "log.h"
#include "loop.h"
#include "worker.h"

#define MULTISHOT_ROOM 1024u
#define VICTIMS 64u
#define RETRY_NS (100 * RTAIL_MS)
#define SAY_AGAIN_NS (10 * RTAIL_S)

/* The longest idle connections of the last scan, oldest first: a scan serves this many closes. */
struct accept_victims {
	unsigned count, used;
	struct {
		uint64_t handle;
		uint64_t idle_since_ns;
	} row[VICTIMS];
};

static uint32_t room(const struct loop *loop)
{
	uint32_t max = loop->worker->max_connections;

	return loop->conns.count < max ? max - loop->conns.count : 0;
}

/* Full: nobody is taken, but whoever waits may have the place of an idle connection. */
static void watch(struct loop *loop)
{
	if (loop->is_crowded)
		return;
	for (size_t i = 0; i < loop->worker->listener_count; i++) {
		struct loop_listener *listener = &loop->listeners[i];

		if (!listener->is_armed && !listener->is_watched)
			listener->is_watched = engine_readable(loop->engine, i, loop->worker->listeners[i].fd) == 0;
	}
}

void accept_arm(struct loop *loop)
{
	uint32_t left = room(loop);

	if (loop->accept_retry_ns > loop->now_ns)
		return;
	loop->accept_retry_ns = 0; /* one that lies in the past would end each wait at once */
	if (!loop->is_accepting)
		return;
	if (!left) {
		watch(loop);
		return;
	}
	loop->is_crowded = false;
	for (size_t i = 0; i < loop->worker->listener_count; i++) {
		struct loop_listener *listener = &loop->listeners[i];

		if (listener->is_armed)
			continue;
		listener->is_multishot = left > MULTISHOT_ROOM;
		if (engine_accept(loop->engine, i, loop->worker->listeners[i].fd, listener->is_multishot) == 0)
			listener->is_armed = true;
		else
			loop->accept_retry_ns = loop->now_ns + RETRY_NS;
	}
}

static void pause_accepting(struct loop *loop, int error)
{
	loop->accept_retry_ns = loop->now_ns + RETRY_NS;
	if (loop->accept_said_ns && loop->now_ns - loop->accept_said_ns < SAY_AGAIN_NS)
		return;
	loop->accept_said_ns = loop->now_ns;
	log_error("cannot accept a connection: %s; new ones wait in the backlog and are tried again every 100 ms%s", strerror(error),
		  error == EMFILE ? " (raise the limit of open files: LimitNOFILE= of the unit, or ulimit -n)" : "");
}

static struct conn *open_conn(struct loop *loop, size_t listener, int fd)
{
	struct conn *conn = conn_open(&loop->conns, fd, &loop->worker->listeners[listener].local);

	if (!conn) {
		close(fd);
		pause_accepting(loop, ENOMEM);
		return NULL;
	}
	conn_read_peer(conn);
	loop->accepted++;
	return conn;
}

struct conn *accept_done(struct loop *loop, const struct completion *completion)
{
	struct loop_listener *listener = &loop->listeners[completion->handle];

	if (!completion->has_more)
		listener->is_armed = false;
	if (completion->res >= 0) {
		if (listener->is_armed && listener->is_multishot && room(loop) <= MULTISHOT_ROOM)
			engine_cancel(loop->engine, ENGINE_ACCEPT, completion->handle);
		return open_conn(loop, completion->handle, completion->res);
	}
	switch (-completion->res) {
	case ECANCELED:
	case ECONNABORTED:
	case EINTR:
	case EAGAIN:
	case EPROTO:
		break;
	default:
		pause_accepting(loop, -completion->res);
	}
	return NULL;
}

static void scan(struct loop *loop, struct accept_victims *victims)
{
	victims->count = victims->used = 0;
	for (uint32_t i = 0; i < loop->conns.high; i++) {
		struct conn *conn = conn_at(&loop->conns, i);
		unsigned at = victims->count;

		/* Served at least once: a fresh connection has its request on the way. */
		if (conn->state != CONN_IDLE || !conn->requests)
			continue;
		if (at == VICTIMS && victims->row[VICTIMS - 1].idle_since_ns <= conn->idle_since_ns)
			continue;
		if (at == VICTIMS)
			at--;
		else
			victims->count++;
		for (; at > 0 && victims->row[at - 1].idle_since_ns > conn->idle_since_ns; at--)
			victims->row[at] = victims->row[at - 1];
		victims->row[at].handle = conn_handle(conn);
		victims->row[at].idle_since_ns = conn->idle_since_ns;
	}
}

static struct conn *longest_idle(struct loop *loop)
{
	struct accept_victims *victims = loop->victims;

	if (!loop->idle_count)
		return NULL;
	if (!victims) {
		victims = loop->victims = calloc(1, sizeof(*victims));
		if (!victims)
			return NULL;
	}
	for (int scans = 0; scans < 2; scans++) {
		while (victims->used < victims->count) {
			unsigned at = victims->used++;
			struct conn *conn = conn_find(&loop->conns, victims->row[at].handle);

			if (conn && conn->state == CONN_IDLE && conn->idle_since_ns == victims->row[at].idle_since_ns)
				return conn;
		}
		if (!scans)
			scan(loop, victims);
	}
	return NULL;
}

struct conn *accept_watched(struct loop *loop, const struct completion *completion)
{
	struct conn *victim;

	loop->listeners[completion->handle].is_watched = false;
	if (completion->res < 0 || room(loop) || !loop->is_accepting) {
		accept_arm(loop);
		return NULL;
	}
	victim = longest_idle(loop);
	if (!victim)
		loop->is_crowded = true;
	return victim;
}

bool accept_is_stopped(const struct loop *loop)
{
	for (size_t i = 0; i < loop->worker->listener_count; i++)
		if (loop->listeners[i].is_armed || loop->listeners[i].is_watched)
			return false;
	return true;
}

void accept_close(struct loop *loop)
{
	for (size_t i = 0; i < loop->worker->listener_count; i++) {
		close(loop->worker->listeners[i].fd);
		loop->worker->listeners[i].fd = -1;
	}
}

void accept_stop(struct loop *loop)
{
	loop->is_accepting = false;
	for (size_t i = 0; i < loop->worker->listener_count; i++) {
		if (loop->listeners[i].is_armed)
			engine_cancel(loop->engine, ENGINE_ACCEPT, i);
		if (loop->listeners[i].is_watched)
			engine_cancel(loop->engine, ENGINE_READABLE, i);
	}
}

struct conn *accept_leftover(struct loop *loop)
{
	for (size_t i = 0; i < loop->worker->listener_count; i++) {
		struct pollfd pollfd = { .fd = loop->worker->listeners[i].fd, .events = POLLIN };
		int fd;

		if (poll(&pollfd, 1, 0) != 1)
			continue;
		fd = accept4(pollfd.fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			return open_conn(loop, i, fd);
	}
	return NULL;
}
