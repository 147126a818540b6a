/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h: the unit of work of every pool of libringtail.
 *
 * A job is two words and owns nothing. A pool that has accepted a job calls
 * fn exactly once: with RTAIL_RUN on one of its threads, or with RTAIL_DROP
 * when the job will never be run (the pool stopped, the job was too old). A
 * job that a submit refused stays with the caller: fn is not called for it.
 */
#ifndef RTAIL_JOB_H
#define RTAIL_JOB_H

enum rtail_act {
	RTAIL_RUN = 0,
	RTAIL_DROP = 1,
};

struct rtail_job {
	void (*fn)(void *arg, enum rtail_act act);
	void *arg;
};

#endif
