/* SPDX-License-Identifier: Apache-2.0 */
/*
 * null_app.c: the application "null:", a fixed answer from C. It measures
 * everything but Python: parsing, pool, framing, loop.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>

#include "app.h"
#include "lib/clock.h"
#include "request.h"
#include "respond.h"

#define TEXT(literal) literal, sizeof(literal) - 1

static int null_start(const struct config *config, struct app_info *ret_info)
{
	(void)config;
	*ret_info = (struct app_info) { .is_parallel = false };
	snprintf(ret_info->name, sizeof(ret_info->name), "null:");
	return 0;
}

static void null_main_wait(int stop_fd)
{
	struct pollfd stop = { .fd = stop_fd, .events = POLLIN };

	/* Handlers of signals may run on this thread. */
	while (poll(&stop, 1, -1) < 0 && errno == EINTR)
		;
}

static void null_stop(uint64_t deadline_ns)
{
	(void)deadline_ns;
}

static int null_thread_start(unsigned index)
{
	(void)index;
	return 0;
}

static void null_thread_nothing(unsigned index)
{
	(void)index;
}

static void null_call(struct request *req)
{
	static const char body[] = "Hello, world!\n";

	req->times.popped = req->times.attached = rtail_now_ns();
	if (respond_start(req, TEXT("200 OK")) < 0 ||
	    respond_header(req, TEXT("Content-Type"), TEXT("text/plain")) < 0) {
		req->times.returned = rtail_now_ns();
		respond_fail(req);
		return;
	}
	respond_body_length(req, sizeof(body) - 1);
	if (respond_write(req, TEXT(body)) < 0) {
		req->times.returned = rtail_now_ns();
		respond_fail(req);
		return;
	}
	req->times.returned = rtail_now_ns();
	respond_finish(req, NULL);
}

/* It never pauses. */
static void null_resume(struct request *req)
{
	respond_gone(req);
}

const struct app app_null = {
	.start = null_start,
	.main_wait = null_main_wait,
	.stop = null_stop,
	.thread_start = null_thread_start,
	.thread_stop = null_thread_nothing,
	.thread_idle = null_thread_nothing,
	.call = null_call,
	.resume = null_resume,
};
