/* SPDX-License-Identifier: Apache-2.0 */
/* respond_rig.h: a request without worker and socket, and what comes back of it, as the loop would send it. */
#ifndef RESPOND_RIG_H
#define RESPOND_RIG_H

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/request.h"
#include "daemon/respond.h"
#include "daemon/returns.h"

extern struct returns returns;
extern struct request_pool pool;
extern struct request *req;

/* What take() has collected; files as <OFF+LEN>. */
extern char wire[1 << 16];
extern size_t wire_len;
extern uint32_t wire_flags; /* of all buffers */
extern unsigned wire_bufs;

void setup(void);
void teardown(void);
void take(void);
void header(const char *name, const char *value);
void start(const char *status);
void put(const char *text);
/* Takes, and compares bytes, flags of all buffers and their number. */
void expect(const char *bytes, uint32_t flags, unsigned bufs);

#endif
