/* SPDX-License-Identifier: Apache-2.0 */
/* admit.c: see admit.h. A wake that the pool asks for becomes one more submission of the same pass. */
#include "admit.h"

#include "handler.h"
#include "loop.h"
#include "worker.h"

enum admit_verdict admit_request(struct loop *loop, struct request *req)
{
	struct rtail_job job = { handler_run, req };
	struct rtail_wake wake = { 0 };

	req->times.queued = loop->now_ns;
	if (!loop->worker->pool) {
		handler_run(req, RTAIL_RUN);
		loop_clock(loop);
		return ADMIT_OK;
	}
	if (rtail_elastic_submit(loop->worker->pool, job, loop->now_ns, &wake))
		return ADMIT_FULL;
	if (wake.word)
		engine_wake(loop->engine, wake.word);
	return ADMIT_OK;
}

void admit_resume(struct loop *loop, struct request *req)
{
	struct rtail_wake wake = { 0 };

	if (!loop->worker->pool) {
		handler_resume(req, RTAIL_RUN);
		return;
	}
	req->message.job = (struct rtail_job){ handler_resume, req };
	if (rtail_elastic_message(loop->worker->pool, (unsigned)req->handler, &req->message, &wake) == 0 && wake.word)
		engine_wake(loop->engine, wake.word);
}

void admit_tick(struct loop *loop)
{
	struct rtail_wake wake = { 0 };
	int64_t after;

	if (!loop->worker->pool)
		return;
	after = rtail_elastic_tick(loop->worker->pool, loop->now_ns, &wake);
	if (wake.word)
		engine_wake(loop->engine, wake.word);
	loop->pool_look_ns = after < 0 ? UINT64_MAX : loop->now_ns + (uint64_t)after;
}
