/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c: the pass of the loop (see ARCHITECTURE.md): one io_uring_enter that
 * submits what the last pass produced and waits; reap; route; the pool's wake
 * rides in the next submission.
 */
#include "loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "admit.h"
#include "config.h"
#include "drain.h"
#include "flow.h"
#include "lib/clock.h"
#include "log.h"
#include "send.h"
#include "worker.h"

#define RING_ENTRIES 1024u
#define BUFFERS 512u
#define BUFFER_BYTES 8192u

/* The time of completions is taken anew so often: a pass of 256 requests lasts several hundred microseconds. */
#define CLOCK_EVERY 16u

/* After the cut: for generators that are told so, and queued requests that are not run, to come back as long as the pool works. */
#define HAND_BACK_NS (50 * RTAIL_MS)

/* While stopping, connections in their last bytes are looked at so often. */
#define DRAIN_LOOK_NS (20 * RTAIL_MS)

void loop_clock(struct loop *loop)
{
	loop->now_ns = rtail_now_ns();
}

static void say_refused(int error, const char *what)
{
	const char *cause = strerror(error);
	const char *remedy = "run ringtail --doctor";

	switch (error) {
	case EPERM:
		remedy = "allow it: sysctl kernel.io_uring_disabled=0, or in a container a seccomp profile that lets io_uring_setup, "
			 "io_uring_enter and io_uring_register pass";
		break;
	case ENOSYS:
		remedy = "it needs Linux 6.0 or newer, built with io_uring, and a seccomp profile that lets it pass";
		break;
	case EINVAL:
		remedy = "it needs Linux 6.0 or newer";
		break;
	case ENOMEM:
		remedy = "raise the limit of locked memory: LimitMEMLOCK= of the unit, or ulimit -l";
		break;
	case EMFILE:
		remedy = "raise the limit of open files: LimitNOFILE= of the unit, or ulimit -n";
		break;
	default:
		break;
	}
	log_error("cannot start the loop: %s: %s (%s)", what, cause, remedy);
}

int loop_init(struct loop *loop, struct worker *worker)
{
	struct engine_options options = {
		.entries = RING_ENTRIES,
		.buffers = BUFFERS,
		.buffer_bytes = BUFFER_BYTES,
		.wake = worker->config->pool_wake,
	};
	const char *what = "memory";
	int rc;

	memset(loop, 0, sizeof(*loop));
	loop->worker = worker;
	loop->config = worker->config;
	loop->pool_look_ns = UINT64_MAX;
	loop_clock(loop);
	conn_table_init(&loop->conns);
	timer_heap_init(&loop->timers);
	loop->listeners = calloc(worker->listener_count ? worker->listener_count : 1, sizeof(*loop->listeners));
	rc = loop->listeners ? engine_new(&options, &loop->engine, &what) : -ENOMEM;
	if (rc) {
		say_refused(-rc, what);
		free(loop->listeners);
		return rc;
	}
	atomic_store(&worker->engine_fd, engine_descriptor(loop->engine));
	for (size_t i = 0; i < worker->listener_count; i++) {
		int flags = fcntl(worker->listeners[i].fd, F_GETFL);

		/* The ring answers EAGAIN on a non-blocking socket instead of waiting for it. */
		fcntl(worker->listeners[i].fd, F_SETFL, flags & ~O_NONBLOCK);
	}
	engine_event(loop->engine, 0, worker->returns.event_fd);
	loop->is_accepting = true;
	accept_arm(loop);
	send_refresh_fixed(loop);
	return 0;
}

void loop_done(struct loop *loop)
{
	atomic_store(&loop->worker->engine_fd, -1);
	engine_free(loop->engine);
	timer_heap_done(&loop->timers);
	conn_table_done(&loop->conns);
	free(loop->listeners);
	free(loop->victims);
}

