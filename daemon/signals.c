/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c: TERM, INT, QUIT, USR1 and HUP. The handlers run on whatever thread
 * the kernel chooses and touch atomics, eventfds and unlink only. USR1 and HUP
 * are carried out by a small thread, because the logs take a lock.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/listener.h"
#include "daemon/log.h"
#include "daemon/signals.h"
#include "daemon/worker.h"

static const struct {
	int number;
	const char *name;
	bool is_lent; /* an application that sets a handler for it keeps it, and one that is ignored from the start stays so */
} ours[] = {
	{ SIGTERM, "SIGTERM", false }, { SIGINT, "SIGINT", false }, { SIGQUIT, "SIGQUIT", false }, { SIGUSR1, "SIGUSR1", false },
	{ SIGHUP, "SIGHUP", true },
};
#define OURS (sizeof(ours) / sizeof(*ours))

static _Atomic(struct worker *) worker;
static _Atomic(const struct listener *) listeners;
static _Atomic size_t listener_count;
static _Atomic unsigned terms, ints;
static _Atomic int order_fd = -1; /* wakes the thread that carries out what follows */
static _Atomic bool must_reopen, must_say_hup;
static bool is_said[OURS];

static void stop(enum stop_mode mode)
{
	/* acquire: pairs with the release in signals_set_worker(), which publishes the started worker */
	struct worker *target = atomic_load_explicit(&worker, memory_order_acquire);

	if (target) {
		worker_request_stop(target, mode);
		return;
	}
	listeners_unlink(atomic_load_explicit(&listeners, memory_order_acquire), atomic_load_explicit(&listener_count, memory_order_relaxed));
	_exit(0);
}

/* release: pairs with the acquire in carry_out() */
static void order(_Atomic bool *what)
{
	uint64_t one = 1;

	atomic_store_explicit(what, true, memory_order_release);
	if (write(atomic_load_explicit(&order_fd, memory_order_relaxed), &one, sizeof(one)) < 0)
		return; /* the counter is full: the thread is awake */
}

static void on_signal(int number)
{
	int saved = errno;

	switch (number) {
	case SIGTERM:
		stop(atomic_fetch_add_explicit(&terms, 1, memory_order_relaxed) ? STOP_NOW : STOP_GRACEFUL);
		break;
	case SIGINT:
		stop(atomic_fetch_add_explicit(&ints, 1, memory_order_relaxed) ? STOP_NOW : STOP_QUICK);
		break;
	case SIGQUIT:
		stop(STOP_NOW);
		break;
	case SIGUSR1:
		order(&must_reopen);
		break;
	case SIGHUP:
		order(&must_say_hup);
		break;
	}
	errno = saved;
}

static void *carry_out(void *arg)
{
	uint64_t count;

	(void)arg;
	pthread_setname_np(pthread_self(), "ringtail-signal");
	for (;;) {
		ssize_t n = read(atomic_load_explicit(&order_fd, memory_order_relaxed), &count, sizeof(count));

		if (n != (ssize_t)sizeof(count)) {
			if (n < 0 && errno == EINTR)
				continue;
			return NULL;
		}
		if (atomic_exchange_explicit(&must_reopen, false, memory_order_acquire))
			log_reopen();
		if (atomic_exchange_explicit(&must_say_hup, false, memory_order_acquire))
			log_warning("HUP: this version cannot reload without a restart; it goes on serving; restart the service to load new code");
	}
}

/* Its own mask is full, so that it never runs a handler; nothing is forked from it. */
static int start_carrier(void)
{
	int fd = eventfd(0, EFD_CLOEXEC), error;
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;

	if (fd < 0)
		return -errno;
	atomic_store_explicit(&order_fd, fd, memory_order_relaxed);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attr, carry_out, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -error;
}

static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}

static int take(int number)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK };

	sigemptyset(&action.sa_mask);
	return sigaction(number, &action, NULL) < 0 ? -errno : 0;
}

int signals_install(void)
{
	int ret = start_carrier();

	for (size_t i = 0; i < OURS && ret == 0; i++) {
		if (!ours[i].is_lent || !is_ignored(ours[i].number)) /* nohup */
			ret = take(ours[i].number);
	}
	return ret;
}

void signals_set_listeners(const struct listener *items, size_t count)
{
	atomic_store_explicit(&listener_count, items ? count : 0, memory_order_relaxed);
	atomic_store_explicit(&listeners, items, memory_order_release);
}

void signals_set_worker(struct worker *target)
{
	atomic_store_explicit(&worker, target, memory_order_release);
}

static bool is_ours(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == on_signal;
}

void signals_check_taken(void)
{
	char names[64] = "";
	size_t len = 0;

	for (size_t i = 0; i < OURS; i++) {
		if (ours[i].is_lent || is_ours(ours[i].number))
			continue;
		take(ours[i].number);
		if (!is_said[i])
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "", ours[i].name);
		is_said[i] = true;
	}
	if (len)
		log_warning("the application set a handler for %s, which stays ringtail's: use atexit for what is to be done at the end", names);
}

void signals_after_fork_child(void)
{
	const struct listener *items = atomic_load_explicit(&listeners, memory_order_acquire);

	/* A child that was forked during the import has no worker that would close them. */
	for (size_t i = 0; items && i < atomic_load_explicit(&listener_count, memory_order_relaxed); i++)
		close(items[i].fd);
	for (size_t i = 0; i < OURS; i++) {
		if (is_ours(ours[i].number))
			signal(ours[i].number, SIG_DFL);
	}
}
