/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c: see worker.h. */
#include "worker.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "access_log.h"
#include "config.h"
#include "drain.h"
#include "handler.h"
#include "lib/clock.h"
#include "log.h"
#include "loop.h"
#include "report.h"

#define STATUS_STARTING 1
#define SWITCH_NS (5 * RTAIL_MS) /* sys.getswitchinterval(): how long a thread may keep the GIL while others want it */
#define REQUESTS_KEPT 512u
#define END_NS RTAIL_S /* what the loop takes for its own end */

/* For the fork hook, which has no argument. */
static struct worker *the_worker;

bool worker_is_parallel(const struct config *config, const struct app_info *info)
{
	return config->pool_parallel == POOL_PARALLEL_ON || (config->pool_parallel == POOL_PARALLEL_AUTO && info->is_parallel);
}

static int pool_new(struct worker *worker)
{
	const struct config *config = worker->config;
	const struct app_info *info = worker->info;
	struct rtail_elastic_config pool;
	int rc;

	rtail_elastic_config_init(&pool);
	pool.threads = config->threads;
	pool.threads_max = config->threads_max;
	pool.queue_size = config->queue_size;
	pool.mode = config->pool_elastic == POOL_ELASTIC_OFF ? RTAIL_ELASTIC_OFF :
		    config->pool_elastic == POOL_ELASTIC_SHARED ? RTAIL_ELASTIC_SHARED : RTAIL_ELASTIC_ON;
	pool.is_parallel = worker_is_parallel(config, info);
	pool.wake_age_ns = config->pool_wake_age;
	pool.switch_ns = SWITCH_NS;
	/* On one CPU a spinner only keeps the thread that would end its wait from running. */
	pool.spin_ns = config->allowed_cpus > 1 ? config->pool_spin : 0;
	pool.thread_idle_ns = config->thread_idle;
	pool.lock_begin = info->lock_begin;
	pool.lock_end = info->lock_end;
	pool.name = "ringtail";
	pool.hooks = (struct rtail_elastic_hooks){
		.arg = worker,
		.thread_start = handler_thread_start,
		.thread_stop = handler_thread_stop,
		.idle = handler_idle,
	};
	rc = rtail_elastic_new(&pool, &worker->pool);
	if (!rc)
		rc = rtail_elastic_start(worker->pool);
	if (rc) {
		log_error("cannot start %u handler threads: %s (lower threads, or raise the limit of tasks: TasksMax= of the unit, ulimit -u)",
			  pool.threads, strerror(-rc));
		if (worker->pool)
			rtail_elastic_free(worker->pool);
		worker->pool = NULL;
	}
	return rc;
}

static void pool_stop(struct worker *worker)
{
	uint64_t deadline = rtail_now_ns() + RTAIL_S / 10; /* threads that idle need a moment to end */
	int rc;

	if (!worker->pool) {
		worker->app->thread_stop(0);
		return;
	}
	if (atomic_load(&worker->stop_mode) < STOP_NOW)
		deadline += RTAIL_S / 5; /* views whose clients were cut may notice it */
	rc = rtail_elastic_stop(worker->pool, false, deadline);
	if (rc == -ETIMEDOUT)
		log_warning("views are still running in handler threads: the process ends without them");
}

static void *thread_main(void *arg)
{
	struct worker *worker = arg;
	struct loop *loop = worker->loop;
	int rc = loop_init(loop, worker);

	if (!rc && !worker->pool)
		rc = worker->app->thread_start(0);
	atomic_store(&worker->status, rc);
	eventfd_write(worker->stop_fd, 1);
	if (rc)
		return NULL;
	loop_run(loop);
	pool_stop(worker);
	loop_take_last(loop);
	atomic_store(&worker->has_ended, true);
	eventfd_write(worker->stop_fd, 1);
	return NULL;
}

static int thread_start(struct worker *worker)
{
	eventfd_t count;
	int rc = -pthread_create(&worker->thread, NULL, thread_main, worker);

	if (rc) {
		log_error("cannot start the loop's thread: %s", strerror(-rc));
		return rc;
	}
	worker->has_thread = true;
	pthread_setname_np(worker->thread, "ringtail-loop");
	/* Its first word comes by stop_fd: started, or not. Always taken: one that is left would be read as the end. */
	while (eventfd_read(worker->stop_fd, &count) && errno == EINTR)
		;
	return atomic_load(&worker->status);
}

