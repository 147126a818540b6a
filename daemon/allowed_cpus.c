/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allowed_cpus.c: affinity and cgroup quota. What a container is given is less
 * than what the machine has, and a pool that counts the machine's CPUs is
 * throttled. Any thread.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/allowed_cpus.h"

#define PATH_LONGEST 4096

uint32_t allowed_cpus_affinity(void)
{
	/* The kernel refuses a mask smaller than its own: machines beyond 1024 CPUs. */
	for (int cpus = 1024; cpus <= 1 << 18; cpus *= 2) {
		cpu_set_t *set = CPU_ALLOC(cpus);
		size_t size = CPU_ALLOC_SIZE(cpus);
		int count = 0;

		if (!set)
			return 1;
		if (sched_getaffinity(0, size, set) == 0)
			count = CPU_COUNT_S(size, set);
		CPU_FREE(set);
		if (count > 0)
			return (uint32_t)count;
	}
	return 1;
}

static bool read_line(const char *path, char *buffer, size_t size)
{
	FILE *file = fopen(path, "re");
	bool is_read;

	if (!file)
		return false;
	is_read = fgets(buffer, (int)size, file) != NULL;
	fclose(file);
	return is_read;
}

/* 0 = no limit: so is a quota beyond a million CPUs. */
static uint32_t hundredths(int64_t quota, int64_t period)
{
	int64_t cpus;

	if (quota <= 0 || period <= 0)
		return 0;
	cpus = quota / period;
	if (cpus > 1000000)
		return 0;
	return (uint32_t)(cpus * 100 + (int64_t)(((__int128)(quota % period) * 100 + period - 1) / period));
}

static uint32_t quota_v2(const char *folder)
{
	char path[PATH_LONGEST + 64], line[128];
	int64_t quota, period;

	snprintf(path, sizeof(path), "%s/cpu.max", folder);
	if (!read_line(path, line, sizeof(line)) || sscanf(line, "%" SCNd64 " %" SCNd64, &quota, &period) != 2)
		return 0;
	return hundredths(quota, period);
}

static uint32_t quota_v1(const char *folder)
{
	char path[PATH_LONGEST + 64], quota[64], period[64];

	snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", folder);
	if (!read_line(path, quota, sizeof(quota)))
		return 0;
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", folder);
	if (!read_line(path, period, sizeof(period)))
		return 0;
	return hundredths(atoll(quota), atoll(period));
}

static uint32_t tighter(uint32_t a, uint32_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/*
 * The tightest of BASE/GROUP and all above it up to BASE. A group that is not there (a container sees its host's name of it, without
 * a namespace) leaves BASE, which is then its own.
 */
static uint32_t quota_upwards(const char *base, const char *group, uint32_t (*read)(const char *))
{
	char folder[PATH_LONGEST];
	size_t base_len = strlen(base);
	uint32_t quota = 0;
	int len = snprintf(folder, sizeof(folder), "%s%s", base, strcmp(group, "/") == 0 ? "" : group);

	if (len < 0 || (size_t)len >= sizeof(folder))
		return read(base);
	while (strlen(folder) >= base_len) {
		char *slash;

		quota = tighter(quota, read(folder));
		slash = strrchr(folder, '/');
		if (!slash || strlen(folder) == base_len)
			break;
		*slash = 0;
	}
	return quota;
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && memcmp(list, word, n) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

uint32_t allowed_cpus_quota(const char *root)
{
	char path[PATH_LONGEST], line[PATH_LONGEST];
	uint32_t quota = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* Lines: HIERARCHY:CONTROLLERS:GROUP; version 2 is hierarchy 0 without controllers. */
	while (fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':');
		char *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = 0;
		controllers++;
		group[strcspn(group, "\n")] = 0;
		if (!*controllers) {
			snprintf(path, sizeof(path), "%s/sys/fs/cgroup", root);
			quota = tighter(quota, quota_upwards(path, group, quota_v2));
		} else if (has_word(controllers, "cpu")) {
			snprintf(path, sizeof(path), "%s/sys/fs/cgroup/cpu", root);
			quota = tighter(quota, quota_upwards(path, group, quota_v1));
		}
	}
	fclose(file);
	return quota;
}

uint32_t allowed_cpus(void)
{
	uint32_t cpus = allowed_cpus_affinity();
	uint32_t quota = allowed_cpus_quota("");
	uint32_t whole = (quota + 99) / 100;

	return quota && whole < cpus ? whole : cpus;
}
