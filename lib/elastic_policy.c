/* SPDX-License-Identifier: Apache-2.0 */
/* elastic_policy.c: the rules of the elastic pool as pure functions. Owned by the submitter. */
#include "elastic_policy.h"

/* Of the CPU time that passed, what the handlers have used: */
#define COMPUTING_DIVISOR 2   /* half: S is the lock's wait, not a held thread's */
#define PATIENCE 10 /* times grow_ns; then a thread is started whatever they have used */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

enum rtail__standing rtail__sight_look(struct rtail__sight *sight, uint64_t jobs, uint64_t now_ns, uint64_t settled_ns,
				       uint64_t wake_age_ns, uint64_t *ret_until_ns)
{
	if (jobs != sight->jobs) {
		sight->jobs = jobs;
		sight->since_ns = settled_ns && settled_ns < now_ns ? settled_ns : now_ns;
		sight->until_ns = 0;
	}
	if (now_ns < sight->since_ns + wake_age_ns) {
		*ret_until_ns = sight->since_ns + wake_age_ns;
		return RTAIL__BUSY;
	}
	if (now_ns >= sight->until_ns)
		return RTAIL__ASK;
	*ret_until_ns = sight->until_ns;
	return sight->is_held ? RTAIL__HELD : RTAIL__BUSY;
}

void rtail__sight_judge(struct rtail__sight *sight, bool is_held, uint64_t now_ns, uint64_t most_ns)
{
	sight->is_held = is_held;
	sight->until_ns = now_ns + earlier(now_ns - sight->since_ns, most_ns);
}

void rtail__sight_reset(struct rtail__sight *sight, uint64_t now_ns)
{
	sight->since_ns = now_ns;
	sight->until_ns = 0;
	sight->is_held = false;
}

void rtail__head_init(struct rtail__head *head, uint64_t now_ns)
{
	*head = (struct rtail__head){.since_ns = now_ns, .due_ns = RTAIL__NEVER};
}

void rtail__head_pushed(struct rtail__head *head, uint64_t now_ns)
{
	head->settled_ns = 0;
	if (head->is_pending)
		return;
	head->is_pending = true;
	head->since_ns = now_ns;
	head->due_ns = RTAIL__NEVER;
}

bool rtail__head_look(struct rtail__head *head, uint64_t pushes, uint64_t pops, uint64_t now_ns)
{
	if (pops == pushes) {
		head->is_pending = false;
		head->pops = pops;
		head->due_ns = RTAIL__NEVER;
		if (!head->settled_ns)
			head->settled_ns = now_ns;
		return false;
	}
	if (pops != head->pops) {
		head->pops = pops;
		head->since_ns = now_ns;
	}
	head->is_pending = true;
	return true;
}

/* The CPU time that tells a job that computes from many that are kept from running. */
static uint64_t computing_ns(const struct rtail__limits *limits)
{
	return limits->grow_ns / 2;
}

/*
 * Busy threads that have not computed for long: the machine is overloaded, or the lock is held by a thread that is none of
 * ours. One thread more would wait beside them. (Rule 5 without this: on a machine with a load of three a CPU, sixteen
 * clients of a view of 20 us had four threads started for them within three seconds. A share of the time does not tell
 * it, either: threads of short queries get a quarter of a CPU there.)
 */
static bool is_starved(const struct rtail__lane_view *view, const struct rtail__limits *limits)
{
	return view->used_ns < computing_ns(limits) && view->now_ns < view->since_ns + PATIENCE * limits->grow_ns;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct rtail__decision wait_until(uint64_t again_ns)
{
	return (struct rtail__decision){RTAIL__WAIT, again_ns};
}

static struct rtail__decision act_now(enum rtail__act act)
{
	return (struct rtail__decision){act, RTAIL__NEVER};
}

static struct rtail__decision measure_until(uint64_t again_ns)
{
	return (struct rtail__decision){RTAIL__MEASURE, again_ns};
}

/*
 * Rule 5, everybody held: one look does not tell a thread that sleeps from one between two short queries, so nobody must
 * have run between two looks. (With one look, two threads under 32 clients of a view of five short queries were both
 * "held" often enough to have four more started in three seconds.)
 */
static struct rtail__decision decide_all_held(const struct rtail__lane_view *view, const struct rtail__limits *limits)
{
	uint64_t old_ns = view->since_ns + limits->grow_ns;

	if (view->now_ns >= old_ns || !view->held)
		return act_now(RTAIL__GROW);
	if (!view->measured_ns)
		return measure_until(earlier(view->now_ns + limits->wake_age_ns, old_ns));
	if (view->used_ns) /* looked at at twice the time each: a pool of many threads that doze is not asked all the time */
		return measure_until(earlier(view->now_ns + (view->now_ns - view->since_ns), old_ns));
	if (view->measured_ns < limits->wake_age_ns)
		return wait_until(view->now_ns + limits->wake_age_ns - view->measured_ns);
	return act_now(RTAIL__GROW);
}

/* Rule 5: nobody is parked or spinning. */
static struct rtail__decision decide_growth(const struct rtail__lane_view *view, const struct rtail__limits *limits)
{
	uint64_t old_ns = view->since_ns + limits->grow_ns;
	uint64_t measure_ns = rtail__policy_measure_ns(limits);

	if (view->busy && view->now_ns < old_ns)
		return wait_until(earlier(view->busy_until_ns, old_ns));
	/* After a stall of the whole machine every age is a lie: look once more before starting threads for it. */
	if (view->due_ns != RTAIL__NEVER && view->now_ns > view->due_ns + limits->grow_ns)
		return act_now(RTAIL__LOOK_AGAIN);
	if (!view->is_fresh)
		return act_now(RTAIL__ASK_ALL);
	if (!view->busy && !view->is_guess)
		return decide_all_held(view, limits);
	if (view->busy >= view->threads + 4)
		return wait_until(earlier(view->busy_until_ns, view->now_ns + limits->grow_ns));
	if (!view->measured_ns)
		return measure_until(view->now_ns + measure_ns);
	if (view->measured_ns < measure_ns)
		return wait_until(view->now_ns + measure_ns - view->measured_ns);
	if (view->is_guess && view->used_ns >= view->measured_ns / COMPUTING_DIVISOR)
		return wait_until(view->now_ns + limits->grow_ns);
	if (!view->is_guess && is_starved(view, limits))
		return wait_until(view->now_ns + later(computing_ns(limits) - view->used_ns, limits->wake_age_ns));
	return act_now(RTAIL__GROW);
}

struct rtail__decision rtail__policy_aged(const struct rtail__lane_view *view, const struct rtail__limits *limits)
{
	bool is_patient = view->busy && !view->is_parallel;
	bool can_grow = view->can_grow && view->now_ns >= view->retry_ns;
	uint64_t limit_ns = view->since_ns + (is_patient ? limits->switch_ns : limits->wake_age_ns);

	if (view->parked || (view->aside && !can_grow)) {
		if (view->now_ns >= limit_ns)
			return act_now(view->parked ? RTAIL__WAKE : RTAIL__WAKE_ASIDE);
		return wait_until(earlier(limit_ns, view->busy_until_ns));
	}
	if (view->is_spinning)
		return wait_until(view->now_ns + limits->wake_age_ns);
	if (can_grow)
		return decide_growth(view, limits);
	return wait_until(view->can_grow ? view->retry_ns : RTAIL__NEVER);
}
