/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener.h: the listening sockets: opened from --bind, inherited by fd:N, or
 * passed by systemd. Non-blocking, close-on-exec, TCP_NODELAY (which accepted
 * sockets inherit on Linux).
 *
 * Life: opened on the main thread before the application is imported, so that a
 * port in use is told at once; closed on the main thread at the end. In between
 * the loop accepts on fd and reads local, which stay as they are.
 */
#ifndef RINGTAIL_LISTENER_H
#define RINGTAIL_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/request.h"

struct config;

struct listener {
	int fd;
	struct endpoint local;
	bool is_unix;
	bool is_inherited;  /* fd:N or systemd: nothing is unlinked */
	char text[128];     /* for the start-up line: "http://127.0.0.1:8000", "unix:/run/x.sock" */
	char path[108];     /* unix, made by us: unlinked at the end while it is still ours */
	dev_t dev;
	ino_t ino;
};

/*
 * All of config->bind, and the sockets of LISTEN_FDS when LISTEN_PID is ours (instead of a bind that is only the default); these
 * variables are unset. 0, or exit status 1 after one message on standard error: nothing is left open then.
 */
int listeners_open(const struct config *config, struct listener **ret_listeners, size_t *ret_count);

/* Removes the unix sockets that were made here and are still ours. Async-signal-safe. */
void listeners_unlink(const struct listener *listeners, size_t count);

/* listeners_unlink, and closes: nothing more is accepted. local stays for whoever still answers a request. */
void listeners_shut(struct listener *listeners, size_t count);

/* listeners_shut, free. */
void listeners_close(struct listener *listeners, size_t count);

#endif
