/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic_priv.h: the elastic pool from inside: what elastic.c (the submitter's
 * side), elastic_thread.c (the threads' side) and elastic_lane.c (the words
 * between them) share.
 *
 * Pairings. Each label stands at both ends.
 *
 *	label  writer -> reader                what is published           attacked by
 *	[P1]   ring_push -> ring_pop           the job in a cell           race/elastic_stress, unit/test_ring
 *	[P2]   ring_pop -> ring_push           the cell is free again      race/elastic_stress, unit/test_ring
 *	[P3]   total order: the submitter      no lost wake: either the    race/elastic_stress (lost wake),
 *	       pushes, then reads the lane     submitter sees the idle     unit/test_elastic: bounded stress
 *	       and the words; a thread moves   thread, or the thread sees
 *	       lane and word, then looks at    the job. All four accesses
 *	       the ring                        are seq_cst.
 *	[P4]   park -> take, lane_take         the stamp of a parked       unit/test_elastic: one thread gets
 *	                                       thread                      sixty jobs; race/elastic_stress
 *	[P5]   take, unpark -> wait, consume   what the waker did: stop,   race/elastic_stress (stop at once),
 *	                                       messages                    unit/test_parker, test_elastic
 *	[P6]   thread_main -> submitter        the slot's stall file: the  unit/test_elastic: growth
 *	                                       phase LIVE
 *	[P7]   message -> inbox_take           a message                   race/elastic_stress (messages)
 *	[P8]   lane_take -> park_shared, and   a wake of the shared word;  race/elastic_stress --mode shared, off
 *	       back: park_shared -> look       that nobody waits for it
 */
#ifndef RTAIL_ELASTIC_PRIV_H
#define RTAIL_ELASTIC_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "elastic.h"
#include "elastic_policy.h"
#include "parker.h"
#include "ring.h"
#include "stall.h"

/*
 * The lane word: how many threads idle, and how. Written at transitions into and out of idleness only, so that a
 * submitter that has found somebody busy need not look again until the word or the time has moved.
 */
#define RTAIL__LANE_PARKED   0x1ull           /* 16 bits: parked, may be woken for a job */
#define RTAIL__LANE_ASIDE    0x10000ull       /* 16 bits: parked, own paused things */
#define RTAIL__LANE_SPINNING 0x100000000ull   /* 1 bit: rule 1 */
#define RTAIL__LANE_MOVED    0x200000000ull   /* 31 bits: counts every transition */

/* The shared word. */
#define RTAIL__SHARED_WAKES 0xffffu  /* 16 bits: wakes to be taken */
#define RTAIL__SHARED_CALL  0x10000u /* 16 bits: counts calls to look at inbox and stop */

static inline unsigned rtail__lane_parked(uint64_t word)
{
	return word & 0xffff;
}

static inline unsigned rtail__lane_aside(uint64_t word)
{
	return (word >> 16) & 0xffff;
}

static inline bool rtail__lane_is_spinning(uint64_t word)
{
	return word & RTAIL__LANE_SPINNING;
}

static inline uint32_t rtail__lane_moves(uint64_t word)
{
	return (uint32_t)(word >> 33);
}

enum rtail__phase {
	RTAIL__FREE = 0, /* no thread */
	RTAIL__STARTING, /* runs thread_start */
	RTAIL__LIVE,
	RTAIL__FAILED,   /* thread_start said no: ended */
	RTAIL__ENDED,    /* to be joined */
};

struct rtail__thread {
	struct rtail__parker parker; /* a line of its own */

	/* Written by the thread, read by the submitter and for statistics. */
	_Alignas(RTAIL__LINE) _Atomic uint64_t jobs; /* begun, messages too: published before the job runs */
	_Atomic uint32_t stamp;      /* order of parking, [P4] */
	_Atomic uint32_t owned;      /* paused things */
	_Atomic uint32_t phase;      /* enum rtail__phase, [P6] */
	_Atomic uint32_t is_waiting; /* on the shared word: its own says nothing then, [P8] */
	_Atomic uint64_t parks;
	_Atomic uint64_t spurious;
	bool is_idle_told;           /* the idle hook has been called since the last job */
	bool is_messages_turn;       /* an owner takes messages and jobs in turn */
	struct rtail_message *taken; /* messages taken from the inbox, oldest first */
	struct rtail__stall stall;

	/* Written by the submitter. */
	_Alignas(RTAIL__LINE) _Atomic(struct rtail_message *) inbox; /* newest first */

	/* The submitter's. */
	_Alignas(RTAIL__LINE) struct rtail__sight sight;
	_Atomic uint32_t is_held;    /* as of the last look */
	uint32_t idle_stamp;         /* for retirement: the stamp seen, and since when */
	uint64_t idle_since_ns;
	bool is_leaving;             /* retired: no longer counted */
	pthread_t pthread;
	struct rtail_elastic *pool;
	unsigned index;
};

enum rtail__stop {
	RTAIL__GOING = 0,
	RTAIL__DRAINING,
	RTAIL__DROPPING,
};

struct rtail_elastic {
	/* Read-only once started. */
	struct rtail_elastic_config config;
	char name[16];
	struct rtail__thread *threads; /* threads_max slots */
	struct rtail__limits limits;
	uint64_t spin_ns;              /* 0 on one allowed CPU */
	bool spins_beside;             /* on the submitter's CPU too: for tests */
	pid_t pid;
	uint64_t *pushed_ns;           /* is_parallel: the time of each push, by position; the submitter's */
	struct rtail__stall_look (*stall_read)(const struct rtail__stall *stall); /* the tests put their own here, */
	uint64_t (*cpu_read)(const struct rtail_elastic *pool);                   /* and here */

