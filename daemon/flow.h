/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h: the road of a request. A stage never calls the next one: it returns a
 * verdict, and flow.c alone decides what comes next. Loop thread.
 *
 *     accept -> recv -> parse -> body -> admit ==(pool)==> wsgi -> respond
 *            ==(loop)==> send -> keep-alive or close
 */
#ifndef RINGTAIL_FLOW_H
#define RINGTAIL_FLOW_H

#include "conn.h"

struct completion;
struct loop;
struct outbuf;
struct timer;

/* A completion of the engine. */
void flow_completion(struct loop *loop, const struct completion *completion);

/* A piece of a response, handed back by a handler. */
void flow_returned(struct loop *loop, struct outbuf *out);

/* A connection's timer has run out. */
void flow_timer(struct loop *loop, struct timer *timer);

/* A connection that came out of the accept queue. */
void flow_accepted(struct loop *loop, struct conn *conn);

/* Closes an idle connection. It is gone when this returns. */
void flow_close_idle(struct loop *loop, struct conn *conn, enum conn_close reason);

/* Ends any connection at once; a request that a handler has is told that nobody listens. It may be gone when this returns. */
void flow_abort(struct loop *loop, struct conn *conn, enum conn_close reason);

#endif
