/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elastic_stress.c: attacks the elastic pool at its transitions: jobs that come
 * just when a thread stops looking for one, stops in the middle of work,
 * messages, owners, growth and retirement. Every job must be run or dropped
 * exactly once, and without being asked for twice: most rounds never call the
 * tick, which would wake somebody for a job that was lost.
 *
 *	elastic_stress [SECONDS [SEED]]
 *
 * Speaks TAP: one test a kind of round. RINGTAIL_LONG: a minute a kind.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/clock.h"
#include "lib/elastic.h"
#include "lib/futex.h"

#define STALLED_NS (20 * RTAIL_S)
#define MESSAGES 64

struct kind {
	const char *name;
	enum rtail_elastic_mode mode;
	unsigned threads, threads_max;
	bool is_parallel;
	bool is_ticking;
	bool has_owners;
	bool stops_early; /* in the middle of the work, jobs dropped or drained */
	uint64_t spin_ns;
};

static const struct kind kinds[] = {
	{"one thread, no tick: no wake is lost", RTAIL_ELASTIC_ON, 1, 1, .spin_ns = 0},
	{"one thread that spins, no tick: no wake is lost", RTAIL_ELASTIC_ON, 1, 1, .spin_ns = 3000},
	{"two threads, no tick: no wake is lost", RTAIL_ELASTIC_ON, 2, 2, .spin_ns = 0},
	{"four threads that spin, no tick: no wake is lost", RTAIL_ELASTIC_ON, 4, 4, .spin_ns = 3000},
	{"four threads without a lock, no tick: no wake is lost", RTAIL_ELASTIC_ON, 4, 4, .is_parallel = true, .spin_ns = 3000},
	{"owners and messages, no tick: none is lost", RTAIL_ELASTIC_ON, 3, 3, .has_owners = true, .spin_ns = 2000},
	{"one shared word, no tick: no wake is lost", RTAIL_ELASTIC_SHARED, 3, 3, .has_owners = true, .spin_ns = 2000},
	{"the pool before the rules: no wake is lost", RTAIL_ELASTIC_OFF, 3, 3, .has_owners = true, .spin_ns = 2000},
	{"growth and retirement under load", RTAIL_ELASTIC_ON, 1, 6, .is_ticking = true, .has_owners = true, .spin_ns = 2000},
	{"stops in the middle of work", RTAIL_ELASTIC_ON, 3, 6, .is_ticking = true, .has_owners = true, .stops_early = true,
	 .spin_ns = 2000},
	{"stops in the middle of work, one shared word", RTAIL_ELASTIC_SHARED, 3, 3, .has_owners = true, .stops_early = true,
	 .spin_ns = 2000},
};

#define JOBS 4096 /* a round */

struct task {
	atomic_uint runs, drops;
	uint32_t spin; /* work */
	uint32_t sleep_ns;
	int own;
};

struct letter {
	struct rtail_message message;
	atomic_bool is_busy;
	atomic_uint ended;
};

static struct rtail_elastic *pool;
static struct task tasks[JOBS];
static struct letter letters[MESSAGES];
static atomic_uint done, answered;
static atomic_int owned[8]; /* what each thread owns, for the messages that give it back */
static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 16) % below);
}

static void spin(uint32_t turns)
{
	for (volatile uint32_t i = 0; i < turns; i++)
		;
}

static void run_task(void *arg, enum rtail_act act)
{
	struct task *task = arg;

	if (act == RTAIL_DROP) {
		atomic_fetch_add(&task->drops, 1);
		atomic_fetch_add(&done, 1);
		return;
	}
	spin(task->spin);
	if (task->sleep_ns)
		nanosleep(&(struct timespec){.tv_nsec = task->sleep_ns}, NULL);
	if (task->own) {
		rtail_elastic_own(pool, 1);
		atomic_fetch_add(&owned[rtail_elastic_self(pool)], 1);
	}
	atomic_fetch_add(&task->runs, 1);
	atomic_fetch_add(&done, 1);
}

static void run_letter(void *arg, enum rtail_act act)
{
	struct letter *letter = arg;

	if (act == RTAIL_RUN)
		rtail_elastic_own(pool, -1);
	atomic_fetch_add(&letter->ended, 1);
	atomic_fetch_add(&answered, 1);
	atomic_store(&letter->is_busy, false);
}

static void fail(const struct kind *kind, const char *what, uint64_t round_seed)
{
	struct rtail_elastic_stats stats;

	rtail_elastic_stats(pool, &stats);
	printf("# %s: %s; seed %llu\n# threads %u parked %u queued %u held %u run %llu of %llu, answered %u\n", kind->name, what,
	       (unsigned long long)round_seed, stats.threads, stats.parked, stats.queued, stats.held,
	       (unsigned long long)stats.run, (unsigned long long)stats.submitted, atomic_load(&answered));
	printf("not ok\n");
	fflush(stdout);
	_Exit(1);
}

