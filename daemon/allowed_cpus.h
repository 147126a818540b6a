/* SPDX-License-Identifier: Apache-2.0 */
/* allowed_cpus.h: how many CPUs this process may use. Any thread; reads files. */
#ifndef RINGTAIL_ALLOWED_CPUS_H
#define RINGTAIL_ALLOWED_CPUS_H

#include <stdint.h>

/* The lesser of affinity and the cgroup's quota, rounded up; at least 1. */
uint32_t allowed_cpus(void);

/* By affinity alone, at least 1. */
uint32_t allowed_cpus_affinity(void);

/*
 * By the tightest quota of the cgroup and those above it, in hundredths of a CPU; 0 = no limit. Reads ROOT/proc/self/cgroup and
 * ROOT/sys/fs/cgroup (root "" outside of tests); version 2 (cpu.max) and 1 (cpu.cfs_quota_us).
 */
uint32_t allowed_cpus_quota(const char *root);

#endif
