/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h: the loop of a worker: its state and its pass. Loop thread only,
 * unless a member says otherwise. The stages (accept, recv, body, admit, send,
 * drain) work on this state; flow.c routes between them.
 */
#ifndef RINGTAIL_LOOP_H
#define RINGTAIL_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cadence.h"
#include "conn.h"
#include "engine.h"
#include "refusal_log.h"
#include "report.h"
#include "timer.h"

struct worker;
struct config;

struct loop_listener {
	bool is_armed;
	bool is_multishot;
	bool is_watched; /* at the limit: is somebody waiting? */
};

struct loop {
	struct worker *worker;
	const struct config *config;
	struct engine *engine;
	uint64_t now_ns;          /* CLOCK_MONOTONIC, taken once a pass and every few completions */

	struct conn_table conns;
	struct timer_heap timers;
	uint32_t idle_count;      /* connections in CONN_IDLE */

	struct loop_listener *listeners;
	bool is_accepting;
	bool is_crowded;          /* somebody waits, every connection is busy: the next that becomes idle makes room */
	uint64_t accept_retry_ns; /* 0, or when to try again after EMFILE and the like */
	uint64_t accept_said_ns;  /* when the last message about it was written */
	struct accept_victims *victims;

	uint64_t pool_look_ns;    /* when the pool wants to be looked at, UINT64_MAX = nothing waits */

	int stop_mode;            /* the mode that is being carried out */
	bool is_draining;
	bool has_closed_listeners;
	uint64_t stop_began_ns, stop_deadline_ns;
	bool has_said_waiting;

	char fixed[96];           /* "Date: ...\r\nServer: ringtail\r\n" */
	uint8_t fixed_len, date_len;
	time_t fixed_second;

	struct stage_rows rows;
	struct cadence cadence;
	uint64_t closes[CONN_CLOSES];
	uint64_t accepted;
	uint64_t refused_full;
	struct refusal_log refusals;
};

/* Makes the loop's state on the calling thread, which becomes its owner. 0 or -errno after having said why. */
int loop_init(struct loop *loop, struct worker *worker);

/* Runs until it was asked to stop and everything has ended. */
void loop_run(struct loop *loop);

/* Behind loop_run, when the pool has stopped: ends what handlers have given back meanwhile (log lines, memory). */
void loop_take_last(struct loop *loop);

void loop_done(struct loop *loop);

/* Refreshes now_ns. */
void loop_clock(struct loop *loop);

#endif