	/* Rarely written. */
	_Alignas(RTAIL__LINE) _Atomic uint32_t stop; /* enum rtail__stop */
	_Atomic uint32_t can_grow;     /* submitter to threads: a further thread could be started */
	_Atomic uint32_t slots;        /* those below have had a thread: what is beyond need not be looked at */
	_Atomic int submitter_cpu;     /* where it ran at its last tick, -1 = not known */

	_Alignas(RTAIL__LINE) _Atomic uint64_t lane;
	/* Modes SHARED and OFF: the one futex word. */
	_Alignas(RTAIL__LINE) _Atomic uint32_t shared;
	_Atomic uint64_t chained;      /* wakes made by threads */
	_Atomic uint64_t dropped;

	struct rtail__ring ring;

	/* The submitter's. */
	_Alignas(RTAIL__LINE) struct rtail__head head;
	uint64_t pops_seen;            /* for the bound on the queue */
	uint64_t busy_word;            /* the lane when somebody was found busy */
	uint64_t busy_until_ns;        /* and until when that stands */
	unsigned busy_hint;            /* who */
	unsigned alive;                /* threads that are counted */
	unsigned ending;               /* retired, to be joined */
	uint32_t promised;             /* is_parallel: the spinner of that move has a job coming */
	bool is_promised;
	bool is_started;
	uint64_t patience_ns;          /* the age of a head at which it is looked at, learn_patience() */
	uint64_t patience_since_ns;    /* the head that has last made it longer */
	uint64_t message_ns;           /* the last message was sent then */
	uint64_t woken_ns;             /* the last wake or growth for an aged head */
	uint64_t retry_ns;             /* no growth before */
	uint64_t retire_ns;            /* next look for threads to retire */
	uint64_t cpu_ns, cpu_at_ns;    /* CPU time of the handlers at a time */
	_Atomic uint32_t alive_shown, peak;
	_Atomic uint64_t submitted, refused, grown, retired, grow_failed, looks;
	_Atomic uint64_t wakes[RTAIL_WAKE_SITES];

	/* Start and end of threads. */
	pthread_mutex_t mutex;
	pthread_cond_t changed;        /* CLOCK_MONOTONIC */
};

/* As of the last look; an owner that idles counts as held. */
static inline bool rtail__thread_is_held(const struct rtail__thread *thread)
{
	switch (rtail__parker_state(&thread->parker)) {
	case RTAIL__ASIDE:
		return true;
	case RTAIL__RUNNING:
	case RTAIL__WOKEN:
		return atomic_load_explicit(&thread->is_held, memory_order_relaxed);
	default:
		return false;
	}
}

static inline unsigned rtail__slots(const struct rtail_elastic *pool)
{
	return atomic_load_explicit(&pool->slots, memory_order_relaxed);
}

/* Owner-written statistics: one writer, any reader. */
static inline void rtail__count(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* elastic_lane.c: idling and waking. */

/* The thread found nothing to do: announces itself idle, looks again, sleeps. False: it is to end (retired). */
bool rtail__lane_idle(struct rtail__thread *thread);

/* Thread. May it take a job of the ring? Not while it owns paused things and somebody else could. */
bool rtail__lane_may_take(struct rtail__thread *thread);

/* Any thread. Takes one thread off the parked set: the one that parked last, of those aside if so. The word to be woken, or NULL. */
uint32_t *rtail__lane_take(struct rtail_elastic *pool, bool is_aside, struct rtail__thread **ret_thread);

/* Any thread. Makes thread look at its inbox and at stop. The word to be woken, or NULL: it is awake. */
uint32_t *rtail__lane_call(struct rtail__thread *thread);

/* Submitter. Ends a thread that is parked. False: it is not. */
bool rtail__lane_retire(struct rtail__thread *thread);

/* elastic_thread.c */

/* Submitter. Starts a thread in the slot. 0 or -errno. */
int rtail__thread_start(struct rtail__thread *thread);

/* Any one thread when no other can touch the inbox. Drops what lies there; the number. */
unsigned rtail__thread_drop_messages(struct rtail__thread *thread);

/* elastic_grow.c: growth, retirement and the end of threads. Submitter. */

/* Starts one more thread. False: it could not be. */
bool rtail__grow(struct rtail_elastic *pool, uint64_t now_ns);

/* Joins what has ended. */
void rtail__grow_reap(struct rtail_elastic *pool, uint64_t now_ns);

/* Retires idle threads above config.threads; the time of the next look or RTAIL__NEVER. */
uint64_t rtail__grow_retire(struct rtail_elastic *pool, uint64_t now_ns);

/* CPU time that the handlers have used so far. */
uint64_t rtail__grow_cpu(const struct rtail_elastic *pool);

/* Begins to measure what they use from now on; puts what was measured since since_ns into the view. */
void rtail__grow_measure(struct rtail_elastic *pool, uint64_t now_ns);
void rtail__grow_measured(const struct rtail_elastic *pool, struct rtail__lane_view *view);

/* Fewer or more threads are counted. */
void rtail__grow_set_alive(struct rtail_elastic *pool, unsigned alive);

#endif