int worker_start(const struct config *config, const struct app *app, const struct app_info *info, struct listener *listeners,
		 size_t count, struct worker **ret_worker)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	int rc;

	if (!worker)
		return -ENOMEM;
	worker->config = config;
	worker->app = app;
	worker->info = info;
	worker->listeners = listeners;
	worker->listener_count = count;
	worker->max_connections = config->max_connections;
	atomic_init(&worker->stop_mode, STOP_NONE);
	atomic_init(&worker->status, STATUS_STARTING);
	atomic_init(&worker->engine_fd, -1);
	worker->loop = calloc(1, sizeof(*worker->loop));
	worker->stop_fd = eventfd(0, EFD_CLOEXEC);
	rc = worker->loop && worker->stop_fd >= 0 ? returns_init(&worker->returns) : -ENOMEM;
	if (rc) {
		log_error("cannot start the worker: %s", strerror(-rc));
		return rc;
	}
	request_pool_init(&worker->requests, REQUESTS_KEPT);
	worker->requests.returns = &worker->returns;
	worker->requests.send_buffer = config->threads ? config->send_buffer : UINT64_MAX;
	worker->requests.keep_sent_head = access_log_needs_sent_head();
	if (config->threads)
		rc = pool_new(worker);
	if (!rc)
		rc = thread_start(worker);
	if (rc)
		return rc;
	the_worker = worker;
	*ret_worker = worker;
	return 0;
}

int worker_stop_fd(const struct worker *worker)
{
	return worker->stop_fd;
}

void worker_request_stop(struct worker *worker, enum stop_mode mode)
{
	int error = errno;
	int present = atomic_load(&worker->stop_mode);

	while (present < (int)mode && !atomic_compare_exchange_weak(&worker->stop_mode, &present, (int)mode))
		;
	eventfd_write(worker->returns.event_fd, 1);
	if (!worker->pool)
		eventfd_write(worker->stop_fd, 1); /* the loop may be in a view that never comes back: worker_wait() */
	errno = error;
}

void worker_wait(struct worker *worker)
{
	struct pollfd stop = { .fd = worker->stop_fd, .events = POLLIN };
	uint64_t began = rtail_now_ns();
	eventfd_t count;

	while (!atomic_load(&worker->has_ended)) {
		/* Read anew each time: a second signal may have made haste. */
		uint64_t until = began + drain_time_ns(worker->config, atomic_load(&worker->stop_mode)) + END_NS;
		uint64_t now = rtail_now_ns();

		if (now >= until) {
			log_warning("a view is still running on the loop thread: the process ends without it");
			return;
		}
		if (poll(&stop, 1, (int)((until - now) / RTAIL_MS) + 1) > 0)
			eventfd_read(worker->stop_fd, &count);
	}
}

static void print_report(struct worker *worker)
{
	static struct rtail_elastic_thread_stats rows[1024];
	struct rtail_elastic_stats stats;
	size_t count = sizeof(rows) / sizeof(*rows);

	if (worker->pool) {
		rtail_elastic_stats(worker->pool, &stats);
		rtail_elastic_thread_stats(worker->pool, rows, &count);
		report_print(stderr, &worker->loop->rows, &stats, rows, count, &worker->loop->cadence);
	} else {
		report_print(stderr, &worker->loop->rows, NULL, NULL, 0, &worker->loop->cadence);
	}
}

int worker_join(struct worker *worker, uint64_t *ret_deadline_ns)
{
	struct rtail_elastic_stats stats = { 0 };
	int rc = 0;

	if (!atomic_load(&worker->has_ended)) {
		if (ret_deadline_ns)
			*ret_deadline_ns = rtail_now_ns();
		return -ETIMEDOUT;
	}
	pthread_join(worker->thread, NULL);
	if (ret_deadline_ns)
		/* a second TERM may have come when the loop had ended already */
		*ret_deadline_ns = atomic_load(&worker->stop_mode) >= STOP_NOW ? rtail_now_ns() : worker->loop->stop_deadline_ns;
	if (worker->pool) {
		rtail_elastic_stats(worker->pool, &stats);
		if (stats.threads)
			rc = -ETIMEDOUT;
	}
	if (worker->config->pool_debug)
		print_report(worker);
	the_worker = NULL;
	if (rc)
		return rc; /* its threads still use all of it */
	if (worker->pool)
		rtail_elastic_free(worker->pool);
	if (!worker->loop->conns.count) {
		loop_done(worker->loop);
		request_pool_done(&worker->requests);
	}
	returns_done(&worker->returns);
	close(worker->stop_fd);
	free(worker->loop);
	free(worker);
	return 0;
}

void worker_after_fork_child(void)
{
	struct worker *worker = the_worker;
	int engine_fd;

	if (!worker)
		return;
	for (size_t i = 0; i < worker->listener_count; i++)
		close(worker->listeners[i].fd);
	engine_fd = atomic_load(&worker->engine_fd);
	if (engine_fd >= 0)
		close(engine_fd);
	for (uint32_t i = 0; i < worker->loop->conns.high; i++) {
		const struct conn *conn = conn_at(&worker->loop->conns, i);

		if (conn->state != CONN_FREE && conn->fd >= 0)
			close(conn->fd);
	}
	close(worker->returns.event_fd);
	close(worker->stop_fd);
	the_worker = NULL;
}
