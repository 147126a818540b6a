/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.h: what the worker knows of an application: the null application and
 * Python (daemon/python/) implement it. All strings are UTF-8.
 */
#ifndef RINGTAIL_APP_H
#define RINGTAIL_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/job.h"

struct config;
struct request;

struct app_info {
	char name[256];      /* "mysite.wsgi:application" as it was found */
	char runtime[64];    /* "Python 3.11.2", "Python 3.13.5 without the GIL", or "" */
	char venv[4096];     /* folder of the virtual environment, or "" */
	bool is_parallel;    /* no GIL */
	uintptr_t lock_begin, lock_end; /* range of _PyRuntime */
};

struct app {
	/*
	 * Main thread, once, before any other call: starts the interpreter and imports the application. 0, or an exit status
	 * of SPEC 1 (1, 64, 78) after having said why on standard error.
	 */
	int (*start)(const struct config *config, struct app_info *ret_info);

	/* Main thread: serves Python's signals until stop_fd (an eventfd) is readable. Without the GIL while it waits. */
	void (*main_wait)(int stop_fd);

	/*
	 * Main thread, after the loop and the handlers have ended or were given up: threads of the application are waited for
	 * until deadline_ns (CLOCK_MONOTONIC; 0 = graceful-timeout from now), then atexit, flush. The caller then _exits.
	 */
	void (*stop)(uint64_t deadline_ns);

	/* Handler threads (and the loop with --threads 0): first, last; and before an idle period (gives the GIL up). */
	int (*thread_start)(unsigned index);
	void (*thread_stop)(unsigned index);
	void (*thread_idle)(unsigned index);

	/*
	 * Handler: answers the request through respond.h; sets times.popped, attached and returned. When it returns, the
	 * request is handed back (finish, fail, gone) or paused.
	 */
	void (*call)(struct request *req);

	/* Handler, the one that paused it: goes on with a paused request (closes it when the client is gone). */
	void (*resume)(struct request *req);
};

extern const struct app app_null;
extern const struct app app_python;

#endif
