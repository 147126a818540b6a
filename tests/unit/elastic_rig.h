/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic_rig.h: what the tests of the elastic pool share: a pool whose threads
 * all idle, jobs that stand still where the test wants them, waiting for a
 * state with a deadline. One rig at a time, on the test's thread (which is the
 * submitter); times given to submit and tick are the test's own.
 */
#ifndef TESTS_ELASTIC_RIG_H
#define TESTS_ELASTIC_RIG_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/clock.h"
#include "lib/elastic.h"
#include "lib/elastic_priv.h"

#define T_NS (200 * RTAIL_US)
#define RIG_JOBS 1024

/* The time at which every rig begins. */
#define RIG_T0 (1000 * RTAIL_S)

enum rig_stop_at {
	AT_NOTHING = 0,
	AT_SEMAPHORE, /* sem_wait: blocked outside the lock */
	AT_LOCK,      /* a futex inside the declared lock */
	AT_BURN,      /* burns CPU */
	AT_READ,      /* read() of a pipe */
	AT_MUTEX,
	AT_SLEEP,     /* nanosleep of an hour, until it is told to go on by a signal */
};

struct rig_job {
	enum rig_stop_at at;
	sem_t gate;
	int pipe[2];
	pthread_mutex_t mutex;
	atomic_bool is_begun, is_open, is_done, is_dropped;
	atomic_int thread;             /* index, -1 = none yet */
	atomic_uint runs;
	atomic_uint order;             /* the how many-th job to begin, from 1 */
	int own;                       /* given to rtail_elastic_own before the end */
	pthread_t pthread;
};

struct rig {
	struct rtail_elastic *pool;
	struct rtail_elastic_config config;
	struct rig_job jobs[RIG_JOBS];
	unsigned used;
	atomic_uint begun;
};

extern struct rig rig;
extern _Atomic uint32_t rig_lock[16]; /* the declared interpreter's lock */

/* A config without spinning; the test changes it before rig_start. */
void rig_prepare(unsigned threads, unsigned threads_max);
void rig_start(void);       /* every thread idles when it returns */
void rig_stop(void);        /* opens every gate, drains, frees */

struct rig_job *rig_job(enum rig_stop_at at);
int rig_push(struct rig_job *job, uint64_t now_ns, struct rtail_wake *ret_wake);
/* Pushes; makes the wake, if any; whether there was one. */
bool rig_submit(struct rig_job *job, uint64_t now_ns);
/* Ticks; makes the wake, if any; whether there was one. */
bool rig_tick(uint64_t now_ns, int64_t *ret_again_ns);
/* The two ticks after which a job pushed at now_ns behind held threads has a new one. */
void rig_age(uint64_t now_ns);
void rig_wake(const struct rtail_wake *wake);
void rig_open(struct rig_job *job);
/* A thread stands in a job of this kind, which was pushed at RIG_T0; the ring was seen empty then. */
struct rig_job *rig_hold(enum rig_stop_at at);
/* The function and argument of a job, for messages. */
struct rtail_job rig_as_job(struct rig_job *job);

/* The job's thread is where the job's kind says, seen from outside. */
void rig_wait_blocked(struct rig_job *job);
void rig_wait_done(struct rig_job *job);
void rig_wait_parked(unsigned parked); /* exactly so many, aside included */
void rig_wait_spinning(void);
struct rtail_elastic_stats rig_stats(void);
uint64_t rig_wakes(enum rtail_wake_site site);

/* Waits for an expression, fails after ten seconds. */
#define RIG_WAIT(expr) \
	do { \
		uint64_t rig_end_ns = rtail_now_ns() + 10 * RTAIL_S; \
		while (!(expr)) { \
			ck_assert_msg(rtail_now_ns() < rig_end_ns, "never came true: %s", #expr); \
			rig_pause(); \
		} \
	} while (0)
void rig_pause(void);

#endif
