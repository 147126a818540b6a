/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c: the end of the process when Python does not come to its own.
 *
 * A view that computes in C code without giving the GIL up keeps the main
 * thread out for ever, wherever it attaches: for the application's signal
 * handlers, or for atexit. A guard is a thread that Python does not know; it
 * ends the process, with the log written, when its time is over.
 */
#include "bridge.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/log.h"
#include "lib/clock.h"

/* For what must not take time: attaching, atexit, flush. */
#define GRACE_NS (2 * RTAIL_S)

static _Atomic bool is_ending;
static uint64_t end_deadline_ns;

static void sleep_until(uint64_t deadline_ns)
{
	struct timespec until = { (time_t)(deadline_ns / RTAIL_S), (long)(deadline_ns % RTAIL_S) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static _Noreturn void give_up(void)
{
	log_error("the end of Python was given up: a thread holds the GIL, or atexit functions do not finish "
		"(graceful-timeout bounds the wait)");
	log_stop();
	_exit(0);
}

static void *watch_attach(void *arg)
{
	struct pollfd stop = { .fd = (int)(intptr_t)arg, .events = POLLIN };

	while (poll(&stop, 1, -1) < 0 && errno == EINTR)
		;
	sleep_until(rtail_now_ns() + GRACE_NS);
	/* acquire: pairs with the release in guard_end() */
	if (!atomic_load_explicit(&is_ending, memory_order_acquire))
		give_up();
	return NULL;
}

static void *watch_end(void *arg)
{
	(void)arg;
	sleep_until(end_deadline_ns);
	give_up();
}

static void start(void *(*function)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	/* pdb may be waiting for its user */
	if (python.config->debug)
		return;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attr, function, arg) == 0)
		pthread_setname_np(thread, "ringtail-guard");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

void guard_attach(int stop_fd)
{
	static bool is_started;

	if (!is_started)
		start(watch_attach, (void *)(intptr_t)stop_fd);
	is_started = true;
}

void guard_end(uint64_t deadline_ns)
{
	end_deadline_ns = deadline_ns + GRACE_NS;
	atomic_store_explicit(&is_ending, true, memory_order_release);
	start(watch_end, NULL);
}
