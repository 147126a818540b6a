/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic.c: the submitter's side of the elastic pool: submit (rule 2), tick
 * (rules 3 and 5), message, start and stop. Everything here runs on the
 * submitter's thread; the pool lives from new to free.
 *
 * A submit beside a busy thread is a push and one look at the lane word, which
 * only idling threads write: no clock, no system call, no look at a thread.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "elastic_priv.h"

#define REAP_NS (10 * RTAIL_MS)

#define THREADS_LIMIT 4096u

void rtail_elastic_config_init(struct rtail_elastic_config *config)
{
	*config = (struct rtail_elastic_config){
		.threads = 1,
		.threads_max = 64,
		.queue_size = 1024,
		.mode = RTAIL_ELASTIC_ON,
		.wake_age_ns = 200 * RTAIL_US,
		.switch_ns = 5 * RTAIL_MS,
		.grow_ns = 10 * RTAIL_MS,
		.spin_ns = 10 * RTAIL_US,
		.thread_idle_ns = 30 * RTAIL_S,
		.name = "pool",
	};
}

static bool has_one_cpu(void)
{
	cpu_set_t set;

	/* EINVAL: more CPUs than the set has room for. */
	return !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) == 1;
}

static bool is_valid(const struct rtail_elastic_config *config)
{
	return config->threads >= 1 && config->threads_max >= config->threads && config->threads_max <= THREADS_LIMIT &&
	       config->queue_size >= 1 && config->mode <= RTAIL_ELASTIC_OFF && config->wake_age_ns >= 1 &&
	       config->grow_ns >= 1 && config->lock_begin <= config->lock_end;
}

