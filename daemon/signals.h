/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h: the daemon's own signals. TERM: graceful; INT: quick; QUIT: now; a
 * second TERM or INT: now; USR1: logs are opened again; HUP: one line says that
 * only a restart loads new code (an application may take it). By sigaction
 * handlers: no mask is blocked, which subprocesses would inherit.
 */
#ifndef RINGTAIL_SIGNALS_H
#define RINGTAIL_SIGNALS_H

#include <stddef.h>

struct listener;
struct worker;

/* Main thread, before the application is imported. 0 or -errno. */
int signals_install(void);

/*
 * Main thread. Whom a signal stops. Until there is a worker, a signal that stops ends the process at once with status 0; the unix
 * sockets of listeners are removed then.
 */
void signals_set_listeners(const struct listener *listeners, size_t count);
void signals_set_worker(struct worker *worker);

/* Main thread, after the application's import and after each run of Python's handlers: puts our handlers back, and says once which
 * signals the application had tried to take. */
void signals_check_taken(void);

/*
 * In a child forked by the application: default dispositions, where they are still ours; the listeners are closed.
 * Async-signal-safe.
 */
void signals_after_fork_child(void);

#endif