/* A pass of the loop: a burst, the wakes at its end or at once. */
static unsigned pass(const struct kind *kind, unsigned next, unsigned *sent)
{
	struct rtail_wake wakes[40];
	unsigned count = 0, burst = draw(4) ? 1 : 1 + draw(16);
	bool is_late = draw(2);

	for (unsigned i = 0; i < burst && next < JOBS; i++) {
		struct task *task = &tasks[next];
		int error;

		memset(task, 0, sizeof(*task));
		task->spin = draw(8) ? draw(300) : draw(20000);
		task->sleep_ns = draw(200) ? 0 : draw(300000);
		task->own = kind->has_owners && !draw(50);
		error = rtail_elastic_submit(pool, (struct rtail_job){run_task, task}, rtail_now_ns(),
					     is_late ? &wakes[count] : NULL);
		if (error)
			break;
		count += is_late;
		next++;
	}
	for (unsigned i = 0; kind->has_owners && i < MESSAGES && count < 30; i++) {
		unsigned index = draw(kind->threads_max);

		if (atomic_load(&letters[i].is_busy))
			continue;
		if (atomic_load(&owned[index]) < 1)
			break;
		letters[i].message.job = (struct rtail_job){run_letter, &letters[i]};
		atomic_store(&letters[i].is_busy, true);
		atomic_fetch_sub(&owned[index], 1);
		if (rtail_elastic_message(pool, index, &letters[i].message, is_late ? &wakes[count] : NULL))
			abort(); /* an owner does not retire */
		count += is_late;
		++*sent;
	}
	if (kind->is_ticking) {
		rtail_elastic_tick(pool, rtail_now_ns(), is_late ? &wakes[count] : NULL);
		count += is_late;
	}
	for (unsigned i = 0; i < count; i++)
		if (wakes[i].word)
			rtail__futex_wake(wakes[i].word, 1);
	return next;
}

static void wait_done(const struct kind *kind, unsigned jobs, unsigned sent, uint64_t round_seed)
{
	uint64_t end_ns = rtail_now_ns() + STALLED_NS;

	for (unsigned turns = 0; atomic_load(&done) < jobs || atomic_load(&answered) < sent; turns++) {
		if (kind->is_ticking)
			rtail_elastic_tick(pool, rtail_now_ns(), NULL);
		if (turns % 256 < 200)
			continue;
		sched_yield();
		if (rtail_now_ns() > end_ns)
			fail(kind, "a job was never run", round_seed);
	}
}

static void check_round(const struct kind *kind, unsigned jobs, uint64_t round_seed)
{
	for (unsigned i = 0; i < jobs; i++)
		if (atomic_load(&tasks[i].runs) + atomic_load(&tasks[i].drops) != 1)
			fail(kind, "a job was run twice, or lost", round_seed);
	if (atomic_load(&done) != jobs)
		fail(kind, "more jobs ended than began", round_seed);
}

static void one_round(const struct kind *kind)
{
	uint64_t round_seed = seed;
	struct rtail_elastic_config config;
	struct rtail_elastic_stats stats;
	unsigned next = 0, sent = 0, last = kind->stops_early ? draw(JOBS) : JOBS;
	bool drain = !kind->stops_early || draw(2);

	rtail_elastic_config_init(&config);
	config.threads = kind->threads;
	config.threads_max = kind->threads_max;
	config.mode = kind->mode;
	config.is_parallel = kind->is_parallel;
	config.spin_ns = kind->spin_ns;
	config.queue_size = 1 + draw(200);
	config.thread_idle_ns = 500 * RTAIL_US;
	config.grow_ns = RTAIL_MS;
	config.name = "stress";
	atomic_store(&done, 0);
	atomic_store(&answered, 0);
	for (unsigned i = 0; i < 8; i++)
		atomic_store(&owned[i], 0);
	if (rtail_elastic_new(&config, &pool) || rtail_elastic_start(pool))
		fail(kind, "cannot start", round_seed);
	while (next < last) {
		next = pass(kind, next, &sent);
		/* Mostly the next job comes when the last has just been done: its thread is about to idle. */
		if (draw(4))
			wait_done(kind, next, sent, round_seed);
		spin(draw(4) ? draw(400) : draw(8000));
	}
	if (!kind->stops_early)
		wait_done(kind, next, sent, round_seed);
	if (rtail_elastic_stop(pool, drain, rtail_now_ns() + STALLED_NS))
		fail(kind, "a thread did not end", round_seed);
	rtail_elastic_stats(pool, &stats);
	if (stats.submitted != next || stats.run + stats.dropped != next + sent)
		fail(kind, "the counters do not add up", round_seed);
	check_round(kind, next, round_seed);
	if (atomic_load(&answered) != sent)
		fail(kind, "a message was lost", round_seed);
	rtail_elastic_free(pool);
}

int main(int argc, char **argv)
{
	const char *is_long = getenv("RINGTAIL_LONG");
	double seconds = argc > 1 ? atof(argv[1]) : is_long ? 60 : 0.7;
	unsigned count = sizeof(kinds) / sizeof(kinds[0]);

	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : rtail_now_ns() | 1;
	printf("1..%u\n", count);
	for (unsigned i = 0; i < count; i++) {
		uint64_t end_ns = rtail_now_ns() + (uint64_t)(seconds * 1e9);
		unsigned rounds = 0;

		do {
			one_round(&kinds[i]);
			rounds++;
		} while (rtail_now_ns() < end_ns);
		printf("ok %u - %s (%u rounds)\n", i + 1, kinds[i].name, rounds);
		fflush(stdout);
	}
	return 0;
}
