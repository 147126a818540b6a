/* SPDX-License-Identifier: Apache-2.0 */
/* handler.c: see handler.h. Pool threads; owns the request between pop and hand-back. */
#include "handler.h"

#include <stdbool.h>

#include "lib/clock.h"
#include "request.h"
#include "respond.h"
#include "returns.h"
#include "worker.h"

/*
 * Finished requests are on the return queue at once; the loop is woken when the ring is empty (handler_idle) or after so
 * many: a wake a request would cost more than the request.
 */
#define FLUSH_EVERY 64u

static _Thread_local unsigned unflushed;

static void handed_back(struct worker *worker)
{
	if (++unflushed >= FLUSH_EVERY) {
		unflushed = 0;
		returns_flush(&worker->returns);
	}
}

static void call(struct request *req, void (*step)(struct request *req))
{
	struct worker *worker = req->worker;
	bool is_paused = false;

	req->ret_paused = &is_paused;
	step(req); /* the request is the loop's again, or waits for its resume */
	if (is_paused && worker->pool)
		rtail_elastic_own(worker->pool, 1);
	handed_back(worker);
}

void handler_run(void *arg, enum rtail_act act)
{
	struct request *req = arg;
	struct worker *worker = req->worker;

	if (act == RTAIL_DROP) {
		respond_refuse(req, "503 Service Unavailable", "Retry-After: 1\r\n");
		returns_flush(&worker->returns);
		return;
	}
	if (respond_is_gone(req)) {
		req->times.popped = rtail_now_ns();
		respond_gone(req);
		handed_back(worker);
		return;
	}
	req->handler = worker->pool ? rtail_elastic_self(worker->pool) : 0;
	call(req, worker->app->call);
}

void handler_resume(void *arg, enum rtail_act act)
{
	struct request *req = arg;
	struct worker *worker = req->worker;

	/* A stopping pool still runs its messages on their thread; what it cannot run ends with the process. */
	if (act == RTAIL_DROP)
		return;
	if (worker->pool)
		rtail_elastic_own(worker->pool, -1);
	call(req, worker->app->resume);
}

int handler_thread_start(void *arg, unsigned index)
{
	const struct worker *worker = arg;

	return worker->app->thread_start(index);
}

void handler_thread_stop(void *arg, unsigned index)
{
	struct worker *worker = arg;

	returns_flush(&worker->returns);
	worker->app->thread_stop(index);
}

void handler_idle(void *arg, unsigned index)
{
	struct worker *worker = arg;

	unflushed = 0;
	returns_flush(&worker->returns);
	worker->app->thread_idle(index);
}
