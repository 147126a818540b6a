/* SPDX-License-Identifier: Apache-2.0 */
/* elastic_rig.c: the rig of elastic_rig.h. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elastic_rig.h"

struct rig rig;
_Atomic uint32_t rig_lock[16];

static void on_signal(int signo)
{
	(void)signo;
}

void rig_pause(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

void rig_prepare(unsigned threads, unsigned threads_max)
{
	memset(&rig, 0, sizeof(rig));
	rtail_elastic_config_init(&rig.config);
	rig.config.threads = threads;
	rig.config.threads_max = threads_max;
	rig.config.spin_ns = 0;
	rig.config.lock_begin = (uintptr_t)rig_lock;
	rig.config.lock_end = (uintptr_t)(rig_lock + 16);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
}

void rig_start(void)
{
	ck_assert_int_eq(rtail_elastic_new(&rig.config, &rig.pool), 0);
	rig.pool->spin_ns = rig.config.spin_ns; /* on one CPU too */
	rig.pool->spins_beside = true;
	ck_assert_int_eq(rtail_elastic_start(rig.pool), 0);
	if (rig.config.spin_ns)
		return;
	rig_wait_parked(rig.config.threads);
}

static void stand_still(struct rig_job *job)
{
	char byte;

	switch (job->at) {
	case AT_NOTHING:
		return;
	case AT_SEMAPHORE:
		while (sem_wait(&job->gate) < 0 && errno == EINTR)
			;
		return;
	case AT_LOCK:
		for (;;) {
			uint32_t opened = atomic_load(&rig_lock[8]);

			if (atomic_load(&job->is_open))
				return;
			rtail__futex_wait(&rig_lock[8], opened);
		}
	case AT_BURN:
		while (!atomic_load(&job->is_open))
			;
		return;
	case AT_READ:
		while (read(job->pipe[0], &byte, 1) < 0 && errno == EINTR)
			;
		return;
	case AT_MUTEX:
		pthread_mutex_lock(&job->mutex);
		pthread_mutex_unlock(&job->mutex);
		return;
	case AT_SLEEP:
		while (!atomic_load(&job->is_open))
			nanosleep(&(struct timespec){.tv_sec = 3600}, NULL);
		return;
	}
}

static void run_rig_job(void *arg, enum rtail_act act)
{
	struct rig_job *job = arg;

	if (act == RTAIL_DROP) {
		ck_assert(!atomic_exchange(&job->is_dropped, true));
		return;
	}
	job->pthread = pthread_self();
	atomic_store(&job->thread, rtail_elastic_self(rig.pool));
	atomic_store(&job->order, atomic_fetch_add(&rig.begun, 1) + 1);
	atomic_fetch_add(&job->runs, 1);
	atomic_store(&job->is_begun, true);
	stand_still(job);
	if (job->own)
		rtail_elastic_own(rig.pool, job->own);
	atomic_store(&job->is_done, true);
}

struct rig_job *rig_job(enum rig_stop_at at)
{
	struct rig_job *job = &rig.jobs[rig.used++];

	ck_assert_uint_le(rig.used, RIG_JOBS);
	job->at = at;
	atomic_init(&job->thread, -1);
	sem_init(&job->gate, 0, 0);
	pthread_mutex_init(&job->mutex, NULL);
	if (at == AT_READ)
		ck_assert_int_eq(pipe(job->pipe), 0);
	if (at == AT_MUTEX)
		pthread_mutex_lock(&job->mutex);
	return job;
}

struct rtail_job rig_as_job(struct rig_job *job)
{
	return (struct rtail_job){run_rig_job, job};
}

int rig_push(struct rig_job *job, uint64_t now_ns, struct rtail_wake *ret_wake)
{
	return rtail_elastic_submit(rig.pool, rig_as_job(job), now_ns, ret_wake);
}

void rig_wake(const struct rtail_wake *wake)
{
	if (wake->word)
		rtail__futex_wake(wake->word, 1);
}

