/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h: one worker: the loop thread, the pool of handler threads, the way
 * back between them. It opens no listener and installs no signal handler; the
 * calling thread (Python's main thread) keeps waiting for Python's signals.
 */
#ifndef RINGTAIL_WORKER_H
#define RINGTAIL_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app.h"
#include "listener.h"
#include "request.h"
#include "returns.h"

struct config;
struct loop;

/* In rising order of haste: a later request overrides an earlier one that was less hasty. */
enum stop_mode {
	STOP_NONE = 0,
	STOP_GRACEFUL, /* everything received is answered, at most graceful-timeout */
	STOP_QUICK,    /* views get 2 s */
	STOP_NOW,
};

struct worker {
	const struct config *config;
	const struct app *app;
	const struct app_info *info;
	struct listener *listeners;
	size_t listener_count;
	uint32_t max_connections;

	struct rtail_elastic *pool; /* NULL: --threads 0, views run on the loop thread */
	struct returns returns;     /* handlers to loop */
	struct request_pool requests; /* loop */
	struct loop *loop;          /* loop thread */
	pthread_t thread;
	bool has_thread;
	int stop_fd;                /* worker_stop_fd() */
	_Atomic int stop_mode;
	_Atomic int status;         /* of the start: 1 = starting, 0 = runs, < 0 = -errno */
	_Atomic bool has_ended;     /* the loop's thread: joining it takes no time */
	_Atomic int engine_fd;      /* for a forked child, -1 = none */
};

/*
 * Main thread. Starts handlers and loop; returns when the loop runs. 0, or -errno after having said why: nothing is left
 * running. The GIL must not be held.
 */
int worker_start(const struct config *config, const struct app *app, const struct app_info *info, struct listener *listeners,
		 size_t count, struct worker **ret_worker);

/* Whether handlers run Python at the same time: what pool-parallel comes to with this application. */
bool worker_is_parallel(const struct config *config, const struct app_info *info);

/* An eventfd that becomes readable when the worker has ended, or with --threads 0 when it is asked to. */
int worker_stop_fd(const struct worker *worker);

/*
 * Main thread, after stop_fd became readable. With --threads 0 the loop may be inside a view: waits for its end as long as
 * the mode of the stop allows. Else it has ended already.
 */
void worker_wait(struct worker *worker);

/* Any thread, signal handlers too (async-signal-safe). */
void worker_request_stop(struct worker *worker, enum stop_mode mode);

/*
 * Main thread, after worker_wait: joins the loop, prints the pool-debug table. 0; -ETIMEDOUT when views still run, which did
 * not end in time: the process then ends without waiting for them. *ret_deadline_ns (may be NULL): until when Python's own
 * threads may go on.
 */
int worker_join(struct worker *worker, uint64_t *ret_deadline_ns);

/* In a child forked by the application: closes listeners, ring and wake-up descriptors. No lock, no memory is taken. */
void worker_after_fork_child(void);

#endif
