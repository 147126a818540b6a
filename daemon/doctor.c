/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.c: --doctor. Asks the machine, never guesses from the kernel's version
 * where it can ask; changes nothing. Main thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "daemon/allowed_cpus.h"
#include "daemon/config.h"
#include "daemon/config_value.h"
#include "daemon/doctor.h"
#include "daemon/doctor_priv.h"

#define CAP_PERFMON_BIT 38
#define CAP_BPF_BIT 39
#define CAP_SYS_ADMIN_BIT 21

__attribute__((format(printf, 4, 0)))
static void put(struct doctor *doctor, const char *verdict, const char *name, const char *format, va_list args)
{
	fprintf(doctor->out, "%-8s %s: ", verdict, name);
	vfprintf(doctor->out, format, args);
	fputc('\n', doctor->out);
}

void doctor_ok(struct doctor *doctor, const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(doctor, "ok", name, format, args);
	va_end(args);
}

void doctor_missing(struct doctor *doctor, bool is_needed, const char *name, const char *remedy, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(doctor, "missing", name, format, args);
	va_end(args);
	fprintf(doctor->out, "%-8s -> %s\n", "", remedy);
	doctor->missing += is_needed;
}

bool doctor_read_line(const char *path, char *buffer, size_t size)
{
	FILE *file = fopen(path, "re");
	bool is_read;

	if (!file)
		return false;
	is_read = fgets(buffer, (int)size, file) != NULL;
	fclose(file);
	if (is_read)
		buffer[strcspn(buffer, "\n")] = 0;
	return is_read;
}

bool doctor_read_status(const char *name, char *buffer, size_t size)
{
	FILE *file = fopen("/proc/self/status", "re");
	size_t len = strlen(name);
	bool is_found = false;
	char line[256];

	if (!file)
		return false;
	while (!is_found && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, len) != 0 || line[len] != ':')
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(buffer, size, "%s", line + len + 1 + strspn(line + len + 1, " \t"));
		is_found = true;
	}
	fclose(file);
	return is_found;
}

static void check_kernel(struct doctor *doctor)
{
	struct utsname name;

	if (uname(&name) == 0)
		doctor_ok(doctor, "kernel", "%s %s", name.release, name.machine);
}

static void check_sysctl(struct doctor *doctor)
{
	char text[32];

	doctor->io_uring_disabled = -1;
	if (!doctor_read_line("/proc/sys/kernel/io_uring_disabled", text, sizeof(text))) {
		doctor_ok(doctor, "kernel.io_uring_disabled", "not there (kernels before 6.6): nothing is turned off");
		return;
	}
	doctor->io_uring_disabled = atoi(text);
	if (doctor->io_uring_disabled == 0)
		doctor_ok(doctor, "kernel.io_uring_disabled", "0");
	else
		doctor_missing(doctor, false, "kernel.io_uring_disabled",
			       doctor_ring_remedy(EPERM, doctor->io_uring_disabled, false), "%d (%s)", doctor->io_uring_disabled,
			       doctor->io_uring_disabled == 1 ? "only for kernel.io_uring_group and CAP_SYS_ADMIN" : "off for everybody");
}

static void check_seccomp(struct doctor *doctor)
{
	char text[16] = "0";

	doctor_read_status("Seccomp", text, sizeof(text));
	doctor->has_seccomp_filter = atoi(text) == 2;
	doctor_ok(doctor, "seccomp", "%s", atoi(text) == 0 ? "no filter" : "a filter is active (what it refuses shows below)");
}

static void check_threads(struct doctor *doctor)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)gettid());
	if (doctor_read_line(path, text, sizeof(text)))
		doctor_ok(doctor, "state of threads", "%s can be read", "/proc/self/task/TID/syscall");
	else
		doctor_missing(doctor, false, "state of threads", "mount /proc without hidepid, on a kernel with CONFIG_HAVE_ARCH_TRACEHOOK",
			       "/proc/self/task/TID/syscall: %s: views that wait are told apart less well", strerror(errno));
}

static const char *limit_text(rlim_t limit, char *buffer)
{
	return limit == RLIM_INFINITY ? "unlimited" : value_format_size(limit, buffer);
}

