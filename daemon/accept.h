/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.h: stage: new connections. At max-connections the longest idle
 * keep-alive connection is closed first, then accepting stops; nobody is
 * refused. Loop thread.
 */
#ifndef RINGTAIL_ACCEPT_H
#define RINGTAIL_ACCEPT_H

#include <stdbool.h>

struct completion;
struct conn;
struct loop;

/* Arms what should be armed: at start, after a pause, when connections have gone. */
void accept_arm(struct loop *loop);

/* The new connection, or NULL (an error was dealt with). */
struct conn *accept_done(struct loop *loop, const struct completion *completion);

/*
 * The limit is reached and somebody waits: the idle connection that should make room, or NULL (is_crowded: the next that
 * becomes idle).
 */
struct conn *accept_watched(struct loop *loop, const struct completion *completion);

/*
 * The end, in this order: stop asks for it; once it is_stopped, leftover gives the connections that wait in the accept
 * queues, one by one, NULL when they are empty; then close, so that whoever comes now is refused at once.
 */
void accept_stop(struct loop *loop);
bool accept_is_stopped(const struct loop *loop);
struct conn *accept_leftover(struct loop *loop);
void accept_close(struct loop *loop);

#endif
