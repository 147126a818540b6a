/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas from files in a folder that stands for the root. */
#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/allowed_cpus.h"

static char root[64];

static void setup(void)
{
	strcpy(root, "/tmp/ringtail-test-cpus-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	ck_assert_int_eq(system(command), 0);
}

static void put(const char *path, const char *text)
{
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(whole, 0755);
		*slash = '/';
	}
	file = fopen(whole, "w");
	ck_assert_msg(file != NULL, "%s", whole);
	fputs(text, file);
	fclose(file);
}

START_TEST(test_without_files_there_is_no_limit)
{
	ck_assert_uint_eq(allowed_cpus_quota(root), 0);
	put("/proc/self/cgroup", "0::/a\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 0);
}
END_TEST

START_TEST(test_version_2)
{
	put("/proc/self/cgroup", "0::/a\n");
	put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 150);
	put("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 0);
	put("/sys/fs/cgroup/a/cpu.max", "1000 100000\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 1);
}
END_TEST

START_TEST(test_the_tightest_of_the_groups_above_counts)
{
	put("/proc/self/cgroup", "0::/a/b/c\n");
	put("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
	put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	put("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 100);
}
END_TEST

START_TEST(test_a_container_that_sees_its_hosts_name_of_the_group)
{
	put("/proc/self/cgroup", "0::/docker/0123\n");
	put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 200);
	put("/proc/self/cgroup", "0::/\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 200);
}
END_TEST

START_TEST(test_version_1)
{
	put("/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/a\n0::/\n");
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 50);
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 0);
}
END_TEST

START_TEST(test_other_controllers_do_not_count)
{
	put("/proc/self/cgroup", "4:cpuset,cpuacct:/a\n");
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
	put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 0);
}
END_TEST

START_TEST(test_nonsense_in_the_files)
{
	put("/proc/self/cgroup", "nonsense\n0:\n\n0::/a\n");
	put("/sys/fs/cgroup/a/cpu.max", "x y\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 0);
	put("/sys/fs/cgroup/a/cpu.max", "100000 0\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 0);
	put("/sys/fs/cgroup/a/cpu.max", "9223372036854775807 1\n");
	ck_assert_uint_eq(allowed_cpus_quota(root), 0);
}
END_TEST

START_TEST(test_affinity)
{
	cpu_set_t set;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	ck_assert_uint_eq(allowed_cpus_affinity(), (unsigned)CPU_COUNT(&set));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set)) {
			CPU_ZERO(&set);
			CPU_SET(cpu, &set);
			break;
		}
	}
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	ck_assert_uint_eq(allowed_cpus_affinity(), 1);
	ck_assert_uint_eq(allowed_cpus(), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("allowed_cpus");
	TCase *tcase = tcase_create("allowed_cpus");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_without_files_there_is_no_limit);
	tcase_add_test(tcase, test_version_2);
	tcase_add_test(tcase, test_the_tightest_of_the_groups_above_counts);
	tcase_add_test(tcase, test_a_container_that_sees_its_hosts_name_of_the_group);
	tcase_add_test(tcase, test_version_1);
	tcase_add_test(tcase, test_other_controllers_do_not_count);
	tcase_add_test(tcase, test_nonsense_in_the_files);
	tcase_add_test(tcase, test_affinity);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
