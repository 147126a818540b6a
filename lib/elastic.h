/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic.h: a pool of threads for jobs that may wait.
 *
 * It behaves as one thread until a job has really waited: jobs that follow
 * each other land on one thread, and a second one is woken only when the first
 * is known not to come back soon. A pool is one lane: a bounded FIFO of jobs
 * and the threads that serve it.
 *
 * Life cycle: config_init, new, start, (submit | message | tick)*, stop, free.
 * Submitter: exactly one thread calls submit, message and tick (in the daemon
 * the loop). Numbers named _ns are nanoseconds of CLOCK_MONOTONIC.
 * Errors are negative errno values.
 *
 * Threads inherit the signal mask of the submitter (start and tick create
 * them), have the default stack size and the name NAME-INDEX.
 *
 * In a child made by fork() the pool has no threads: there only self, own,
 * queued, stats and thread_stats may be called; stop answers -ECHILD and free
 * does nothing.
 */
#ifndef RTAIL_ELASTIC_H
#define RTAIL_ELASTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job.h"

enum rtail_elastic_mode {
	RTAIL_ELASTIC_ON = 0,  /* rules 1 to 5, a futex word a thread */
	RTAIL_ELASTIC_SHARED,  /* rules 1 to 3 on one shared futex word (comparison arm) */
	RTAIL_ELASTIC_OFF,     /* the pool before the rules (comparison arm) */
};

/*
 * What a pool calls on its own threads. index is the thread's slot, 0 up to
 * threads_max - 1, reused after a retirement. Any hook may be NULL.
 */
struct rtail_elastic_hooks {
	void *arg;
	/* First and last act of a thread. A negative return of start ends the thread, without thread_stop; it counts as failed
	 * growth, and the next is tried a second later. */
	int (*thread_start)(void *arg, unsigned index);
	void (*thread_stop)(void *arg, unsigned index);
	/* The ring is empty: the thread will now spin or park. Called once before each idle period, not once a job; a thread
	 * that was woken and found nothing goes on idling without another call. */
	void (*idle)(void *arg, unsigned index);
};

struct rtail_elastic_config {
	unsigned threads;          /* started at once, >= 1 */
	unsigned threads_max;      /* >= threads */
	unsigned queue_size;       /* jobs that may wait, any number >= 1 */
	enum rtail_elastic_mode mode;
	bool is_parallel;          /* no interpreter lock: submit wakes whenever a thread is parked */
	uint64_t wake_age_ns;      /* T of rule 3, 200 us */
	uint64_t switch_ns;        /* rule 3 while a thread is runnable or wants the lock, 5 ms */
	uint64_t grow_ns;          /* rule 5's second case, 10 ms */
	uint64_t spin_ns;          /* how long the one idle spinner spins, 10 us; 0 = not at all. Never on one allowed CPU, */
	                           /* nor on the CPU on which the submitter ran at its last tick */
	uint64_t thread_idle_ns;   /* retirement above threads, 30 s */
	uintptr_t lock_begin;      /* futex words in [begin, end) belong to the interpreter's lock: */
	uintptr_t lock_end;        /* a thread that waits there is not held. 0, 0 = none */
	const char *name;          /* threads are named NAME-INDEX (15 bytes for the kernel) */
	struct rtail_elastic_hooks hooks;
};

/* A wake that the caller has to make: FUTEX_WAKE of one waiter on word (private, 32 bits). word NULL = nothing to do. */
struct rtail_wake {
	uint32_t *word;
};

enum rtail_wake_site {
	RTAIL_WAKE_SUBMIT,
	RTAIL_WAKE_PARALLEL,
	RTAIL_WAKE_AGE,
	RTAIL_WAKE_GROW,    /* a thread was started */
	RTAIL_WAKE_MESSAGE,
	RTAIL_WAKE_STOP,
	RTAIL_WAKE_CHAIN,   /* mode OFF: a taker woke a sibling; else: a thread with paused things left a job to one */
	RTAIL_WAKE_SITES,
};

struct rtail_elastic_thread_stats {
	unsigned index;
	uint64_t jobs;
	uint64_t parks;
	uint64_t spurious;
	bool is_alive;
	bool is_held;
};

