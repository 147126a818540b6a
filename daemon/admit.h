/* SPDX-License-Identifier: Apache-2.0 */
/* admit.h: stage: a complete request goes to the pool. The first of the two places where it changes its owner. Loop thread. */
#ifndef RINGTAIL_ADMIT_H
#define RINGTAIL_ADMIT_H

#include <stdint.h>

struct loop;
struct request;

enum admit_verdict {
	ADMIT_OK,   /* the request is a handler's until OUT_LAST comes back */
	ADMIT_FULL, /* queue-size requests wait already: still the loop's */
};

enum admit_verdict admit_request(struct loop *loop, struct request *req);

/* A paused generator may go on, or must be closed. */
void admit_resume(struct loop *loop, struct request *req);

/* Rules 3 and 5 of the pool; sets loop->pool_look_ns. */
void admit_tick(struct loop *loop);

#endif