/* How long this pass may wait: until the pool's head can have aged, a timer, or the end of a pause. */
static int64_t wait_ns(struct loop *loop, bool *ret_by_pool)
{
	uint64_t until = timer_next_ns(&loop->timers);

	*ret_by_pool = false;
	if (loop->pool_look_ns < until) {
		until = loop->pool_look_ns;
		*ret_by_pool = true;
		if (loop->config->pool_wait_cap && until > loop->now_ns + loop->config->pool_wait_cap)
			until = loop->now_ns + loop->config->pool_wait_cap;
	}
	if (loop->accept_retry_ns && loop->accept_retry_ns < until)
		until = loop->accept_retry_ns;
	if (loop->is_draining && loop->now_ns + DRAIN_LOOK_NS < until)
		until = loop->now_ns + DRAIN_LOOK_NS;
	if (until == UINT64_MAX)
		return -1;
	return until > loop->now_ns ? (int64_t)(until - loop->now_ns) : 0;
}

static void take_returns(struct loop *loop)
{
	struct outbuf *out = returns_take(&loop->worker->returns);

	while (out) {
		struct outbuf *next = out->next;

		flow_returned(loop, out);
		out = next;
	}
}

static int wait(struct loop *loop)
{
	struct returns *returns = &loop->worker->returns;
	bool is_by_pool, has_kicked;
	int64_t timeout = wait_ns(loop, &is_by_pool);
	uint64_t before = loop->now_ns;
	int rc;

	if (!loop->worker->pool)
		loop->worker->app->thread_idle(0);
	/*
	 * Wakes go out before the sleep is announced: a handler that shares this CPU runs at once, and finds a loop that needs no
	 * signal (an eventfd write and its completion a batch otherwise).
	 */
	has_kicked = engine_has_wakes(loop->engine);
	if (has_kicked && engine_kick(loop->engine)) {
		loop_clock(loop);
		return 0;
	}
	if (!returns_sleep(returns)) {
		if (has_kicked) {
			loop_clock(loop);
			return 0;
		}
		timeout = 0; /* what the last pass queued still has to be submitted */
	}
	rc = engine_wait(loop->engine, timeout);
	returns_wake(returns);
	loop_clock(loop);
	if (timeout)
		cadence_wait(&loop->cadence, timeout, loop->now_ns - before, is_by_pool);
	return rc;
}

/* A submission names a connection; or, is_with_handlers, a request of it has not been handed back. */
static bool is_underway(struct loop *loop, bool is_with_handlers)
{
	for (uint32_t i = 0; i < loop->conns.high; i++) {
		const struct conn *conn = conn_at(&loop->conns, i);

		if (conn->state != CONN_FREE && (conn->inflight || (is_with_handlers && conn->is_with_handler)))
			return true;
	}
	return false;
}

static void end(struct loop *loop)
{
	/* What is still underway is cut; its completions are reaped so that no submission names freed memory. */
	uint64_t until = loop->now_ns + RTAIL_S, hand_back_until = loop->now_ns + HAND_BACK_NS;
	struct completion completion;

	while (is_underway(loop, loop->now_ns < hand_back_until) && loop->now_ns < until) {
		engine_wait(loop->engine, (int64_t)RTAIL_MS);
		loop_clock(loop);
		while (engine_next(loop->engine, &completion)) {
			flow_completion(loop, &completion);
			engine_release(loop->engine, &completion);
		}
		take_returns(loop);
	}
}

void loop_run(struct loop *loop)
{
	struct completion completion;

	for (;;) {
		unsigned count = 0;
		uint64_t began;
		struct timer *timer;

		if (wait(loop)) {
			log_error("the loop's wait failed: the worker stops");
			break;
		}
		began = loop->now_ns;
		send_refresh_fixed(loop);
		while (engine_next(loop->engine, &completion)) {
			flow_completion(loop, &completion);
			engine_release(loop->engine, &completion);
			if (++count % CLOCK_EVERY == 0)
				loop_clock(loop);
		}
		take_returns(loop);
		while ((timer = timer_expired(&loop->timers, loop->now_ns)) != NULL)
			flow_timer(loop, timer);
		if (loop->accept_retry_ns && loop->accept_retry_ns <= loop->now_ns)
			accept_arm(loop);
		loop_clock(loop);
		admit_tick(loop);
		cadence_pass(&loop->cadence, loop->now_ns - began);
		if (drain_step(loop))
			break;
	}
	end(loop);
}

void loop_take_last(struct loop *loop)
{
	loop_clock(loop);
	take_returns(loop);
}
