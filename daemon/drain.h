/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h: stopping. Graceful: what waits in the accept queues is taken, every
 * request that was received is answered, idle connections close last. Loop
 * thread.
 */
#ifndef RINGTAIL_DRAIN_H
#define RINGTAIL_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct loop;

/* Any thread. How long a stop of this mode (enum stop_mode) may wait for answers. */
uint64_t drain_time_ns(const struct config *config, int mode);

/* Carries out what was asked by worker_request_stop; once a pass. True: everything has ended. */
bool drain_step(struct loop *loop);

#endif
