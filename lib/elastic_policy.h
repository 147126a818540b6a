/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic_policy.h: the decisions of the elastic pool: what was seen goes in,
 * a verdict comes out. No threads, no clock, no system call; the state belongs
 * to the submitter.
 *
 * All times are nanoseconds of one monotonic clock; RTAIL__NEVER = no time.
 */
#ifndef RTAIL_ELASTIC_POLICY_H
#define RTAIL_ELASTIC_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define RTAIL__NEVER UINT64_MAX

/*
 * What the submitter knows of one thread. A thread counts its jobs; a thread whose count has not moved since a look at
 * least T ago is in one job for longer than T, and no clock is read for it.
 */
struct rtail__sight {
	uint64_t jobs;     /* the count when looked at last */
	uint64_t since_ns; /* in that job since then at the latest */
	uint64_t until_ns; /* is_held stands until then, 0 = not asked yet */
	bool is_held;
};

enum rtail__standing {
	RTAIL__BUSY,
	RTAIL__HELD,
	RTAIL__ASK, /* what it is blocked in decides: look, then rtail__sight_judge() */
};

/*
 * A look at the count of a thread that is neither parked nor spinning. settled_ns: a time at which the ring was empty and
 * since when nothing was pushed (every present job began before it), 0 = there is none. Stores into *ret_until_ns the
 * time until which BUSY or HELD stands, as long as the thread does not idle.
 */
enum rtail__standing rtail__sight_look(struct rtail__sight *sight, uint64_t jobs, uint64_t now_ns, uint64_t settled_ns,
				       uint64_t wake_age_ns, uint64_t *ret_until_ns);

/*
 * The answer to ASK: stands until twice the time that the job has lasted, most_ns at most: a view that has computed for a
 * second and now sleeps would otherwise make every job beside it wait for the switch interval, for a second.
 */
void rtail__sight_judge(struct rtail__sight *sight, bool is_held, uint64_t now_ns, uint64_t most_ns);

/* The thread has been woken, or started: what it does next begins now. */
void rtail__sight_reset(struct rtail__sight *sight, uint64_t now_ns);

/* How long the job at the head of the ring has waited without the ring being drained (rule 3). */
struct rtail__head {
	uint64_t pops;       /* at the last look */
	uint64_t since_ns;
	uint64_t settled_ns; /* the ring was empty then, and nothing was pushed since; 0 = not so */
	uint64_t due_ns;     /* when the tick wanted to look again, RTAIL__NEVER = not at all */
	bool is_pending;     /* a job was there at the last look, or has been pushed since */
};

void rtail__head_init(struct rtail__head *head, uint64_t now_ns);

/* After a push. */
void rtail__head_pushed(struct rtail__head *head, uint64_t now_ns);

/* A look: pushes and pops of the ring so far. False: the ring is empty. */
bool rtail__head_look(struct rtail__head *head, uint64_t pushes, uint64_t pops, uint64_t now_ns);

/* The lane, for a decision of the tick. */
struct rtail__lane_view {
	uint64_t now_ns;
	uint64_t since_ns;     /* the head has waited since */
	uint64_t due_ns;       /* when this tick should have come */
	uint64_t busy_until_ns;/* the earliest time at which a busy thread may no longer be busy */
	uint64_t retry_ns;     /* no growth before */
	unsigned threads;      /* configured */
	unsigned parked;       /* threads that may be woken for a job */
	unsigned aside;        /* parked threads that own paused things */
	unsigned busy;         /* neither parked nor held, the spinner too */
	unsigned held;         /* in a job */
	bool is_spinning;
	bool can_grow;         /* fewer threads than threads_max */
	bool is_parallel;
	bool is_fresh;         /* busy was asked now, for growth; what follows is known then */
	bool is_guess;         /* somebody could not be asked exactly: see stall.h */
	uint64_t measured_ns;  /* how long the handlers' CPU time has been measured while the head waits, 0 = not yet */
	uint64_t used_ns;      /* what they have used of it */
};

struct rtail__limits {
	uint64_t wake_age_ns;
	uint64_t switch_ns;
	uint64_t grow_ns;
};

enum rtail__act {
	RTAIL__WAIT,       /* look again at again_ns */
	RTAIL__WAKE,       /* a parked thread */
	RTAIL__WAKE_ASIDE, /* a parked thread that owns paused things */
	RTAIL__ASK_ALL,    /* ask every thread afresh and come back with is_fresh */
	RTAIL__MEASURE,    /* begin (anew) to measure the handlers' CPU time, and look again at again_ns */
	RTAIL__GROW,       /* start one thread */
	RTAIL__LOOK_AGAIN, /* the tick came far too late to judge by: the head's age begins anew */
};

struct rtail__decision {
	enum rtail__act act;
	uint64_t again_ns; /* WAIT, MEASURE; RTAIL__NEVER = when a thread idles or a job is pushed */
};

/* A head this old whose threads are busy: measure, so that at grow_ns it is known how much they compute. */
static inline uint64_t rtail__policy_measure_ns(const struct rtail__limits *limits)
{
	return limits->grow_ns / 4;
}

/* Rules 3 and 5, for a head that waits: since_ns + wake_age_ns has been reached. */
struct rtail__decision rtail__policy_aged(const struct rtail__lane_view *view, const struct rtail__limits *limits);

#endif
