/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic_thread.c: the life of one thread of the elastic pool: its hooks, its
 * inbox, the jobs it takes. Runs on the pool's threads. A slot outlives its
 * thread: it is used again after a retirement.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>

#include "elastic_priv.h"

static _Thread_local struct rtail__thread *self;

int rtail_elastic_self(struct rtail_elastic *pool)
{
	return self && self->pool == pool ? (int)self->index : -1;
}

void rtail_elastic_own(struct rtail_elastic *pool, int delta)
{
	uint32_t owned;

	if (!self || self->pool != pool)
		return;
	owned = atomic_load_explicit(&self->owned, memory_order_relaxed);
	atomic_store_explicit(&self->owned, owned + (uint32_t)delta, memory_order_relaxed);
}

/* Moves what the inbox holds behind what was taken before. */
static void inbox_take(struct rtail__thread *thread)
{
	struct rtail_message *newest, *oldest = NULL;

	if (!atomic_load_explicit(&thread->inbox, memory_order_relaxed))
		return;
	/* [P7] acquire: the messages; pairs with the release in rtail_elastic_message(). */
	newest = atomic_exchange_explicit(&thread->inbox, NULL, memory_order_acquire);
	while (newest) {
		struct rtail_message *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	thread->taken = oldest;
}

static struct rtail_message *inbox_next(struct rtail__thread *thread)
{
	struct rtail_message *message;

	if (!thread->taken)
		inbox_take(thread);
	message = thread->taken;
	if (message)
		thread->taken = message->next;
	return message;
}

unsigned rtail__thread_drop_messages(struct rtail__thread *thread)
{
	struct rtail_message *message;
	unsigned dropped = 0;

	while ((message = inbox_next(thread))) {
		struct rtail_job job = message->job;

		job.fn(job.arg, RTAIL_DROP);
		dropped++;
	}
	return dropped;
}

static void run(struct rtail__thread *thread, struct rtail_job job)
{
	rtail__count(&thread->jobs); /* before the job: the submitter tells by it how long the present one lasts */
	job.fn(job.arg, RTAIL_RUN);
	thread->is_idle_told = false;
}

static bool run_message(struct rtail__thread *thread)
{
	struct rtail_message *message = inbox_next(thread);

	if (!message)
		return false;
	thread->is_messages_turn = false;
	run(thread, message->job);
	return true;
}

static bool run_job(struct rtail__thread *thread)
{
	struct rtail_job job;

	if (!rtail__lane_may_take(thread) || !rtail__ring_pop(&thread->pool->ring, &job))
		return false;
	thread->is_messages_turn = true;
	if (thread->pool->config.mode == RTAIL_ELASTIC_OFF && rtail__ring_has(&thread->pool->ring)) {
		struct rtail__thread *other;
		uint32_t *word = rtail__lane_take(thread->pool, false, &other);

		if (word) {
			rtail__futex_wake(word, 1);
			atomic_fetch_add_explicit(&thread->pool->chained, 1, memory_order_relaxed);
		}
	}
	run(thread, job);
	return true;
}

/* Messages come before the ring's jobs; a thread that owns paused things takes them in turn. */
static bool run_next(struct rtail__thread *thread)
{
	bool is_owner = atomic_load_explicit(&thread->owned, memory_order_relaxed);

	if (is_owner && !thread->is_messages_turn)
		return run_job(thread) || run_message(thread);
	return run_message(thread) || run_job(thread);
}

static void tell_idle(struct rtail__thread *thread)
{
	const struct rtail_elastic_hooks *hooks = &thread->pool->config.hooks;

	if (thread->is_idle_told)
		return;
	thread->is_idle_told = true;
	if (hooks->idle)
		hooks->idle(hooks->arg, thread->index);
}

static void serve(struct rtail__thread *thread)
{
	struct rtail_elastic *pool = thread->pool;

	for (;;) {
		/* Relaxed: the permit that stop leaves in the thread's word brings it here again. */
		uint32_t stop = atomic_load_explicit(&pool->stop, memory_order_relaxed);

		if (stop == RTAIL__DROPPING)
			return;
		if (run_next(thread))
			continue;
		if (stop == RTAIL__DRAINING)
			return;
		tell_idle(thread);
		if (rtail__ring_has(&pool->ring) && rtail__lane_may_take(thread))
			continue;
		if (!rtail__lane_idle(thread))
			return;
	}
}

static void set_phase(struct rtail__thread *thread, enum rtail__phase phase)
{
	struct rtail_elastic *pool = thread->pool;

	pthread_mutex_lock(&pool->mutex);
	/* [P6] release: publishes the stall file; pairs with the acquire of the submitter's look. */
	atomic_store_explicit(&thread->phase, phase, memory_order_release);
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->mutex);
}

static void *thread_main(void *arg)
{
	struct rtail__thread *thread = arg;
	struct rtail_elastic *pool = thread->pool;
	const struct rtail_elastic_hooks *hooks = &pool->config.hooks;
	char index[12], name[16];
	int len = snprintf(index, sizeof(index), "-%u", thread->index);

	self = thread;
	snprintf(name, sizeof(name), "%.*s%s", 15 - len, pool->name, index);
	pthread_setname_np(pthread_self(), name);
	rtail__stall_open(&thread->stall);
	if (hooks->thread_start && hooks->thread_start(hooks->arg, thread->index) < 0) {
		set_phase(thread, RTAIL__FAILED);
		return NULL;
	}
	set_phase(thread, RTAIL__LIVE);
	serve(thread);
	if (hooks->thread_stop)
		hooks->thread_stop(hooks->arg, thread->index);
	set_phase(thread, RTAIL__ENDED);
	return NULL;
}

int rtail__thread_start(struct rtail__thread *thread)
{
	struct rtail_elastic *pool = thread->pool;
	int error;

	rtail__parker_init(&thread->parker);
	thread->stall.fd = -1;
	thread->is_idle_told = false;
	thread->is_messages_turn = false;
	thread->is_leaving = false;
	atomic_store_explicit(&thread->owned, 0, memory_order_relaxed);
	/* Before the thread can park: whoever counts it parked finds its slot. */
	if (thread->index >= rtail__slots(pool))
		atomic_store_explicit(&pool->slots, thread->index + 1, memory_order_relaxed);
	atomic_store_explicit(&thread->phase, RTAIL__STARTING, memory_order_relaxed);
	error = pthread_create(&thread->pthread, NULL, thread_main, thread);
	if (error)
		atomic_store_explicit(&thread->phase, RTAIL__FREE, memory_order_relaxed);
	return -error;
}
