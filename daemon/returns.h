/* SPDX-License-Identifier: Apache-2.0 */
/*
 * returns.h: the way back, handler threads to the loop: a multi-producer,
 * single-consumer list of out buffers and the flag that says the loop sleeps.
 *
 * Producers push at once, so that a finished request is never behind the next
 * job; the signal that wakes the loop is made only when it sleeps, and by the
 * handler when its ring is empty or after 64 pushes (returns_flush): a loop
 * that sleeps while jobs wait looks again after the wake age anyhow.
 */
#ifndef RINGTAIL_RETURNS_H
#define RINGTAIL_RETURNS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "outbuf.h"

struct returns {
	_Alignas(64) _Atomic(struct outbuf *) head; /* newest first */
	_Alignas(64) _Atomic unsigned is_asleep;
	int event_fd;
	_Atomic uint64_t signals;
};

/* 0 or -errno. */
int returns_init(struct returns *returns);
void returns_done(struct returns *returns);

/* Any handler. Ownership of out moves to the loop. */
void returns_push(struct returns *returns, struct outbuf *out);

/* Any handler. Wakes the loop if it has announced that it sleeps. */
void returns_flush(struct returns *returns);

/* Loop. Everything pushed so far, oldest first, or NULL. */
struct outbuf *returns_take(struct returns *returns);

/* Loop. Announces the sleep; false: something was pushed, do not sleep. */
bool returns_sleep(struct returns *returns);

/* Loop. Awake again. */
void returns_wake(struct returns *returns);

#endif