struct rtail_elastic_stats {
	unsigned threads;        /* alive now */
	unsigned threads_peak;
	unsigned held;           /* as of the last look */
	unsigned parked;
	unsigned queued;         /* jobs that wait now */
	uint64_t submitted, refused, run, dropped;
	uint64_t wakes[RTAIL_WAKE_SITES];
	uint64_t parks, spurious;
	uint64_t grown, retired, grow_failed;
	uint64_t looks;          /* reads of /proc */
};

struct rtail_elastic;

void rtail_elastic_config_init(struct rtail_elastic_config *config);

/* -EINVAL: a number out of its range; -ENOMEM. No thread is started yet. config is copied (name too). */
int rtail_elastic_new(const struct rtail_elastic_config *config, struct rtail_elastic **ret_pool);

/* Starts config.threads threads, all of which have run thread_start when this returns. Negative errno: none is left, the
 * pool is stopped and can only be freed (-ECANCELED: thread_start refused). */
int rtail_elastic_start(struct rtail_elastic *pool);

/*
 * Submitter. Queues the job. -EAGAIN: queue_size jobs wait already; -ESHUTDOWN: stopped. Before start it only queues.
 * now_ns: the caller's present time. If ret_wake is NULL the pool makes the wake itself (futex(2)); otherwise the caller
 * must make the returned wake before it sleeps (for instance as IORING_OP_FUTEX_WAKE). A pass that makes its wakes at its
 * end, after all its submits, sends one for all of them.
 */
int rtail_elastic_submit(struct rtail_elastic *pool, struct rtail_job job, uint64_t now_ns, struct rtail_wake *ret_wake);

/*
 * Submitter. Queues a job for exactly the thread index, before any job of the ring (its inbox). Used for work that must
 * happen on the thread that began it. The job must be embedded memory of the caller: see struct rtail_message. It is the
 * caller's again as soon as the job is called. -ESRCH: no such thread (any more; a thread that owns a paused thing does
 * not retire), -EINVAL: no such index, -ESHUTDOWN: stopped.
 */
struct rtail_message {
	struct rtail_message *next; /* the pool's while queued */
	struct rtail_job job;
};
int rtail_elastic_message(struct rtail_elastic *pool, unsigned index, struct rtail_message *message, struct rtail_wake *ret_wake);

/*
 * Submitter. Rules 3 and 5 (a job that waits; growth) and retirement. To be called when the time that the last call
 * returned has come, and after each batch of submits. Returns the nanoseconds (>= 0) after which to call again, or -1:
 * nothing can become due before the next submit.
 */
int64_t rtail_elastic_tick(struct rtail_elastic *pool, uint64_t now_ns, struct rtail_wake *ret_wake);

/*
 * Pool thread, inside a job: the thread now owns one paused thing more (or less). A thread that owns one is counted as
 * held while it idles, takes ring jobs only when no other thread is parked or can be started, then in turn with its inbox,
 * and never retires.
 */
void rtail_elastic_own(struct rtail_elastic *pool, int delta);

/* Pool thread: its index, or -1 when the caller is not a thread of this pool. */
int rtail_elastic_self(struct rtail_elastic *pool);

/* Any thread: jobs that wait now; cheap. */
unsigned rtail_elastic_queued(const struct rtail_elastic *pool);

/*
 * Submitter. Stops: no submit after it; jobs and messages that wait are run (drain true) or dropped, the jobs by this call
 * itself; every thread is woken by name. Waits until all threads have ended or the deadline (CLOCK_MONOTONIC, UINT64_MAX =
 * none) has passed: -ETIMEDOUT, call again to wait on, with drain false to drop what still waits. Paused things are not
 * waited for.
 */
int rtail_elastic_stop(struct rtail_elastic *pool, bool drain, uint64_t deadline_ns);

/* After a stop that returned 0, in the process that made the pool. */
void rtail_elastic_free(struct rtail_elastic *pool);

/* Any thread, while the pool lives. threads/ret_count: fills up to *ret_count rows and sets it to the number filled. */
void rtail_elastic_stats(const struct rtail_elastic *pool, struct rtail_elastic_stats *ret_stats);
void rtail_elastic_thread_stats(const struct rtail_elastic *pool, struct rtail_elastic_thread_stats *ret_rows, size_t *ret_count);

#endif
