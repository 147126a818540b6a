/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.h: what a pool thread does with a request: the job functions given to
 * the pool, and the pool's hooks. With --threads 0 the loop calls them.
 */
#ifndef RINGTAIL_HANDLER_H
#define RINGTAIL_HANDLER_H

#include "lib/elastic.h"

struct worker;

/* Jobs; arg is the request. */
void handler_run(void *arg, enum rtail_act act);
void handler_resume(void *arg, enum rtail_act act);

/* Hooks; arg is the worker. */
int handler_thread_start(void *arg, unsigned index);
void handler_thread_stop(void *arg, unsigned index);
void handler_idle(void *arg, unsigned index);

#endif