static void check_limits(struct doctor *doctor, const struct config *config)
{
	uint64_t wanted = config->max_connections + config->threads_max + 128;
	struct rlimit limit;
	char text[32];

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
		if (limit.rlim_cur >= 8 << 20)
			doctor_ok(doctor, "locked memory", "%s", limit_text(limit.rlim_cur, text));
		else
			doctor_missing(doctor, false, "locked memory",
				       "ulimit -l unlimited (systemd: LimitMEMLOCK=infinity) where io_uring fails for want of memory; kernels from "
				       "5.12 on count little against it",
				       "%s", limit_text(limit.rlim_cur, text));
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		if (limit.rlim_max >= wanted)
			doctor_ok(doctor, "open files", "at most %s%s, enough for max-connections %u",
				  limit.rlim_max == RLIM_INFINITY ? "unlimited" : "",
				  limit.rlim_max == RLIM_INFINITY ? "" : (snprintf(text, sizeof(text), "%ju", (uintmax_t)limit.rlim_max), text),
				  config->max_connections);
		else
			doctor_missing(doctor, false, "open files", "raise the hard limit (systemd: LimitNOFILE=; docker: --ulimit nofile=), or lower "
				       "max-connections", "at most %ju; max-connections %u needs %" PRIu64, (uintmax_t)limit.rlim_max,
				       config->max_connections, wanted);
	}
}

static void check_backlog(struct doctor *doctor, const struct config *config)
{
	char text[32], remedy[96];

	if (!doctor_read_line("/proc/sys/net/core/somaxconn", text, sizeof(text)))
		return;
	if (strtoul(text, NULL, 10) >= config->backlog) {
		doctor_ok(doctor, "net.core.somaxconn", "%s, enough for backlog %u", text, config->backlog);
		return;
	}
	snprintf(remedy, sizeof(remedy), "sysctl -w net.core.somaxconn=%u", config->backlog);
	doctor_missing(doctor, false, "net.core.somaxconn", remedy, "%s cuts backlog %u", text, config->backlog);
}

static void check_cpus(struct doctor *doctor, const struct config *config)
{
	uint32_t quota = allowed_cpus_quota("");
	char memory[64];

	if (quota)
		doctor_ok(doctor, "CPUs", "%u allowed by affinity, %u.%02u by the cgroup: threads is %u by default", allowed_cpus_affinity(),
			  quota / 100, quota % 100, config->allowed_cpus < 8 ? config->allowed_cpus : 8);
	else
		doctor_ok(doctor, "CPUs", "%u allowed by affinity, the cgroup sets no limit: threads is %u by default", allowed_cpus_affinity(),
			  config->allowed_cpus < 8 ? config->allowed_cpus : 8);
	if (doctor_read_line("/sys/fs/cgroup/memory.max", memory, sizeof(memory)) && strcmp(memory, "max") != 0)
		doctor_ok(doctor, "memory", "%s bytes allowed by the cgroup", memory);
}

static void check_bpf(struct doctor *doctor)
{
	char text[32] = "0";
	uint64_t caps;
	bool is_admin, has_bpf, has_perfmon;

	doctor_read_status("CapEff", text, sizeof(text));
	caps = strtoull(text, NULL, 16);
	is_admin = caps >> CAP_SYS_ADMIN_BIT & 1;
	has_bpf = is_admin || (caps >> CAP_BPF_BIT & 1);
	has_perfmon = is_admin || (caps >> CAP_PERFMON_BIT & 1);
	if (has_bpf && has_perfmon)
		doctor_ok(doctor, "rights for BPF", "CAP_BPF and CAP_PERFMON");
	else
		doctor_missing(doctor, false, "rights for BPF", "only tracing needs them: run the tracing tools as root; serving does not need them",
			       "%s%s%s", has_bpf ? "" : "CAP_BPF", has_bpf || has_perfmon ? "" : ", ", has_perfmon ? "" : "CAP_PERFMON");
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		doctor_ok(doctor, "types of the kernel", "/sys/kernel/btf/vmlinux");
	else
		doctor_missing(doctor, false, "types of the kernel", "only tracing needs it: use a kernel with CONFIG_DEBUG_INFO_BTF",
			       "/sys/kernel/btf/vmlinux: %s", strerror(errno));
}

int doctor_run(const struct config *config, FILE *out)
{
	struct doctor doctor = { .out = out };

	check_kernel(&doctor);
	check_sysctl(&doctor);
	check_seccomp(&doctor);
	doctor_ring(&doctor);
	check_threads(&doctor);
	check_limits(&doctor, config);
	check_backlog(&doctor, config);
	check_cpus(&doctor, config);
	doctor_ok(&doctor, "Python", "%s of %s; a virtual environment must be of this version", RINGTAIL_PYTHON_VERSION, RINGTAIL_PYTHON);
	check_bpf(&doctor);
	if (doctor.missing)
		fprintf(out, "\nringtail cannot serve on this machine: see the lines above that say what to do\n");
	else
		fprintf(out, "\nringtail can serve on this machine\n");
	return doctor.missing ? 1 : 0;
}