bool rig_submit(struct rig_job *job, uint64_t now_ns)
{
	struct rtail_wake wake;

	ck_assert_int_eq(rig_push(job, now_ns, &wake), 0);
	rig_wake(&wake);
	return wake.word;
}

bool rig_tick(uint64_t now_ns, int64_t *ret_again_ns)
{
	struct rtail_wake wake;
	int64_t again_ns = rtail_elastic_tick(rig.pool, now_ns, &wake);

	if (ret_again_ns)
		*ret_again_ns = again_ns;
	rig_wake(&wake);
	return wake.word;
}

void rig_age(uint64_t now_ns)
{
	rig_tick(now_ns + T_NS, NULL);
	rig_tick(now_ns + 2 * T_NS, NULL);
}

void rig_open(struct rig_job *job)
{
	if (atomic_exchange(&job->is_open, true))
		return;
	sem_post(&job->gate);
	if (job->at == AT_LOCK) {
		atomic_fetch_add(&rig_lock[8], 1);
		rtail__futex_wake((uint32_t *)&rig_lock[8], INT_MAX);
	}
	if (job->at == AT_READ)
		ck_assert_int_eq(write(job->pipe[1], "x", 1), 1);
	if (job->at == AT_MUTEX)
		pthread_mutex_unlock(&job->mutex);
	while (job->at == AT_SLEEP && atomic_load(&job->is_begun) && !atomic_load(&job->is_done)) {
		pthread_kill(job->pthread, SIGUSR1);
		rig_pause();
	}
}

struct rig_job *rig_hold(enum rig_stop_at at)
{
	struct rig_job *job = rig_job(at);

	rig_submit(job, RIG_T0);
	rig_wait_blocked(job);
	rig_tick(RIG_T0, NULL);
	return job;
}

void rig_wait_blocked(struct rig_job *job)
{
	RIG_WAIT(atomic_load(&job->is_begun));
	if (job->at == AT_BURN || job->at == AT_NOTHING)
		return;
	RIG_WAIT(rtail__stall_read(&rig.pool->threads[atomic_load(&job->thread)].stall).kind == RTAIL__STALL_BLOCKED);
}

void rig_wait_done(struct rig_job *job)
{
	RIG_WAIT(atomic_load(&job->is_done));
}

void rig_wait_parked(unsigned parked)
{
	unsigned seen;

	/* Counted and asleep: the words too. */
	do {
		seen = 0;
		RIG_WAIT(rig_stats().parked == parked);
		if (rig.config.mode != RTAIL_ELASTIC_ON)
			return;
		for (unsigned i = 0; i < rig.pool->config.threads_max; i++) {
			enum rtail__parker_state state = rtail__parker_state(&rig.pool->threads[i].parker);

			seen += state == RTAIL__PARKED || state == RTAIL__ASIDE;
		}
	} while (seen != parked);
}

void rig_wait_spinning(void)
{
	RIG_WAIT(rtail__lane_is_spinning(atomic_load(&rig.pool->lane)));
}

struct rtail_elastic_stats rig_stats(void)
{
	struct rtail_elastic_stats stats;

	rtail_elastic_stats(rig.pool, &stats);
	return stats;
}

uint64_t rig_wakes(enum rtail_wake_site site)
{
	return rig_stats().wakes[site];
}

void rig_stop(void)
{
	for (unsigned i = 0; i < rig.used; i++)
		rig_open(&rig.jobs[i]);
	ck_assert_int_eq(rtail_elastic_stop(rig.pool, true, rtail_now_ns() + 10 * RTAIL_S), 0);
	rtail_elastic_free(rig.pool);
	for (unsigned i = 0; i < rig.used; i++) {
		struct rig_job *job = &rig.jobs[i];

		sem_destroy(&job->gate);
		pthread_mutex_destroy(&job->mutex);
		if (job->at != AT_READ)
			continue;
		close(job->pipe[0]);
		close(job->pipe[1]);
	}
}
