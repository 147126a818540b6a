/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.h: stage: new connections. At max-connections the longest idle
 * keep-alive connection is closed first, then accepting stops; nobody is
 * refused. Loop thread.
 */
#ifndef RINGTAIL_ACCEPT_H
#define RINGTAIL_ACCEPT_H

struct completion;
struct conn;
struct loop;

/* Arms what should be armed: at start, after a pause, when connections have gone. */
void accept_arm(struct loop *loop);

/* The new connection, or NULL (an error was dealt with). */
struct conn *accept_done(struct loop *loop, const struct completion *completion);

/* The limit is reached: the connection that should make room, or NULL (accepting stops until one has gone). */
struct conn *accept_victim(struct loop *loop);

/* Stops accepting and takes what waits in the accept queues: the next connection, or NULL when they are empty. */
void accept_stop(struct loop *loop);
struct conn *accept_leftover(struct loop *loop);

#endif