static int init_sync(struct rtail_elastic *pool)
{
	pthread_condattr_t attr;
	int error;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	error = pthread_cond_init(&pool->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (!error)
		pthread_mutex_init(&pool->mutex, NULL);
	return -error;
}

static void release(struct rtail_elastic *pool)
{
	rtail__ring_done(&pool->ring);
	free(pool->threads);
	free(pool->pushed_ns);
	free(pool);
}

int rtail_elastic_new(const struct rtail_elastic_config *config, struct rtail_elastic **ret_pool)
{
	struct rtail_elastic *pool;
	size_t threads_size;
	int error;

	if (!is_valid(config))
		return -EINVAL;
	pool = aligned_alloc(RTAIL__LINE, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	memset(pool, 0, sizeof(*pool));
	pool->config = *config;
	if (config->mode != RTAIL_ELASTIC_ON)
		pool->config.threads_max = config->threads;
	strncpy(pool->name, config->name ? config->name : "pool", sizeof(pool->name) - 1);
	pool->config.name = pool->name;
	pool->limits = (struct rtail__limits){config->wake_age_ns, config->switch_ns, config->grow_ns};
	pool->patience_ns = config->wake_age_ns;
	if (pool->limits.switch_ns < pool->limits.wake_age_ns)
		pool->limits.switch_ns = pool->limits.wake_age_ns;
	pool->spin_ns = has_one_cpu() ? 0 : config->spin_ns;
	pool->stall_read = rtail__stall_read;
	pool->cpu_read = rtail__grow_cpu;
	atomic_init(&pool->submitter_cpu, -1);
	pool->pid = getpid();
	rtail__head_init(&pool->head, 0);

	threads_size = pool->config.threads_max * sizeof(*pool->threads);
	pool->threads = aligned_alloc(RTAIL__LINE, threads_size);
	error = rtail__ring_init(&pool->ring, config->queue_size);
	if (!error && config->is_parallel)
		pool->pushed_ns = calloc(pool->ring.mask + 1, sizeof(*pool->pushed_ns));
	if (!pool->threads || (config->is_parallel && !pool->pushed_ns))
		error = error ? error : -ENOMEM;
	if (!error)
		error = init_sync(pool);
	if (error) {
		release(pool);
		return error;
	}
	memset(pool->threads, 0, threads_size);
	for (unsigned i = 0; i < pool->config.threads_max; i++) {
		pool->threads[i].pool = pool;
		pool->threads[i].index = i;
		pool->threads[i].stall.fd = -1;
	}
	*ret_pool = pool;
	return 0;
}

/* Waits for a phase that ends the wait. False: the deadline has passed. */
static bool wait_phase(struct rtail__thread *thread, bool is_start, uint64_t deadline_ns)
{
	struct rtail_elastic *pool = thread->pool;
	struct timespec ts = {(time_t)(deadline_ns / RTAIL_S), (long)(deadline_ns % RTAIL_S)};
	bool is_done, is_late = false;

	pthread_mutex_lock(&pool->mutex);
	for (;;) {
		uint32_t phase = atomic_load_explicit(&thread->phase, memory_order_acquire);

		is_done = phase == RTAIL__FAILED || phase == RTAIL__ENDED || (is_start && phase == RTAIL__LIVE);
		if (is_done || is_late)
			break;
		if (deadline_ns == UINT64_MAX)
			pthread_cond_wait(&pool->changed, &pool->mutex);
		else
			is_late = pthread_cond_timedwait(&pool->changed, &pool->mutex, &ts) == ETIMEDOUT;
	}
	pthread_mutex_unlock(&pool->mutex);
	return is_done;
}

int rtail_elastic_start(struct rtail_elastic *pool)
{
	unsigned started;
	int error = 0;

	if (pool->is_started)
		return -EALREADY;
	pool->is_started = true;
	for (started = 0; started < pool->config.threads && !error; started++) {
		error = rtail__thread_start(&pool->threads[started]);
		if (error)
			break;
	}
	rtail__grow_set_alive(pool, started);
	for (unsigned i = 0; i < started; i++) {
		wait_phase(&pool->threads[i], true, UINT64_MAX);
		if (atomic_load_explicit(&pool->threads[i].phase, memory_order_acquire) == RTAIL__FAILED)
			error = error ? error : -ECANCELED;
	}
	if (error)
		rtail_elastic_stop(pool, false, UINT64_MAX);
	else
		atomic_store_explicit(&pool->can_grow, pool->alive < pool->config.threads_max, memory_order_relaxed);
	return error;
}

/* Hands a wake to the caller, or makes it. */
static void give_wake(struct rtail_elastic *pool, uint32_t *word, enum rtail_wake_site site, struct rtail_wake *ret_wake)
{
	if (!word)
		return;
	rtail__count(&pool->wakes[site]);
	if (ret_wake)
		ret_wake->word = word;
	else
		rtail__futex_wake(word, 1);
}

/* Takes a parked thread for a job of the ring. False: there is none. */
static bool wake_one(struct rtail_elastic *pool, bool is_aside, enum rtail_wake_site site, uint64_t now_ns,
		     struct rtail_wake *ret_wake)
{
	struct rtail__thread *thread;
	uint32_t *word = rtail__lane_take(pool, is_aside, &thread);

	if (!word)
		return false;
	if (thread)
		rtail__sight_reset(&thread->sight, now_ns);
	give_wake(pool, word, site, ret_wake);
	return true;
}

/* Is what it is blocked in something else than the interpreter's lock, or a wake that is on its way? */
static bool ask_is_held(struct rtail_elastic *pool, struct rtail__thread *thread)
{
	struct rtail__stall_look look = pool->stall_read(&thread->stall);

	rtail__count(&pool->looks);
	if (look.kind != RTAIL__STALL_BLOCKED)
		return false;
	if (look.futex >= pool->config.lock_begin && look.futex < pool->config.lock_end)
		return false;
	return look.futex != (uintptr_t)rtail__parker_word(&thread->parker);
}

struct census {
	unsigned busy, held;
	uint64_t busy_until_ns; /* the earliest time at which a busy thread may not be busy any more */
	bool is_guess;          /* somebody could not be asked exactly */
	bool is_for_submit;     /* rule 2: a thread in one job for longer than the switch interval is not counted at all */
};

/* One thread more. settled_ns: as of rtail__sight_look(). is_fresh: verdicts that stand are asked again. */
static void look_at(struct rtail_elastic *pool, struct rtail__thread *thread, uint64_t now_ns, uint64_t settled_ns,
		    bool is_fresh, struct census *census)
{
	/* [P6] acquire: the stall file; pairs with the release in set_phase(). */
	uint32_t phase = atomic_load_explicit(&thread->phase, memory_order_acquire);
	enum rtail__parker_state state = rtail__parker_state(&thread->parker);
	uint64_t wake_age_ns = pool->limits.wake_age_ns, until_ns;
	uint64_t long_ns;
	enum rtail__standing standing;

	if ((phase != RTAIL__STARTING && phase != RTAIL__LIVE) || thread->is_leaving)
		return;
	if (state == RTAIL__PARKED || state == RTAIL__ASIDE ||
	    atomic_load_explicit(&thread->is_waiting, memory_order_relaxed))
		return;
	standing = rtail__sight_look(&thread->sight, atomic_load_explicit(&thread->jobs, memory_order_relaxed), now_ns,
				     settled_ns, wake_age_ns, &until_ns);
	long_ns = thread->sight.since_ns + pool->limits.switch_ns;
	if (census->is_for_submit && now_ns >= long_ns && phase == RTAIL__LIVE && state == RTAIL__RUNNING)
		return;
	if (standing != RTAIL__BUSY && (phase == RTAIL__STARTING || state == RTAIL__SPINNING)) {
		standing = RTAIL__BUSY;
		until_ns = now_ns + wake_age_ns;
	} else if (standing == RTAIL__ASK || (is_fresh && now_ns >= thread->sight.since_ns + wake_age_ns)) {
		rtail__sight_judge(&thread->sight, ask_is_held(pool, thread), now_ns, pool->limits.switch_ns);
		standing = thread->sight.is_held ? RTAIL__HELD : RTAIL__BUSY;
		until_ns = thread->sight.until_ns;
		census->is_guess = census->is_guess || !thread->stall.is_exact;
	}
	atomic_store_explicit(&thread->is_held, standing == RTAIL__HELD, memory_order_relaxed);
	if (standing == RTAIL__HELD) {
		census->held++;
		return;
	}
	census->busy++;
	if (census->is_for_submit && until_ns > long_ns && now_ns < long_ns)
		until_ns = long_ns;
	if (until_ns < census->busy_until_ns)
		census->busy_until_ns = until_ns;
}

static void look_at_all(struct rtail_elastic *pool, uint64_t now_ns, uint64_t settled_ns, bool is_fresh,
			struct census *ret_census)
{
	*ret_census = (struct census){.busy_until_ns = RTAIL__NEVER};
	for (unsigned i = 0; i < rtail__slots(pool); i++)
		look_at(pool, &pool->threads[i], now_ns, settled_ns, is_fresh, ret_census);
}

/* Modes SHARED and OFF: a wake that nobody has taken yet is somebody who will be busy. */
static bool has_wake_under_way(const struct rtail_elastic *pool)
{
	/* [P8] acquire: who took the wake is no longer waiting. */
	return atomic_load_explicit(&pool->shared, memory_order_acquire) & RTAIL__SHARED_WAKES;
}

/* Rule 2. True: somebody is busy; nobody else is looked at. */
static bool find_busy(struct rtail_elastic *pool, uint64_t lane, uint64_t now_ns, uint64_t settled_ns)
{
	/*
	 * A view that computes for seconds is no thread that comes back soon. (Counted as busy, as the rule has it, every burst
	 * beside it waited the switch interval for rule 3 and another one for the lock.)
	 */
	struct census census = {.busy_until_ns = RTAIL__NEVER, .is_for_submit = true};
	unsigned hint = pool->busy_hint;

	look_at(pool, &pool->threads[hint], now_ns, settled_ns, false, &census);
	for (unsigned i = 0; i < rtail__slots(pool) && !census.busy; i++) {
		if (i == pool->busy_hint)
			continue;
		look_at(pool, &pool->threads[i], now_ns, settled_ns, false, &census);
		hint = i;
	}
	if (!census.busy)
		return false;
	pool->busy_hint = hint;
	pool->busy_word = lane;
	pool->busy_until_ns = census.busy_until_ns;
	return true;
}

static unsigned awake(const struct rtail_elastic *pool, uint64_t lane)
{
	unsigned idle = rtail__lane_parked(lane) + rtail__lane_aside(lane) + rtail__lane_is_spinning(lane);

	return pool->alive > idle ? pool->alive - idle : 0;
}

/* Without an interpreter lock: whoever is parked is woken; only the spinner's own job needs no wake. */
static bool needs_wake_parallel(struct rtail_elastic *pool, uint64_t lane)
{
	if (!rtail__lane_parked(lane))
		return false;
	if (rtail__lane_is_spinning(lane) && !(pool->is_promised && pool->promised == rtail__lane_moves(lane))) {
		pool->is_promised = true;
		pool->promised = rtail__lane_moves(lane);
		return false;
	}
	return true;
}

static void decide_wake(struct rtail_elastic *pool, uint64_t lane, uint64_t now_ns, uint64_t settled_ns,
			struct rtail_wake *ret_wake)
{
	enum rtail_wake_site site = RTAIL_WAKE_SUBMIT;

	if (pool->config.is_parallel && rtail__lane_parked(lane)) {
		if (!needs_wake_parallel(pool, lane))
			return;
		site = RTAIL_WAKE_PARALLEL;
	} else if (pool->config.mode == RTAIL_ELASTIC_OFF) {
		if (!rtail__lane_parked(lane) && awake(pool, lane))
			return;
	} else {
		if (rtail__lane_is_spinning(lane))
			return;
		if (has_wake_under_way(pool) || (awake(pool, lane) && find_busy(pool, lane, now_ns, settled_ns)))
			return;
		if (!rtail__ring_has(&pool->ring))
			return; /* taken meanwhile by a thread that has gone idle again */
	}
	if (wake_one(pool, false, site, now_ns, ret_wake))
		return;
	if (rtail__lane_aside(lane) && !atomic_load_explicit(&pool->can_grow, memory_order_relaxed))
		wake_one(pool, true, site, now_ns, ret_wake);
}

int rtail_elastic_submit(struct rtail_elastic *pool, struct rtail_job job, uint64_t now_ns, struct rtail_wake *ret_wake)
{
	uint64_t pushes = rtail__ring_pushes(&pool->ring);
	uint64_t settled_ns = pool->head.settled_ns;
	uint64_t lane;

	if (ret_wake)
		ret_wake->word = NULL;
	if (atomic_load_explicit(&pool->stop, memory_order_relaxed))
		return -ESHUTDOWN;
	if (pushes - pool->pops_seen >= pool->config.queue_size)
		pool->pops_seen = rtail__ring_pops(&pool->ring);
	if (pushes - pool->pops_seen >= pool->config.queue_size || !rtail__ring_push(&pool->ring, job)) {
		rtail__count(&pool->refused);
		return -EAGAIN;
	}
	if (pool->pushed_ns)
		pool->pushed_ns[pushes & pool->ring.mask] = now_ns;
	rtail__head_pushed(&pool->head, now_ns);
	/* [P3] seq_cst: after the push. */
	lane = atomic_load_explicit(&pool->lane, memory_order_seq_cst);
	if (lane == pool->busy_word && now_ns < pool->busy_until_ns)
		return 0;
	if (settled_ns && settled_ns < pool->message_ns)
		settled_ns = pool->message_ns;
	decide_wake(pool, lane, now_ns, settled_ns, ret_wake);
	return 0;
}

int rtail_elastic_message(struct rtail_elastic *pool, unsigned index, struct rtail_message *message,
			  struct rtail_wake *ret_wake)
{
	struct rtail__thread *thread;
	uint32_t *word;
	uint32_t phase;

	if (ret_wake)
		ret_wake->word = NULL;
	if (atomic_load_explicit(&pool->stop, memory_order_relaxed))
		return -ESHUTDOWN;
	if (index >= pool->config.threads_max)
		return -EINVAL;
	thread = &pool->threads[index];
	phase = atomic_load_explicit(&thread->phase, memory_order_acquire);
	if ((phase != RTAIL__STARTING && phase != RTAIL__LIVE) || thread->is_leaving)
		return -ESRCH;
	pool->message_ns = rtail_now_ns();
	message->next = atomic_load_explicit(&thread->inbox, memory_order_relaxed);
	/* [P7] release: publishes the message; pairs with the acquire in inbox_take(). */
	while (!atomic_compare_exchange_weak_explicit(&thread->inbox, &message->next, message, memory_order_release,
						      memory_order_relaxed))
		;
	word = rtail__lane_call(thread);
	if (word)
		rtail__sight_reset(&thread->sight, pool->message_ns);
	give_wake(pool, word, RTAIL_WAKE_MESSAGE, ret_wake);
	return 0;
}

static void publish_can_grow(struct rtail_elastic *pool, uint64_t now_ns)
{
	bool can_grow = pool->alive < pool->config.threads_max && now_ns >= pool->retry_ns;

	if (can_grow != atomic_load_explicit(&pool->can_grow, memory_order_relaxed))
		atomic_store_explicit(&pool->can_grow, can_grow, memory_order_relaxed);
}

/*
 * How old a head must be for the first look at who is in its way. T, until looks find that the jobs are just longer than
 * T: then twice as old, once a head, up to the switch interval; T again once a look finds nobody but held threads. So views
 * of 300 us are not looked at each, and a job behind a thread that sleeps waits for twice a usual job at most. (A look costs
 * a wake-up of the loop on the handler's CPU: with T alone a Django view of 300 us took 1.39 of what it takes without a
 * pool, with 5 ms 1.08.) Without a lock there is always a reason to wake: T.
 */
static void learn_patience(struct rtail_elastic *pool, const struct rtail__lane_view *view, enum rtail__act act)
{
	if (pool->config.is_parallel)
		return;
	if (!view->busy) {
		pool->patience_ns = pool->limits.wake_age_ns;
		return;
	}
	if ((act != RTAIL__WAIT && act != RTAIL__MEASURE) || pool->patience_since_ns == view->since_ns)
		return;
	pool->patience_since_ns = view->since_ns;
	pool->patience_ns *= 2;
	if (pool->patience_ns > pool->limits.switch_ns)
		pool->patience_ns = pool->limits.switch_ns;
	if (pool->patience_ns < pool->limits.wake_age_ns)
		pool->patience_ns = pool->limits.wake_age_ns;
}

/* A job waits: what is to be done about it. The time of the next look. */
static uint64_t judge_head(struct rtail_elastic *pool, uint64_t now_ns, struct rtail_wake *ret_wake)
{
	uint64_t settled_ns = pool->head.since_ns; /* no job of the ring has begun since then */
	struct rtail__lane_view view = {.now_ns = now_ns, .since_ns = pool->head.since_ns};
	struct rtail__decision decision;
	struct census census;
	uint64_t lane;

	if (pool->pushed_ns) {
		view.since_ns = pool->pushed_ns[pool->head.pops & pool->ring.mask];
		if (view.since_ns < pool->woken_ns)
			view.since_ns = pool->woken_ns;
	}
	if (now_ns < view.since_ns + pool->patience_ns)
		return view.since_ns + pool->patience_ns;
	if (settled_ns < pool->message_ns)
		settled_ns = pool->message_ns;
	look_at_all(pool, now_ns, settled_ns, false, &census);
	lane = atomic_load_explicit(&pool->lane, memory_order_seq_cst);
	view.due_ns = pool->head.due_ns;
	view.retry_ns = pool->retry_ns;
	view.threads = pool->config.threads;
	view.parked = rtail__lane_parked(lane);
	view.aside = rtail__lane_aside(lane);
	view.is_spinning = rtail__lane_is_spinning(lane);
	view.is_parallel = pool->config.is_parallel;
	view.can_grow = pool->alive < pool->config.threads_max;
	if (census.busy && !view.parked && view.can_grow && pool->cpu_at_ns < view.since_ns &&
	    now_ns >= view.since_ns + rtail__policy_measure_ns(&pool->limits))
		rtail__grow_measure(pool, now_ns);
	for (;;) {
		view.busy = census.busy + has_wake_under_way(pool);
		view.held = census.held;
		view.busy_until_ns = census.busy_until_ns;
		decision = rtail__policy_aged(&view, &pool->limits);
		if (decision.act != RTAIL__ASK_ALL)
			break;
		look_at_all(pool, now_ns, settled_ns, true, &census);
		view.is_fresh = true;
		view.is_guess = census.is_guess;
		rtail__grow_measured(pool, &view);
	}
	learn_patience(pool, &view, decision.act);
	if (decision.act == RTAIL__MEASURE)
		rtail__grow_measure(pool, now_ns);
	if (decision.act == RTAIL__WAIT || decision.act == RTAIL__MEASURE)
		return decision.again_ns;
	if (decision.act == RTAIL__GROW && !rtail__grow(pool, now_ns))
		return pool->retry_ns;
	if (decision.act == RTAIL__WAKE || decision.act == RTAIL__WAKE_ASIDE)
		wake_one(pool, decision.act == RTAIL__WAKE_ASIDE, RTAIL_WAKE_AGE, now_ns, ret_wake);
	pool->head.since_ns = now_ns;
	pool->woken_ns = now_ns;
	return now_ns + pool->patience_ns;
}

static void publish_cpu(struct rtail_elastic *pool)
{
	int cpu = sched_getcpu();

	if (pool->spin_ns && cpu != atomic_load_explicit(&pool->submitter_cpu, memory_order_relaxed))
		atomic_store_explicit(&pool->submitter_cpu, cpu, memory_order_relaxed);
}

int64_t rtail_elastic_tick(struct rtail_elastic *pool, uint64_t now_ns, struct rtail_wake *ret_wake)
{
	uint64_t again_ns = RTAIL__NEVER, retire_ns;
	bool is_waiting;

	if (ret_wake)
		ret_wake->word = NULL;
	if (atomic_load_explicit(&pool->stop, memory_order_relaxed))
		return -1;
	publish_cpu(pool);
	is_waiting = rtail__head_look(&pool->head, rtail__ring_pushes(&pool->ring), rtail__ring_pops(&pool->ring), now_ns);
	if (pool->config.mode == RTAIL_ELASTIC_OFF)
		return -1;
	if (pool->ending || pool->alive > pool->config.threads)
		rtail__grow_reap(pool, now_ns);
	if (is_waiting) {
		again_ns = judge_head(pool, now_ns, ret_wake);
		pool->head.due_ns = again_ns;
	}
	retire_ns = rtail__grow_retire(pool, now_ns);
	if (pool->ending && now_ns + REAP_NS < retire_ns)
		retire_ns = now_ns + REAP_NS; /* what has retired is joined soon, not when the next request comes */
	publish_can_grow(pool, now_ns);
	if (retire_ns < again_ns)
		again_ns = retire_ns;
	if (again_ns == RTAIL__NEVER)
		return -1;
	return again_ns > now_ns ? (int64_t)(again_ns - now_ns) : 0;
}

static void drop_queued(struct rtail_elastic *pool)
{
	struct rtail_job job;

	while (rtail__ring_pop(&pool->ring, &job)) {
		job.fn(job.arg, RTAIL_DROP);
		atomic_fetch_add_explicit(&pool->dropped, 1, memory_order_relaxed);
	}
}

/* Waits for one slot's thread and joins it. False: the deadline has passed. */
static bool end_thread(struct rtail__thread *thread, uint64_t deadline_ns)
{
	if (atomic_load_explicit(&thread->phase, memory_order_acquire) == RTAIL__FREE)
		return true;
	if (!wait_phase(thread, false, deadline_ns))
		return false;
	pthread_join(thread->pthread, NULL);
	rtail__stall_close(&thread->stall);
	atomic_store_explicit(&thread->phase, RTAIL__FREE, memory_order_relaxed);
	atomic_fetch_add_explicit(&thread->pool->dropped, rtail__thread_drop_messages(thread), memory_order_relaxed);
	return true;
}

int rtail_elastic_stop(struct rtail_elastic *pool, bool drain, uint64_t deadline_ns)
{
	if (pool->pid != getpid())
		return -ECHILD;
	atomic_store_explicit(&pool->stop, drain ? RTAIL__DRAINING : RTAIL__DROPPING, memory_order_relaxed);
	for (unsigned i = 0; i < pool->config.threads_max; i++) {
		struct rtail__thread *thread = &pool->threads[i];

		if (atomic_load_explicit(&thread->phase, memory_order_acquire) != RTAIL__FREE && !thread->is_leaving)
			give_wake(pool, rtail__lane_call(thread), RTAIL_WAKE_STOP, NULL);
	}
	if (!drain)
		drop_queued(pool);
	for (unsigned i = 0; i < pool->config.threads_max; i++)
		if (!end_thread(&pool->threads[i], deadline_ns))
			return -ETIMEDOUT;
	rtail__grow_set_alive(pool, 0);
	drop_queued(pool);
	return 0;
}

void rtail_elastic_free(struct rtail_elastic *pool)
{
	if (!pool || pool->pid != getpid())
		return;
	drop_queued(pool);
	pthread_cond_destroy(&pool->changed);
	pthread_mutex_destroy(&pool->mutex);
	release(pool);
}
