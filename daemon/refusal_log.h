/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusal_log.h: what is said of requests that were refused before Python saw
 * them. A refusal by one of our limits is a warning, because it may be the
 * limit that is wrong: once a minute a limit, with the count of those between.
 * All refusals are told at debug. Loop thread.
 */
#ifndef RINGTAIL_REFUSAL_LOG_H
#define RINGTAIL_REFUSAL_LOG_H

#include <stdint.h>

#include "parse.h"

struct conn;

struct refusal_log {
	uint64_t said_ns[REFUSALS];  /* 0 = never */
	uint64_t unsaid[REFUSALS];   /* since then */
	uint64_t count[REFUSALS];
};

/* The connection's parser has refused its request. */
void refusal_log_add(struct refusal_log *log, const struct conn *conn, uint64_t now_ns);

#endif
